"""Work that nobody waits for any more ends before it is done."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from typing import Any

import pytest

from factcheck.facts import AtomicFact
from factcheck.judges.embedders.local import embed_text
from factcheck.judges.local.checker import check_facts
from factcheck.judges.local.extractor import extract_facts
from factcheck.judges.local.pairs.judge import compare_values
from factcheck.judges.ports import ValuePair
from factcheck.runtime.deadline import run_in_thread

FACTS = [AtomicFact(f"f{k}", f"Anna sold {k} boats.") for k in range(50)]
TEXT = "Anna sold 12 boats. The pier is old."


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (check_facts, (FACTS, TEXT)), (extract_facts, (TEXT,)),
        (compare_values, (ValuePair("red car", "blue car"),)), (embed_text, (TEXT,)),
    ],
    ids=["checker", "extractor", "pairs", "embedder"],
)  # fmt: skip
def test_every_embedded_judge_passes_a_checkpoint(
    function: Callable[..., Any], arguments: tuple[Any, ...]
) -> None:
    started, go_on = threading.Event(), threading.Event()
    done: list[Any] = []

    def work() -> None:
        started.set()
        go_on.wait()
        done.append(function(*arguments))

    async def interrupted() -> None:
        task = asyncio.ensure_future(run_in_thread(work))
        await asyncio.to_thread(started.wait)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()

    asyncio.run(interrupted())

    assert not done
