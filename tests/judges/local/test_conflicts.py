"""Conflicts between a passage and a fact: what is seen, and above all what is left alone."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factcheck.judges.local.conflicts import analyse, find_conflict

WORDS = (
    "Anna", "hired", "fired", "Tom", "not", "never", "12", "21", "days", "weeks", "three", "July",
    "14", "2021", "in", "on", "only", "all", "and", "the", "bridge", "was", "closed", "opened",
    "by", "no", "may", "before", "after", "€5", "half", "of", "at least", "\n", ".", ",",
)  # fmt: skip
sentences = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)


def conflict(fact: str, passage: str) -> str | None:
    return find_conflict(analyse(fact), analyse(passage))


@pytest.mark.parametrize(
    ("reason", "fact", "passage"),
    [
        ("says 40, the fact says 30", "The bridge has 30 arches.", "The bridge has 40 arches."),
        ("says 646, the fact says 643",
         "The fair drew less than 643 visitors.", "The fair drew over 646 visitors."),
        ("says seven, the fact says 13", "He scored at least 13 goals.", "He scored seven goals."),
        ("says 3.5 million dollars, the fact says 3.5 billion dollars",
         "The plant cost 3.5 billion dollars.", "The plant cost 3.5 million dollars."),
        ("says 8,250, the fact says 32",
         "32 people live in 8,250 villages.", "8,250 people live in 32 villages."),
        ("says 30 hours, the fact says 30 days",
         "The strike lasted 30 days.", "In May the strike lasted 30 hours."),
        ("says 40 kilometres, the fact says 40 metres",
         "The bridge has a length of 40 metres.", "The bridge is 40 kilometres long."),
        ("says July 14, the fact says 15 July",
         "The treaty was signed on 15 July.", "The treaty was signed on July 14."),
        ("says 1986, the fact says 1990",
         "The treaty was signed in 1990.", "The treaty was signed in 1986."),
        ("says Tuesday, the fact says Monday",
         "The shop opens on Monday.", "The shop opens on Tuesday."),
        ("says 18:25, the fact says 08:25",
         "At 08:25 Anna rang the bell.", "Anna rang the bell 18:25 and Tom left at 18:40."),
        ("says 12 euros, the fact says 11 euros",
         "The fee rises from 9 to 11 euros.", "The fee is 12 euros instead of 9."),
        ("has Anna Berg and Tom Lund the other way round",
         "Anna Berg hired Tom Lund.", "Tom Lund hired Anna Berg."),
        ("has Rovers and Lynx the other way round",
         "Rovers are taller than Lynx.", "Lynx are taller than Rovers."),
    ],
)  # fmt: skip
def test_a_conflict_gives_both_wordings(reason: str, fact: str, passage: str) -> None:
    assert conflict(fact, passage) == reason


@pytest.mark.parametrize(
    ("fact", "passage"),
    [
        ("It was signed on 14 July.", "It was signed on July 14th, 2021."),
        ("The strike lasted 21 days.", "The strike lasted three weeks."),
        ("The film runs for two hours.", "The film runs for 120 minutes."),
        ("It cost 5 euros.", "It cost €5."),
        ("It cost 1.2 million.", "It cost 1,234,567."),
        ("A dozen ships sank.", "12 ships sank."),
        ("He scored at least five goals.", "He scored seven goals."),
        ("54 people came.", "31 men and 23 women came."),
        ("59 boats remained in Ulm.", "Of 72 boats in Ulm, 13 left."),
        ("Half of the 80 workers left.", "40 of the 80 workers left."),
        (
            "The first tram entered the depot on 17 March 2025.",
            "In February 2023 the council decided to rebuild the tram depot first.",
        ),
        ("The championship took place in 2007.", "It took place in 2007-08."),
        ("The UN met in Geneva.", "The United Nations met in Geneva."),
        ("Tom Lund was hired by Anna Berg.", "Anna Berg hired Tom Lund."),
        ("Brick bought the mill from Acme.", "Acme sold the mill to Brick."),
        ("Riverside lost to Rovers.", "Rovers beat Riverside."),
        ("Anna married Tom.", "Tom married Anna."),
        ("Ships from Oslo and Bergen came.", "Ships from Bergen and Oslo came."),
        ("The sky is blue.", "Prices rose by 12 percent in 1990."),
        ("", "Prices rose."),
        ("Prices rose.", ""),
    ],
)
def test_what_is_no_conflict_is_left_alone(fact: str, passage: str) -> None:
    assert conflict(fact, passage) is None


@given(sentences)
@example("half Anna all Anna")
def test_a_text_is_in_no_conflict_with_itself(text: str) -> None:
    assert conflict(text, text) is None


@pytest.mark.parametrize(
    "part", ["not ", "1 ", "Ab ", "sold bridge ", "(not true that ", "may plan to ", "only all "]
)
def test_hostile_passages_are_compared(part: str) -> None:
    fact = analyse("Anna Berg did not sell 12 km of all bridges on 14 July 2021.")
    hostile = analyse(part * 2_000)
    assert len(hostile.quantities) <= 16
    assert find_conflict(fact, hostile) is None
    assert find_conflict(hostile, fact) is None
