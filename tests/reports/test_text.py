"""Texts and numbers as reports print them."""

from __future__ import annotations

import pytest

from factcheck.reports.text import (
    LONGEST_QUOTE,
    interval_text,
    more_of,
    one_line,
    p_text,
    plural,
    share,
    shorten,
    signed,
    value_text,
    visible,
)


@pytest.mark.parametrize(
    ("value", "shown"),
    [(1.0, "1.00"), (0.9999, ">0.99"), (0.0, "0.00"), (0.0001, "<0.01"), (2 / 3, "0.67")],
)
def test_a_share_is_perfect_only_if_it_is(value: float, shown: str) -> None:
    assert share(value, 2) == shown


def test_numbers_in_words() -> None:
    assert interval_text((0.5, 0.502), 2) == "0.500 – 0.502"
    assert interval_text((0.5, 0.5), 2) == "0.50 – 0.50"
    assert interval_text(None) == ""
    assert [signed(value) for value in (0.25, -0.25, -0.0001)] == ["+0.250", "-0.250", "+0.000"]
    assert [p_text(value) for value in (0.0001, 0.04)] == ["<0.001", "0.040"]
    assert [plural(1, "fact"), plural(1204, "fact")] == ["1 fact", "1,204 facts"]
    assert [more_of(0, "row"), more_of(2, "row")] == ["", "and 2 more rows"]


def test_long_quotes_are_cut_after_a_word() -> None:
    short = shorten(("word " * 100).strip())
    assert len(short) <= LONGEST_QUOTE
    assert short.endswith("word…")
    assert shorten("x" * 500) == "x" * (LONGEST_QUOTE - 1) + "…"
    assert shorten("brief") == "brief"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x1b[31mb\n\tc\x00 \ud800", r"a\u001b[31mb c\u0000 \ud800"),
        ("pay \u202e001$", r"pay \u202e001$"),
        ("pass\u200bword\ufeff", r"pass\u200bword\ufeff"),
        ("pass\u200dword", r"pass\u200dword"),
        ("\u200dx\u200c", r"\u200dx\u200c"),
        ("1\u00a0000\u202f€", "1 000 €"),
        ("می‌خواهم 👩‍🚀 naïve 東京", "می‌خواهم 👩‍🚀 naïve 東京"),
    ],
)
def test_nothing_in_a_text_is_hidden(text: str, shown: str) -> None:
    """Joiners stay where a script or an emoji needs them."""
    assert one_line(text) == shown
    assert visible(shown) == shown


def test_values_show_the_kind_of_their_blanks() -> None:
    assert value_text("a\u00a0b\n") == r'"a\u00a0b\n"'
