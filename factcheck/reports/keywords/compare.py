"""What the comparison of two runs over keywords says: which cases are better, and which worse."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Literal

from factcheck.keywords import CaseChange, DatasetResult, Difference, KeywordComparison
from factcheck.keywords.comparison import Run
from factcheck.reports.fields import many, share
from factcheck.reports.pages.model import (
    DASH,
    MOST_ROWS,
    Page,
    Section,
    Table,
    filled,
    more_of,
    name_text,
    parts_of,
    shown_text,
)

Verdict = Literal["better", "worse", "unclear"]
_COLUMNS = ("", "A", "B", "B - A", "95 % interval")
_WORDS = {"better": "B is better", "worse": "B is worse", "unclear": "no clear difference"}
_NAMES = {
    "pass_rate": "pass rate",
    "macro_recall": "recall (macro)",
    "macro_precision": "precision (macro)",
    "macro_f1": "F1 (macro)",
    "macro_average_similarity": "average similarity (macro)",
    "micro_recall": "recall (micro)",
    "micro_precision": "precision (micro)",
    "micro_f1": "F1 (micro)",
    "micro_average_similarity": "average similarity (micro)",
}
_SIGNIFICANT = 0.05
_MOST_IDS = 5


def main_figure(comparison: KeywordComparison) -> str:
    """The name of the figure that decides: `macro_f1` or `pass_rate`."""
    return "macro_f1" if comparison.kind == "cards" else "pass_rate"


def verdict(comparison: KeywordComparison) -> Verdict:
    """Which run is better, by more than chance.

    One is if the sign test over the cases that changed says so (p below 0.05) and the main figure
    has gone the same way.
    """
    difference = comparison.overall[main_figure(comparison)].difference
    if comparison.p_value >= _SIGNIFICANT or not difference:
        return "unclear"
    gained = len(comparison.better) > len(comparison.worse)
    if gained != (difference > 0):
        return "unclear"
    return "better" if gained else "worse"


def unscored_in_b(a: Run, b: Run) -> tuple[str, ...]:
    """The cases that have a score in run `a` and none in run `b`."""
    scored = set(_scored(b))
    return tuple(name for name in _scored(a) if name not in scored)


def comparison_report(
    comparison: KeywordComparison, runs: tuple[Run, Run], names: tuple[str, str] = ("", "")
) -> Page:
    """The report of a comparison.

    Args:
        comparison: The comparison.
        runs: What was compared.
        names: What the two runs are called; empty for no names.
    """
    main = comparison.overall[main_figure(comparison)]
    value = f"{_share(main.a)} → {_share(main.b)} ({_signed(main.difference)})"
    n_better, n_worse = len(comparison.better), len(comparison.worse)
    n_same = len(comparison.unchanged)
    return Page(
        "F1" if comparison.kind == "cards" else "Pass rate",
        value,
        _WORDS[verdict(comparison)],
        lines=tuple(_lines(comparison, runs, names)),
        parts=parts_of(
            ("good", n_better, "better"), ("plain", n_same, "unchanged"), ("bad", n_worse, "worse")
        ),
        sections=filled(
            _overall(comparison),
            _changes("Worse", comparison.worse, comparison.kind),
            _changes("Better", comparison.better, comparison.kind),
        ),
    )


def p_text(value: float) -> str:
    """A p-value with three decimals."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004 - the last digit shown


def _lines(
    comparison: KeywordComparison, runs: tuple[Run, Run], names: tuple[str, str]
) -> Iterator[str]:
    if any(names):
        yield f"A is {shown_text(names[0])}, B is {shown_text(names[1])}"
    yield (
        f"{many(comparison.n_cases, 'case')}: {len(comparison.better):,} better, "
        f"{len(comparison.worse):,} worse, {len(comparison.unchanged):,} unchanged "
        f"(sign test: p {p_text(comparison.p_value)})"
    )
    lost, gained = unscored_in_b(*runs), unscored_in_b(*reversed(runs))
    for side, ids in (("A", lost), ("B", gained)):
        if ids:
            yield f"Left out: {many(len(ids), 'case')} with a score only in {side} ({_ids(ids)})"
    neither = [name for name in comparison.left_out if name not in {*lost, *gained}]
    if neither:
        yield f"Left out: {many(len(neither), 'case')} without a score ({_ids(neither)})"
    for note in comparison.notes:
        yield f"Mind: {shown_text(note)}"


def _ids(ids: Sequence[str]) -> str:
    dots = ", …" if len(ids) > _MOST_IDS else ""
    return ", ".join(map(name_text, ids[:_MOST_IDS])) + dots


def _scored(run: Run) -> Iterable[str]:
    if isinstance(run, DatasetResult):
        return [case.case_id for case in run.scored]
    return [case.case_id for case in run.cases if case.status != "errored"]


def _overall(comparison: KeywordComparison) -> Section:
    rows = tuple(_row(_NAMES.get(name, name), found) for name, found in comparison.overall.items())
    return Section("Overall", table=Table(_COLUMNS, rows, dispensable=("A",)))


def _row(name: str, found: Difference) -> tuple[str, ...]:
    low, high = found.interval
    interval = f"{low:+.3f} to {high:+.3f}" if found.difference is not None else DASH
    return name, _share(found.a), _share(found.b), _signed(found.difference), interval


def _share(value: float | None) -> str:
    return DASH if value is None else share(value)


def _signed(value: float | None) -> str:
    return DASH if value is None else f"{value:+.3f}"


def _changes(title: str, changes: Sequence[CaseChange], kind: str) -> Section:
    shown = changes[:MOST_ROWS]
    if kind == "cards":
        columns: tuple[str, ...] = ("case", "A", "B", "B - A")
        rows = [(name_text(c.case_id), share(c.a), share(c.b), _signed(c.b - c.a)) for c in shown]
        meaning = "by F1, largest change first"
    else:
        columns, meaning = ("case",), "failed in A, passed in B"
        if title == "Worse":
            meaning = "passed in A, failed in B"
        rows = [(name_text(c.case_id),) for c in shown]  # type: ignore[misc]
    return Section(
        f"{title} {len(changes):,}",
        "bad" if title == "Worse" else "good",
        meaning,
        Table(columns, tuple(rows)),
        more=more_of(len(changes) - len(shown), "case"),
    )
