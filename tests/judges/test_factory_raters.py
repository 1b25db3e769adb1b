"""From the name of a rater to the object that answers."""

from __future__ import annotations

import asyncio
from typing import Any

import dspy
import pytest

from factcheck import ConfigError, Ledger, Rating
from factcheck.judges.factory import BuiltRater, build_rater
from factcheck.judges.llm.rating import LLMRater
from factcheck.runtime.options import CallOptions
from factcheck.settings import Settings
from factcheck.testing import FactModel, LocalOpenAIServer, ScriptedPairJudge, ScriptedRater

WITH_KEY = Settings(openai_api_key="sk-none")


def build(spec: Any, settings: Settings = WITH_KEY) -> BuiltRater:
    return build_rater(spec, settings, CallOptions())


def test_a_model_is_named_as_everywhere() -> None:
    rater, models = build("openai/gpt-5-nano")

    assert isinstance(rater, LLMRater)
    assert [model.name for model in models] == ["openai/gpt-5-nano"]


def test_a_dspy_model_is_a_rater() -> None:
    with LocalOpenAIServer(FactModel()) as server:
        lm = dspy.LM("hosted_vllm/tiny", api_base=server.base_url, api_key="x")
        rater, models = build(lm)
        result = asyncio.run(rater.rate("It rained.", "- It rained.", Ledger()))

    assert result == Rating(5, "scripted", "hosted_vllm/tiny")
    assert len(models) == 1


def test_an_object_with_the_port_is_itself() -> None:
    rater = ScriptedRater({})

    assert build(rater) == (rater, ())


def test_the_settings_name_the_rater_where_the_caller_does_not() -> None:
    settings = Settings(judge="openai/gpt-5-nano", openai_api_key="sk-none")

    assert isinstance(build(None, settings).rater, LLMRater)


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("local", "the embedded judge checks facts and gives no ratings; use 'PROVIDER/MODEL'"),
        (None, "the embedded judge checks facts and gives no ratings"),
        ("replay:answers.jsonl", "recordings hold verdicts on facts only"),
        ("locale", "unknown rater 'locale'; use 'PROVIDER/MODEL'"),
        ("", "unknown rater ''"),
        (ScriptedPairJudge({}), r"ScriptedPairJudge is no rater.*rate\(source, summary, ledger\)"),
        (ScriptedRater, "type is no rater"),
        (7, "int is no rater"),
    ],
)
def test_what_is_no_rater_is_told_so(spec: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        build(spec)


def test_a_missing_key_is_found_before_anything_is_sent() -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        build("openai/gpt-5-nano", Settings())
