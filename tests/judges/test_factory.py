"""From the name of a pair judge to the object that answers."""

from __future__ import annotations

import asyncio
import importlib.util
from typing import Any

import dspy
import pytest

from factcheck import ConfigError, Ledger, PairVerdict, ValuePair
from factcheck.judges.cascade import CascadePairJudge
from factcheck.judges.factory import BuiltPairJudge, build_pair_judge
from factcheck.judges.llm.pairs import LLMPairJudge
from factcheck.runtime.options import CallOptions
from factcheck.settings import Settings
from factcheck.testing import FactModel, LocalOpenAIServer, ScriptedChecker, ScriptedPairJudge

WITH_KEY = Settings(openai_api_key="sk-none")
with_local = pytest.mark.skipif(
    importlib.util.find_spec("factcheck.judges.local.pairs") is None,
    reason="the embedded pair judge is not there",
)


def build(spec: Any, settings: Settings = WITH_KEY) -> BuiltPairJudge:
    return build_pair_judge(spec, settings, CallOptions())


def test_a_model_is_named_as_everywhere() -> None:
    judge, models = build("openai/gpt-5-nano")

    assert isinstance(judge, LLMPairJudge)
    assert [model.name for model in models] == ["openai/gpt-5-nano"]


def test_a_dspy_model_is_a_pair_judge() -> None:
    with LocalOpenAIServer(FactModel()) as server:
        lm = dspy.LM("hosted_vllm/tiny", api_base=server.base_url, api_key="x")
        judge, models = build(lm)
        (result,) = asyncio.run(judge.compare([ValuePair("a b", "b a")], Ledger()))

    assert result == PairVerdict(True, None, "scripted", "hosted_vllm/tiny")
    assert len(models) == 1


def test_an_object_with_the_port_is_itself() -> None:
    judge = ScriptedPairJudge({})

    assert build(judge) == (judge, ())


def test_the_settings_name_the_judge_where_the_caller_does_not() -> None:
    settings = Settings(judge="openai/gpt-5-nano", openai_api_key="sk-none")

    assert isinstance(build(None, settings).judge, LLMPairJudge)


@with_local
def test_the_embedded_judge_has_no_models_to_close() -> None:
    judge, models = build("local")

    assert judge.identity["judge"]
    assert models == ()


@pytest.mark.parametrize(
    "spec",
    [
        "cascade(openai/gpt-5-nano, openai/gpt-5-mini)",
        "cascade(openai/gpt-5-nano,openai/gpt-5-mini)",
        "cascade( openai/gpt-5-nano , openai/gpt-5-mini )",
    ],
)
def test_a_cascade_is_named_by_its_judges(spec: str) -> None:
    judge, models = build(spec)

    assert isinstance(judge, CascadePairJudge)
    assert judge.identity["judge"] == "cascade(0.05, 0.9)"
    assert judge.identity["first.judge"] == "openai/gpt-5-nano"
    assert judge.identity["second.judge"] == "openai/gpt-5-mini"
    assert [model.name for model in models] == ["openai/gpt-5-nano", "openai/gpt-5-mini"]


@with_local
def test_a_cascade_may_begin_with_the_embedded_judge_and_go_on_with_a_cascade() -> None:
    judge, models = build("cascade(local, cascade(openai/a, openai/b))")

    assert judge.identity["first.judge"] == build("local").judge.identity["judge"]
    assert judge.identity["second.second.judge"] == "openai/b"
    assert len(models) == 2


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("replay:answers.jsonl", "recordings hold verdicts on facts only"),
        ("cascade(openai/a, replay:answers.jsonl)", "recordings hold verdicts on facts only"),
        ("locale", r"unknown judge 'locale'; use 'local', 'PROVIDER/MODEL'.*'cascade\("),
        ("cascade(openai/a)", "unknown judge 'cascade"),
        ("cascade(openai/a, nobody)", "unknown judge 'nobody'"),
        ("", "unknown judge ''"),
        (ScriptedChecker({}), r"ScriptedChecker is no pair judge.*compare\(pairs, ledger\)"),
        (ScriptedPairJudge, "type is no pair judge"),
        (7, "int is no pair judge"),
    ],
)
def test_what_is_no_pair_judge_is_told_so(spec: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        build(spec)


def test_a_missing_key_is_found_before_anything_is_sent() -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        build("openai/gpt-5-nano", Settings())
