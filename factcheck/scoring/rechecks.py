"""Ask a judge again about the facts that would decide a gate, so that none of its slips does.

A language model changes some of its answers when it is asked again. What looks lost is therefore
asked again until the answers agree by a margin: about the text under test, and about the text of
the baseline, whose answers may be slips, too. Facts that must be kept are asked twice even if they
look kept. Everything else is asked once. The embedded judge never flips and is not asked again.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from functools import partial

from factcheck.facts import AtomicFact, CheckFailure, CheckResult, CoverageReport, Verdict
from factcheck.runtime.loop import blocking
from factcheck.scoring.gates import Limits, is_worse, misfit
from factcheck.scoring.scorer import FactCoverage

LEAD = 4
"""Answers by which "lost" has to lead before a fact counts as lost. With slips in 1 of 20 answers,
1 in 7,000 first slips on a fact that is kept gets there (gambler's ruin: 18 / (19^4 - 1))."""
_KEPT_LEAD = 2
"""Answers by which "kept" has to lead before a fact that must be kept counts as kept."""
_MAX_ROUNDS = 16
_FLIPPED = "flipped"
"""Flag of a verdict, or code of a failure, where the answers to one question differ."""

Ask = Callable[[Sequence[AtomicFact], str], Awaitable[Sequence[CheckResult]]]
"""Has the judge answer anew about facts and a text, past every cache."""


@dataclass
class _Poll:
    """The answers on one fact and one text, and what they are to show."""

    fact: AtomicFact
    text: str
    answers: list[CheckResult]
    shows: Callable[[CheckResult], bool]
    """Whether an answer speaks for what fails the gate."""
    floor: int = 0
    """Lead at which that is dismissed."""

    @property
    def verdicts(self) -> list[Verdict]:
        return [answer for answer in self.answers if isinstance(answer, Verdict)]

    @property
    def lead(self) -> int:
        return sum(1 if self.shows(verdict) else -1 for verdict in self.verdicts)

    def result(self) -> CheckResult:
        """The verdict that the answers come to; the first answer if there was no other."""
        verdicts, lead = self.verdicts, self.lead
        if not verdicts or len(self.answers) == 1:
            return self.answers[0]
        labels = [verdict.label for verdict in verdicts]
        if self.floor < lead == 0:
            said = f"{len(labels)} answers differ: {', '.join(labels)}"
            return CheckFailure(self.fact, _FLIPPED, said)
        side = [verdict for verdict in verdicts if self.shows(verdict) == (lead > 0)]
        chosen = max(side, key=lambda verdict: labels.count(verdict.label))
        flags = (_FLIPPED,) if len(set(labels)) > 1 and _FLIPPED not in chosen.flags else ()
        return replace(chosen, fact=self.fact, flags=(*chosen.flags, *flags))


_Case = tuple[_Poll, ...]
"""The polls that all have to show what fails a gate: on the text, perhaps on the baseline's."""


def _due(case: _Case) -> _Poll | None:
    """The poll to ask next: the one that shows least; `None` if the case is settled."""
    if any(poll.lead <= poll.floor for poll in case):
        return None
    undecided = (poll for poll in case if poll.lead < LEAD)
    return min(undecided, key=lambda poll: poll.lead, default=None)


async def settle(
    report: CoverageReport, limits: Limits, ask: Ask
) -> tuple[CoverageReport, CoverageReport | None]:
    """Ask again about the facts that would fail a gate, and about facts that must be kept.

    Returns the report and the baseline with the verdicts that the answers come to. A verdict on
    which they differ has the flag `flipped`; where they do not come to one, the fact is undecided.
    Without the texts of the report nothing can be asked.
    """
    baseline = limits.baseline
    if report.texts is None or misfit(report, limits):
        return report, baseline
    cases = _cases(report, limits, report.texts.summary.text)
    for _ in range(_MAX_ROUNDS):
        due = [poll for case in cases if (poll := _due(case)) is not None]
        if not due:
            break
        n_answers = sum(len(poll.verdicts) for poll in due)
        for text in dict.fromkeys(poll.text for poll in due):
            polls = [poll for poll in due if poll.text == text]
            for poll, answer in zip(polls, await ask([p.fact for p in polls], text), strict=True):
                poll.answers.append(answer)
        if sum(len(poll.verdicts) for poll in due) == n_answers:
            break  # the budget is spent, or the judge is gone
    settled = _with(report, (now for now, *_ in cases))
    return settled, baseline and _with(baseline, (then for _, *rest in cases for then in rest))


def _cases(report: CoverageReport, limits: Limits, text: str) -> list[_Case]:
    baseline = limits.baseline
    before = {} if baseline is None else baseline.by_fact
    old_text = baseline.texts.summary.text if baseline and baseline.texts else None
    most = limits.max_distorted
    has_too_many_distorted = most is not None and len(report.distorted) > most
    cases: list[_Case] = []
    for key, result in report.by_fact.items():
        old, answers = before.get(key), [result]
        if old is not None and old_text == text:
            answers.append(old)
        now = partial(_Poll, result.fact, text, answers)
        if result.fact.must:
            cases.append((now(_is_lost, -_KEPT_LEAD),))
        elif old is not None and old_text != text and is_worse(result, old):
            case = [now(partial(is_worse, old=old))]
            if old_text is not None:
                case.append(_Poll(old.fact, old_text, [old], partial(is_worse, result)))
            cases.append(tuple(case))
        elif has_too_many_distorted and _is_distorted(result):
            cases.append((now(_is_distorted),))
    return cases


def _is_lost(result: CheckResult) -> bool:
    return not (isinstance(result, Verdict) and result.supported)


def _is_distorted(result: CheckResult) -> bool:
    return isinstance(result, Verdict) and result.label == "contradicted"


def _with(report: CoverageReport, polls: Iterable[_Poll]) -> CoverageReport:
    """The report with the results of the polls in place of its own."""
    settled = {poll.fact: poll.result() for poll in polls}
    results = tuple(settled.get(result.fact, result) for result in report.results)
    n_undecided = sum(isinstance(result, CheckFailure) for result in results)
    entries = {**dict(report.signature.entries), "undecided": str(n_undecided)}
    signature = type(report.signature).of(entries)
    return replace(report, results=results, signature=signature)


async def asettled(
    scorer: FactCoverage, report: CoverageReport, limits: Limits
) -> tuple[CoverageReport, CoverageReport | None]:
    """`settle` with the judge of a scorer, whose budget it shares; usage is in the report."""
    if report.signature.never_flips:
        return report, limits.baseline
    judges: list[FactCoverage] = []
    async with AsyncExitStack() as stack:

        async def ask(facts: Sequence[AtomicFact], text: str) -> Sequence[CheckResult]:
            if not judges:
                judges.append(await stack.enter_async_context(scorer.uncached()))
            return await judges[0].acheck(facts, text)

        settled, baseline = await settle(report, limits, ask)
    spent = sum((judge.ledger.usage for judge in judges), settled.usage)
    return replace(settled, usage=spent), baseline


settled = blocking(asettled)
