"""The semantic comparator asks little and fits any evaluator."""

from __future__ import annotations

import asyncio
import logging
from types import SimpleNamespace
from typing import Any

import pytest

from factcheck.errors import ConfigError, Failure, JudgeRejected, JudgeUnavailable
from factcheck.fields import (
    BatchItem,
    ComparatorResult,
    FakeJudge,
    SchemaError,
    SemanticBatchComparator,
    SemanticComparator,
)
from factcheck.judges.ports import PairVerdict, ValuePair
from factcheck.testing import ScriptedPairJudge
from tests.fields import foreign
from tests.fields.builders import array, best, compared, record, registry_of, run, statuses

MEANING = compared("semantic")


def says(pair: ValuePair) -> bool:
    names = {"nyc": "new york"}
    one, other = (names.get(v.casefold(), v.casefold()) for v in (pair.gold, pair.extracted))
    return one == other


def comparator(script: Any = says) -> tuple[SemanticComparator, ScriptedPairJudge]:
    judge = ScriptedPairJudge(script)
    return SemanticComparator(judge), judge


def item(gold: Any, extracted: Any, path: str = "a", **params: Any) -> BatchItem:
    return BatchItem(path, gold, extracted, gold, extracted, params)


def test_equal_values_and_nulls_need_no_judge() -> None:
    semantic, judge = comparator()
    items = [
        item("x", "x"), item(None, None), item(None, "x"), item("x", None),
        item([1, {"a": "b"}], [1, {"a": "b"}]), item("n/a", None), item(None, " "),
        item("5", ["5"]), item([], ""), item(5, {"a": 5}),
    ]  # fmt: skip

    results = [result for result in semantic(items) if isinstance(result, ComparatorResult)]

    assert [r.score for r in results] == [1.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    assert {r.comparator for r in results} == {"semantic"}
    assert results[0].reason == "exact"
    assert "null against a value" in str(results[2])
    assert results[7].reason == "type mismatch: gold is str, extracted is list"
    assert judge.calls == []
    assert semantic([]) == []


@pytest.mark.parametrize(
    ("probability", "threshold", "outcome"),
    [
        (0.6, None, "match"), (0.6, 0.7, "doubtful"), (0.4, None, "doubtful"), (0.3, 0.3, "match"),
        (0.02, None, "mismatch"), (None, 0.1, "mismatch"),
    ],
)  # fmt: skip
def test_a_threshold_decides_where_the_judge_gives_a_probability(
    probability: float | None, threshold: float | None, outcome: str
) -> None:
    equivalent = (probability or 0.0) >= 0.5
    semantic, _ = comparator(lambda _: PairVerdict(equivalent, probability, "", "mine"))
    params: dict[str, Any] = {} if threshold is None else {"threshold": threshold}
    compare: Any = semantic
    [result] = compare([item("x", "y", **params)])

    assert result.score == float(outcome == "match")
    assert result.doubtful is (outcome == "doubtful")


@pytest.mark.parametrize(
    ("judge", "expected"),
    [
        (FakeJudge({("b", "B"): 0.5, ("d", "D"): None}, 1.0), [1.0, 0.5, 1.0, None]),
        (FakeJudge(), [1.0, 1.0, 1.0, 1.0]),
        (SimpleNamespace(judge_batch=lambda _: [0.0]), [1.0, 0.0, None, None]),
        (SimpleNamespace(judge_batch=lambda items: [1.0] * 9), [1.0, 1.0, 1.0, 1.0]),
        (SimpleNamespace(judge_batch=lambda _: (1.0, 1.0, 1.0)), [1.0, None, None, None]),
        (SimpleNamespace(judge_batch=lambda _: 1 / 0), [1.0, None, None, None]),
    ],
)
def test_a_judge_of_batches_sees_pairs_in_one_call(
    judge: Any, expected: list[float | None]
) -> None:
    compare = SemanticBatchComparator(judge, name="mine")
    values: list[Any] = ["a", "b", {"c": 1}, "d"]
    found: list[Any] = ["a", "B", '{"C": 1}', "D"]
    results = compare([item(*pair) for pair in zip(values, found, strict=True)])

    assert [result and result.score for result in results] == expected
    assert results[0] == ComparatorResult(1.0, "mine", "exact")
    reasons = {"judge match" if r.score >= 1 else "judge mismatch" for r in results[1:] if r}
    assert {r.reason for r in results[1:] if r} == reasons
    if isinstance(judge, FakeJudge):
        assert [[one.gold for one in call] for call in judge.calls] == [["b", {"c": 1}, "d"]]
        assert compare([item("x", "x")]) == [results[0]]
        assert len(judge.calls) == 1


def test_other_values_are_asked_once_each_wherever_they_stand() -> None:
    semantic, judge = comparator()
    schema = record(city=MEANING, l=array(record(city=MEANING)), s=best(MEANING))
    gold = {"city": "New York", "l": [{"city": "New York"}, {"city": "Rome"}], "s": ["New York"]}
    found = {"city": "NYC", "l": [{"city": "NYC"}, {"city": "Oslo"}], "s": ["NYC"]}

    result = run(schema, [gold] * 20, [found] * 20, registry_of(semantic=semantic))

    [call] = judge.calls
    assert [(p.path, p.gold, p.extracted) for p in call.pairs] == [
        ("city", "New York", "NYC"), ("l[].city", "New York", "NYC"), ("l[].city", "Rome", "Oslo"),
        ("s[]", "New York", "NYC"),
    ]  # fmt: skip
    assert {f.path: f.status for f in result.records[7].field_results} == {
        "city": "match", "l[0].city": "match", "l[1].city": "mismatch", "s[0]": "match",
    }  # fmt: skip
    assert result.records[0].field_results[0].reason == "scripted: scripted"


def test_the_judge_sees_what_the_schema_says() -> None:
    semantic, judge = comparator()
    params = {"instructions": "cities", "specificity": "allow_more_specific"}
    schema = record(a=compared({"semantic": params}, description="where it is"), c=MEANING)
    gold, found = {"a": "x", "c": {"z": 1, "a": "ü"}}, {"a": "y", "c": [1, None]}

    run(schema, [gold], [found], registry_of(semantic=semantic))

    own, other = judge.calls[0].pairs
    assert own == ValuePair("x", "y", "a", "where it is", "cities", "allow_more_specific")
    texts = '{"a": "ü", "z": 1}', "[1, null]"
    assert other == ValuePair(*texts, "c", "", "", "exact")


def test_parameters_are_checked_with_the_schema() -> None:
    semantic, judge = comparator()
    for params, message in (
        ({"specificity": "loose"}, "allow_more_specific"), ({"threshold": 0}, "a number above 0"),
        ({"instructions": 3}, "must be a string"), ({"hint": "x"}, "unknown parameter 'hint'"),
    ):  # fmt: skip
        schema = record(a=compared({"semantic": params}))
        with pytest.raises(SchemaError, match=message) as caught:
            run(schema, [{"a": "x"}], [{"a": "y"}], registry_of(semantic=semantic))
        assert caught.value.path == "a"
    assert judge.calls == []
    with pytest.raises(ConfigError, match="judge"):
        SemanticComparator("magic")


@pytest.mark.parametrize(
    ("answer", "n_open"),
    [
        (Failure(None, "unavailable", "no route"), 2), (JudgeUnavailable("no route"), 4),
        (JudgeRejected("no route"), 4),
    ],
)  # fmt: skip
def test_pairs_without_a_verdict_are_open_and_told_once(
    answer: Any, n_open: int, caplog: pytest.LogCaptureFixture
) -> None:
    semantic, _ = comparator(lambda p: answer if p.gold == "bad" else says(p))
    schema = record(a=MEANING, b=MEANING, c=MEANING, d=MEANING, e=MEANING)
    gold = {"a": "bad", "b": "NYC", "c": "x", "d": "bad", "e": "equal"}
    found = {"a": "y", "b": "New York", "c": "z", "d": "w", "e": "equal"}
    with caplog.at_level(logging.WARNING):
        result = run(schema, [gold], [found], registry_of(semantic=semantic))

    expected = {"a": "batch_error", "b": "match", "c": "mismatch", "d": "batch_error"}
    if n_open == 4:  # the judge cannot be reached
        expected = dict.fromkeys("abcd", "batch_error")
    assert statuses(result) == {**expected, "e": "match"}
    message = f"semantic: no verdict on {n_open} of 4 pairs: no route"
    assert [r.getMessage() for r in caplog.records] == [message]


def test_a_value_that_cannot_be_written_down_fails_alone_inside_a_running_loop() -> None:
    endless: list[Any] = []
    endless.append(endless)
    semantic, judge = comparator(lambda _pair: PairVerdict(True, None, "", "terse"))

    async def inside() -> Any:
        return semantic([item(endless, "x"), item("x", endless), item("NYC", "New York")])

    unwritable, mismatch, match = asyncio.run(inside())
    assert isinstance(unwritable, Failure)
    assert mismatch.score == 0
    assert "the extracted value cannot be written as JSON" in mismatch.reason
    assert (match.score, match.reason) == (1.0, "terse")
    assert len(judge.calls[0].pairs) == 1


def test_a_foreign_evaluator_gets_the_same_results_of_its_own_type() -> None:
    def theirs(item: BatchItem) -> foreign.BatchItem:
        values = item.gold_raw, item.extracted_raw, item.gold_compared, item.extracted_compared
        return foreign.BatchItem(item.path, *values, dict(item.params))

    semantic, judge = comparator(
        lambda pair: Failure(None, "output", "no") if pair.gold == "bad" else says(pair)
    )
    items = [
        item("New York", "NYC", "a", instructions="cities"), item("x", "x", "s[].d"),
        item(None, "y"), item({"k": [1]}, {"k": [2]}, "l[3].k[-1]"), item("bad", "worse"),
    ]  # fmt: skip
    answer: Any = semantic
    *ours, failure = answer(items)
    *found, same = answer([theirs(one) for one in items])

    assert found == [foreign.ComparatorResult(r.score, r.comparator, r.reason) for r in ours]
    assert [result.score for result in found] == [1.0, 1.0, 0.0, 0.0]
    assert failure == same == Failure(None, "output", "no")
    paths = [[pair.path for pair in call.pairs] for call in judge.calls]
    assert paths == [["a", "l[].k[]", "a"]] * 2
