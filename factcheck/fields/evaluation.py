"""The evaluation of records: score, ask batch comparators, post-process, sum up."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from itertools import islice
from typing import Any, Literal, get_args

from factcheck.errors import InputError
from factcheck.fields.joining import joined, record_id
from factcheck.fields.registry import Registry, default_registry
from factcheck.fields.runs.fingerprint import schema_digest
from factcheck.fields.runs.metrics import Weighing, sums_of
from factcheck.fields.runs.results import RecordResult, RunResult
from factcheck.fields.runs.tally import RunTally
from factcheck.fields.schemas.models import as_record
from factcheck.fields.schemas.parsing import SchemaNode, parse_eval_schema
from factcheck.fields.scoring.deferred import Deferred, settled
from factcheck.fields.scoring.dispatch import dispatch
from factcheck.fields.scoring.nodes import Out
from factcheck.fields.scoring.plan import Plan, compile_schema
from factcheck.fields.types import FieldResult, FieldStatus

PostProcess = Callable[[list[FieldResult]], list[FieldResult]]
Join = Literal["position", "id"]
_STATUSES: tuple[str, ...] = get_args(FieldStatus)
_WINDOW = 1_000
"""Records whose fields are asked about together, where a comparator takes many records."""


class FieldEvaluator:
    """Scores extracted records against gold ones, field by field.

    Args:
        schema: An evaluation schema (`annotate_xeval`), or a pydantic model class.
        id_field: The field whose value names a record in the results; `None`: its position.
        post_process: Gets the results of each record and gives back those that count.
        registry: Where comparators and transforms are looked up; `None`: those of the process.

    Raises:
        SchemaError: The schema cannot be used; says at which path, and why.
    """

    def __init__(
        self,
        schema: Any,
        *,
        id_field: str | None = None,
        post_process: PostProcess | None = None,
        registry: Registry | None = None,
    ) -> None:
        registry = registry or default_registry
        self.schema = parse_eval_schema(schema, registry)
        self.schema_digest = schema_digest(self.schema)
        """Equal for schemas that score alike; it goes into the results."""
        self._plan = compile_schema(self.schema, registry)
        self._id_field = id_field
        self._post_process = post_process
        self._sums = Weighing(self._plan.weights) if self._plan.weights else sums_of

    def evaluate(
        self, gold: Sequence[Any], extracted: Sequence[Any], *, join: Join = "position"
    ) -> RunResult:
        """Score lists of records and keep every result.

        Args:
            gold: The right records: dicts, or pydantic models.
            extracted: The records under evaluation.
            join: Which belong together: `"position"`, or `"id"` by the `id_field`, where a record
                without partner is omitted or hallucinated as a whole.

        Raises:
            InputError: The lists differ in length, or an id is missing or doubled.
        """
        pairs = joined(gold, extracted, self._id_field, join)
        with nullcontext() if self._plan.batch_leaves else _collector_paused():
            records = list(self._scored(pairs, window=len(pairs)))
            tally = RunTally(schema_digest=self.schema_digest)
            for record in records:
                tally.add(record)
        return tally.result(records)

    def stream(self, pairs: Iterable[tuple[Any, Any]]) -> Iterator[RecordResult]:
        """Score pairs of a gold and an extracted record as they come, in order.

        At most 1,000 records are held at a time, and only where a batch comparator takes many.
        """
        return self._scored(pairs, window=_WINDOW)

    def tally(self, pairs: Iterable[tuple[Any, Any]]) -> RunTally:
        """Score pairs and keep only the totals, so that memory does not grow with their number."""
        tally = RunTally(self._plan.paths, self.schema_digest)
        for record in self.stream(pairs):
            tally.add(record)
        return tally

    def _scored(self, pairs: Iterable[tuple[Any, Any]], window: int) -> Iterator[RecordResult]:
        if not self._plan.batch_leaves:
            window = 1
        numbered = enumerate(iter(pairs))
        while batch := list(islice(numbered, max(1, window))):
            outs = [score(self._plan, gold, extracted) for _, (gold, extracted) in batch]
            if self._plan.batch_leaves:
                dispatch(outs, self._plan)
            for (position, (gold, extracted)), out in zip(batch, outs, strict=True):
                yield self._finished(position, gold, extracted, settled(out))

    def _finished(
        self, position: int, gold: Any, extracted: Any, results: list[FieldResult]
    ) -> RecordResult:
        name = record_id(gold, extracted, self._id_field, position)
        if self._post_process is not None:
            results = self._post_process(results)
            _check_processed(results, name)
        sums = self._sums(results)
        return RecordResult(name, results, gold, extracted, *sums.scores(), sums)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Pause the collector of cycles: what is made is kept, and it would look at all of it again.

    With 10,000 records, that is half of the time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _check_processed(results: Any, name: str | int) -> None:
    if not isinstance(results, list):
        raise InputError(
            f"post_process gave {type(results).__name__} for record {name!r}; "
            "it must give back the list of results"
        )
    for result in results:
        if not isinstance(result, FieldResult) or result.status not in _STATUSES:
            raise InputError(
                f"post_process gave {result!r:.200} for record {name!r}; it must be a FieldResult "
                f"with a status among {', '.join(_STATUSES)}"
            )
        if not 0 <= result.score <= 1:
            raise InputError(
                f"post_process gave {result.path!r} of record {name!r} the score "
                f"{result.score!r}; it must be from 0 to 1"
            )


def evaluate(
    gold: Sequence[Any],
    extracted: Sequence[Any],
    schema: Any,
    id_field: str | None = None,
    post_process: PostProcess | None = None,
    *,
    join: Join = "position",
    registry: Registry | None = None,
) -> RunResult:
    """Score extracted records against gold ones; see `FieldEvaluator`.

    Raises:
        SchemaError: The schema cannot be used.
        InputError: The lists differ in length, or an id is missing or doubled.
    """
    evaluator = FieldEvaluator(
        schema, id_field=id_field, post_process=post_process, registry=registry
    )
    return evaluator.evaluate(gold, extracted, join=join)


def score_record(
    schema: SchemaNode, gold: Any, extracted: Any, registry: Registry | None = None
) -> list[FieldResult]:
    """The results of one record; fields with a batch comparator are left pending.

    Only arrays to be paired at best ask their batch comparators here, since the pairing needs it.
    """
    plan = compile_schema(schema, registry or default_registry)
    out = score(plan, gold, extracted)
    arrays: Out = [entry for entry in out if isinstance(entry, Deferred)]
    if arrays:
        dispatch([arrays], plan)
    return settled(out)


def score(plan: Plan, gold: Any, extracted: Any) -> Out:
    """The results of one record, with pending fields and deferred arrays among them."""
    out: Out = []
    plan.root.pair(as_record(gold), as_record(extracted), "", out)
    return out
