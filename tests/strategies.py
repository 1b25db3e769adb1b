"""Hypothesis strategies for facts, verdicts and texts."""

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


@st.composite
def spans(draw: st.DrawFn) -> Span:
    """A half-open range."""
    start = draw(st.integers(0, 1000))
    return Span(start, start + draw(st.integers(0, 1000)))


@st.composite
def fact_lists(draw: st.DrawFn, min_size: int = 0, max_size: int = 12) -> tuple[AtomicFact, ...]:
    """Facts with unique ids."""
    count = draw(st.integers(min_size, max_size))
    return tuple(
        AtomicFact(
            id=f"f{number}",
            text=draw(prose),
            span=draw(st.none() | spans()),
            weight=draw(st.just(1.0) | weights),
            must=draw(st.booleans()),
            tags=tuple(draw(st.lists(prose, max_size=2))),
        )
        for number in range(1, count + 1)
    )


def results_for(fact: AtomicFact) -> st.SearchStrategy[CheckResult]:
    """Any verdict or failure for a fact."""
    evidence = st.builds(Evidence, prose, st.integers(0, 99), st.integers(100, 999))
    verdicts = st.builds(
        Verdict,
        fact=st.just(fact),
        label=st.sampled_from(LABELS),
        probability=st.none() | st.floats(0, 1),
        evidence=st.none() | evidence,
        reason=st.text(max_size=20),
        judge=st.text(max_size=10),
        cached=st.booleans(),
        flags=st.just(()) | st.just(("quote_not_found",)),
    )
    failures = st.builds(
        CheckFailure,
        fact=st.just(fact),
        code=st.sampled_from(["missing", "duplicate", "unavailable"]),
        message=st.text(max_size=20),
    )
    return verdicts | failures


@st.composite
def result_lists(draw: st.DrawFn, min_size: int = 0) -> tuple[CheckResult, ...]:
    """One result for each of some facts."""
    facts = draw(fact_lists(min_size=min_size))
    return tuple(draw(results_for(fact)) for fact in facts)
