"""What the comparison of two runs says: which fields one wins and loses, and by how much."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from factcheck.fields.runs.comparison import (
    Difference,
    OneSided,
    RecordChange,
    RunComparison,
)
from factcheck.reports.fields import MOST_ROWS, many, share, shown_path
from factcheck.reports.fields_values import shortened, visible

COLUMNS = ("A", "B", "B - A", "95 % interval", "p")
LEGEND = "A field is won or lost if p, adjusted for the number of fields, is below 0.05"
_OVERALL = {
    "mean_f1": "F1 (macro)",
    "mean_precision": "precision (macro)",
    "mean_recall": "recall (macro)",
    "micro_f1": "F1 (micro)",
    "micro_precision": "precision (micro)",
    "micro_recall": "recall (micro)",
}
_MAIN = "mean_f1"
_SIGNIFICANT = 0.05
_MOST_CHANGES = 5
_MOST_IDS = 5
_LONGEST_ID = 40
_DASH = "\u2013"


class Section(NamedTuple):
    """Figures of one kind."""

    title: str
    style: str
    rows: tuple[tuple[str, ...], ...]
    """Name, then a cell for each of `COLUMNS`, or for the first three of them."""
    more: str = ""
    """What was left out; empty if nothing was."""


class ComparisonReport(NamedTuple):
    """What is said about two runs."""

    headline: str
    lines: tuple[str, ...]
    sections: tuple[Section, ...]


def comparison_report(
    comparison: RunComparison, names: tuple[str, str] = ("", "")
) -> ComparisonReport:
    """The report of a comparison.

    Args:
        comparison: The comparison.
        names: What the two runs are called; empty for no names.
    """
    fields = comparison.fields
    records = comparison.records
    sections = (
        Section("Overall", "", _overall(comparison.overall)),
        _section("Won", "green", comparison.won, fields),
        _section("Lost", "red", comparison.lost, fields),
        _section("Without a clear difference", "", _by_size(comparison.unchanged, fields), fields),
        _one_sided(comparison.not_compared),
        _changes("Records improved most", "green", records.most_improved),
        _changes("Records worsened most", "red", records.most_worsened),
    )
    return ComparisonReport(
        _headline(comparison.overall[_MAIN], other_schema=comparison.same_schema is False),
        tuple(_lines(comparison, names)),
        tuple(section for section in sections if section.rows or section.more),
    )


def _headline(main: Difference, *, other_schema: bool) -> str:
    verdict = "no clear difference"
    if main.p_value < _SIGNIFICANT:
        verdict = "B is better" if main.difference > 0 else "B is worse"
    if other_schema:
        verdict += ", but by another schema"
    return f"F1 {share(main.a)} → {share(main.b)} ({main.difference:+.3f}): {verdict}"


def _lines(comparison: RunComparison, names: tuple[str, str]) -> Iterator[str]:
    if any(names):
        yield f"A is {visible(names[0])}, B is {visible(names[1])}"
    if warning := schema_warning(comparison):
        yield f"Warning: {warning}"
    records = comparison.records
    yield (
        f"{many(comparison.n_records, 'record')}: {records.n_better:,} better, "
        f"{records.n_worse:,} worse, {records.n_equal:,} equal (sign test: p {_p(records.p_value)})"
    )
    yield (
        f"{many(len(comparison.fields), 'field')}: {len(comparison.won):,} won, "
        f"{len(comparison.lost):,} lost, {len(comparison.unchanged):,} without a clear difference"
    )
    for side, ids in (("A", comparison.only_in_a), ("B", comparison.only_in_b)):
        if ids:
            shown = ", ".join(_id(one) for one in ids[:_MOST_IDS])
            dots = ", …" if len(ids) > _MOST_IDS else ""
            yield f"Left out: {many(len(ids), 'record')} only in {side} ({shown}{dots})"


def schema_warning(comparison: RunComparison) -> str:
    """Why a difference may not be the extractor's; empty where both runs have the same schema."""
    if comparison.same_schema:
        return ""
    if comparison.same_schema is False:
        return (
            "A and B were scored by different schemas, so a difference may come from the schema "
            "alone; evaluate both by one"
        )
    unknown = [side for side, one in zip("AB", comparison.schemas, strict=True) if one is None]
    return (
        f"{' and '.join(unknown)} {'does' if len(unknown) == 1 else 'do'} not say by which schema "
        "the records were scored, so a difference may come from the schema alone; evaluate again"
    )


def _id(name: str | int) -> str:
    return shortened(visible(str(name)), _LONGEST_ID)


def _overall(overall: Mapping[str, Difference]) -> tuple[tuple[str, ...], ...]:
    found = ((words, overall[name]) for name, words in _OVERALL.items() if name in overall)
    return tuple(_row(words, difference, difference.p_value) for words, difference in found)


def _by_size(names: Sequence[str], fields: Mapping[str, Difference]) -> list[str]:
    return sorted(names, key=lambda name: abs(fields[name].difference), reverse=True)


def _section(
    title: str, style: str, names: Sequence[str], fields: Mapping[str, Difference]
) -> Section:
    differing = [name for name in names if fields[name].difference]
    rows = [
        _row(shown_path(name), fields[name], fields[name].p_adjusted)
        for name in differing[:MOST_ROWS]
    ]
    n_more, n_equal = len(differing) - len(rows), len(names) - len(differing)
    more = [f"{many(n_more, 'more field')}"] if n_more else []
    more += [f"{many(n_equal, 'field')} with equal F1"] if n_equal else []
    words = f"and {', '.join(more)}" if more and rows else ", ".join(more)
    return Section(f"{title} {len(names):,}", style, tuple(rows), words)


def _one_sided(fields: Mapping[str, OneSided]) -> Section:
    rows = [
        (shown_path(name), *(_DASH if f1 is None else share(f1) for f1 in found), _DASH)
        for name, found in list(fields.items())[:MOST_ROWS]
    ]
    n_more = len(fields) - len(rows)
    return Section(
        f"Without a score in one of the runs {len(fields):,}",
        "",
        tuple(rows),
        f"and {many(n_more, 'more field')}" if n_more else "",
    )


def _changes(title: str, style: str, changes: Sequence[RecordChange]) -> Section:
    rows = [
        (_id(change.record_id), share(change.a), share(change.b), f"{change.b - change.a:+.3f}")
        for change in changes[:_MOST_CHANGES]
    ]
    return Section(title, style, tuple(rows))


def _row(name: str, difference: Difference, p_value: float) -> tuple[str, ...]:
    low, high = difference.interval
    return (
        name,
        share(difference.a),
        share(difference.b),
        f"{difference.difference:+.3f}",
        f"{low:+.3f} to {high:+.3f}",
        _p(p_value),
    )


def _p(value: float) -> str:
    return "<0.001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004 - the last digit shown
