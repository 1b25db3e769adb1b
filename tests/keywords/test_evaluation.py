"""Datasets and outputs, from files or of any type: read, checked and scored, faulty ones apart."""

from __future__ import annotations

import json
from collections.abc import Iterator
from enum import Enum
from pathlib import Path
from typing import Any

import pytest
from pydantic import create_model

from factcheck.errors import InputError
from factcheck.keywords import (
    CardCase,
    CardDataset,
    CardRun,
    ExpectedCard,
    Not,
    evaluate_dataset,
    load_dataset,
    load_outputs,
    match_cards,
    score_pair,
)
from tests.keywords.cards import Card, Wanted, expected_card

CARD = expected_card(front=["cell"], back=["unit"])
DATASET = CardDataset(
    (
        CardCase("one", "text one", (CARD,)),
        CardCase("two", "text two", (CARD, CARD)),
        CardCase("none", "text none", ()),
    ),
    "cells",
    "2",
)
GOOD = Card("the cell", "the unit")
BAD = Card("x", "y")
OUTPUTS: dict[str, list[Card]] = {"one": [GOOD, BAD], "two": [GOOD], "none": []}


def raising_late() -> Iterator[Card]:
    """Cards of a user's generator that fails in the middle."""
    yield GOOD
    raise ValueError("no luck")


@pytest.mark.parametrize(
    ("outputs", "code", "message"),
    [
        (OUTPUTS | {"two": raising_late()}, "raised", "ValueError: no luck"),
        (OUTPUTS | {"two": [{"front": "a"}]}, "input", "'back': expected a string, got null"),
        ({"one": [GOOD, BAD], "none": []}, "input", "there is no output"),
    ],
)
def test_a_faulty_output_is_an_errored_case_and_the_rest_is_intact(
    outputs: Any, code: str, message: str
) -> None:
    run = evaluate_dataset(DATASET, outputs)
    error = run.results["two"].error
    assert error is not None
    assert error.code == code
    assert message in error.message
    assert [*run.scores] == ["one", "none"]


CardType = Enum("CardType", {"QA": "qa", "CLOZE": "cloze"})
ModelCard: Any = create_model(
    "ModelCard", front=(str, ...), back=(str, ...), card_type=(CardType, ...)
)
EXPECTED: tuple[Any, ...] = (
    expected_card(front=["a", "b"], back=["c"], card_type="qa"),
    ExpectedCard({"front": ("a", "b"), "back": ("c",)}, "qa"),
    {"front_keywords": ["a", "b"], "back_keywords": ["c"], "card_type": "qa"},
    Wanted(["a", "b"], ["c"], CardType.QA),  # type: ignore[arg-type]
)
GENERATED: tuple[Any, ...] = (
    {"front": "a", "back": "c", "card_type": "qa", "more": 1},
    Card("a", "c", "qa"),
    ModelCard(front="a", back="c", card_type=CardType.QA),
)


@pytest.mark.parametrize("expected", EXPECTED, ids=lambda one: type(one).__name__)
@pytest.mark.parametrize("card", GENERATED, ids=lambda one: type(one).__name__)
def test_cards_of_any_type_score_the_same(expected: Any, card: Any) -> None:
    [match] = match_cards([expected], [card]).matches
    assert match.score == score_pair(expected, card) == 0.4 * 0.5 + 0.4 + 0.2
    assert match.right_type is True


QA = ModelCard(front="a", back="b", card_type=CardType.QA)
WANTED = {"front_keywords": ["a"], "back_keywords": ["b"]}
RIGHT = {"front": "a", "back": "b"}


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (evaluate_dataset, [DATASET, None], "outputs: expected a mapping from case id, or a list"),
        (evaluate_dataset, [DATASET, [[], []]], "outputs: 2 for 3 cases; give one for each"),
        (evaluate_dataset, [DATASET, {"thre": []}], "outputs: 1 for unknown cases: 'thre'"),
        (evaluate_dataset, [[], OUTPUTS], r"expected a CardDataset.*got list"),
        (match_cards, [[{}], []], "expected card 1: an expected card needs keywords, as <name>_ke"),
        (match_cards, [[WANTED | {"a": 1}], []], "expected card 1: .*unknown key 'a'; use"),
        (match_cards, [[WANTED], RIGHT], "cards must be a list, not dict"),
        (match_cards, [[WANTED], QA], "not ModelCard"),
        (match_cards, [[WANTED], [RIGHT, {"front": "a"}]], "generated card 2: 'back': expected"),
        (match_cards, [[WANTED], [None]], "generated card 1: 'front': expected a s"),
        (match_cards, [[WANTED], [RIGHT | {"back": None}]], "'back': expected a string, got null"),
        (score_pair, [WANTED, {"front": "a"}], "generated card 1: 'back': expected a string"),
        (CardDataset, [()], "the dataset has no cases"),
        (CardCase, ["a", None, ()], "case 'a': text: expected a string, got null"),
    ],
)
def test_what_cannot_be_used_is_refused(function: Any, arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        function(*arguments)


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
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


NO_CARDS = "    expected_cards: []"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("card_type", "cardtype", "line 4: expected card 1: .*unknown key 'cardtype'"),
        ('    text: "P', '    txt: "P', "line 4: unknown key 'txt'; use id, expected_cards, text"),
        ("version", "verion", "line 1: unknown key 'verion'; use cases, name, version"),
        ("{word: cell}", "''", "line 4: .*back_keywords: the empty string occurs"),
        ('["key concept", no]', "key", "line 4: .*front_keywords must be a list, not str"),
        ("- id: 2", "- id: case-01", "line 10: duplicate id 'case-01'"),
        (NO_CARDS, "    expected_cards: [x]", "line 10: .*needs keywords, as <name>_keywords"),
        ("- id: 2", "- id: true", "line 10: the id of a case must be a string .* got true"),
        (NO_CARDS, "", "line 10: 'expected_cards' is missing"),
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
        (load_dataset, "d.yaml", "", "expected an object with cases, name, version, got null"),
        (load_dataset, "d.yaml", "cases: []", "line 1: expected a list of one or more"),
        (load_outputs, "o.json", '[{"id": "a"}]', "item 1: 'cards' is missing"),
        (load_outputs, "o.jsonl", '{"id": "a", "cards": []}\n' * 2, "line 2: duplicate id"),
    ],
)
def test_a_file_of_another_shape_is_refused(
    tmp_path: Path, load: Any, name: str, text: str, message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load(put(tmp_path, name, text))


MIXED = CardDataset(
    (
        CardCase("half", "", (CARD, CARD)),
        CardCase("more", "", (CARD,)),
        CardCase("none", "", ()),
        CardCase("lost", "", (CARD,)),
    ),
)
RUN = evaluate_dataset(MIXED, {"half": [GOOD], "more": [GOOD, BAD, BAD], "none": []})


def test_macro_is_the_mean_over_cases_and_micro_over_cards() -> None:
    f1 = (2 / 3 + 0.5 + 1) / 3
    assert RUN.macro == pytest.approx(((0.5 + 1 + 1) / 3, (1 + 1 / 3 + 1) / 3, f1, 1.0))
    assert RUN.micro == (2 / 3, 2 / 4, 4 / 7, 1.0)
    assert RUN.mean == pytest.approx(f1)
    assert RUN.counts == {"passed": 1, "failed": 2, "errors": 1}
    lost = evaluate_dataset(MIXED, {})
    assert (lost.macro, lost.micro, lost.mean) == (None, None, None)


def test_any_run_is_read_back_and_a_damaged_one_refused() -> None:
    data = json.loads(RUN.to_json())
    assert CardRun.from_dict(data) == RUN
    for damage, message in (
        ({"format": "factcheck-cards/3"}, "expected format 'factcheck-cards/4', got"),
        ({"signature": 3}, "run: 'signature': expected a string, got 3"),
        ({"results": {"half": {**data["results"]["half"], "details": {"f1": 1}}}}, "is missing"),
    ):
        with pytest.raises(InputError, match=message):
            CardRun.from_dict({**data, **damage})


@pytest.mark.parametrize(
    ("cards", "lines"),
    [
        ([], ["nothing was generated"]),
        ([{"front": "a", "back": "atom"}], ["no generated card scores above 0"]),
        (
            [{"front": "cell", "back": "atom"}, {"front": "cell!", "back": ""}],
            ["nearest: card 2, score 0.500, below the threshold of 0.6: front: “cell!”; back: “”"],
        ),
    ],
)
def test_a_missed_card_has_a_nearest_one(cards: list[dict[str, str]], lines: list[str]) -> None:
    expected = ExpectedCard({"front": ("cell",), "back": ("unit", Not("atom"))})
    run = evaluate_dataset(CardDataset((CardCase("c", "", (expected,)),)), [cards], 0.6)
    first, *others = run.results["c"].lines
    assert first.startswith("missed: expected card 1, lacks ")
    assert others[:1] == lines
    assert [line for line in others if line.startswith("extra")] == [
        f"extra: card {number}: front: “{card['front']}”; back: “{card['back']}”"
        for number, card in enumerate(cards, 1)
    ]
    assert lines[0] in str(run)


def test_a_card_that_another_one_took_is_named() -> None:
    easy, picky = ExpectedCard({"text": ("cell",)}), ExpectedCard({"text": ("cell", "wall")})
    dataset = CardDataset((CardCase("c", "", (easy, picky)),))
    cards = [{"text": "the cell wall"}, {"text": "a cell"}]
    taken = evaluate_dataset(dataset, [cards[:1]], 0.6).results["c"].lines
    best = evaluate_dataset(dataset, [cards], 0.6, assignment="optimal").results["c"].lines
    assert taken[1].startswith("nearest: card 1, score 1.000, matched with expected card 1: text")
    assert best == ()
