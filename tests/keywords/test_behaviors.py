"""Guides give their labels; suites of behaviors: responses of any shape, faulty ones apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from factcheck.errors import InputError
from factcheck.keywords import (
    CardCase,
    CardDataset,
    EvalCase,
    EvalDataset,
    Guide,
    classify_behavior,
    evaluate_behaviors,
    evaluate_conflict_behavior,
    load_cases,
    load_responses,
)
from factcheck.stats.intervals import wilson

CITIES = {
    "strict_keywords": ["拒绝", "积分", "不达标", "无房不能落户"],
    "service_keywords": ["可以", "零门槛", "凭身份证", "即时办"],
}
"""The guide of the seed."""
SAME_LABEL = {"a b_keywords": ["x"], "a_b_keywords": ["y"]}
FOUR = {"b0_keywords": ["a"], "b1_keywords": ["b"], "b2_keywords": ["c"], "b3_keywords": []}
FORMS = {
    "strict_keywords": [{"fold": {"word": "refuse"}}, {"not": "bin"}],
    "service_keywords": [{"any": ["gladly", "Gladly"]}, "days"],
}


@pytest.mark.parametrize(
    ("guide", "response", "label"),
    [
        (CITIES, "根据上海市居住证积分管理办法，您需要满足积分要求", "STRICT_BEHAVIOR"),
        (CITIES, "您可以凭身份证零门槛落户", "SERVICE_BEHAVIOR"),
        (CITIES, "您可以申请，但积分不达标", "AMBIGUOUS"),
        (CITIES, "请咨询当地派出所", "NO_MATCH"),
        (CITIES, "", "NO_MATCH"),
        (FOUR, "c!", "B2_BEHAVIOR"),
        (FOUR, "cb", "AMBIGUOUS"),
        (FORMS, "I must REFUSE, sorry", "STRICT_BEHAVIOR"),
        (FORMS, "a refuse bin", "NO_MATCH"),
        (FORMS, "I refuse, gladly", "AMBIGUOUS"),
        (FORMS, "within 12 days", "SERVICE_BEHAVIOR"),
    ],
)
def test_a_guide_gives_its_labels(guide: dict[str, Any], response: str, label: str) -> None:
    """Those of the seed, of any number of behaviors, and of keywords in every form."""
    assert classify_behavior(response, guide) == label
    made = Guide({name.removesuffix("_keywords"): tuple(own) for name, own in guide.items()})
    assert classify_behavior(response, made) == label


SEED_CASE = {"instruction": "能直接落户吗？", "input": "", "output": "", "evaluation_guide": CITIES}
STRICT, SERVICE, BOTH, NEITHER = "积分不达标", "可以即时办", "可以，但要积分", "请咨询"
CASES = [SEED_CASE] * 4
RESPONSES = {
    "strict": [STRICT, BOTH, STRICT, SERVICE],
    "service": [SERVICE, SERVICE, NEITHER, STRICT],
}
"""The first case passes; the others fail in the three ways there are."""


def test_a_case_passes_if_every_variant_behaves_as_it_is_to() -> None:
    run = evaluate_behaviors(CASES, RESPONSES)
    passed = {name: result.passed for name, result in run.results.items()}
    assert passed == {"1": True, "2": False, "3": False, "4": False}
    assert (run.pass_rate, run.interval) == (0.25, wilson(0.25, 4))
    assert run.counts == {"passed": 1, "failed": 3, "errors": 0}
    assert run.failures == {"AMBIGUOUS": 1, "NO_MATCH": 1, "WRONG_BEHAVIOR": 2, "ERROR": 0}
    assert run.results["2"].reason == "strict: AMBIGUOUS"
    found = "STRICT_BEHAVIOR: 积分; SERVICE_BEHAVIOR: 可以"
    [line] = run.results["2"].lines
    assert line == f"strict: expected STRICT_BEHAVIOR, shows AMBIGUOUS; {found}; “{BOTH}”"


@pytest.mark.parametrize(
    ("service", "message"),
    [
        ([SERVICE, SERVICE, 7, STRICT], "expected a string as response, got int"),
        ([SERVICE, SERVICE, None, STRICT], "there is no response"),
        ({"1": SERVICE, "2": SERVICE, "4": STRICT}, "there is no response"),
    ],
)
def test_a_case_without_a_response_is_errored_alone(service: Any, message: str) -> None:
    run = evaluate_behaviors(CASES, {**RESPONSES, "service": service})
    assert [one.passed for one in run.results.values()] == [True, False, None, False]
    assert run.pass_rate == 1 / 3
    assert run.failures["ERROR"] == 1
    error = run.results["3"].error
    assert error is not None
    assert error.code == "input"
    assert message in error.message


def test_variants_may_be_anything_and_expect_anything() -> None:
    """Two adapters are to refuse, and one prompt is to match nothing; other cases say nothing."""
    expected = {"adapter a": "strict", "adapter b": "STRICT_BEHAVIOR", "prompt": "NO_MATCH"}
    said = {"adapter a": STRICT, "adapter b": SERVICE, "prompt": NEITHER}
    cases = [SEED_CASE | {"id": "x", "expected": expected}, SEED_CASE]
    responses = {variant: {"x": response} for variant, response in said.items()}
    run = evaluate_behaviors(cases, {**responses, "strict": {"2": SERVICE}, "service": {"2": BOTH}})
    assert [outcome.failure for outcome in run.outcomes()] == [
        *("", "WRONG_BEHAVIOR", ""),
        *("WRONG_BEHAVIOR", "AMBIGUOUS"),
    ]
    assert [outcome.variant for outcome in run.outcomes()][3:] == ["strict", "service"]


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (classify_behavior, ["", None], "a guide must be a mapping with <name>_keywords, got n"),
        (classify_behavior, ["", {"strict": ["a"]}], "a guide: unknown key 'strict'; use"),
        (classify_behavior, ["", {"a_keywords": [{"not": "a"}]}], "has forbidden keywords only"),
        (classify_behavior, ["", SAME_LABEL], "two behaviors .* A_B_BEHAVIOR"),
        (classify_behavior, ["", {" _keywords": ["x"]}], "a guide: a name must be .* got ' '"),
        (classify_behavior, [None, CITIES], "response: expected a string, got null"),
        (evaluate_behaviors, [CASES, None], "responses: expected a mapping from variant, got None"),
        (evaluate_behaviors, [CASES, {"strict": "x"}], "'strict': expected a mapping from .* str"),
        (evaluate_behaviors, [CASES, {"strict": ["a"]}], "variant 'strict': 1 for 4 cases; give"),
        (evaluate_behaviors, [CASES, {"strict": {"9": "a"}}], "1 for unknown cases: '9'"),
        (evaluate_behaviors, [CASES, {"strct": []}], "unknown variant 'strct'; variants are 'stri"),
        (evaluate_behaviors, [[], {}], "the suite has no cases"),
        (evaluate_behaviors, [[{"instruction": "x"}], {}], "case 1: 'evaluation_guide' is missing"),
        (evaluate_behaviors, [[SEED_CASE | {"instruction": None}], {}], "'instruction': expected"),
        (evaluate_behaviors, [[SEED_CASE | {"expected": ["m"]}], {}], "'expected': expected an ob"),
        (evaluate_behaviors, [[SEED_CASE | {"expected": {"m": "kind"}}], {}], "behavior 'kind'"),
    ],
)
def test_what_cannot_be_used_is_refused(function: Any, arguments: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        function(*arguments)


def put(folder: Path, name: str, data: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(data, ensure_ascii=False, indent=1), encoding="utf-8")
    return path


def test_suites_and_responses_are_read_from_files_of_many_shapes(tmp_path: Path) -> None:
    rows = [
        {"id": name, "variant": variant, "response": response}
        for variant, own in RESPONSES.items()
        for name, response in zip("1234", own, strict=True)
    ]
    by_id = {variant: dict(zip("1234", own, strict=True)) for variant, own in RESPONSES.items()}
    expected = evaluate_behaviors(CASES, RESPONSES)
    for data in (CASES, {"name": "cities", "version": 2, "cases": CASES}):
        suite = load_cases(put(tmp_path, "conflict_cases.json", data))
        assert evaluate_behaviors(suite, RESPONSES) == expected
    for shape in (RESPONSES, by_id, rows):
        responses = load_responses(put(tmp_path, "r.json", shape))
        assert evaluate_behaviors(CASES, responses) == expected


def test_the_names_of_the_article_work() -> None:
    guide = {"strict_keywords": ["cannot"], "service_keywords": ["gladly"]}
    assert evaluate_conflict_behavior("We cannot.", guide) == "STRICT_BEHAVIOR"
    case = {"instruction": "?", "evaluation_guide": guide}
    results = evaluate_behaviors([case], {"strict": ["We cannot."], "service": ["Gladly!"]})
    assert results["pass_rate"] == results.pass_rate
    with pytest.raises(KeyError, match="'passrate' is none of format, counts, pass_rate"):
        results["passrate"]
    assert (EvalCase, EvalDataset) == (CardCase, CardDataset)
