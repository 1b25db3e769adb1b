"""Runs over a suite of behaviors: figures, JSON, rows and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, get_args

from factcheck.documents import to_plain
from factcheck.keywords.guides import AMBIGUOUS, NO_MATCH
from factcheck.keywords.results import (
    ERROR,
    WRONG,
    BehaviorCaseResult,
    Outcome,
    SavedRun,
    Status,
    behavior_name,
)
from factcheck.reports.page import (
    Case,
    Item,
    Page,
    Section,
    Table,
    Tone,
    filled,
    listed,
    parts_of,
    warnings_section,
)
from factcheck.reports.text import DASH, any_of, interval_text, name_text, plural, quote_text, share
from factcheck.stats.intervals import Interval, wilson
from factcheck.stats.resampling import SumScores

_KINDS: Mapping[str, tuple[str, Tone, str]] = {
    WRONG: ("Wrong behavior", "bad", "one behavior shows, but not the expected one"),
    AMBIGUOUS: ("Ambiguous", "warn", "several behaviors show"),
    NO_MATCH: ("No match", "warn", "no behavior shows"),
    ERROR: ("Errored", "unknown", "there is no response"),
}
"""Kinds of failure in the report: title, tone and meaning."""


@dataclass(frozen=True, slots=True, repr=False)
class BehaviorRun(SavedRun):
    """Results of all cases of a suite."""

    FORMAT = "factcheck-keywords-behaviors/2"

    cases: tuple[BehaviorCaseResult, ...]
    """In the order of the suite."""
    digests: Mapping[str, str]
    """By case id: digest of guide and expectations; runs are comparable only if they agree."""
    warnings: tuple[str, ...] = ()
    """Valid but probably unintended parts of the guides."""

    @property
    def case_ids(self) -> list[str]:
        return [case.case_id for case in self.cases]

    @property
    def case_scores(self) -> dict[str, float]:
        """By case id 1 if it passed, 0 if it failed."""
        return {
            case.case_id: float(case.status == "passed")
            for case in self.cases
            if case.status != "errored"
        }

    def measures(self, ids: Iterable[str]) -> SumScores:
        """The `pass_rate` of these cases."""
        import numpy as np

        scores = self.case_scores
        table = np.array([(scores[name], 1.0) for name in ids]).T
        return SumScores(("pass_rate",), table, lambda sums: sums[:1] / sums[1:])

    @property
    def counts(self) -> dict[Status, int]:
        """Number of cases that passed, failed or are errored."""
        found = Counter(case.status for case in self.cases)
        return {status: found[status] for status in get_args(Status)}

    @property
    def pass_rate(self) -> float | None:
        """Share of passed cases among those that passed or failed; `None` without any."""
        scores = self.case_scores
        return self.counts["passed"] / len(scores) if scores else None

    @property
    def interval(self) -> Interval | None:
        """95 % Wilson interval of the pass rate; `None` where that is."""
        rate = self.pass_rate
        return None if rate is None else wilson(rate, len(self.case_scores))

    @property
    def low(self) -> float:
        """The pass rate if every errored case had failed."""
        return self.counts["passed"] / len(self.cases)

    @property
    def high(self) -> float:
        """The pass rate if every errored case had passed."""
        counts = self.counts
        return (counts["passed"] + counts["errored"]) / len(self.cases)

    @property
    def failures(self) -> dict[str, int]:
        """Number of `AMBIGUOUS`, `NO_MATCH`, `WRONG_BEHAVIOR` and `ERROR` responses."""
        found = Counter(outcome.failure for _, outcome in self._outcomes())
        return {kind: found[kind] for kind in (AMBIGUOUS, NO_MATCH, WRONG, ERROR)}

    def confusion(self) -> dict[str, dict[str, int]]:
        """Counts by expected and then by shown label; `ERROR` for a missing response."""
        table: dict[str, Counter[str]] = {}
        for _, outcome in self._outcomes():
            table.setdefault(outcome.expected, Counter())[outcome.label or ERROR] += 1
        return {expected: dict(row) for expected, row in table.items()}

    def _outcomes(self) -> Iterator[tuple[str, Outcome]]:
        for case in self.cases:
            for outcome in case.outcomes:
                yield case.case_id, outcome

    def to_rows(self) -> list[dict[str, Any]]:
        """One dict for each response: `case`, `status`, and the fields of `Outcome`."""
        return [
            {"case": case.case_id, "status": case.status, **to_plain(outcome)}
            for case in self.cases
            for outcome in case.outcomes
        ]

    def to_dict(self) -> dict[str, Any]:
        """All fields and the figures as JSON-ready data."""
        return {
            **SavedRun.to_dict(self),
            "pass_rate": self.pass_rate,
            "interval": to_plain(self.interval),
            "low": self.low,
            "high": self.high,
            "counts": self.counts,
            "failures": self.failures,
            "confusion": self.confusion(),
        }

    def page(self, *, examples: int = 3) -> Page:
        """The report.

        Args:
            examples: Maximum number of responses shown for each kind of failure.
        """
        rate, counts = self.pass_rate, self.counts
        shown = f"no response to {any_of(len(self.cases), 'case')}"
        if rate is not None:
            shown = f"{counts['passed']:,} of {plural(len(self.case_scores), 'case')} passed"
            shown += f", {counts['errored']:,} more errored" if counts["errored"] else ""
        interval = interval_text(self.interval)
        bounds = f"{share(self.low)} {DASH} {share(self.high)}"
        return Page(
            "Pass rate",
            "unknown" if rate is None else share(rate),
            shown,
            f"95 % interval {interval}" if interval else "",
            (f"{bounds} if every errored case had failed / passed",) if counts["errored"] else (),
            parts_of(
                ("good", counts["passed"], "passed"),
                ("bad", counts["failed"], "failed"),
                ("unknown", counts["errored"], "errored"),
            ),
            filled(
                self._failures_section(),
                self._variants_section(),
                self._confusion_section(),
                *self._example_sections(examples),
                warnings_section(self.warnings),
            ),
            suite="keywords.behaviors",
            cases=tuple(map(_junit_case, self.cases)),
            columns=("case", "status", *(one.name for one in fields(Outcome))),
            rows=self.to_rows,
        )

    def _failures_section(self) -> Section:
        found = self.failures
        rows = tuple(
            (title.lower(), meaning, f"{found[name]:,}")
            for name, (title, _, meaning) in _KINDS.items()
            if found[name]
        )
        n_all = sum(len(case.outcomes) for case in self.cases)
        return Section(
            f"Failures {sum(found.values()):,}",
            "bad",
            f"of {plural(n_all, 'response')}",
            Table(("", "", "responses"), rows, n_names=2),
        )

    def _variants_section(self) -> Section | None:
        """How often each variant is right; `None` if there is only one."""
        right: Counter[str] = Counter()
        total: Counter[str] = Counter()
        for _, outcome in self._outcomes():
            total[outcome.variant] += outcome.label is not None
            right[outcome.variant] += outcome.is_right
        rows = tuple(
            (name_text(one), f"{right[one]:,}", f"{n:,}", share(right[one] / n) if n else DASH)
            for one, n in total.items()
        )
        columns = ("variant", "right", "responses", "share")
        return Section("Variants", table=Table(columns, rows)) if len(rows) > 1 else None

    def _confusion_section(self) -> Section:
        confusion = self.confusion()
        expected = _in_order(confusion)
        shown = _in_order(label for row in confusion.values() for label in row)
        columns = [label for label in expected if label in shown]
        columns += [label for label in shown if label not in expected]
        rows = tuple(
            (behavior_name(label), *(f"{row.get(column, 0):,}" for column in columns))
            for label, row in confusion.items()
        )
        header = ("expected", *map(behavior_name, columns))
        return Section("Shown behaviors", meaning="by expected behavior", table=Table(header, rows))

    def _example_sections(self, limit: int) -> Iterator[Section]:
        for name, kind in _KINDS.items():
            wrong = [one for one in self._outcomes() if one[1].failure == name]
            section = listed(*kind, wrong, lambda one: _item(*one), "response", limit)
            yield section if limit else section._replace(more="")


def _in_order(labels: Iterable[str]) -> list[str]:
    """Distinct labels: behaviors in order of appearance, then the labels of failures."""
    found = dict.fromkeys(labels)
    last = [name for name in (AMBIGUOUS, NO_MATCH, ERROR) if name in found]
    return [name for name in found if name not in last] + last


def _item(case_id: str, outcome: Outcome) -> Item:
    name = f"{name_text(case_id)} · {name_text(outcome.variant)}"
    if outcome.label is None:
        return Item(name, outcome.reason)
    found = (f"found {outcome.found}",) if outcome.hits else ()
    return Item(name, f"“{quote_text(outcome.response) or '(empty)'}”", (outcome.reason, *found))


def _junit_case(case: BehaviorCaseResult) -> Case:
    wrong = [outcome for outcome in case.outcomes if outcome.failure]
    details: list[str] = []
    for outcome in wrong:
        found = f"; found {outcome.found}" if outcome.hits else ""
        details.append(f"{outcome.variant}: {outcome.reason}{found}")
        if outcome.response:
            details.append(f"“{quote_text(outcome.response)}”")
    return Case(
        case.case_id,
        "error" if case.status == "errored" else case.status,
        ", ".join(f"{outcome.variant}: {outcome.failure}" for outcome in wrong),
        wrong[0].failure if wrong else "",
        tuple(details),
    )
