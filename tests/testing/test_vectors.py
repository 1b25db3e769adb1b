"""The scripted embedder, and what can go wrong with the vectors of the local server."""

from __future__ import annotations

import asyncio
import math
from typing import Any

import openai
import pytest

from factcheck import InputError, Ledger, Usage
from factcheck.judges.ports import Embedder, EmbeddingFailure
from factcheck.testing import (
    EmbedCall,
    EmbeddingsAnswer,
    LocalOpenAIServer,
    ScriptedEmbedder,
    hashed_embeddings,
    out_of_order,
    server_error,
    with_vector,
    without_vectors,
)

TEXTS = ["a", "b", "c"]


def answered(answer: EmbeddingsAnswer) -> list[tuple[int, Any]]:
    """Index and vector of each item, in the order in which the official client gives them."""
    with LocalOpenAIServer(lambda _: "", embed=answer) as server:
        client = openai.OpenAI(base_url=server.base_url, api_key="test", max_retries=0)
        with client:
            data = client.embeddings.create(model="m", input=TEXTS).data
    return [(item.index, item.embedding) for item in data]


def test_vectors_may_come_in_any_order_under_their_index() -> None:
    in_order = answered(hashed_embeddings)

    assert [index for index, _ in in_order] == [0, 1, 2]
    assert answered(out_of_order(hashed_embeddings)) == in_order[::-1]


def test_vectors_may_be_left_out() -> None:
    assert answered(without_vectors(hashed_embeddings, 0, 2)) == answered(hashed_embeddings)[1:2]


def test_one_vector_may_be_another() -> None:
    items = answered(with_vector(hashed_embeddings, 1, [2.0, math.inf]))
    shortened = answered(with_vector(hashed_embeddings, 1, lambda vector: vector[:3]))

    assert items[1] == (1, [2.0, math.inf])
    assert [len(vector) for _, vector in shortened] == [64, 3, 64]
    assert answered(with_vector(hashed_embeddings, 3, [1.0])) == answered(hashed_embeddings)


def test_faults_of_another_kind_pass_through() -> None:
    with pytest.raises(openai.InternalServerError):
        answered(out_of_order(lambda _: server_error()))


def test_the_scripted_embedder_fulfils_the_port_and_remembers_what_it_was_asked() -> None:
    failure = EmbeddingFailure("refused", "no")
    embedder = ScriptedEmbedder({"a": (1.0,), "b": failure}, usage=Usage(calls=1))
    ledger = Ledger()

    assert isinstance(embedder, Embedder)
    assert asyncio.run(embedder.embed(["b", "a"], ledger)) == (failure, (1.0,))
    assert embedder.calls == (EmbedCall(("b", "a")),)
    assert ledger.usage.calls == 1


def test_a_script_may_be_a_function_and_may_raise() -> None:
    embedder = ScriptedEmbedder(lambda text: ValueError(text) if text == "x" else (1.0,))

    with pytest.raises(ValueError, match="x"):
        asyncio.run(embedder.embed(["a", "x"], Ledger()))
    with pytest.raises(InputError, match="no vector for 'c'"):
        asyncio.run(ScriptedEmbedder({}).embed(["c"], Ledger()))
