"""The transforms of the package."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from factcheck.errors import ParameterError
from factcheck.fields.comparators.transforms import TRANSFORMS

OF_TEXT = (
    "lowercase", "strip", "normalize_whitespace", "sort_tokens", "unicode_nfkc",
    "strip_punctuation", "casefold", "strip_accents", "plain_marks", "company_name",
)  # fmt: skip
NEEDED: dict[str, dict[str, Any]] = {"round_digits": {"digits": 1}, "type_convert": {"to": "str"}}


def transform(name: str, value: Any, **params: Any) -> Any:
    return TRANSFORMS[name](value, params)


def test_each_transform_has_its_name_keeps_null_and_names_unknown_parameters() -> None:
    names = {*OF_TEXT, "round_digits", "type_convert", "parse_number", "parse_bool"}
    assert {name: one.name for name, one in TRANSFORMS.items()} == {name: name for name in names}
    for name, one in TRANSFORMS.items():
        assert one(None, {"nonsense": 1}) is one(None) is None
        with pytest.raises(ParameterError, match=f"{name}: unknown parameter 'nonsense'"):
            one.bind(NEEDED.get(name, {}) | {"nonsense": 1})


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
        ("strip_punctuation", "U.S.A.", "USA"), ("strip_punctuation", "...", ""),
        ("strip_punctuation", "don't well-known a_b", "dont wellknown ab"),
        ("strip_punctuation", "v1.2 A-5 C#, AT&T", "v1.2 A5 C# AT&T"),
        ("company_name", "Penn & Co. Limited", "Penn and co ltd"),
    ],
)  # fmt: skip
def test_texts(name: str, value: str, changed: str) -> None:
    assert transform(name, value) == changed


def test_the_marks_of_numbers_are_no_punctuation() -> None:
    """Else "-5" would equal "5", and "1.5" equal "15"."""
    for number in (
        "-5", "3.14", "1,240.50", ".5", "-.5", "-$5", "\u20135", "10:30", "2024-03-15", "5%", "5 %",
    ):  # fmt: skip
        assert transform("strip_punctuation", number) == number
        assert transform("strip_punctuation", f"({number}).") == number


@pytest.mark.parametrize(
    ("value", "digits", "rounded"),
    [
        (1.256, 2, 1.26), (2.5, 0, 2.0), (1234, -2, 1200), (1234.5, -3, 1000.0), (True, 0, 1),
        (1.25, "1", 1.2), (1.25, 1.0, 1.2), (10**400 + 1, -1, 10**400), (math.inf, 1, math.inf),
        (Decimal("1.25"), 1, Decimal("1.2")),
    ],
)  # fmt: skip
def test_round_digits_rounds_as_python_does(value: Any, digits: Any, rounded: Any) -> None:
    assert transform("round_digits", value, digits=digits) == rounded


@pytest.mark.parametrize(
    ("value", "target", "converted"),
    [
        ("42", "int", 42), (" 42 ", "int", 42), (3.7, "int", 3), (True, "int", 1),
        ("1e3", "float", 1000.0), (2, "float", 2.0), (2, "str", "2"), (True, "str", "True"),
        (None, "int", None), (True, "bool", True), (0, "bool", False), ("1", "bool", True),
        (" FALSE ", "bool", False), ("true", "bool", True),
    ],
)  # fmt: skip
def test_type_convert_converts_as_python_does_but_for_booleans(
    value: Any, target: str, converted: Any
) -> None:
    made = transform("type_convert", value, to=target)
    assert (made, type(made)) == (converted, type(converted))


@pytest.mark.parametrize(
    ("value", "target"),
    [
        ("x", "int"), ("42.0", "int"), (math.nan, "int"), (math.inf, "int"), ([1], "float"),
        ("1,5", "float"), (10**400, "float"), pytest.param(10**5000, "str", id="5001 digits"),
        ("yes", "bool"), ("", "bool"), (2, "bool"), (1.0, "bool"), ([], "bool"),
    ],
)  # fmt: skip
def test_what_cannot_be_converted_is_an_error(value: Any, target: str) -> None:
    with pytest.raises(TypeError, match=f"Cannot convert .* to {target}: "):
        transform("type_convert", value, to=target)


def test_a_value_of_the_wrong_type_is_an_error_that_says_what_to_do() -> None:
    odd: tuple[Any, ...] = (5, 1.5, True, ["a"], {"a": 1}, b"a")
    for value in odd:
        for name in OF_TEXT:
            with pytest.raises(TypeError, match=f"{name} requires a string, not .*; put"):
                transform(name, value)
    odd = ("1.5", [1.5], {}, 1j)
    for value in odd:
        with pytest.raises(TypeError, match=r"round_digits requires a number, not .*; put"):
            transform("round_digits", value, digits=1)


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("round_digits", {}, "round_digits requires 'digits'"),
        *(
            ("round_digits", {"digits": odd}, "'digits' to be an integer from -1000 to")
            for odd in (1.5, True, None, "x", [1], math.nan, math.inf, 10**9, -(10**9), "1.5")
        ),
        ("type_convert", {}, "type_convert requires 'to', one of 'float', 'int'"),
        *(
            ("type_convert", {"to": odd}, "'to' must be one of 'float', 'int', 'str' and")
            for odd in ("list", "", None, int, ["int"])
        ),
        *(
            ("parse_number", {"decimal": odd}, r"'decimal' must be one of '.' and ',', not")
            for odd in ("", "x", None, 5, ["."])
        ),
        ("parse_number", {"percent": "x"}, "'percent' must be one of 'number' and 'fraction'"),
    ],
)
def test_parameters_are_checked(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        TRANSFORMS[name].bind(params)


def test_parse_number_takes_what_read_number_takes() -> None:
    assert transform("parse_number", "1,240", decimal=".") == 1240.0
    assert transform("parse_number", "1,240", grouping=",") == 1240.0
    assert transform("parse_number", "12 %", percent="fraction") == 0.12
