"""Comparison of two runs over the same cases.

Cases are paired by id and compared by F1, or for behaviors by whether they passed. The difference
of the means is tested by paired randomization.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from factcheck.documents import to_plain
from factcheck.errors import InputError
from factcheck.keywords.behavior_runs import BehaviorRun
from factcheck.keywords.card_runs import DatasetResult
from factcheck.reports import Report
from factcheck.reports.comparison import comparison_page, scored_unit
from factcheck.reports.page import Alert, Page, Section
from factcheck.reports.text import p_text, plural, quote_text, signed, some_of
from factcheck.stats.comparison import Change, Changes, Comparison, compare_means, split_changes

Run = DatasetResult | BehaviorRun
_GROUPS = (
    Section("Worse", "bad", "largest change first"),
    Section("Better", "good", "largest change first"),
    Section("Unchanged"),
)


@dataclass(frozen=True, slots=True, repr=False)
class KeywordComparison(Report):
    """Changes from run `a` to run `b`, over the cases that have a score in both."""

    DERIVED = ("n_cases", "worse")
    kind: Literal["cards", "behaviors"]
    mean: Comparison
    """Comparison of macro F1 or pass rate; the interval is (-1, 1) with fewer than two cases."""
    changes: Changes
    """Cases by id; scores are F1, or for behaviors 1 if passed and 0 if failed."""
    only_a: tuple[str, ...] = ()
    """Ids of cases with a score in run `a` only."""
    only_b: tuple[str, ...] = ()
    """Ids of cases with a score in run `b` only."""
    unscored: tuple[str, ...] = ()
    """Ids of cases without a score in either run."""
    notes: tuple[str, ...] = ()
    """Settings that differ between the runs, such as the threshold."""
    names: tuple[str, str] = ("", "")
    """Display names of the runs; may be empty."""

    @property
    def n_cases(self) -> int:
        return sum(map(len, self.changes[:3]))

    @property
    def worse(self) -> str:
        """The loss in F1 or pass rate as text; empty if it is not significant at 0.05."""
        if self.mean.difference >= 0 or not self.mean.is_significant:
            return ""
        return f"{self._metric} {signed(self.mean.difference)}, p {p_text(self.mean.p or 0.0)}"

    @property
    def _metric(self) -> str:
        return "F1" if self.kind == "cards" else "Pass rate"

    def page(self) -> Page:
        better, worse, unchanged, _ = self.changes
        groups = {
            group: [
                scored_unit("case", str(name), Comparison(x, y, y - x)) for name, x, y in changes
            ]
            for group, changes in zip(_GROUPS, (worse, better, unchanged), strict=True)
        }
        page = comparison_page(
            self._metric,
            "case",
            self.mean,
            groups,
            f"by case ({plural(self.n_cases, 'case')})",
            (),
            names=self.names,
            left_out={
                "Only A has a score": self.only_a,
                "Only B has a score": self.only_b,
                "No score in either run": self.unscored,
            },
        )
        alerts = tuple(Alert(quote_text(note), "warn") for note in self.notes)
        return page._replace(alerts=alerts, suite="keywords.compare")


def compare_runs(a: Run, b: Run, *, names: tuple[str, str] = ("", "")) -> KeywordComparison:
    """Compare two runs over the same cases.

    Args:
        a: Baseline.
        b: The run to compare with it; its gains are positive.
        names: Display names of the runs.

    Raises:
        InputError: The runs are of different kinds, have no scored case in common, or were
            evaluated with different expectations.
    """
    if type(a) is not type(b) or not isinstance(a, Run):
        raise InputError(
            "both runs must be of cards, or both of behaviors, "
            f"not {type(a).__name__} and {type(b).__name__}"
        )
    of_a, of_b = a.case_scores, b.case_scores
    scored = {**of_a, **of_b}
    changes = [Change(name, score, of_b[name]) for name, score in of_a.items() if name in of_b]
    if not changes:
        ids = f"run a ({some_of([*of_a])}) is in run b ({some_of([*of_b])})"
        raise InputError(f"no scored case of {ids}")
    common = [str(change.name) for change in changes]
    if differing := [name for name in common if a.digests[name] != b.digests[name]]:
        raise InputError(
            f"runs a and b have different expectations in {len(differing)} of "
            f"{plural(len(common), 'case')} ({some_of(differing)}); "
            "evaluate both with the same ones"
        )
    notes: tuple[str, ...] = ()
    if isinstance(a, DatasetResult) and isinstance(b, DatasetResult):
        settings_a, settings_b = to_plain(a.settings), to_plain(b.settings)
        notes = tuple(
            f"{name} is {settings_a[name]!r} in run a and {settings_b[name]!r} in run b"
            for name in settings_a
            if settings_a[name] != settings_b[name]
        )
    return KeywordComparison(
        "cards" if isinstance(a, DatasetResult) else "behaviors",
        compare_means((str(change.name), change.a, change.b) for change in changes),
        split_changes(changes),
        tuple(name for name in of_a if name not in of_b),
        tuple(name for name in of_b if name not in of_a),
        tuple(name for name in {**a.digests, **b.digests} if name not in scored),
        notes,
        names,
    )
