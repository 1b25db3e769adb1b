"""Forms of keywords: their rules, their notation, folding and word boundaries."""

from __future__ import annotations

import re
from enum import Enum
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import InputError
from factcheck.keywords import AnyOf, Folded, Not, Regex, Word
from factcheck.keywords.forms import (
    Keyword,
    as_keyword,
    folded,
    has_word,
    occurs,
    to_data,
)
from tests.keywords.naive import any_text


@pytest.mark.parametrize(
    ("keyword", "text", "expected"),
    [
        ("cat", "concatenate", True),
        ("Cat", "a cat", False),
        ("é", "e\u0301", False),
        ({"word": "cat"}, "concatenate", False),
        ({"fold": "Énergie"}, "ENERGIE", True),
        ({"fold": "cafe"}, "caf\u00e9 / cafe\u0301", True),
        ({"fold": {"word": "uber"}}, "Über Alles", True),
        ({"fold": {"word": "uber"}}, "darüber", False),
        ({"regex": r"\d+ kJ"}, "about 17 kJ", True),
        ({"regex": r"^\d+$"}, "17 kJ", False),
        ({"any": ["colour", "color"]}, "the color", True),
        ({"any": ["colour", {"word": "hue"}]}, "huevos", False),
        ({"not": {"any": ["x", {"regex": "y+"}]}}, "zz", False),
        ("积分", "您需要满足积分要求", True),
        ({"word": "积分"}, "您需要满足积分要求", True),
        ({"word": "AI"}, "使用AI技术", True),
        ({"word": "AI"}, "MAIL", False),
    ],
)
def test_each_form_has_its_rule(keyword: Any, text: str, expected: bool) -> None:  # noqa: FBT001
    """Of a `not`, `occurs` says whether what must not be there is."""
    assert occurs(as_keyword(keyword), text) is expected


def test_the_notation_is_read_back_and_forms_with_equal_texts_differ() -> None:
    either = AnyOf(("a", Word("b"), Folded("c")))
    plain: tuple[Keyword, ...] = ("a", Word("a"), Folded("a"), Regex("a"), AnyOf(("a",)), Not("a"))
    every = {*plain, Folded(Word("w")), either, Not(either)}
    assert len(every) == 9
    assert {as_keyword(to_data(keyword)) for keyword in every} == every


def test_a_member_of_an_enumeration_of_texts_is_its_text() -> None:
    class Topic(str, Enum):
        CELL = "cell"

    assert type(as_keyword(Topic.CELL)) is str


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "a keyword must be a string or a mapping.*got 3"),
        (None, "got null"),
        (["a"], "got a list"),
        ({"word": "a", "fold": "b"}, "a keyword must be a string"),
        ({"wrd": "a"}, "unknown key 'wrd'"),
        ({"word": ""}, "word: the string is empty"),
        ({"word": 7}, "word: expected a string, got 7"),
        ({"fold": "\u0301"}, "accents only"),
        ({"fold": {"regex": "a"}}, "fold: expected a string or"),
        ({"regex": "("}, "is not a valid regular expression"),
        ({"any": []}, "no alternatives"),
        ({"any": [{"not": "a"}]}, "put it around"),
        ({"not": {"not": "a"}}, "cannot be nested"),
        ({"not": ""}, "the empty string occurs in every text"),
    ],
)
def test_what_is_no_keyword_is_refused(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_keyword(data)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Énergie", "energie"),
        ("E\u0301NERGIE", "energie"),
        ("Straße", "strasse"),
        ("ŁÓDŹ, Ørsted, Œuvre", "lodz, orsted, oeuvre"),
        ("İstanbul ISPARTA \u0131sparta", "istanbul isparta isparta"),
        ("Ёлка", "елка"),
        ("Ὀδυσσεύς", "οδυσσευσ"),
        ("ＡＩ ｶﾞ", "ai ガ"),
        ("दिल्ली", "दिल्ली"),
        ("กำลัง", folded("กำลัง")),
    ],
)
def test_case_and_accents_go_and_letters_stay(text: str, expected: str) -> None:
    assert folded(text) == expected


def test_different_letters_stay_different() -> None:
    for one, other in (("か", "が"), ("가", "각"), ("ก", "กิ"), ("o", "ö o")):
        assert folded(one) != folded(other)


@given(any_text)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@pytest.mark.parametrize(
    ("text", "words", "parts"),
    [
        ("a cat.", ["a", "cat"], ["c", "at"]),
        ("cats cat9 _cat concatenate", ["cats"], ["cat"]),
        ("l'eau", ["eau", "l"], ["au"]),
        ("well-known", ["known", "well"], ["now"]),
        ("C++11", ["C++", "11"], ["1"]),
        ("cafe\u0301", ["cafe\u0301"], ["cafe"]),
        ("使用AI技术", ["AI", "技术", "用"], ["A"]),
        ("無料カードを", ["カード"], ["カ"]),
        ("ビデオゲーム ゲーム機", ["ビデオゲーム"], ["ゲ", "ビデオ"]),
        ("ฉันกินข้าว", ["กิน"], []),
        ("서울 하늘", ["서울"], ["서"]),
        ("दिल्ली में", ["दिल्ली"], ["द"]),
        ("anything", [], [""]),
        ("", [], ["cat", ""]),
    ],
)
def test_words_are_found_whole_and_not_inside_other_words(
    text: str, words: list[str], parts: list[str]
) -> None:
    assert [word for word in (*words, *parts) if has_word(text, word)] == words


@given(st.text("abA1_ .-", max_size=15), st.text("abA1_", min_size=1, max_size=3))
def test_for_plain_letters_it_is_the_word_boundary_of_regular_expressions(
    text: str, word: str
) -> None:
    assert has_word(text, word) == bool(re.search(rf"\b{re.escape(word)}\b", text))
