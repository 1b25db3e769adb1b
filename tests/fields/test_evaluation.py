"""What an evaluation promises beside the plain rules: nothing aborts it, names are data, joins."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
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
    annotate_xeval,
    evaluate,
    reclassify_nulls,
    resolve_schema_references,
)
from factcheck.fields.values import Records, Unusable
from tests.fields.builders import (
    NUMBER,
    TEXT,
    array,
    best,
    compared,
    record,
    registry_of,
    run,
    statuses,
)

HALLUCINATED = {"omission", "hallucination"}


def one(schema: Any, gold: Any, found: Any) -> dict[str, str]:
    return statuses(run(record(a=schema), [{"a": gold}], [{"a": found}]))


def with_transform(name: str, function: Callable[..., Any], registry: Registry) -> dict[str, Any]:
    registry.register_transform(name, function)
    return compared("exact", **{"x-eval-transform": [name]})


class TestBadValues:
    """A bad value is the error of one field; the rest of the run stands."""

    @pytest.mark.parametrize(
        "answer", [1.0, None, *(SimpleNamespace(score=s) for s in (math.nan, -0.1, 1.1, "1", None))]
    )
    def test_an_answer_that_is_no_result_or_has_no_score(self, answer: Any) -> None:
        row = {"a": "x", "b": "y"}
        schema = record(a=compared("odd"), b=TEXT)
        result = run(schema, [row], [row], registry_of(odd=lambda *_: answer))

        assert statuses(result) == {"a": "error", "b": "match"}
        assert (result.total_errors, result.total_fields, result.mean_f1) == (1, 1, 1.0)
        reason = result.records[0].field_results[0].reason or ""
        assert "expected a ComparatorResult" in reason or "is not a number from 0 to 1" in reason
        assert "a" not in result.per_field
        assert result.by_field["a"].counts == {"error": 1}

    def test_a_comparator_or_transform_that_raises(self) -> None:
        def broken(*_: Any) -> Any:
            raise ZeroDivisionError("oh\nno")

        registry = registry_of(broken=broken)
        schema = record(
            a=compared("broken"),
            b=with_transform("breaks", broken, registry),
            c=compared("exact", **{"x-eval-transform": ["lowercase"]}),
            d=TEXT,
        )
        rows = [{"a": "x", "b": "x", "c": "X", "d": "x"}, {"a": None, "b": None, "c": 3, "d": "x"}]
        result = run(schema, rows, rows, registry)

        first, second = ([f.status for f in r.field_results] for r in result.records)
        assert first == ["error", "error", "match", "match"]
        assert second == ["error", "match", "error", "match"]
        assert result.total_errors == 4
        assert [f.reason for f in result.records[0].field_results[:2]] == [
            "comparator 'broken': ZeroDivisionError: oh",
            "transform of the gold value: ZeroDivisionError: oh",
        ]

    def test_a_value_that_only_the_extraction_made_unreadable_is_a_mismatch(self) -> None:
        def picky(*values: Any) -> Any:
            if "see page 2" in values:
                raise KeyError("unreadable")
            return values[0] if len(values) == 2 else ComparatorResult(1.0, "picky")

        registry = registry_of(picky=picky)
        changed = with_transform("reads", picky, registry)
        schema = record(a=compared("picky"), b=changed, l=best(record(n=NUMBER, c=changed)))
        gold = {"a": "1", "b": "1", "l": [{"n": 1, "c": "1"}]}
        bad = {"a": "see page 2", "b": "see page 2", "l": [{"n": 1, "c": "see page 2"}]}
        first, second = run(schema, [gold, bad], [bad, gold], registry).records

        wanted = ["mismatch", "mismatch", "match", "mismatch"]
        assert [f.status for f in first.field_results] == wanted
        assert first.f1 == 0.25
        assert [f.status for f in second.field_results] == ["error", "error", "match", "error"]
        where = ("comparator 'picky'", "transform of the extracted value")
        for field, said in zip(first.field_results[:2], where, strict=True):
            assert f"{said}: KeyError" in str(field.reason)
            assert (field.gold_compared, field.extracted_compared) == ("1", "see page 2")

    def test_an_error_of_the_machine_is_not_blamed_on_the_extraction(self) -> None:
        def flaky(*values: Any) -> Any:
            if "y" in values:
                raise ConnectionError("no route")
            return values[0] if len(values) == 2 else ComparatorResult(1.0, "flaky")

        registry = registry_of(flaky=flaky)
        changed = with_transform("flakes", flaky, registry)
        row, other = ({"a": one, "b": one, "l": [one], "m": [one]} for one in "xy")
        schema = record(a=compared("flaky"), b=changed, l=best(changed), m=best(compared("flaky")))
        result = run(schema, [row], [other], registry)

        assert statuses(result) == dict.fromkeys(("a", "b", "l[0]", "m[0]"), "error")

    def test_values_that_cannot_be_compared_at_all(self) -> None:
        class Spiteful:
            __hash__ = None  # type: ignore[assignment]

            def __eq__(self, other: object) -> bool:
                raise RuntimeError("no")

        for schema in (TEXT, best(TEXT), record(b=TEXT)):
            assert set(one(schema, Spiteful(), Spiteful()).values()) <= {"mismatch", "error"}
        assert set(one(best(TEXT), [Spiteful()], [Spiteful()]).values()) == HALLUCINATED

    def test_keys_of_gold_that_are_not_in_the_schema_are_called_so(self) -> None:
        result = run(record(a=TEXT), [{"a": "x", "b": 1}], [{"a": "x", "b": 1, "c": 2}])
        assert statuses(result) == {"a": "match", "b": "hallucination", "c": "hallucination"}
        examples = [section.items[0] for section in result.page().sections[1:]]
        found = [(one.text, one.aside) for one in examples]
        assert found == [("not in the schema → 1", ""), ("not in gold → 2", "")]


@pytest.mark.parametrize(
    ("gold", "found", "status"),
    [
        ("5 kg", "5 m", "mismatch"), ("5 km", "5 m", "mismatch"), ("$12", "£12", "mismatch"),
        ("100 bps", "100 %", "mismatch"), ("25 bp", "25 bps", "match"),
        ("5 kg", "5 kilos", "match"), (5, "5 kg", "match"), ("5 bags", "5 kg", "match"),
        ("C$5", "5 CAD", "match"), ("5 kg", None, "mismatch"), ("n/a", "5 kg", "error"),
    ],
)  # fmt: skip
def test_numbers_of_different_units_are_different(gold: Any, found: Any, status: str) -> None:
    """Whatever else is done with the number, and in any place."""
    for steps in (["parse_number"], ["strip", "parse_number", {"round_digits": {"digits": 0}}]):
        for by in ("numeric", "exact", {"numeric": {"tolerance": {"abs": 1}}}):
            field = compared(by, **{"x-eval-transform": steps if gold != 5 else ["parse_number"]})
            schema = record(a=field, l=best(field))
            result = run(schema, [{"a": gold, "l": [gold, "1 s"]}], [{"a": found, "l": [found]}])

            [alone, *listed] = result.records[0].field_results
            assert alone.status == status
            expected = [status] if status in ("match", "error") else ["omission", "hallucination"]
            assert [one.status for one in listed if one.path != "l[1]"] == expected
            if status == "mismatch" and found:
                assert alone.reason == f"different units: {gold!r} and {found!r}"


class TestThresholdsAndWeights:
    """What counts as a match, and how much a field counts."""

    def test_a_threshold_decides_on_the_status_and_keeps_the_score(self) -> None:
        thresholds = {"a": {"x-eval-threshold": 0.5}, "b": {"x-eval-threshold": 0.6}, "c": {}}
        schema = record(**{name: compared("half", **keys) for name, keys in thresholds.items()})
        row = dict.fromkeys(thresholds, "x")
        registry = registry_of(half=lambda *_: ComparatorResult(0.5, "half"))
        result = run(schema, [row], [row], registry)

        assert statuses(result) == {"a": "match", "b": "mismatch", "c": "mismatch"}
        assert result.mean_f1 == result.per_field["a"].mean_score == result.by_field["a"].f1 == 0.5

    def test_weights_count_in_the_shares_and_are_inherited(self) -> None:
        schema = record(
            a={**TEXT, "x-eval-weight": 3},
            o={**record(b=TEXT, c={**TEXT, "x-eval-weight": 0}), "x-eval-weight": 2},
        )
        gold = {"a": "x", "o": {"b": "y", "c": "z"}}
        result = run(schema, [gold], [{"a": "x", "o": {"b": "wrong", "c": "wrong"}, "u": 1}])

        assert result.mean_recall == result.micro.recall == pytest.approx(3 / 5)
        assert result.mean_precision == pytest.approx(3 / 6)
        assert result.total_fields == 4


CASES = (Path(__file__).parent / "data" / "cases.jsonl").read_text("utf-8").splitlines()
"""Records with the statuses of their fields, as a careful reader of the specification has them."""


@pytest.mark.parametrize("case", [json.loads(row) for row in CASES])
def test_every_field_of_a_case_has_its_status(case: dict[str, Any]) -> None:
    schema = annotate_xeval(resolve_schema_references(case["schema"]))
    result = evaluate(case["gold"], case["extracted"], schema, **case.get("options", {}))

    statuses = [{f.path: f.status for f in record.field_results} for record in result.records]
    assert statuses == case["statuses"], case["note"]
    if "ids" in case:
        assert [record.record_id for record in result.records] == case["ids"]


class TestReplies:
    """What a model wrote, as text."""

    @pytest.mark.parametrize(
        "text",
        [
            '{"a": "x"}', '```json\n{"a": "x"}\n```', '[{"a": "x"}]',
            'Here {it} is:\n\n{"a": "x"}\n\nAnything else?', json.dumps('```\n{"a": "x"}\n```'),
            '{"a": "x"}\n{"a":"x"}',
            '\n<think>{"a": 1} or {b: {</think>{"a": "x"}', '\\frac{1}{2} {"a": "x"}',
        ],
    )  # fmt: skip
    def test_one_object_is_the_record(self, text: str) -> None:
        for join in ("position", "id"):
            result = run(record(a=TEXT), [{"a": "x"}], [text], id_field="a", join=join)
            assert statuses(result) == {"a": "match"}
            assert result.records[0].extracted == text

    @pytest.mark.parametrize(
        ("text", "reason"),
        [
            ("", "no JSON object"), ("[1]", "no JSON"), ('{"a": 1}\n{"a": 1.0}', "2 different"),
            ('{a: 2} {"a": "x"}', "cannot be read"), ('<think>{"a": "x"}', "thoughts that do not"),
            ('{"a": "x", "b": {"a": "x"}', "cannot be read"), ('{"a": {"a": "x"}, b}', "cannot be"),
            ('{"a": NaN}', "NaN"), ('{"a": "x", "a": "y"}', "'a'"), ('{"a":' * 9999, "cannot be"),
            ('{"a": %s}' % ("9" * 5000), "a number is too long"),
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
        assert "Unusable extractions: 1 of 2 records (50.0%)" in str(result)
        assert RunResult.from_json(result.to_json()).by_field == result.by_field

        joined = run(schema, gold, [*found[::-1], text], id_field="n", join="id")
        assert [(r.record_id, r.f1) for r in joined.records] == [
            (1, 0.0), (2, 1.0), ("(parse failure 2)", 0.0),
        ]  # fmt: skip
        failure, *omissions = joined.records[0].field_results
        assert omissions == first.field_results[1:]
        assert str(failure.reason).startswith("extracted record 1: ")
        assert reason in str(failure.reason)
        assert joined.totals()["parse_failure"] == 2


def test_elements_without_a_key_are_announced(caplog: pytest.LogCaptureFixture) -> None:
    items = array(record(id=NUMBER), match_by="key_field", key="id")
    one(items, [{"id": 1}], [{"id": 1}, {}])
    assert ": 1 element without a unique key is not aligned, such as {}; rep" in caplog.text


class TestJoins:
    """Which record belongs to which."""

    def test_by_position_lists_must_be_of_equal_length(self) -> None:
        with pytest.raises(InputError, match="length: gold has 1 record, extracted 2; give null"):
            run(record(a=TEXT), [{}], [{}, {}])
        found = Records([Unusable("x", "e.jsonl, line 1: no JSON object")], "e.jsonl")
        with pytest.raises(InputError, match="line 1: no JSON object; write each reply as one"):
            run(record(a=TEXT), [], found)
        records: tuple[Any, ...] = ({"a": 1}, "x", None, iter([]))
        for odd in records:
            with pytest.raises(InputError, match="gold must be a list"):
                evaluate(odd, [], annotate_xeval(record(a=TEXT)))

    def test_ids_that_cannot_be_used(self) -> None:
        cases: list[tuple[list[Any], dict[str, Any], str]] = [
            ([{"id": 1}, {"id": 1}], {}, "gold record 1: duplicate id 1, first in gold record 0"),
            ([{"id": 1}, {}], {}, "gold record 1: the id field 'id' is missing"),
            ([{"id": 1}, "x"], {}, "gold record 1: the id field .* is missing: no JSON object"),
            ([{"id": 1}, {}], {"join": "position"}, "gold record 1: the id field 'id' is missing"),
            ([{"id": True}], {}, "string or integer"),
            ([{"id": 1}, None], {}, "gold record 1: the id field 'id' is missing"),
            ([{"id": 1}], {"join": "key"}, "'position' or 'id'"),
            ([{"id": 1}], {"id_field": None}, "requires id_field"),
        ]
        for gold, options, says in cases:
            with pytest.raises(InputError, match=says):
                run(record(id=NUMBER), gold, gold, **{"id_field": "id", "join": "id", **options})

    @pytest.mark.parametrize(
        ("bad", "reason"),
        [
            ({"a": "y"}, "extracted record 1: the id field 'id' is missing"),
            ('{"id": 2.5}', "extracted record 1: 'id' is 2.5; an id must be a"),
            ({"id": 1, "a": "y"}, "duplicate id 1, first in extracted record 0"),
        ],
    )
    def test_an_extraction_without_a_usable_id_is_a_failure(self, bad: Any, reason: str) -> None:
        gold = [{"id": n, "a": "xyz"[n - 1]} for n in (1, 2, 3)]
        schema = record(id=NUMBER, a=TEXT)
        result = run(schema, gold, [gold[0], bad, gold[2]], id_field="id", join="id")

        assert [(r.record_id, r.f1) for r in result.records] == [(1, 1), (2, 0), (3, 1)]
        failed = result.records[1]
        statuses = [f.status for f in failed.field_results]
        assert statuses == ["parse_failure", "omission", "omission"]
        assert failed.extracted == bad
        assert reason in str(failed.failure)
        surplus = run(schema, gold[:1], [gold[0], bad], id_field="id", join="id")
        assert [(r.record_id, r.f1) for r in surplus.records] == [(1, 1), ("(parse failure 1)", 0)]
        statuses = [f.status for f in surplus.records[1].field_results]
        assert statuses == ["parse_failure", "hallucination"]


@pytest.mark.parametrize(
    ("handling", "expected"),
    [
        (NullHandling(), "a=skipped b=hallucination c=omission o=mismatch l=match e=omission"),
        (
            NullHandling([None, "n/a"], both_absent_skip=False),
            "a=match b=match c=omission o=mismatch l=match e=omission",
        ),
        (
            NullHandling([None, []], missing_is_absent=True),
            "a=skipped b=hallucination c=omission o=mismatch l=match e=skipped",
        ),
    ],
)
def test_values_that_stand_for_nothing(handling: NullHandling, expected: str) -> None:
    def handled(fields: list[FieldResult]) -> list[FieldResult]:
        return reclassify_nulls(fields, handling)

    schema = record(a=TEXT, b=TEXT, c=NUMBER, o=record(x=TEXT), l=array(TEXT), e=array(TEXT))
    gold: dict[str, Any] = {"a": None, "b": None, "c": 0, "o": {"x": "y"}, "l": [], "e": []}
    found: dict[str, Any] = {"a": None, "b": "n/a", "c": None, "o": "text", "l": []}
    result = run(schema, [gold], [found], post_process=handled)

    assert all(one.score == (one.status == "match") for one in result.records[0].field_results)
    assert " ".join(f"{name}={one}" for name, one in statuses(result).items()) == expected


def test_what_a_post_processor_returns_must_be_a_list_of_results() -> None:
    """Another status or score would change the totals without a word."""
    status: Any = "right"
    returned: tuple[Any, ...] = (
        None, (), ["match"], [FieldResult("a", 1.0, "exact", "x", "x", status)],
        [FieldResult("a", math.nan, "exact", "x", "x", "match")],
    )  # fmt: skip
    for odd in returned:
        with pytest.raises(InputError, match=r"post_process returned .* record 0; .* FieldResult"):
            run(record(a=TEXT), [{"a": "x"}], [{"a": "x"}], post_process=lambda _, odd=odd: odd)


def test_registering_needs_a_free_name_and_something_to_call() -> None:
    registry = registry_of(mine=len, date=len)
    registry.register("mine", max, overwrite=True)
    for name in ("mine", "parse_number"):
        registry.register_transform(name, len)

    assert registry.get_comparator("mine") is max
    assert registry.get_comparator("date") is registry.get_transform("parse_number") is len
    for register, own in ((registry.register, "exact"), (registry.register_transform, "strip")):
        with pytest.raises(ValueError, match="already registered"):
            register("mine", max)
        with pytest.raises(TypeError, match="must be callable"):
            register("other", "len")  # type: ignore[arg-type]
        with pytest.raises(ValueError, match="Cannot overwrite built-in"):
            register(own, len)
    with pytest.raises(ValueError, match="Cannot overwrite built-in"):
        registry.register("exact", len, overwrite=True)
