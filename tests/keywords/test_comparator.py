"""The field comparator `keywords`: the share of keywords in the extracted text."""

from __future__ import annotations

from typing import Any

import pytest

from factcheck.errors import ParameterError
from factcheck.fields import Registry, evaluate
from factcheck.keywords import KeywordComparator


def evaluated(gold: Any, extracted: Any, params: dict[str, Any], **more: Any) -> Any:
    registry = Registry()
    registry.register("keywords", KeywordComparator())
    schema = {
        "type": "object",
        "properties": {"note": {"type": "string", "x-eval-compare": {"keywords": params}, **more}},
    }
    result = evaluate([{"note": gold}], [{"note": extracted}], schema, registry=registry)
    (field,) = result.records[0].field_results
    return field


def test_the_score_is_the_share_of_the_keywords_of_the_schema() -> None:
    words = {"keywords": ["waterproof", {"fold": "LEATHER"}, {"any": ["blue", "navy"]}]}
    field = evaluated("anything", "A waterproof boot of leather, red", words)
    assert field.score == pytest.approx(2 / 3)
    assert field.status == "mismatch"
    assert field.reason == "2 of 3 keywords; missing: blue or navy"


def test_a_threshold_says_what_matches() -> None:
    words = {"keywords": ["waterproof", "leather"]}
    field = evaluated("x", "leather", words, **{"x-eval-threshold": 0.5})
    assert field.status == "match"


def test_a_keyword_that_must_not_occur_takes_the_whole_score() -> None:
    field = evaluated("x", "leather and wool", {"keywords": ["wool", {"not": "leather"}]})
    assert field.score == 0.0
    assert field.reason == "1 of 1 keywords; must not occur: leather"


@pytest.mark.parametrize("gold", ["red, wool ,warm", ["red", "wool", "warm"]])
def test_without_keywords_in_the_schema_the_gold_value_has_them(gold: Any) -> None:
    registry = Registry()
    registry.register("keywords", KeywordComparator())
    compare = registry.get_comparator("keywords")
    assert compare(gold, "a red and warm coat", {}).score == pytest.approx(2 / 3)
    assert compare(gold, ["wool", "red, warm"], {}).score == 1.0


def test_nulls() -> None:
    compare = KeywordComparator()
    assert compare(None, None, {}).score == 1.0
    assert compare("red", None, {}).score == 0.0
    assert compare(None, "red", {"keywords": ["red"]}).score == 1.0
    assert compare("red", None, {"keywords": ["red"]}).score == 0.0


@pytest.mark.parametrize(
    ("gold", "extracted", "status"),
    [
        (7, "text", "error"),
        (" , ", "text", "error"),
        ([], "text", "error"),
        (["a"], {"a": 1}, "mismatch"),
    ],
)
def test_gold_without_keywords_is_an_error_of_its_field(
    gold: Any, extracted: Any, status: str
) -> None:
    assert evaluated(gold, extracted, {}).status == status


@pytest.mark.parametrize(
    "params", [{"words": ["a"]}, {"keywords": []}, {"keywords": "a"}, {"keywords": [{"x": "a"}]}]
)
def test_parameters_that_cannot_be_used_are_refused(params: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        KeywordComparator().check_params(params)


@pytest.mark.parametrize("name", ["keywords", "reference"])
def test_without_registration_the_error_says_how_it_is_had(name: str) -> None:
    with pytest.raises(KeyError, match=f"register.'{name}', factcheck"):
        Registry().get_comparator(name)
