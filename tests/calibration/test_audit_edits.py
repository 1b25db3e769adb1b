"""Edits are made where their effect is certain, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.calibration import load_texts
from factcheck.calibration.audit_trials import MUTATIONS, paraphrases

SENTENCES = [(fact.fact.text, text.language) for text in load_texts() for fact in text.facts]


@pytest.mark.parametrize(
    ("kind", "sentence", "language", "changed"),
    [
        ("changed number", "The ferry carried 240 men.", "en", "The ferry carried 360 men."),
        ("changed number", "The rent is 2,450 euros.", "en", "The rent is 3,675 euros."),
        ("changed number", "It has 2 doors.", "en", "It has 4 doors."),
        ("changed number", "The rent is about 2,450 euros.", "en", None),
        ("changed number", "It holds at least 3 people.", "en", None),
        ("changed number", "The lease runs for 48 months.", "en", None),
        ("changed number", "It must not be raised in the first 24 months.", "en", None),
        ("changed number", "No more than 3 people fit in.", "en", None),
        ("changed number", "H4 lost 5 seconds in 81 days.", "en", None),
        ("changed number", "The gateway runs version 4.2.", "en", None),
        ("changed number", "The stick is a TM-600.", "en", None),
        ("changed number", "It happened on 3 May 2021.", "en", None),
        ("changed number", "It was opened in 1987.", "en", None),
        ("changed number", "See No. 7.", "en", None),
        ("changed number", "It rained.", "en", None),
        ("changed date", "It was held on 3 May 2021.", "en", "It was held on 3 October 2021."),
        ("changed date", "It was opened in 1987.", "en", "It was opened in 1980."),
        ("changed date", "Sie wurde im M\u00e4rz gebaut.", "de", "Sie wurde im August gebaut."),
        ("changed date", "It has been open since 1987.", "en", None),
        ("changed date", "It will answer before the end of June.", "en", None),
        ("changed date", "From May on it may rise.", "en", None),
        ("changed date", "You may enter.", "en", None),
        ("changed date", "It was held in May and in June.", "en", None),
        ("changed name", "The mayor thanked Ingrid.", "en", "The mayor thanked Zorvath."),
        ("changed name", "Ingrid left.", "en", None),
        ("changed name", "It fell on Monday.", "en", None),
        ("changed name", "The USB stick is blue.", "en", None),
        ("changed name", "Der B\u00fcrgermeister dankte Ingrid.", "de", None),
        ("added negation", "The tunnel was flooded.", "en", "The tunnel was not flooded."),
        ("added negation", "The tunnel will open.", "en", "The tunnel will not open."),
        ("added negation", "The tunnel was never flooded.", "en", None),
        ("added negation", "No tunnel was flooded.", "en", None),
        ("added negation", "The tunnel floods.", "en", None),
        ("added negation", "He was ill and she was well.", "en", None),
    ],
)
def test_mutations(kind: str, sentence: str, language: str, changed: str | None) -> None:
    assert MUTATIONS[kind](sentence, language) == changed


@pytest.mark.parametrize("kind", MUTATIONS)
def test_each_kind_is_made_of_some_bundled_facts_and_never_leaves_one_as_it_was(kind: str) -> None:
    made = [MUTATIONS[kind](*sentence) for sentence in SENTENCES]
    assert sum(one is not None for one in made) >= 10
    for (sentence, _), changed in zip(SENTENCES, made, strict=True):
        assert changed != sentence


@given(st.text(max_size=60), st.sampled_from(["en", "de", "fr"]))
def test_any_text_is_taken(text: str, language: str) -> None:
    for mutate in MUTATIONS.values():
        assert mutate(text, language) != text
    list(paraphrases(text, language))


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
    assert way in list(paraphrases(sentence, "en"))
