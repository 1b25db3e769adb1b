"""From plain data to cases."""

from __future__ import annotations

from typing import Any

import pytest

from factcheck import AtomicFact
from factcheck.errors import InputError
from factcheck.metrics import EvalCase, MetricResult
from factcheck.metrics.evaluation import read_cases


def test_a_mapping_is_read_like_a_case() -> None:
    data: dict[str, Any] = {
        "actual_output": "Paris.",
        "references": ["Paris", "It is Paris."],
        "facts": ["Paris is the capital."],
        "metadata": {"run": 3},
    }
    case = EvalCase.of(data)
    assert case == EvalCase(**data)
    assert case.references == ("Paris", "It is Paris.")
    assert case.facts == (AtomicFact("f1", "Paris is the capital."),)


@pytest.mark.parametrize(
    ("item", "says"),
    [
        ({"output": "x", "actual_output": "y"}, r"unknown keys \['output'\]; use"),
        ({"input": "x"}, "'actual_output' is missing"),
        ({"actual_output": "x", "input": 3}, "'input' must be a string, got int"),
        ({"actual_output": "x", "source": [7]}, "'source', document 1: expected a string"),
        ({"actual_output": "x", "id": 7}, "'id' must be a string, got int"),
        ({"actual_output": "x", "id": " "}, "'id' is blank"),
        ({"actual_output": "x", "references": "y"}, "'references' must be a list of strings"),
        ({"actual_output": "x", "references": ["y", None]}, "number 2 is not a string"),
        ({"actual_output": "x", "facts": [" "]}, "has no text"),
        ("x", "must be an EvalCase or a mapping with its fields, got str"),
        (None, "got NoneType"),
    ],
)
def test_what_is_no_case_says_why(item: Any, says: str) -> None:
    with pytest.raises(InputError, match=says):
        EvalCase.of(item)


def test_cases_without_an_id_have_their_position() -> None:
    read = read_cases([{"actual_output": "a"}, {"actual_output": "b", "id": "x"}, {"b": 1}])
    assert list(read) == ["1", "x", "3"]
    assert isinstance(read["3"], MetricResult)
    with pytest.raises(InputError, match="two cases have the id 'x'"):
        read_cases([{"actual_output": "a", "id": "x"}, {"actual_output": "b", "id": "x"}])
    one: Any
    for one in (EvalCase(actual_output="a"), {"actual_output": "a"}, "a", None):
        with pytest.raises(InputError, match="cases must be a list of EvalCase"):
            read_cases(one)
