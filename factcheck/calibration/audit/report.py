"""What an audit found: proven errors by rule, and what they say about the judge."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from factcheck.calibration.audit.asking import Answers
from factcheck.calibration.audit.trials import RULES, Question, Trial
from factcheck.calibration.resampling import interval_of_ratio
from factcheck.facts import CheckResult, Usage, Verdict
from factcheck.stats import Interval


class Finding(NamedTuple):
    """A trial with its answers: a proven error, if the rule is broken."""

    trial: Trial
    first: str | None
    """Label of the first answer; `None` where the trial has none."""
    second: str


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule over all texts."""

    rule: str
    n_tried: int
    """Trials whose answers the judge gave."""
    n_undecided: int
    """Trials that lack an answer; outside of the rate."""
    errors: tuple[Finding, ...]
    """Broken trials: in each, at least one answer is certainly wrong."""
    interval: Interval | None
    """95 % interval of `rate`; the wider one of resampled texts and of Wilson's for trials."""

    @property
    def rate(self) -> float | None:
        """Share of the trials that are broken, in [0, 1]; `None` where nothing could be tried."""
        return len(self.errors) / self.n_tried if self.n_tried else None


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What an audit of one judge found."""

    judge: str
    n_texts: int
    n_questions: int
    n_answers: int
    """Facts that the judge decided, over all questions."""
    share_entailed: float | None
    """Share of them that it called entailed."""
    rules: tuple[RuleResult, ...]
    """In the order of `RULES`; those that could not be tried too."""
    faults: tuple[str, ...]
    """What is wrong with the judge, in sentences; empty if no rule is broken often."""
    usage: Usage
    failure: str = ""
    """Why answers are missing, the first time."""

    @property
    def n_errors(self) -> int:
        """Proven errors, over all rules."""
        return sum(len(rule.errors) for rule in self.rules)

    def rule(self, name: str) -> RuleResult:
        """The result of one rule.

        Raises:
            KeyError: There is no such rule.
        """
        for one in self.rules:
            if one.rule == name:
                return one
        raise KeyError(name)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data; every proven error with its texts and answers."""
        return {
            "judge": self.judge,
            "texts": self.n_texts,
            "questions": self.n_questions,
            "answers": self.n_answers,
            "share_entailed": self.share_entailed,
            "faults": list(self.faults),
            "rules": [
                {
                    "rule": one.rule,
                    "says": RULES[one.rule],
                    "tried": one.n_tried,
                    "undecided": one.n_undecided,
                    "broken": len(one.errors),
                    "rate": one.rate,
                    "interval": one.interval and [*one.interval],
                    "errors": [_error_dict(error) for error in one.errors],
                }
                for one in self.rules
            ],
            "usage": self.usage.to_dict(),
            "failure": self.failure,
        }

    def to_json(self, *, indent: int | None = 2) -> str:
        """The same as text."""
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=indent)


def _error_dict(error: Finding) -> dict[str, Any]:
    def shown(question: Question | None, label: str | None) -> dict[str, Any] | None:
        if question is None:
            return None
        return {"text": question.text, "facts": list(question.facts), "label": label}

    return {
        "text": error.trial.name,
        "fact": error.trial.fact,
        "expected": error.trial.expectation,
        "first": shown(error.trial.first, error.first),
        "second": shown(error.trial.second, error.second),
    }


def rule_results(trials: Iterable[Trial], answers: Answers) -> tuple[RuleResult, ...]:
    """Every rule with its trials judged."""
    tried: dict[str, Counter[str]] = {rule: Counter() for rule in RULES}
    undecided: Counter[str] = Counter()
    errors: dict[str, list[Finding]] = {rule: [] for rule in RULES}
    for trial in trials:
        first = None if trial.first is None else _label(answers[trial.first][trial.fact])
        second = _label(answers[trial.second][trial.fact])
        if second is None or (trial.first is not None and first is None):
            undecided[trial.rule] += 1
            continue
        tried[trial.rule][trial.name] += 1
        if _is_broken(trial, first, second):
            errors[trial.rule].append(Finding(trial, first, second))
    return tuple(
        RuleResult(
            rule,
            tried[rule].total(),
            undecided[rule],
            tuple(errors[rule]),
            _interval(tried[rule], errors[rule]),
        )
        for rule in RULES
    )


def _interval(tried: Mapping[str, int], errors: Iterable[Finding]) -> Interval | None:
    broken = Counter(error.trial.name for error in errors)
    return interval_of_ratio([(broken[name], n) for name, n in tried.items()])


def _label(result: CheckResult) -> str | None:
    return result.label if isinstance(result, Verdict) else None


def _is_broken(trial: Trial, first: str | None, second: str) -> bool:
    was, now = first == "entailed", second == "entailed"
    if trial.expectation == "same":
        return was != now
    if trial.expectation == "not gained":
        return now and not was
    return now != (trial.expectation == "entailed")
