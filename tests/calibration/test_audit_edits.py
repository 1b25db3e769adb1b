"""Edits are made where their effect is certain, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.calibration import load_texts
from factcheck.calibration.audit_mutations import MUTATIONS, limited
from factcheck.calibration.audit_trials import paraphrases

RARE = ("swapped roles", "lifted limit")
SENTENCES = [
    fact.fact.text for text in load_texts() if text.language == "en" for fact in text.facts
]


@pytest.mark.parametrize(
    ("kind", "sentence", "changed"),
    [
        ("changed number", "The ferry carried 240 men.", "The ferry carried 360 men."),
        ("changed number", "The rent is 2,450 euros.", "The rent is 3,675 euros."),
        ("changed number", "It has 2 doors.", "It has 4 doors."),
        ("changed number", "The rent is about 2,450 euros.", None),
        ("changed number", "It holds at least 3 people.", None),
        ("changed number", "The lease runs for 48 months.", None),
        ("changed number", "It must not be raised in the first 24 months.", None),
        ("changed number", "No more than 3 people fit in.", None),
        ("changed number", "H4 lost 5 seconds in 81 days.", None),
        ("changed number", "The gateway runs version 4.2.", None),
        ("changed number", "The stick is a TM-600.", None),
        ("changed number", "It happened on 3 May 2021.", None),
        ("changed number", "It was opened in 1987.", None),
        ("changed number", "See No. 7.", None),
        ("changed number", "It rained.", None),
        ("changed date", "It was held on 3 May 2021.", "It was held on 3 October 2021."),
        ("changed date", "It was opened in 1987.", "It was opened in 1980."),
        ("changed date", "It has been open since 1987.", None),
        ("changed date", "It will answer before the end of June.", None),
        ("changed date", "From May on it may rise.", None),
        ("changed date", "You may enter.", None),
        ("changed date", "It was held in May and in June.", None),
        ("changed name", "The mayor thanked Ingrid.", "The mayor thanked Zorvath."),
        ("changed name", "Ingrid left.", None),
        ("changed name", "It fell on Monday.", None),
        ("changed name", "The USB stick is blue.", None),
        ("added negation", "The tunnel was flooded.", "The tunnel was not flooded."),
        ("added negation", "The tunnel will open.", "The tunnel will not open."),
        ("added negation", "The tunnel was never flooded.", None),
        ("added negation", "No tunnel was flooded.", None),
        ("added negation", "The tunnel floods.", None),
        ("added negation", "He was ill and she was well.", None),
        ("changed unit", "It weighs 2.9 kilograms.", "It weighs 2.9 grams."),
        ("changed unit", "It costs 1,200 dollars.", "It costs 1,200 euros."),
        ("changed unit", "It holds 0 kilograms.", None),
        ("changed unit", "It takes at most 5 minutes.", None),
        ("changed unit", "It runs every 10 minutes.", None),
        ("changed unit", "It lapses if rent is 30 days late.", None),
        ("changed unit", "It is 3 metres by 2 metres.", None),
        ("changed unit", "It cost 5 million euros.", "It cost 5 thousand euros."),
        ("changed quantity", "All berths were sold.", "Some berths were sold."),
        ("changed quantity", "All the berths were sold.", "Some of the berths were sold."),
        ("changed quantity", "Each tablet is white.", "Not every tablet is white."),
        ("changed quantity", "Most of the votes were lost.", "Few of the votes were lost."),
        ("changed quantity", "Most recently it was red.", None),
        ("changed quantity", "All who were late paid.", None),
        ("changed quantity", "Not all berths were sold.", None),
        ("changed quantity", "There are eight channels.", "There are four channels."),
        ("changed quantity", "Three members left.", "Two members left."),
        ("changed quantity", "Three of the eight members left.", None),
        ("changed quantity", "Twenty-three members left.", None),
        ("changed quantity", "It sold four times as many.", None),
        ("changed quantity", "It ran for six months.", None),
        ("changed quantity", "It is open three hundred days.", None),
        ("opposite word", "Revenue rose by 8 per cent.", "Revenue fell by 8 per cent."),
        ("opposite word", "The first alarm rang.", "The last alarm rang."),
        ("opposite word", "It ends at noon.", "It starts at noon."),
        ("opposite word", "Revenue did not rise; it was lower.", None),
        ("opposite word", "Notice is due before the lease ends.", None),
        ("opposite word", "It rose and fell.", None),
        ("opposite word", "It is closed when it is colder outside.", None),
        ("swapped roles", "The mayor thanked Ingrid.", "Ingrid thanked the mayor."),
        (
            "swapped roles",
            "Anna Holm succeeds Per Lie as chair.",
            "Per Lie succeeds Anna Holm as chair.",
        ),
        (
            "swapped roles",
            "The tunnel was inspected by the Owner.",
            "The Owner was inspected by the tunnel.",
        ),
        (
            "swapped roles",
            "The Orlo is heavier than the Kestrel.",
            "The Kestrel is heavier than the Orlo.",
        ),
        (
            "swapped roles",
            "Debt fell from 5.2 to 3.1 in June.",
            "Debt fell from 3.1 to 5.2 in June.",
        ),
        ("swapped roles", "The mayor met Ingrid.", None),
        ("swapped roles", "The mayor was accompanied by Ingrid.", None),
        ("swapped roles", "The mayor never thanked Ingrid.", None),
        (
            "swapped roles",
            "The mayor thanked the fire brigade.",
            "The fire brigade thanked the mayor.",
        ),
        ("swapped roles", "The tugs go into the lock.", "The lock goes into the tugs."),
        ("swapped roles", "The pins were made by Ada.", "Ada was made by the pins."),
        (
            "swapped roles",
            "The Owner leases two boats to the Lessee.",
            "The Lessee leases two boats to the Owner.",
        ),
        (
            "swapped roles",
            "The seal must be fitted before the lid.",
            "The lid must be fitted before the seal.",
        ),
        ("swapped roles", "The mayor gave the pupils flowers.", None),
        ("swapped roles", "The pump is drained before the lid is removed.", None),
        ("swapped roles", "The loan was paid back to the bank.", None),
        ("swapped roles", "He hired Ingrid.", None),
        ("swapped roles", "The fleet grew from 1990 to 2005.", None),
        ("swapped roles", "The road goes from Oslo to Lund.", None),
        ("lifted limit", "It can only be sent by post.", "It can not only be sent by post."),
        ("lifted limit", "Only members may vote.", "Not only members may vote."),
        (
            "lifted limit",
            "All but one, except for Anna, left.",
            "All but one, including Anna, left.",
        ),
        ("lifted limit", "It costs only 310 euros.", None),
        ("lifted limit", "The only door is red.", None),
        ("lifted limit", "It is not only red.", None),
    ],
)
def test_mutations(kind: str, sentence: str, changed: str | None) -> None:
    assert MUTATIONS[kind][1](sentence) == changed


@pytest.mark.parametrize("kind", MUTATIONS)
def test_each_kind_is_made_of_some_bundled_facts_and_never_leaves_one_as_it_was(kind: str) -> None:
    made = [MUTATIONS[kind][1](sentence) for sentence in SENTENCES]
    if kind == "lifted limit":
        made = [one or limited(sentence) for one, sentence in zip(made, SENTENCES, strict=True)]
    assert sum(one is not None for one in made) >= (15 if kind in RARE else 10)
    for sentence, changed in zip(SENTENCES, made, strict=True):
        assert changed != sentence


@pytest.mark.parametrize(
    ("sentence", "changed"),
    [
        ("The tent has two doors.", "Only the tent has two doors."),
        ("Maren Holt is a nurse.", "Only Maren Holt is a nurse."),
        ("The tent is the heaviest.", None),
        ("The tent has the oldest door.", None),
        ("The board has 60 per cent of the votes.", None),
        ("Lunde is a part of Oslo.", None),
        ("There was a fire.", None),
        ("A metre has 100 centimetres.", None),
        ("The fence would cost 600 crowns.", None),
        ("The tent has not 2 doors.", None),
    ],
)
def test_a_limit_is_added_where_others_can_do_the_same(sentence: str, changed: str | None) -> None:
    assert limited(sentence) == changed


@given(st.text(max_size=60))
def test_any_text_is_taken(text: str) -> None:
    for _, mutate in MUTATIONS.values():
        assert mutate(text) != text
    assert limited(text) != text
    list(paraphrases(text))


@pytest.mark.parametrize(
    ("sentence", "way"),
    [
        ("It was not flooded.", "It wasn't flooded."),
        ("It rose by 12 per cent.", "It rose by 12%."),
        ("It has 3 doors.", "It has three doors."),
        ("It costs 2,450 euros.", "It costs 2450 euros."),
        ("It was held on 3 May.", "It was held on May 3."),
        ("It stands in the centre.", "It stands in the center."),
        ("The mayor's car is red.", "The mayor\u2019s car is red."),
        ("It rained in Oslo.", "It  rained  in  Oslo."),
    ],
)
def test_a_sentence_is_written_in_another_way(sentence: str, way: str) -> None:
    assert way in list(paraphrases(sentence))
