"""All pairs at once score what each pair scores by itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.fields import ComparatorResult, Registry, annotate_xeval, parse_eval_schema
from factcheck.fields.runs.records import count
from factcheck.fields.scoring.grid import Grid
from factcheck.fields.scoring.plan import compile_schema
from tests.fields.builders import NUMBER, TEXT, array, best, compared, record
from tests.fields.strategies import examples


def pair_by_pair(node: Any, gold: list[Any], found: list[Any], weights: Any) -> Any:
    def f1(one: Any, other: Any) -> float:
        results: list[Any] = []
        node.score(one, other, node.path, results)
        sums = count(results, weights)
        stake = sums.n_extracted + sums.n_gold
        return 2 * sums.matched / stake if stake else 0.0

    return np.array([[f1(g, e) for e in found] for g in gold])


def both_ways(items: Any, gold: list[Any], found: list[Any], registry: Registry) -> tuple[Any, Any]:
    schema = parse_eval_schema(annotate_xeval(array(items)), registry)
    plan = compile_schema(schema, registry)
    element = plan.root.element  # type: ignore[attr-defined]
    grid = Grid(element, [*gold, *found], len(gold), plan.weights)
    return grid.f1()[0], pair_by_pair(element, gold, found, plan.weights)


def assert_alike(items: Any, gold: list[Any], found: list[Any], registry: Registry) -> None:
    together, apart = both_ways(items, gold, found, registry)

    assert together == pytest.approx(apart, abs=1e-12)


@given(st.data())
def test_on_any_schema_and_any_records(data: st.DataObject) -> None:
    first = data.draw(examples())
    others = data.draw(st.lists(st.sampled_from([first.gold, first.extracted]), max_size=2))
    strange: list[Any] = data.draw(st.lists(st.sampled_from([None, {}, [], "x", 3]), max_size=2))

    assert_alike(
        first.schema, [first.gold, *strange], [first.extracted, *others, *strange], Registry()
    )


ODD = st.sampled_from(
    [None, "a", "A ", "1", 1, 1.0, True, math.nan, math.inf, 10**400, "x", [], [1], {}, {"x": 1}]
)
ELEMENTS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            name: st.one_of(ODD, st.lists(ODD, max_size=3), st.fixed_dictionaries({"z": ODD}))
            for name in ("a", "b", "c", "d", "e", "f", "zz")
        },
    ),
    min_size=1,
    max_size=4,
)


@given(ELEMENTS, ELEMENTS)
def test_on_odd_values(gold: list[Any], found: list[Any]) -> None:
    def partly(one: Any, other: Any, _params: Any) -> ComparatorResult:
        if isinstance(one, bool) or other == "x":
            raise ZeroDivisionError
        return ComparatorResult(0.25 if one == other else 0.125, "partly")

    registry = Registry()
    registry.register("partly", partly)
    tolerance = {"numeric": {"tolerance": {"rel": 0.1}}}
    items = record(
        a={**compared("exact"), "x-eval-transform": ["lowercase", "strip"], "x-eval-weight": 3},
        b={"type": "number", "x-eval-compare": tolerance},
        c=compared("partly"),
        d=array(NUMBER),
        e=best(TEXT),
        f=record(z=array(TEXT)),
    )

    assert_alike(items, gold, found, registry)


def test_more_pairs_than_fit_in_one_step() -> None:
    values = [{"a": n % 7, "b": n % 5} for n in range(80)]
    assert_alike(record(a=NUMBER, b=NUMBER), values, values[::-1], Registry())
