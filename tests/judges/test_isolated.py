"""A judge of one's own that blocks holds nobody up but itself."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Sequence
from typing import Any

import pytest

from factcheck import AtomicFact, FactCoverage, Verdict
from factcheck.errors import JudgeError
from factcheck.judges.factory import build_judges
from factcheck.judges.ports import Ledger
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.testing import ScriptedChecker

FACTS = ["The lake is deep."]


class Blocking:
    """Blocks its loop until it is released."""

    def __init__(self) -> None:
        self.identity = {"judge": "blocking"}
        self.busy = threading.Event()
        self.release = threading.Event()
        self.threads: set[str] = set()

    async def check(self, facts: Sequence[AtomicFact], text: str, ledger: Ledger) -> list[Verdict]:
        del text, ledger
        self.threads.add(threading.current_thread().name)
        self.busy.set()
        assert self.release.wait(10)
        return [Verdict(fact, "entailed", 1.0) for fact in facts]


def test_a_blocking_judge_does_not_hold_up_the_calls_of_others() -> None:
    judge = Blocking()
    with FactCoverage(judge, "local") as slow, FactCoverage("local") as other:
        waiting = background.submit(slow.acheck(FACTS, "A deep lake."))
        assert judge.busy.wait(10)
        results = background.submit(other.acheck(FACTS, "A deep lake.")).result(10)
        judge.release.set()
        assert waiting.result(10)[0].fact == results[0].fact
    assert judge.threads == {"factcheck-judge"}


def test_a_judge_runs_in_the_loop_of_an_asynchronous_caller() -> None:
    judge = Blocking()
    judge.release.set()

    async def score() -> Any:
        async with FactCoverage(judge, "local") as scorer:
            return await scorer.acheck(FACTS, "A deep lake.")

    assert len(asyncio.run(score())) == 1
    assert judge.threads == {threading.current_thread().name}


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


def test_a_language_model_of_ones_own_that_blocks_holds_up_nobody_else() -> None:
    import dspy

    busy, release = threading.Event(), threading.Event()

    class BlockingLM(dspy.BaseLM):  # type: ignore[misc]
        async def acall(self, *_: Any, **__: Any) -> Any:
            busy.set()
            assert release.wait(10)
            raise ValueError("nothing to say")

    lm = BlockingLM("mine/slow")
    with FactCoverage(lm, "local", cache="off") as slow, FactCoverage("local") as other:
        waiting = background.submit(slow.acheck(FACTS, "A deep lake."))
        assert busy.wait(10)
        assert background.submit(other.acheck(FACTS, "A deep lake.")).result(10)
        release.set()

        assert [one.code for one in waiting.result(10)] == ["judge"]  # type: ignore[union-attr]
