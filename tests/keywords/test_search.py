"""Looking for many keywords at once finds what `in` finds, for any keywords and any texts."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factcheck.keywords import AnyOf, Folded, Not, Regex, Word
from factcheck.keywords.forms import as_keyword, occurs
from factcheck.keywords.search import SEPARATOR, KeywordSearch
from tests.keywords.strategies import any_text, keywords, texts, texts_with

MANY = 20
"""Texts that make an automaton worth while."""


def by_in(words: list[str], searched: list[str]) -> list[set[str]]:
    return [{word for word in words if word in text} for text in searched]


@given(st.data())
def test_overlapping_and_nested_keywords_are_all_found(data: st.DataObject) -> None:
    words = data.draw(st.lists(keywords, unique=True, max_size=8))
    searched = data.draw(st.lists(texts_with(words), min_size=1, max_size=6))

    for own in (searched, searched * MANY):
        assert KeywordSearch(words).found_in_each(own) == by_in(words, own)


@given(st.lists(any_text, unique=True, max_size=6), st.lists(any_text, min_size=1, max_size=5))
@example([""], ["", "a"])
@example(["a", SEPARATOR], ["a", f"a{SEPARATOR}"])
@example(["a"], [f"a{SEPARATOR}", SEPARATOR])
@example(["\ud83d"], ["\ud83d\ude00", "\U0001f600"])
@example(["\ud83d", "a"], ["a"])
@example(["\U0001f600", "a"], ["\ud83d\ude00", "\U0001f600a"])
def test_any_code_points_are_found_as_in_finds_them(words: list[str], searched: list[str]) -> None:
    """Empty keywords, the separator itself, and halves of surrogate pairs included."""
    many = searched * MANY

    assert KeywordSearch(words).found_in_each(many) == by_in(words, many)


@pytest.mark.parametrize("n_texts", [1, 4, 5, 256, 257, 600])
def test_the_number_of_texts_makes_no_difference(n_texts: int) -> None:
    searched = ["a", "bb", "ab", ""] * n_texts

    assert KeywordSearch(["a", "b", "bb"]).found_in_each(searched) == by_in(
        ["a", "b", "bb"], searched
    )


FORMS = st.sampled_from(
    [
        Word("ab"),
        Word("可以"),
        Folded("É"),
        Folded(Word("e")),
        Regex("a+b"),
        AnyOf(("cd", Word("e"))),
        Not("b"),
        Not(Folded("e")),
    ]
)


@given(st.lists(st.one_of(keywords, FORMS), unique=True, max_size=8), st.lists(texts, max_size=8))
def test_forms_are_found_by_their_own_rules(words: list[object], searched: list[str]) -> None:
    made = [as_keyword(word) for word in words]

    assert KeywordSearch(made).found_in_each(searched) == [
        {word for word in made if occurs(word, text)} for text in searched
    ]
