"""Hypothesis strategies for texts and for results of facts."""

from __future__ import annotations

from hypothesis import strategies as st

from factcheck.facts import (
    LABELS,
    AtomicFact,
    CheckFailure,
    CheckResult,
    Evidence,
    Span,
    Verdict,
)

prose = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40).filter(
    lambda text: bool(text.strip())
)
weights = st.floats(min_value=0.0, max_value=1e308, allow_nan=False)


spans = st.tuples(st.integers(0, 1000), st.integers(0, 1000)).map(lambda n: Span(n[0], sum(n)))


def results_for(fact_id: str) -> st.SearchStrategy[CheckResult]:
    """Any verdict or failure for a fact with this id."""
    facts = st.builds(
        AtomicFact,
        st.just(fact_id),
        prose,
        span=st.none() | spans,
        weight=st.just(1.0) | weights,
        must=st.booleans(),
        tags=st.lists(prose, max_size=2).map(tuple),
    )
    verdicts = st.builds(
        Verdict,
        facts,
        st.sampled_from(LABELS),
        probability=st.none() | st.floats(0, 1),
        evidence=st.none() | st.builds(Evidence, prose, st.integers(0, 99), st.integers(100, 999)),
        reason=st.text(max_size=20),
        judge=st.text(max_size=10),
        cached=st.booleans(),
        flags=st.just(()) | st.just(("quote_not_found",)),
    )
    codes = st.sampled_from(["missing", "duplicate", "unavailable"])
    return verdicts | st.builds(CheckFailure, facts, codes, st.text(max_size=20))


@st.composite
def result_lists(draw: st.DrawFn, min_size: int = 0) -> tuple[CheckResult, ...]:
    """One result for each of some facts with unique ids."""
    count = draw(st.integers(min_size, 12))
    return tuple(draw(results_for(f"f{number}")) for number in range(1, count + 1))
