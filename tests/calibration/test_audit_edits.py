"""Edits are made where their effect is certain, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.calibration import load_texts
from factcheck.calibration.audit_mutations import MUTATIONS, limited
from factcheck.calibration.audit_trials import paraphrases

SENTENCES = [
    fact.fact.text for text in load_texts() if text.language == "en" for fact in text.facts
]
EDITS = {"added limit": limited, **{kind: edit for kind, (_, edit) in MUTATIONS.items()}}
CHANGED = """
changed number: The ferry carried 240 men. -> The ferry carried 360 men.
changed number: The rent is 2,450 euros. -> The rent is 3,675 euros.
changed number: It has 2 doors. -> It has 4 doors.
changed date: It was held on 3 May 2021. -> It was held on 3 October 2021.
changed date: It was opened in 1987. -> It was opened in 1980.
changed name: The mayor thanked Ingrid. -> The mayor thanked Zorvath.
added negation: The tunnel was flooded. -> The tunnel was not flooded.
added negation: The tunnel will open. -> The tunnel will not open.
changed unit: It weighs 2.9 kilograms. -> It weighs 2.9 grams.
changed unit: It costs 1,200 dollars. -> It costs 1,200 euros.
changed unit: It cost 5 million euros. -> It cost 5 thousand euros.
changed quantity: All berths were sold. -> Some berths were sold.
changed quantity: All the berths were sold. -> Some of the berths were sold.
changed quantity: Each tablet is white. -> Not every tablet is white.
changed quantity: Most of the votes were lost. -> Few of the votes were lost.
changed quantity: There are eight channels. -> There are four channels.
changed quantity: Three members left. -> Two members left.
opposite word: Revenue rose by 8 per cent. -> Revenue fell by 8 per cent.
opposite word: The first alarm rang. -> The last alarm rang.
opposite word: It ends at noon. -> It starts at noon.
swapped roles: The mayor thanked Ingrid. -> Ingrid thanked the mayor.
swapped roles: Anna Holm succeeds Per Lie as chair. -> Per Lie succeeds Anna Holm as chair.
swapped roles: The tunnel was inspected by the Owner. -> The Owner was inspected by the tunnel.
swapped roles: The Orlo is heavier than the Kestrel. -> The Kestrel is heavier than the Orlo.
swapped roles: Debt fell from 5.2 to 3.1 in June. -> Debt fell from 3.1 to 5.2 in June.
swapped roles: The mayor thanked the fire brigade. -> The fire brigade thanked the mayor.
swapped roles: The tugs go into the lock. -> The lock goes into the tugs.
swapped roles: The pins were made by Ada. -> Ada was made by the pins.
swapped roles: The Owner leases a boat to the Lessee. -> The Lessee leases a boat to the Owner.
swapped roles: The seal must be fitted before the lid. -> The lid must be fitted before the seal.
lifted limit: It can only be sent by post. -> It can not only be sent by post.
lifted limit: Only members may vote. -> Not only members may vote.
lifted limit: All but one, except for Anna, left. -> All but one, including Anna, left.
added limit: The tent has two doors. -> Only the tent has two doors.
added limit: Maren Holt is a nurse. -> Only Maren Holt is a nurse.
"""
UNCHANGED = {
    "changed number": [
        "The rent is about 2,450 euros.", "It holds at least 3 people.",
        "The lease runs for 48 months.", "It must not be raised in the first 24 months.",
        "No more than 3 people fit in.", "H4 lost 5 seconds in 81 days.",
        "The gateway runs version 4.2.", "The stick is a TM-600.", "It happened on 3 May 2021.",
        "It was opened in 1987.", "See No. 7.", "It rained.",
    ],
    "changed date": [
        "It has been open since 1987.", "It will answer before the end of June.",
        "From May on it may rise.", "You may enter.", "It was held in May and in June.",
    ],
    "changed name": [
        "Ingrid left.", "It fell on Monday.", "The USB stick is blue.",
    ],
    "added negation": [
        "The tunnel was never flooded.", "No tunnel was flooded.", "The tunnel floods.",
        "He was ill and she was well.",
    ],
    "changed unit": [
        "It holds 0 kilograms.", "It takes at most 5 minutes.", "It runs every 10 minutes.",
        "It lapses if rent is 30 days late.", "It is 3 metres by 2 metres.",
    ],
    "changed quantity": [
        "Most recently it was red.", "All who were late paid.", "Not all berths were sold.",
        "Three of the eight members left.", "Twenty-three members left.",
        "It sold four times as many.", "It ran for six months.", "It is open three hundred days.",
    ],
    "opposite word": [
        "Revenue did not rise; it was lower.", "Notice is due before the lease ends.",
        "It rose and fell.", "It is closed when it is colder outside.",
    ],
    "swapped roles": [
        "The mayor met Ingrid.", "The mayor was accompanied by Ingrid.",
        "The mayor never thanked Ingrid.", "The mayor gave the pupils flowers.",
        "The pump is drained before the lid is removed.", "The loan was paid back to the bank.",
        "He hired Ingrid.", "The fleet grew from 1990 to 2005.",
        "The road goes from Oslo to Lund.",
    ],
    "lifted limit": [
        "It costs only 310 euros.", "The only door is red.", "It is not only red.",
    ],
    "added limit": [
        "The tent is the heaviest.", "The tent has the oldest door.",
        "The board has 60 per cent of the votes.", "Lunde is a part of Oslo.", "There was a fire.",
        "A metre has 100 centimetres.", "The fence would cost 600 crowns.",
        "The tent has not 2 doors.",
    ],
}  # fmt: skip
"""Sentences in which the effect of an edit would be uncertain."""


@pytest.mark.parametrize("line", CHANGED.strip().splitlines())
def test_a_sentence_is_changed(line: str) -> None:
    kind, _, both = line.partition(": ")
    sentence, changed = both.split(" -> ")
    assert EDITS[kind](sentence) == changed


@pytest.mark.parametrize("kind", EDITS)
def test_a_sentence_is_left_where_the_effect_is_uncertain(kind: str) -> None:
    assert [one for one in UNCHANGED[kind] if EDITS[kind](one) is not None] == []


@pytest.mark.parametrize("kind", MUTATIONS)
def test_each_kind_is_made_of_some_bundled_facts_and_never_leaves_one_as_it_was(kind: str) -> None:
    made = [EDITS[kind](sentence) for sentence in SENTENCES]
    if kind == "lifted limit":
        made = [one or limited(sentence) for one, sentence in zip(made, SENTENCES, strict=True)]
    is_rare = kind in {"swapped roles", "lifted limit"}
    assert sum(one is not None for one in made) >= (15 if is_rare else 10)
    for sentence, changed in zip(SENTENCES, made, strict=True):
        assert changed != sentence


@given(st.text(max_size=60))
def test_any_text_is_taken(text: str) -> None:
    for edit in EDITS.values():
        assert edit(text) != text
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
