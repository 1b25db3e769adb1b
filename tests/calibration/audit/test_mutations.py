"""Changes are made where they are certain, and nowhere else."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.calibration.audit.mutations import (
    MUTATIONS,
    changed_date,
    changed_name,
    changed_number,
    negated,
)
from factcheck.calibration.audit.paraphrases import paraphrases
from factcheck.calibration.texts import load_texts

SENTENCES = [(fact.fact.text, text.language) for text in load_texts() for fact in text.facts]


@pytest.mark.parametrize(
    ("sentence", "changed"),
    [
        ("The ferry carried 240 passengers.", "The ferry carried 360 passengers."),
        ("The rent is 2,450 euros.", "The rent is 3,675 euros."),
        ("It has 2 doors.", "It has 4 doors."),
        ("The rent is about 2,450 euros.", None),
        ("It holds at least 3 people.", None),
        ("The lease runs for 48 months.", None),
        ("It must not be raised in the first 24 months.", None),
        ("No more than 3 people fit in.", None),
        ("H4 lost 5 seconds in 81 days.", None),
        ("The gateway runs version 4.2.", None),
        ("The stick is a TM-600.", None),
        ("It happened on 3 May 2021.", None),
        ("It was opened in 1987.", None),
        ("See No. 7.", None),
        ("It rained.", None),
    ],
)
def test_numbers(sentence: str, changed: str | None) -> None:
    assert changed_number(sentence, "en") == changed


@pytest.mark.parametrize(
    ("sentence", "language", "changed"),
    [
        ("It was held on 3 May 2021.", "en", "It was held on 3 October 2021."),
        ("It was opened in 1987.", "en", "It was opened in 1980."),
        ("Sie wurde im M\u00e4rz gebaut.", "de", "Sie wurde im August gebaut."),
        ("It has been open since 1987.", "en", None),
        ("It will answer before the end of June.", "en", None),
        ("From May on it may rise.", "en", None),
        ("You may enter.", "en", None),
        ("It was held in May and in June.", "en", None),
    ],
)
def test_dates(sentence: str, language: str, changed: str | None) -> None:
    assert changed_date(sentence, language) == changed


@pytest.mark.parametrize(
    ("sentence", "language", "changed"),
    [
        ("The mayor thanked Ingrid.", "en", "The mayor thanked Zorvath."),
        ("Ingrid left.", "en", None),
        ("It fell on Monday.", "en", None),
        ("The USB stick is blue.", "en", None),
        ("Der B\u00fcrgermeister dankte Ingrid.", "de", None),
    ],
)
def test_names(sentence: str, language: str, changed: str | None) -> None:
    assert changed_name(sentence, language) == changed


@pytest.mark.parametrize(
    ("sentence", "changed"),
    [
        ("The tunnel was flooded.", "The tunnel was not flooded."),
        ("The tunnel will open.", "The tunnel will not open."),
        ("The tunnel was never flooded.", None),
        ("No tunnel was flooded.", None),
        ("The tunnel floods.", None),
        ("He was ill and she was well.", None),
    ],
)
def test_negations(sentence: str, changed: str | None) -> None:
    assert negated(sentence, "en") == changed


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
