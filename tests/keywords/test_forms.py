"""Every form of a keyword has its rule, its notation, and an error for whoever misuses it."""

from __future__ import annotations

from enum import Enum
from typing import Any

import pytest

from factcheck.errors import InputError
from factcheck.keywords import AnyOf, Folded, Not, Regex, Word
from factcheck.keywords.forms import Keyword, as_keyword, as_keywords, occurs, to_data


@pytest.mark.parametrize(
    ("keyword", "text", "expected"),
    [
        ("cat", "concatenate", True),
        ("Cat", "a cat", False),
        ("é", "e\u0301", False),
        ("", "", True),
        ({"word": "cat"}, "concatenate", False),
        ({"word": "cat"}, "a cat.", True),
        ({"fold": "Énergie"}, "ENERGIE", True),
        ({"fold": "ENERGIE"}, "l'énergie", True),
        ({"fold": "cafe"}, "caf\u00e9 / cafe\u0301", True),
        ({"fold": {"word": "uber"}}, "Über Alles", True),
        ({"fold": {"word": "uber"}}, "darüber", False),
        ({"regex": r"\d+ kJ"}, "about 17 kJ", True),
        ({"regex": r"^\d+$"}, "17 kJ", False),
        ({"any": ["colour", "color"]}, "the color", True),
        ({"any": ["colour", {"word": "hue"}]}, "a hue and cry", True),
        ({"any": ["colour", {"word": "hue"}]}, "huevos", False),
        ({"not": "cat"}, "cat", True),
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


@pytest.mark.parametrize(
    "keyword",
    [
        "plain",
        Word("w"),
        Folded("f"),
        Folded(Word("w")),
        Regex("a|b"),
        AnyOf(("a", Word("b"), Folded("c"))),
        Not(AnyOf(("a", Regex("b")))),
    ],
)
def test_the_notation_is_read_back(keyword: Keyword) -> None:
    assert as_keyword(to_data(keyword)) == keyword
    assert hash(as_keyword(to_data(keyword))) == hash(keyword)


def test_forms_with_equal_texts_are_different_keywords() -> None:
    assert len({"a", Word("a"), Folded("a"), Regex("a"), AnyOf(("a",)), Not("a")}) == 6


def test_a_member_of_an_enumeration_of_texts_is_its_text() -> None:
    class Topic(str, Enum):
        CELL = "cell"

    [keyword] = as_keywords([Topic.CELL], "k")

    assert type(keyword) is str
    assert keyword == "cell"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "a keyword must be a string or a mapping.*got 3"),
        (None, "got null"),
        (["a"], "got a list"),
        ({}, "a keyword must be a string"),
        ({"word": "a", "fold": "b"}, "a keyword must be a string"),
        ({"wrd": "a"}, "unknown key 'wrd'"),
        ({1: "a"}, "unknown key 1"),
        ({"word": ""}, "word: the string is empty"),
        ({"word": 7}, "word: expected a string, got 7"),
        ({"fold": ""}, "fold: the string is empty"),
        ({"fold": "\u0301"}, "accents only"),
        ({"fold": {"regex": "a"}}, "fold: expected a string or"),
        ({"regex": "("}, "is not a valid regular expression"),
        ({"regex": ""}, "regex: the string is empty"),
        ({"any": []}, "no alternatives"),
        ({"any": "ab"}, "any: expected a list of keywords, got 'ab'"),
        ({"any": [{"not": "a"}]}, "put it around"),
        ({"not": {"not": "a"}}, "cannot be nested"),
        ({"not": ""}, "the empty string occurs in every text"),
        ({"any": ["a", ""]}, "the empty string occurs in every text"),
    ],
)
def test_what_is_no_keyword_is_refused(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        as_keyword(data)


@pytest.mark.parametrize("data", ["abc", b"abc", {"word": "a"}, 3, None])
def test_a_single_keyword_is_no_list(data: Any) -> None:
    with pytest.raises(InputError, match="front_keywords: expected a list of keywords"):
        as_keywords(data, "front_keywords")
