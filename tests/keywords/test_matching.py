"""Forms of keywords, their share in a field, and the pairs of expected and generated cards."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import InputError
from factcheck.keywords import (
    AnyOf,
    ExpectedCard,
    Folded,
    Not,
    Word,
    keyword_similarity,
    match_cards,
    score_pair,
)
from factcheck.keywords.cards import Match
from factcheck.keywords.forms import Keyword, as_keyword, folded, has_word, occurs
from tests.keywords.cards import Card, expected_card


def test_what_was_found_and_what_not_is_told() -> None:
    wanted = [
        expected_card("qa", front=["cell", "wall"], back=["small"]),
        expected_card(front=["plant"], back=["green", {"not": "animal"}]),
        expected_card(front=["plant"], back=["green", "leaf"]),
    ]
    generated = [
        Card("extra", "", "qa"),
        Card("a cell", "small", "cloze"),
        Card("plant", "green animal", "qa"),
    ]
    result = match_cards(wanted, generated)
    half = match_cards(wanted[2:], [Card("plant", "red")]).matches[0]

    assert result.matches == (
        Match(0, 1, 0.4 * 0.5 + 0.4, {"front": 0.5, "back": 1.0}, False, {"front": ("wall",)}),
        Match(2, 2, 0.75, {"front": 1.0, "back": 0.5}, None, {"back": ("leaf",)}),
    )
    assert [missed.expected for missed in result.missed] == [1]
    assert result.extra == (0,)
    assert (half.score, half.similarities) == (0.5, {"front": 1.0, "back": 0.0})


@pytest.mark.parametrize("n_fields", [1, 7])
@pytest.mark.parametrize("card_type", [None, "qa"])
def test_a_card_that_is_all_right_scores_1(n_fields: int, card_type: str | None) -> None:
    fields = {f"f{k}": ("x",) for k in range(n_fields)}
    card = dict.fromkeys(fields, "x") | {"card_type": "qa"}
    assert 1.0 - 1e-12 <= score_pair(ExpectedCard(fields, card_type), card) <= 1.0


@pytest.mark.parametrize(
    ("keyword", "text", "expected"),
    [
        ("cat", "concatenate", True),
        ("Cat", "a cat", False),
        ("é", "e\u0301", False),
        ({"word": "cat"}, "concatenate", False),
        ({"fold": "Énergie"}, "ENERGIE", True),
        ({"fold": "cafe"}, "caf\u00e9 / cafe\u0301", True),
        ({"fold": {"word": "uber"}}, "darüber", False),
        ({"any": ["colour", "color"]}, "the color", True),
        ({"any": ["colour", {"word": "hue"}]}, "huevos", False),
        ({"not": {"any": ["x", {"word": "y"}]}}, "zz", False),
        (17, "about 17 kJ", True),
        ("积分", "您需要满足积分要求", True),
        ({"word": "积分"}, "您需要满足积分要求", True),
    ],
)
def test_each_form_has_its_rule(keyword: Any, text: str, expected: bool) -> None:  # noqa: FBT001
    """Of a `not`, `occurs` says whether what must not be there is."""
    assert occurs(as_keyword(keyword), text) is expected


def test_forms_with_equal_texts_differ() -> None:
    every: tuple[Keyword, ...] = ("a", Word("a"), Folded("a"), AnyOf(("a",)), Not("a"))
    assert len({*every}) == 5


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (match_cards, [[], [], -0.1], "threshold must be .* at least 0 and at most 1, not -0.1"),
        (partial(match_cards, assignment="best"), [[], []], "one of greedy, optimal"),  # type: ignore[arg-type]
        (keyword_similarity, [["a"], None], "text: expected a string, got null"),
        (keyword_similarity, [["cell", ""], "x"], "the empty string occurs in every text"),
        (as_keyword, [True], "a keyword must be a string or a mapping.*got true"),
        (as_keyword, [{"word": "a", "fold": "b"}], "a keyword must be a string"),
        (as_keyword, [{"wrd": "a"}], "unknown key 'wrd'"),
        (as_keyword, [{"word": 7}], "word: expected a string with a letter, got 7; quote"),
        (as_keyword, [{"word": ""}], "word: expected a string with a letter, got ''"),
        (as_keyword, [{"fold": "\u0301"}], "fold: expected a string or {word: ...} with a letter"),
        (as_keyword, [{"fold": {"any": ["a"]}}], "fold: expected a string or"),
        (as_keyword, [{"any": []}], "any: list one or more"),
        (as_keyword, [{"any": [{"not": "a"}]}], "any: .*put 'not' around all of them"),
        (as_keyword, [{"not": {"not": "a"}}], "expected what is forbidden"),
        (as_keyword, [{"not": ""}], "expected what is forbidden, got ''"),
        (ExpectedCard, [], "needs keywords"),
        (partial(ExpectedCard, front=["cell"]), [], "unknown key 'front'"),
        (partial(ExpectedCard, front_keywords=["y"]), [{"a": ["x"]}], "not both"),
    ],
)
def test_what_cannot_be_used_is_refused(function: Any, arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        function(*arguments)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Énergie", "energie"),
        ("Straße", "strasse"),
        ("ŁÓDŹ, Ørsted, Œuvre", "lodz, orsted, oeuvre"),
        ("İstanbul ISPARTA \u0131sparta", "istanbul isparta isparta"),
        ("Ёлка", "елка"),
        ("ＡＩ ｶﾞ", "ai ガ"),
        ("दिल्ली", "दिल्ली"),
        ("กำลัง", folded("กำลัง")),
    ],
)
def test_case_and_accents_go_and_letters_stay(text: str, expected: str) -> None:
    assert folded(text) == expected


@pytest.mark.parametrize(
    ("text", "words", "parts"),
    [
        ("a cat.", ["a", "cat"], ["c", "at"]),
        ("cats cat9 _cat concatenate", ["cats"], ["cat"]),
        ("l'eau", ["eau", "l"], ["au"]),
        ("C++11", ["C++", "11"], ["1"]),
        ("cafe\u0301", ["cafe\u0301"], ["cafe"]),
        ("使用AI技术", ["AI", "技术", "用"], ["A"]),
        ("無料カードを", ["カード"], ["カ"]),
        ("ビデオゲーム ゲーム機", ["ビデオゲーム"], ["ゲ", "ビデオ"]),
        ("ฉันกินข้าว", ["กิน"], []),
        ("दिल्ली में", ["दिल्ली"], ["द"]),
        ("", [], ["cat", ""]),
    ],
)
def test_words_are_found_whole_and_not_inside_other_words(
    text: str, words: list[str], parts: list[str]
) -> None:
    assert [word for word in (*words, *parts) if has_word(text, word)] == words


@given(st.text("abA1_ .-", max_size=15), st.text("abA1_", min_size=1, max_size=3))
def test_plain_words_are_those_of_regular_expressions(text: str, word: str) -> None:
    assert has_word(text, word) == bool(re.search(rf"\b{re.escape(word)}\b", text))


def test_a_card_takes_its_keywords_by_the_name_of_the_field() -> None:
    card = ExpectedCard(front_keywords=["cell"], back_keywords=["unit", "life"], card_type="qa")
    assert card == ExpectedCard({"front": ["cell"], "back": ["unit", "life"]}, "qa")
    assert replace(card, card_type=None).keywords == card.keywords
