"""Folding removes case and accents only; whole words end at word boundaries of their script."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.keywords.forms import folded, has_word
from tests.keywords.strategies import any_text


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
        ("か\u3099", "が"),
        ("한국", "한국"),
        ("दिल्ली", "दिल्ली"),
        ("กำลัง", folded("กำลัง")),
        ("罚款", "罚款"),
    ],
)
def test_case_and_accents_go_and_letters_stay(text: str, expected: str) -> None:
    assert folded(text) == expected


@pytest.mark.parametrize(("one", "other"), [("か", "が"), ("가", "각"), ("ก", "กิ"), ("o", "ö o")])
def test_different_letters_stay_different(one: str, other: str) -> None:
    assert folded(one) != folded(other)


@given(any_text)
def test_folding_twice_changes_nothing(text: str) -> None:
    assert folded(folded(text)) == folded(text)


@given(st.text("aAbBzZ 09._", max_size=20))
def test_of_plain_letters_only_case_goes(text: str) -> None:
    assert folded(text) == text.lower()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("a cat.", "cat"),
        ("cat", "cat"),
        ("concat cat", "cat"),
        ("l'eau", "eau"),
        ("well-known", "known"),
        ("C++11", "C++"),
        ("New York City", "New York"),
        ("使用AI技术", "AI"),
        ("使用AI技术", "技术"),
        ("無料カードを", "カード"),
        ("ฉันกินข้าว", "กิน"),
        ("서울 하늘", "서울"),
        ("दिल्ली में", "दिल्ली"),
    ],
)
def test_it_is_found_where_it_stands_whole(text: str, word: str) -> None:
    assert has_word(text, word)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("concatenate", "cat"),
        ("cats", "cat"),
        ("cat9", "cat"),
        ("_cat", "cat"),
        ("cafe\u0301", "cafe"),
        ("ビデオゲーム", "ゲーム"),
        ("ゲーム機", "ゲ"),
        ("서울에서", "서울"),
        ("กิน", "ก"),
        ("दिल्ली", "द"),
        ("anything", ""),
        ("", "cat"),
    ],
)
def test_it_is_not_found_inside_another_word(text: str, word: str) -> None:
    assert not has_word(text, word)


@given(st.text("abA1_ .-", max_size=15), st.text("abA1_", min_size=1, max_size=3))
def test_for_plain_letters_it_is_the_word_boundary_of_regular_expressions(
    text: str, word: str
) -> None:
    assert has_word(text, word) == bool(re.search(rf"\b{re.escape(word)}\b", text))


@given(st.text("可以拒绝罚款", max_size=12), st.text("可以拒绝罚款", min_size=1, max_size=2))
def test_without_spaces_every_occurrence_is_whole(text: str, word: str) -> None:
    assert has_word(text, word) == (word in text)
