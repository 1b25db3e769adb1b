"""The transforms of the package, and the numbers they read from texts."""

from __future__ import annotations

import json
import math
from contextlib import suppress
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from factcheck.errors import ParameterError
from factcheck.fields.comparators.transforms import TRANSFORMS, read_number

DATA = Path(__file__).parent / "data"
OF_TEXT = (
    "lowercase", "strip", "normalize_whitespace", "sort_tokens", "unicode_nfkc",
    "strip_punctuation", "casefold", "strip_accents", "plain_marks", "letters_and_digits",
)  # fmt: skip


def transform(name: str, value: Any, **params: Any) -> Any:
    return TRANSFORMS[name](value, params)


def test_each_transform_keeps_null() -> None:
    assert all(one(None, {"nonsense": 1}) is None for one in TRANSFORMS.values())


ROUND, CONVERT = "round_digits", "type_convert"


@pytest.mark.parametrize(
    ("name", "param", "value", "made"),
    [
        ("lowercase", None, "ÄbC", "äbc"), ("strip", None, "\t a b \n", "a b"),
        ("normalize_whitespace", None, " a \n\t b\u2003c\u00a0", "a b c"),
        ("normalize_whitespace", None, " \n ", ""), ("sort_tokens", None, " b  a\nC a ", "C a a b"),
        ("unicode_nfkc", None, "ﬁ １２ e\u0301 ²", "fi 12 é 2"),
        ("casefold", None, "STRASSE Straße", "strasse strasse"),
        ("strip_accents", None, "Łódź é ñ", "Łodz e n"),
        ("plain_marks", None, "a\u200bb “c” ‘d’ 1–2\u00a0€", "ab \"c\" 'd' 1-2 €"),
        ("strip_punctuation", None, "Hello, “world”! (yes…)", "Hello world yes"),
        ("strip_punctuation", None, "U.S.A.", "USA"), ("strip_punctuation", None, "...", ""),
        ("strip_punctuation", None, "don't well-known a_b", "dont wellknown ab"),
        ("strip_punctuation", None, "v1.2 A-5 C#, AT&T", "v1.2 A5 C# AT&T"),
        ("letters_and_digits", None, "+49 (30) 1-2é", "493012é"),
        (ROUND, 2, 1.256, 1.26), (ROUND, 0, 2.5, 2.0), (ROUND, -2, 1234, 1200), (ROUND, 0, True, 1),
        (ROUND, "1", 1.25, 1.2), (ROUND, -1, 10**400 + 1, 10**400),
        (ROUND, 1, Decimal("1.25"), Decimal("1.2")),
        (CONVERT, "int", " 42 ", 42), (CONVERT, "int", 3.7, 3), (CONVERT, "int", True, 1),
        (CONVERT, "float", "1e3", 1000.0), (CONVERT, "str", True, "True"),
        (CONVERT, "bool", True, True), (CONVERT, "bool", 0, False), (CONVERT, "bool", "1", True),
        (CONVERT, "bool", " FALSE ", False),
    ],
)  # fmt: skip
def test_a_transform_makes_another_value(name: str, param: Any, value: Any, made: Any) -> None:
    params = {ROUND: {"digits": param}, CONVERT: {"to": param}}.get(name, {})
    found = transform(name, value, **params)
    assert (found, type(found)) == (made, type(made))


def test_the_marks_of_numbers_are_no_punctuation() -> None:
    """Else "-5" would equal "5", and "1.5" equal "15"."""
    for number in (
        "-5", "3.14", "1,240.50", ".5", "-.5", "-$5", "\u20135", "10:30", "2024-03-15", "5%", "5 %",
    ):  # fmt: skip
        assert transform("strip_punctuation", number) == number
        assert transform("strip_punctuation", f"({number}).") == number


def test_what_cannot_be_converted_is_an_error() -> None:
    cases: list[tuple[Any, str]] = [
        ("42.0", "int"), (math.nan, "int"), ([1], "float"), (10**400, "float"),
        (10**5000, "str"), ("yes", "bool"), (1.0, "bool"),
    ]  # fmt: skip
    for value, target in cases:
        with pytest.raises(TypeError, match=f"Cannot convert .* to {target}: "):
            transform(CONVERT, value, to=target)


def test_a_value_of_the_wrong_type_is_an_error_that_says_what_to_do() -> None:
    for name in OF_TEXT:
        with pytest.raises(TypeError, match=f"{name} requires a string, not 5; put"):
            transform(name, 5)
    with pytest.raises(TypeError, match=r"round_digits requires a number, not .*; put"):
        transform("round_digits", "1.5", digits=1)


@pytest.mark.parametrize(
    ("name", "params", "message"),
    [
        ("round_digits", {}, "round_digits requires 'digits'"),
        *(
            ("round_digits", {"digits": odd}, "'digits' must be an integer from -1000 to")
            for odd in (1.5, True, "x", math.inf, 10**9)
        ),
        ("type_convert", {}, "type_convert requires 'to', one of 'float', 'int'"),
        ("type_convert", {"to": int}, "'to' must be one of 'float', 'int', 'str' and"),
        ("parse_number", {"decimal": ""}, r"'decimal' must be one of '.' and ',', not"),
        ("strip", {"nonsense": 1}, "strip: unknown parameter 'nonsense'; it takes no parameters"),
        ("parse_number", {"percent": "x"}, "'percent' must be one of 'number' and 'fraction'"),
    ],
)
def test_parameters_are_checked(name: str, params: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        TRANSFORMS[name].bind(params)


NUMBERS = [json.loads(line) for line in (DATA / "numbers.jsonl").read_text("utf-8").splitlines()]
"""Texts with the number that they are, or the reason why they are refused."""


@pytest.mark.parametrize(("text", "expected"), NUMBERS)
def test_a_text_is_one_number_or_refused_where_it_may_mean_another(
    text: str, expected: float | str
) -> None:
    if isinstance(expected, str):
        with pytest.raises(TypeError, match=expected):
            read_number(text)
    else:
        number = read_number(text)
        assert (number, type(number)) == (expected, float)


def test_zero_has_no_sign_and_a_long_number_no_value() -> None:
    assert [math.copysign(1, read_number(text)) for text in ("(0)", "-0.00")] == [1, 1]
    for digits in (400, 10_000):
        with pytest.raises(TypeError, match="is out of range for a float"):
            read_number("9" * digits)


def test_how_to_read_a_text_can_be_told() -> None:
    for text, decimal, number in (
        ("1,240", ".", 1240), ("1,240", ",", 1.24), ("3.125", ".", 3.125), ("3.125", ",", 3125),
        ("1.240.000", ",", 1240000), ("1,240.00", ".", 1240),
    ):  # fmt: skip
        assert read_number(text, decimal) == number
    for text in ("38,000", "38,000 €", "38,000.00", "38.000,00"):
        assert read_number(text, grouping=",") == 38_000
    assert read_number("1,5", grouping=",") == 1.5
    for text, fraction in {"12 %": 0.12, "5 ‰": 0.005, "12 percent": 0.12, "0.12": 0.12}.items():
        assert read_number(text, percent="fraction") == fraction


def test_a_text_that_contradicts_what_is_told_is_refused() -> None:
    for text, decimal, grouping in (
        ("1,240.00", ",", None), ("1.240,00", ".", None), (".5", ",", None),
        ("1.240.000", ".", None), ("1.5", ",", None), ("38.000", None, ","),
    ):  # fmt: skip
        with pytest.raises(TypeError, match=r"is not a well-formed number|is ambiguous"):
            read_number(text, decimal, grouping=grouping)


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (5, 5.0), (1.5, 1.5), (2**53, 2**53), (-(10**400), -(10**400)), (math.inf, math.inf),
        (Decimal("2.50"), 2.5), ("12345678901234567891", 12345678901234567891),
        ("12,345,678,901,234,567,891.00", 12345678901234567891),
        ("9007199254740993k", 9007199254740993000),
    ],
)  # fmt: skip
def test_no_digit_of_a_whole_number_is_lost(value: Any, number: float) -> None:
    read = read_number(value)
    assert (read, type(read)) == (number, type(number))


@pytest.mark.parametrize("part", ["see ", "- ", "(", " ", "<", "²", "$", "not ", "5-", "a"])
def test_a_long_text_takes_no_longer_than_its_length(part: str) -> None:
    """Patterns that backtrack would take minutes."""
    for text in (part * 20_000 + "5", "5" + part * 20_000, "see " + part * 20_000):
        with suppress(TypeError):
            read_number(text)
