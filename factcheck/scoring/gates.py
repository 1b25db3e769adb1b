"""Decide whether a result lets a build pass: thresholds on coverage, runs, fields and cases.

A gate takes values and returns a `GateFailure` or `None`; it prints nothing and ends nothing. The
rule for all of them: what has no verdict never helps to pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

from factcheck.errors import InputError, JudgeError
from factcheck.facts import CoverageReport, Verdict
from factcheck.facts.page import lost_musts
from factcheck.reports.text import plural
from factcheck.scoring.runs import Tally

GATE_FAILED = 1
NOTHING_DECIDED = JudgeError.exit_code
INTERRUPTED = 130
_ROUNDING = 1e-9
"""Weights that do not add up exactly in binary must not fail a gate."""


class GateFailure(NamedTuple):
    """Why a build must not pass."""

    exit_code: int
    """1: the gate failed. 2: invalid input. 4: too little was decided. 130: interrupted."""
    message: str


class FieldScores(Protocol):
    """Scores of a field evaluation; see `fields.file_runs.GateScores`, which has them."""

    @property
    def f1(self) -> float | None: ...
    @property
    def low_f1(self) -> float: ...
    @property
    def never_judged(self) -> str: ...
    @property
    def no_verdict(self) -> str: ...


def coverage_gate(report: CoverageReport, threshold: float | None = None) -> GateFailure | None:
    """Gate on one coverage report.

    A `must` fact has to be entailed: undecided is not enough.

    Args:
        report: The report.
        threshold: Minimum score in [0, 1]; `None`: only `must` facts count.
    """
    if report.results and not any(isinstance(result, Verdict) for result in report.results):
        first = report.undecided[0]
        return GateFailure(
            NOTHING_DECIDED, f"no verdict on any fact ({first.code}: {first.message}); run it again"
        )
    if report.score is None and threshold is not None:
        return GateFailure(
            NOTHING_DECIDED, "no score to compare with --fail-under: every decided fact weighs 0"
        )
    return _failed([lost_musts(report.results), _below("score", report.score, threshold, 2)])


def run_gate(tally: Tally, threshold: float | None = None) -> GateFailure | None:
    """Gate on a run over many records.

    Args:
        tally: What the run came to.
        threshold: Minimum mean score in [0, 1]; `None`: only whether the run is complete counts.
    """
    if (failure := _incomplete(tally)) is not None:
        return failure
    if n_failed := sum(tally.failures.values()):
        code = InputError.exit_code if set(tally.failures) == {"input"} else NOTHING_DECIDED
        verb = "has" if n_failed == 1 else "have"
        what = f"{plural(n_failed, 'record')} {verb} no report"
        return GateFailure(code, f"{what} ({tally.first_failure})")
    score = tally.summary.score
    if score is None:
        return GateFailure(NOTHING_DECIDED, "nothing was scored: there are no records")
    lost = ""
    if tally.lost_musts:
        lost = f"{plural(tally.lost_musts, 'record')} lost a must fact ({tally.first_lost})"
    return _failed([lost, _below("mean score", score, threshold, 4)])


def _incomplete(tally: Tally) -> GateFailure | None:
    """Why a run ended before all of its records were scored, or `None`."""
    if tally.interrupted:
        return GateFailure(INTERRUPTED, "the run was interrupted")
    if tally.write_error:
        return GateFailure(InputError.exit_code, tally.write_error)
    resume = "; continue with --resume" if tally.unfinished else ""
    if tally.budget_exhausted:
        return GateFailure(
            NOTHING_DECIDED, f"the budget ended the run; this is the result so far{resume}"
        )
    if tally.unfinished:
        why = tally.first_failure or "some facts could not be checked"
        what = f"{plural(tally.unfinished, 'record')} {'is' if tally.unfinished == 1 else 'are'}"
        return GateFailure(NOTHING_DECIDED, f"{what} not finished ({why}){resume}")
    return None


def cases_gate(
    name: str, score: float | None, threshold: float | None, errors: Sequence[tuple[str, str]]
) -> GateFailure | None:
    """Gate on the mean over cases; with a threshold, a case that could not be scored fails it.

    Args:
        name: Name of the score, such as `mean F1`.
        score: Score over the other cases, in [0, 1]; `None` if there are none.
        threshold: Minimum score in [0, 1]; `None`: anything passes.
        errors: Id and message of each case that could not be scored.
    """
    first = f"{errors[0][0]}: {errors[0][1]}" if errors else ""
    if score is None:
        return GateFailure(NOTHING_DECIDED, f"no case could be scored ({first})")
    if threshold is None:
        return None
    failed = f"{plural(len(errors), 'case')} could not be scored ({first})" if errors else ""
    return _failed([_below(name, score, threshold, 3), failed])


def fields_gate(scores: FieldScores, threshold: float | None) -> GateFailure | None:
    """Gate on a field evaluation.

    A value without a verdict is not held against the extractor, but the run passes only if it would
    with all of those wrong, too.

    Args:
        scores: Scores of the evaluation.
        threshold: Minimum mean F1 in [0, 1]; `None`: anything that could be scored passes.
    """
    if scores.f1 is None:
        why = scores.no_verdict or "every field is skipped or absent"
        return GateFailure(NOTHING_DECIDED, f"nothing was scored: {why}")
    if threshold is None:
        return None
    if wrong := _below("mean F1", scores.f1, threshold, 4):
        return _failed([wrong])
    unknown = f"no verdict on {scores.never_judged}" if scores.never_judged else ""
    if not unknown and (below := _below("mean F1", scores.low_f1, threshold, 4)):
        unknown = f"{below} if every value without a verdict is wrong ({scores.no_verdict})"
    if unknown:
        return GateFailure(NOTHING_DECIDED, f"the gate cannot pass: {unknown}")
    return None


def comparison_gate(worse: str, lost: Sequence[str], no_verdict: str = "") -> GateFailure | None:
    """Gate on the comparison of two runs.

    Args:
        worse: In which way run B is worse; empty if it is not.
        lost: Ids of the cases that have a score in run A only.
        no_verdict: Why it is unknown whether run B is worse; empty if it is known.
    """
    if no_verdict and not worse:
        return GateFailure(NOTHING_DECIDED, f"the gate cannot pass: {no_verdict}")
    missing = ""
    if lost:
        verb = "has" if len(lost) == 1 else "have"
        missing = f"{plural(len(lost), 'case')} {verb} no score in run B ({lost[0]})"
    return _failed([f"run B is worse ({worse})" if worse else "", missing])


def strict_gate(n_found: int, noun: str) -> GateFailure | None:
    """Gate on what was found, such as lint findings or faults of a judge: any of it fails it."""
    return _failed([f"{plural(n_found, noun)} (--strict)" if n_found else ""])


def _failed(reasons: Sequence[str]) -> GateFailure | None:
    said = "; ".join(reason for reason in reasons if reason)
    return GateFailure(GATE_FAILED, f"gate failed: {said}") if said else None


def _below(name: str, score: float | None, threshold: float | None, digits: int) -> str:
    """`NAME 0.67 is under 0.7`, with as many digits as it takes to see it; empty if it is not."""
    if score is None or threshold is None or score >= threshold - _ROUNDING:
        return ""
    while float(f"{score:.{digits}f}") >= threshold:
        digits += 1
    return f"{name} {score:.{digits}f} is under {threshold:g}"
