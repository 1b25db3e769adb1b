"""What is undecided at a deadline, or is no longer waited for, ends and harms nobody else."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import pytest

import factcheck
from factcheck import AtomicFact, CheckFailure, FactCoverage, FactSet, Model, Verdict
from factcheck.errors import DeadlineExceeded, Failure, InputError
from factcheck.judges.embedders import embed_text
from factcheck.judges.local.checker import check_facts
from factcheck.judges.local.encoder import _Network
from factcheck.judges.local.extractor import extract_facts
from factcheck.judges.local.pairs import LocalPairJudge
from factcheck.judges.local.pairs.judge import compare_values
from factcheck.judges.ports import Ledger, PairVerdict, ValuePair
from factcheck.runtime.deadline import decide_each, run_in_thread
from factcheck.testing import (
    FactModel,
    LocalOpenAIServer,
    Reply,
    Request,
    ScriptedChecker,
    ScriptedExtractor,
    parse_prompt,
)

FACTS = ["Rome is old.", "Oslo is cold.", "Paris is big.", "Cairo is dry."]
TEXT = " ".join(FACTS)


def slow_server(word: str, delay_s: float) -> LocalOpenAIServer:
    """A model that takes `delay_s` for requests about facts with a word."""
    model = FactModel()

    def answer(request: Request) -> Reply:
        is_slow = any(word in fact for fact in parse_prompt(request.body).facts.values())
        return Reply(model(request), delay_s=delay_s if is_slow else 0.0)

    return LocalOpenAIServer(answer)


def scorer_of(server: LocalOpenAIServer, batch_size: int = 2) -> FactCoverage:
    model = Model("openai/scripted", base_url=server.base_url, api_key="none")
    return FactCoverage(model, batch_size=batch_size, cache="off")


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    fake = SimpleNamespace(now=0.0)
    fake.monotonic = lambda: fake.now
    monkeypatch.setattr("factcheck.runtime.deadline.time", fake)
    return fake


def outcomes(results: Sequence[Verdict | CheckFailure]) -> list[str]:
    return [one.code if isinstance(one, CheckFailure) else one.label for one in results]


def test_batches_that_are_answered_in_time_are_kept() -> None:
    with slow_server("Cairo", 60) as server, scorer_of(server) as scorer:
        scorer.check(["Ready?"], "Ready?")  # the form of replies is known
        with factcheck.deadline(2):
            results = scorer.check(FACTS, TEXT)
        while server.in_flight:  # until the server has noticed
            time.sleep(0.01)

    assert outcomes(results) == ["entailed", "entailed", "deadline", "deadline"]


def test_after_a_deadline_nothing_is_sent() -> None:
    with slow_server("Cairo", 0) as server, scorer_of(server) as scorer:
        with factcheck.deadline(0.001):
            time.sleep(0.01)
            results = scorer.check(FACTS, TEXT)
        n_sent = len(server.requests)

    assert outcomes(results) == ["deadline"] * 4
    assert n_sent == 0


@pytest.mark.anyio
@pytest.mark.parametrize("impatient_first", [True, False])
async def test_a_deadline_is_its_callers_alone(impatient_first: bool) -> None:  # noqa: FBT001
    """Both ask the same question; whoever sends it, only one has a deadline."""

    async def impatient() -> Sequence[Verdict | CheckFailure]:
        with factcheck.deadline(1):
            return await scorer.acheck(["Cairo is dry."], TEXT)

    with slow_server("Cairo", 2.5) as server, scorer_of(server) as scorer:
        await scorer.acheck(["Ready?"], "Ready?")
        server.clear()
        patient = scorer.acheck(["Cairo is dry."], TEXT)
        works = [impatient(), patient] if impatient_first else [patient, impatient()]
        tasks = []
        for work in works:
            tasks.append(asyncio.ensure_future(work))
            await asyncio.sleep(0.1)
        found = [outcomes(one) for one in await asyncio.gather(*tasks)]
        n_sent = len(server.requests)

    assert found == (
        [["deadline"], ["entailed"]] if impatient_first else [["entailed"], ["deadline"]]
    )
    assert n_sent == (2 if impatient_first else 1)


def test_a_blocking_judge_is_left_behind() -> None:
    free, ended = threading.Event(), threading.Event()

    def block(fact: str, text: str) -> str:
        free.wait(20)
        ended.set()
        return "entailed"

    with FactCoverage(ScriptedChecker(block), ScriptedExtractor({})) as scorer:  # type: ignore[arg-type]
        with factcheck.deadline(0.3):
            results = scorer.check(FACTS, TEXT)
        was_left = not ended.is_set()
        free.set()

    assert was_left
    assert outcomes(results) == ["deadline"] * 4


@pytest.mark.parametrize("judge", ["local", "local-fast", "cascade(local-fast, local)"])
def test_embedded_judges_leave_facts_undecided(judge: str) -> None:
    """Of nested deadlines, the first to end counts."""
    with FactCoverage(judge, "local") as scorer:
        with factcheck.deadline(0.001):
            time.sleep(0.01)
            with factcheck.deadline(60):
                report = scorer.score(TEXT, TEXT, facts=FACTS)
        again = scorer.score(TEXT, TEXT, facts=FACTS)

    assert outcomes(report.results) == ["deadline"] * 4
    assert (report.score, report.low, report.high) == (None, 0.0, 1.0)
    assert again.score == 1.0


def test_embedded_judges_keep_what_they_decided(clock: SimpleNamespace) -> None:
    def decide(fact: AtomicFact) -> Verdict | CheckFailure:
        clock.now += 1
        return Verdict(fact, "entailed")

    with factcheck.deadline(1.5):
        results = decide_each(decide, FactSet.of(FACTS), CheckFailure.of)

    assert outcomes(results) == ["entailed", "entailed", "deadline", "deadline"]


def test_a_long_text_is_encoded_until_the_deadline(
    clock: SimpleNamespace, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = " ".join(f"{'Big ' * (n % 9)}ship {n} left port {n}." for n in range(500))
    run, n_runs = _Network.run, 0

    def slow_run(network: _Network, pieces: Sequence[int], **inputs: Any) -> Any:
        nonlocal n_runs
        n_runs += 1
        clock.now += 1
        return run(network, pieces, **inputs)

    monkeypatch.setattr(_Network, "run", slow_run)
    with FactCoverage("local", cache="off") as scorer, factcheck.deadline(5.5):
        results = scorer.check(["Ship 3 left Oslo."], text)

    assert outcomes(results) == ["deadline"]
    assert n_runs == 6


@pytest.mark.anyio
async def test_pairs_of_values_are_undecided_too() -> None:
    with factcheck.deadline(0.001):
        await asyncio.sleep(0.01)
        (late,) = await LocalPairJudge().compare([ValuePair("a car", "an auto")], Ledger())
    (judged,) = await LocalPairJudge().compare([ValuePair("a car", "an auto")], Ledger())

    assert isinstance(late, Failure)
    assert late.code == "deadline"
    assert isinstance(judged, PairVerdict)


MODEL = Model("openai/scripted", base_url="http://127.0.0.1:9/v1", api_key="none")


@pytest.mark.parametrize(
    "work",
    [
        lambda: FactCoverage("local").score(TEXT, TEXT),
        lambda: FactCoverage("local", MODEL).score(TEXT, TEXT),
    ],
    ids=["embedded extractor", "model"],
)
def test_there_is_no_report_without_facts(work: Callable[[], object]) -> None:
    with factcheck.deadline(0.001):
        time.sleep(0.01)
        with pytest.raises(DeadlineExceeded, match="deadline"):
            work()


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), "2"])
def test_a_deadline_is_a_positive_number_of_seconds(seconds: float) -> None:
    with pytest.raises(InputError, match="seconds must be a finite number above 0"):
        factcheck.deadline(seconds).__enter__()


PIER = "Anna sold 12 boats. The pier is old."


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (check_facts, (FactSet.of(FACTS).facts, PIER)), (extract_facts, (PIER,)),
        (compare_values, (ValuePair("red car", "blue car"),)), (embed_text, (PIER,)),
    ],
    ids=["checker", "extractor", "pairs", "embedder"],
)  # fmt: skip
def test_work_in_a_thread_ends_at_its_next_checkpoint_once_nobody_waits(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    started, go_on, ended = threading.Event(), threading.Event(), threading.Event()
    done: list[Any] = []

    def work() -> None:
        started.set()
        go_on.wait()
        try:
            done.append(function(*arguments))
        finally:
            ended.set()

    async def interrupted() -> None:
        task = asyncio.ensure_future(run_in_thread(work))
        await asyncio.to_thread(started.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()

    asyncio.run(interrupted())

    assert ended.wait(10)
    assert not done
