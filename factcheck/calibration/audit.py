"""The audit of a judge: errors that are proven without labels, and the faults they show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass

from factcheck.calibration import conclusions
from factcheck.calibration.audit_trials import AGAIN, RULES, Question, Trial, trials_of
from factcheck.calibration.texts import (
    Judge,
    Text,
    check_facts,
    name_of,
    open_scorer,
    read_subjects,
)
from factcheck.facts import CheckResult, Usage, Verdict
from factcheck.reports import Report
from factcheck.reports.page import Alert, Item, Page, Section, Table
from factcheck.reports.text import (
    DASH,
    interval_text,
    name_text,
    percent,
    plural,
    quote_text,
    share,
)
from factcheck.runtime.budget import Budget
from factcheck.runtime.loop import blocking, together
from factcheck.scoring import FactCoverage
from factcheck.settings import LOCAL, require_integer
from factcheck.stats.intervals import Interval, share_interval

Answers = Mapping[Question, Mapping[str, CheckResult]]
"""For each question, by the text of each fact, the result of the check."""
ALWAYS = 0.98
"""Share of equal answers from which a judge counts as answering always the same."""
OFTEN = 0.05
"""Rate from which a broken rule is a fault of the judge rather than a slip."""
_MIN_ERRORS = _MAX_EXAMPLES = 2
_COLUMNS = ("rule", "what must hold", "tried", "broken", "rate", "95 %")
_MEANING = "broken: at least one of the answers is certainly wrong; 95 %: interval of the rate"


@dataclass(frozen=True, slots=True)
class RuleResult:
    """One rule over all texts."""

    DERIVED = ("statement", "rate")
    rule: str
    n_tried: int
    """Trials with an answer."""
    n_undecided: int
    """Trials that lack an answer; outside the rate."""
    errors: tuple[Trial, ...]
    """Broken trials: in each, at least one answer is certainly wrong."""
    interval: Interval | None
    """95 % interval of `rate`; see `share_interval`."""

    @classmethod
    def of(cls, rule: str, trials: Sequence[Trial], answers: Answers) -> RuleResult:
        own = [trial for trial in trials if trial.rule == rule]
        found = []
        for trial in own:
            asked = (trial.first, trial.second)
            first, second = (one and answers[one][trial.fact].label for one in asked)
            if second and (trial.first is None or first):
                found.append(trial._replace(labels=(first, second)))
        errors = tuple(trial for trial in found if trial.is_broken)
        tried = Counter(trial.name for trial in found)
        broken = Counter(error.name for error in errors)
        interval = share_interval([(n, broken[name]) for name, n in tried.items()])
        return cls(rule, len(found), len(own) - len(found), errors, interval)

    @property
    def statement(self) -> str:
        """What must hold."""
        return RULES[self.rule].statement

    @property
    def rate(self) -> float | None:
        """Share of the trials that are broken, in [0, 1]; `None` where nothing could be tried."""
        if self.n_tried:
            return len(self.errors) / self.n_tried
        return None

    @property
    def fault(self) -> str:
        """What breaking it often says about the judge."""
        return RULES[self.rule].fault.format(percent(self.rate or 0.0))

    def is_fault(self, noise: float) -> bool:
        """Whether it is broken often, and not just by answers that differ at this rate anyway."""
        rate, is_edit = self.rate or 0.0, RULES[self.rule].edit is not None
        if self.rule != AGAIN and not is_edit and rate <= noise:
            return False
        return len(self.errors) >= _MIN_ERRORS and rate >= OFTEN

    def cells(self) -> tuple[str, ...]:
        rate = DASH if self.rate is None else share(self.rate)
        counts = f"{self.n_tried:,}", str(len(self.errors))
        return (self.rule, self.statement, *counts, rate, interval_text(self.interval) or DASH)

    def examples(self) -> Section:
        meaning = "proven errors: at least one answer of each is wrong"
        section = Section(self.statement, "bad", meaning)
        return section.listing(self.errors, _item, "error", _MAX_EXAMPLES)


def _item(error: Trial) -> Item:
    name, fact, (first, second) = name_text(error.name), quote_text(error.fact), error.labels
    if first is not None:
        return Item(name, fact, (f"{first}, then {second}",))
    last = error.second.text.splitlines()[-1].removeprefix("- ")
    return Item(name, fact, (f"{second}, although the text says: {quote_text(last)}",))


@dataclass(frozen=True, slots=True, repr=False)
class AuditReport(Report):
    """The result of auditing one judge."""

    DERIVED = ("n_errors", "faults", "conclusion")
    judge: str
    n_texts: int
    n_questions: int
    n_answers: int
    """Facts that the judge decided, over all questions."""
    share_entailed: float | None
    """Share of them that it called entailed."""
    rules: tuple[RuleResult, ...]
    """In the order of `RULES`, including those that could not be tried."""
    usage: Usage
    failure: str = ""
    """Why answers are missing, the first time."""

    @property
    def faults(self) -> tuple[str, ...]:
        """Faults of the judge, in sentences, the most telling one first; none without errors.

        A judge that always answers the same keeps every rule that compares two answers, and one
        that answers at random breaks them all: these faults hide their consequences.
        """
        yes = self.share_entailed
        if yes is None:
            return ()
        if self.is_constant:
            same = f"yes to {percent(yes)}" if yes >= ALWAYS else f"no to {percent(1 - yes)}"
            return (f"it says {same} of its questions, whatever the text says",)
        noise = 2 * (self.rule(AGAIN).rate or 0.0)
        return tuple(rule.fault for rule in self.rules if rule.is_fault(noise))

    @property
    def is_constant(self) -> bool:
        """Whether (almost) all answers are the same."""
        return self.share_entailed is not None and not 1 - ALWAYS < self.share_entailed < ALWAYS

    @property
    def conclusion(self) -> conclusions.Conclusion:
        """Which uses of the judge are excluded."""
        return conclusions.of_audit(
            self.faults, self.n_tried, self.found, is_constant=self.is_constant
        )

    @property
    def found(self) -> str:
        """Say how many errors were found in how many trials, and which rules have none."""
        found = f"{plural(self.n_errors, 'proven error')} in {plural(self.n_tried, 'trial')}"
        untried = ", ".join(rule.rule for rule in self.rules if not rule.n_tried)
        return f"{found}; not tried: {untried}" if untried else found

    @property
    def n_tried(self) -> int:
        """Number of trials with an answer."""
        return sum(rule.n_tried for rule in self.rules)

    @property
    def n_errors(self) -> int:
        return sum(len(rule.errors) for rule in self.rules)

    def rule(self, name: str) -> RuleResult:
        """Return the result of one rule; `KeyError` without one."""
        return {rule.rule: rule for rule in self.rules}[name]

    def page(self) -> Page:
        yes = DASH if self.share_entailed is None else percent(self.share_entailed)
        undecided = sum(rule.n_undecided for rule in self.rules)
        why = f" ({self.failure})" if self.failure else ""
        missing = f"{plural(undecided, 'trial')} without an answer, left out of every rate{why}"
        cells = tuple(rule.cells() for rule in self.rules)
        errors = plural(self.n_errors, "proven error")
        asked = (
            f"{plural(self.n_texts, 'text')}, {plural(self.n_questions, 'question')}, "
            f"{plural(self.n_answers, 'answer')}, {yes} yes"
        )
        return Page(
            f"Audit of {self.judge}",
            counts=f"{errors}; {asked}",
            answer=f"{self.found}. {self.conclusion.head}",
            lines=(f"{asked}.",),
            alerts=(
                *(Alert(fault) for fault in self.faults),
                *((Alert(missing, "unknown"),) if undecided else ()),
            ),
            sections=(
                Section("Rules", meaning=_MEANING, table=Table(_COLUMNS, cells, n_names=2)),
                *(rule.examples() for rule in self.rules if rule.errors),
                conclusions.section({self.judge: self.conclusion}),
            ),
            suite="calibrate.audit",
            columns=("judge", *_COLUMNS),
            rows=lambda: [
                {"judge": self.judge, **dict(zip(_COLUMNS, row, strict=True))} for row in cells
            ],
        )


async def aaudit_judge(
    judge: Judge = LOCAL,
    texts: Iterable[Text] | None = None,
    *,
    name: str | None = None,
    budget: Budget | None = None,
    per_rule: int = 8,
) -> AuditReport:
    """Look for answers of a judge that are certainly wrong, without labels.

    The judge is asked about variants of summaries and of facts whose effect on the verdict is known
    (see `RULES`). Each broken rule is a proven error: at least one of the answers is wrong. A rule
    that is kept proves nothing about single answers. The cache is not used.

    Args:
        judge: Anything `FactCoverage` takes as a judge, or a `FactCoverage` itself.
        texts: As in `bullet_removal`; the bundled texts if `None`.
        name: Name of the judge in the report; derived from the judge if `None`.
        budget: Limits; questions beyond it are undecided.
        per_rule: Facts of each text that are edited, for each of the three edits, 1 to 100. Each is
            a question of its own; eight questions concern all facts of a text.

    Raises:
        InputError: A text or an argument is invalid.
        ConfigError: The judge is unknown, or a key is missing.
    """
    require_integer("per_rule", per_rule, 1, 100)
    trials = [trial for one in await read_subjects(texts) for trial in trials_of(one, per_rule)]
    async with AsyncExitStack() as stack:
        scorer = await open_scorer(judge, budget, stack)
        fresh = await stack.enter_async_context(scorer.uncached())
        answers = await _answers_to(fresh, trials)
        usage = fresh.ledger.usage
    results = [result for replies in answers.values() for result in replies.values()]
    decided = [result for result in results if isinstance(result, Verdict)]
    return AuditReport(
        judge=name or name_of(judge),
        n_texts=len({trial.name for trial in trials}),
        n_questions=len(answers),
        n_answers=len(decided),
        share_entailed=sum(one.supported for one in decided) / len(decided) if decided else None,
        rules=tuple(RuleResult.of(rule, trials, answers) for rule in RULES),
        usage=usage,
        failure=next((one.message for one in results if not isinstance(one, Verdict)), ""),
    )


audit_judge = blocking(aaudit_judge)


async def _answers_to(scorer: FactCoverage, trials: Iterable[Trial]) -> Answers:
    """Ask the judge each question of the trials; those about one text in sequence.

    Asked at once, a fact that several of them share would be checked only once.
    """
    by_text: dict[str, dict[Question, None]] = {}
    for trial in trials:
        for question in (trial.first, trial.second):
            if question is not None:
                by_text.setdefault(question.text, {})[question] = None
    answers: dict[Question, Mapping[str, CheckResult]] = {}

    async def ask(questions: Iterable[Question]) -> None:
        for question in questions:
            results = await check_facts(scorer, question.facts, question.text)
            answers[question] = {result.fact.text: result for result in results}

    await together(map(ask, by_text.values()))
    return answers
