"""Coverage obeys the laws of a weighted share with unknowns."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from factcheck.facts import AtomicFact, CheckFailure, CheckResult, Verdict, share_entailed
from tests.strategies import result_lists


def verdict(label: str, weight: float = 1.0, number: int = 1) -> Verdict:
    return Verdict(AtomicFact(f"f{number}", "A is B.", weight=weight), label)  # type: ignore[arg-type]


def failure(weight: float = 1.0) -> CheckFailure:
    return CheckFailure(AtomicFact("f9", "A is B.", weight=weight), "missing", "no answer")


def renamed(result: CheckResult) -> CheckResult:
    return replace(result, fact=replace(result.fact, id=result.fact.id + "x"))


def test_an_undecided_fact_is_outside_the_score_and_weights_count_as_that_many_facts() -> None:
    share = share_entailed([verdict("entailed"), verdict("neutral"), failure()])
    assert share.value == 0.5
    assert (share.low, share.high) == pytest.approx((1 / 3, 2 / 3))
    assert share_entailed([verdict("entailed", 3.0), verdict("contradicted", 1.0)]).value == 0.75


@pytest.mark.parametrize("results", [[], [failure()], [verdict("entailed", 0.0)]])
def test_nothing_decided_is_no_score_rather_than_a_number(results: list[CheckResult]) -> None:
    share = share_entailed(results)
    assert share.value is None
    assert share.interval is None
    assert (share.low, share.high) == (0.0, 1.0)


@given(result_lists())
def test_score_bounds_and_interval_stay_in_order_and_in_range(
    results: tuple[CheckResult, ...],
) -> None:
    share = share_entailed(results)
    assert 0.0 <= share.low <= share.high <= 1.0
    if share.value is not None:
        assert share.interval is not None
        assert share.low <= share.value <= share.high
        assert 0.0 <= share.interval.low <= share.value <= share.interval.high <= 1.0


@given(result_lists(), st.randoms())
def test_order_does_not_matter(results: tuple[CheckResult, ...], random: object) -> None:
    shuffled = list(results)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert share_entailed(shuffled) == share_entailed(results)


@given(result_lists(min_size=1), st.data())
def test_flipping_a_verdict_to_entailed_never_lowers_the_score(
    results: tuple[CheckResult, ...], data: st.DataObject
) -> None:
    index = data.draw(st.integers(0, len(results) - 1))
    flipped = results[index]
    assume(isinstance(flipped, Verdict))
    assert isinstance(flipped, Verdict)
    better = [*results[:index], replace(flipped, label="entailed"), *results[index + 1 :]]
    before, after = share_entailed(results), share_entailed(better)
    assert after.value is None or before.value is None or after.value >= before.value
    assert after.low >= before.low


@given(result_lists())
def test_repeating_all_facts_keeps_the_score(results: tuple[CheckResult, ...]) -> None:
    once = share_entailed(results)
    twice = share_entailed([*results, *map(renamed, results)])
    assert twice.value == (once.value if once.value is None else pytest.approx(once.value))


@given(result_lists())
def test_a_failure_widens_the_bounds_and_leaves_the_score(results: tuple[CheckResult, ...]) -> None:
    heaviest = max((result.fact.weight for result in results), default=1.0)
    before = share_entailed(results)
    after = share_entailed([*results, failure(heaviest)])
    assert after.value == before.value
    assert after.low <= before.low + 1e-12
    assert after.high >= before.high - 1e-12
