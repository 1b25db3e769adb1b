"""Report of a field evaluation: the fields with most lost values first."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from factcheck.errors import shorten_middle
from factcheck.fields.figures import COLUMNS, FieldSummary, RunFigures
from factcheck.fields.nodes import NOT_IN_SCHEMA
from factcheck.fields.records import RecordResult
from factcheck.fields.schemas import schema_path
from factcheck.fields.types import COUNTED, FieldResult
from factcheck.reports import Report, text
from factcheck.reports.page import Alert, Case, Item, Page, Section, Table, Tone, filled, parts_of
from factcheck.reports.text import one_line, plural, share, shorten
from factcheck.stats.intervals import Interval

_EXAMPLES = "record (id, or position from 0), gold → extracted"
_ABSENT = {"omission": "missing", "hallucination": "not in gold"}
"""Placeholder for the missing side; values are quoted, so none can look like it."""
_LOSSES = ("mismatch", "omission", "hallucination")
_TABLE_COLUMNS = ("field", "F1", "P", "R", "support", *_LOSSES)
_UNUSABLE = "parse_failure"
_UNDECIDED = {
    "error": "could not be compared",
    "batch_error": "without a verdict",
    "pending": "not compared yet",
}
_TONES: Mapping[str, Tone] = {
    "match": "good",
    "mismatch": "bad",
    "omission": "warn",
    "hallucination": "bad",
    "error": "unknown",
    "batch_error": "unknown",
}
_MAX_FIELDS_WITH_EXAMPLES = 10
_MAX_EXAMPLES = 3
"""Maximum number of examples per field."""
_MAX_DOUBTFUL = 10
_MAX_REASONS = 5
_MAX_ID = 24
_MAX_REASON = 120
_MAX_EXPLANATION = 400
"""Maximum length of a reason that ends with advice."""


@dataclass(frozen=True, repr=False)
class RunResult(RunFigures, Report):
    """Result of a run.

    `print` shows its report; `to_markdown`, `to_html` and `page` return it in other formats.
    """

    def page(self, *, intervals: Mapping[str, Interval] | None = None) -> Page:
        """Build the report: mean and micro F1, the fields with the largest losses, and examples.

        Args:
            intervals: Result of the method `intervals`.
        """
        intervals = intervals if intervals and self.total_records > 1 else {}
        is_scored = self.total_fields > 0
        totals = self.totals()
        losses = {
            field: self.weights.get(field, 1.0) * sum(map(one.count, _LOSSES))
            for field, one in self.by_field.items()
        }
        # fields without losses: those with errors first, those that never counted last
        order = sorted(
            (f for f, one in self.by_field.items() if is_scored and [*one.counts] != [_UNUSABLE]),
            key=lambda field: (
                -losses[field],
                -self.by_field[field].count("error") - self.by_field[field].count("batch_error"),
                COUNTED.isdisjoint(self.by_field[field].counts),
            ),
        )
        costly = [field for field in order if losses[field] > 0][:_MAX_FIELDS_WITH_EXAMPLES]
        counts = plural(self.total_records, "record")
        if n_open := sum(record.f1 is None for record in self.records):
            counts = f"{self.total_records - n_open:,} of {counts}"
        if is_scored and self.total_records > 1:
            counts = f"mean over {counts} (macro)"
        interval = text.interval_text(intervals.get("mean_f1")) if is_scored else ""
        return Page(
            "F1" if is_scored else "Nothing was scored",
            _share(self.mean_f1) if is_scored else "",
            counts,
            interval and f"95 % interval {interval}",
            lines=tuple(_lines(self, totals, intervals)),
            alerts=tuple(_alerts(self, totals)),
            footer=tuple(("Note", note) for note in self.notes),
            parts=parts_of(*((tone, totals[name], name) for name, tone in _TONES.items())),
            sections=filled(
                Section("Look at these: mismatches in doubt", "unknown", meaning=_EXAMPLES).listing(
                    self.doubtful(), lambda one: _example("", *one), "value", _MAX_DOUBTFUL
                ),
                Section("Fields by losses").tabled(
                    Table(
                        _TABLE_COLUMNS,
                        tuple(_row(field, self.by_field[field]) for field in order),
                    )
                ),
                Section("Without a score", "unknown").listing(
                    [*self.undecided.items()], _undecided, "field", _MAX_REASONS
                ),
                Section("Unusable extractions", "bad").listing(
                    [record for record in self.records if record.failure is not None],
                    _unusable,
                    "record",
                    _MAX_REASONS,
                ),
                *_examples(self.records, costly),
            ),
            suite="fields",
            cases=tuple(_cases(self)),
            columns=COLUMNS,
            rows=self.to_rows,
        )


def _undecided(entry: tuple[tuple[str, str], Sequence[str]]) -> Item:
    (path, status), reasons = entry
    return Item(field_text(path), undecided_text(status, reasons))


def _unusable(record: RecordResult) -> Item:
    reason = shorten(one_line(record.failure or ""), _MAX_REASON)
    return Item(one_line(str(record.record_id)), reason)


def field_text(path: str) -> str:
    return one_line(path) or "(the record)"


def _lines(
    run: RunFigures, totals: Mapping[str, int], intervals: Mapping[str, Interval]
) -> Iterator[str]:
    if run.total_fields:
        precision = _with_interval(run.mean_precision, intervals.get("mean_precision"))
        recall = _with_interval(run.mean_recall, intervals.get("mean_recall"))
        yield f"Precision {precision}, recall {recall}"
        micro = run.micro
        yield (
            f"All fields (micro): F1 {_share(micro.f1)}, precision {_share(micro.precision)}, "
            f"recall {_share(micro.recall)}"
        )
        counts = [f"{totals.get('match', 0):,} match"]
        counts += [f"{totals[status]:,} {status}" for status in _LOSSES if totals.get(status)]
        yield f"{plural(run.total_fields, 'field')}: {', '.join(counts)}"
    if n_doubtful := len(run.doubtful()):
        yield f"Doubtful: {n_doubtful:,} of the mismatches; they count as wrong"
    if n_failed := totals.get(_UNUSABLE):
        rate = f"{n_failed / run.total_records:.1%}"
        failed = f"{n_failed:,} of {plural(run.total_records, 'record')} ({rate})"
        yield f"Unusable extractions: {failed}; their gold fields are omissions"
    if n_skipped := totals.get("skipped"):
        yield f"Not counted: {n_skipped:,} skipped"


def _alerts(run: RunFigures, totals: Mapping[str, int]) -> Iterator[Alert]:
    """Say what may have gone wrong, and what has no verdict."""
    yield from (Alert(text, "warn") for text in run.alerts)
    if excluded := [f"{totals[status]:,} {status}" for status in _UNDECIDED if totals.get(status)]:
        yield Alert(f"Not counted: {', '.join(excluded)}", "warn")
    if run.total_fields and run.undecided:
        low, high = map(share, run.f1_bounds())
        bounds = f"If every undecided value were wrong / right, F1 would be {low} / {high}"
        yield Alert(bounds, "warn")


def _share(score: float | None) -> str:
    return text.DASH if score is None else share(score)


def _with_interval(mean: float | None, interval: Interval | None) -> str:
    shown = text.interval_text(interval)
    return f"{_share(mean)} ({shown})" if shown else _share(mean)


def _row(field: str, summary: FieldSummary) -> tuple[str, ...]:
    n_extracted = sum(map(summary.count, ("match", "mismatch", "hallucination")))
    n_gold = summary.support
    return (
        field_text(field),
        _share(summary.f1) if n_extracted or n_gold else text.DASH,
        _share(summary.precision) if n_extracted else text.DASH,
        _share(summary.recall) if n_gold else text.DASH,
        f"{summary.support:,}",
        *(f"{summary.count(status):,}" for status in _LOSSES),
    )


def undecided_text(status: str, reasons: Sequence[str]) -> str:
    """Say how many values of a field have no verdict, and why."""
    counted = f"{plural(len(reasons), 'value')} {_UNDECIDED[status]}"
    reason = shorten(one_line(reasons[0]), _MAX_EXPLANATION)
    example = "" if len({*reasons}) == 1 else ", for example"
    return f"{counted}{example}: {reason}" if reason else counted


def _cases(run: RunFigures) -> Iterator[Case]:
    """Make one case per field, failed if its F1 is below 1."""
    for field, summary in run.by_field.items():
        counts = ", ".join(f"{n:,} {status}" for status, n in summary.counts.items())
        if summary.count(_UNUSABLE):
            n_unusable = plural(summary.count(_UNUSABLE), "extraction")
            yield Case("unusable extractions", "failed", f"{n_unusable} without a record", "lost")
        elif summary.f1 is None or COUNTED.isdisjoint(summary.counts):
            yield Case(field_text(field), "skipped", counts, "not counted")
        elif summary.f1 < 1.0:
            yield Case(field_text(field), "failed", f"F1 {share(summary.f1)}: {counts}", "lost")
        else:
            yield Case(field_text(field))


def _examples(records: Sequence[RecordResult], fields: Collection[str]) -> Iterator[Section]:
    """Show examples of lost values by field, lowest score first.

    Unusable records have none, and missing ones come last.
    """
    losses: dict[str, list[tuple[str | int, FieldResult]]] = {field: [] for field in fields}
    usable = [one for one in records if one.failure is None]
    for record in sorted(usable, key=lambda one: one.extracted is None):
        for result in record.field_results:
            if result.status in _LOSSES and (path := schema_path(result.path)) in losses:
                losses[path].append((record.record_id, result))
    meaning = _EXAMPLES
    for field, found in losses.items():
        found.sort(key=lambda loss: (loss[1].score, _LOSSES.index(loss[1].status)))
        n_more = len(found) - _MAX_EXAMPLES
        if found:
            yield Section(
                f"Examples of {field_text(field)}",
                "warn",
                items=tuple(_example(field, *loss) for loss in found[:_MAX_EXAMPLES]),
                more=f"and {n_more:,} more" if n_more > 0 else "",
                meaning=meaning,
            )
            meaning = ""


def _example(field: str, record_id: str | int, result: FieldResult) -> Item:
    gold, extracted = text.value_text(result.gold_value), text.value_text(result.extracted_value)
    if result.status == "omission":
        gold, extracted = shorten_middle(gold, text.LONGEST_VALUE), _ABSENT["omission"]
    elif result.status == "hallucination":
        is_outside = result.reason == NOT_IN_SCHEMA
        gold = NOT_IN_SCHEMA if is_outside else _ABSENT["hallucination"]
        extracted = shorten_middle(extracted, text.LONGEST_VALUE)
    else:
        gold, extracted = text.shorten_pair(gold, extracted)
    reason = result.reason or ""
    if reason in {result.status, gold}:
        reason = ""
    path = "" if result.path == field else f"{one_line(result.path)} "
    return Item(
        text.name_text(str(record_id), _MAX_ID),
        f"{path}{gold} → {extracted}",
        aside=shorten(one_line(reason), _MAX_REASON),
    )
