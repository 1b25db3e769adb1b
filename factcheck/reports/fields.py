"""What the report of a field evaluation says, and in which order: words and numbers, no layout.

Fields come by what they cost: how much F1 over all fields would rise if they were always right.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from factcheck.facts.statistics import Interval
from factcheck.fields import FieldSummary, RecordResult, RunResult
from factcheck.fields.runs.metrics import Sums
from factcheck.fields.types import COUNTED
from factcheck.reports.fields_examples import FieldExamples, Unscored, unscored, worst_examples
from factcheck.reports.fields_values import visible

COLUMNS = ("field", "F1", "P", "R", "support", "wrong", "missing", "invented", "gain")
NOTHING = "nothing was scored"
LEGEND = (
    "gain: how much micro F1 would rise if the field were always right",
    "wrong: mismatch, missing: omission, invented: hallucination",
)
EXAMPLES_LEGEND = "record (its id, or its position from 0), what gold has → what was extracted"
MOST_ROWS = 40
_MOST_FIELDS_WITH_EXAMPLES = 10
_MOST_REASONS = 5
_FAILED = frozenset({"error", "batch_error"})
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
        """As text, in the order of `COLUMNS`."""
        return tuple(cell if isinstance(cell, str) else f"{cell:,}" for cell in self)


class FieldsReport(NamedTuple):
    """What is said about a run."""

    headline: Headline
    lines: tuple[str, ...]
    """What stands under the headline."""
    rows: tuple[Row, ...]
    """The fields, costliest first."""
    more: str
    """What was left out of the rows; empty if nothing was."""
    examples: tuple[FieldExamples, ...]
    unscored: tuple[Unscored, ...]


def fields_report(
    run: RunResult,
    *,
    intervals: Mapping[str, Interval] | None = None,
    weights: Mapping[str, float] | None = None,
    examples: int = 3,
    notes: Sequence[str] = (),
    n_undecided: int | None = None,
) -> FieldsReport:
    """The report of a run.

    Args:
        run: The run.
        intervals: 95 % intervals of `mean_precision`, `mean_recall` and `mean_f1`, where they are
            known; not shown of fewer than two records.
        weights: How much fields count, by schema path; those that are not in it count once.
        examples: Examples of what went wrong, for each of the costliest fields.
        notes: Further lines under the headline.
        n_undecided: Of how many records `is_undecided` holds; `None`: count those that were kept.
    """
    if n_undecided is None:
        n_undecided = sum(map(is_undecided, run.records))
    if run.total_records < 2:  # noqa: PLR2004 - one record says nothing about another
        intervals = None
    gains = _gains(run.by_field, weights or {})
    scored = run.by_field if run.total_fields else ()
    order = sorted(scored, key=lambda field: _rank(run.by_field[field], gains[field]))
    costly = [field for field in order if gains[field] > 0][:_MOST_FIELDS_WITH_EXAMPLES]
    return FieldsReport(
        _headline(run, intervals or {}, n_undecided),
        (*_lines(run, intervals or {}, n_undecided), *map(visible, notes)),
        tuple(_row(field, run.by_field[field], gains[field]) for field in order[:MOST_ROWS]),
        _more(order[MOST_ROWS:], gains),
        worst_examples(run.records, costly, examples),
        unscored(run.records)[:_MOST_REASONS],
    )


def _headline(run: RunResult, intervals: Mapping[str, Interval], n_undecided: int) -> Headline:
    counts = many(run.total_records, "record")
    if not run.total_fields:
        return Headline(NOTHING.capitalize(), counts, "")
    if run.total_records > 1:
        counts = f"mean over {counts} (macro)"
    if n_undecided:
        counts += f", {n_undecided:,} of them undecided"
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


def is_undecided(record: RecordResult) -> bool:
    """Whether fields of a record failed, and no other could be scored.

    In the means such a record counts as 1, as there is nothing in it to find fault with.
    """
    statuses = {result.status for result in record.field_results}
    return COUNTED.isdisjoint(statuses) and not _FAILED.isdisjoint(statuses)


def decided_f1(run: RunResult, n_undecided: int) -> float | None:
    """Mean F1 without the undecided records; `None` if nothing was scored."""
    n_decided = run.total_records - n_undecided
    if not run.total_fields or not n_decided:
        return None
    if not n_undecided:
        return run.mean_f1
    return (run.mean_f1 * run.total_records - n_undecided) / n_decided


def _lines(run: RunResult, intervals: Mapping[str, Interval], n_undecided: int) -> Iterable[str]:
    f1 = decided_f1(run, n_undecided)
    if n_undecided and f1 is not None:
        yield (
            f"Nothing could be decided in {many(n_undecided, 'record')}, which the mean takes for "
            f"right: without, F1 is {share(f1)}"
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
        yield f"Outside the score: {', '.join(outside)}"


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


def _sums(summary: FieldSummary, weight: float) -> Sums:
    counts = summary.counts
    both = counts.get("match", 0) + counts.get("mismatch", 0)
    lost, extra = counts.get("omission", 0), counts.get("hallucination", 0)
    matched = summary.mean_score * (both + lost + extra)
    return Sums(weight * matched, weight * (both + extra), weight * (both + lost))


def _gains(by_field: Mapping[str, FieldSummary], weights: Mapping[str, float]) -> dict[str, float]:
    """By how much F1 over all fields would rise if one field were always right."""
    own = {field: _sums(summary, weights.get(field, 1.0)) for field, summary in by_field.items()}
    whole = Sums()
    for sums in own.values():
        whole = whole.plus(sums)
    base = _f1(whole)
    gains = {}
    for field, sums in own.items():
        # Right means: what gold has is there and matches, and nothing else is.
        matched = whole.matched - sums.matched + sums.wanted
        found = whole.found - sums.found + sums.wanted
        is_right = sums.matched == sums.found == sums.wanted
        gains[field] = 0.0 if is_right else _f1(Sums(matched, found, whole.wanted)) - base
    return gains


def _f1(sums: Sums) -> float:
    stake = sums.found + sums.wanted
    return 2 * sums.matched / stake if stake else 1.0


def _rank(summary: FieldSummary, gain: float) -> tuple[float, int, bool]:
    counts = summary.counts
    n_failed = counts.get("error", 0) + counts.get("batch_error", 0)
    return -gain, -n_failed, COUNTED.isdisjoint(counts)


def _row(field: str, summary: FieldSummary, gain: float) -> Row:
    counts = summary.counts
    scored = not COUNTED.isdisjoint(counts)
    return Row(
        shown_path(field),
        share(summary.f1) if scored else _DASH,
        share(summary.precision) if scored else _DASH,
        share(summary.recall) if scored else _DASH,
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
