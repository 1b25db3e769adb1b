"""Decide whether a result lets a build pass: thresholds on coverage, runs, fields and cases.

A gate takes values and returns a `GateFailure` or `None`; it prints nothing and ends nothing. The
rule for all of them: what has no verdict never helps to pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from factcheck.errors import InputError, JudgeError
from factcheck.facts import CheckResult, CoverageReport, Verdict, share_entailed
from factcheck.facts.page import lost_musts
from factcheck.reports.text import one_line, plural, quote_text
from factcheck.scoring.comparison import made_how, results_by_fact
from factcheck.scoring.runs import Tally

GATE_FAILED = 1
NOTHING_DECIDED = JudgeError.exit_code
INTERRUPTED = 130
_ROUNDING = 1e-9
"""Weights that do not add up exactly in binary must not fail a gate."""
_RANK = {"contradicted": 0, "neutral": 1, "entailed": 2}
_MAX_NAMES = 3


class GateFailure(NamedTuple):
    """Why a build must not pass."""

    exit_code: int
    """1: the gate failed. 2: invalid input. 4: too little was decided. 130: interrupted."""
    message: str


@dataclass(frozen=True, slots=True)
class Limits:
    """What a coverage report has to meet; that every `must` fact is kept goes without saying.

    Raises:
        InputError: A number is out of range.
    """

    fail_under: float | None = None
    """Minimum score, in [0, 1]."""
    max_distorted: int | None = None
    """Maximum number of distorted facts."""
    tags: Mapping[str, float] = field(default_factory=dict)
    """Minimum score of the facts with a tag, in [0, 1]."""
    baseline: CoverageReport | None = None
    """An earlier report on the same facts; no fact may come out worse."""

    def __post_init__(self) -> None:
        if self.max_distorted is not None and self.max_distorted < 0:
            raise InputError(f"max_distorted is {self.max_distorted}; expected 0 or more")
        for name, value in (("fail_under", self.fail_under or 0.0), *self.tags.items()):
            if not 0.0 <= value <= 1.0:
                raise InputError(f"the threshold of {name} is {value:g}; expected 0 to 1")


NO_LIMITS = Limits()


def coverage_gate(report: CoverageReport, limits: Limits = NO_LIMITS) -> GateFailure | None:
    """Gate on one coverage report.

    A `must` fact has to be entailed: undecided is not enough. A fact that the baseline keeps and
    that has no verdict now is neither lost nor kept, so the gate cannot pass (exit code 4).
    """
    if report.results and not any(isinstance(result, Verdict) for result in report.results):
        first = report.undecided[0]
        return GateFailure(
            NOTHING_DECIDED, f"no verdict on any fact ({first.code}: {first.message}); run it again"
        )
    if problem := misfit(report, limits):
        return GateFailure(InputError.exit_code, problem)
    shares: dict[str, tuple[float | None, float | None]]
    shares = {"score": (report.score, limits.fail_under)}
    for tag, threshold in limits.tags.items():
        tagged = [result for result in report.results if tag in result.fact.tags]
        shares[f"score of #{one_line(tag)}"] = share_entailed(tagged).value, threshold
    for name, (score, least) in shares.items():
        if score is None and least is not None:
            what = f"no {name} to compare with {least:g}"
            return GateFailure(NOTHING_DECIDED, f"{what}: no fact that has weight was decided")
    worse, unknown = _since(report, limits.baseline)
    failed = _failed(
        [
            lost_musts(report.results),
            *(_below(name, score, threshold, 2) for name, (score, threshold) in shares.items()),
            _too_many(report.counts["distorted"], limits.max_distorted, report.distorted),
            _named(worse, "came out worse than in the baseline"),
        ]
    )
    if failed is None and unknown:
        said = _named(unknown, "kept in the baseline and undecided now")
        return GateFailure(NOTHING_DECIDED, f"the gate cannot pass: {said}")
    return failed


def is_worse(result: CheckResult, old: CheckResult) -> bool:
    """Whether a fact was dropped that was kept, or distorted that was not; both are decided."""
    if not isinstance(result, Verdict) or not isinstance(old, Verdict):
        return False
    return _RANK[result.label] < _RANK[old.label]


def _since(
    report: CoverageReport, baseline: CoverageReport | None
) -> tuple[list[CheckResult], list[CheckResult]]:
    """Facts that came out worse than in a baseline, and those it keeps and that are undecided now.

    The same text cannot have lost anything: where both reports are about it, there are none.
    """
    if baseline is None or (
        report.texts and baseline.texts and report.texts.summary.text == baseline.texts.summary.text
    ):
        return [], []
    before = results_by_fact(baseline)
    both = [(result, before[key]) for key, result in results_by_fact(report).items()]
    kept = (result for result, old in both if isinstance(old, Verdict) and old.supported)
    return (
        [result for result, old in both if is_worse(result, old)],
        [result for result in kept if not isinstance(result, Verdict)],
    )


def misfit(report: CoverageReport, limits: Limits) -> str:
    """Why the limits do not fit the report; empty if they do."""
    tags = {tag for result in report.results for tag in result.fact.tags}
    if unknown := [tag for tag in limits.tags if tag not in tags]:
        return f"no fact has the tag {quote_text(unknown[0])!r}, which has a threshold"
    if (baseline := limits.baseline) is None:
        return ""
    again = "; make the baseline again"
    digests = report.facts.source_digest, baseline.facts.source_digest
    if None not in digests and digests[0] != digests[1]:
        return f"the baseline is about another source{again}"
    own, other = (_judged_how(one) for one in (report, baseline))
    for name in (name for name in {**other, **own} if own.get(name) != other.get(name)):
        old, new = (quote_text(entries.get(name, "default")) for entries in (other, own))
        return f"the baseline was scored in another way ({name} {old}, now {new}){again}"
    facts, before = results_by_fact(report), results_by_fact(baseline)
    for missing, where in (
        ([key for key in facts if key not in before], "missing in the baseline"),
        ([key for key in before if key not in facts], "in the baseline only"),
    ):
        if missing:
            first = quote_text(missing[0][0])
            return f"{plural(len(missing), 'fact')} {where}, such as {first!r}{again}"
    return ""


def _judged_how(report: CoverageReport) -> dict[str, str]:
    """The entries of the signature that shape a verdict on a given fact."""
    by_extractor = {"extractor", "version", *dict(report.facts.made_by)}
    entries = made_how(report.signature)
    return {name: value for name, value in entries.items() if name not in by_extractor}


def _too_many(n_distorted: int, most: int | None, results: Sequence[CheckResult] = ()) -> str:
    if most is None or n_distorted <= most:
        return ""
    what = f"distorted, more than {most}"
    return _named(results, what) or f"{plural(n_distorted, 'fact')} {what}"


def _named(results: Sequence[CheckResult], what: str) -> str:
    """How many facts, and the ids of the first; empty if there are none."""
    if not results:
        return ""
    names = ", ".join(one_line(result.fact.id) for result in results[:_MAX_NAMES])
    dots = ", …" if len(results) > _MAX_NAMES else ""
    return f"{plural(len(results), 'fact')} {what}: {names}{dots}"


def run_gate(
    tally: Tally, threshold: float | None = None, max_distorted: int | None = None
) -> GateFailure | None:
    """Gate on a run over many records.

    Args:
        tally: What the run came to.
        threshold: Minimum mean score in [0, 1]; `None`: only whether the run is complete counts.
        max_distorted: Maximum number of distorted facts in all records.
    """
    if (failure := _incomplete(tally)) is not None:
        return failure
    if n_failed := sum(tally.failures.values()):
        code = InputError.exit_code if set(tally.failures) == {"input"} else NOTHING_DECIDED
        verb = "has" if n_failed == 1 else "have"
        what = f"{plural(n_failed, 'record')} {verb} no report"
        return GateFailure(code, f"{what} ({tally.first_failure})")
    score = tally.score
    if score is None:
        return GateFailure(NOTHING_DECIDED, "nothing was scored: there are no records")
    lost = ""
    if tally.lost_musts:
        lost = f"{plural(tally.lost_musts, 'record')} lost a must fact ({tally.first_lost})"
    distorted = _too_many(tally.counts["distorted"], max_distorted)
    return _failed([lost, _below("mean score", score, threshold, 4), distorted])


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


def fields_gate(
    f1: float | None, low_f1: float, never_judged: str, no_verdict: str, threshold: float | None
) -> GateFailure | None:
    """Gate on a field evaluation.

    A value without a verdict is not held against the extractor, but the run passes only if it would
    with all of those wrong, too.

    Args:
        f1: Mean F1 over what was decided, in [0, 1]; `None` if nothing was.
        low_f1: Mean F1 if every value without a verdict were wrong, in [0, 1].
        never_judged: A field without a single verdict; empty if there is none.
        no_verdict: The field with most values without a verdict, and why.
        threshold: Minimum mean F1 in [0, 1]; `None`: anything that could be scored passes.
    """
    if f1 is None:
        why = no_verdict or "every field is skipped or absent"
        return GateFailure(NOTHING_DECIDED, f"nothing was scored: {why}")
    if threshold is None:
        return None
    if wrong := _below("mean F1", f1, threshold, 4):
        return _failed([wrong])
    unknown = f"no verdict on {never_judged}" if never_judged else ""
    if not unknown and (below := _below("mean F1", low_f1, threshold, 4)):
        unknown = f"{below} if every value without a verdict is wrong ({no_verdict})"
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
