"""Settings of a model are checked, in Python and in a file, before anything is sent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from factcheck import FactCoverage, Model
from factcheck.errors import ConfigError, FactcheckError
from factcheck.judges.factory import read_model
from factcheck.judges.llm.providers import access_to
from factcheck.settings import Settings
from factcheck.testing import FactModel, LocalOpenAIServer

FILE = """\
careful:
  model: openai/gpt-5-mini
  temperature: null
  reasoning_effort: high
near:
  model: hosted_vllm/qwen3-8b
  base_url: {base_url}
  api_key_env: TEAM_KEY
  seed: 7
  extra_body: {{top_k: 1}}
"""
WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "too hot": ({"temperature": 2.5}, "temperature"),
    "a temperature that is none": ({"temperature": "warm"}, "temperature"),
    "no share": ({"top_p": 0}, "top_p"),
    "a seed that is none": ({"seed": 1.5}, "seed"),
    "no tokens": ({"max_tokens": 0}, "max_tokens"),
    "blank effort": ({"reasoning_effort": " "}, "reasoning_effort"),
    "a setting twice": ({"extra_body": {"temperature": 1}}, "must not contain temperature"),
    "no JSON": ({"extra_body": {"x": {1, 2}}}, "not JSON"),
    "no mapping": ({"extra_body": [1]}, "mapping"),
    "no form": ({"verdict": "quotes"}, "verdict must be one of label, line, quote, reason"),
    "quotes on several": ({"verdict": "quote", "summaries_per_call": 2}, "summaries_per_call"),
    "too many summaries": ({"summaries_per_call": 9}, "summaries_per_call"),
    "no label": ({"probabilities": True}, "probabilities need verdict 'label'"),
    "of several": (
        {"probabilities": True, "verdict": "label", "summaries_per_call": 2},
        "probabilities need",
    ),
    "no boolean": ({"probabilities": 1, "verdict": "label"}, "probabilities must be true or false"),
    "never": ({"repeats": 0}, "repeats"),
    "too often": ({"repeats": 10}, "repeats"),
    "another name for it": ({"extra_body": {"logprobs": True}}, "must not contain logprobs"),
}
ADDRESSES = (
    *("http://me:geheim123@127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1?key=geheim123"),
    *("127.0.0.1", "ftp://127.0.0.1/v1", "http://[::1", "http://h:99999/v1"),
)


@pytest.mark.parametrize(("settings", "says"), WRONG.values(), ids=WRONG)
def test_a_setting_that_cannot_be_is_refused(settings: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        Model("openai/m", **settings)


def test_an_address_holds_no_secret_and_shows_none() -> None:
    assert "geheim" not in repr(Model("openai/m", api_key="geheim123"))
    for url in ADDRESSES:
        with pytest.raises(ConfigError) as caught:
            access_to(Model("openai/m", base_url=url), Settings())
        assert "geheim" not in str(caught.value)
        with pytest.raises(ConfigError, match="OPENAI_BASE_URL"):
            access_to(Model("openai/m"), Settings(openai_base_url=url))
    with pytest.raises(ConfigError, match="OPENAI_API_KEY contains"):
        access_to(Model("openai/m"), Settings(openai_api_key="schlüssel"))


def test_a_file_names_models_with_their_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "judges.yaml"
    with LocalOpenAIServer(FactModel()) as server:
        path.write_text(FILE.format(base_url=server.base_url), "utf-8")
        monkeypatch.setenv("TEAM_KEY", "team-key-1")
        with FactCoverage(f"{path}#near", cache="off") as scorer:
            report = scorer.score("It rained.", "It rained.", facts=["It rained."])
    (request,) = server.requests
    assert report.score == 1.0
    assert request.headers["authorization"] == "Bearer team-key-1"
    assert (request.body["seed"], request.body["top_k"]) == (7, 1)
    assert "seed:7" in str(report.signature)
    careful = read_model(f"{path}#careful", Settings())
    assert (careful.temperature, careful.reasoning_effort) == (None, "high")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: {model: openai/m, temprature: 1}", "line 1: unknown settings: temprature"),
        ("a: {model: openai/m, api_key: geheim123}", "does not belong"),
        ("a: {model: openai/m, api_key_env: NO_SUCH_KEY}", "NO_SUCH_KEY, which is not set"),
        ("a: {temperature: 1}", "model: PROVIDER/MODEL"),
        ("a: {model: openai/m}\nb: {model: openai/n}", "#a, .*#b"),
        ("[1]", "names"),
        ("a: [", "not valid YAML"),
    ],
)
def test_a_file_that_cannot_be_used_says_where_and_why(
    text: str, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "judges.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(FactcheckError, match=says) as caught:
        FactCoverage(str(path), cache="off")
    assert "geheim" not in str(caught.value)


def test_a_provider_whose_packages_are_missing_names_the_extra(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("factcheck.judges.llm.providers.find_spec", lambda _: None)
    for name, extra in (("bedrock/anthropic.claude", "bedrock"), ("vertex_ai/gemini", "vertex")):
        with pytest.raises(ConfigError, match=rf"pip install 'factcheck\[{extra}\]'"):
            FactCoverage(name, cache="off")


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["temperature"], "'temperature' is not NAME=VALUE, such as temperature=0.5"),
        (["temperature="], "is not NAME=VALUE"),
        (["temprature=1"], "unknown settings: temprature; use api_key_env, base_url"),
        (["temperature=[", "seed=1"], "value of temperature"),
        (["seed=1", "seed=2"], "seed is given twice"),
        (["api_key=geheim123"], "a key does not belong"),
        (["model=openai/n"], "the model is the judge's name"),
        (["extra_body={temperature: 1}"], "extra_body must not contain temperature"),
    ],
)
def test_an_option_that_cannot_be_says_which_and_why(options: list[str], says: str) -> None:
    with pytest.raises(FactcheckError, match=says) as caught:
        read_model("openai/m", Settings(), options)
    assert "geheim" not in str(caught.value)


def test_options_go_before_the_file(tmp_path: Path) -> None:
    path = tmp_path / "judges.yaml"
    path.write_text("a: {model: openai/m, temperature: 1, seed: 7}", "utf-8")
    given = ["temperature=null", "reasoning_effort=none", "extra_body={top_k: 1}"]
    assert read_model(str(path), Settings()).seed == 7
    with pytest.raises(ConfigError, match=r"has no 'b'; name one: .*#a"):
        read_model(f"{path}#b", Settings())
    model = read_model(str(path), Settings(), given)
    assert (model.temperature, model.seed, model.reasoning_effort) == (None, 7, "none")
    assert model.extra_body == {"top_k": 1}
