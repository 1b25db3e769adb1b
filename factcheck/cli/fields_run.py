"""`factcheck fields evaluate`: read, score, show, and say whether a build may pass."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, NamedTuple

from factcheck.cli import fields_gate, fields_output, fields_semantic, gate, output
from factcheck.cli.fields import FieldsFormat
from factcheck.errors import InputError
from factcheck.fields import reading
from factcheck.fields.evaluation import FieldEvaluator, Join, PostProcess
from factcheck.fields.runs.tally import RunTally
from factcheck.fields.runs.undecided import Undecided
from factcheck.files import refuse_stdin_twice
from factcheck.reports import fields as content

if TYPE_CHECKING:
    from factcheck.cli.fields_semantic import Semantic
    from factcheck.fields import FieldResult, RunResult, SchemaNode
    from factcheck.fields.reading import Records
    from factcheck.runtime.budget import Budget
    from factcheck.stats import Interval

_MISSING = object()
_RESAMPLES = 2_000
_MANY_RECORDS = 20_000
"""From here on intervals are narrow, and fewer resamples do."""
_NOT_RESAMPLED = (
    "Only totals are kept: intervals are by Student's t instead of resampling, so they differ "
    "somewhat from those of a run that keeps its records"
)


class Given(NamedTuple):
    """What is to be scored, and how."""

    gold: str
    extracted: str
    schema: str | None
    id_field: str | None
    join: Join
    semantic: str | None
    budget: Budget
    nulls_absent: bool
    totals_only: bool


class _Scored(NamedTuple):
    run: RunResult
    intervals: Mapping[str, Interval]
    weights: Mapping[str, float]
    notes: tuple[str, ...]
    undecided: Undecided


def evaluate(
    given: Given,
    chosen: FieldsFormat | None,
    out: str | None,
    *,
    fail_under: float | None,
    examples: int,
) -> None:
    """Score the files and show the report; leaves with an exit code where something is wrong."""
    gate.check_threshold(fail_under)
    output.prepare_out(out, given.gold, given.extracted, given.schema)
    made = fields_output.format_of(chosen, out)
    _require_sense(given, made, examples)
    with (
        fields_output.warnings_told(),
        fields_semantic.opened(given.semantic, given.budget) as semantic,
        output.waiting("Scoring"),
    ):
        if given.totals_only:
            scored = _totals(given, semantic)
        else:
            with undisturbed():
                scored = _results(given, semantic)
    if made in fields_output.MACHINE:
        for note in scored.notes:
            output.remark(note)
    fields_output.show(_shown(scored, examples), made, out)
    if (silence := fields_semantic.silence(semantic.comparator)) is not None:
        output.leave(gate.GateFailure(gate.NOTHING_DECIDED, silence))
    output.leave(fields_gate.failure(scored.run, scored.undecided, fail_under))


@contextmanager
def undisturbed() -> Iterator[None]:
    """What is made in a `with` block lives on, so the collector of cycles need not look at it."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _require_sense(given: Given, made: FieldsFormat, examples: int) -> None:
    refuse_stdin_twice(given.gold, given.extracted, given.schema)
    if examples < 0:
        raise InputError(f"--examples is {examples}; give a number from 0")
    if given.join == "id" and not given.id_field:
        raise InputError("--join id needs --id-field KEY, the key whose value is the id")
    if not given.totals_only:
        return
    if given.join == "id":
        raise InputError("--totals-only takes records by position; leave out --join id")
    if made is FieldsFormat.CSV:
        raise InputError("csv has one row per field result, and --totals-only keeps none")
    if given.schema is None:
        raise InputError(
            "--totals-only needs --schema FILE; 'factcheck fields infer-schema' writes one"
        )


def _results(given: Given, semantic: Semantic) -> _Scored:
    schema = None if given.schema is None else reading.read_schema(given.schema)
    gold = reading.read_records(given.gold)
    extracted = reading.read_records(given.extracted, gaps=True)
    _require_pairs(given, gold, extracted)
    notes: tuple[str, ...] = ()
    if schema is None:
        schema = reading.infer_schema_of(gold)
        how = "every field is compared by its type"
        if given.semantic is not None:
            fields_semantic.by_meaning(schema)
            how = "texts are compared by meaning, everything else by its type"
        notes = (f"Schema inferred from {gold.name}: {how}",)
    evaluator = _evaluator(given, schema, semantic)
    run = evaluator.evaluate(gold.values, extracted.values, join=given.join)
    notes = (*notes, *_semantic_note(schema, semantic))
    n_resamples = _RESAMPLES if run.total_records <= _MANY_RECORDS else _RESAMPLES // 4
    weights = _weights(evaluator.schema)
    undecided = Undecided(weights, run.records)
    return _Scored(run, run.intervals(n_resamples), weights, notes, undecided)


def _totals(given: Given, semantic: Semantic) -> _Scored:
    schema = reading.read_schema(str(given.schema))
    evaluator = _evaluator(given, schema, semantic)
    weights = _weights(evaluator.schema)
    tally, undecided = RunTally(weights, evaluator.schema_digest), Undecided(weights)
    for record in evaluator.stream(_pairs(given)):
        tally.add(record)
        undecided.add(record)
    notes = (*_semantic_note(schema, semantic), _NOT_RESAMPLED)
    return _Scored(tally.result(), tally.intervals(), weights, notes, undecided)


def _semantic_note(schema: dict[str, Any], semantic: Semantic) -> tuple[str, ...]:
    return (semantic.note(),) if fields_semantic.is_used(schema) else ()


def _evaluator(given: Given, schema: dict[str, Any], semantic: Semantic) -> FieldEvaluator:
    if given.semantic is not None and not fields_semantic.is_used(schema):
        output.complain(
            "warning: no field has the comparator 'semantic', so --semantic changes nothing"
        )
    with reading.schema_errors(reading.name_of(given.schema or given.gold)):
        return FieldEvaluator(
            schema,
            id_field=given.id_field,
            registry=semantic.registry,
            post_process=_without_nulls() if given.nulls_absent else None,
        )


def _without_nulls() -> PostProcess:
    from factcheck.fields import NullHandling, reclassify_nulls

    nulls = NullHandling(missing_is_absent=True)

    def post_process(results: list[FieldResult]) -> list[FieldResult]:
        return reclassify_nulls(results, nulls)

    return post_process


def _weights(node: SchemaNode) -> dict[str, float]:
    weights = {node.path: node.weight}
    for child in node.children:
        weights |= _weights(child)
    return weights


def _require_pairs(given: Given, gold: Records, extracted: Records) -> None:
    by_id = given.join == "id"
    if given.id_field:
        sides = (gold, extracted) if by_id else (gold,)
        for records in sides:
            for position, what in reading.id_problems(records, given.id_field, unique=by_id):
                raise InputError(f"{records.places[position]}: {what}")
    if by_id:
        _warn_of_like_ids(str(given.id_field), gold, extracted)
        return
    n_gold, n_extracted = len(gold.values), len(extracted.values)
    if n_gold != n_extracted:
        raise _unequal(
            f"{gold.name} has {content.many(n_gold, 'record')}, {extracted.name} {n_extracted:,}"
        )
    if given.id_field:
        for position, what in reading.id_problems(gold, given.id_field, unique=True):
            output.complain(
                f"warning: {gold.places[position]}: {what} for 'fields compare' to pair records"
            )
            break
        _warn_of_other_ids(given.id_field, gold, extracted)


def _unequal(what: str) -> InputError:
    return InputError(
        f"{what}; give null for an extraction that is missing, "
        "or join the records by id: --join id --id-field KEY"
    )


def _warn_of_other_ids(id_field: str, gold: Records, extracted: Records) -> None:
    n_others = sum(
        isinstance(record, dict) and record.get(id_field, other[id_field]) != other[id_field]
        for other, record in zip(gold.values, extracted.values, strict=True)
    )
    if n_others:
        output.complain(
            f"warning: {content.many(n_others, 'record')} of {extracted.name} differ in {id_field} "
            "from the gold record at their position; --join id pairs them up"
        )


def _warn_of_like_ids(id_field: str, gold: Records, extracted: Records) -> None:
    """1 and "1" are not the same id, which is easily overlooked."""
    ids, others = ({record[id_field] for record in side.values} for side in (gold, extracted))
    alike = {str(one) for one in ids - others} & {str(one) for one in others - ids}
    if alike:
        output.complain(
            f"warning: {content.many(len(alike), 'id')}, such as {min(alike):.80}, "
            f"{'is' if len(alike) == 1 else 'are'} a text in one file and a number in the other, "
            "so the records are not joined; write both alike"
        )


def _pairs(given: Given) -> Iterator[tuple[Any, Any]]:
    gold = reading.iter_records(given.gold)
    extracted = reading.iter_records(given.extracted, gaps=True)
    none = (None, _MISSING)
    for number, ((_, right), (_, found)) in enumerate(zip_longest(gold, extracted, fillvalue=none)):
        if right is _MISSING or found is _MISSING:
            short, long = map(reading.name_of, (given.gold, given.extracted))
            if found is _MISSING:
                short, long = long, short
            raise _unequal(f"{short} has {content.many(number, 'record')}, {long} more")
        yield right, found


def _shown(scored: _Scored, examples: int) -> fields_output.Shown:
    report = content.fields_report(
        scored.run,
        intervals=scored.intervals,
        weights=scored.weights,
        examples=examples,
        notes=scored.notes,
        undecided=scored.undecided,
    )

    def table() -> Any:
        from factcheck.reports.fields_table import render

        return render(report)

    def markdown() -> str:
        from factcheck.reports.fields_markdown import render_markdown

        return render_markdown(report)

    def csv() -> str:
        from factcheck.reports.fields_csv import render_rows

        return render_rows(scored.run.to_rows())

    first_line = f"{report.headline.score}   {report.headline.counts}"
    texts = {
        FieldsFormat.JSON: lambda: f"{scored.run.to_json()}\n",
        FieldsFormat.CSV: csv,
        FieldsFormat.MARKDOWN: markdown,
    }
    return fields_output.Shown(first_line, table, texts)
