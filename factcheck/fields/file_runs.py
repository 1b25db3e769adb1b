"""Evaluates files of records; warnings go to the log `factcheck.fields`."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import zip_longest
from typing import Any, NamedTuple

from factcheck.documents import name_of
from factcheck.errors import InputError
from factcheck.facts.page import usage_text
from factcheck.fields import files
from factcheck.fields.comparators.semantic import SemanticComparator
from factcheck.fields.evaluation import FieldEvaluator, Join
from factcheck.fields.pages import field_text, run_page, undecided_text
from factcheck.fields.runs.postprocess import NullHandling, reclassify_nulls
from factcheck.fields.runs.records import Undecided
from factcheck.fields.runs.results import RunResult
from factcheck.fields.schemas.structure import COMPARE, sub_schemas
from factcheck.fields.types import FieldResult
from factcheck.reports.page import Page
from factcheck.reports.text import plural
from factcheck.stats.intervals import Interval

SEMANTIC = "semantic"
_MISSING = object()
_N_RESAMPLES = 2_000
_MANY_RECORDS = 20_000
"""From here on intervals are narrow, and fewer resamples do."""
_NOT_RESAMPLED = (
    "Aggregates only: intervals are Student's t instead of bootstrap intervals and differ "
    "slightly from those of a run that keeps its records"
)
_log = logging.getLogger("factcheck.fields")


class GateScores(NamedTuple):
    """What a gate needs to know of a run; see `factcheck.scoring.gates.fields_gate`."""

    f1: float | None
    """Mean F1 over the records in which something was decided; `None` if nothing was."""
    low_f1: float
    """Mean F1 if every value without a verdict were wrong."""
    never_judged: str = ""
    """A field without a single verdict; empty if there is none."""
    no_verdict: str = ""
    """The field with most values without a verdict, and why."""


class FileRun(NamedTuple):
    """The result of an evaluation of files."""

    run: RunResult
    intervals: Mapping[str, Interval]
    undecided: Undecided
    notes: tuple[str, ...]
    """How the schema was made, who judged, and how the intervals were computed."""

    @property
    def gate_scores(self) -> GateScores:
        """Scores for the gate."""
        return gate_scores(self.run, self.undecided)

    def page(self, *, examples: int = 3) -> Page:
        """The report."""
        return run_page(
            self.run,
            intervals=self.intervals,
            examples=examples,
            notes=self.notes,
            undecided=self.undecided,
        )


@dataclass(frozen=True)
class FileEvaluation:
    """An evaluation of a file of extracted records against a file of gold records."""

    gold: str
    extracted: str
    comparator: SemanticComparator
    """Compares the fields with the comparator `semantic`."""
    schema: str | None = None
    """File of the schema; `None`: suggested from `gold`."""
    id_field: str | None = None
    join: Join = "position"
    by_meaning: bool = False
    """Whether names and labels of a suggested schema are compared by meaning."""
    nulls_absent: bool = False
    """Whether null counts as a missing key."""

    def results(self) -> FileRun:
        """Evaluate with all records in memory."""
        schema = None if self.schema is None else files.read_schema(self.schema)
        gold = files.read_records(self.gold)
        extracted = files.read_records(self.extracted, extracted=True)
        self._check_pairs(gold, extracted)
        notes: tuple[str, ...] = ()
        if schema is None:
            schema = files.suggest_schema_of(gold, texts_by_meaning=self.by_meaning)
            how = "names and labels are compared by meaning; " if self.by_meaning else ""
            notes = (f"Schema suggested from {gold.name}: {how}'fields suggest' shows why",)
        evaluator = self._evaluator(schema)
        run = evaluator.evaluate(gold.values, extracted.values, join=self.join)
        n_resamples = _N_RESAMPLES if run.total_records <= _MANY_RECORDS else _N_RESAMPLES // 4
        notes = (*notes, *self._semantic_note(schema))
        undecided = Undecided(run.weights, run.records)
        return FileRun(run, run.intervals(n_resamples), undecided, notes)

    def totals(self) -> FileRun:
        """Evaluate record by record in constant memory, keeping aggregates only."""
        schema = files.read_schema(str(self.schema))
        evaluator = self._evaluator(schema)
        tally = evaluator.empty_tally()
        undecided = Undecided(tally.result().weights)
        for record in evaluator.stream(self._pairs()):
            tally.add(record)
            undecided.add(record)
        notes = (*self._semantic_note(schema), _NOT_RESAMPLED)
        return FileRun(tally.result(), tally.intervals(), undecided, notes)

    def _evaluator(self, schema: dict[str, Any]) -> FieldEvaluator:
        if self.by_meaning and not _is_semantic(schema):
            _log.warning("no field has the comparator 'semantic', so --semantic has no effect")
        post_process: Callable[[list[FieldResult]], list[FieldResult]] | None = None
        if self.nulls_absent:
            post_process = partial(reclassify_nulls, config=NullHandling(missing_is_absent=True))
        with files.schema_errors(name_of(self.schema or self.gold)):
            return FieldEvaluator(
                schema,
                id_field=self.id_field,
                post_process=post_process,
                semantic=self.comparator,
            )

    def _semantic_note(self, schema: dict[str, Any]) -> tuple[str, ...]:
        if not _is_semantic(schema):
            return ()
        judge = " ".join(f"{name}:{value}" for name, value in self.comparator.identity.items())
        usage = usage_text(self.comparator.usage)
        return (f"Compared by meaning: {judge}{', ' if usage else ''}{usage}",)

    def _check_pairs(self, gold: files.Records, extracted: files.Records) -> None:
        by_id = self.join == "id"
        if self.id_field:
            for records in (gold, extracted) if by_id else (gold,):
                for position, what in files.id_problems(records, self.id_field, unique=by_id):
                    raise InputError(f"{records.places[position]}: {what}")
        n_gold, n_extracted = len(gold.values), len(extracted.values)
        if by_id:
            _warn_of_mixed_id_types(str(self.id_field), gold, extracted)
        elif n_gold != n_extracted:
            raise _unequal(
                f"{gold.name} has {plural(n_gold, 'record')}, {extracted.name} {n_extracted:,}"
            )

    def _pairs(self) -> Iterator[tuple[Any, Any]]:
        gold = files.iter_records(self.gold)
        extracted = files.iter_records(self.extracted, extracted=True)
        pairs = zip_longest(gold, extracted, fillvalue=(None, _MISSING))
        for number, ((_, wanted), (_, found)) in enumerate(pairs):
            if wanted is _MISSING or found is _MISSING:
                short, long = map(name_of, (self.gold, self.extracted))
                if found is _MISSING:
                    short, long = long, short
                raise _unequal(f"{short} has {plural(number, 'record')}, {long} more")
            yield wanted, found


def gate_scores(run: RunResult, undecided: Undecided) -> GateScores:
    """What a gate needs to know of a run."""
    never = (
        field_text(path)
        for path, field in run.by_field.items()
        if field.counts.get("batch_error") and not field.counts.keys() & {"match", "mismatch"}
    )
    return GateScores(
        f1=undecided.decided_f1(run),
        low_f1=undecided.bounds(run.mean_f1, run.total_records)[0],
        never_judged=next(never, ""),
        no_verdict="".join(
            f"{field_text(field.field)}: {undecided_text(field)}" for field in undecided.fields[:1]
        ),
    )


def _unequal(what: str) -> InputError:
    return InputError(
        f"{what}; give null for a missing extraction, "
        "or join the records by id: --join id --id-field KEY"
    )


def _warn_of_mixed_id_types(id_field: str, gold: files.Records, extracted: files.Records) -> None:
    ids, others = (
        {record[id_field] for record in side.values if isinstance(record, dict)}
        for side in (gold, extracted)
    )
    alike = {str(one) for one in ids - others} & {str(one) for one in others - ids}
    if alike:
        _log.warning(
            "%s, such as %.80s, %s a string in one file and a number in the other, "
            "so the records are not joined; use one type in both",
            plural(len(alike), "id"),
            min(alike),
            "is" if len(alike) == 1 else "are",
        )


def _is_semantic(schema: Any) -> bool:
    if not isinstance(schema, dict):
        return False
    entry = schema.get(COMPARE)
    if entry == SEMANTIC or (isinstance(entry, dict) and SEMANTIC in entry):
        return True
    return any(_is_semantic(child.schema) for child in sub_schemas(schema))
