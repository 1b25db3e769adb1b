"""The asynchronous form gives what the synchronous one gives, and neither touches the process."""

from __future__ import annotations

import asyncio
import gc
import threading
from typing import Any

import pytest

from factcheck.fields import (
    BatchItem,
    ComparatorResult,
    SchemaError,
    SemanticComparator,
    aevaluate,
    annotate_xeval,
    evaluate,
)
from factcheck.testing import ScriptedPairJudge, same_words
from tests.fields.builders import TEXT, Recorder, best, compared, record, registry_of

SCHEMA = annotate_xeval(
    record(a=compared("judge"), b=TEXT, s=best(compared("judge")), t=best(TEXT))
)
GOLD = [{"a": "x", "b": "y", "s": ["p", "q"], "t": [str(n), "z"]} for n in range(250)]
FOUND = [{"a": "X", "b": "y", "s": ["q", "r"], "t": ["z", "0"]} for _ in range(250)]


class Awaited(Recorder):
    """A batch comparator that can be awaited."""

    def __init__(self) -> None:
        super().__init__(across_records=True)
        self.n_awaited = 0

    async def acall(self, items: list[BatchItem]) -> list[Any]:
        await asyncio.sleep(0)
        self.n_awaited += 1
        return self(items)


@pytest.mark.parametrize("make", [Recorder, lambda: Recorder(across_records=True), Awaited])
def test_both_forms_give_the_same_run(make: Any) -> None:
    judge, other = make(), make()
    registry, other_registry = registry_of(judge=judge), registry_of(judge=other)

    run = evaluate(GOLD, FOUND, SCHEMA, registry=registry)
    again = asyncio.run(aevaluate(GOLD, FOUND, SCHEMA, registry=other_registry))

    assert again == run
    assert other.calls == judge.calls
    assert getattr(other, "n_awaited", len(judge.calls)) == len(judge.calls)


def test_other_tasks_run_while_a_comparator_blocks() -> None:
    released = threading.Event()

    def answer(item: BatchItem) -> ComparatorResult:
        assert released.wait(10)
        return ComparatorResult(1.0, "judge")

    async def main() -> Any:
        task = asyncio.ensure_future(
            aevaluate(GOLD[:1], FOUND[:1], SCHEMA, registry=registry_of(judge=Recorder(answer)))
        )
        await asyncio.sleep(0.01)
        released.set()
        return await task

    assert asyncio.run(main()).total_batch_errors == 0


def test_an_error_of_an_awaited_comparator_is_that_of_its_fields() -> None:
    class Failing(Awaited):
        async def acall(self, items: list[BatchItem]) -> list[Any]:
            raise RuntimeError("nobody is there")

    run = asyncio.run(aevaluate(GOLD[:2], FOUND[:2], SCHEMA, registry=registry_of(judge=Failing())))

    assert run.by_field["a"].counts == {"batch_error": 2}


def test_the_garbage_collector_is_left_alone() -> None:
    """Switching it off would leak memory in every other thread of the process."""
    seen: list[bool] = []

    def compare(gold: Any, extracted: Any, _params: Any) -> ComparatorResult:
        seen.append(gc.isenabled())
        return ComparatorResult(float(gold == extracted), "own")

    schema = record(a=compared("own"))
    evaluate([{"a": "x"}] * 3, [{"a": "x"}] * 3, schema, registry=registry_of(own=compare))

    assert seen == [True] * 3
    assert gc.isenabled()


class TestSemantic:
    """`semantic=` names the judge; the registry stays as it is."""

    schema = record(a=compared("semantic"), b=compared("own"))

    def test_a_judge_is_enough(self) -> None:
        judge = ScriptedPairJudge(same_words)
        registry = registry_of(own=lambda *_: ComparatorResult(1.0, "own"))
        given: Any = ([{"a": "A b", "b": 1}], [{"a": "a B", "b": 2}], self.schema)
        run = asyncio.run(aevaluate(*given, registry=registry, semantic=judge))

        assert run == evaluate(*given, registry=registry, semantic=judge)
        assert run.mean_f1 == 1.0
        with pytest.raises(KeyError):
            registry.get_comparator("semantic")

    def test_the_embedded_judge_goes_by_its_name(self) -> None:
        run = evaluate(
            [{"a": "5 km"}, {"a": "5 km"}],
            [{"a": "5000 m"}, {"a": "6 km"}],
            record(a=compared("semantic")),
            semantic="local",
        )

        assert run.by_field["a"].counts == {"match": 1, "mismatch": 1}

    def test_a_comparator_that_is_given_is_used_as_it_is(self) -> None:
        comparator = SemanticComparator(ScriptedPairJudge(same_words), instructions="ignore case")
        evaluate([{"a": "A"}], [{"a": "a"}], record(a=compared("semantic")), semantic=comparator)
        assert comparator.n_judged == 1

    def test_without_a_judge_the_error_says_how(self) -> None:
        with pytest.raises(SchemaError, match=r"semantic='local'"):
            evaluate([], [], record(a=compared("semantic")))
