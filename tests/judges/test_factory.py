"""From specs to the judges and embedders that answer; one of the user's own holds nobody up."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import dspy
import numpy as np
import pytest

from factcheck import FactCoverage
from factcheck.errors import ConfigError, Failure, InputError, JudgeError
from factcheck.judges.factory import build_embedder, build_judges, build_pair_judge, build_rater
from factcheck.judges.llm.judges import LLMPairJudge, LLMRater
from factcheck.judges.ports import Embedder, Ledger
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.settings import Settings
from factcheck.testing import (
    ScriptedChecker,
    ScriptedEmbedder,
    ScriptedPairJudge,
    ScriptedRater,
)

Build = Callable[[Any, Session], Any]


def session(**settings: Any) -> Session:
    return Session(cache="off", settings=Settings(**{"openai_api_key": "sk-none", **settings}))


@pytest.mark.parametrize(
    ("build", "kind", "own"),
    [
        (build_pair_judge, LLMPairJudge, ScriptedPairJudge({})),
        (build_rater, LLMRater, ScriptedRater({})),
    ],
)
def test_a_judge_is_named_by_the_caller_or_the_settings_or_is_an_object(
    build: Build, kind: Any, own: Any
) -> None:
    name = "openai/gpt-5-nano"
    for judge in (build(name, session()), build(None, session(judge=name))):
        assert isinstance(judge, kind)
        assert judge.identity["judge"] == name
    assert build(own, session()).identity == own.identity


@pytest.mark.parametrize(
    ("build", "spec", "says"),
    [
        (build_pair_judge, "replay:a.jsonl", "'replay:a.jsonl' cannot serve as pair judge; use"),
        (build_pair_judge, "locale", r"unknown pair judge 'locale'; use 'local'.*'cascade\("),
        (build_pair_judge, "cascade(openai/a, nobody)", "unknown pair judge 'nobody'"),
        (
            build_pair_judge,
            ScriptedChecker({}),
            r"ScriptedChecker cannot serve as pair judge.*compare\(pairs, ledger\)",
        ),
        (build_pair_judge, ScriptedPairJudge, "type cannot serve as pair judge"),
        (build_pair_judge, 7, "int cannot serve as pair judge"),
        (build_rater, None, "'local' cannot serve as rater; use 'PROVIDER/MODEL'"),
        (build_rater, ScriptedPairJudge({}), r"as rater.*rate\(source, summary, ledger\)"),
        (build_embedder, "voyage", "unknown embedding provider 'voyage'; use 'local', 'openai'"),
        (build_embedder, 7, "int cannot serve as embedder"),
        (build_embedder, ScriptedEmbedder, "type cannot serve as embedder"),
    ],
)
def test_a_spec_that_names_no_judge_is_refused(build: Build, spec: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        build(spec, session())


@pytest.mark.parametrize("build", [build_pair_judge, build_rater, build_embedder])
def test_a_missing_key_is_found_before_anything_is_sent(build: Build) -> None:
    with pytest.raises(ConfigError, match="OPENAI_API_KEY"):
        build("openai/gpt-5-nano", session(openai_api_key=None))


@pytest.mark.parametrize("batch_size", [0, 101, 2.5, True, "16"])
def test_a_batch_size_is_an_integer_from_1_to_100(batch_size: Any) -> None:
    with pytest.raises(InputError, match="batch_size must be an integer from 1 to 100"):
        build_pair_judge("openai/gpt-5-nano", session(), batch_size=batch_size)
    with pytest.raises(InputError, match="batch_size"):
        build_judges("openai/gpt-5-nano", None, session(), batch_size=batch_size)


FACTS = ["The lake is deep."]


class BlockingLM(dspy.BaseLM):  # type: ignore[misc]
    """Blocks its loop until it is released, and raises."""

    def __init__(self) -> None:
        super().__init__("mine/slow")
        self.busy, self.release = threading.Event(), threading.Event()

    async def acall(self, *_: Any, **__: Any) -> Any:
        self.busy.set()
        assert self.release.wait(10)
        raise ValueError("nothing to say")


def test_a_blocking_model_does_not_hold_up_the_calls_of_others() -> None:
    model = BlockingLM()
    with FactCoverage(model, "local", cache="off") as slow, FactCoverage("local") as other:
        waiting = background.submit(slow.acheck(FACTS, "A deep lake."))
        assert model.busy.wait(10)
        background.submit(other.acheck(FACTS, "A deep lake.")).result(10)
        model.release.set()
        (blocked,) = waiting.result(10)
    assert getattr(blocked, "code", None) == "judge"


def test_a_judge_runs_in_a_loop_of_its_own_or_in_that_of_an_asynchronous_caller() -> None:
    threads = []

    def label(*_: str) -> Any:
        threads.append(threading.current_thread().name)
        return "entailed"

    async def check() -> Any:
        async with FactCoverage(ScriptedChecker(label), "local") as scorer:
            return await scorer.acheck(FACTS, "A deep lake.")

    with FactCoverage(ScriptedChecker(label), "local") as scorer:
        scorer.check(FACTS, "A deep lake.")
    asyncio.run(check())
    assert threads == ["factcheck-judge", threading.current_thread().name]


def test_the_parts_of_one_object_share_a_loop_that_ends_with_the_session() -> None:
    class Both(ScriptedChecker):
        async def extract(self, source: str, ledger: Ledger) -> Any:
            raise NotImplementedError

    before = threading.active_count()
    with Session(cache="off") as session:
        judges = build_judges(Both({}), None, session)
        with pytest.raises(JudgeError, match="Both raised NotImplementedError"):
            background.run(judges.extractor.extract("", Ledger()))
        background.run(judges.checker.check([], "", Ledger()))
        assert len({id(judge) for judge in judges}) == 1

    background.run(asyncio.sleep(0))
    for thread in threading.enumerate():
        if thread.name == "factcheck-judge":
            thread.join(10)
    assert threading.active_count() <= before + 1


def embed(spec: Any, *texts: str) -> Sequence[Any]:
    return asyncio.run(build_embedder(spec, session()).embed(texts, Ledger()))


@pytest.mark.parametrize(
    ("spec", "embedder"),
    [
        ("local", "local/2 (lexical)"),
        ("openai", "openai/text-embedding-3-small"),
        ("openai/org/model", "openai/org/model"),
        (ScriptedEmbedder({}, name="mine"), "mine"),
    ],
)
def test_an_embedder_is_named_by_provider_and_model(spec: Any, embedder: str) -> None:
    assert build_embedder(spec, session()).identity["embedder"] == embedder


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
    embedder = build_embedder(spec, session())
    assert [list(vector) for vector in embed(spec, "a", "bcd")] == [[1, 1], [1, 3]]
    assert embedder.identity["embedder"] == f"{__name__}.{name}"
    assert isinstance(embedder, Embedder)


@pytest.mark.parametrize("error", [ValueError("no such letter"), ConfigError("x: no key")])
def test_it_is_called_once_with_all_texts_and_a_text_it_raises_on_fails_alone(
    error: Exception,
) -> None:
    calls = []

    def picky(texts: list[str]) -> list[list[float]]:
        calls.append(texts)
        if "x" in texts:
            raise error
        return lengths(texts)

    embed(picky, "a", "b", "c")
    embed(picky)
    assert calls == [["a", "b", "c"]]
    good, bad, other = embed(picky, "a", "x", "b")
    assert (good, other) == ([1.0, 1.0], [1.0, 1.0])
    assert isinstance(bad, Failure)
    assert bad.code == ("config" if isinstance(error, ConfigError) else "judge")
    assert str(error) in bad.message


def test_another_number_of_vectors_is_a_failure_of_all() -> None:
    wrong: dict[str, Callable[[list[str]], Any]] = {
        "gave 1 vectors for 2 texts": lambda texts: lengths(texts)[1:],
        "TypeError": lambda _: None,
    }
    for says, function in wrong.items():
        assert [says in result.message for result in embed(function, "a", "b")] == [True, True]
