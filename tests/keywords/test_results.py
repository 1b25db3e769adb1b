"""Runs of cards become JSON and rows, and come back without loss."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import Failure, InputError
from factcheck.keywords import (
    CardCase,
    CardDataset,
    DatasetResult,
    MatchSettings,
    evaluate_dataset,
)
from tests.keywords.runs import card_run, case
from tests.keywords.strategies import any_text, cards, wanted_cards

RUN = card_run(
    case("a", 1, 2, 3),
    Failure("b", "callable", "ValueError: no"),
    settings=MatchSettings(0.4, {"text": 2}, 0.1, "optimal"),
)


@given(
    st.lists(st.lists(wanted_cards, max_size=3), min_size=1, max_size=3),
    st.lists(cards, max_size=3),
    any_text,
)
def test_any_run_is_read_back(
    expected: list[list[Any]], generated: list[Any], version: str
) -> None:
    cases = tuple(CardCase(f"c{k}", "", tuple(own)) for k, own in enumerate(expected))
    dataset = CardDataset(cases, "n", version)
    outputs = [generated] * (len(cases) - 1) + [None]
    run = evaluate_dataset(dataset, outputs, assignment="optimal")

    assert DatasetResult.from_dict(json.loads(json.dumps(run.to_dict()))) == run


def test_there_is_a_row_for_every_case() -> None:
    scored, errored = RUN.to_rows()

    assert (scored["case"], scored["status"], scored["message"]) == ("a", "scored", None)
    assert [scored[name] for name in ("expected", "generated", "matched")] == [2, 3, 1]
    assert scored["f1"] == 0.4
    assert (errored["case"], errored["status"], errored["f1"]) == ("b", "errored", None)
    assert errored["message"] == "callable: ValueError: no"


def changed(**changes: Any) -> dict[str, Any]:
    return {**RUN.to_dict(), **changes}


def with_case(**changes: Any) -> dict[str, Any]:
    [first] = RUN.to_dict()["cases"]
    return changed(cases=[{**first, **changes}])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "expected format 'factcheck-keywords-cards/2', got 3"),
        ({}, "expected format 'factcheck-keywords-cards/2', got null"),
        (changed(format="factcheck-keywords-cards/1"), "got 'factcheck-keywords-cards/1'"),
        (changed(name=3), "'name': expected a string"),
        (changed(settings={"threshold": 3}), "threshold must be"),
        (changed(cases=3), "'cases': expected a list"),
        (changed(cases=[{}]), "'case_id' is missing"),
        (changed(digests={"a": None, "b": "x"}), "'digests': 'a': expected a string"),
        (changed(cases=[]), "no cases, or not those of its digests"),
        (with_case(extra=[1]), "case 'a': card counts do not add up; damaged run"),
        (with_case(missed=[]), "case 'a': card counts do not add up"),
        (with_case(matches=[{}]), "'matches', item 1: 'expected' is missing"),
    ],
)
def test_what_is_no_run_is_refused(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        DatasetResult.from_dict(data)
