"""From specs to the judges that answer; a second judge is asked where the first is not sure."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Sequence
from typing import Any

import dspy
import numpy as np
import pytest

from factcheck import Cascade, FactCoverage
from factcheck.errors import ConfigError, Failure, InputError, JudgeError, JudgeRejected
from factcheck.facts import AtomicFact, CheckResult, Usage, Verdict
from factcheck.judges.cascade import CascadeJudge, parse_cascade
from factcheck.judges.factory import build_embedder, build_judges, build_model, build_pair_judge
from factcheck.judges.ports import Embedder, Ledger, PairResult, PairVerdict, ValuePair
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.settings import Settings
from factcheck.testing import ScriptedChecker, ScriptedPairJudge
from tests.embeddings import ScriptedEmbedder

Build = Callable[[Any, Session], Any]


def session(key: str = "sk-none", **settings: Any) -> Session:
    variables = {"OPENAI_API_KEY": key}
    return Session(cache="off", settings=Settings(variables=variables, **settings))


@pytest.mark.parametrize(
    ("build", "spec", "says"),
    [
        (build_pair_judge, "replay:a.jsonl", "unknown pair judge 'replay:a.jsonl'; use"),
        (build_pair_judge, "locale", r"unknown pair judge 'locale'; use 'local'.*'cascade\("),
        (build_pair_judge, "cascade(openai/a, nobody)", "unknown pair judge 'nobody'"),
        (
            build_pair_judge,
            ScriptedChecker({}),
            r"ScriptedChecker cannot serve as pair judge.*compare\(pairs, ledger\)",
        ),
        (build_pair_judge, ScriptedPairJudge, "type cannot serve as pair judge"),
        (build_model, "local", "'local' names no language model; use 'PROVIDER/MODEL'"),
        (build_embedder, "voyage", "unknown embedding provider 'voyage'; use 'local', 'openai'"),
        (build_embedder, 7, "int cannot serve as embedder"),
    ],
)
def test_a_spec_that_names_no_judge_is_refused(build: Build, spec: Any, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        build(spec, session())


@pytest.mark.parametrize("batch_size", [0, 101, 2.5, True, "16"])
def test_a_batch_size_is_an_integer_from_1_to_100(batch_size: Any) -> None:
    with pytest.raises(InputError, match="batch_size must be an integer from 1 to 100"):
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

    before = set(threading.enumerate())
    with Session(cache="off") as session:
        judges = build_judges(Both({}), None, session)
        with pytest.raises(JudgeError, match="Both raised NotImplementedError"):
            background.run(judges.extractor.extract("", Ledger()))
        background.run(judges.checker.check([], "", Ledger()))
        assert len({id(judge) for judge in judges}) == 1

    background.run(asyncio.sleep(0))
    for thread in set(threading.enumerate()) - before:
        if thread.name == "factcheck-judge":
            thread.join(10)
            assert not thread.is_alive()


def embed(spec: Any, *texts: str) -> Sequence[Any]:
    return asyncio.run(build_embedder(spec, session()).embed(texts, Ledger()))


@pytest.mark.parametrize(
    ("spec", "embedder"),
    [
        ("local", "local/4 (lexical)"),
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


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (lengths, "lengths"),
        (lengths_later, "lengths_later"),
        (Encoder(), "Encoder"),
        (Encoder().encode, "Encoder"),
    ],
)
def test_functions_and_objects_with_encode_give_vectors(spec: Any, name: str) -> None:
    embedder = build_embedder(spec, session())
    assert [list(vector) for vector in embed(spec, "a", "bcd")] == [[1, 1], [1, 3]]
    assert embedder.identity["embedder"] == f"{__name__}.{name}"
    assert isinstance(embedder, Embedder)


def test_it_is_called_once_with_all_texts_and_fails_as_other_judges_do() -> None:
    calls = []

    def picky(texts: list[str]) -> Any:
        calls.append(texts)
        return None if "x" in texts else lengths(texts)

    embed(picky, "a", "b", "c")
    embed(picky)
    assert calls == [["a", "b", "c"]]
    with pytest.raises(JudgeError, match="CallableEmbedder raised TypeError"):
        embed(picky, "a", "x")


PAIRS = [ValuePair(p, "x") for p in ("0", "0.1", "0.1000001", "0.5", "0.8999999", "0.9", "1")]
FIRST = ScriptedPairJudge(lambda pair: float(pair.gold), name="first")
MISSING = Failure(None, "missing", "no verdict")
WIDE = (0.1, 0.9)


def says(result: object, name: str = "second") -> ScriptedPairJudge:
    return ScriptedPairJudge(lambda _: result, name=name)  # type: ignore[arg-type, return-value]


def compare(
    judge: CascadeJudge, pairs: Sequence[ValuePair] = PAIRS, ledger: Ledger | None = None
) -> Sequence[PairResult]:
    return asyncio.run(judge.compare(pairs, ledger or Ledger()))


def speakers(results: Sequence[PairResult]) -> list[str]:
    return [r.judge if isinstance(r, PairVerdict) else r.code for r in results]


NAN = PairVerdict(True, float("nan"), "", "first")
FAILING = ScriptedPairJudge(lambda pair: MISSING if pair.gold == "0" else 1.0, name="first")
CASES: dict[str, tuple[ScriptedPairJudge, ScriptedPairJudge, tuple[float, ...], str]] = {
    "strictly between the thresholds": (FIRST, says(True), WIDE, "1 1 2 2 2 1 1"),
    "one threshold": (FIRST, says(True), (0.5, 0.5), "1 1 1 1 1 1 1"),
    "no probability stands": (says(True, "first"), says(None), (), "1 1 1 1 1 1 1"),
    "NaN is not sure": (says(NAN), says(True), (), "2 2 2 2 2 2 2"),
    "no verdict of the first": (FAILING, says(True), (), "2 1 1 1 1 1 1"),
    "first rejected": (says(JudgeRejected("no key")), says(True), (), "2 2 2 2 2 2 2"),
    "no verdict of the second": (FIRST, says(MISSING), WIDE, "1 1 - - - 1 1"),
    "second rejected": (FIRST, says(JudgeRejected("no key")), WIDE, "1 1 - - - 1 1"),
}


@pytest.mark.parametrize("case", CASES)
def test_the_second_judge_decides_where_the_first_is_not_sure(case: str) -> None:
    first, second, thresholds, expected = CASES[case]
    limits: dict[str, Any] = dict(zip(("low", "high"), thresholds, strict=False))
    found = speakers(compare(CascadeJudge(first, second, **limits)))
    short = {"first": "1", "second": "2", "missing": "-", "rejected": "-"}
    assert [short[speaker] for speaker in found] == expected.split()


def test_the_second_judge_is_asked_once_and_only_about_the_rest() -> None:
    second, idle = says(JudgeRejected("no key")), says(True)
    results = compare(CascadeJudge(FIRST, second, low=0.1, high=0.9))
    compare(CascadeJudge(FIRST, idle, low=0.5, high=0.5))
    assert [call.pairs for call in second.calls] == [tuple(PAIRS[2:5])]
    assert results[3] == Failure(PAIRS[3], "rejected", "no key")
    assert idle.calls == []
    with pytest.raises(JudgeRejected, match="no key"):  # nothing but rejections
        compare(CascadeJudge(FIRST, second), PAIRS[2:5])
    ledger = Ledger()
    compare(CascadeJudge(FIRST, idle, low=0.1, high=0.9), PAIRS, ledger)
    assert ledger.usage == Usage(kept_in_front=4)  # three of seven go on


def test_results_that_cannot_be_told_apart_are_not_used() -> None:
    class Short(ScriptedPairJudge):
        async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> list[PairResult]:
            return list(await super().compare(pairs, ledger))[1:]

    short = Short(lambda _: 1.0)
    assert speakers(compare(CascadeJudge(short, says(True)))) == ["second"] * 7
    assert speakers(compare(CascadeJudge(FIRST, short)))[2:5] == ["output"] * 3


def test_thresholds_are_probabilities_in_order() -> None:
    nan = float("nan")
    for low, high in [(-0.1, 0.9), (0.1, 1.1), (0.9, 0.1), (nan, 0.9), (0.1, nan)]:
        with pytest.raises(InputError, match="0 <= low <= high <= 1"):
            CascadeJudge(FIRST, FIRST, low=low, high=high)


LAKE = "The lake is deep."
FIVE = [AtomicFact(f"f{n}", f"Fact {n}.") for n in range(5)]


def sure(probability: float | None) -> Verdict:
    return Verdict(FIVE[0], "entailed", probability, judge="first")


def test_verdicts_that_come_twice_or_not_at_all_go_on() -> None:
    class Disorderly(ScriptedChecker):
        async def check(
            self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
        ) -> list[CheckResult]:
            results = list(await super().check(facts, text, ledger))
            return [results[4], results[0], results[0], results[2], results[1]]

    first = Disorderly(lambda *_: sure(1.0))
    judge = CascadeJudge(first, ScriptedChecker(lambda *_: "neutral", name="second"))
    results = asyncio.run(judge.check(FIVE, LAKE, Ledger()))
    assert [result.fact for result in results] == FIVE
    assert [getattr(result, "judge", "") for result in results] == [
        *("second", "first", "first", "second", "first")
    ]


@pytest.mark.parametrize(
    ("name", "cascade"),
    [
        ("local", None),
        ("cascade", None),
        ("cascade(local, openai/a)", Cascade("local", "openai/a")),
        (" cascade( a ,b, high=.8 , low=0) ", Cascade("a", "b", 0.0, 0.8)),
        ("cascade(replay:x=1.jsonl, b)", Cascade("replay:x=1.jsonl", "b")),
    ],
)
def test_a_name_says_judges_and_thresholds(name: str, cascade: Cascade | None) -> None:
    assert parse_cascade(name) == cascade


@pytest.mark.parametrize(
    "name",
    [
        *("cascade(a)", "cascade(a,)", "cascade(a, cascade(b, c))", "cascade(a, b"),
        *("cascade(a, b, low=much)", "cascade()"),
    ],
)
def test_a_name_that_is_no_cascade_shows_what_one_is(name: str) -> None:
    with pytest.raises(ConfigError, match=r"does not name two judges as in 'cascade\(local, "):
        parse_cascade(name)


def test_the_judge_with_the_last_word_extracts() -> None:
    with FactCoverage("cascade(local, hosted_vllm/b)") as scorer:
        assert scorer.signature["extractor"] == "hosted_vllm/b"
        assert scorer.signature["first.judge"].startswith("local")
    with FactCoverage(Cascade(ScriptedChecker({}), "local")) as scorer:
        assert scorer.signature["extractor"].startswith("local")
