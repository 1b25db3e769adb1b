"""A whole word ends where no letter, digit or mark follows, or where a script has no spaces."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.keywords.word_edges import has_word


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
