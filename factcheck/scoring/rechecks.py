"""Recheck the facts that would decide a gate, so that random errors of the judge do not.

A language model flips some of its verdicts when it is asked again. Facts that appear lost are
therefore rechecked, against the text under test and the text of the baseline, until the votes agree
by a margin. `must` facts are checked twice even if they appear kept; all others once. Deterministic
judges are never rechecked.
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
    """Votes of the judge on one fact and one text."""

    fact: AtomicFact
    text: str
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


_Case = tuple[_Poll, ...]
"""Polls that must all fail to fail the gate: on the text and possibly on the baseline's."""


async def settle(
    report: CoverageReport, limits: Limits, ask: Ask
) -> tuple[CoverageReport, CoverageReport | None]:
    """Recheck facts that would fail a gate, and `must` facts.

    Returns the report and the baseline with the majority verdicts, flagged `flipped` unless
    unanimous; facts without a majority are undecided. A report without texts is returned as is.
    """
    baseline = limits.baseline
    if report.texts is None or misfit(report, limits):
        return report, baseline
    cases = _cases(report, limits, report.texts.summary.text)
    for _ in range(_MAX_ROUNDS):
        due = []
        for case in cases:
            closest = min(case, key=lambda poll: poll.margin)
            is_open = all(poll.margin > poll.floor for poll in case)
            if is_open and closest.margin < LOST_MARGIN:
                due.append(closest)
        if not due:
            break
        n_verdicts = sum(len(poll.verdicts) for poll in due)
        for text in dict.fromkeys(poll.text for poll in due):
            polls = [poll for poll in due if poll.text == text]
            for poll, vote in zip(polls, await ask([p.fact for p in polls], text), strict=True):
                poll.votes.append(vote)
        if sum(len(poll.verdicts) for poll in due) == n_verdicts:
            break  # the budget is exhausted, or the judge unreachable
    settled = _with(report, (now for now, *_ in cases))
    return settled, baseline and _with(baseline, (then for _, *rest in cases for then in rest))


def _cases(report: CoverageReport, limits: Limits, text: str) -> list[_Case]:
    baseline = limits.baseline
    before = {} if baseline is None else baseline.by_fact
    old_text = baseline.texts.summary.text if baseline and baseline.texts else None
    maximum = limits.max_distorted
    has_too_many_distorted = maximum is not None and len(report.distorted) > maximum
    cases: list[_Case] = []
    for key, result in report.by_fact.items():
        old, votes = before.get(key), [result]
        if old is not None and old_text == text:
            votes.append(old)
        now = partial(_Poll, result.fact, text, votes)
        if result.fact.must:
            cases.append((now(lambda vote: not vote.supported, -_KEPT_MARGIN),))
        elif old is not None and old_text != text and is_worse(result, old):
            case = [now(partial(is_worse, old=old))]
            if old_text is not None and old.label:
                case.append(_Poll(old.fact, old_text, [old], partial(is_worse, result)))
            cases.append(tuple(case))
        elif has_too_many_distorted and result.status == "distorted":
            cases.append((now(lambda vote: vote.status == "distorted"),))
    return cases


def _with(report: CoverageReport, polls: Iterable[_Poll]) -> CoverageReport:
    """Replace results of the report by those of the polls."""
    settled = {poll.fact: poll.result() for poll in polls}
    results = tuple(settled.get(result.fact, result) for result in report.results)
    n_undecided = sum(not result.label for result in results)
    entries = {**dict(report.signature.entries), "undecided": str(n_undecided)}
    signature = type(report.signature).of(entries)
    return replace(report, results=results, signature=signature)


async def asettled(
    scorer: FactCoverage, report: CoverageReport, limits: Limits
) -> tuple[CoverageReport, CoverageReport | None]:
    """Run `settle` with the judge and budget of a scorer; the report includes the usage."""
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
