"""What the report of a field evaluation says, and in which order: words and numbers, no layout.

Fields come by what they cost: how much F1 over all fields would rise if they were always right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from factcheck.fields import FieldSummary, RunResult
from factcheck.fields.runs.undecided import Undecided
from factcheck.fields.types import COUNTED
from factcheck.reports.fields_examples import FieldExamples, Unscored, unscored, worst_examples
from factcheck.reports.fields_gains import gains_of, summary_sums
from factcheck.reports.fields_values import visible
from factcheck.stats import Interval

COLUMNS = ("field", "weight", "F1", "P", "R", "support", "wrong", "missing", "invented", "gain")
WEIGHT = COLUMNS.index("weight")
NOTHING = "nothing was scored"
LEGEND = (
    "gain: how much micro F1 would rise if the field were always right",
    "wrong: mismatch, missing: omission, invented: hallucination",
)
EXAMPLES_LEGEND = "record (its id, or its position from 0), what gold has → what was extracted"
MOST_ROWS = 40
_MOST_FIELDS_WITH_EXAMPLES = 10
_MOST_REASONS = 5
_DASH = "\u2013"
_OUTSIDE = {
    "batch_error": "without an answer (batch_error)",
    "error": "that could not be compared (error)",
    "pending": "that nobody was asked about (pending)",
    "skipped": "skipped",
}


class Headline(NamedTuple):
    """What a run came to, in words."""

    score: str
    """`F1 0.713`, or that nothing was scored."""
    counts: str
    interval: str
    """Empty where there is none."""


class Row(NamedTuple):
    """One field of the schema."""

    field: str
    """Its path as shown."""
    weight: str
    """How much it counts; empty where all fields count the same."""
    f1: str
    precision: str
    recall: str
    support: int
    wrong: int
    missing: int
    invented: int
    gain: str
    """How much micro F1 would rise if the field were always right; empty if it is."""

    def cells(self) -> tuple[str, ...]:
        """As text, in the order of `FieldsReport.columns`."""
        cells = [cell if isinstance(cell, str) else f"{cell:,}" for cell in self]
        return tuple(cells if self.weight else (*cells[:WEIGHT], *cells[WEIGHT + 1 :]))


class FieldsReport(NamedTuple):
    """What is said about a run."""

    headline: Headline
    lines: tuple[str, ...]
    """What stands under the headline."""
    notes: tuple[str, ...]
    """Further lines that are never wrapped: they may hold paths of files."""
    rows: tuple[Row, ...]
    """The fields, costliest first."""
    more: str
    """What was left out of the rows; empty if nothing was."""
    examples: tuple[FieldExamples, ...]
    unscored: tuple[Unscored, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """What stands over the rows: `COLUMNS`, without weights where all are the same."""
        weighted = any(row.weight for row in self.rows)
        return tuple(name for name in COLUMNS if weighted or name != COLUMNS[WEIGHT])


def fields_report(
    run: RunResult,
    *,
    intervals: Mapping[str, Interval] | None = None,
    weights: Mapping[str, float] | None = None,
    examples: int = 3,
    notes: Sequence[str] = (),
    undecided: Undecided | None = None,
) -> FieldsReport:
    """The report of a run.

    Args:
        run: The run.
        intervals: 95 % intervals of `mean_precision`, `mean_recall` and `mean_f1`, where they are
            known; not shown of fewer than two records.
        weights: How much fields count, by schema path; those that are not in it count once.
        examples: Examples of what went wrong, for each of the costliest fields.
        notes: Further lines under the headline.
        undecided: The values without a verdict; `None`: those of the records that were kept.
    """
    weights = weights or {}
    if undecided is None:
        undecided = Undecided(weights, run.records)
    if run.total_records < 2:  # noqa: PLR2004 - one record says nothing about another
        intervals = None
    gains = gains_of(run.by_field, weights)
    scored = run.by_field if run.total_fields else ()
    order = sorted(scored, key=lambda field: _rank(run.by_field[field], gains[field]))
    costly = [field for field in order if gains[field] > 0][:_MOST_FIELDS_WITH_EXAMPLES]
    shown_weights = _shown_weights(run.by_field, weights)
    return FieldsReport(
        _headline(run, intervals or {}, undecided),
        tuple(_lines(run, intervals or {}, undecided)),
        tuple(map(visible, notes)),
        tuple(
            _row(field, run.by_field[field], gains[field], shown_weights.get(field, ""))
            for field in order[:MOST_ROWS]
        ),
        _more(order[MOST_ROWS:], gains),
        worst_examples(run.records, costly, examples),
        tuple(map(unscored, undecided.fields[:_MOST_REASONS])),
    )


def _shown_weights(
    by_field: Mapping[str, FieldSummary], weights: Mapping[str, float]
) -> dict[str, str]:
    """What each field counts, where they do not all count the same; a skipped one does not."""
    own = {
        field: weights.get(field, 1.0)
        for field, summary in by_field.items()
        if summary.counts.keys() - {"skipped"}
    }
    if len({*own.values()}) < 2:  # noqa: PLR2004 - all are the same
        return {}
    return {field: f"{own[field]:g}" if field in own else _DASH for field in by_field}


def _headline(run: RunResult, intervals: Mapping[str, Interval], undecided: Undecided) -> Headline:
    counts = many(run.total_records, "record")
    if not run.total_fields:
        return Headline(NOTHING.capitalize(), counts, "")
    if run.total_records > 1:
        counts = f"mean over {counts} (macro)"
    if undecided.n_records:
        counts += f", {undecided.n_records:,} of them undecided"
    interval = _interval(intervals.get("mean_f1"))
    return Headline(f"F1 {share(run.mean_f1)}", counts, interval and f"95 % interval {interval}")


def many(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def share(value: float) -> str:
    """A share with three decimals that shows 1.000 and 0.000 only where they are exact."""
    text = f"{value:.3f}"
    if text == "1.000" and value < 1.0:
        return ">0.999"
    return "<0.001" if text == "0.000" and value > 0.0 else text


def shown_path(path: str) -> str:
    """A schema path on one line; the root has a name."""
    return visible(path) or "(the record)"


def _lines(
    run: RunResult, intervals: Mapping[str, Interval], undecided: Undecided
) -> Iterable[str]:
    f1 = undecided.decided_f1(run)
    if undecided.n_records and f1 is not None:
        yield (
            f"Nothing could be decided in {many(undecided.n_records, 'record')}, which the mean "
            f"takes for right: without, F1 is {share(f1)}"
        )
    if run.total_fields:
        precision = _with_interval(run.mean_precision, intervals.get("mean_precision"))
        recall = _with_interval(run.mean_recall, intervals.get("mean_recall"))
        yield f"Precision {precision}, recall {recall}"
        micro = run.micro
        yield (
            f"All fields at once (micro): F1 {share(micro.f1)}, "
            f"precision {share(micro.precision)}, recall {share(micro.recall)}"
        )
        yield _counts(run)
    totals = _totals(run)
    outside = [f"{totals[s]:,} {words}" for s, words in _OUTSIDE.items() if totals.get(s)]
    if outside:
        yield f"Values outside the score: {', '.join(outside)}"
    if run.total_fields and undecided.fields:
        low, high = map(share, undecided.bounds(run))
        yield f"With the undecided values all wrong F1 is {low}, with all of them right {high}"


def _counts(run: RunResult) -> str:
    totals = _totals(run)
    parts = [f"{totals.get('match', 0):,} right"]
    for status, word in (
        ("mismatch", "wrong"),
        ("omission", "missing"),
        ("hallucination", "invented"),
    ):
        if totals.get(status):
            parts.append(f"{totals[status]:,} {word}")
    return f"{many(run.total_fields, 'field')}: {', '.join(parts)}"


def _totals(run: RunResult) -> dict[str, int]:
    totals: dict[str, int] = {}
    for summary in run.by_field.values():
        for status, count in summary.counts.items():
            totals[status] = totals.get(status, 0) + count
    return totals


def _with_interval(value: float, interval: Interval | None) -> str:
    shown = _interval(interval)
    return f"{share(value)} ({shown})" if shown else share(value)


def _interval(interval: Interval | None) -> str:
    return f"{interval.low:.3f} {_DASH} {interval.high:.3f}" if interval is not None else ""


def _rank(summary: FieldSummary, gain: float) -> tuple[float, int, bool]:
    counts = summary.counts
    n_failed = counts.get("error", 0) + counts.get("batch_error", 0)
    return -gain, -n_failed, COUNTED.isdisjoint(counts)


def _row(field: str, summary: FieldSummary, gain: float, weight: str) -> Row:
    counts = summary.counts
    sums = summary_sums(summary)
    return Row(
        shown_path(field),
        weight,
        share(summary.f1) if sums.found or sums.wanted else _DASH,
        share(summary.precision) if sums.found else _DASH,
        share(summary.recall) if sums.wanted else _DASH,
        summary.support,
        counts.get("mismatch", 0),
        counts.get("omission", 0),
        counts.get("hallucination", 0),
        _gain_text(gain),
    )


def _gain_text(gain: float) -> str:
    """A gain with three decimals; empty where there is none."""
    if not gain:
        return ""
    return "<0.001" if share(gain) == "<0.001" else f"+{gain:.3f}"


def _more(left_out: Sequence[str], gains: Mapping[str, float]) -> str:
    if not left_out:
        return ""
    n_right = sum(not gains[field] for field in left_out)
    words = f"and {many(len(left_out), 'more field')}"
    if n_right == len(left_out):
        return f"{words} that lose nothing"
    return f"{words}; with the first of them right, micro F1 would gain {share(gains[left_out[0]])}"
