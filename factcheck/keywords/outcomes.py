"""Outcomes of behaviors: the response of each variant to a case, and how a report shows it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from factcheck.documents import from_plain
from factcheck.keywords.forms import as_keywords, to_data
from factcheck.keywords.guides import AMBIGUOUS, NO_MATCH
from factcheck.reports.page import Case, Item
from factcheck.reports.page import Status as JUnitStatus
from factcheck.reports.text import name_text, quote_text

Status = Literal["passed", "failed", "errored"]
WRONG = "WRONG_BEHAVIOR"
"""A response shows one behavior, but not the expected one."""
ERROR = "ERROR"
"""There is no response."""
_SUFFIX = "_BEHAVIOR"
_JUNIT: Mapping[Status, JUnitStatus] = {"passed": "passed", "failed": "failed", "errored": "error"}


class Outcome(NamedTuple):
    """Response of one variant to one case."""

    variant: str
    expected: str
    """Label of the expected behavior."""
    label: str | None
    """Label of the response; `None`: there is none."""
    response: str = ""
    hits: Mapping[str, Any] = {}
    """For a wrong response: a tuple of the keywords that occur in it, by label."""
    code: str = ""
    """Why there is no response: a code of `factcheck.errors`, or `callable`."""
    message: str = ""

    @property
    def is_right(self) -> bool:
        """Whether the expected behavior shows, and no other."""
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
    def reason(self) -> str:
        """Expected and shown behavior, or why there is no response; on one line."""
        if self.label is None:
            return quote_text(f"{self.code}: {self.message}")
        return f"expected {behavior_name(self.expected)}, shows {behavior_name(self.label)}"

    @property
    def found(self) -> str:
        """The keywords that occur in the response, by behavior; empty if there are none."""
        parts = (
            f"{behavior_name(label)}: {', '.join(map(str, words))}"
            for label, words in self.hits.items()
        )
        return quote_text("; ".join(parts))

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data."""
        hits = {label: [to_data(word) for word in words] for label, words in self.hits.items()}
        return {**self._asdict(), "hits": hits}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Outcome:
        """Inverse of `to_dict`; raises `InputError` if the data is invalid."""
        one = from_plain(cls, data, "outcome")
        return one._replace(hits={n: as_keywords(words, n) for n, words in one.hits.items()})


@dataclass(frozen=True, slots=True)
class BehaviorCaseResult:
    """Outcomes of one case."""

    case_id: str
    outcomes: tuple[Outcome, ...]
    """In the order of the variants."""

    @property
    def status(self) -> Status:
        """`passed` if all are right; `errored` if a response is missing; else `failed`."""
        if any(outcome.label is None for outcome in self.outcomes):
            return "errored"
        return "passed" if all(outcome.is_right for outcome in self.outcomes) else "failed"


class Example(NamedTuple):
    """A response that is not right."""

    case_id: str
    outcome: Outcome


def behavior_name(label: str) -> str:
    """A label in a report: of a behavior without the suffix, in lower case."""
    if label.endswith(_SUFFIX):
        return name_text(label.removesuffix(_SUFFIX).lower())
    return name_text(label)


def outcome_item(example: Example) -> Item:
    """A response that is not right, in the report."""
    outcome = example.outcome
    name = f"{name_text(example.case_id)} · {name_text(outcome.variant)}"
    if outcome.label is None:
        return Item(name, outcome.reason)
    found = (f"found {outcome.found}",) if outcome.hits else ()
    return Item(name, f"“{quote_text(outcome.response) or '(empty)'}”", (outcome.reason, *found))


def junit_case(case: BehaviorCaseResult) -> Case:
    """The case as a test: passed, failed or an error, as its status."""
    wrong = [outcome for outcome in case.outcomes if outcome.failure]
    details: list[str] = []
    for outcome in wrong:
        found = f"; found {outcome.found}" if outcome.hits else ""
        details.append(f"{outcome.variant}: {outcome.reason}{found}")
        if outcome.response:
            details.append(f"“{quote_text(outcome.response)}”")
    return Case(
        case.case_id,
        _JUNIT[case.status],
        ", ".join(f"{outcome.variant}: {outcome.failure}" for outcome in wrong),
        wrong[0].failure if wrong else "",
        tuple(details),
    )
