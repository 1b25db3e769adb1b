"""Facts that say the same thing twice, and which of them is kept."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.facts import AtomicFact
from factcheck.judges.llm.extractor import drop_near_duplicates


def kept(*texts: str) -> list[str]:
    facts = [AtomicFact(f"f{number}", text) for number, text in enumerate(texts, 1)]
    return [fact.text for fact in drop_near_duplicates(facts)]


DUPLICATES = [
    ("The bridge was closed.", "The bridge was closed."),
    ("The bridges were closed in May.", "The bridge was closed in May."),
    ("The bridge was closed.", "The old bridge was closed in May."),
    ("In 2019, Ulm closed 3 bridges.", "Ulm closed 3 bridges in 2019."),
    ("THE BRIDGE WAS CLOSED.", "The bridge was closed."),
    ("Die Brücke wurde gesperrt.", "Die alte Brücke wurde im Mai gesperrt."),
]


@pytest.mark.parametrize(("one", "other"), DUPLICATES)
def test_of_near_duplicates_the_longer_one_is_kept(one: str, other: str) -> None:
    (winner,) = kept(one, other)
    n_words = [len(text.split()) for text in (one, other)]
    assert len(winner.split()) == max(n_words)


DIFFERENT = {
    "numbers": ("The bridge cost 3 million euros.", "The bridge cost 4 million euros."),
    "negation": ("The bridge was closed.", "The bridge was not closed in May."),
    "roles": ("Anna Kern paid Tom Orr.", "Tom Orr paid Anna Kern."),
    "order": ("Sales rose from 5 to 7 euros.", "Sales rose from 7 to 5 euros."),
    "report": ("The bridge was closed.", "The mayor denied the bridge was closed."),
    "possibility": ("The bridge was closed.", "The bridge might have been closed in May."),
    "German": ("Die Brücke wurde gesperrt.", "Die Brücke wurde im Mai nicht gesperrt."),
}


@pytest.mark.parametrize(("one", "other"), DIFFERENT.values(), ids=DIFFERENT)
def test_what_differs_in_substance_is_kept(one: str, other: str) -> None:
    assert kept(one, other) == [one, other]
    assert kept(other, one) == [other, one]


FACTS = st.lists(
    st.lists(
        st.sampled_from(["bridge", "mill", "Ulm", "3", "4", "not", "closed", "old", "the", "may"]),
        min_size=1,
        max_size=6,
    ).map(" ".join),
    max_size=12,
).map(lambda texts: [AtomicFact(f"f{number}", text) for number, text in enumerate(texts)])


@given(FACTS)
def test_kept_facts_keep_their_order_and_need_no_second_pass(facts: list[AtomicFact]) -> None:
    once = drop_near_duplicates(facts)
    assert [fact for fact in facts if fact in once] == list(once)
    assert bool(once) == bool(facts)
    assert drop_near_duplicates(once) == once
