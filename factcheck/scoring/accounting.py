"""One result per fact, whatever a checker returns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from factcheck.facts import AtomicFact, CheckFailure, CheckResult, FactSet, Verdict


def account(facts: FactSet, results: Sequence[Any], text: str) -> tuple[CheckResult, ...]:
    """Exactly one result per fact, in fact order, whatever a checker returned.

    A result for a fact that was not asked counts for nothing; a fact with none, or with more than
    one, is undecided. Evidence that does not stand in `text` where it says is taken away.
    """
    given: dict[str, list[CheckResult]] = {fact.id: [] for fact in facts}
    asked = {fact.id: fact for fact in facts}
    for result in results:
        is_result = isinstance(result, (Verdict, CheckFailure))
        if is_result and asked.get(result.fact.id) == result.fact:
            given[result.fact.id].append(result)
    return tuple(_only(fact, given[fact.id], text) for fact in facts)


def _only(fact: AtomicFact, got: Sequence[CheckResult], text: str) -> CheckResult:
    if len(got) == 1:
        return _with_true_evidence(got[0], text)
    code = "duplicate" if got else "missing"
    return CheckFailure(fact, code, f"the judge gave {len(got)} verdicts for this fact")


def _with_true_evidence(result: CheckResult, text: str) -> CheckResult:
    if isinstance(result, CheckFailure) or result.evidence is None:
        return result
    evidence = result.evidence
    if evidence.quote and text[evidence.start : evidence.end] == evidence.quote:
        return result
    return replace(result, evidence=None, flags=(*result.flags, "quote_not_found"))
