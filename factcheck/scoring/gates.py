"""Gates for CI: thresholds on coverage, runs, fields and cases.

A gate is a pure function that returns a `GateFailure` or `None`. In every gate, undecided items
never help to pass.

A language model flips some of its verdicts when it is asked again. Before a gate, facts that appear
lost are therefore rechecked until the votes agree by a margin (`settled`). `must` facts are checked
twice even if they appear kept; all others once. Deterministic judges are never rechecked.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from factcheck.errors import InputError, JudgeError
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    CoverageReport,
    ScoreSignature,
    Verdict,
)
from factcheck.facts.page import item_of, lost_musts
from factcheck.reports import render
from factcheck.reports.page import Page, Section
from factcheck.reports.text import plural
from factcheck.runtime.loop import blocking
from factcheck.scoring.run_report import FINAL, RunReport
from factcheck.scoring.scorer import FactCoverage
from factcheck.settings import require_integer, require_number

GATE_FAILED = 1
NOTHING_DECIDED = JudgeError.exit_code
INTERRUPTED = 130
_ROUNDING = 1e-9
"""Tolerance for rounding errors in sums of weights."""
_MAX_SHOWN = 5
"""Maximum number of facts listed below the message of a failed gate."""
_NEXT = "If a verdict is wrong: reword the fact, or use a language model as judge"


class GateFailure(NamedTuple):
    """Reason why a build must not pass."""

    exit_code: int
    """1: the gate failed. 2: invalid input. 4: too much is undecided. 130: interrupted."""
    message: str
    results: tuple[CheckResult, ...] = ()
    """The facts that fail the gate, most important first; empty if it is about something else."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Requirements for a coverage report, besides keeping all `must` facts.

    Raises:
        InputError: A number is out of range.
    """

    fail_under: float | None = None
    """Minimum score, in [0, 1]."""
    max_distorted: int | None = None
    """Maximum number of distorted facts."""

    def __post_init__(self) -> None:
        require_integer("max_distorted", self.max_distorted or 0, 0)
        require_number("fail_under", self.fail_under or 0.0, 0, high=1)


NO_LIMITS = Limits()


def coverage_gate(report: CoverageReport, limits: Limits = NO_LIMITS) -> GateFailure | None:
    """Gate on one coverage report.

    `must` facts have to be entailed; undecided is not enough.
    """
    if report.results and len(report.undecided) == len(report.results):
        first = report.undecided[0]
        again = "" if first.code in FINAL else "; run it again"
        reason = f"no verdict on any fact ({first.code}: {first.message}){again}"
        return GateFailure(NOTHING_DECIDED, reason)
    if report.score is None and limits.fail_under is not None:
        what = f"no score to compare with {limits.fail_under:g}"
        return GateFailure(NOTHING_DECIDED, f"{what}: no fact with a weight above 0 was decided")
    lost, low = lost_musts(report.results), _below("score", report.score, limits.fail_under, 2)
    many = _too_many(len(report.distorted), limits.max_distorted)
    behind = []
    for result in report.results:
        is_behind = low or (lost and result.fact.must) or (many and result.status == "distorted")
        if is_behind and not result.supported:
            behind.append(result)
    failure = _failed(lost, low, many)
    return failure and failure._replace(results=tuple(sorted(behind, key=_importance)))


def _importance(result: CheckResult) -> tuple[bool, bool, float]:
    return not result.fact.must, result.status != "distorted", -result.fact.weight


def failing_facts(failure: GateFailure) -> str:
    """Format the facts that fail a gate, the first five with their evidence, and what to do.

    The text has several lines; it is empty if the failure is about something else.
    """
    if not failure.results:
        return ""
    meaning = "most important first; \u2260 distorted, \u2013 dropped, ? undecided"
    section = Section("Not kept", "bad", meaning).listing(
        failure.results, item_of, "fact", _MAX_SHOWN
    )
    return f"{render(Page('', sections=(section,))).strip()}\n\n{_NEXT}"


def _too_many(n_distorted: int, maximum: int | None) -> str:
    if maximum is None or n_distorted <= maximum:
        return ""
    return f"{plural(n_distorted, 'fact')} distorted, more than {maximum}"


def run_gate(
    run: RunReport, threshold: float | None = None, max_distorted: int | None = None
) -> GateFailure | None:
    """Gate on a run, which has to be complete.

    It fails if the mean score is below `threshold`, in [0, 1], if more than `max_distorted` facts
    are distorted, or if a `must` fact was lost.
    """
    if missing := _missing(run):
        return missing
    failures = [f"{row.id}: {row.message}" for row in run.rows if row.code]
    if failures:
        code = InputError.exit_code if set(run.failures) == {"input"} else NOTHING_DECIDED
        return GateFailure(
            code, f"{plural(len(failures), 'record')} without report ({failures[0]})"
        )
    undecided = [row for row in run.rows if row.score is None]
    if run.score is None or (undecided and threshold is not None):
        what = f"{plural(len(undecided), 'record')} without score, as no fact was decided"
        reason = f"{what} ({undecided[0].id})" if undecided else "there are no records"
        return _unknown(reason)
    lost = [f"{row.id}: {row.lost_must}" for row in run.rows if row.lost_must]
    return _failed(
        f"{plural(len(lost), 'record')} lost a must fact ({lost[0]})" if lost else "",
        _below("mean score", run.score, threshold, 4),
        _too_many(run.counts["distorted"], max_distorted),
    )


def _missing(run: RunReport) -> GateFailure | None:
    """Say what a run lacks."""
    if run.interrupted:
        return GateFailure(INTERRUPTED, "the run was interrupted")
    if run.write_error:
        return GateFailure(InputError.exit_code, run.write_error)
    if run.budget_exhausted:
        reason = "the budget is exhausted; this is a partial result; continue with --resume"
        return GateFailure(NOTHING_DECIDED, reason)
    if run.unfinished:
        what = f"{plural(run.unfinished, 'record')} not finished"
        return GateFailure(NOTHING_DECIDED, f"{what} ({run.problem}); continue with --resume")
    return None


def cases_gate(
    name: str, score: float | None, threshold: float | None, errors: Sequence[tuple[str, str]]
) -> GateFailure | None:
    """Gate on a mean over cases, such as `mean F1`, with score and threshold in [0, 1].

    `errors` are ids and messages of cases that could not be scored; they fail the gate if there is
    a threshold. A score of `None` means that nothing was decided.
    """
    first = f"{errors[0][0]}: {errors[0][1]}" if errors else ""
    if score is None:
        return GateFailure(NOTHING_DECIDED, f"no case could be scored ({first})")
    if threshold is None:
        return None
    failed = f"{plural(len(errors), 'case')} could not be scored ({first})" if errors else ""
    return _failed(_below(name, score, threshold, 3), failed)


def fields_gate(
    f1: float | None, low_f1: float, no_verdict: str, threshold: float | None
) -> GateFailure | None:
    """Gate on a field evaluation; without a threshold, every score passes.

    `low_f1` is the mean F1 if all undecided values were wrong; it has to reach the threshold, too.
    `no_verdict` names the field with the most undecided values.
    """
    if f1 is None:
        reason = no_verdict or "every field is skipped or absent"
        return GateFailure(NOTHING_DECIDED, f"nothing was scored: {reason}")
    if failure := _failed(_below("mean F1", f1, threshold, 4)):
        return failure
    unknown = _below("mean F1", low_f1, threshold, 4)
    if not unknown:
        return None
    return _unknown(f"{unknown} if every value without a verdict is wrong ({no_verdict})")


def comparison_gate(
    worse: str, lost: Sequence[str | int], no_verdict: str = ""
) -> GateFailure | None:
    """Gate on a comparison of runs A and B: B is worse, or lost cases that have a score in A.

    `no_verdict` says why it is unknown whether B is worse.
    """
    if no_verdict and not worse:
        return _unknown(no_verdict)
    missing = f"{plural(len(lost), 'case')} without score in B ({lost[0]})" if lost else ""
    return _failed(f"B is worse ({worse})" if worse else "", missing)


def strict_gate(n_faults: int, n_errors: int) -> GateFailure | None:
    """Gate on the faults of a judge, its frequent kinds of proven errors; any of them fails it."""
    found = f"{plural(n_faults, 'fault')} in {plural(n_errors, 'proven error')} (--strict)"
    return _failed(found if n_faults else "")


def _failed(*reasons: str) -> GateFailure | None:
    """Return a failure for the non-empty reasons, if there are any."""
    text = "; ".join(filter(None, reasons))
    return GateFailure(GATE_FAILED, f"gate failed: {text}") if text else None


def _unknown(reason: str) -> GateFailure:
    return GateFailure(NOTHING_DECIDED, f"the gate cannot pass: {reason}")


def _below(name: str, score: float | None, threshold: float | None, digits: int) -> str:
    """Format `NAME 0.67 is under 0.7`, with enough digits to show it; empty if it is not."""
    if score is None or threshold is None or score >= threshold - _ROUNDING:
        return ""
    while float(f"{score:.{digits}f}") >= threshold:
        digits += 1
    return f"{name} {score:.{digits}f} is under {threshold:g}"


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
    is_lost: Callable[[CheckResult], bool]
    """Whether a vote would fail the gate."""
    floor: int = 0
    """Margin at which the poll is settled in favour of the fact."""

    @property
    def verdicts(self) -> list[Verdict]:
        return [vote for vote in self.votes if isinstance(vote, Verdict)]

    @property
    def margin(self) -> int:
        """Lost minus kept votes."""
        return 2 * sum(map(self.is_lost, self.verdicts)) - len(self.verdicts)

    def result(self) -> CheckResult:
        """Return the majority verdict, a failure for a tie, or the only vote."""
        verdicts, margin = self.verdicts, self.margin
        if not verdicts or len(self.votes) == 1:
            return self.votes[0]
        labels = [verdict.label for verdict in verdicts]
        if self.floor < margin == 0:
            message = f"{len(labels)} answers differ: {', '.join(labels)}"
            return CheckFailure(self.fact, _FLIPPED, message)
        side = [verdict for verdict in verdicts if self.is_lost(verdict) == (margin > 0)]
        chosen = max(side, key=lambda verdict: labels.count(verdict.label))
        if len(set(labels)) == 1 or _FLIPPED in chosen.flags:
            return chosen
        return replace(chosen, flags=(*chosen.flags, _FLIPPED))


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
        if not due:
            break
        votes = await ask([poll.fact for poll in due], report.texts.summary.text)
        for poll, vote in zip(due, votes, strict=True):
            poll.votes.append(vote)
        if not any(isinstance(vote, Verdict) for vote in votes):
            break  # the budget is exhausted, or the judge unreachable
    settled = {poll.fact: poll.result() for poll in polls}
    results = tuple(settled.get(result.fact, result) for result in report.results)
    n_undecided = sum(not result.label for result in results)
    entries = {**dict(report.signature.entries), "undecided": str(n_undecided)}
    return replace(report, results=results, signature=ScoreSignature.of(entries))


def _polls(report: CoverageReport, limits: Limits) -> list[_Poll]:
    has_too_many = _too_many(len(report.distorted), limits.max_distorted)
    polls = []
    for result in report.results:
        fact = result.fact
        if fact.must:
            polls.append(_Poll(fact, [result], lambda vote: not vote.supported, -_KEPT_MARGIN))
        elif has_too_many and result.status == "distorted":
            polls.append(_Poll(fact, [result], lambda vote: vote.status == "distorted"))
    return polls


async def asettled(scorer: FactCoverage, report: CoverageReport, limits: Limits) -> CoverageReport:
    """Run `settle` with the judge and budget of a scorer; the report includes the usage."""
    if report.signature.never_flips or not _polls(report, limits):
        return report
    async with scorer.uncached() as judge:
        settled = await settle(report, limits, judge.acheck)
        return replace(settled, usage=settled.usage + judge.ledger.usage)


settled = blocking(asettled)
