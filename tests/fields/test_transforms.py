"""The transforms of the package."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import ParameterError
from factcheck.fields.comparators.transforms import TRANSFORMS

OF_TEXT = (
    "lowercase", "strip", "normalize_whitespace", "sort_tokens", "unicode_nfkc",
    "strip_punctuation", "casefold", "strip_accents", "plain_marks", "company_name",
)  # fmt: skip
NEEDED: dict[str, dict[str, Any]] = {"round_digits": {"digits": 1}, "type_convert": {"to": "str"}}


def transform(name: str, value: Any, **params: Any) -> Any:
    return TRANSFORMS[name](value, params)


def test_which_transforms_there_are() -> None:
    names = {*OF_TEXT, "round_digits", "type_convert", "parse_number", "parse_bool"}
    assert {name: one.name for name, one in TRANSFORMS.items()} == {name: name for name in names}


@pytest.mark.parametrize("name", TRANSFORMS)
def test_null_stays_null_whatever_the_parameters(name: str) -> None:
    assert TRANSFORMS[name](None, {"nonsense": 1}) is None
    assert TRANSFORMS[name](None) is None


@pytest.mark.parametrize("name", TRANSFORMS)
def test_an_unknown_parameter_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(ParameterError, match=f"{name}: unknown parameter 'nonsense'"):
        TRANSFORMS[name].bind(NEEDED.get(name, {}) | {"nonsense": 1})


@pytest.mark.parametrize("name", OF_TEXT)
@pytest.mark.parametrize("value", [5, 1.5, True, ["a"], {"a": 1}, b"a"])
def test_what_changes_texts_takes_nothing_else(name: str, value: Any) -> None:
    with pytest.raises(TypeError, match=f"{name} requires a string, not .*; put"):
        transform(name, value)


@pytest.mark.parametrize(
    ("name", "value", "changed"),
    [
        ("lowercase", "ÄbC", "äbc"), ("strip", "\t a b \n", "a b"),
        ("normalize_whitespace", " a \n\t b\u2003c\u00a0", "a b c"),
        ("normalize_whitespace", " \n ", ""), ("sort_tokens", " b  a\nC a ", "C a a b"),
        ("unicode_nfkc", "ﬁ １２ e\u0301 ²", "fi 12 é 2"),
        ("casefold", "STRASSE Straße", "strasse strasse"),
        ("strip_accents", "Łódź é ñ", "Łodz e n"),
        ("plain_marks", "a\u200bb “c” ‘d’ 1–2\u00a0€", "ab \"c\" 'd' 1-2 €"),
        ("strip_punctuation", "Hello, “world”! (yes…)", "Hello world yes"),
        ("strip_punctuation", "U.S.A.", "USA"),
        ("strip_punctuation", "don't well-known a_b", "dont wellknown ab"),
        ("strip_punctuation", "...", ""), ("company_name", "Penn & Co. Limited", "Penn and co ltd"),
        ("strip_punctuation", "v1.2 A-5 C#, AT&T", "v1.2 A5 C# AT&T"),
    ],
)  # fmt: skip
def test_texts(name: str, value: str, changed: str) -> None:
    assert transform(name, value) == changed


@pytest.mark.parametrize(
    "number",
    ["-5", "3.14", "1,240.50", ".5", "-.5", "-$5", "\u20135", "10:30", "2024-03-15", "5%", "5 %"],
)
def test_the_marks_of_numbers_are_no_punctuation(number: str) -> None:
    """Else "-5" would equal "5", and "1.5" equal "15"."""
    assert transform("strip_punctuation", number) == number
    assert transform("strip_punctuation", f"({number}).") == number


@given(st.text())
def test_white_space_is_what_regular_expressions_take_for_it(text: str) -> None:
    assert transform("normalize_whitespace", text) == re.sub(r"\s+", " ", text).strip()


@given(st.text())
def test_transforms_of_texts_change_nothing_the_second_time(text: str) -> None:
    for name in ("strip", "normalize_whitespace", "sort_tokens", "unicode_nfkc"):
        once = transform(name, text)
        assert transform(name, once) == once


class TestRoundDigits:
    """`round_digits` rounds as Python does."""

    @pytest.mark.parametrize(
        ("value", "digits", "rounded"),
        [
            (1.256, 2, 1.26), (2.5, 0, 2.0), (1234, -2, 1200), (1234.5, -3, 1000.0), (True, 0, 1),
            (1.25, "1", 1.2), (1.25, 1.0, 1.2), (10**400 + 1, -1, 10**400), (math.inf, 1, math.inf),
            (Decimal("1.25"), 1, Decimal("1.2")),
        ],
    )  # fmt: skip
    def test_rounds(self, value: Any, digits: Any, rounded: Any) -> None:
        assert transform("round_digits", value, digits=digits) == rounded

    @pytest.mark.parametrize("value", ["1.5", [1.5], {}, 1j])
    def test_requires_a_number(self, value: Any) -> None:
        with pytest.raises(TypeError, match="round_digits requires a number, not"):
            transform("round_digits", value, digits=1)

    def test_requires_digits(self) -> None:
        with pytest.raises(TypeError, match="round_digits requires 'digits'"):
            transform("round_digits", 1.5)

    @pytest.mark.parametrize(
        "digits", [1.5, True, None, "x", [1], math.nan, math.inf, 10**9, -(10**9), "1.5"]
    )
    def test_digits_is_a_whole_number_of_reasonable_size(self, digits: Any) -> None:
        with pytest.raises(ParameterError, match="'digits' to be an integer from -1000 to"):
            TRANSFORMS["round_digits"].bind({"digits": digits})


class TestTypeConvert:
    """`type_convert` converts as Python does, but for booleans."""

    @pytest.mark.parametrize(
        ("value", "target", "converted"),
        [
            ("42", "int", 42), (" 42 ", "int", 42), (3.7, "int", 3), (True, "int", 1),
            ("1e3", "float", 1000.0), (2, "float", 2.0), (2, "str", "2"), (True, "str", "True"),
            (None, "int", None), (True, "bool", True), (0, "bool", False), ("1", "bool", True),
            (" FALSE ", "bool", False), ("true", "bool", True),
        ],
    )  # fmt: skip
    def test_converts(self, value: Any, target: str, converted: Any) -> None:
        made = transform("type_convert", value, to=target)
        assert made == converted
        assert type(made) is type(converted)

    @pytest.mark.parametrize(
        ("value", "target"),
        [
            ("x", "int"), ("42.0", "int"), (math.nan, "int"), (math.inf, "int"), ([1], "float"),
            ("1,5", "float"), (10**400, "float"), pytest.param(10**5000, "str", id="5001 digits"),
            ("yes", "bool"), ("", "bool"), (2, "bool"), (1.0, "bool"), ([], "bool"),
        ],
    )  # fmt: skip
    def test_what_cannot_be_converted_is_an_error(self, value: Any, target: str) -> None:
        with pytest.raises(TypeError, match=f"Cannot convert .* to {target}: "):
            transform("type_convert", value, to=target)

    def test_requires_a_target(self) -> None:
        with pytest.raises(TypeError, match="type_convert requires 'to', one of 'float', 'int'"):
            transform("type_convert", "x")

    @pytest.mark.parametrize("target", ["list", "", None, int, ["int"]])
    def test_the_target_must_be_one_that_is_known(self, target: Any) -> None:
        with pytest.raises(ValueError, match="'to' must be one of 'float', 'int', 'str' and"):
            TRANSFORMS["type_convert"].bind({"to": target})


class TestParseNumber:
    """`parse_number` is `read_number` in a schema."""

    def test_can_be_told_the_decimal_mark(self) -> None:
        assert transform("parse_number", "1,240", decimal=".") == 1240.0
        assert transform("parse_number", "1,240", decimal=",") == 1.24

    @pytest.mark.parametrize("decimal", ["", "x", None, 5, ["."]])
    def test_the_decimal_mark_is_a_point_or_a_comma(self, decimal: Any) -> None:
        with pytest.raises(ParameterError, match=r"'decimal' must be one of '.' and ',', not"):
            TRANSFORMS["parse_number"].bind({"decimal": decimal})
