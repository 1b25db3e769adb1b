"""Folding removes case and accents, and no more than that."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.keywords.folding import folded
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
