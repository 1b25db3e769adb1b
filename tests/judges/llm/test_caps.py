"""What is spent under a cap, on servers that count their tokens in ways of their own."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import pytest

from factcheck import Budget, FactCoverage, Model
from factcheck.facts import Usage
from factcheck.judges.llm.providers import PROVIDERS
from factcheck.runtime.budget import Price
from factcheck.testing import ChatRequest, FactModel, LocalOpenAIServer, Reply
from tests.faults import bad_request
from tests.judges.llm.conftest import QUICK, completion

CONCURRENCY = 4
OPENAI = PROVIDERS["openai"]
PRICE = Price(1.0, 0.1, 8.0)
FACTS = ["The dam is old.", "The dam has gates.", "The lake is deep."]
Count = Callable[[int, int, int], Mapping[str, Any] | None]
"""Usage by the tokens of prompt, reply and thought."""


class Kind(NamedTuple):
    """How a server thinks and counts."""

    used: Count
    thought: int = 0
    limited: bool = True
    """Whether thought is within the limit of tokens; if not, none is accepted."""


def usage(prompt: int, reply: int, **others: Any) -> Mapping[str, Any]:
    return {"prompt_tokens": prompt, "completion_tokens": reply, **others}


def reasoning(tokens: int) -> Mapping[str, Any]:
    return {"completion_tokens_details": {"reasoning_tokens": tokens}}


def cached(tokens: int) -> Count:
    details = {"prompt_tokens_details": {"cached_tokens": tokens}}
    return lambda prompt, reply, thought: usage(prompt, reply + thought, **details)


KINDS = {
    "honest": Kind(lambda p, r, t: usage(p, r + t, total_tokens=p + r + t)),
    "thought inside": Kind(lambda p, r, t: usage(p, r + t, **reasoning(t)), 1_500),
    "thought outside": Kind(lambda p, r, t: usage(p, r, **reasoning(t)), 1_500, limited=False),
    "thought in the total": Kind(
        lambda p, r, t: usage(p, r, total_tokens=p + r + t), 1_500, limited=False
    ),
    "no usage": Kind(lambda *_: None, 1_500),
    "zero usage": Kind(lambda *_: usage(0, 0, total_tokens=0), 1_500),
    "no limit": Kind(lambda p, r, t: usage(p, r + t, **reasoning(t)), 1_500, limited=False),
    "negative cached": Kind(cached(-50_000)),
    "huge cached": Kind(cached(10**9)),
}


class Truth:
    """A scripted model that adds up what it costs."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind
        self.spent = Usage(cost_usd=0.0)

    def __call__(self, request: ChatRequest) -> Reply:
        limit = request.body.get("max_completion_tokens") or request.body.get("max_tokens")
        if limit and not self.kind.limited:
            return bad_request("max_completion_tokens and max_tokens are not supported")
        text, thought = FactModel()(request), self.kind.thought
        prompt = math.ceil(sum(len(message["content"]) for message in request.messages) / 4)
        reply = math.ceil(len(text) / 4)
        choice = completion(text)
        if limit and reply + thought > limit:
            choice = completion("", finish_reason="length")
            reply, thought = 0, limit
        tokens = Usage(prompt_tokens=prompt, completion_tokens=reply + thought)
        dollars = (prompt * PRICE.prompt + (reply + thought) * PRICE.completion) / 1e6
        self.spent += Usage(1, tokens.prompt_tokens, tokens.completion_tokens, dollars)
        body = {**choice, "usage": self.kind.used(prompt, reply, thought)}
        return Reply(raw_body=json.dumps(body).encode())


def spend(truth: Truth, budget: Budget, monkeypatch: pytest.MonkeyPatch) -> FactCoverage:
    """Score more records than the budget allows."""
    monkeypatch.setattr("factcheck.judges.llm.language_model.price_of", lambda _: PRICE)
    records = [
        {"id": str(n), "source": "", "summary": f"The dam {n} is old.", "facts": FACTS}
        for n in range(250)
    ]
    with LocalOpenAIServer(truth) as server:
        monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
        monkeypatch.setattr(
            "factcheck.judges.llm.providers.PROVIDERS",
            {"openai": OPENAI._replace(url=server.base_url)},
        )
        with FactCoverage(
            Model("openai/tiny"), cache="off", budget=budget, retry=QUICK, concurrency=CONCURRENCY
        ) as scorer:
            reports: list[Any] = list(scorer.score_many(records))
            codes = {failure.code for report in reports for failure in report.undecided}
    assert codes == {"budget"}
    return scorer


@pytest.mark.parametrize("name", KINDS)
def test_no_cap_is_exceeded_by_more_than_what_is_in_flight(
    name: str, monkeypatch: pytest.MonkeyPatch, record_property: Callable[[str, object], None]
) -> None:
    """Thought that no limit covers is known only once it was answered for."""
    kind = KINDS[name]
    tokens, dollars = (100_000, 0.5) if kind.thought else (15_000, 0.02)
    for budget in (Budget(max_tokens=tokens), Budget(max_cost_usd=dollars)):
        truth = Truth(kind)
        booked = spend(truth, budget, monkeypatch).ledger.usage
        spent = truth.spent
        total = spent.prompt_tokens + spent.completion_tokens
        share = total / tokens if budget.max_tokens else (spent.cost_usd or 0.0) / dollars
        record_property(f"spent / cap, {'tokens' if budget.max_tokens else 'dollars'}", share)
        assert 0.05 < share <= 1.0
        assert booked.prompt_tokens + booked.completion_tokens >= total
        assert booked.cost_usd is not None
        assert spent.cost_usd is not None
        assert booked.cost_usd >= spent.cost_usd * 0.999_999
