"""Datasets and outputs from files: the format of the seed, and errors that name file and line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factcheck.errors import InputError
from factcheck.keywords import (
    CardCase,
    CardDataset,
    Word,
    load_dataset,
    load_outputs,
)
from tests.keywords.naive import expected_card

YAML = """\
name: "eval-dataset"
version: "1.0"
cases:
  - id: "case-01"
    text: "Plants are made of cells."
    expected_cards:
      - front_keywords: ["key concept", no]
        back_keywords: ["expected answer part", {word: cell}]
        card_type: qa
  - id: 2
    text: ""
    expected_cards: []
"""


def put(folder: Path, name: str, text: str) -> Path:
    """A new file."""
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_format_of_the_seed_is_read(tmp_path: Path) -> None:
    dataset = load_dataset(put(tmp_path, "d.yaml", YAML))
    card = expected_card(
        "qa", front=["key concept", "no"], back=["expected answer part", Word("cell")]
    )
    assert dataset == CardDataset(
        (CardCase("case-01", "Plants are made of cells.", (card,)), CardCase("2", "", ())),
        "eval-dataset",
        "1.0",
    )
    assert dataset.warnings == ()
    again, other = (CardCase("x", "", cards) for cards in ((card,), ()))
    assert dataset.cases[0].digest == again.digest != other.digest


def test_fields_names_and_numbers_of_a_small_file(tmp_path: Path) -> None:
    """Fields may have any name, numbers are keywords and ids, the file name is the default name."""
    text = "cases: [{id: 7, expected_cards: [{title_keywords: [1789, 007, no], x_keywords: [z]}]}]"
    dataset = load_dataset(put(tmp_path, "summaries.yaml", text))
    (case,) = dataset.cases
    assert (dataset.name, case.id) == ("summaries", "7")
    assert case.expected_cards[0].keywords == {"title": ("1789", "007", "no"), "x": ("z",)}


def test_an_empty_list_is_kept_with_a_warning(tmp_path: Path) -> None:
    cards = "{front_keywords: [x], back_keywords: []}, {x_keywords: [{not: x}]}"
    path = put(tmp_path, "d.yaml", f"cases: [{{id: a, expected_cards: [{cards}]}}]")
    assert load_dataset(path).warnings == (
        "case 'a', expected card 1: back_keywords is empty, which scores 0",
        "case 'a', expected card 2: x_keywords has forbidden keywords only, so most texts match",
    )


CARD = r"cases\[0\].expected_cards\[0\]"
EMPTY = "    expected_cards: []"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("card_type", "cardtype", rf"line 9: {CARD}.cardtype: unknown key"),
        ('    text: "P', '    txt: "P', r"line 5: cases\[0\].txt: unknown key"),
        ("version", "verion", r"line 2: verion: unknown key; use name, version, cases"),
        ("{word: cell}", "{wrd: cell}", r"line 8: .*back_keywords\[1\]: .*unknown key 'wrd'"),
        ("{word: cell}", "{regex: '('}", r"line 8: .*back_keywords\[1\]: regex: .* not a valid"),
        ("{word: cell}", "''", r"line 8: .*back_keywords\[1\]: the empty string occurs"),
        ('["key concept", no]', "key", r"line 7: .*front_keywords: expected a list, got 'key'"),
        ("front_keywords", "front", r"line 7: .*front: unknown key"),
        ("- id: 2", "- id: case-01", "line 10: .*duplicate id 'case-01'"),
        ("- id: 2", "- id: ' '", "line 10: .*the id is blank"),
        (EMPTY, "    expected_cards: [x]", "line 12: .*an object with .*_type, got 'x'"),
        (EMPTY, "    expected_cards: [{}]", "line 12: .*no keywords; add <name>_keywords"),
        ('    text: ""', "    text: [", "line 1[0-9]: not valid YAML"),
        ("- id: 2", "- id: true", r"line 10: cases\[1\].id: expected a string, got true"),
        (EMPTY, "", r"line 10: cases\[1\]: 'expected_cards' is missing"),
    ],
)
def test_errors_in_yaml_name_their_line(tmp_path: Path, old: str, new: str, message: str) -> None:
    assert old in YAML
    path = put(tmp_path, "d.yaml", YAML.replace(old, new, 1))
    with pytest.raises(InputError, match=f"d.yaml, {message}"):
        load_dataset(path)


@pytest.mark.parametrize(
    ("load", "name", "text", "message"),
    [
        (load_dataset, "d.yaml", "", "expected an object with name, version, cases, got null"),
        (load_dataset, "d.yaml", "cases: []", "line 1: cases: the dataset has no cases"),
        (load_outputs, "o.json", '[{"id": "a"}]', r"line 1: \[0\]: 'cards' is missing"),
        (load_outputs, "o.jsonl", '{"id": "a", "cards": []}\n' * 2, "line 2: .*duplicate id"),
        (load_outputs, "o.json", "3", "expected a list"),
    ],
)
def test_a_file_of_another_shape_is_refused(
    tmp_path: Path, load: Any, name: str, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load(put(tmp_path, name, text))


@pytest.mark.parametrize(
    ("kind", "arguments", "message"),
    [
        (CardDataset, [()], "the dataset has no cases"),
        (CardDataset, ["a"], "a dataset consists of CardCase, not str"),
        (CardCase, [" ", "", ()], "the id of a case must be .* got ' '"),
        (CardCase, ["a", None, ()], "case 'a': text: expected a string, got null"),
        (CardCase, ["a", "", [{}]], "expected card: no keywords"),
    ],
)
def test_cases_and_datasets_made_in_python_are_checked(
    kind: Any, arguments: list[Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        kind(*arguments)


CARDS = [{"front": "a", "back": "b", "more": 3}]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("o.json", json.dumps({"a": CARDS, "b": []})),
        ("o.json", json.dumps([{"id": "a", "cards": CARDS}, {"id": "b", "cards": []}])),
        ("o.jsonl", json.dumps({"id": "a", "cards": CARDS}) + '\n\n{"id": "b", "cards": []}\n'),
    ],
)
def test_outputs_are_a_mapping_or_rows(tmp_path: Path, name: str, text: str) -> None:
    assert load_outputs(put(tmp_path, name, text)) == {"a": CARDS, "b": []}
