"""The result of an audit: proven errors by rule, and the faults of the judge they show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

from factcheck.calibration.audit_edits import MUTATIONS
from factcheck.calibration.audit_trials import RULES, Question, Trial
from factcheck.facts import CheckResult, Usage, Verdict
from factcheck.reports.page import Alert, Case, Item, Page, Section, Table
from factcheck.reports.report import Report
from factcheck.reports.text import DASH, more_of, name_text, plural, quote_text, short, short_range
from factcheck.stats.intervals import Interval
from factcheck.stats.resampling import bootstrap_ratio

Answers = Mapping[Question, Mapping[str, CheckResult]]
"""For each question, by the text of each fact, the result of the check."""
ALWAYS = 0.98
"""Share of equal answers from which a judge counts as answering always the same."""
OFTEN = 0.05
"""Rate from which a broken rule is a fault of the judge rather than a slip."""
_MIN_ERRORS = 2
_MAX_EXAMPLES = 2
_COLUMNS = ("rule", "tried", "broken", "rate", "95 %")


class Finding(NamedTuple):
    """A trial with its answers: a proven error, if the rule is broken."""

    trial: Trial
    first: str | None
    """Label of the first answer; `None` where the trial has none."""
    second: str

    @property
    def is_error(self) -> bool:
        """Whether the answers break the rule."""
        was, now = self.first == "entailed", self.second == "entailed"
        if self.trial.expectation == "same":
            return was != now
        if self.trial.expectation == "not gained":
            return now and not was
        return now != (self.trial.expectation == "entailed")

    def to_dict(self) -> dict[str, Any]:
        """The texts, facts and answers as JSON-ready data."""
        trial = self.trial
        questions = {"first": (trial.first, self.first), "second": (trial.second, self.second)}
        return {"text": trial.name, "fact": trial.fact, "expected": trial.expectation} | {
            name: asked and {"text": asked.text, "facts": list(asked.facts), "label": label}
            for name, (asked, label) in questions.items()
        }


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule over all texts."""

    rule: str
    n_tried: int
    """Trials with an answer."""
    n_undecided: int
    """Trials that lack an answer; outside the rate."""
    errors: tuple[Finding, ...]
    """Broken trials: in each, at least one answer is certainly wrong."""
    interval: Interval | None
    """95 % interval of `rate`: spans resampled texts and Wilson's for trials."""

    @property
    def rate(self) -> float | None:
        """Share of the trials that are broken, in [0, 1]; `None` where nothing could be tried."""
        return len(self.errors) / self.n_tried if self.n_tried else None


@dataclass(frozen=True, slots=True, repr=False)
class AuditReport(Report):
    """The result of auditing one judge."""

    judge: str
    n_texts: int
    n_questions: int
    n_answers: int
    """Facts that the judge decided, over all questions."""
    share_entailed: float | None
    """Share of them that it called entailed."""
    rules: tuple[RuleResult, ...]
    """In the order of `RULES`, including those that could not be tried."""
    faults: tuple[str, ...]
    """Faults of the judge, in sentences; empty if no rule is broken often."""
    usage: Usage
    failure: str = ""
    """Why answers are missing, the first time."""

    @classmethod
    def of(
        cls, judge: str, n_texts: int, trials: Iterable[Trial], answers: Answers, usage: Usage
    ) -> AuditReport:
        """The report on the answers to all questions of the trials."""
        results = [result for replies in answers.values() for result in replies.values()]
        decided = [result for result in results if isinstance(result, Verdict)]
        failures = (result.message for result in results if not isinstance(result, Verdict))
        share = sum(result.supported for result in decided) / len(decided) if decided else None
        by_rule: dict[str, list[Trial]] = {rule: [] for rule in RULES}
        for trial in trials:
            by_rule[trial.rule].append(trial)
        rules = tuple(_rule_result(rule, tried, answers) for rule, tried in by_rule.items())
        return cls(
            judge=judge,
            n_texts=n_texts,
            n_questions=len(answers),
            n_answers=len(decided),
            share_entailed=share,
            rules=rules,
            faults=_faults_of(rules, share),
            usage=usage,
            failure=next(failures, ""),
        )

    @property
    def n_errors(self) -> int:
        """Proven errors, over all rules."""
        return sum(len(rule.errors) for rule in self.rules)

    def rule(self, name: str) -> RuleResult:
        """The result of one rule.

        Raises:
            KeyError: There is no such rule.
        """
        return {rule.rule: rule for rule in self.rules}[name]

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
                    "says": RULES[one.rule].statement,
                    "tried": one.n_tried,
                    "undecided": one.n_undecided,
                    "broken": len(one.errors),
                    "rate": one.rate,
                    "interval": one.interval and [*one.interval],
                    "errors": [error.to_dict() for error in one.errors],
                }
                for one in self.rules
            ],
            "usage": self.usage.to_dict(),
            "failure": self.failure,
        }

    def page(self) -> Page:
        """The report: the faults of the judge, every rule, and examples of proven errors."""
        share = DASH if self.share_entailed is None else f"{self.share_entailed:.0%}"
        undecided = sum(rule.n_undecided for rule in self.rules)
        why = f" ({self.failure})" if self.failure else ""
        missing = f"{plural(undecided, 'trial')} without an answer, left out of every rate{why}"
        return Page(
            f"Audit of {self.judge}",
            counts=(
                f"{plural(self.n_errors, 'proven error')}; {plural(self.n_texts, 'text')}, "
                f"{plural(self.n_questions, 'question')}, {plural(self.n_answers, 'answer')}, "
                f"{share} yes"
            ),
            alerts=(
                *(Alert(fault) for fault in self.faults),
                *((Alert(missing, "unknown"),) if undecided else ()),
            ),
            sections=(
                Section("Rules", table=Table(_COLUMNS, tuple(map(_row, self.rules)))),
                *(_examples(rule) for rule in self.rules if rule.errors),
            ),
            suite="calibrate.audit",
            cases=tuple(map(_case, self.rules)),
            columns=("judge", *_COLUMNS),
            rows=lambda: [
                {"judge": self.judge, **dict(zip(_COLUMNS, _row(rule), strict=True))}
                for rule in self.rules
            ],
        )


def audits_page(reports: Sequence[AuditReport]) -> Page:
    """The report on several judges, at least one."""
    pages = [report.page() for report in reports]
    return pages[0]._replace(
        also=tuple(pages[1:]),
        rows=lambda: chain.from_iterable(page.rows() for page in pages if page.rows),
    )


def _row(rule: RuleResult) -> tuple[str, ...]:
    counts = (f"{rule.n_tried:,}", str(len(rule.errors)))
    return (rule.rule, *counts, short(rule.rate), short_range(rule.interval))


def _examples(rule: RuleResult) -> Section:
    return Section(
        RULES[rule.rule].statement,
        "bad",
        "proven errors: at least one answer of each is wrong",
        items=tuple(map(_item, rule.errors[:_MAX_EXAMPLES])),
        more=more_of(len(rule.errors) - _MAX_EXAMPLES, "error"),
    )


def _item(error: Finding) -> Item:
    name, fact = name_text(error.trial.name), quote_text(error.trial.fact)
    if error.first is not None:
        return Item(name, fact, change=(error.first, error.second))
    last = error.trial.second.text.splitlines()[-1].removeprefix("- ")
    return Item(name, fact, (f"{error.second}, although the text says: {quote_text(last)}",))


def _case(rule: RuleResult) -> Case:
    if rule.errors:
        message = f"{len(rule.errors)} of {plural(rule.n_tried, 'trial')} broken"
        details = tuple(f"{error.trial.name}: {error.trial.fact}" for error in rule.errors)
        return Case(rule.rule, "failed", message, "broken", details)
    return Case(rule.rule, "passed" if rule.n_tried else "skipped")


def _rule_result(rule: str, trials: Sequence[Trial], answers: Answers) -> RuleResult:
    found = []
    for trial in trials:
        first = None if trial.first is None else _label(answers[trial.first][trial.fact])
        second = _label(answers[trial.second][trial.fact])
        if second is not None and (trial.first is None or first is not None):
            found.append(Finding(trial, first, second))
    errors = tuple(finding for finding in found if finding.is_error)
    tried = Counter(finding.trial.name for finding in found)
    broken = Counter(error.trial.name for error in errors)
    interval = bootstrap_ratio([(broken[name], n) for name, n in tried.items()])
    return RuleResult(rule, len(found), len(trials) - len(found), errors, interval)


def _label(result: CheckResult) -> str | None:
    return result.label if isinstance(result, Verdict) else None


def _faults_of(rules: Sequence[RuleResult], share_entailed: float | None) -> tuple[str, ...]:
    """The faults of a judge, the most telling one first.

    A judge that always answers the same keeps every rule that compares two answers, and one that
    answers at random breaks them all: these come first, and their consequences are left out.
    """
    if share_entailed is None:
        return ()
    if share_entailed >= ALWAYS:
        return (f"it says yes to {share_entailed:.0%} of its questions, whatever the text says",)
    if share_entailed <= 1 - ALWAYS:
        return (f"it says no to {1 - share_entailed:.0%} of its questions, whatever the text says",)
    return tuple(_faults({rule.rule: rule for rule in rules}))


def _faults(rules: Mapping[str, RuleResult]) -> Iterator[str]:
    again, *others = (name for name, rule in RULES.items() if rule.fault)
    noise = 2 * (rules[again].rate or 0.0)
    names = [again, *sorted(others, key=lambda name: not RULES[name].is_comparison)]
    for name in names:
        rule = RULES[name]
        if _is_fault(rules[name], above=noise if rule.is_comparison else 0.0):
            yield rule.fault.format(_rate(rules[name]))
    copied = [kind for kind in MUTATIONS if _is_fault(rules[kind])]
    if copied:
        kinds = ", ".join(f"{kind} {_rate(rules[kind])}" for kind in copied)
        yield f"it goes by the words, not by their meaning: still entailed after {kinds}"


def _is_fault(rule: RuleResult, *, above: float = 0.0) -> bool:
    rate = rule.rate or 0.0
    return len(rule.errors) >= _MIN_ERRORS and rate >= OFTEN and rate > above


def _rate(rule: RuleResult) -> str:
    return f"{rule.rate:.0%}"
