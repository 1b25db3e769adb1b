"""What goes out is what the signature says and the server takes; only whole answers count."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import dspy
import pytest

from factcheck.errors import (
    JudgeOutputError,
    JudgeRefused,
    JudgeTruncated,
    JudgeUnavailable,
)
from factcheck.judges.llm.dialect import Dialect
from factcheck.judges.llm.errors import RequestRefused, redacted
from factcheck.judges.llm.language_model import connect
from factcheck.judges.llm.modules import Question
from factcheck.judges.llm.transports import LMTransport, read_completion, require_no_error
from factcheck.judges.ports import Ledger
from factcheck.runtime.budget import Tokens
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.settings import Model, Settings
from tests.judges.llm.conftest import Provider, anthropic_message, completion

SETTINGS: dict[str, Any] = {"temperature": 0.7, "top_p": 0.5, "seed": 3}
REPLY = '{"sky": "blue"}'


class Wire(NamedTuple):
    """Where a provider's requests go, and where its settings stand in them."""

    path: str
    at: tuple[str, ...] = ()
    names: tuple[str, str, str] = ("temperature", "top_p", "seed")
    has_seed: bool = True
    variable: str = ""


PROVIDERS = {
    "openai/m": Wire("/v1", variable="OPENAI_BASE_URL"),
    "hosted_vllm/m": Wire("/v1", variable="HOSTED_VLLM_API_BASE"),
    "openrouter/m": Wire("/v1", variable="OPENROUTER_API_BASE"),
    "deepseek/m": Wire("/v1", variable="DEEPSEEK_API_BASE"),
    "ollama_chat/m": Wire("/v1", variable="OLLAMA_API_BASE"),
    "azure/m": Wire("", variable="AZURE_API_BASE"),
    "anthropic/claude-x": Wire("/v1", has_seed=False),
    "cohere/command-x": Wire("/v2/chat", names=("temperature", "p", "seed")),
    "gemini/gemini-x": Wire("/v1beta", ("generationConfig",), ("temperature", "topP", "seed")),
}


class Replying(Provider):
    """Answers every provider's protocol."""

    def answer(self, path: str, body: Any) -> Any:
        if path.endswith("/messages"):
            cache = {"cache_read_input_tokens": 70, "cache_creation_input_tokens": 200}
            return anthropic_message(REPLY, input_tokens=5, output_tokens=5, **cache)
        if "generateContent" in path:
            said = {"role": "model", "parts": [{"text": REPLY}]}
            counts = {"promptTokenCount": 5, "candidatesTokenCount": 5, "thoughtsTokenCount": 300}
            usage = {**counts, "totalTokenCount": 310}
            candidate = {"content": said, "finishReason": "STOP"}
            return {"candidates": [candidate], "usageMetadata": usage}
        if path.endswith("/v2/chat"):
            said = {"role": "assistant", "content": [{"type": "text", "text": REPLY}]}
            tokens = {"input_tokens": 5, "output_tokens": 5}
            return {
                "id": "x",
                "message": said,
                "finish_reason": "COMPLETE",
                "usage": {"tokens": tokens},
            }
        usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
        made = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
        return {**made, **completion(REPLY), "usage": usage}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Replying() as server:
        yield server


def judge_by(how: str, name: str, url: str, **settings: Any) -> Any:
    """A model, or a language model of DSPy, at an address."""
    if how == "name":
        return Model(name, **settings, base_url=url, api_key="key")
    return dspy.LM(name, **settings, api_base=url, api_key="key")


def asked(judge: Any, provider: Provider, **settings: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """The body that went out for one prompt, and the signature."""
    session = Session(cache="off", **settings)
    model = connect(judge, session)
    assert background.run(model.ask(MESSAGES, QUESTION, Ledger())) == "blue"
    background.run(model.aclose())
    return provider.bodies[-1], model.identity


@pytest.mark.parametrize(
    ("name", "path", "counted"),
    [
        ("anthropic/claude-x", "/v1", Tokens(275, 5, 70, 200)),
        ("gemini/gemini-x", "/v1beta", Tokens(5, 305, reasoning=300)),
        ("azure/m", "", Tokens(5, 5)),
    ],
)
def test_what_a_provider_counts_apart_is_counted_through_dspy_too(
    name: str, path: str, counted: Tokens, provider: Provider
) -> None:
    """Anthropic's input leaves out its cache, and Gemini's output the thoughts."""
    lm = dspy.LM(name, api_base=provider.address + path, api_key="key")
    transport = LMTransport(lm, provider.address + path)
    assert background.run(transport.send({"messages": MESSAGES})).tokens == counted


@pytest.mark.filterwarnings("ignore:Items? .* on TypedDict:UserWarning")  # LiteLLM's for Cohere
@pytest.mark.parametrize("how", ["name", "dspy.LM"])
@pytest.mark.parametrize("name", PROVIDERS)
def test_the_signature_says_what_was_on_the_wire(name: str, how: str, provider: Provider) -> None:
    wire = PROVIDERS[name]
    url = provider.address + wire.path
    body, signature = asked(judge_by(how, name, url, **SETTINGS), provider)
    for part in wire.at:
        body = body[part]
    sent = {n: body.get(on_wire) for n, on_wire in zip(SETTINGS, wire.names, strict=True)}
    assert sent == {**SETTINGS, "seed": 3 if wire.has_seed else None}
    said = {n: signature[n] for n in ("temp", "top_p", "seed")}
    assert said == {"temp": "0.7", "top_p": "0.5", "seed": "3" if wire.has_seed else "default"}

    none = {"temperature": None} if how == "name" else {}
    body, signature = asked(judge_by(how, name, url, **none), provider)
    for part in wire.at:
        body = body[part]
    assert not {"top_p", "topP", "seed"} & body.keys()
    assert body.get("temperature") == (None if how == "name" else 0)  # DSPy knows no "unset"
    assert signature["temp"] == ("default" if how == "name" else "0")


@pytest.mark.parametrize("name", [name for name, wire in PROVIDERS.items() if wire.variable])
def test_a_bare_name_is_asked_at_temperature_0_at_the_address_of_its_variable(
    name: str, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    wire = PROVIDERS[name]
    monkeypatch.setenv(wire.variable, provider.address + wire.path)
    monkeypatch.setenv("AZURE_API_KEY", "key")
    monkeypatch.setenv("AZURE_API_VERSION", "2025-02-01-preview")

    body, signature = asked(name, provider, settings=Settings.from_environment())

    assert body["temperature"] == 0
    assert signature["temp"] == "0"
    if name.startswith("ollama"):  # the path may be left out
        monkeypatch.setenv(wire.variable, provider.address)
        _, signature = asked(name, provider, settings=Settings.from_environment())
        assert signature["endpoint"].endswith("/v1")


@pytest.mark.parametrize("how", ["name", "dspy.LM"])
def test_further_settings_go_along_and_into_the_signature(how: str, provider: Provider) -> None:
    given: dict[str, Any] = {"reasoning_effort": "low", "extra_body": {"top_k": 1}}
    judge = judge_by(how, "hosted_vllm/m", f"{provider.address}/v1", **given)
    body, signature = asked(judge, provider)
    assert (body["reasoning_effort"], body["top_k"]) == ("low", 1)
    assert signature["effort"] == "low"
    assert len(signature["extra"]) == 8


def test_a_language_model_of_dspy_keeps_its_timeout() -> None:
    lm = dspy.LM("hosted_vllm/m", timeout=7, api_base="http://127.0.0.1:9/v1")
    assert connect(lm, Session(cache="off")).settings.timeout_s == 7


@pytest.mark.parametrize(
    ("name", "effort", "sent"),
    [
        ("openai/gpt-5-nano", None, "minimal"),
        ("openai/gpt-6-luna", None, "none"),
        ("openai/gpt-5-nano", "high", "high"),
        ("openai/gpt-5-nano", "default", None),
        ("openai/gpt-4.1-mini", None, None),
    ],
)
def test_a_model_that_is_known_to_think_is_asked_for_the_least(
    name: str, effort: str | None, sent: str | None, provider: Provider
) -> None:
    model = Model(name, base_url=f"{provider.address}/v1", api_key="k", reasoning_effort=effort)
    body, signature = asked(model, provider)
    assert body.get("reasoning_effort") == sent
    assert signature.get("effort") == sent


def test_a_setting_that_a_library_would_change_is_not_sent(provider: Provider) -> None:
    """Anthropic takes temperatures up to 1, and its client lowers any other."""
    judge = judge_by("name", "anthropic/claude-x", f"{provider.address}/v1", temperature=1.5)
    body, signature = asked(judge, provider)
    assert "temperature" not in body
    assert signature["temp"] == "default"


ENDS: dict[Any, type[Exception] | None] = {
    **dict.fromkeys(("stop", "STOP", "eos", "end_turn", "stop_sequence", "completed")),
    **dict.fromkeys(("length", "MAX_TOKENS", "model_length", "max_output_tokens"), JudgeTruncated),
    **dict.fromkeys(("content_filter", "SAFETY", "refusal", "RECITATION"), JudgeRefused),
    **dict.fromkeys(("error", "abort", "tool_calls", "", "stopped?", None, 3), JudgeOutputError),
}


def test_a_reason_for_the_end_that_is_not_known_is_no_end() -> None:
    for reason, error in ENDS.items():
        answer = read_completion(completion('{"a": 1}', finish_reason=reason))
        with pytest.raises(error) if error else nullcontext():
            answer.require_whole("m")
    body = completion('{"a": 1}')
    del body["choices"][0]["finish_reason"]
    with pytest.raises(JudgeOutputError, match="without a reason"):
        read_completion(body).require_whole("m")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        (None, ""),
        ([{"type": "text", "text": "a"}, {"type": "output_text", "text": "b"}], "ab"),
        (["a", {"text": "b"}], "ab"),
        ([{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "a"}], "a"),
        ([{"type": "reasoning", "text": "hm"}], ""),
    ],
)
def test_a_content_in_parts_is_the_text_of_its_parts(content: Any, text: str) -> None:
    assert read_completion(completion(content)).text == text


def inside(**details: int) -> dict[str, Any]:
    return {"completion_tokens_details": details}


COUNTS: list[tuple[Any, Tokens]] = [
    *((usage, Tokens()) for usage in (None, "abc", {"prompt_tokens": -1}, {"prompt_tokens": True})),
    ({"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}, Tokens()),
    ({"prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 14}, Tokens(5, 9)),
    ({"prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 7}, Tokens(5, 9)),
    ({"prompt_tokens": 5, "completion_tokens": 9, "total_tokens": 54}, Tokens(5, 49, reasoning=40)),
    (
        {"prompt_tokens": 5, "completion_tokens": 9, **inside(reasoning_tokens=40)},
        Tokens(5, 49, reasoning=40),
    ),
    (
        {"prompt_tokens": 5, "completion_tokens": 49, **inside(reasoning_tokens=40)},
        Tokens(5, 49, reasoning=40),
    ),
    ({"prompt_tokens": 5, "reasoning_tokens": 4}, Tokens(5, 4, reasoning=4)),
    (
        {
            "prompt_tokens": 9,
            "prompt_tokens_details": {"cached_tokens": 2, "cache_write_tokens": 3},
        },
        Tokens(9, None, 2, 3),
    ),
    *(
        ({"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": cached}}, Tokens(9))
        for cached in (-2, 10, 10**9, "2", True)
    ),
]


@pytest.mark.parametrize(("usage", "tokens"), COUNTS)
def test_every_token_that_a_server_counts_somewhere_is_counted(usage: Any, tokens: Tokens) -> None:
    assert read_completion({**completion("x"), "usage": usage}).tokens == tokens


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"choices": [{"message": {"content": "a"}}, {"message": {"content": "b"}}]},
        completion({"a": 1}),
        completion(3),
    ],
)
def test_a_body_that_is_no_completion_is_no_answer(body: Any) -> None:
    with pytest.raises((KeyError, IndexError, TypeError, ValueError, AttributeError)):
        read_completion(body)


@pytest.mark.parametrize("error", [{"message": "The provider broke off"}, {}, "overloaded"])
def test_an_error_anywhere_in_an_answer_counts_whatever_else_it_says(error: Any) -> None:
    (choice,) = completion("{}")["choices"]
    for body in (
        {"choices": [choice], "error": error},
        {"choices": [{**choice, "error": error}]},
        {"choices": [{**choice, "message": {**choice["message"], "error": error}}]},
    ):
        with pytest.raises(JudgeUnavailable, match="has an error"):
            require_no_error(body, "m")


REFUSALS: dict[str, dict[str, Any]] = {
    "Range of max_tokens should be [1, 8192]": {"most": 8192},
    "gpt-x-2024-08-06 supports at most 16,384 completion tokens: max_tokens": {"most": 16_384},
    "max_tokens: Input should be less than or equal to 4096": {"most": 4096},
    "This model's maximum context length is 8192 tokens. However, you requested 23000 tokens "
    "(3000 in the messages, 20000 in the completion).": {"most": 5192, "context": 8192},
    "'temperature' and 'top_p' cannot both be specified for this model": {
        "refused": ("temperature", "top_p")
    },
    "'response_format.type' must be one of: text, json_object": {"form": "json_object"},
    f"max_tokens: at most {'9' * 5_000}": {
        "limit": "max_completion_tokens",
        "refused": ("max_tokens",),
    },
    "The server is tired": {},
    "context_length_exceeded: the prompt is too long": {"context": 20_000},
}


@pytest.mark.parametrize(("message", "change"), REFUSALS.items(), ids=range(len(REFUSALS)))
def test_a_refusal_changes_what_it_names_and_nothing_else(
    message: str, change: dict[str, Any]
) -> None:
    dialect = Dialect(limit="max_tokens", room=20_000 - 100)
    model = Model("openai/m", top_p=0.5)
    schema = {"type": "object", "additionalProperties": False}
    messages = [{"role": "system", "content": "S"}, {"role": "user", "content": "U"}]
    question = Question({}, schema, lambda data, _judge: data, max_tokens=100)
    body = dialect.body(model, messages, question)
    assert body["max_tokens"] == 20_000

    changed = dialect.without(RequestRefused("no", about=message), body)

    assert changed == replace(dialect, **change)


def test_no_secret_gets_into_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TEAM_API_KEY", "geheim-123456")
    text = redacted(
        "bad key geheim-123456 at https://me:geheim@host/v1\nand sk-abcdefghijklmnopqrst"
    )
    assert text == "bad key *** at https://***@host/v1 and ***"


SCHEMA = {
    "type": "object",
    "properties": {"sky": {"type": "string"}},
    "required": ["sky"],
    "additionalProperties": False,
}


MESSAGES = [{"role": "system", "content": "Reply."}, {"role": "user", "content": "Sky?"}]


QUESTION = Question({}, SCHEMA, lambda data, _judge: str(data["sky"]), max_tokens=100)
