"""The bundled texts are what they are said to be."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

import pytest
import snowballstemmer
from sentencex import segment  # type: ignore[import-untyped]
from wordfreq import top_n_list

from factcheck.calibration import BundledText, load_texts

TEXTS = load_texts()
STEMMERS = {"en": "english", "de": "german"}
every_text = pytest.mark.parametrize("text", TEXTS, ids=lambda text: text.name)


def test_there_are_twelve_over_different_fields_and_one_is_not_english() -> None:
    assert len(TEXTS) >= 12
    assert len({text.field for text in TEXTS}) == len(TEXTS)
    assert {text.language for text in TEXTS} > {"en"}


@every_text
def test_sources_summaries_and_facts_are_like_real_ones(text: BundledText) -> None:
    assert 400 <= len(text.source.split()) <= 1500
    assert 6 <= len(text.bullets) <= 12
    assert len(text.facts) >= 15
    assert None not in [fact.fact.span for fact in text.facts]
    assert len({fact.fact.id for fact in text.facts}) == len(text.facts)
    assert len({fact.fact.text for fact in text.facts}) == len(text.facts)


@every_text
def test_facts_are_carried_dropped_or_distorted_and_every_bullet_counts(text: BundledText) -> None:
    carried = [fact for fact in text.facts if fact.bullets]
    distorted = [fact for fact in text.facts if fact.distorted_by]
    assert not set(carried) & set(distorted)
    assert 0.5 <= len(carried) / len(text.facts) <= 0.8
    assert 1 <= len(distorted) <= 3
    assert len(text.facts) - len(carried) - len(distorted) >= 3
    spoken = frozenset[int]().union(*(fact.bullets | fact.distorted_by for fact in text.facts))
    assert spoken == set(range(len(text.bullets)))
    assert text.expected(spoken) == len(carried) / len(text.facts) > text.expected(()) == 0.0


@every_text
def test_bullets_paraphrase(text: BundledText) -> None:
    """At most half of the content words of a bullet are those of any one sentence."""
    sentences = [
        content_words(sentence, text.language)
        for paragraph in text.source.split("\n")
        for sentence in segment(text.language, paragraph)
        if sentence.strip()
    ]
    for bullet in text.bullets:
        words = content_words(bullet, text.language)
        assert max(len(words & sentence) for sentence in sentences) / len(words) <= 0.5, bullet


def content_words(text: str, language: str) -> frozenset[str]:
    """Stems of the words of a text that are not among the 150 most common ones."""
    words = set(re.findall(r"\w+", text.casefold())) - common_words(language)
    return frozenset(stemmer(language).stemWord(word) for word in words)


@lru_cache
def stemmer(language: str) -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer(STEMMERS[language])


@lru_cache
def common_words(language: str) -> frozenset[str]:
    common: Iterable[str] = top_n_list(language, 150)
    return frozenset(common)
