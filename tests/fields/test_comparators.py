"""What every comparator of the package keeps to, and `exact` and `oneof`."""

from __future__ import annotations

import datetime as dt
import math
import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import ParameterError, SchemaError
from factcheck.fields.registry import COMPARATORS
from factcheck.fields.types import ComparatorResult
from factcheck.fields.values import exact_key, value_key

NAN = math.nan
BOUNDARY = 2**53
near_boundary = st.integers(BOUNDARY - 3, BOUNDARY + 3)
numbers = (
    st.integers(-5, 5)
    | st.floats(-3, 3)
    | st.floats()
    | near_boundary
    | near_boundary.map(float)
    | near_boundary.map(lambda number: -number)
    | st.integers(BOUNDARY // 2 - 3, BOUNDARY // 2 + 3)
    | st.sampled_from([10**400, 10**400 + 1, -(10**400), 10**23, 1e23, 2**1024, math.inf, NAN])
)
texts = (
    numbers.map(str) | st.sampled_from([" 42 ", "1_000", "nan", "-inf", "1e400", "x"]) | st.text()
)
scalars = st.none() | st.booleans() | numbers | texts
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=6,
)
Case = tuple[str, dict[str, Any]]
WITH_KEY: tuple[Case, ...] = (("exact", {}), ("numeric", {}))
TOLERANT: tuple[Case, ...] = (
    ("numeric", {"tolerance": {"rel": 0.1}}), ("numeric", {"tolerance": {"abs": 1}}),
    ("numeric", {"tolerance": {"abs": 0}}), ("numeric", {"tolerance": {"rel": 0.5, "abs": 1.5}}),
    ("numeric", {"tolerance": {"abs": 1e308}}),
)  # fmt: skip
FUZZY: tuple[Case, ...] = (("fuzzy", {}), ("fuzzy", {"threshold": 0.5}))
ONE_BY_ONE: tuple[Case, ...] = (
    ("date", {}),
    ("date", {"day_first": True, "pivot": 1950}),
    ("oneof", {"values": [1, "a", [1], NAN, None]}),
)
EVERY = (*WITH_KEY, *TOLERANT, *FUZZY, *ONE_BY_ONE)


def score(name: str, gold: Any, extracted: Any, **params: Any) -> float:
    return COMPARATORS[name](gold, extracted, params).score


def test_there_are_five_comparators_and_each_is_known_by_its_own_name() -> None:
    assert {name: one.name for name, one in COMPARATORS.items()} == {
        name: name for name in ("exact", "numeric", "oneof", "fuzzy", "date")
    }


@pytest.mark.parametrize(("name", "params"), EVERY)
@given(gold=values, extracted=values)
def test_any_two_values_get_a_score_and_what_is_not_a_match_has_a_reason(
    name: str, params: dict[str, Any], gold: Any, extracted: Any
) -> None:
    result = COMPARATORS[name](gold, extracted, params)
    assert result.comparator == name
    assert 0.0 <= result.score <= 1.0
    assert result.score == 1.0 or result.reason


@pytest.mark.parametrize(("name", "params"), EVERY)
@given(gold=values, extracted=values)
def test_a_binding_keeps_nothing_from_one_pair_to_the_next(
    name: str, params: dict[str, Any], gold: Any, extracted: Any
) -> None:
    compare = COMPARATORS[name].bind(params).compare
    first = compare(gold, extracted)
    compare(extracted, gold)
    assert compare(gold, extracted) == first


@pytest.mark.parametrize(("name", "params"), WITH_KEY)
@given(data=st.data())
def test_equal_keys_are_score_one_and_different_keys_score_zero(
    name: str, params: dict[str, Any], data: st.DataObject
) -> None:
    bound = COMPARATORS[name].bind(params)
    assert bound.key is not None
    gold = data.draw(values)
    extracted = data.draw(values | st.just(gold))

    alike = bound.key(gold) == bound.key(extracted)

    assert bound.compare(gold, extracted)[0] == float(alike)
    assert not alike or hash(bound.key(gold)) == hash(bound.key(extracted))


LISTS = st.lists(st.none() | numbers, max_size=6) | st.lists(st.text(), max_size=6)


@pytest.mark.parametrize(("name", "params"), [*TOLERANT, *FUZZY])
@given(LISTS, LISTS)
def test_plain_values_are_scored_all_at_once_as_each_pair_is(
    name: str, params: dict[str, Any], gold: list[Any], extracted: list[Any]
) -> None:
    """Texts, or numbers; large numbers, NaN and values of other types one by one."""
    bound = COMPARATORS[name].bind(params)
    assert bound.scores is not None

    scores = bound.scores(gold, extracted)

    if name == "fuzzy":
        plain = all(isinstance(v, str) for v in (*gold, *extracted))
    else:
        both = (*gold, *extracted)
        plain = all(type(v) in (int, float) and abs(v) <= BOUNDARY // 2 for v in both)
    assert (scores is not None) == plain
    if plain:
        assert scores.shape == (len(gold), len(extracted))
        assert scores.tolist() == [[bound.compare(g, e)[0] for e in extracted] for g in gold]


@pytest.mark.parametrize("name", COMPARATORS)
def test_an_unknown_parameter_is_an_error_that_names_it(name: str) -> None:
    with pytest.raises(ParameterError, match=rf"{name}: unknown parameter 'tol'"):
        COMPARATORS[name].bind({"tol": 1, "values": []})


def test_a_parameter_error_is_what_callers_catch() -> None:
    with pytest.raises(ParameterError) as caught:
        COMPARATORS["oneof"](1, 1, {})
    assert isinstance(caught.value, (TypeError, ValueError))
    assert isinstance(caught.value, SchemaError)
    assert caught.value.path == ""


class TestExact:
    """`exact`: same type and same value, at every depth."""

    @pytest.mark.parametrize(
        ("gold", "extracted"),
        [
            ("a", "a"), (None, None), (0.0, -0.0), (NAN, float("nan")), ([NAN], [float("nan")]),
            ({"a": 1, "b": [None]}, {"b": [None], "a": 1}), (10**400, 10**400), ({1}, {1}),
            (dt.date(2024, 3, 15), dt.date(2024, 3, 15)),
        ],
    )  # fmt: skip
    def test_matches(self, gold: Any, extracted: Any) -> None:
        assert COMPARATORS["exact"](gold, extracted, {}) == ComparatorResult(1.0, "exact")
        assert exact_key(gold) == exact_key(extracted)
        assert hash(exact_key(gold)) == hash(exact_key(extracted))

    @pytest.mark.parametrize(
        ("gold", "extracted"),
        [
            ("a", "b"), (1, True), (42, 42.0), ("1", 1), ("", None), (NAN, 1.0),
            (10**400, 10**400 + 1), ({"x": 1}, {"x": 1, "y": 1}), ([1, 2], [2, 1]),
            ([[1], 2], [[1, 2]]), ({"a": {"b": 1}, "c": 2}, {"a": {"b": 1, "c": 2}}),
            ([["a"], "b"], [["a", "b"]]), ((1,), [1]), ([float, 1.0], [1.0]),
            (dt.date(2024, 3, 15), dt.date(2024, 3, 16)),
            (dt.date(2024, 3, 15), dt.datetime(2024, 3, 15, tzinfo=dt.timezone.utc)),
        ],
    )  # fmt: skip
    def test_does_not_match(self, gold: Any, extracted: Any) -> None:
        assert COMPARATORS["exact"](gold, extracted, {}) == ComparatorResult(
            0.0, "exact", "mismatch"
        )
        assert exact_key(gold) != exact_key(extracted)

    @pytest.mark.parametrize(
        ("gold", "extracted"),
        [
            ({"x": 1}, {"x": True}), ([1], [1.0]), ({1: "a"}, {True: "a"}),
            ([[NAN]], [[float("nan")]]),
        ],
    )  # fmt: skip
    def test_only_the_outermost_type_counts(self, gold: Any, extracted: Any) -> None:
        assert COMPARATORS["exact"](gold, extracted, {}) == ComparatorResult(1.0, "exact", None)
        assert exact_key(gold) == exact_key(extracted)
        assert (value_key(gold) == value_key(extracted)) is (gold == [[NAN]])

    @given(values)
    def test_a_value_is_like_a_copy_of_itself(self, value: Any) -> None:
        assert score("exact", value, pickle.loads(pickle.dumps(value))) == 1.0  # noqa: S301

    def test_a_value_that_contains_itself_is_like_itself(self) -> None:
        loop: list[Any] = []
        loop.append(loop)
        assert score("exact", loop, loop) == 1.0
        assert score("exact", loop, [1]) == 0.0

    def test_a_value_nested_beyond_recursion_has_a_key(self) -> None:
        deep: list[Any] = []
        for _ in range(100_000):
            deep = [deep]
        assert score("exact", deep, deep) == 1.0
        assert score("exact", [deep], [1]) == 0.0

    def test_an_object_that_cannot_be_compared_is_like_itself_only(self) -> None:
        class Stubborn:
            __hash__ = None  # type: ignore[assignment]

            def __eq__(self, other: object) -> bool:
                raise ValueError("not comparable")

        one = Stubborn()

        assert score("exact", [one], [one]) == 1.0
        assert score("exact", [one], [Stubborn()]) == 0.0


class TestOneof:
    """`oneof`: the extracted value is in the list."""

    @pytest.mark.parametrize(
        ("extracted", "allowed"),
        [
            ("a", ["a", "b"]), (True, [1]), (1.0, [1]), (None, [None]), ({"x": [1]}, [{"x": [1]}]),
            (float("nan"), [NAN]),
        ],
    )  # fmt: skip
    def test_matches_what_is_allowed_whatever_the_gold_value(
        self, extracted: Any, allowed: list[Any]
    ) -> None:
        result = COMPARATORS["oneof"]("something else", extracted, {"values": allowed})
        assert result == ComparatorResult(1.0, "oneof")

    @pytest.mark.parametrize(
        ("extracted", "allowed"), [("c", ["a", "b"]), ("a", []), ([1], [1]), (NAN, [1.0])]
    )
    def test_does_not_match_anything_else(self, extracted: Any, allowed: list[Any]) -> None:
        result = COMPARATORS["oneof"](extracted, extracted, {"values": allowed})
        assert result == ComparatorResult(0.0, "oneof", "no match in values")

    @pytest.mark.parametrize("allowed", ["a", ("a",), None, {"a": 1}, 5])
    def test_values_must_be_a_list(self, allowed: Any) -> None:
        with pytest.raises(TypeError, match="oneof: 'values' must be a list, not"):
            COMPARATORS["oneof"]("a", "a", {"values": allowed})

    def test_values_must_be_given(self) -> None:
        with pytest.raises(TypeError, match="oneof requires 'values'"):
            COMPARATORS["oneof"]("a", "a", {})

    def test_the_list_is_that_of_the_binding(self) -> None:
        """What is appended later does not change what is allowed."""
        allowed = ["a"]
        compare = COMPARATORS["oneof"].bind({"values": allowed}).compare
        allowed.append("b")
        assert compare("a", "b")[0] == 0.0
