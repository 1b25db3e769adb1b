"""A quote is found wherever only its form differs, with offsets into the original text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.facts import locate
from factcheck.facts.spans import fold, fold_text

texts = st.text(max_size=60)
plain_texts = st.text(st.sampled_from("aB \t\n\x1c\x85'`´“”—-\u0301"), max_size=30)
"""Letters, spaces and marks that are plain after folding, and two characters that never are."""
FOLDED = [
    ("the  bridge\nopened", "Then the bridge opened."),
    ("THE BRIDGE", "then the bridge opened"),
    ("“It’s open”", 'He said: "It\'s open" and left.'),
    ("12–14 May", "from 12-14 May on"),
    ("cafe\u0301", "Das Café ist zu."),
    ("Stra\u00dfe", "DIE STRASSE"),
    ("\ufb01nal", "the final word"),
    ("a\u00a0b", "x a b y"),
    ("co\u00adoperate", "They cooperate."),
    ("한글", unicodedata.normalize("NFD", "이것은 한글")),
    ("İstanbul", "in i\u0307stanbul today"),
]


@pytest.mark.parametrize(("quote", "text"), FOLDED)
def test_differences_of_form_do_not_hide_a_quote(quote: str, text: str) -> None:
    found = locate(quote, text)
    assert found is not None
    assert text[found.start : found.end] == found.quote


@pytest.mark.parametrize(
    ("quote", "text", "place"),
    [
        ('"two  words"', "Say “Two\n words” now", (4, 16)),
        ("Open", "open, then Open", (11, 15)),  # an exact occurrence is preferred
    ],
)
def test_offsets_point_at_the_original(quote: str, text: str, place: tuple[int, int]) -> None:
    found = locate(quote, text)
    assert found is not None
    assert (found.start, found.end) == place


@pytest.mark.parametrize(
    ("quote", "text"),
    [("", "abc"), (" \n", "abc"), ("abd", "abc"), ("CAFE", "cafe\u0301"), ("abc", "")],
)
def test_what_does_not_stand_in_the_text_is_not_found(quote: str, text: str) -> None:
    assert locate(quote, text) is None


@given(texts, st.data())
def test_every_passage_of_a_text_is_found_in_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    found = locate(text[start:end], text)
    assert (found is None) == (not text[start:end].strip())


@given(texts | plain_texts | st.text(st.characters(codec="ascii")))
def test_a_text_is_folded_alike_with_and_without_its_offsets(text: str) -> None:
    assert fold_text(text) == fold(text).text


@given(st.text(max_size=8), texts)
def test_what_is_found_always_stands_where_it_says(quote: str, text: str) -> None:
    found = locate(quote, text)
    assert found is None or (found.quote and text[found.start : found.end] == found.quote)


@given(texts.filter(lambda text: bool(text.strip())))
def test_decomposed_text_is_found_in_composed_text_and_back(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    decomposed = unicodedata.normalize("NFD", composed)
    assert (locate(composed, decomposed) is None) == (locate(decomposed, composed) is None)
    assert locate(composed, decomposed) is not None
