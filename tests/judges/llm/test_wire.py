"""What the signature says of sampling is what was on the wire, whoever carries the request."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

import dspy
import pytest

from factcheck.judges.llm.language_model import connect
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.settings import Model, Settings
from tests.judges.llm.test_answers import MESSAGES, QUESTION

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
    "gemini/gemini-x": Wire("/v1beta", ("generationConfig",), ("temperature", "topP", "seed")),
}


class Provider(ThreadingHTTPServer):
    """Answers every provider's protocol, and keeps what it was sent."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[dict[str, Any]] = []

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Provider

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.bodies.append(body)
        data = json.dumps(_reply(self.path)).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: object) -> None:
        pass


def _reply(path: str) -> Mapping[str, Any]:
    if path.endswith("/messages"):
        content = [{"type": "text", "text": REPLY}]
        message = {"id": "x", "type": "message", "role": "assistant", "model": "m"}
        usage = {"input_tokens": 5, "output_tokens": 5}
        return {**message, "content": content, "stop_reason": "end_turn", "usage": usage}
    if "generateContent" in path:
        said = {"role": "model", "parts": [{"text": REPLY}]}
        return {"candidates": [{"content": said, "finishReason": "STOP"}]}
    message = {"role": "assistant", "content": REPLY}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    usage = {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10}
    made = {"id": "x", "object": "chat.completion", "created": 1, "model": "m"}
    return {**made, "choices": [choice], "usage": usage}


@pytest.fixture
def provider() -> Iterator[Provider]:
    with Provider() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


def judge_by(how: str, name: str, url: str, **settings: Any) -> Any:
    """A model, or a language model of DSPy, at an address."""
    if how == "name":
        return Model(name, **settings, base_url=url, api_key="key")
    return dspy.LM(name, **settings, api_base=url, api_key="key")


def asked(judge: Any, provider: Provider, **settings: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """The body that went out for one prompt, and the signature."""
    session = Session(cache="off", **settings)
    model = connect(judge, session)
    assert background.run(model.ask(MESSAGES, QUESTION)) == "blue"
    background.run(model.aclose())
    return provider.bodies[-1], model.identity


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
    assert not {"temperature", "top_p", "topP", "seed"} & body.keys()
    assert signature["temp"] == "default"


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


def test_a_setting_that_a_library_would_change_is_not_sent(provider: Provider) -> None:
    """Anthropic takes temperatures up to 1, and its client lowers any other."""
    judge = judge_by("name", "anthropic/claude-x", f"{provider.address}/v1", temperature=1.5)
    body, signature = asked(judge, provider)
    assert "temperature" not in body
    assert signature["temp"] == "default"
