"""From what a user names to an embedder."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from factcheck.errors import ConfigError, Failure
from factcheck.judges.factory import build_embedder
from factcheck.judges.ports import Embedder, Ledger
from factcheck.runtime.session import Session
from factcheck.settings import Settings
from factcheck.testing import ScriptedEmbedder
from tests.processes import printed_by_python


def build(spec: Any) -> Embedder:
    session = Session(cache="off", settings=Settings(openai_api_key="sk-none"))
    return build_embedder(spec, session)


def embed(embedder: Embedder, *texts: str) -> Sequence[Any]:
    return asyncio.run(embedder.embed(texts, Ledger()))


@pytest.mark.parametrize(
    ("spec", "embedder"),
    [
        ("local", "local/2 (lexical)"),
        ("openai", "openai/text-embedding-3-small"),
        ("openai/text-embedding-3-large", "openai/text-embedding-3-large"),
        ("openai/org/model", "openai/org/model"),
        (ScriptedEmbedder({}, name="mine"), "mine"),
    ],
)
def test_an_embedder_is_named_by_provider_and_model(spec: Any, embedder: str) -> None:
    assert build(spec).identity["embedder"] == embedder


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("voyage", "unknown embedding provider 'voyage'; use 'local', 'openai'"),
        ("", "unknown embedding provider ''"),
        ("local/model", "unknown embedding provider 'local/model'"),
        (7, "int is not an embedder"),
        (None, "NoneType is not an embedder"),
        (ScriptedEmbedder, "type is not an embedder"),
    ],
)
def test_what_is_no_embedder_is_told_so(spec: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        build(spec)


def test_asking_a_server_for_vectors_does_not_load_dspy() -> None:
    code = (
        "import sys; from factcheck.judges.factory import build_embedder;"
        "from factcheck.runtime.session import Session;"
        "from factcheck.settings import Settings;"
        "session = Session(cache='off', settings=Settings(openai_api_key='x'));"
        "build_embedder('openai', session);"
        "print([m for m in ('dspy', 'litellm', 'openai') if m in sys.modules])"
    )

    assert printed_by_python(code) == "[]"


def lengths(texts: list[str]) -> list[list[float]]:
    return [[1.0, float(len(text))] for text in texts]


async def lengths_later(texts: list[str]) -> list[list[float]]:
    return lengths(texts)


class Encoder:
    """An object such as those of sentence-transformers."""

    def encode(self, texts: list[str]) -> Any:
        return np.array(lengths(texts))


class Lengths:
    """An object that can be called."""

    def __call__(self, texts: list[str]) -> list[list[float]]:
        return lengths(texts)


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (lengths, "lengths"),
        (lengths_later, "lengths_later"),
        (Encoder(), "Encoder"),
        (Encoder().encode, "Encoder"),
        (Lengths(), "Lengths"),
    ],
)
def test_functions_and_objects_with_encode_give_vectors(spec: Any, name: str) -> None:
    embedder = build(spec)
    assert [list(vector) for vector in embed(embedder, "a", "bcd")] == [[1, 1], [1, 3]]
    assert embedder.identity["embedder"] == f"{__name__}.{name}"
    assert isinstance(embedder, Embedder)


def test_it_is_called_once_with_all_texts() -> None:
    calls = []

    def recorded(texts: list[str]) -> list[list[float]]:
        calls.append(texts)
        return lengths(texts)

    embed(build(recorded), "a", "b", "c")
    embed(build(recorded))
    assert calls == [["a", "b", "c"]]


@pytest.mark.parametrize("error", [ValueError("no such letter"), ConfigError("x: no key")])
def test_a_text_it_raises_on_fails_alone(error: Exception) -> None:
    def picky(texts: list[str]) -> list[list[float]]:
        if "x" in texts:
            raise error
        return lengths(texts)

    good, bad, other = embed(build(picky), "a", "x", "b")

    assert (good, other) == ([1.0, 1.0], [1.0, 1.0])
    assert isinstance(bad, Failure)
    assert bad.code == ("config" if isinstance(error, ConfigError) else "judge")
    assert str(error) in bad.message


def test_one_that_always_raises_is_soon_left_alone() -> None:
    calls = []

    def broken(texts: list[str]) -> list[list[float]]:
        calls.append(len(texts))
        raise RuntimeError("no memory")

    results = embed(build(broken), *map(str, range(1000)))

    assert all("RuntimeError: no memory" in result.message for result in results)
    assert len(calls) < 20


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda texts: lengths(texts)[1:], "gave 1 vectors for 2 texts"),
        (lambda _: [], "gave 0 vectors for 2 texts"),
        (lambda _: None, "TypeError"),
        (lambda _: 3.0, "TypeError"),
    ],
)
def test_another_number_of_vectors_is_a_failure_of_all(
    wrong: Callable[[list[str]], Any], says: str
) -> None:
    results = embed(build(wrong), "a", "b")
    assert [says in result.message for result in results] == [True, True]


def test_a_missing_key_is_found_before_anything_is_sent() -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        build_embedder("openai", Session(cache="off", settings=Settings()))
