"""The thresholds of a cascade: the best ones there are, measured on documents they never saw."""

from __future__ import annotations

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from benchmarks.cascade.fit import JudgedFact, Thresholds, fit_thresholds, sent_held_out

PROBABILITIES = st.sampled_from([0.0, 0.1, 0.2, 0.35, 0.5, 0.65, 0.9, 1.0])
JUDGED = st.builds(
    JudgedFact,
    st.sampled_from("abcd"),
    st.sampled_from([True, False, None]),
    st.one_of(st.none(), PROBABILITIES),
    st.booleans(),
)


def outcome(facts: list[JudgedFact], thresholds: Thresholds) -> tuple[int, int]:
    """How many facts stay, and how many of them are not what the second judge says."""
    low, high = thresholds
    stay = [f for f in facts if f.first is not None and not low < (f.probability or -1) < high]
    return len(stay), sum(fact.first != fact.second for fact in stay)


@given(st.lists(JUDGED, min_size=1, max_size=12), st.sampled_from([0.5, 0.8, 0.9, 1.0]))
def test_no_thresholds_keep_more_facts(facts: list[JudgedFact], target: float) -> None:
    limits = [0.0, 0.05, 0.15, 0.3, 0.4, 0.6, 0.8, 0.95, 1.0]
    all_ways = [Thresholds(*both) for both in product(limits, limits) if both[0] <= both[1]]
    outcomes = [outcome(facts, way) for way in all_ways]
    reached = [stay for stay, wrong in outcomes if wrong <= (1 - target) * len(facts) + 1e-9]
    fitted = fit_thresholds(facts, target)
    stay, wrong = outcome(facts, fitted)
    if reached:
        assert stay == max(reached)
        assert wrong <= (1 - target) * len(facts) + 1e-9
    else:
        assert (stay, wrong) == outcomes[all_ways.index(Thresholds(0.0, 1.0))]


def test_a_fact_is_sent_by_thresholds_of_other_documents_only() -> None:
    """What the second judge says about a document changes nothing about what it is asked there."""
    facts = [
        JudgedFact(document, p > 0.5, p, (p > 0.5) != (p in {0.4, 0.6}))
        for document in "abcdefgh"
        for p in (0.1, 0.4, 0.6, 0.9)
    ]
    before = sent_held_out(facts, 1.0)
    turned = [f._replace(second=not f.second) if f.document == "c" else f for f in facts]
    own = [place for place, fact in enumerate(facts) if fact.document == "c"]
    assert [sent_held_out(turned, 1.0)[place] for place in own] == [before[place] for place in own]
    assert before == [0.1 < fact.probability < 0.9 for fact in facts if fact.probability]
