"""Conflicts between a passage and a fact: what is seen, and above all what is left alone."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factcheck.judges.local.analysis import analyse
from factcheck.judges.local.conflicts import Conflict, find_conflicts

WORDS = (
    *(
        "Anna",
        "hired",
        "fired",
        "Tom",
        "not",
        "never",
        "12",
        "21",
        "days",
        "weeks",
        "three",
        "July",
    ),
    *("14", "2021", "in", "on", "only", "all", "and", "the", "bridge", "was", "closed", "opened"),
    *("by", "no", "may", "before", "after", "€5", "half", "of", "at least", "\n", ".", ","),
)
sentences = st.lists(st.sampled_from(WORDS), max_size=14).map(" ".join)


def conflicts(fact: str, passage: str, language: str = "en") -> tuple[Conflict, ...]:
    return find_conflicts(analyse(fact, language), analyse(passage, language))


def kinds(fact: str, passage: str, language: str = "en") -> set[str]:
    return {conflict.kind for conflict in conflicts(fact, passage, language)}


@pytest.mark.parametrize(
    ("kind", "fact", "passage"),
    [
        ("number", "The bridge has 30 arches.", "The bridge has 40 arches."),
        ("number", "The fair drew less than 643 visitors.", "The fair drew over 646 visitors."),
        ("number", "He scored at least 13 goals.", "He scored seven goals."),
        ("number", "The plant cost 3.5 billion dollars.", "The plant cost 3.5 million dollars."),
        ("number", "32 people live in 8,250 villages.", "8,250 people live in 32 villages."),
        ("unit", "The strike lasted 30 days.", "The strike lasted 30 hours."),
        ("unit", "The bridge has a length of 40 metres.", "The bridge is 40 kilometres long."),
        ("date", "The treaty was signed on 15 July.", "The treaty was signed on July 14."),
        ("date", "The treaty was signed in 1990.", "The treaty was signed in 1986."),
        ("date", "The shop opens on Monday.", "The shop opens on Tuesday."),
        ("name", "The mayor of Berlin resigned.", "The mayor of Hamburg resigned."),
        ("negation", "Files were changed.", "It ran without changing a single file."),
        ("negation", "The union did not sign the deal.", "The union signed the deal."),
        ("negation", "Dragić joined the club.", "Dragić failed to join the club."),
        ("negation", "It is not true that the bridge closed.", "The bridge closed."),
        ("negation", "Ortega ordered the soup.", "Ortega ordered everything except the soup."),
        ("antonym", "Prices fell sharply.", "Prices rose sharply."),
        ("antonym", "The court acquitted him.", "The court convicted him."),
        ("antonym", "He arrived before the match.", "He arrived after the match."),
        ("antonym", "The data are included.", "The data are excluded."),
        ("role", "Anna Berg hired Tom Lund.", "Tom Lund hired Anna Berg."),
        ("role", "Anna Berg hired Tom Lund.", "Anna Berg was hired by Tom Lund."),
        ("role", "Acme sold the mill to Brick.", "Brick sold the mill to Acme."),
        ("role", "Rovers beat Riverside.", "Rovers lost to Riverside."),
        ("role", "Rovers are taller than Lynx.", "Lynx are taller than Rovers."),
        ("quantifier", "Only adults may enter.", "Adults and children may enter."),
        ("quantifier", "All delegates voted.", "Most delegates voted."),
        ("quantifier", "All delegates voted yes.", "All delegates except Ann voted yes."),
        ("hedge", "The bridge closed.", "The bridge may close."),
        ("hedge", "The firm bought the mill.", "The firm plans to buy the mill."),
    ],
)
def test_conflicts_are_seen(kind: str, fact: str, passage: str) -> None:
    assert kind in kinds(fact, passage)


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
        ("Half of the 80 workers left.", "40 of the 80 workers left."),
        ("The championship took place in 2007.", "It took place in 2007-08."),
        ("They met on January 21 and 28.", "They met on 21 and 28 January."),
        ("Obama spoke.", "Barack Obama spoke."),
        ("The UN met in Geneva.", "The United Nations met in Geneva."),
        ("The union did not sign.", "The union never signed."),
        ("The union did not sign.", "The union refused to sign."),
        ("It is not true that the bridge closed.", "The bridge did not close."),
        ("Ortega did not order the soup.", "Ortega ordered everything except the soup."),
        ("Lund did not open the door.", "Neither Lund nor Berg opened the door."),
        ("Berg did not open the door.", "Only Lund opened the door."),
        ("Not only Anna came.", "Anna came."),
        ("He was not able to go.", "He was unable to go."),
        ("Tom Lund was hired by Anna Berg.", "Anna Berg hired Tom Lund."),
        ("Brick bought the mill from Acme.", "Acme sold the mill to Brick."),
        ("Riverside lost to Rovers.", "Rovers beat Riverside."),
        ("Skarne lies south of Wexley.", "Wexley lies north of Skarne."),
        ("Anna married Tom.", "Tom married Anna."),
        ("Ships from Oslo and Bergen came.", "Ships from Bergen and Oslo came."),
        ("GM unveiled their car.", "The GM car was unveiled at a gala night in Shanghai."),
        ("Some delegates voted.", "All delegates voted."),
        ("Only adults may enter.", "Only adults and their dogs may enter."),
        ("The sky is blue.", "Prices rose by 12 percent in 1990."),
        ("", "Prices rose."),
        ("Prices rose.", ""),
    ],
)
def test_what_is_no_conflict_is_left_alone(fact: str, passage: str) -> None:
    assert kinds(fact, passage) == set()


def test_a_conflict_gives_both_wordings_and_where_they_stand() -> None:
    fact, passage = "The strike lasted 30 days.", "In May the strike lasted 30 hours."
    (found,) = conflicts(fact, passage)
    assert (found.kind, found.text_word, found.fact_word) == ("unit", "30 hours", "30 days")
    assert passage[found.text_span.start : found.text_span.end] == "30 hours"
    assert fact[found.fact_span.start : found.fact_span.end] == "30 days"
    assert found.contradicts


def test_a_hedge_does_not_contradict() -> None:
    (found,) = conflicts("The bridge closed.", "The bridge may close.")
    assert not found.contradicts


def test_a_name_that_stands_elsewhere_in_the_text_needs_the_very_same_place() -> None:
    fact = analyse("Greta Stewart scored goals.", "en")
    passage = analyse("Nadia Cole scored the only goals of the game.", "en")
    assert find_conflicts(fact, passage)
    assert not find_conflicts(fact, passage, known={"stewart"})


@pytest.mark.parametrize(
    ("fact", "passage", "language"),
    [
        ("Der Bau dauerte 21 Tage.", "Der Bau dauerte drei Wochen.", "de"),
        ("Die Brücke wurde gesperrt.", "Heute wurde die Brücke gesperrt.", "de"),
        ("Le pont est fermé.", "Mardi le pont est fermé.", "fr"),
    ],
)
def test_other_languages_are_left_alone_too(fact: str, passage: str, language: str) -> None:
    assert kinds(fact, passage, language) == set()


@pytest.mark.parametrize(
    ("fact", "passage", "language"),
    [
        ("Der Bau dauerte 30 Tage.", "Der Bau dauerte 30 Stunden.", "de"),
        ("Die Stadt hat die Brücke gesperrt.", "Die Stadt hat die Brücke nicht gesperrt.", "de"),
        ("Le pont mesure 40 mètres.", "Le pont mesure 50 mètres.", "fr"),
    ],
)
def test_numbers_and_negations_are_seen_in_other_languages(
    fact: str, passage: str, language: str
) -> None:
    assert kinds(fact, passage, language)


@pytest.mark.parametrize("negation", ["not", "n\u043et", "NOT", "n\u200bot"])
def test_look_alike_letters_hide_no_negation(negation: str) -> None:
    assert "negation" in kinds("The union signed.", f"The union did {negation} sign.")


@given(sentences)
@example("half Anna all Anna")
def test_a_text_is_in_no_conflict_with_itself(text: str) -> None:
    assert conflicts(text, text) == ()


@given(sentences, sentences)
def test_spans_are_the_wordings(fact: str, passage: str) -> None:
    for found in conflicts(fact, passage):
        assert passage[found.text_span.start : found.text_span.end] == found.text_word
        assert fact[found.fact_span.start : found.fact_span.end] == found.fact_word


@pytest.mark.parametrize(
    "part", ["not ", "1 ", "Ab ", "sold bridge ", "(not true that ", "may plan to ", "only all "]
)
def test_hostile_passages_are_compared(part: str) -> None:
    fact = analyse("Anna Berg did not sell 12 km of all bridges on 14 July 2021.", "en")
    hostile = analyse(part * 2_000, "en")
    assert len(hostile.quantities) <= 16
    for one, other in ((fact, hostile), (hostile, fact)):
        assert len(find_conflicts(one, other)) < 20
