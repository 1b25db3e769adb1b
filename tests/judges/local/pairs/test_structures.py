"""Alternatives, lists and JSON in values."""

from __future__ import annotations

import json

import pytest

from factcheck.judges.local.pairs import compare_values
from factcheck.judges.local.pairs.structures import alternatives, read_list, read_value
from factcheck.judges.ports import ValuePair


def same(gold: str, extracted: str) -> bool:
    return compare_values(ValuePair(gold, extracted)).equivalent


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("A / B", ("A", "B")),
        ("27 / twenty-seven / 27", ("27", "twenty-seven")),
        ("Nikkei/Nikkei (index)", ("Nikkei", "Nikkei (index)")),
        ("Sotto Voce/Sotto voce", ("Sotto Voce", "Sotto voce")),
        ("AC/DC", ("AC/DC",)),
        ("N / A", ("N / A",)),
        ("https://example.com/a/example", ("https://example.com/a/example",)),
        ("/usr/local/user", ("/usr/local/user",)),
        ("", ("",)),
    ],
)
def test_a_slash_between_spaces_joins_alternatives(text: str, parts: tuple[str, ...]) -> None:
    assert alternatives(text) == parts


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("a, b and c", ("a", "b", "c")), ("c; a; b", ("c", "a", "b")),
        ("1. France\n2. Germany", ("France", "Germany")),
        ("- apples\r\n- pears", ("apples", "pears")), ("salt and pepper", ("salt", "pepper")),
        ("1,200 m", ()), ("Paris", ()), ("", ()),
        ("When at last the long rain of that year ended, they went out to see the river", ()),
    ],
)  # fmt: skip
def test_a_text_may_be_a_list(text: str, items: tuple[str, ...]) -> None:
    assert read_list(text).items == items


def test_json_is_read_as_written() -> None:
    assert read_value('["a", 1.50, true, null]') == ("a", "1.50", "true", "null")
    assert read_value('{"a": {"b": []}}') == {"a": {"b": ()}}
    assert read_value("[1, 2") == "[1, 2"
    assert read_value("[see above]") == "[see above]"
    assert read_value('"quoted"') == '"quoted"'
    deep = "[" * 100 + "]" * 100
    assert read_value(deep) == deep


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        ('["red", "green"]', "green and red"), ('["red"]', "red"), ("[1, 2, 3]", "3, 2, 1"),
        ("1, 2, 3", "3; 2; 1"), ("[]", ""), ("[null]", "null"),
        ('[["a", "b"], ["c"]]', '[["c"], ["b", "a"]]'),
        ('{"name": "Anna Berg", "age": 30}', '{"Age": "30", "NAME": "anna berg"}'),
        ('{"name": "Anna Berg", "born": 1990}', "Anna Berg, 1990"), ("true", "yes"),
        ("42", "42.0"),
    ],
)  # fmt: skip
def test_structure_is_compared_part_by_part(gold: str, extracted: str) -> None:
    assert same(gold, extracted)
    assert same(extracted, gold)


@pytest.mark.parametrize(
    ("gold", "extracted"),
    [
        ('["red", "green"]', "red"), ("[1, 2, 3]", "1, 2, 4"), ("[1, 1]", "[1]"),
        ('{"a": 1}', '{"a": 2}'), ('{"a": 1}', '{"b": 1}'), ('[["a"], ["b"]]', '[["a", "b"]]'),
        ("Budapest, Vienna and Bratislava", "Vienna, Budapest and Belgrade"),
        ("red car; blue bike", "blue car; red bike"),
    ],
)  # fmt: skip
def test_every_part_has_to_be_met(gold: str, extracted: str) -> None:
    assert not same(gold, extracted)
    assert not same(extracted, gold)


def test_deep_structures_are_compared_too() -> None:
    def nested(leaf: str) -> str:
        return json.dumps({"a": [{"b": [{"c": [leaf, "other"]}]}]})

    assert same(nested("Red"), nested("red"))
    assert not same(nested("5 red"), nested("6 red"))
