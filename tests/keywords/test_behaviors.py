"""Responses are labelled with the behavior whose keywords occur in them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import InputError
from factcheck.keywords import (
    Guide,
    classify_behavior,
    evaluate_behaviors,
)
from tests.keywords import naive
from tests.keywords.strategies import keyword_lists, texts, texts_with

CITIES = {
    "strict_keywords": ["拒绝", "积分", "不达标", "无房不能落户"],
    "service_keywords": ["可以", "零门槛", "凭身份证", "即时办"],
}
"""The guide of the seed."""


@pytest.mark.parametrize(
    ("response", "label"),
    [
        ("根据上海市居住证积分管理办法，您需要满足积分要求", "STRICT_BEHAVIOR"),
        ("您可以凭身份证零门槛落户", "SERVICE_BEHAVIOR"),
        ("您可以申请，但积分不达标", "AMBIGUOUS"),
        ("请咨询当地派出所", "NO_MATCH"),
        ("", "NO_MATCH"),
    ],
)
def test_the_guide_of_the_seed_gives_its_labels(response: str, label: str) -> None:
    assert classify_behavior(response, CITIES) == label
    guide = Guide({name.removesuffix("_keywords"): tuple(own) for name, own in CITIES.items()})
    assert classify_behavior(response, guide) == label


@given(st.data())
def test_labels_are_those_of_the_plain_rule_one_by_one_and_many_at_once(
    data: st.DataObject,
) -> None:
    """Keywords overlap, contain each other, and are shared by both behaviors."""
    guide = {name: data.draw(keyword_lists) for name in CITIES}
    words = [word for own in guide.values() for word in own]
    responses = data.draw(st.lists(texts_with(words) | texts, min_size=1, max_size=6))
    expected = [naive.label(response, guide) for response in responses]

    assert [classify_behavior(response, guide) for response in responses] == expected


@pytest.mark.parametrize(
    ("response", "label"),
    [("a", "B0_BEHAVIOR"), ("c!", "B2_BEHAVIOR"), ("cb", "AMBIGUOUS"), ("d", "NO_MATCH")],
)
def test_a_guide_may_have_any_number_of_behaviors(response: str, label: str) -> None:
    guide = {"b0_keywords": ["a"], "b1_keywords": ["b"], "b2_keywords": ["c"], "b3_keywords": []}

    assert classify_behavior(response, guide) == label


@pytest.mark.parametrize(
    ("response", "label"),
    [
        ("I must refuse.", "STRICT_BEHAVIOR"),
        ("I must REFUSE, sorry", "STRICT_BEHAVIOR"),
        ("a refuse bin", "NO_MATCH"),
        ("Gladly", "SERVICE_BEHAVIOR"),
        ("I refuse, gladly", "AMBIGUOUS"),
        ("within 12 days", "SERVICE_BEHAVIOR"),
    ],
)
def test_every_form_tells_behaviors_apart(response: str, label: str) -> None:
    guide = {
        "strict_keywords": [{"fold": {"word": "refuse"}}, {"not": "bin"}],
        "service_keywords": [{"any": ["gladly", "Gladly"]}, {"regex": r"\d+ days"}],
    }

    assert classify_behavior(response, guide) == label


def test_a_behavior_without_keywords_never_shows_and_is_warned_of() -> None:
    guide = {"strict_keywords": [], "service_keywords": ["yes"]}
    run = evaluate_behaviors([{"instruction": "?", "evaluation_guide": guide}], {})

    assert classify_behavior("anything", guide) == "NO_MATCH"
    assert classify_behavior("yes", guide) == "SERVICE_BEHAVIOR"
    assert run.warnings == ("case '1': strict_keywords is empty, so strict never shows",)


@pytest.mark.parametrize(
    ("guide", "message"),
    [
        (None, "a guide must be a mapping with <behavior>_keywords, got None"),
        (["a"], "got .'a'."),
        ({}, "a guide needs behaviors|no keywords; add <name>_keywords"),
        ({"strict": ["a"]}, "guide: strict: unknown key; use <name>_keywords"),
        ({"strict_keywords": "a"}, "guide: strict_keywords: expected a list, got 'a'"),
        ({"strict_keywords": [1.5]}, "a keyword must be a string"),
        ({"strict_keywords": [{"not": "a"}]}, "strict_keywords has forbidden keywords only"),
        ({"a b_keywords": ["x"], "a_b_keywords": ["y"]}, "two behaviors .* A_B_BEHAVIOR"),
        ({" _keywords": ["x"]}, "the name of a behavior must be .* got ' '"),
    ],
)
def test_a_guide_that_cannot_be_used_is_refused(guide: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        classify_behavior("text", guide)


@pytest.mark.parametrize("response", [None, 3, b"a", ["a"]])
def test_a_response_that_is_no_text_is_refused(response: Any) -> None:
    with pytest.raises(InputError, match="response: expected a string"):
        classify_behavior(response, CITIES)
