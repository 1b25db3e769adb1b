"""Scores JSON extraction field by field; the settings are part of the schema."""

from factcheck.errors import GoldValidationError, SchemaError
from factcheck.fields.comparators import (
    ComparatorNotFoundError,
    Registry,
    TransformNotFoundError,
    get_comparator,
    get_transform,
    register,
    register_transform,
)
from factcheck.fields.comparators.semantic import (
    CompoundComparator,
    FakeJudge,
    Judge,
    JudgeItem,
    SemanticBatchComparator,
    SemanticComparator,
)
from factcheck.fields.comparison import compare_runs
from factcheck.fields.evaluation import FieldEvaluator, RunTally, evaluate, score_record
from factcheck.fields.figures import FieldAggregation, FieldSummary
from factcheck.fields.pages import RunResult
from factcheck.fields.records import (
    NullHandling,
    RecordResult,
    propagate_batch_errors,
    reclassify_nulls,
)
from factcheck.fields.schemas import (
    ComparatorSpec,
    TransformSpec,
    parse_xeval_entry,
    reset_type_defaults,
    set_type_default,
)
from factcheck.fields.schemas.parsing import SchemaNode, parse_eval_schema, validate_gold
from factcheck.fields.schemas.references import (
    annotate_xeval,
    collapse_multi_type_anyof,
    infer_schema,
    merge_all_of,
    remove_null_anyof,
    resolve_schema_references,
)
from factcheck.fields.schemas.suggestions import suggest_schema
from factcheck.fields.types import (
    BatchComparator,
    BatchItem,
    ComparatorResult,
    FieldResult,
    FieldStatus,
)

__all__ = [
    "BatchComparator", "BatchItem", "ComparatorNotFoundError", "ComparatorResult", "ComparatorSpec",
    "CompoundComparator", "FakeJudge", "FieldAggregation", "FieldEvaluator",
    "FieldResult", "FieldStatus", "FieldSummary", "GoldValidationError", "Judge", "JudgeItem",
    "NullHandling", "RecordResult", "Registry", "RunResult", "RunTally",
    "SchemaError", "SchemaNode", "SemanticBatchComparator", "SemanticComparator",
    "TransformNotFoundError", "TransformSpec", "annotate_xeval",
    "collapse_multi_type_anyof", "compare_runs", "evaluate", "get_comparator", "get_transform",
    "infer_schema", "merge_all_of", "parse_eval_schema", "parse_xeval_entry",
    "propagate_batch_errors", "reclassify_nulls", "register", "register_transform",
    "remove_null_anyof", "reset_type_defaults", "resolve_schema_references", "score_record",
    "set_type_default", "suggest_schema", "validate_gold",
]  # fmt: skip
