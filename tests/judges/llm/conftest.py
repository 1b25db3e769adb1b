"""Scorers and pair judges whose model is on the local server; other providers' protocols."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple

import dspy
import pytest

from factcheck import FactCoverage, Model, RetryPolicy
from factcheck.judges.factory import build_pair_judge
from factcheck.judges.ports import Ledger, PairJudge, PairResult, ValuePair
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.settings import Settings
from factcheck.testing import ChatAnswer, LocalOpenAIServer, Reply, Request, parse_prompt

MODEL = "openai/tiny"
KEY = "sk-0123456789abcdefghij"
QUICK = RetryPolicy(stop_after_attempt=3, wait_multiplier=0.001, wait_max=1.0)


def completion(content: Any, **choice: Any) -> dict[str, Any]:
    """The body of a chat completion, without usage."""
    message = {"role": "assistant", "content": content}
    return {"choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}]}


def anthropic_message(text: str, **usage: int) -> dict[str, Any]:
    """A message by Anthropic's protocol."""
    made = {"id": "x", "type": "message", "role": "assistant", "model": "claude-x"}
    content = [{"type": "text", "text": text}]
    return {**made, "content": content, "stop_reason": "end_turn", "usage": usage}


@contextmanager
def serving(answer: ChatAnswer, **options: Any) -> Iterator[tuple[LocalOpenAIServer, Session]]:
    """A server, and a session whose models are on it."""
    with LocalOpenAIServer(answer) as server:
        settings = Settings(variables={"OPENAI_BASE_URL": server.base_url, "OPENAI_API_KEY": KEY})
        with Session(settings=settings, **{"cache": "off", "retry": QUICK, **options}) as session:
            yield server, session


class Setup(NamedTuple):
    """A scorer, and the server its judge talks to."""

    scorer: FactCoverage
    server: LocalOpenAIServer

    @property
    def asked(self) -> list[list[str]]:
        """The facts of each request."""
        return [[*parse_prompt(r.body).facts.values()] for r in self.server.requests]


MakeSetup = Callable[..., Setup]


@pytest.fixture
def llm() -> Iterator[MakeSetup]:
    """Makes scorers whose model, with these settings, is on a server of its own."""
    with ExitStack() as stack:

        def make(answer: ChatAnswer, settings: Any = (), **options: Any) -> Setup:
            server = stack.enter_context(LocalOpenAIServer(answer))
            model = Model(MODEL, base_url=server.base_url, **dict(settings))
            options = {"cache": "off", "retry": QUICK, **options}
            return Setup(stack.enter_context(FactCoverage(model, **options)), server)

        yield make


class PairSetup(NamedTuple):
    """A pair judge, and the server its model is on."""

    judge: PairJudge
    server: LocalOpenAIServer
    ledger: Ledger
    session: Session

    def compare(self, *pairs: ValuePair) -> Sequence[PairResult]:
        return background.run(self.judge.compare(pairs, self.ledger))

    @property
    def sizes(self) -> list[int]:
        return [len(asked(request)) for request in self.server.requests]


def asked(request: Request) -> tuple[ValuePair, ...]:
    return tuple(parse_prompt(request.body).pairs.values())


MakePairSetup = Callable[..., PairSetup]


@pytest.fixture
def comparing() -> Iterator[MakePairSetup]:
    with ExitStack() as stack:

        def make(answer: ChatAnswer, **options: Any) -> PairSetup:
            server, session = stack.enter_context(serving(answer, **options))
            judge = build_pair_judge(MODEL, session)
            return PairSetup(judge, server, Ledger(), session)

        yield make


def served(server: LocalOpenAIServer, **settings: Any) -> dspy.LM:
    """A model of DSPy on a server."""
    settings = {"cache": False, **settings}
    return dspy.LM("hosted_vllm/tiny", api_base=server.base_url, api_key="x", **settings)


class Provider(LocalOpenAIServer):
    """Answers requests by a protocol of its own."""

    def __init__(self) -> None:
        super().__init__(lambda _: "")

    @property
    def address(self) -> str:
        return self.base_url.removesuffix("/v1")

    @property
    def bodies(self) -> list[dict[str, Any]]:
        return [request.body for request in self.requests if request.method == "POST"]

    def routes(self) -> Sequence[tuple[str, str, Callable[..., Reply]]]:
        return (("*", "/{path:.*}", self.respond),)

    def respond(self, request: Request, _path: str) -> Reply:
        answer = self.answer(request.path, request.body)
        if isinstance(answer, int):
            return Reply(status=answer)
        return Reply(raw_body=(answer if isinstance(answer, str) else json.dumps(answer)).encode())

    def answer(self, path: str, body: Any) -> Any:
        """Return what is answered: JSON, text, or the status of an error."""
        raise NotImplementedError
