"""JSON extraction scored field by field: an evaluator whose settings live in the schema."""

from factcheck.errors import GoldValidationError, SchemaError
from factcheck.fields.comparison import Difference, RunComparison, compare_runs
from factcheck.fields.compound import CompoundComparator
from factcheck.fields.defaults import annotate_xeval, reset_type_defaults, set_type_default
from factcheck.fields.entries import ComparatorSpec, TransformSpec, parse_xeval_entry
from factcheck.fields.evaluation import FieldEvaluator, evaluate, score_record
from factcheck.fields.inference import infer_schema
from factcheck.fields.judged import FakeJudge, JudgeItem, SemanticBatchComparator
from factcheck.fields.postprocess import (
    NullHandling,
    propagate_batch_errors,
    reclassify_nulls,
)
from factcheck.fields.references import resolve_schema_references
from factcheck.fields.registry import (
    Registry,
    get_comparator,
    get_transform,
    register,
    register_transform,
)
from factcheck.fields.results import (
    FieldAggregation,
    FieldSummary,
    RecordResult,
    RunResult,
)
from factcheck.fields.schema import SchemaNode, parse_eval_schema
from factcheck.fields.semantic import SemanticComparator
from factcheck.fields.tally import RunTally
from factcheck.fields.types import (
    BatchComparator,
    BatchItem,
    ComparatorResult,
    FieldResult,
    FieldStatus,
)
from factcheck.fields.validation import validate_gold

__all__ = [
    "BatchComparator",
    "BatchItem",
    "ComparatorResult",
    "ComparatorSpec",
    "CompoundComparator",
    "Difference",
    "FakeJudge",
    "FieldAggregation",
    "FieldEvaluator",
    "FieldResult",
    "FieldStatus",
    "FieldSummary",
    "GoldValidationError",
    "JudgeItem",
    "NullHandling",
    "RecordResult",
    "Registry",
    "RunComparison",
    "RunResult",
    "RunTally",
    "SchemaError",
    "SchemaNode",
    "SemanticBatchComparator",
    "SemanticComparator",
    "TransformSpec",
    "annotate_xeval",
    "compare_runs",
    "evaluate",
    "get_comparator",
    "get_transform",
    "infer_schema",
    "parse_eval_schema",
    "parse_xeval_entry",
    "propagate_batch_errors",
    "reclassify_nulls",
    "register",
    "register_transform",
    "reset_type_defaults",
    "resolve_schema_references",
    "score_record",
    "set_type_default",
    "validate_gold",
]
