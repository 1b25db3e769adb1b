"""Faults of guides are found, each once, with all cases that have it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from factcheck.keywords import BehaviorCase, Guide, lint_guides


def faults(
    strict: list[Any], service: list[Any], instruction: str = "Well?", **options: Any
) -> list[tuple[str, str, str, str]]:
    """The faults of one guide."""
    guide = {"strict_keywords": strict, "service_keywords": service}
    cases = [BehaviorCase("1", instruction, Guide.from_dict(guide))]
    return [(f.kind, f.behavior, f.keyword, f.other) for f in lint_guides(cases, **options)]


@pytest.mark.parametrize(
    ("strict", "service", "expected"),
    [
        (["refuse"], ["gladly"], []),
        (["积分", "拒绝"], ["可以"], []),
        (["refuse"], ["refuse"], [("shared", "strict", "refuse", "service: 'refuse'")]),
        (
            ["落户"],
            ["凭身份证落户"],
            [("inside", "strict", "落户", "service: '凭身份证落户'")],
        ),
        (
            ["can not enter"],
            ["can not"],
            [("inside", "service", "can not", "strict: 'can not enter'")],
        ),
        (
            [{"fold": "REFUSE"}],
            ["I refuse"],
            [("inside", "strict", "REFUSE (any case or accent)", "service: 'I refuse'")],
        ),
        (
            ["refuse", {"any": ["yes sir", "aye"]}],
            ["yes"],
            [("inside", "service", "yes", "strict: 'yes sir or aye'")],
        ),
        ([{"word": "fuse"}], ["refuse"], []),
        ([{"not": "gladly"}, "refuse"], ["gladly"], []),
        (["no"], ["yes"], [("short", "strict", "no", "")]),
        ([{"word": "no"}], ["yes"], []),
        (["不"], ["可以"], [("short", "strict", "不", "")]),
        ([{"regex": "x*"}], ["yes"], [("empty", "strict", "/x*/", "")]),
        ([], ["yes"], [("empty", "strict", "", "")]),
        (["refuse", "refuse"], ["yes"], [("duplicate", "strict", "refuse", "")]),
    ],
)
def test_each_fault_is_found(
    strict: list[Any], service: list[Any], expected: list[tuple[str, str, str, str]]
) -> None:
    assert faults(strict, service) == expected


def test_a_keyword_of_the_prompt_is_found() -> None:
    assert faults(["refuse"], ["gladly"], "Will you refuse?") == [
        ("in_prompt", "strict", "refuse", "")
    ]
    case = {
        "instruction": "Answer.",
        "input": "Gladly or gladly?",
        "evaluation_guide": {"service_keywords": ["gladly"]},
    }
    [finding] = lint_guides([case])
    assert finding.message == (
        "service: 'gladly' occurs in the prompt: a response that repeats the question shows it"
    )


def test_one_fault_of_many_cases_is_one_finding() -> None:
    case = {"instruction": "?", "evaluation_guide": {"strict_keywords": ["no"]}}
    [finding] = lint_guides([case] * 3)

    assert finding.case_ids == ("1", "2", "3")
    assert json.loads(json.dumps(finding.to_dict()))["message"] == finding.message


def test_large_guides_are_searched_and_not_compared_pair_by_pair() -> None:
    """Ten thousand keywords on either side would be a hundred million pairs."""
    strict = [f"s{k:05}" for k in range(10_000)]
    service = [f"t{k:05}" for k in range(9_998)] + ["s00007", "a s00003 b"]

    assert faults(strict, service) == [
        ("shared", "strict", "s00007", "service: 's00007'"),
        ("inside", "strict", "s00003", "service: 'a s00003 b'"),
    ]
