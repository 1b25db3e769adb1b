"""What an evaluation promises beside the plain rules: nothing aborts it, names are data, joins."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from factcheck.errors import InputError
from factcheck.fields import (
    ComparatorResult,
    FieldResult,
    NullHandling,
    Registry,
    RunResult,
    SchemaNode,
    annotate_xeval,
    evaluate,
    get_comparator,
    get_transform,
    reclassify_nulls,
    score_record,
)
from factcheck.fields.registry import ComparatorNotFoundError, TransformNotFoundError
from factcheck.fields.schemas.structure import ComparatorSpec
from tests.fields.builders import NUMBER, TEXT, array, best, compared, record, run, statuses


class TestBadValues:
    """A bad value is the error of one field; the rest of the run stands."""

    @pytest.mark.parametrize("answer", [1.0, None, "match", (1.0, None)])
    def test_an_answer_that_is_no_result(self, answer: Any) -> None:
        registry = Registry()
        registry.register("odd", lambda *_: answer)
        result = run(
            record(a=compared("odd"), b=TEXT),
            [{"a": "x", "b": "y"}],
            [{"a": "x", "b": "y"}],
            registry,
        )

        assert statuses(result) == {"a": "error", "b": "match"}
        assert (result.total_errors, result.total_fields, result.mean_f1) == (1, 1, 1.0)
        assert "expected a ComparatorResult" in (result.records[0].field_results[0].reason or "")
        assert "a" not in result.per_field
        assert result.by_field["a"].counts == {"error": 1}

    def test_results_of_other_packages_count(self) -> None:
        """Whatever has a score, or says whether it matched, and a reason."""
        kinds: dict[str, Callable[[bool], Any]] = {
            "a": lambda same: SimpleNamespace(score=same, reason="r", comparator="x", skip=False),
            "b": lambda same: SimpleNamespace(matched=same, reason="r"),
            "c": lambda same: SimpleNamespace(status="match" if same else "mismatch", reason="r"),
        }
        registry = Registry()
        for name, make in kinds.items():
            registry.register(name, lambda g, e, _params, make=make: make(g == e))
        schema = record(**{name: compared(name) for name in kinds})
        gold, found = dict.fromkeys(kinds, "x"), dict.fromkeys(kinds, "y")
        same, other = run(schema, [gold, gold], [gold, found], registry).records

        assert [(f.status, f.score, f.reason) for f in same.field_results] == [
            ("match", 1, "r")
        ] * 3
        assert {(f.status, f.score) for f in other.field_results} == {("mismatch", 0.0)}

    @pytest.mark.parametrize("score", [math.nan, math.inf, -0.1, 1.1, "1", None])
    def test_a_score_that_is_none(self, score: Any) -> None:
        registry = Registry()
        registry.register("odd", lambda *_: ComparatorResult(score, "odd"))
        result = run(record(a=compared("odd")), [{"a": "x"}], [{"a": "x"}], registry)
        assert statuses(result) == {"a": "error"}

    def test_a_comparator_or_transform_that_raises(self) -> None:
        def broken(*_: Any) -> Any:
            raise ZeroDivisionError("oh\nno")

        registry = Registry()
        registry.register("broken", broken)
        registry.register_transform("breaks", broken)
        schema = record(
            a=compared("broken"),
            b={**compared("exact"), "x-eval-transform": ["breaks"]},
            c={**compared("exact"), "x-eval-transform": ["lowercase"]},
            d=TEXT,
        )
        rows = [{"a": "x", "b": "x", "c": "X", "d": "x"}, {"a": None, "b": None, "c": 3, "d": "x"}]
        result = run(schema, rows, rows, registry)

        first, second = ([f.status for f in r.field_results] for r in result.records)
        assert first == ["error", "error", "match", "match"]
        assert second == ["error", "match", "error", "match"]
        assert result.total_errors == 4
        reasons = [f.reason for f in result.records[0].field_results]
        assert reasons[0] == "comparator 'broken': ZeroDivisionError: oh"
        assert reasons[1] == "transform of the gold value: ZeroDivisionError: oh"

    @pytest.mark.parametrize("kind", [ValueError, KeyError, RecursionError, RuntimeError])
    def test_what_only_the_extraction_makes_unreadable_is_a_mismatch(
        self, kind: type[Exception]
    ) -> None:
        """Alone, in an array, after a transform and in a comparator."""

        def picky(*values: Any) -> Any:
            if "see page 2" in values:
                raise kind("not a number")
            return values[0] if len(values) == 2 else ComparatorResult(1.0, "picky")

        registry = Registry()
        registry.register("picky", picky)
        registry.register_transform("picks", picky)
        changed = {**compared("exact"), "x-eval-transform": ["picks"]}
        schema = record(a=compared("picky"), b=changed, l=best(record(n=NUMBER, c=changed)))
        gold = {"a": "1", "b": "1", "l": [{"n": 1, "c": "1"}]}
        bad = {"a": "see page 2", "b": "see page 2", "l": [{"n": 1, "c": "see page 2"}]}
        result = run(schema, [gold, bad], [bad, gold], registry)

        first, second = result.records
        wanted = ["mismatch", "mismatch", "match", "mismatch"]
        assert [f.status for f in first.field_results] == wanted
        assert first.f1 == 0.25
        assert [f.status for f in second.field_results] == ["error", "error", "match", "error"]
        where = ("comparator 'picky'", "transform of the extracted value")
        for field, said in zip(first.field_results[:2], where, strict=True):
            assert f"{said}: {kind.__name__}" in str(field.reason)
            assert (field.gold_compared, field.extracted_compared) == ("1", "see page 2")

    def test_an_error_of_the_machine_is_not_blamed_on_the_extraction(self) -> None:
        def flaky(*values: Any) -> Any:
            if "y" in values:
                raise ConnectionError("no route")
            return values[0] if len(values) == 2 else ComparatorResult(1.0, "flaky")

        registry = Registry()
        registry.register("flaky", flaky)
        registry.register_transform("flakes", flaky)
        changed = {**compared("exact"), "x-eval-transform": ["flakes"]}
        row, other = {"a": "x", "b": "x", "l": ["x"]}, {"a": "y", "b": "y", "l": ["y"]}
        schema = record(a=compared("flaky"), b=changed, l=best(changed))
        result = run(schema, [row], [other], registry)

        assert statuses(result) == {"a": "error", "b": "error", "l[0]": "error"}

    def test_elements_that_could_not_be_compared_are_neither_lost_nor_invented(self) -> None:
        def broken(*_: Any) -> Any:
            raise ZeroDivisionError

        registry = Registry()
        registry.register("broken", broken)
        schema = record(s=best(record(a=compared("broken"), n=NUMBER)))
        rows = {"s": [{"a": "x", "n": 1}, {"a": "y", "n": 2}]}
        found = {"s": [{"a": "y", "n": 2}, {"a": "q", "n": 9}]}
        result = run(schema, [rows], [found], registry)

        assert statuses(result) == {
            "s[0].a": "error", "s[0].n": "mismatch", "s[1].a": "error", "s[1].n": "match",
        }  # fmt: skip

    @pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 10**400, -(10**400)])
    def test_odd_numbers_match_themselves_and_nothing_else(self, value: Any) -> None:
        tolerant = {"type": "number", "x-eval-compare": {"numeric": {"tolerance": {"rel": 0.1}}}}
        for schema in (record(a=NUMBER), record(a=tolerant), record(a=compared("exact"))):
            assert statuses(run(schema, [{"a": value}], [{"a": value}])) == {"a": "match"}
            for other in (1.0, 0, "x", None):
                assert statuses(run(schema, [{"a": value}], [{"a": other}])) == {"a": "mismatch"}
                assert statuses(run(schema, [{"a": other}], [{"a": value}])) == {"a": "mismatch"}

    def test_values_that_cannot_be_compared_at_all(self) -> None:
        class Spiteful:
            __hash__ = None  # type: ignore[assignment]

            def __eq__(self, other: object) -> bool:
                raise RuntimeError("no")

        for schema in (record(a=TEXT), record(a=best(TEXT)), record(a=record(b=TEXT))):
            result = run(schema, [{"a": Spiteful()}], [{"a": Spiteful()}])
            assert set(statuses(result).values()) <= {"mismatch", "error"}
        result = run(record(a=best(TEXT)), [{"a": [Spiteful()]}], [{"a": [Spiteful()]}])
        assert set(statuses(result).values()) == {"omission", "hallucination"}

    def test_a_record_that_is_no_object(self) -> None:
        schema = record(a=TEXT, b=NUMBER)
        row = {"a": "x", "b": 1}
        result = run(schema, [row, row, row, None], [None, "text", [row], row])

        assert [[f.status for f in r.field_results] for r in result.records] == [
            ["omission", "omission"], ["parse_failure", "omission", "omission"], ["mismatch"],
            ["hallucination", "hallucination"],
        ]  # fmt: skip
        assert "type mismatch" in (result.records[2].field_results[0].reason or "")

    def test_a_hundred_levels(self) -> None:
        schema: dict[str, Any] = TEXT
        value: Any = "x"
        for level in range(100):
            schema = array(schema) if level % 2 else record(a=schema)
            value = [value] if level % 2 else {"a": value}

        assert run(schema, [value], [value]).mean_f1 == 1.0
        assert run(record(a={"type": "array"}), [{"a": value}], [{"a": [value]}]).mean_f1 == 0.0

    def test_keys_that_are_no_strings(self) -> None:
        result = run(record(a=TEXT), [{"a": "x"}], [{"a": "x", 3: "y", None: "z"}])
        assert statuses(result) == {"a": "match", "3": "hallucination", "None": "hallucination"}


class TestThresholdsAndWeights:
    """What counts as a match, and how much a field counts."""

    def test_a_threshold_decides_on_the_status_and_keeps_the_score(self) -> None:
        registry = Registry()
        registry.register("half", lambda *_: ComparatorResult(0.5, "half"))
        schema = record(
            a=compared("half", **{"x-eval-threshold": 0.5}),
            b=compared("half", **{"x-eval-threshold": 0.6}),
            c=compared("half"),
        )
        row = {"a": "x", "b": "x", "c": "x"}
        result = run(schema, [row], [row], registry)

        assert statuses(result) == {"a": "match", "b": "mismatch", "c": "mismatch"}
        assert result.mean_f1 == 0.5
        assert result.per_field["a"].mean_score == 0.5
        assert result.by_field["a"].f1 == 0.5

    def test_weights_count_in_the_shares_and_are_inherited(self) -> None:
        schema = record(
            a={**TEXT, "x-eval-weight": 3},
            o={**record(b=TEXT, c={**TEXT, "x-eval-weight": 0}), "x-eval-weight": 2},
        )
        gold = {"a": "x", "o": {"b": "y", "c": "z"}}
        result = run(schema, [gold], [{"a": "x", "o": {"b": "wrong", "c": "wrong"}, "u": 1}])

        assert result.mean_recall == pytest.approx(3 / 5)
        assert result.mean_precision == pytest.approx(3 / 6)
        assert result.micro.recall == pytest.approx(3 / 5)
        assert result.total_fields == 4

    def test_weights_steer_the_best_pairing(self) -> None:
        def found(weight: float) -> str:
            schema = record(s=best(record(key={**TEXT, "x-eval-weight": weight}, m=TEXT, n=TEXT)))
            gold = {"s": [{"key": "k", "m": "1", "n": "2"}]}
            extracted = {"s": [{"key": "k", "m": "3", "n": "4"}, {"key": "q", "m": "1", "n": "2"}]}
            return statuses(run(schema, [gold], [extracted]))["s[0].key"]

        assert (found(1), found(5)) == ("mismatch", "match")


class TestSchemasOfTheRealWorld:
    """Maps, tuples, anything, one kind of numbers, and times."""

    def one(self, schema: Any, gold: Any, found: Any) -> dict[str, str]:
        return statuses(run(record(a=schema), [{"a": gold}], [{"a": found}]))

    def test_a_map_is_scored_key_by_key(self) -> None:
        schema = {"additionalProperties": record(n=NUMBER)}
        gold = {"EUR": {"n": 1}, "a.b[0]": {"n": 2}, "lost": {"n": 3}}
        found = {"a.b[0]": {"n": 2.0}, "EUR": {"n": 9}, "new": {"n": 4}}

        result = run(record(a=schema), [{"a": gold}], [{"a": found}])

        assert statuses(result) == {
            "a[EUR].n": "mismatch", r"a[a\.b\[0\]].n": "match", "a[lost].n": "omission",
            "a[new].n": "hallucination",
        }  # fmt: skip
        assert list(result.by_field) == ["a[].n"]
        assert self.one(schema, {}, {}) == {"a": "match"}
        assert self.one(schema, None, {"x": {"n": 1}}) == {"a[x].n": "hallucination"}

    def test_a_map_beside_named_properties_and_in_aligned_arrays(self) -> None:
        schema = {**record(n=NUMBER), "additionalProperties": TEXT}
        rows = [{"n": 1, "x": "p"}, {"n": 2, "x": "q"}]

        assert self.one(best(schema), rows, rows[::-1]) == {
            "a[0].n": "match", "a[0][x]": "match", "a[1].n": "match", "a[1][x]": "match",
        }  # fmt: skip
        assert self.one({**record(n=NUMBER), "additionalProperties": True}, {}, {"x": 1}) == {
            "a.x": "hallucination"
        }

    @pytest.mark.parametrize(
        "schema",
        [
            {"type": "array", "prefixItems": [NUMBER, TEXT]},
            {"items": [NUMBER, True], "additionalItems": False},
        ],
    )
    def test_a_tuple_is_scored_by_position(self, schema: Any) -> None:
        assert self.one(schema, [1, "x"], [1.0, "y", 3]) == {
            "a.0": "match", "a.1": "mismatch", "a.2": "hallucination",
        }  # fmt: skip
        assert self.one(schema, [1, "x"], None) == {"a.0": "omission", "a.1": "omission"}
        assert self.one(schema, [1], "x") == {"a": "mismatch"}
        assert set(self.one(best(schema), [[1, "x"], [2, "y"]], [[2, "y"], [1, "x"]]).values()) == {
            "match"
        }

    def test_a_tuple_may_go_on_with_items(self) -> None:
        schema = {"prefixItems": [TEXT], "items": NUMBER}
        assert self.one(schema, ["x", 1, 2], ["x", 1]) == {
            "a.0": "match", "a[1]": "match", "a[2]": "omission",
        }  # fmt: skip

    @pytest.mark.parametrize("schema", [{}, True, {"description": "whatever"}])
    def test_anything_is_compared_as_a_whole(self, schema: Any) -> None:
        assert self.one(schema, {"k": [1]}, {"k": [1]}) == {"a": "match"}
        assert self.one(schema, {"k": [1]}, "x") == {"a": "mismatch"}

    @pytest.mark.parametrize("kind", [["integer", "number"], ["number", "null", "integer"]])
    def test_integers_are_numbers(self, kind: list[str]) -> None:
        assert self.one({"type": kind}, 1, 1.0) == {"a": "match"}

    @pytest.mark.parametrize(
        ("found", "status"),
        [
            ("2024-05-01T10:00:00+00:00", "match"), ("2024-05-01T12:00:00.0+02:00", "match"),
            ("2024-05-01T10:00:01Z", "mismatch"), ("2024-05-01", "mismatch"), ("soon", "mismatch"),
        ],
    )  # fmt: skip
    def test_times_are_instants(self, found: str, status: str) -> None:
        schema = {"type": "string", "format": "date-time"}
        assert self.one(schema, "2024-05-01T10:00:00Z", found) == {"a": status}


class TestReplies:
    """What a model wrote, as text."""

    @pytest.mark.parametrize(
        "text",
        [
            '{"a": "x"}', ' \n{"a": "x"} ', '```json\n{"a": "x"}\n```', '[{"a": "x"}]',
            'Here {it} is:\n\n{"a": "x"}\n\nAnything else?', json.dumps('{"a": "x"}'),
            json.dumps('```\n{"a": "x"}\n```'),
        ],
    )  # fmt: skip
    def test_one_object_is_the_record(self, text: str) -> None:
        for join in ("position", "id"):
            gold = [{"a": "x"}]
            result = run(record(a=TEXT), gold, [text], id_field="a", join=join)
            assert statuses(result) == {"a": "match"}
            assert result.records[0].extracted == text

    def test_a_fence_inside_a_string_is_part_of_it(self) -> None:
        value = '```json\n{"b": 1}\n```'
        result = run(record(a=TEXT), [{"a": value}], ["So:\n" + json.dumps({"a": value})])
        assert statuses(result) == {"a": "match"}

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("I cannot read it.", "no JSON object"), ("", "no JSON object"), ("[1]", "no JSON"),
            ('{"a": "x"}\n{"a": "x"}', "2 JSON objects"), ('[{"a": "x"}, {}]', "2 JSON objects"),
            ('{"a": "x", "b": {"a": "x"}', "cannot be read"), ('{"a": {"a": "x"}, b}', "cannot be"),
            ("{'a': {\"a\": \"x\"}}", "braces that are not JSON"), ('{"a": NaN}', "NaN"),
            ('{"a": "x", "a": "y"}', "'a'"), ('{"a":' * 9999, "cannot be read"),
        ],
    )  # fmt: skip
    def test_anything_else_is_a_parse_failure(self, text: str, reason: str) -> None:
        gold = [{"a": "x", "n": 1}, {"a": "y", "n": 2}]
        found = [text, {"a": "y", "n": 2}]
        schema = record(a=TEXT, n=NUMBER)
        result = run(schema, gold, found)

        first = result.records[0]
        assert [(f.path, f.status) for f in first.field_results] == [
            ("", "parse_failure"), ("a", "omission"), ("n", "omission"),
        ]  # fmt: skip
        assert reason in str(first.field_results[0].reason)
        assert first.extracted == text
        assert (first.f1, result.mean_f1, result.totals()["parse_failure"]) == (0, 0.5, 1)
        assert "Not parsed: 1 of 2 records (50.0%)" in str(result)
        assert RunResult.from_json(result.to_json()).by_field == result.by_field

        joined = run(schema, gold, [*found[::-1], text], id_field="n", join="id")
        assert [(r.record_id, r.f1) for r in joined.records] == [
            (1, 0.0), (2, 1.0), ("(parse failure 2)", 0.0),
        ]  # fmt: skip
        assert joined.records[0].field_results == first.field_results
        assert joined.totals()["parse_failure"] == 2


class TestKeys:
    """Arrays whose elements are matched by a key."""

    def paths(self, items: Any, key: Any, gold: list[Any], found: list[Any]) -> dict[str, str]:
        schema = record(s=array(items, match_by="key_field", key=key))
        return statuses(run(schema, [{"s": gold}], [{"s": found}]))

    def test_a_key_may_lie_deeper(self) -> None:
        items = record(id=record(value=TEXT), n=NUMBER)
        gold = [{"id": {"value": "a"}, "n": 1}, {"id": {"value": "b"}, "n": 2}]
        assert set(self.paths(items, "id.value", gold, gold[::-1]).values()) == {"match"}

    def test_a_name_with_a_dot_comes_first(self) -> None:
        items = record(**{"id.value": TEXT}, n=NUMBER)
        gold = [{"id.value": "a", "n": 1}, {"id.value": "b", "n": 2}]
        assert set(self.paths(items, "id.value", gold, gold[::-1]).values()) == {"match"}

    def test_a_key_may_have_several_parts(self) -> None:
        items = record(x=TEXT, y=NUMBER, n=NUMBER)
        gold = [{"x": "a", "y": 1, "n": 1}, {"x": "a", "y": 2, "n": 2}, {"x": "b", "y": 1, "n": 3}]
        found = [gold[2], gold[1], {"x": "b", "y": 2, "n": 9}]

        got = self.paths(items, ["x", "y"], gold, found)

        assert [got[f"s[{i}].n"] for i in (0, 1, 2, -1)] == [
            "omission", "match", "match", "hallucination",
        ]  # fmt: skip

    def test_a_key_is_compared_after_its_transforms(self) -> None:
        items = record(
            x={**compared("exact"), "x-eval-transform": ["strip", "lowercase"]}, n=NUMBER
        )
        got = self.paths(items, "x", [{"x": "A ", "n": 1}], [{"x": "b"}, {"x": "a", "n": 1}])
        assert got == {"s[0].x": "match", "s[0].n": "match", "s[-1].x": "hallucination"}

    def test_null_and_booleans_are_keys_and_no_numbers(self) -> None:
        gold = [{"x": True}, {"x": None}, {"x": 1}, {"x": "0"}]
        found = [{"x": 1.0}, {"x": None}, {"x": True}, {"x": 0}]
        got = self.paths(record(x=compared("numeric"), y=NUMBER), "x", gold, found)
        assert got == {
            "s[0].x": "match", "s[1].x": "match", "s[2].x": "match", "s[3].x": "omission",
            "s[-1].x": "hallucination",
        }  # fmt: skip

    @pytest.mark.parametrize("key", [math.nan, [], {}])
    def test_a_key_that_is_none_matches_nothing(self, key: Any) -> None:
        got = self.paths(record(x=TEXT), "x", [{"x": key}], [{"x": key}])
        assert set(got.values()) == {"omission", "hallucination"}


class TestBestPairing:
    """Arrays whose elements are paired by how well they match."""

    def test_a_threshold_keeps_poor_pairs_apart(self) -> None:
        items = record(a=TEXT, b=TEXT, c=TEXT)
        gold, found = (
            {"s": [{"a": "1", "b": "2", "c": "3"}]},
            {"s": [{"a": "1", "b": "x", "c": "y"}]},
        )

        loose = statuses(run(record(s=best(items)), [gold], [found]))
        strict = statuses(run(record(s=best(items, threshold=0.5)), [gold], [found]))

        assert loose == {"s[0].a": "match", "s[0].b": "mismatch", "s[0].c": "mismatch"}
        assert set(strict.values()) == {"omission", "hallucination"}

    def test_a_poor_pair_does_not_keep_elements_from_a_good_one(self) -> None:
        items = record(a=TEXT, b=TEXT, c=TEXT)
        gold = [{"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "9", "c": "8"}]
        found = [{"a": "1", "b": "2", "c": "7"}, {"a": "0", "b": "2", "c": "3"}]
        schema = record(s=best(items, threshold=0.6))
        got = statuses(run(schema, [{"s": gold}], [{"s": found}]))

        assert sum(status == "match" for status in got.values()) == 2


class TestJoins:
    """Which record belongs to which."""

    def test_by_position_lists_must_be_of_equal_length(self) -> None:
        with pytest.raises(ValueError, match="length: 1 gold and 2 extracted"):
            run(record(a=TEXT), [{}], [{}, {}])

    @pytest.mark.parametrize("records", [{"a": 1}, "x", None, iter([])])
    def test_records_come_in_lists(self, records: Any) -> None:
        with pytest.raises(InputError, match="gold must be a list"):
            evaluate(records, [], annotate_xeval(record(a=TEXT)))

    def test_by_position_the_id_is_a_name(self) -> None:
        rows = [{"id": "x", "a": "1"}, {"id": "y", "a": "2"}]
        result = run(record(id=TEXT, a=TEXT), rows, rows, id_field="id")
        assert [r.record_id for r in result.records] == ["x", "y"]
        assert [r.record_id for r in run(record(a=TEXT), [{}], [{}], id_field="").records] == [0]

    def test_by_id(self) -> None:
        gold = [{"id": 1, "a": "x"}, {"id": 2, "a": "y"}, {"id": 3, "a": "z"}]
        found = [{"id": 4, "a": "q"}, {"id": 2, "a": "y"}, {"id": 1, "a": "w"}]
        result = run(record(id=NUMBER, a=TEXT), gold, found, id_field="id", join="id")

        assert {r.record_id: [f.status for f in r.field_results] for r in result.records} == {
            1: ["match", "mismatch"], 2: ["match", "match"], 3: ["omission", "omission"],
            4: ["hallucination", "hallucination"],
        }  # fmt: skip

    @pytest.mark.parametrize(
        ("gold", "options", "says"),
        [
            (
                [{"id": 1}, {"id": 1}, {"id": 2}],
                {"join": "id"},
                "gold record 1: duplicate id 1, first in gold record 0",
            ),
            ([{"id": 1}, {}], {"join": "id"}, "gold record 1: the id field 'id' is missing"),
            ([{"id": 1}, "x"], {"join": "id"}, "gold record 1: the id field 'id' is missing"),
            ([{"id": 1}, {}], {"join": "position"}, "gold record 1: the id field 'id' is missing"),
            ([{"id": True}], {"join": "id"}, "string or integer"),
            ([{"id": 1}], {"join": "key"}, "'position' or 'id'"),
            ([{"id": 1}], {"join": "id", "id_field": None}, "requires id_field"),
        ],
    )
    def test_ids_that_cannot_be_used(
        self, gold: list[Any], options: dict[str, Any], says: str
    ) -> None:
        with pytest.raises(InputError, match=says):
            run(record(id=NUMBER), gold, gold, **{"id_field": "id", **options})


class TestNulls:
    """Values that stand for there being none."""

    def test_absent_values_are_omissions_and_hallucinations(self) -> None:
        handling = NullHandling()
        schema = record(a=TEXT, b=TEXT, c=TEXT, o=record(x=TEXT), l=array(TEXT), e=array(TEXT))
        gold: dict[str, Any] = {"a": None, "b": None, "c": "x", "o": {"x": "y"}, "l": [], "e": []}
        found: dict[str, Any] = {"a": None, "b": "n/a", "c": None, "o": "text", "l": []}
        result = run(
            schema, [gold], [found],
            post_process=lambda fields: reclassify_nulls(fields, handling),
        )  # fmt: skip

        assert statuses(result) == {
            "a": "skipped", "b": "hallucination", "c": "omission", "o": "mismatch", "l": "match",
            "e": "omission",
        }  # fmt: skip

    def test_other_values_may_stand_for_nothing(self) -> None:
        handling = NullHandling([None, "n/a", 0], both_absent_skip=False)
        schema = record(a=TEXT, b=NUMBER, c={"type": "boolean"})
        result = run(
            schema, [{"a": None, "b": 0, "c": False}], [{"a": "n/a", "b": None, "c": None}],
            post_process=lambda fields: reclassify_nulls(fields, handling),
        )  # fmt: skip

        assert statuses(result) == {"a": "match", "b": "match", "c": "omission"}

    def test_a_missing_key_may_stand_for_nothing(self) -> None:
        gold: dict[str, Any] = {"a": None, "b": "x"}
        found: dict[str, Any] = {"c": None, "b": "x"}

        def status_of(*, missing_is_absent: bool) -> dict[str, str]:
            handling = NullHandling(missing_is_absent=missing_is_absent)
            return statuses(
                run(
                    record(a=TEXT, b=TEXT, c=TEXT), [gold], [found],
                    post_process=lambda fields: reclassify_nulls(fields, handling),
                )
            )  # fmt: skip

        assert status_of(missing_is_absent=False) == {
            "a": "omission", "b": "match", "c": "hallucination",
        }  # fmt: skip
        assert status_of(missing_is_absent=True) == {"a": "skipped", "b": "match", "c": "skipped"}


def test_post_processing_may_filter_and_must_give_a_list() -> None:
    schema, rows = record(a=TEXT, b=TEXT), [{"a": "x", "b": "y"}]
    result = run(schema, rows, [{"a": "x", "b": "z"}], post_process=lambda fields: fields[:1])

    assert (result.total_fields, result.mean_f1) == (1, 1.0)
    with pytest.raises(InputError, match="post_process returned None for record 0"):
        run(schema, rows, rows, post_process=lambda _fields: None)

    def spoil(fields: list[Any]) -> list[Any]:
        fields[1].score = math.nan
        return fields

    with pytest.raises(InputError, match="path='b', score=nan"):
        run(schema, rows, rows, post_process=spoil)


@pytest.mark.parametrize(
    "odd",
    ["match", 1, FieldResult("a", 1.0, "exact", "x", "x", "right")],  # type: ignore[arg-type]
)
def test_post_processing_must_give_results(odd: Any) -> None:
    """Another status would leave the score without a word."""
    rows = [{"a": "x"}]
    with pytest.raises(InputError, match=r"post_process returned .* list of FieldResult"):
        run(record(a=TEXT), rows, rows, post_process=lambda _fields: [odd])


def test_an_evaluation_can_have_a_registry_of_its_own() -> None:
    registry = Registry()
    registry.register("mine", lambda *_: ComparatorResult(1.0, "mine"))
    registry.register_transform("blank", lambda *_: "")
    schema = record(a={**compared("mine"), "x-eval-transform": ["blank"]})

    assert statuses(run(schema, [{"a": "x"}], [{"a": "y"}], registry)) == {"a": "match"}
    with pytest.raises(ComparatorNotFoundError, match="Unknown comparator"):
        get_comparator("mine")
    with pytest.raises(TransformNotFoundError, match="Unknown transform"):
        get_transform("blank")


def test_registering_needs_a_free_name_and_something_to_call() -> None:
    registry = Registry()
    registry.register("mine", len)
    registry.register("mine", max, overwrite=True)
    registry.register_transform("mine", len)

    assert registry.get_comparator("mine") is max
    registry.register("date", len)
    registry.register_transform("parse_number", len)
    assert registry.get_comparator("date") is len
    assert registry.get_transform("parse_number") is len
    with pytest.raises(ValueError, match="already registered"):
        registry.register("date", max)
    with pytest.raises(ValueError, match="already registered"):
        registry.register("mine", len)
    with pytest.raises(ValueError, match="Cannot overwrite built-in"):
        registry.register("exact", len, overwrite=True)
    with pytest.raises(TypeError, match="must be callable"):
        registry.register("other", "len")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="already registered"):
        registry.register_transform("mine", len)
    with pytest.raises(ValueError, match="Cannot overwrite built-in"):
        registry.register_transform("strip", len)
    with pytest.raises(TypeError, match="must be callable"):
        registry.register_transform("other", 3)  # type: ignore[arg-type]


def test_a_schema_made_by_hand_scores_like_a_parsed_one() -> None:
    by_hand = SchemaNode(
        "",
        "object",
        children=[
            SchemaNode("a", "string", ComparatorSpec("exact")),
            SchemaNode(
                "s", "array", children=[SchemaNode("s[]", "number", ComparatorSpec("numeric"))]
            ),
        ],
    )
    fields = score_record(by_hand, {"a": "x", "s": [1, 2]}, {"a": "y", "s": [1]})

    assert [(f.path, f.status) for f in fields] == [
        ("a", "mismatch"),
        ("s[0]", "match"),
        ("s[1]", "omission"),
    ]
