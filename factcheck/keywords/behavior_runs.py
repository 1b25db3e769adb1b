"""Runs over a suite of behaviors: metrics, serialisation and the report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from factcheck.documents import to_plain
from factcheck.errors import InputError
from factcheck.keywords.behaviors import AMBIGUOUS, LABEL_SUFFIX, NO_MATCH
from factcheck.keywords.results import KeywordRun
from factcheck.reports.page import (
    Case,
    Item,
    Page,
    Section,
    Table,
    filled,
    parts_of,
    warnings_section,
)
from factcheck.reports.text import any_of, name_text, plural, quote_text
from factcheck.stats.intervals import Interval, wilson

Status = Literal["passed", "failed", "errored"]
WRONG = "WRONG_BEHAVIOR"
"""Failure of a response that shows exactly one behavior, but not the expected one."""
ERROR = "ERROR"
"""Failure of a missing response."""
_KINDS: Mapping[str, Section] = {
    WRONG: Section("Wrong behavior", "bad", "one behavior shows, but not the expected one"),
    AMBIGUOUS: Section("Ambiguous", "warn", "several behaviors show"),
    NO_MATCH: Section("No match", "warn", "no behavior shows"),
    ERROR: Section("Errored", "unknown", "there is no response"),
}
"""Kinds of failure in the report."""
_EXAMPLES = 3
"""Maximum number of responses displayed per kind of failure."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Classified response of one variant to one case."""

    variant: str
    expected: str
    """Label of the expected behavior."""
    label: str | None
    """Label of the response; `None` if it is missing."""
    response: str = ""
    hits: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Descriptions of the keywords found in a wrong response, by label."""
    code: str = ""
    """Reason for a missing response: that of a `Failure`."""
    message: str = ""

    @property
    def is_right(self) -> bool:
        """Whether the response shows the expected behavior and no other."""
        return self.label == self.expected

    @property
    def failure(self) -> str:
        """`AMBIGUOUS`, `NO_MATCH`, `WRONG_BEHAVIOR` or `ERROR`; empty if the response is right."""
        if self.label is None:
            return ERROR
        if self.is_right:
            return ""
        return self.label if self.label in {AMBIGUOUS, NO_MATCH} else WRONG

    @property
    def notes(self) -> tuple[str, ...]:
        """Expected and shown behavior with the keywords found, or the error."""
        if self.label is None:
            return (quote_text(f"{self.code}: {self.message}"),)
        reason = f"expected {_behavior(self.expected)}, shows {_behavior(self.label)}"
        hits = "; ".join(
            f"{_behavior(label)}: {', '.join(words)}" for label, words in self.hits.items()
        )
        return (reason, f"found {quote_text(hits)}") if hits else (reason,)


@dataclass(frozen=True, slots=True)
class BehaviorCaseResult:
    """Outcomes of one case."""

    case_id: str
    outcomes: tuple[Outcome, ...]
    """In the order of the variants."""

    def __post_init__(self) -> None:
        if not self.outcomes:
            raise InputError(f"case {self.case_id!r} has no outcomes; damaged run")

    @property
    def status(self) -> Status:
        """`errored` if a response is missing, `passed` if all are correct, otherwise `failed`."""
        if any(outcome.label is None for outcome in self.outcomes):
            return "errored"
        return "passed" if all(outcome.is_right for outcome in self.outcomes) else "failed"

    def junit_case(self) -> Case:
        wrong = [outcome for outcome in self.outcomes if outcome.failure]
        details: list[str] = []
        for outcome in wrong:
            details.append(f"{outcome.variant}: {'; '.join(outcome.notes)}")
            if outcome.response:
                details.append(f"“{quote_text(outcome.response)}”")
        return Case(
            self.case_id,
            "error" if self.status == "errored" else self.status,
            ", ".join(f"{outcome.variant}: {outcome.failure}" for outcome in wrong),
            wrong[0].failure if wrong else "",
            tuple(details),
        )


@dataclass(frozen=True, slots=True, repr=False)
class BehaviorRun(KeywordRun):
    """Results of all cases of a suite."""

    DERIVED = ("format", "pass_rate", "interval", "counts", "failures", "confusion")
    format = "factcheck-keywords-behaviors/3"
    FIGURE = "pass rate"

    cases: tuple[BehaviorCaseResult, ...]
    """In the order of the suite."""
    digests: Mapping[str, str]
    warnings: tuple[str, ...] = ()
    """Valid but probably unintended parts of the guides."""

    @property
    def errors(self) -> list[tuple[str, str]]:
        return [
            (case.case_id, f"{one.variant}: {one.message}")
            for case in self.cases
            for one in [one for one in case.outcomes if one.label is None][:1]
        ]

    def every_score(self) -> Iterator[tuple[str, float | None]]:
        for case in self.cases:
            yield case.case_id, None if case.status == "errored" else float(case.status == "passed")

    @property
    def counts(self) -> dict[Status, int]:
        """Number of passed, failed and errored cases."""
        found = Counter(case.status for case in self.cases)
        return {status: found[status] for status in get_args(Status)}

    @property
    def pass_rate(self) -> float | None:
        """Fraction of passed cases among those that passed or failed; `None` without any."""
        return self.mean

    @property
    def interval(self) -> Interval | None:
        """95 % Wilson interval of the pass rate; `None` if that is undefined."""
        rate = self.pass_rate
        return None if rate is None else wilson(rate, len(self.case_scores))

    @property
    def failures(self) -> dict[str, int]:
        """Number of `AMBIGUOUS`, `NO_MATCH`, `WRONG_BEHAVIOR` and `ERROR` responses."""
        found = Counter(outcome.failure for _, outcome in self._outcomes())
        return {kind: found[kind] for kind in (AMBIGUOUS, NO_MATCH, WRONG, ERROR)}

    @property
    def confusion(self) -> dict[str, dict[str, int]]:
        """Number of responses by expected and then by shown label; `ERROR` for missing ones."""
        table: dict[str, Counter[str]] = {}
        for _, outcome in self._outcomes():
            table.setdefault(outcome.expected, Counter())[outcome.label or ERROR] += 1
        return {expected: dict(row) for expected, row in table.items()}

    def _outcomes(self) -> Iterator[tuple[str, Outcome]]:
        for case in self.cases:
            for outcome in case.outcomes:
                yield case.case_id, outcome

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one dict per response: `case`, `status` and the fields of `Outcome`."""
        return [
            {"case": case.case_id, "status": case.status, **to_plain(outcome)}
            for case in self.cases
            for outcome in case.outcomes
        ]

    def page(self) -> Page:
        counts = self.counts
        passed = f"{counts['passed']:,} of {plural(len(self.case_scores), 'case')} passed"
        if not self.case_scores:
            passed = f"no response to {any_of(len(self.cases), 'case')}"
        head = self.headline("Pass rate", passed, self.interval)
        return head._replace(
            parts=parts_of(
                ("good", counts["passed"], "passed"),
                ("bad", counts["failed"], "failed"),
                ("unknown", counts["errored"], "errored"),
            ),
            sections=filled(
                self._confusion_section(),
                *(
                    section.listing(wrong, lambda one: _item(*one), "response", _EXAMPLES)
                    for kind, section in _KINDS.items()
                    if (wrong := [one for one in self._outcomes() if one[1].failure == kind])
                ),
                warnings_section(self.warnings),
            ),
            suite="keywords.behaviors",
            cases=tuple(case.junit_case() for case in self.cases),
            columns=("case", "status", *(one.name for one in fields(Outcome))),
            rows=self.to_rows,
        )

    def _confusion_section(self) -> Section:
        """Confusion table: expected behaviors first, then others, then failures."""
        confusion = self.confusion
        shown = {label: None for row in confusion.values() for label in row}
        last = [label for label in (AMBIGUOUS, NO_MATCH, ERROR) if label in shown]
        columns = [one for one in {**confusion, **shown} if one in shown and one not in last] + last
        rows = tuple(
            (_behavior(label), *(f"{row.get(column, 0):,}" for column in columns))
            for label, row in confusion.items()
        )
        header = ("expected", *map(_behavior, columns))
        return Section("Shown behaviors", meaning="by expected behavior", table=Table(header, rows))


def _item(case_id: str, outcome: Outcome) -> Item:
    name = f"{name_text(case_id)} · {name_text(outcome.variant)}"
    if outcome.label is None:
        return Item(name, outcome.notes[0])
    return Item(name, f"“{quote_text(outcome.response) or '(empty)'}”", outcome.notes)


def _behavior(label: str) -> str:
    """Format a label: behaviors in lower case and without the suffix."""
    if label.endswith(LABEL_SUFFIX):
        return name_text(label.removesuffix(LABEL_SUFFIX).lower())
    return name_text(label)
