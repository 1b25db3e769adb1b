"""Comparison of two runs over the same cases: better and worse cases, and by how much.

Cases are paired by id. A case with cards is better if its F1 is higher, one with behaviors if it
passes and did not. Whether more cases gained than lost by more than chance is the exact sign test;
the size of the difference has an interval by the paired bootstrap.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from factcheck.errors import InputError
from factcheck.keywords.behavior_runs import BehaviorRun
from factcheck.keywords.card_runs import DatasetResult
from factcheck.reports.page import MOST_ROWS, Case, Page, Section, Table, filled, parts_of
from factcheck.reports.report import Report
from factcheck.reports.text import DASH, more_of, name_text, p_text, plural, quote_text, share
from factcheck.stats.comparison import SIGNIFICANT, Change, Comparison, split_changes
from factcheck.stats.resampling import SumScores, bootstrap_differences, check_resampling

FORMAT = "factcheck-keywords-comparison/1"
Run = DatasetResult | BehaviorRun
Verdict = Literal["better", "worse", "unclear"]
_MOST_SHOWN = 5
_COLUMNS = ("", "A", "B", "B - A", "95 % interval")
_WORDS = {"better": "B is better", "worse": "B is worse", "unclear": "no clear difference"}
_TITLES = {"f1": "F1", "average_similarity": "average similarity"}


@dataclass(frozen=True, slots=True, repr=False)
class KeywordComparison(Report):
    """Changes from run `a` to run `b`, over the cases that have a score in both."""

    kind: Literal["cards", "behaviors"]
    n_cases: int
    left_out: tuple[str, ...]
    """Ids of the cases that only one run has, or that are errored in either."""
    overall: Mapping[str, Comparison[float | None]]
    """For cards `macro_f1` and so on, as in `DatasetResult.intervals`; for behaviors `pass_rate`.
    Intervals are (-1, 1) with fewer than two cases."""
    better: tuple[Change, ...]
    """Cases that gained, largest gain first. Scores are F1; for behaviors 1 if passed, else 0."""
    worse: tuple[Change, ...]
    """Cases that lost, largest loss first."""
    unchanged: tuple[str, ...]
    """Ids of the other cases."""
    p_value: float
    """Two-sided p-value of the sign test of `better` against `worse`."""
    notes: tuple[str, ...] = ()
    """Settings that differ between the runs, such as the threshold."""
    only_a: tuple[str, ...] = ()
    """Ids of the cases with a score in run `a` only."""

    @property
    def main(self) -> Comparison[float | None]:
        """The deciding score: macro F1 or pass rate."""
        return self.overall["macro_f1" if self.kind == "cards" else "pass_rate"]

    @property
    def verdict(self) -> Verdict:
        """Which run is better by more than chance.

        One is if the sign test says so (p below 0.05) and the deciding score agrees.
        """
        difference = self.main.difference
        if self.p_value >= SIGNIFICANT or not difference:
            return "unclear"
        gained = len(self.better) > len(self.worse)
        if gained != (difference > 0):
            return "unclear"
        return "better" if gained else "worse"

    def to_dict(self) -> dict[str, Any]:
        better, worse = (
            [{"case_id": change.name, "a": change.a, "b": change.b} for change in changes]
            for changes in (self.better, self.worse)
        )
        return {
            "format": FORMAT,
            "kind": self.kind,
            "n_cases": self.n_cases,
            "left_out": list(self.left_out),
            "overall": {name: found.to_dict() for name, found in self.overall.items()},
            "better": better,
            "worse": worse,
            "unchanged": list(self.unchanged),
            "p_value": self.p_value,
            "notes": list(self.notes),
        }

    def to_rows(self) -> list[dict[str, Any]]:
        """One dict for each case: `case`, `change`, and its scores `a` and `b` where it changed."""
        rows: list[dict[str, Any]] = []
        for change, cases in (("better", self.better), ("worse", self.worse)):
            rows += ({"case": c.name, "change": change, "a": c.a, "b": c.b} for c in cases)
        for change, names in (("unchanged", self.unchanged), ("left_out", self.left_out)):
            rows += ({"case": name, "change": change, "a": None, "b": None} for name in names)
        return rows

    def page(self, names: tuple[str, str] = ("", "")) -> Page:
        """The report.

        Args:
            names: Names of the two runs; empty for none.
        """
        main = self.main
        overall = Table(_COLUMNS, tuple(self._overall_rows()), dispensable=("A",))
        return Page(
            "F1" if self.kind == "cards" else "Pass rate",
            f"{_share(main.a)} → {_share(main.b)} ({_signed(main.difference)})",
            _WORDS[self.verdict],
            lines=tuple(self._lines(names)),
            parts=parts_of(
                ("good", len(self.better), "better"),
                ("plain", len(self.unchanged), "unchanged"),
                ("bad", len(self.worse), "worse"),
            ),
            sections=filled(
                Section("Overall", table=overall),
                self._changes_section("Worse", self.worse),
                self._changes_section("Better", self.better),
            ),
            suite="keywords.compare",
            cases=tuple(self._junit_cases()),
            columns=("case", "change", "a", "b"),
            rows=self.to_rows,
        )

    def _lines(self, names: tuple[str, str]) -> Iterator[str]:
        if any(names):
            yield f"A is {quote_text(names[0])}, B is {quote_text(names[1])}"
        yield (
            f"{plural(self.n_cases, 'case')}: {len(self.better):,} better, "
            f"{len(self.worse):,} worse, {len(self.unchanged):,} unchanged "
            f"(sign test: p {p_text(self.p_value)})"
        )
        if self.left_out:
            out = plural(len(self.left_out), "case")
            yield f"Left out: {out} without a score in both ({_ids(self.left_out)})"
        for note in self.notes:
            yield f"Note: {quote_text(note)}"

    def _overall_rows(self) -> Iterator[tuple[str, ...]]:
        for name, found in self.overall.items():
            kind, _, measure = name.partition("_")
            title = f"{_TITLES.get(measure, measure)} ({kind})"
            interval = DASH
            if found.difference is not None and found.interval is not None:
                interval = " to ".join(f"{end:+.3f}" for end in found.interval)
            scores = (_share(found.a), _share(found.b), _signed(found.difference), interval)
            yield ("pass rate" if name == "pass_rate" else title, *scores)

    def _changes_section(self, title: str, changes: Sequence[Change]) -> Section:
        shown = changes[:MOST_ROWS]
        passed, failed = ("A", "B") if title == "Worse" else ("B", "A")
        meaning, width = f"passed in {passed}, failed in {failed}", 1
        if self.kind == "cards":
            meaning, width = "by F1, largest change first", 4
        rows = tuple(
            (name_text(str(c.name)), share(c.a), share(c.b), _signed(c.b - c.a))[:width]
            for c in shown
        )
        return Section(
            f"{title} {len(changes):,}",
            "bad" if title == "Worse" else "good",
            meaning,
            Table(("case", "A", "B", "B - A")[:width], rows),
            more=more_of(len(changes) - len(shown), "case"),
        )

    def _junit_cases(self) -> Iterator[Case]:
        for change in self.worse:
            yield Case(str(change.name), "failed", f"{change.a:.3f} → {change.b:.3f}", "worse")
        for name in (*(str(change.name) for change in self.better), *self.unchanged):
            yield Case(name)
        for name in self.left_out:
            yield Case(name, "skipped", "it has no score in both runs", "left_out")


def compare_runs(a: Run, b: Run, *, n_resamples: int = 2000, seed: int = 0) -> KeywordComparison:
    """Compare two runs over the same cases.

    Args:
        a: Baseline.
        b: The run in question; its gains are positive.
        n_resamples: Number of bootstrap resamples, for the intervals.
        seed: Random seed; equal seeds give equal numbers.

    Raises:
        InputError: The runs are not of one kind, have no scored case in common, or were evaluated
            with different expectations; or an invalid setting.
    """
    check_resampling(n_resamples, seed)
    if type(a) is not type(b) or not isinstance(a, Run):
        raise InputError(
            "both runs must be of cards, or both of behaviors, "
            f"not {type(a).__name__} and {type(b).__name__}"
        )
    of_a, of_b = a.case_scores, b.case_scores
    common = dict.fromkeys(name for name in of_a if name in of_b)
    if not common:
        raise InputError(f"no scored case of run a ({_ids(of_a)}) is in run b ({_ids(of_b)})")
    if unlike := [name for name in common if a.digests[name] != b.digests[name]]:
        raise InputError(
            f"run b expects something else than run a in {len(unlike)} of "
            f"{plural(len(common), 'case')} ({_ids(unlike)}); evaluate both runs with the same ones"
        )
    changes = split_changes(Change(name, of_a[name], of_b[name]) for name in common)
    notes: tuple[str, ...] = ()
    if isinstance(a, DatasetResult) and isinstance(b, DatasetResult):
        own, other = a.settings.to_dict(), b.settings.to_dict()
        notes = tuple(
            f"{name} is {own[name]!r} in run a and {other[name]!r} in run b"
            for name in own
            if own[name] != other[name]
        )
    return KeywordComparison(
        "cards" if isinstance(a, DatasetResult) else "behaviors",
        len(common),
        tuple(name for name in {**a.digests, **b.digests} if name not in common),
        _overall(a.measures(common), b.measures(common), n_resamples, seed),
        changes.better,
        changes.worse,
        tuple(str(change.name) for change in changes.unchanged),
        changes.p_value,
        notes,
        tuple(name for name in of_a if name not in of_b),
    )


def _overall(
    a: SumScores, b: SumScores, n_resamples: int, seed: int
) -> dict[str, Comparison[float | None]]:
    intervals = bootstrap_differences(a, b, n_resamples, seed)
    found: dict[str, Comparison[float | None]] = {}
    for name, *scores in zip(a.names, a.of_all(), b.of_all(), strict=True):
        of_a, of_b, change = (
            None if math.isnan(one) else one for one in (*scores, scores[1] - scores[0])
        )
        found[name] = Comparison(of_a, of_b, change, intervals[name])
    return found


def _ids(ids: Iterable[str]) -> str:
    every = list(ids)
    dots = ", …" if len(every) > _MOST_SHOWN else ""
    return ", ".join(map(name_text, every[:_MOST_SHOWN])) + dots


def _share(value: float | None) -> str:
    return DASH if value is None else share(value)


def _signed(value: float | None) -> str:
    return DASH if value is None else f"{value:+.3f}"
