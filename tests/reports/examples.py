"""Reports to render."""

from __future__ import annotations

from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    CoverageReport,
    EntailmentLabel,
    Evidence,
    FactSet,
    ScoreSignature,
    Usage,
    Verdict,
)

NO_USAGE = Usage()
SIGNATURE = ScoreSignature.of({"judge": "scripted", "version": "0"})


def verdict(fact: AtomicFact, label: EntailmentLabel, quote: str = "", reason: str = "") -> Verdict:
    """A verdict with a quote that stands at the start of the text."""
    evidence = Evidence(quote, 0, len(quote)) if quote else None
    return Verdict(fact, label, evidence=evidence, reason=reason, judge="scripted")


def report_of(*results: CheckResult, usage: Usage = NO_USAGE) -> CoverageReport:
    facts = FactSet(tuple(result.fact for result in results))
    return CoverageReport(facts, results, usage, SIGNATURE)


def all_groups() -> CoverageReport:
    """Three kept, one distorted, two dropped, two undecided; one quote and one reason each."""
    fact = [AtomicFact(f"n{number}", f"Statement number-{number}.") for number in range(8)]
    return report_of(
        verdict(fact[0], "entailed", "quote-0", "reason-0"),
        verdict(fact[1], "neutral", "quote-1", "reason-1"),
        CheckFailure(fact[2], "unavailable", "message-2"),
        verdict(fact[3], "contradicted", "quote-3", "reason-3"),
        verdict(fact[4], "entailed"),
        verdict(fact[5], "neutral"),
        CheckFailure(fact[6], "invalid", "message-6"),
        verdict(fact[7], "entailed"),
    )


def both_directions() -> CoverageReport:
    """One fact, and four claims: supported, contradicted, not in the source, undecided."""
    fact = AtomicFact("f1", "The lake is deep.")
    claims = FactSet.of(["claim-one", "claim-two", "claim-three", "claim-four"])
    return CoverageReport(
        FactSet((fact,)),
        (verdict(fact, "entailed"),),
        NO_USAGE,
        SIGNATURE,
        claims,
        (
            verdict(claims[0], "entailed"),
            verdict(claims[1], "contradicted"),
            verdict(claims[2], "neutral"),
            CheckFailure(claims[3], "missing", "no answer"),
        ),
    )
