"""Vectors: their laws, those of the embedded embedder, and those of a server over real HTTP."""

from __future__ import annotations

import asyncio
import json
import math
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import numpy as np
import pytest

from factcheck import RetryPolicy
from factcheck.errors import Failure, JudgeOutputError
from factcheck.judges.embedders import NAME, direction_of, embed_text, similarity
from factcheck.judges.factory import build_embedder
from factcheck.judges.llm.embedder import MAX_TEXTS, OpenAIEmbedder, read_vectors
from factcheck.judges.ports import EmbeddingResult, Ledger
from factcheck.runtime.session import Session
from factcheck.settings import Settings
from factcheck.testing import Reply, Request
from tests.embeddings import EmbeddingsAnswer, EmbeddingServer, hashed_embeddings, texts_of
from tests.faults import bad_request, sequence
from tests.processes import printed_by_python
from tests.runtime.cache.stores import MemoryCache


def cosine(one: Any, other: Any) -> float:
    return similarity(direction_of(one), direction_of(other))


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1, 0], [1, 0], 1.0), ([1, 0], [0, 1], 0.0), ([1, 1], [1, 0], 0.707107),
        ([3, 4], [4, 3], 0.96), ([1e308, 1e308], [1e308, 1e308], 1.0),
        ([5e-324, 0], [5e-324, 5e-324], 0.707107), ([1.0, 0.2], [-1.0, 0.1], 0.0),
        ((1.0, 2.0), array("f", [1, 2]), 1.0),
        (np.array([1, 2], dtype=np.float16), np.array([1, 2]), 1.0),
    ],
)  # fmt: skip
def test_the_similarity_is_the_cosine_whatever_holds_the_numbers(
    one: Any, other: Any, expected: float
) -> None:
    assert cosine(one, other) == expected


@pytest.mark.parametrize(
    ("vector", "says"),
    [
        ([], "all zero"), ([0.0, -0.0], "all zero"), ([1.0, math.nan], "finite"),
        ([[1.0, 2.0]], "flat list"), (["1.0", "2.0"], "flat list"), ([True, False], "flat list"),
        (None, "flat list"), ("AAAA", "flat list"), ([1, 10**400], "flat list"),
        ([[1.0], [1.0, 2.0]], "flat list"),
    ],
)  # fmt: skip
def test_what_points_nowhere_is_an_error(vector: Any, says: str) -> None:
    with pytest.raises(JudgeOutputError, match=says):
        direction_of(vector)


def alike(one: str, other: str) -> float:
    return cosine(embed_text(one), embed_text(other))


CODE = """
import hashlib
from factcheck.judges.embedders import embed_text
print(hashlib.sha256(embed_text("A diver found the crack.").tobytes()).hexdigest()[:16])
"""


def test_a_version_of_the_embedder_stands_for_its_vectors_in_every_process() -> None:
    """Where this fails, vectors have changed: raise the number in `NAME`, too."""
    for seed in "01":
        found = (NAME, printed_by_python(CODE, PYTHONHASHSEED=seed))
        assert found == ("local/4 (lexical)", "44c4f6105753dde4")


@pytest.mark.parametrize(
    ("text", "nearer", "farther"),
    [
        ("The diver found a crack.", "A crack was found by divers.", "The engineer found a job."),
        ("It cost 1,200 dollars.", "It cost 1200 dollars.", "It cost 1,300 dollars."),
        ("Dostoevsky", "Dostoyevsky", "Tolstoy"),
        ("He did not pay.", "He never did not pay.", "He paid."),
        ("桥梁于九月关闭", "九月桥梁关闭", "学校于三月开放"),
        ("Dogs bite men.", "The dogs bite the men.", "Men bite dogs."),
    ],
)
def test_what_shares_more_of_its_rare_words_is_nearer(text: str, nearer: str, farther: str) -> None:
    assert alike(text, nearer) > alike(text, farther)


QUICK = RetryPolicy(stop_after_attempt=3, wait_multiplier=0.001, wait_max=1.0)


class Setup(NamedTuple):
    """An embedder, and the server its model is on."""

    embedder: OpenAIEmbedder
    server: EmbeddingServer
    ledger: Ledger

    def embed(self, *texts: str) -> Sequence[EmbeddingResult]:
        return asyncio.run(self.embedder.embed(texts, self.ledger))

    @property
    def asked(self) -> list[tuple[str, ...]]:
        return self.server.asked


MakeSetup = Callable[..., Setup]


@pytest.fixture
def remote() -> Iterator[MakeSetup]:
    with ExitStack() as stack:

        def make(
            answer: EmbeddingsAnswer | EmbeddingServer = hashed_embeddings,
            *,
            model: str = "tiny",
            **options: Any,
        ) -> Setup:
            server = answer
            if not isinstance(server, EmbeddingServer):
                server = stack.enter_context(EmbeddingServer(server))
            settings = Settings(variables={"OPENAI_BASE_URL": server.base_url})
            options = {"retry": QUICK, "cache": "off", **options}
            session = stack.enter_context(Session(settings=settings, **options))
            embedder = build_embedder(f"openai/{model}", session)
            assert isinstance(embedder, OpenAIEmbedder)
            return Setup(embedder, server, Ledger())

        yield make


TEXTS = ("Ants dig tunnels.", "Rain fell on Tuesday.", "The bridge was closed.", "It cost $40.")


def codes(results: Sequence[Any]) -> list[str]:
    return [result.code if isinstance(result, Failure) else "" for result in results]


def test_all_texts_go_out_in_one_request_and_each_once(remote: MakeSetup) -> None:
    setup = remote(model="tiny/embed-1")
    results = setup.embed(*TEXTS, TEXTS[0])
    body = setup.server.requests[0].body
    assert body == {"model": "tiny/embed-1", "input": [*TEXTS]}
    assert setup.asked == [TEXTS]
    assert results[4] == results[0]
    assert codes(results) == [""] * 5
    assert list(setup.embed()) == []
    assert codes(setup.embed("\ud800", "Ants.", " ")) == ["input", "", "input"]
    assert setup.asked[1:] == [("Ants.",)]


def test_there_are_as_few_requests_as_the_limit_of_the_api_allows(remote: MakeSetup) -> None:
    setup = remote(lambda request: [[1.0, float(len(text))] for text in texts_of(request)])
    results = setup.embed(*(f"text {number}" for number in range(MAX_TEXTS + 5)))
    assert sorted(map(len, setup.asked)) == [5, MAX_TEXTS]
    assert [result[1] for result in results[:3]] == [6.0] * 3  # type: ignore[index]


def test_a_kept_vector_is_that_of_its_text_model_and_server_to_the_last_bit(
    remote: MakeSetup,
) -> None:
    cache = MemoryCache()
    first = remote(cache=cache)
    before = first.embed(*TEXTS[:2])
    after = remote(first.server, cache=cache)
    assert after.embed(*TEXTS)[:2] == before
    assert first.asked == [TEXTS[:2], TEXTS[2:]]
    assert (after.ledger.usage.cache_hits, after.ledger.usage.calls) == (2, 1)
    remote(first.server, cache=cache, model="small").embed(TEXTS[0])
    other = remote(cache=cache)
    other.embed(TEXTS[0])
    assert first.asked[2:] == other.asked == [TEXTS[:1]]


def test_one_text_the_server_cannot_take_fails_alone(remote: MakeSetup) -> None:
    def picky(request: Request) -> Any:
        too_long = any(text.startswith("long") for text in texts_of(request))
        return bad_request() if too_long else hashed_embeddings(request)

    setup = remote(picky)
    texts = [f"{'long' if number in (13, 30) else 'text'} {number}" for number in range(40)]
    found = codes(setup.embed(*texts))
    assert [place for place, code in enumerate(found) if code == "rejected"] == [13, 30]
    assert found.count("") == 38
    assert len(setup.asked) < 30


def test_a_server_that_turns_everything_down_is_soon_left_alone(remote: MakeSetup) -> None:
    setup = remote(lambda _: bad_request("no such model"))
    results = setup.embed(*(f"text {number}" for number in range(1000)))
    assert set(codes(results)) == {"rejected"}
    assert len(setup.asked) < 20


def faulty_at(place: int, vector: Sequence[float] | None) -> EmbeddingsAnswer:
    def answer(request: Request) -> Mapping[int, Sequence[float]]:
        vectors = {**dict(enumerate(hashed_embeddings(request))), place: vector}
        n_texts = len(texts_of(request))
        return {n: one for n, one in vectors.items() if one is not None and n < n_texts}

    return answer


@pytest.mark.parametrize("vector", [None, [0.0] * 64, [1.0] * 63 + [math.nan], []])
def test_a_bad_vector_is_a_failure_of_its_text_and_not_kept(
    remote: MakeSetup, vector: Sequence[float] | None
) -> None:
    setup = remote(sequence(faulty_at(1, vector), then=hashed_embeddings), cache=MemoryCache())
    assert codes(setup.embed(*TEXTS)) == ["", "missing" if vector is None else "invalid", "", ""]
    assert codes(setup.embed(*TEXTS)) == [""] * 4
    assert setup.asked == [TEXTS, TEXTS[1:2]]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([], ["missing", "missing"]),
        ([{"index": 1, "embedding": [1.0]}], ["missing", ""]),
        ([{"index": 0, "embedding": [1.0]}] * 3, ["duplicate", "missing"]),
        (
            [{"index": index, "embedding": [1.0]} for index in (2, -1, True, "0")],
            ["missing", "missing"],
        ),
        ([{"embedding": [1.0]}, None, 3, "x"], ["missing", "missing"]),
    ],
)
def test_an_answer_gives_exactly_one_result_for_each_text(data: Any, expected: list[str]) -> None:
    assert codes(read_vectors(data, 2)) == expected


@pytest.mark.parametrize(("usage", "tokens"), [({"usage": {"prompt_tokens": 7}}, 7), ({}, 416)])
def test_tokens_are_those_the_server_counted_or_at_most_used(
    remote: MakeSetup, usage: dict[str, Any], tokens: int
) -> None:
    body = json.dumps({"data": [{"index": 0, "embedding": [1.0]}], **usage}).encode()
    setup = remote(lambda _: Reply(raw_body=body))
    setup.embed("x" * 400)
    used = setup.ledger.usage
    assert (used.calls, used.attempts, used.prompt_tokens, used.cost_usd) == (1, 1, tokens, None)
