"""Recheck the facts that would decide a gate, so that random errors of the judge do not.

A language model flips some of its verdicts when it is asked again. Facts that appear lost are
therefore rechecked until the votes agree by a margin. `must` facts are checked twice even if they
appear kept; all others once. Deterministic judges are never rechecked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace

from factcheck.facts import AtomicFact, CheckFailure, CheckResult, CoverageReport, Verdict
from factcheck.runtime.loop import blocking
from factcheck.scoring.gates import Limits
from factcheck.scoring.scorer import FactCoverage

LOST_MARGIN = 4
"""Margin of "lost" over "kept" votes from which a fact counts as lost. At a flip rate of 1 in 20,
1 in 7,000 kept facts with a first "lost" vote reaches it (gambler's ruin: 18 / (19^4 - 1))."""
_KEPT_MARGIN = 2
"""Margin of "kept" over "lost" votes from which a `must` fact counts as kept."""
_MAX_ROUNDS = 16
_FLIPPED = "flipped"
"""Flag of a verdict, or code of a failure, with contradictory votes."""

Ask = Callable[[Sequence[AtomicFact], str], Awaitable[Sequence[CheckResult]]]
"""Checks facts against a text, bypassing all caches."""


@dataclass
class _Poll:
    """Votes of the judge on one fact."""

    fact: AtomicFact
    votes: list[CheckResult]
    fails: Callable[[CheckResult], bool]
    """Whether a vote would fail the gate."""
    floor: int = 0
    """Margin at which the poll is settled in favour of the fact."""

    @property
    def verdicts(self) -> list[Verdict]:
        return [vote for vote in self.votes if isinstance(vote, Verdict)]

    @property
    def margin(self) -> int:
        """Failing minus passing votes."""
        n_failing = sum(map(self.fails, self.verdicts))
        return 2 * n_failing - len(self.verdicts)

    def result(self) -> CheckResult:
        """Return the majority verdict, a failure for a tie, or the only vote."""
        verdicts, margin = self.verdicts, self.margin
        if not verdicts or len(self.votes) == 1:
            return self.votes[0]
        labels = [verdict.label for verdict in verdicts]
        if self.floor < margin == 0:
            message = f"{len(labels)} answers differ: {', '.join(labels)}"
            return CheckFailure(self.fact, _FLIPPED, message)
        side = [verdict for verdict in verdicts if self.fails(verdict) == (margin > 0)]
        chosen = max(side, key=lambda verdict: labels.count(verdict.label))
        flags = (_FLIPPED,) if len(set(labels)) > 1 and _FLIPPED not in chosen.flags else ()
        return replace(chosen, fact=self.fact, flags=(*chosen.flags, *flags))


async def settle(report: CoverageReport, limits: Limits, ask: Ask) -> CoverageReport:
    """Recheck facts that would fail a gate, and `must` facts.

    Returns the report with the majority verdicts, flagged `flipped` unless unanimous; facts without
    a majority are undecided. A report without texts is returned as is.
    """
    if report.texts is None:
        return report
    polls = _polls(report, limits)
    for _ in range(_MAX_ROUNDS):
        due = [poll for poll in polls if poll.floor < poll.margin < LOST_MARGIN]
        n_verdicts = sum(len(poll.verdicts) for poll in due)
        if due:
            votes = await ask([poll.fact for poll in due], report.texts.summary.text)
            for poll, vote in zip(due, votes, strict=True):
                poll.votes.append(vote)
        if sum(len(poll.verdicts) for poll in due) == n_verdicts:
            break  # all are settled, the budget is exhausted, or the judge unreachable
    settled = {poll.fact: poll.result() for poll in polls}
    results = tuple(settled.get(result.fact, result) for result in report.results)
    n_undecided = sum(not result.label for result in results)
    entries = {**dict(report.signature.entries), "undecided": str(n_undecided)}
    signature = type(report.signature).of(entries)
    return replace(report, results=results, signature=signature)


def _polls(report: CoverageReport, limits: Limits) -> list[_Poll]:
    maximum = limits.max_distorted
    has_too_many_distorted = maximum is not None and len(report.distorted) > maximum
    polls = []
    for result in report.results:
        fact = result.fact
        if fact.must:
            polls.append(_Poll(fact, [result], lambda vote: not vote.supported, -_KEPT_MARGIN))
        elif has_too_many_distorted and result.status == "distorted":
            polls.append(_Poll(fact, [result], lambda vote: vote.status == "distorted"))
    return polls


async def asettled(scorer: FactCoverage, report: CoverageReport, limits: Limits) -> CoverageReport:
    """Run `settle` with the judge and budget of a scorer; the report includes the usage."""
    if report.signature.never_flips:
        return report
    judges: list[FactCoverage] = []
    async with AsyncExitStack() as stack:

        async def ask(facts: Sequence[AtomicFact], text: str) -> Sequence[CheckResult]:
            if not judges:
                judges.append(await stack.enter_async_context(scorer.uncached()))
            return await judges[0].acheck(facts, text)

        settled = await settle(report, limits, ask)
    spent = sum((judge.ledger.usage for judge in judges), settled.usage)
    return replace(settled, usage=spent)


settled = blocking(asettled)
