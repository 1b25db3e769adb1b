"""Checking again in another order, and probabilities from the tokens of a reply."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import dspy
import pytest

from factcheck import CheckFailure, FactCoverage, Verdict
from factcheck.judges.llm.transports import read_completion
from factcheck.testing import ChatRequest, FactModel, LocalOpenAIServer, Reply
from tests.judges.llm.conftest import MakeSetup, completion
from tests.runtime.cache.stores import MemoryCache

FACTS = ("The mill closed.", "It rained.", "A fox slept.", "Ida left.")
TEXT = "The mill closed. Ida left."
TRUTH = [True, False, False, True]


@pytest.mark.parametrize("summaries", [1, 2])
def test_each_check_asks_in_another_order_and_what_they_agree_on_counts(
    llm: MakeSetup, summaries: int
) -> None:
    settings = {"repeats": 3, "summaries_per_call": summaries}
    setup = llm(FactModel(), settings, cache=MemoryCache())
    texts = [TEXT, "It rained."][:summaries]
    reports, _ = (setup.scorer.score_summaries("", texts, facts=FACTS) for _ in range(2))
    orders = set(map(tuple, setup.asked))
    assert [verdict.supported for verdict in reports[0].results] == TRUTH
    assert not any(verdict.flags for verdict in reports[0].results)  # type: ignore[union-attr]
    assert FACTS in orders
    assert len(orders) == len(setup.asked) == 3
    assert "repeats:3" in str(reports[0].signature)


def said_in_turn(labels: Mapping[str, Sequence[str]]) -> FactModel:
    left = {fact: list(of_fact) for fact, of_fact in labels.items()}
    return FactModel(lambda fact, _: left[fact].pop())  # type: ignore[arg-type,return-value]


def test_a_flip_is_reported_and_three_labels_decide_nothing(llm: MakeSetup) -> None:
    labels = {
        FACTS[0]: ["entailed", "entailed", "neutral"],
        FACTS[1]: ["entailed", "neutral", "contradicted"],
        FACTS[2]: ["neutral"] * 3,
    }
    scorer, _ = llm(said_in_turn(labels), {"repeats": 3})
    first, second, third = scorer.check(FACTS[:3], TEXT)
    assert isinstance(first, Verdict)
    assert (first.label, first.flags) == ("entailed", ("flipped",))
    assert isinstance(second, CheckFailure)
    assert second.code == "flipped"
    assert second.message.startswith("3 checks disagree: 1 ")
    assert isinstance(third, Verdict)
    assert (third.label, third.flags) == ("neutral", ())


LIKELIHOODS = {"verdict": "label", "probabilities": True}
Tokens = Sequence[tuple[str, Mapping[str, float]]]


def with_tokens(tokens: Tokens) -> Reply:
    content = [
        {
            "token": token,
            "logprob": -0.1,
            "top_logprobs": [{"token": t, "logprob": math.log(p)} for t, p in others.items()],
        }
        for token, others in tokens
    ]
    text = "".join(token for token, _ in tokens)
    return Reply(raw_body=json.dumps(completion(text, logprobs={"content": content})).encode())


LIKELY = {"yes": 0.6, "no": 0.2, "contr": 0.1, "{": 0.1}
TOKENS: dict[str, tuple[Tokens, float | None]] = {
    "label by itself": ([('{"f1":"', {}), ("yes", LIKELY), ('"}', {})], 2 / 3),
    "with its quote": (
        [('{"f1":', {}), (' "yes', {' "yes': 0.3, ' "no': 0.6, '"no': 0.1}), ('"}', {})],
        1 / 3,
    ),
    "with what follows": ([('{"f1":"', {}), ('yes"}', {'yes"}': 0.5, 'no"}': 0.5})], 0.5),
    "in pieces": ([('{"f1":"', {}), ("y", {"y": 0.8, "N": 0.2}), ("es", {}), ('"}', {})], 0.8),
    "not among labels": ([('{"f1":"', {}), ("yes", {"yes": 0.1, "{": 0.9}), ('"}', {})], None),
    "twice": ([('Not {"f1": "', {}), ("no", LIKELY), ('"} {"f1":"yes"}', LIKELY)], None),
    "no alternatives": ([('{"f1":"', {}), ("yes", {}), ('"}', {})], None),
}


@pytest.mark.parametrize(("tokens", "probability"), TOKENS.values(), ids=TOKENS)
def test_a_label_has_the_probability_of_its_first_token(
    llm: MakeSetup, tokens: Tokens, probability: float | None
) -> None:
    scorer, server = llm(lambda _: with_tokens(tokens), LIKELIHOODS, cache=MemoryCache())
    results = [scorer.check(FACTS[:1], TEXT)[0] for _ in range(2)]
    assert server.requests[0].body["logprobs"] is True
    for result in results:  # the second one is cached
        if isinstance(result, Verdict):
            assert result.probability == pytest.approx(probability)
    assert isinstance(results[0], Verdict) != (tokens is TOKENS["twice"][0])


def of_token(*alternatives: Any) -> dict[str, Any]:
    return {"content": [{"token": "a", "top_logprobs": alternatives}]}


@pytest.mark.parametrize(
    "logprobs",
    [
        *(None, 1, {}, {"content": [{}]}, of_token(1)),
        *(of_token({"token": "a", "logprob": odd}) for odd in (math.nan, 0.5, "0", None, True)),
    ],
)
def test_log_probabilities_that_are_none_are_left_out(logprobs: Any) -> None:
    assert read_completion(completion("a", logprobs=logprobs)).tokens == ()


def test_a_server_without_log_probabilities_is_asked_without(llm: MakeSetup) -> None:
    def answer(request: ChatRequest) -> Reply | str:
        if "logprobs" in request.body:
            message = "logprobs are not supported with this model"
            return Reply(status=400, error={"message": message, "param": "top_logprobs"})
        return FactModel()(request)

    scorer, server = llm(answer, LIKELIHOODS)
    results = scorer.check(FACTS, TEXT)
    assert "logprobs:default" in str(scorer.signature)
    assert [getattr(result, "supported", None) for result in results] == TRUTH
    assert len(server.requests) == 2


def test_a_dspy_model_with_log_probabilities_is_a_judge_without_them() -> None:
    with LocalOpenAIServer(FactModel()) as server:
        lm = dspy.LM("hosted_vllm/m", api_base=server.base_url, logprobs=True, top_logprobs=3)
        with FactCoverage(lm, cache="off") as scorer:
            assert scorer.score("", TEXT, facts=FACTS).score == 0.5
    assert "logprobs" not in server.requests[0].body
