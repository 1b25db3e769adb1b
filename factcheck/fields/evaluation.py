"""Evaluation of extracted records: score, run batch comparators, post-process, aggregate."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from typing import Any, Literal, get_args

import numpy as np

from factcheck.errors import InputError
from factcheck.fields.comparators import Registry, default_registry
from factcheck.fields.comparators.semantic import SemanticComparator
from factcheck.fields.figures import FieldSums
from factcheck.fields.nodes import ObjectNode, Out, settled
from factcheck.fields.optimal import dispatch
from factcheck.fields.pages import RunResult
from factcheck.fields.plan import Plan, orders_of
from factcheck.fields.records import N_SUMMANDS, Counts, RecordResult, Scores, count, summands
from factcheck.fields.schemas import COMPARE, schema_path
from factcheck.fields.schemas.parsing import SchemaNode, parse_eval_schema
from factcheck.fields.schemas.references import as_schema
from factcheck.fields.schemas.suggestions import SEMANTIC, suggest_schema
from factcheck.fields.types import COUNTED, FieldResult, FieldStatus
from factcheck.fields.values import (
    Row,
    Unusable,
    as_record,
    joined,
    numbered,
    read_record,
    unwrapped,
)

PostProcess = Callable[[list[FieldResult]], list[FieldResult]]
Join = Literal["position", "id"]
Pairs = Iterable[tuple[Any, Any]]
"""Pairs of a gold and an extracted record; `None` for a missing one."""
_UNWRAPPED = "the object inside was scored as the record"
_STATUSES: tuple[str, ...] = get_args(FieldStatus)
_WINDOW = 1_000
"""Maximum number of records per call of a batch comparator when streaming."""


class FieldEvaluator(AbstractContextManager["FieldEvaluator"]):
    """Scores extracted records against gold records, field by field.

    With `semantic`, use it as a context manager, or call `close`, to close the judge.

    Args:
        schema: An evaluation schema (`annotate_xeval`), or a pydantic model class.
        id_field: Field whose value is the record id in the results; `None`: the position.
        post_process: Called with the results of each record; returns the results to count.
        registry: Comparators and transforms that the schema may name; `None`: the process-wide
            registry.
        semantic: Judge for fields with the comparator `semantic`: `"local"`, `"PROVIDER/MODEL"` or
            any other judge of value pairs, or a `SemanticComparator`, which `close` leaves open.
            `None`: the comparator in `registry`, if any.

    Raises:
        SchemaError: The schema is invalid; the message names the path.
        ConfigError: The judge is unknown, or its API key is missing.
    """

    def __init__(
        self,
        schema: Any,
        *,
        id_field: str | None = None,
        post_process: PostProcess | None = None,
        registry: Registry | None = None,
        semantic: Any = None,
    ) -> None:
        registry = registry or default_registry
        self._own_comparator: SemanticComparator | None = None
        if semantic is not None:
            comparator = semantic
            if not isinstance(semantic, SemanticComparator):
                comparator = self._own_comparator = SemanticComparator(semantic)
            registry = registry.extended("semantic", comparator)
        self._registry = registry
        self.schema = parse_eval_schema(schema, registry)
        self._plan = Plan(self.schema, registry)
        self.schema_digest = self._plan.digest
        """Digest of the schema, equal for schemas that score alike; stored with the results."""
        self._judge = _judge_of(self.schema, registry)
        self._id_field = id_field
        self._post_process = post_process

    def evaluate(
        self, gold: Sequence[Any], extracted: Sequence[Any], *, join: Join = "position"
    ) -> RunResult:
        """Score lists of records and keep every result.

        Where `day_first` is open, other extracted dates settle which number is the day.

        Args:
            gold: The gold records: dicts or pydantic models.
            extracted: The records to score: dicts, pydantic models, or replies of a model as
                strings with one JSON object. Any other string is a parse failure, which turns all
                gold fields into omissions. A record inside another object, as in `{"data": {...}}`,
                is unwrapped.
            join: Pair records by `"position"`, or by `"id"`, the value of `id_field`; all fields of
                a record without partner are omissions or hallucinations. An extracted record whose
                id is missing, invalid or that of an earlier one is treated as a parse failure.

        Raises:
            InputError: The lists differ in length, or a gold id is missing or not unique.
        """
        rows = joined(gold, extracted, self._id_field, join)
        plan = self._plan
        if day_first := orders_of(self.schema, gold, extracted):
            plan = Plan(self.schema, self._registry, day_first)
        records = self._records(rows, plan)
        return self._tally(records).result(records)

    def stream(self, pairs: Pairs) -> Iterator[RecordResult]:
        """Score pairs of a gold and an extracted record lazily, in order.

        With batch comparators, up to 1,000 records are held at a time, otherwise one.
        """
        rows = numbered(pairs, self._id_field)
        size = _WINDOW if self._plan.batch_leaves else 1
        while batch := list(islice(rows, size)):
            yield from self._records(batch, self._plan)

    def tally(self, pairs: Pairs) -> RunTally:
        """Score pairs and keep only the totals, in constant memory."""
        return self._tally(self.stream(pairs))

    def _tally(self, records: Iterable[RecordResult]) -> RunTally:
        tally = RunTally(self.schema_digest, self._plan.weights, self._judge)
        for record in records:
            tally.add(record)
        return tally

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the judge of `semantic`."""
        if self._own_comparator is not None:
            self._own_comparator.close()

    def _records(self, rows: Sequence[Row], plan: Plan) -> list[RecordResult]:
        outs = [_score(plan, gold, extracted) for _, gold, extracted in rows]
        if plan.batch_leaves:
            dispatch(outs, plan.batch_leaves)
        return [self._record(row, settled(out)) for row, out in zip(rows, outs, strict=True)]

    def _record(self, row: Row, results: list[FieldResult]) -> RecordResult:
        name, gold, extracted = row
        if self._post_process is not None:
            results = self._post_process(results)
            _check_processed(results, name)
        counts = count(results, self._plan.weights)
        if isinstance(extracted, Unusable):
            extracted = extracted.record
        return RecordResult(name, results, gold, extracted, *counts.scores(), counts)


def _judge_of(schema: SchemaNode, registry: Registry) -> str:
    """Return the identity of the judge that a schema needs; empty if it is unknown."""
    found = registry.get_comparator(SEMANTIC) if SEMANTIC in registry else None
    is_asked = any(node.comparator.name == SEMANTIC for node in schema.compared())
    if not is_asked or not isinstance(found, SemanticComparator):
        return ""
    return " ".join(f"{name}:{value}" for name, value in found.identity.items())


def _check_processed(results: Any, name: str | int) -> None:
    for one in results if isinstance(results, list) else [results]:
        is_result = isinstance(one, FieldResult) and one is not results
        if not is_result or one.status not in _STATUSES or not 0 <= one.score <= 1:
            raise InputError(
                f"post_process returned {one!r:.99} for record {name!r:.60}; it must return a list "
                "of FieldResult, with scores from 0 to 1 and known statuses"
            )


def evaluate(
    gold: Sequence[Any],
    extracted: Sequence[Any],
    schema: Any = None,
    id_field: str | None = None,
    post_process: PostProcess | None = None,
    *,
    join: Join = "position",
    registry: Registry | None = None,
    semantic: Any = None,
) -> RunResult:
    """Score extracted records against gold records, field by field.

    For the arguments, see `FieldEvaluator` and its method `evaluate`. Without a schema, and for a
    pydantic model class without settings, `suggest_schema` makes one from gold, and `semantic` is
    `"local"` by default.

    Example:
        `evaluate(gold, extracted)`, or `evaluate(gold, extracted, suggest_schema(gold),
        semantic="local")`, in which you may change the schema.

    Raises:
        SchemaError: The schema is invalid.
        InputError: The lists differ in length, or a gold id is missing or not unique.
        ConfigError: The judge is unknown, or its API key is missing.
    """
    schema, semantic = _with_suggestions(gold, schema, registry, semantic)
    with FieldEvaluator(
        schema, id_field=id_field, post_process=post_process, registry=registry, semantic=semantic
    ) as evaluator:
        return evaluator.evaluate(gold, extracted, join=join)


def _with_suggestions(
    gold: Sequence[Any], schema: Any, registry: Registry | None, semantic: Any
) -> tuple[Any, Any]:
    """Return schema and judge, by default those that gold suggests."""
    if schema is not None:
        described = as_schema(schema)
        if described is schema or COMPARE in json.dumps(described):
            return schema, semantic
    if semantic is None and SEMANTIC not in (registry or default_registry):
        semantic = "local"
    return suggest_schema(gold, schema), semantic


def score_record(
    schema: SchemaNode, gold: Any, extracted: Any, registry: Registry | None = None
) -> list[FieldResult]:
    """Score one record; fields with a batch comparator stay pending.

    Batch comparators are called only within optimally aligned arrays, whose alignment needs them.
    """
    plan = Plan(schema, registry or default_registry)
    out = _score(plan, gold, extracted)
    arrays: Out = [entry for entry in out if not isinstance(entry, FieldResult)]
    if arrays:
        dispatch([arrays], plan.batch_leaves)
    return settled(out)


def _score(plan: Plan, gold: Any, extracted: Any) -> Out:
    out: Out = []
    found = read_record(extracted) if isinstance(plan.root, ObjectNode) else as_record(extracted)
    if not isinstance(found, Unusable):
        if isinstance(plan.root, ObjectNode) and plan.root.rest is None:
            found, key = unwrapped(found, plan.root.children.keys())
            if key:
                out.append(FieldResult(key, 0.0, "", None, None, "skipped", _UNWRAPPED))
        plan.root.score(as_record(gold), found, "", out)
        return out
    plan.root.score(as_record(gold), None, "", out)
    if not out:  # no omission, but what cannot be read was not expected either
        out.append(FieldResult("", 0.0, "", None, found.record, "hallucination"))
    return [FieldResult("", 0.0, "", None, found.record, "parse_failure", found.reason), *out]


class RunTally:
    """Running totals of scored records, which are not kept.

    Args:
        schema_digest: Digest of the schema, if known.
        weights: Weights by schema path; the default is 1.
        judge: Names and versions of the judge of `semantic`, if any.
    """

    def __init__(
        self,
        schema_digest: str | None = None,
        weights: Mapping[str, float] | None = None,
        judge: str = "",
    ) -> None:
        self._schema_digest, self._judge = schema_digest, judge
        self._weights = weights or {}
        self._n = 0
        self._sums = np.zeros(N_SUMMANDS)
        self._fields = FieldSums()

    def add(self, record: RecordResult) -> None:
        """Count one record."""
        self._n += 1
        self._sums += summands(record)
        self._fields.add(record.field_results, schema_path)

    def merge(self, other: RunTally) -> None:
        """Add the totals of other records scored by the same schema and judge.

        Raises:
            InputError: The other tally has a different schema or judge.
        """
        settings = self._schema_digest, self._judge
        if settings != (other._schema_digest, other._judge):
            raise InputError(
                "cannot merge tallies of different schemas or judges; create both with the same"
            )
        self._n += other._n
        self._sums += other._sums
        self._fields.merge(other._fields)

    def result(self, records: Sequence[RecordResult] = ()) -> RunResult:
        """Compute the result of the run.

        `records` are the counted records, if they were kept; without them, `per_field` has the
        paths of the schema, not those of the records.
        """
        by_field = self._fields.summaries()
        by_path = by_field
        if records:
            paths = FieldSums()
            for record in records:
                paths.add(record.field_results, str)
            by_path = paths.summaries()
        totals = Counter[str]()
        for summary in by_field.values():
            totals.update(summary.counts)
        precision, recall, f1, n_scored, *counts = self._sums.tolist()
        means = Counts(undecided=self._n).scores()
        if n_scored:
            means = Scores(precision / n_scored, recall / n_scored, f1 / n_scored)
        return RunResult(
            records=list(records),
            mean_precision=means.precision,
            mean_recall=means.recall,
            mean_f1=means.f1,
            total_records=self._n,
            total_fields=sum(totals[status] for status in COUNTED),
            total_omissions=totals["omission"],
            total_hallucinations=totals["hallucination"],
            total_batch_errors=totals["batch_error"],
            per_field={
                path: summary.aggregation()
                for path, summary in by_path.items()
                if not COUNTED.isdisjoint(summary.counts)
            },
            total_errors=totals["error"],
            micro=Counts(*counts).scores(),
            by_field=by_field,
            schema_digest=self._schema_digest,
            weights=dict(self._weights),
            judge=self._judge,
        )
