"""What a suite of behaviours gives back: outcomes, cases, and the figures of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from factcheck.keywords.forms import Keyword
from factcheck.keywords.guides import AMBIGUOUS, NO_MATCH
from factcheck.stats import Interval, wilson

Status = Literal["passed", "failed", "errored"]
WRONG = "WRONG_BEHAVIOR"
"""A response shows one behaviour, and not the expected one."""
ERROR = "ERROR"
"""There is no response."""


class Outcome(NamedTuple):
    """What one variant did in one case."""

    variant: str
    expected: str
    """Label of the behaviour it is to show."""
    label: str | None
    """What its response shows; `None`: there is none."""
    response: str = ""
    hits: Mapping[str, tuple[Keyword, ...]] = {}
    """Of a wrong response: the keywords that occur in it, by label."""
    code: str = ""
    """Why there is no response: a code of `factcheck.errors`, or `callable`."""
    message: str = ""

    @property
    def is_right(self) -> bool:
        """Whether the expected behaviour shows, and no other."""
        return self.label == self.expected

    @property
    def failure(self) -> str:
        """`AMBIGUOUS`, `NO_MATCH`, `WRONG_BEHAVIOR` or `ERROR`; empty if all is right."""
        if self.label is None:
            return ERROR
        if self.is_right:
            return ""
        return self.label if self.label in {AMBIGUOUS, NO_MATCH} else WRONG


@dataclass(frozen=True, slots=True)
class BehaviorCaseResult:
    """One case: what each variant did."""

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
    """A response that is not what it should be."""

    case_id: str
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class BehaviorRun:
    """All cases of a suite, judged."""

    cases: tuple[BehaviorCaseResult, ...]
    """In the order of the suite."""
    digests: Mapping[str, str]
    """By case id: guide and expectations as a digest; runs with others cannot be compared."""
    warnings: tuple[str, ...] = ()
    """What is allowed in guides but hardly meant."""

    @property
    def counts(self) -> dict[Status, int]:
        """How many cases passed, failed, and are errored."""
        found = Counter(case.status for case in self.cases)
        return {"passed": found["passed"], "failed": found["failed"], "errored": found["errored"]}

    @property
    def pass_rate(self) -> float | None:
        """Share of the cases that passed, of those that passed or failed; `None` without any."""
        counts = self.counts
        n_decided = counts["passed"] + counts["failed"]
        return counts["passed"] / n_decided if n_decided else None

    @property
    def interval(self) -> Interval | None:
        """95 % interval of the pass rate, by Wilson; `None` with it."""
        rate, counts = self.pass_rate, self.counts
        return None if rate is None else wilson(rate, counts["passed"] + counts["failed"])

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
        """How many responses are `AMBIGUOUS`, `NO_MATCH`, `WRONG_BEHAVIOR` and `ERROR`."""
        found = Counter(outcome.failure for _, outcome in self._outcomes())
        return {kind: found[kind] for kind in (AMBIGUOUS, NO_MATCH, WRONG, ERROR)}

    @property
    def responses(self) -> dict[str, tuple[str, ...]]:
        """By case id, what the variants responded; as `lint_guides` takes it."""
        return {
            case.case_id: tuple(o.response for o in case.outcomes if o.label is not None)
            for case in self.cases
        }

    def confusion(self, variant: str | None = None) -> dict[str, dict[str, int]]:
        """How often each label was shown where each was expected.

        Args:
            variant: Of which variant; `None`: of all.

        Returns:
            Counts by expected and then by shown label; `ERROR` where there is no response.
        """
        table: dict[str, Counter[str]] = {}
        for _, outcome in self._outcomes():
            if variant in {None, outcome.variant}:
                table.setdefault(outcome.expected, Counter())[outcome.label or ERROR] += 1
        return {expected: dict(row) for expected, row in table.items()}

    def examples(self, per_kind: int = 3) -> dict[str, tuple[Example, ...]]:
        """The first responses of each kind of failure, where there are any."""
        found: dict[str, list[Example]] = {}
        for case_id, outcome in self._outcomes():
            if outcome.failure:
                own = found.setdefault(outcome.failure, [])
                if len(own) < per_kind:
                    own.append(Example(case_id, outcome))
        return {kind: tuple(examples) for kind, examples in found.items()}

    def to_rows(self) -> list[dict[str, Any]]:
        """One dict for each response: `case`, `status`, and what `Outcome` has."""
        from factcheck.keywords.saved_suites import outcome_to_dict

        return [
            {"case": case.case_id, "status": case.status, **outcome_to_dict(outcome)}
            for case in self.cases
            for outcome in case.outcomes
        ]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data, with the figures for readers."""
        from factcheck.keywords.saved_suites import suite_to_dict

        return suite_to_dict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> BehaviorRun:
        """Inverse of `to_dict`.

        Raises:
            InputError: The data is no run of behaviours, or not of this format.
        """
        from factcheck.keywords.saved_suites import suite_from_dict

        return suite_from_dict(data)

    def to_json(self, *, indent: int | None = None) -> str:
        """`to_dict` as JSON text; the same run gives the same text."""
        from factcheck.keywords.json_texts import json_text

        return json_text(self.to_dict(), indent=indent)

    @classmethod
    def from_json(cls, text: str | bytes) -> BehaviorRun:
        """Inverse of `to_json`.

        Raises:
            InputError: Not JSON, or no run of behaviours.
        """
        from factcheck.keywords.json_texts import json_data

        return cls.from_dict(json_data(text))

    def _outcomes(self) -> Iterator[Example]:
        for case in self.cases:
            for outcome in case.outcomes:
                yield Example(case.case_id, outcome)
