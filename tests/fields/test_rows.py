"""The rows of a run, and its JSON, from which it comes back."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from pydantic import BaseModel

from factcheck.errors import InputError
from factcheck.fields import (
    FieldEvaluator,
    FieldResult,
    NullHandling,
    RecordResult,
    Registry,
    RunResult,
    annotate_xeval,
    evaluate,
    reclassify_nulls,
)
from factcheck.fields.values import plain
from tests.fields.builders import NUMBER, TEXT, array, best, compared, record, run, summed_up
from tests.fields.strategies import Example, examples

LOWER = compared("exact", **{"x-eval-transform": ["lowercase"]})
ROUNDED = {**NUMBER, "x-eval-transform": [{"round_digits": {"digits": 1}}]}


class Colour(str, Enum):
    """A text with a name."""

    RED = "red"


class Model(BaseModel):
    """A record of pydantic."""

    name: str
    day: date


class Unprintable:
    """What has no text."""

    def __str__(self) -> str:
        raise ZeroDivisionError

    __repr__ = __str__


def holding(value: Any, compared_value: Any = None) -> RunResult:
    field = FieldResult("a", 0.0, "exact", value, value, "mismatch", None, compared_value, value)
    return summed_up([RecordResult(0, [field], value, [value], 0.0, 0.0, 0.0)])


def saved(run: RunResult) -> dict[str, Any]:
    data: dict[str, Any] = json.loads(run.to_json())
    return data


class TestRows:
    """One row for each field of each record."""

    def test_a_row_says_everything_about_a_field(self) -> None:
        schema = record(items=array(record(name=LOWER), match_by="key_field", key="name"))
        result = run(schema, [{"items": [{"name": "A"}]}], [{"items": [{"name": "b"}]}])

        assert result.to_rows() == [
            {
                "record": 0, "path": "items[0].name", "field": "items[].name", "status": "omission",
                "score": 0.0, "comparator": "exact", "reason": None, "gold": "A", "extracted": None,
            },
            {
                "record": 0, "path": "items[-1].name", "field": "items[].name",
                "status": "hallucination", "score": 0.0, "comparator": "exact", "reason": None,
                "gold": None, "extracted": "b",
            },
        ]  # fmt: skip

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

    def test_ids_scores_reasons_and_sums_come_back(self) -> None:
        schema = annotate_xeval(
            record(
                id=TEXT,
                a=compared({"fuzzy": {}}, **{"x-eval-weight": 0.3}),
                b={**TEXT, "x-eval-skip": True},
                c=best(record(n=NUMBER)),
            )
        )
        gold = [{"id": "é\ud800", "a": "colour", "b": 1, "c": [{"n": 1}, {"n": 2}]}, {"id": ""}]
        found = [{"id": "é\ud800", "a": "color", "c": [{"n": 2}, {"n": 3, "q": 1}]}, {"zz": [1]}]
        result = evaluate(gold, found, schema, id_field="id")

        assert RunResult.from_json(result.to_json().encode("utf-8")) == result
        assert RunResult.from_dict(result.to_dict()) == result

    def test_totals_come_back_and_have_no_rows(self) -> None:
        """An empty list would look like a run without fields."""
        evaluator = FieldEvaluator(record(a=compared("exact")))
        result = evaluator.tally([({"a": "x"}, {"a": "y"})] * 3).result()
        assert RunResult.from_json(result.to_json()) == result
        with pytest.raises(InputError, match="kept only totals"):
            result.to_rows()
        assert evaluator.tally([]).result().to_rows() == []


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

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("{\n", "run, line 2: not valid JSON"), ("[]", "run: expected an object"),
            ('{"format": "factcheck-fields-run/2"}', "RunResult.to_json of this version"),
            ('{"format": "factcheck-fields-run/1"}', "run: 'records' is missing"),
        ],
    )  # fmt: skip
    def test_another_text(self, text: str | bytes, message: str) -> None:
        with pytest.raises(InputError, match=message):
            RunResult.from_json(text)

    @pytest.mark.parametrize(
        ("place", "value", "message"),
        [
            (("records",), {}, "run: 'records': expected a list"),
            (("records", 0, "id"), 1.5, "run: record 1: 'id': expected a string or a whole number"),
            (("records", 0, "fields", 1, "status"), ["match"], "field 2: 'status': expected one o"),
            (("by_field", "a", "support"), "1", "run: 'by_field': 'a': 'support': expected"),
        ],
    )
    def test_one_wrong_value(self, place: tuple[Any, ...], value: Any, message: str) -> None:
        data = run(record(a=TEXT, b=TEXT), [{"a": "x", "b": "x"}], [{"a": "x", "b": "y"}]).to_dict()
        *above, last = place
        inner: Any = data
        for step in above:
            inner = inner[step]
        inner[last] = value

        with pytest.raises(InputError, match=message):
            RunResult.from_dict(data)
