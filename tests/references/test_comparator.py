"""The field comparator `reference`: how alike two texts are, asked about together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from factcheck.errors import ParameterError
from factcheck.fields import Registry, evaluate
from factcheck.references import ReferenceComparator

SCHEMA = {
    "type": "object",
    "properties": {
        "note": {
            "type": "string",
            "x-eval-compare": {"reference": {}},
            "x-eval-threshold": 0.6,
        }
    },
}


class Directions:
    """Turns a text into a direction by its first letter, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> list[list[float]]:
        if "boom" in texts:
            raise RuntimeError("no vectors today")
        self.asked.append(list(texts))
        return [[1.0, 0.0] if text.startswith("a") else [0.8, 0.6] for text in texts]


def fields(comparator: ReferenceComparator, gold: Sequence[Any], got: Sequence[Any]) -> list[Any]:
    registry = Registry()
    registry.register("reference", comparator)
    result = evaluate(
        [{"note": value} for value in gold], [{"note": value} for value in got], SCHEMA,
        registry=registry,
    )  # fmt: skip
    return [record.field_results[0] for record in result.records]


def test_the_score_is_the_similarity() -> None:
    (field,) = fields(ReferenceComparator(Directions()), ["apple"], ["berry"])
    assert field.score == pytest.approx(0.8)
    assert field.status == "match"


def test_all_records_are_embedded_together_and_each_text_once() -> None:
    model = Directions()
    fields(ReferenceComparator(model), ["apple", "apple", "bun"], ["berry", "ant", "berry"])
    (asked,) = model.asked
    assert sorted(asked) == ["ant", "apple", "berry", "bun"]


def test_equal_blank_and_null_texts_need_no_vector() -> None:
    model = Directions()
    found = fields(ReferenceComparator(model), ["apple", "a", None], ["apple", " ", None])
    assert [field.score for field in found] == [1.0, 0.0, 1.0]
    assert model.asked == []


def test_a_text_without_a_vector_is_a_batch_error_and_the_others_are_scored() -> None:
    found = fields(ReferenceComparator(Directions()), ["apple", "boom"], ["berry", "ant"])
    assert [field.status for field in found] == ["match", "batch_error"]


def test_several_references_are_one_gold_value() -> None:
    from factcheck.fields import BatchItem

    item = BatchItem("note", None, None, ["apple", "bun"], "bread")
    (answer,) = ReferenceComparator(Directions())([item])
    assert answer is not None
    assert answer.score == pytest.approx(1.0)


def test_the_embedded_provider_needs_nothing() -> None:
    (field,) = fields(ReferenceComparator(), ["a blue cotton shirt"], ["blue cotton shirts"])
    assert field.score > 0.6


def test_parameters_are_refused() -> None:
    with pytest.raises(ParameterError, match="x-eval-threshold"):
        ReferenceComparator().check_params({"threshold": 0.5})
