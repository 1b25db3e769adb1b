"""The rows of a run; its JSON, from which it comes back; and its totals, however they are cut."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Iterable
from copy import deepcopy
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import create_model

from factcheck.errors import InputError
from factcheck.fields import (
    FieldEvaluator,
    FieldResult,
    NullHandling,
    RecordResult,
    Registry,
    RunResult,
    RunTally,
    annotate_xeval,
    reclassify_nulls,
)
from factcheck.fields.records import Counts
from factcheck.fields.values import plain
from tests.fields.builders import (
    NUMBER,
    STATUSES,
    TEXT,
    Recorder,
    array,
    best,
    compared,
    record,
    registry_of,
    run,
    run_of,
    summed_up,
)
from tests.fields.strategies import Example, examples

LOWER = compared("exact", **{"x-eval-transform": ["lowercase"]})
ROUNDED = {**NUMBER, "x-eval-transform": [{"round_digits": {"digits": 1}}]}


Colour = Enum("Colour", {"RED": "red"}, type=str)
Model: Any = create_model("Model", name=(str, ...), day=(date, ...))


class Unprintable:
    """What has no text."""

    def __str__(self) -> str:
        raise ZeroDivisionError

    __repr__ = __str__


def holding(value: Any, compared_value: Any = None) -> RunResult:
    field = FieldResult("a", 0.0, "exact", value, value, "mismatch", None, compared_value, value)
    return summed_up([RecordResult(0, [field], value, [value], 0.0, 0.0, 0.0, Counts(0, 1, 1))])


def saved(run: RunResult) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(run.to_json())
    return data


class TestRows:
    """One row for each field of each record."""

    def test_a_row_says_everything_about_a_field(self) -> None:
        schema = record(items=array(record(name=LOWER), match_by="key_field", key="name"))
        result = run(schema, [{"items": [{"name": "A"}]}], [{"items": [{"name": "b"}]}])

        row, other = result.to_rows()
        assert row == {
            "record": 0, "path": "items[0].name", "field": "items[].name", "status": "omission",
            "score": 0.0, "comparator": "exact", "reason": None, "gold": "A", "extracted": None,
        }  # fmt: skip
        assert (other["path"], other["status"]) == ("items[-1].name", "hallucination")

    def test_compared_values_are_there_where_transforms_changed_them(self) -> None:
        """Also where one made a value null, which then is an omission or a hallucination."""
        registry = Registry()
        registry.register_transform("nothing", lambda value, _: None if value == "n/a" else value)
        schema = record(a=LOWER, b=ROUNDED, c={**TEXT, "x-eval-transform": ["nothing"]})
        gold, found = {"a": "X", "b": 2.5, "c": "n/a"}, {"a": "x", "b": 2.54, "c": "x"}

        def handled(results: list[FieldResult]) -> list[FieldResult]:
            return reclassify_nulls(results, NullHandling())

        a, b, c = run(schema, [gold], [found], registry, post_process=handled).to_rows()

        assert (a["gold_compared"], "extracted_compared" in a) == ("x", False)
        assert ("gold_compared" in b, b["extracted_compared"]) == (False, 2.5)
        assert (c["status"], c["gold"], c["extracted"]) == ("hallucination", "n/a", "x")
        assert (c["gold_compared"], "extracted_compared" in c) == (None, False)


class TestJson:
    """A run comes back from its JSON."""

    @given(examples())
    def test_a_run_comes_back(self, example: Example) -> None:
        result = run(deepcopy(example.schema), [example.gold] * 2, [example.extracted, None])

        text = result.to_json()

        back, rows = RunResult.from_json(text), result.to_rows()
        assert back.to_json() == text
        assert plain(back.to_rows()) == plain(rows)
        assert [(row["path"], row["status"], row["score"]) for row in rows] == [
            (r.path, r.status, r.score) for each in result.records for r in each.field_results
        ]
        assert {row["field"] for row in rows} == set(result.by_field)
        assert (back.by_field, back.per_field) == (result.by_field, result.per_field)
        assert back.micro == result.micro


class TestForeignValues:
    """What JSON cannot hold becomes its text, or what comes closest."""

    @pytest.mark.parametrize(
        ("value", "written"),
        [
            (math.nan, "NaN"), (-math.inf, "-Infinity"),
            (datetime(2020, 2, 3, 4, tzinfo=timezone.utc), "2020-02-03T04:00:00+00:00"),
            (Decimal("1.10"), "1.10"), ((1, (2,)), [1, [2]]), ({"b", "a"}, ["a", "b"]),
            ({1: "x", None: {2.5: date(2020, 1, 1)}}, {"1": "x", "null": {"2.5": "2020-01-01"}}),
            (Colour.RED, "red"),
            (b"a", "b'a'"),
            (Model(name="x", day=date(2020, 1, 1)), {"name": "x", "day": "2020-01-01"}),
            (Unprintable(), "<Unprintable>"), ([10**3000], [10**3000]),
            ([np.int64(3), np.float64(0.5), np.float64("nan")], [3, 0.5, "NaN"]),
        ],
    )  # fmt: skip
    def test_every_value_is_written(self, value: Any, written: Any) -> None:
        result = holding(value, value)

        data = saved(result)

        [entry] = data["records"]
        assert entry["gold"] == entry["fields"][0]["gold"] == written
        assert entry["extracted"] == [written]
        back = RunResult.from_dict(data)
        assert back.to_dict() == data
        assert RunResult.from_json(back.to_json()) == back

    def test_deep_large_and_endless_values_end(self) -> None:
        loop: list[Any] = [1]
        loop.append(loop)
        assert plain(loop) == "[1, [...]]"
        assert plain({Unprintable(): 1}) == "<dict>"
        assert plain([1 << 20_000]) == "<list>"
        for levels in (200, 100_000):
            value: Any = 1
            for _ in range(levels):
                value = [value]
            assert levels > 200 or plain(value) == value
            assert RunResult.from_json(holding(value).to_json()).records


class TestOtherFiles:
    """What is no run is refused, and the place is named."""

    def test_another_text(self) -> None:
        for text, message in (
            ("{\n", "run, line 2: not valid JSON"), ("[]", "run: expected an object"),
            ('{"format": "factcheck-fields-run/2"}', "RunResult.to_json of this version"),
            ('{"format": "factcheck-fields-run/1"}', "run: 'records' is missing"),
        ):  # fmt: skip
            with pytest.raises(InputError, match=message):
                RunResult.from_json(text)


PATHS = ["a", "b", "items[0].n", "items[1].n", "items[-1].n", "z\\.z", "rows[0][0]", "rows[1][0]"]
signs = st.lists(st.dictionaries(st.sampled_from(PATHS), st.text("".join(STATUSES), max_size=3)))


def figures(part: Any, path: str = "") -> dict[str, float]:
    if isinstance(part, dict):
        return {k: n for key in part for k, n in figures(part[key], f"{path}/{key}").items()}
    return {path: part} if isinstance(part, (int, float)) else {}


def tally_of(some: Iterable[RecordResult]) -> RunTally:
    tally = RunTally()
    for each in some:
        tally.add(each)
    return tally


@given(signs, st.lists(st.integers(0, 8), max_size=4), st.randoms())
def test_shards_in_any_cut_and_order_add_up_to_the_run(
    signs: list[Any], cuts: list[int], random: Any
) -> None:
    records = run_of(signs).records
    ends = [0, *sorted(min(cut, len(records)) for cut in cuts), len(records)]
    shards = [tally_of(records[start:end]) for start, end in itertools.pairwise(ends)]
    random.shuffle(shards)

    while len(shards) > 1:
        place = random.randrange(len(shards) - 1)
        shards[place].merge(shards.pop(place + 1))

    whole = tally_of(records).result()
    summed = figures(shards[0].result().to_dict())
    assert summed == pytest.approx(figures(whole.to_dict()), rel=1e-9, abs=1e-12)


def test_unlike_tallies_do_not_add_up() -> None:
    tallies = RunTally(), RunTally("1"), RunTally("2")
    for tally, other in itertools.permutations(tallies, 2):
        with pytest.raises(InputError, match="tallies of different schemas"):
            tally.merge(other)


TOLERANCE = {"numeric": {"tolerance": {"rel": 0.1}}}


def digest_of(**changed: Any) -> str:
    fields = {"a": TEXT, "b": array(NUMBER), **changed}
    schema = annotate_xeval(deepcopy(record(**dict(reversed(fields.items())))))
    return FieldEvaluator(schema, registry=registry_of(judge=Recorder())).schema_digest


def test_whatever_changes_scores_changes_the_digest_and_nothing_else_does() -> None:
    fields: list[dict[str, Any]] = [
        *({**TEXT, f"x-eval-{key}": value} for key, value in (
            ("transform", ["strip"]), ("threshold", 0.5), ("weight", 2), ("skip", True),
            ("compare", "fuzzy"), ("compare", {"oneof": {"values": ["x"]}}),
        )),
        best(NUMBER), array({**NUMBER, "x-eval-compare": TOLERANCE}),
        compared("judge"), compared("judge", description="city"),
    ]  # fmt: skip
    assert len({digest_of(a=field) for field in [TEXT, *fields]}) == len(fields) + 1
    same: list[dict[str, Any]] = [
        {"a": {**TEXT, "title": "A", "description": "the first letter"}},
        {"a": {"type": ["string", "null"]}}, {"a": compared({"exact": {}})},
        {"a": {**TEXT, "x-eval-weight": 1, "x-eval-threshold": 1.0, "x-eval-skip": False}},
        {"b": array(NUMBER, ordered=True)},
    ]  # fmt: skip
    assert {digest_of(**other) for other in same} == {digest_of()}
