"""Decide whether a result lets a build pass: thresholds on coverage, runs, fields and cases.

A gate takes values and returns a `GateFailure` or `None`; it prints nothing and ends nothing. The
rule for all of them: what has no verdict never helps to pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from factcheck.errors import InputError, JudgeError
from factcheck.facts import CheckResult, CoverageReport, Verdict, share_entailed
from factcheck.facts.page import lost_musts
from factcheck.reports.text import one_line, plural, quote_text
from factcheck.scoring.run_report import Tally

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
    return next(_coverage_failures(report, limits), None)


def _coverage_failures(report: CoverageReport, limits: Limits) -> Iterator[GateFailure]:
    """Why a report does not pass; the first reason has precedence."""
    if report.results and len(report.undecided) == len(report.results):
        first = report.undecided[0]
        why = f"no verdict on any fact ({first.code}: {first.message}); run it again"
        yield GateFailure(NOTHING_DECIDED, why)
    if problem := misfit(report, limits):
        yield GateFailure(InputError.exit_code, problem)
    reasons = [lost_musts(report.results)]
    shares = [("score", report.results, limits.fail_under)]
    for tag, threshold in limits.tags.items():
        tagged = tuple(result for result in report.results if tag in result.fact.tags)
        shares.append((f"score of #{one_line(tag)}", tagged, threshold))
    for name, results, least in shares:
        score = share_entailed(results).value
        if score is None and least is not None:
            what = f"no {name} to compare with {least:g}"
            yield GateFailure(NOTHING_DECIDED, f"{what}: no fact that has weight was decided")
        reasons.append(_below(name, score, least, 2))
    reasons.append(_too_many(report.counts["distorted"], limits.max_distorted, report.distorted))
    worse, unknown = _since(report, limits.baseline)
    yield from _failed(*reasons, _named(worse, "came out worse than in the baseline"))
    if said := _named(unknown, "kept in the baseline and undecided now"):
        yield GateFailure(NOTHING_DECIDED, f"the gate cannot pass: {said}")


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
    before = baseline.by_fact
    both = [(result, before[key]) for key, result in report.by_fact.items()]
    kept = (result for result, old in both if isinstance(old, Verdict) and old.supported)
    return (
        [result for result, old in both if is_worse(result, old)],
        [result for result in kept if not isinstance(result, Verdict)],
    )


def misfit(report: CoverageReport, limits: Limits) -> str:
    """Why the limits do not fit the report; empty if they do."""
    tags = {tag for fact in report.facts for tag in fact.tags}
    for unknown in (tag for tag in limits.tags if tag not in tags):
        return f"no fact has the tag {quote_text(unknown)!r}, which has a threshold"
    problem = _strangeness(report, limits.baseline) if limits.baseline else ""
    return problem and f"{problem}; make the baseline again"


def _strangeness(report: CoverageReport, baseline: CoverageReport) -> str:
    """Why a report is not comparable with its baseline, fact by fact; empty if it is."""
    digests = report.facts.source_digest, baseline.facts.source_digest
    if None not in digests and digests[0] != digests[1]:
        return "the baseline is about another source"
    by_extractor = {"extractor", "version", *dict(report.facts.made_by + baseline.facts.made_by)}
    for name, values in baseline.signature.changes(report.signature).items():
        if name not in by_extractor:
            old, new = map(quote_text, values)
            return f"the baseline was scored in another way ({name} {old}, now {new})"
    facts, before = report.by_fact, baseline.by_fact
    for missing, where in (
        ([text for text, n in facts if (text, n) not in before], "missing in the baseline"),
        ([text for text, n in before if (text, n) not in facts], "in the baseline only"),
    ):
        if missing:
            return f"{plural(len(missing), 'fact')} {where}, such as {quote_text(missing[0])!r}"
    return ""


def _too_many(n_distorted: int, most: int | None, results: Sequence[CheckResult] = ()) -> str:
    if most is None or n_distorted <= most:
        return ""
    what = f"distorted, more than {most}"
    return _named(results, what) or f"{plural(n_distorted, 'fact')} {what}"


def _named(results: Sequence[CheckResult], what: str) -> str:
    """How many facts, and the ids of the first; empty if there are none."""
    names = ", ".join(one_line(result.fact.id) for result in results[:_MAX_NAMES])
    dots = ", …" if len(results) > _MAX_NAMES else ""
    return names and f"{plural(len(results), 'fact')} {what}: {names}{dots}"


def run_gate(
    tally: Tally, threshold: float | None = None, max_distorted: int | None = None
) -> GateFailure | None:
    """Gate on a run: it has to be complete; then its mean score and distorted facts count.

    A mean score below `threshold`, in [0, 1], and more than `max_distorted` facts fail it.
    """
    return next(_run_failures(tally, threshold, max_distorted), None)


def _run_failures(
    tally: Tally, threshold: float | None, max_distorted: int | None
) -> Iterator[GateFailure]:
    if tally.interrupted:
        yield GateFailure(INTERRUPTED, "the run was interrupted")
    if tally.write_error:
        yield GateFailure(InputError.exit_code, tally.write_error)
    resume = "; continue with --resume" if tally.unfinished else ""
    if tally.budget_exhausted:
        said = f"the budget ended the run; this is the result so far{resume}"
        yield GateFailure(NOTHING_DECIDED, said)
    failures = [f"{row.id}: {row.message}" for row in tally.rows if row.code]
    if tally.unfinished:
        why = failures[0] if failures else "some facts could not be checked"
        what = _records(tally.unfinished, "is", "are")
        yield GateFailure(NOTHING_DECIDED, f"{what} not finished ({why}){resume}")
    if failures:
        code = InputError.exit_code if set(tally.failures) == {"input"} else NOTHING_DECIDED
        what = _records(len(failures), "has", "have")
        yield GateFailure(code, f"{what} no report ({failures[0]})")
    if tally.score is None:
        yield GateFailure(NOTHING_DECIDED, "nothing was scored: there are no records")
    lost = [f"{row.id}: {row.lost_must}" for row in tally.rows if row.lost_must]
    yield from _failed(
        f"{plural(len(lost), 'record')} lost a must fact ({lost[0]})" if lost else "",
        _below("mean score", tally.score, threshold, 4),
        _too_many(tally.counts["distorted"], max_distorted),
    )


def _records(n: int, one: str, several: str) -> str:
    return f"{plural(n, 'record')} {one if n == 1 else several}"


def cases_gate(
    name: str, score: float | None, threshold: float | None, errors: Sequence[tuple[str, str]]
) -> GateFailure | None:
    """Gate on the mean over cases, such as `mean F1`; both numbers are in [0, 1].

    `errors` are the ids and messages of cases that could not be scored: with a threshold they fail
    it. Without a score, which is `None`, nothing was decided.
    """
    first = f"{errors[0][0]}: {errors[0][1]}" if errors else ""
    if score is None:
        return GateFailure(NOTHING_DECIDED, f"no case could be scored ({first})")
    if threshold is None:
        return None
    failed = f"{plural(len(errors), 'case')} could not be scored ({first})" if errors else ""
    return next(_failed(_below(name, score, threshold, 3), failed), None)


def fields_gate(
    f1: float | None, low_f1: float, never_judged: str, no_verdict: str, threshold: float | None
) -> GateFailure | None:
    """Gate on a field evaluation; without a threshold, anything that could be scored passes.

    A value without a verdict is not held against the extractor, but the run passes only if it would
    with all of those wrong, too: `low_f1` is the mean F1 then, in [0, 1] as `f1` is. The others are
    a field without a single verdict, and that with most values without one; each may be empty.
    """
    if f1 is None:
        why = no_verdict or "every field is skipped or absent"
        return GateFailure(NOTHING_DECIDED, f"nothing was scored: {why}")
    for failure in _failed(_below("mean F1", f1, threshold, 4)):
        return failure
    unknown = _below("mean F1", low_f1, threshold, 4)
    if unknown:
        unknown += f" if every value without a verdict is wrong ({no_verdict})"
    if threshold is not None and never_judged:
        unknown = f"no verdict on {never_judged}"
    return GateFailure(NOTHING_DECIDED, f"the gate cannot pass: {unknown}") if unknown else None


def comparison_gate(worse: str, lost: Sequence[str], no_verdict: str = "") -> GateFailure | None:
    """Gate on a comparison: how run B is worse, and the cases that only run A has a score for.

    `no_verdict` says why it is unknown whether B is worse; each may be empty.
    """
    if no_verdict and not worse:
        return GateFailure(NOTHING_DECIDED, f"the gate cannot pass: {no_verdict}")
    missing = ""
    if lost:
        verb = "has" if len(lost) == 1 else "have"
        missing = f"{plural(len(lost), 'case')} {verb} no score in run B ({lost[0]})"
    return next(_failed(f"run B is worse ({worse})" if worse else "", missing), None)


def strict_gate(n_found: int, noun: str) -> GateFailure | None:
    """Gate on what was found, such as lint findings or faults of a judge: any of it fails it."""
    return next(_failed(f"{plural(n_found, noun)} (--strict)" if n_found else ""), None)


def _failed(*reasons: str) -> Iterator[GateFailure]:
    """The failure for these reasons, if one of them is not empty."""
    if said := "; ".join(filter(None, reasons)):
        yield GateFailure(GATE_FAILED, f"gate failed: {said}")


def _below(name: str, score: float | None, threshold: float | None, digits: int) -> str:
    """`NAME 0.67 is under 0.7`, with as many digits as it takes to see it; empty if it is not."""
    if score is None or threshold is None or score >= threshold - _ROUNDING:
        return ""
    while float(f"{score:.{digits}f}") >= threshold:
        digits += 1
    return f"{name} {score:.{digits}f} is under {threshold:g}"
