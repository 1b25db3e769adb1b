"""Batch comparators: what they are asked, in how many calls, and what becomes of each answer."""

from __future__ import annotations

import random
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment

from factcheck.errors import Failure
from factcheck.fields import (
    BatchItem,
    ComparatorResult,
    CompoundComparator,
    FieldEvaluator,
    FieldResult,
    annotate_xeval,
    optimal,
    parse_eval_schema,
    propagate_batch_errors,
    score_record,
)
from factcheck.fields.records import count
from tests.fields.builders import (
    NUMBER,
    TEXT,
    Recorder,
    array,
    best,
    compared,
    record,
    registry_of,
    run,
    statuses,
)

JUDGED = compared("judge")
TWO = record(a=JUDGED, b=JUDGED)


NO_VERDICT = "the comparator 'judge' gave no verdict"
NO_LIST = "the comparator 'judge' returned"
NO_SCORE = "comparator 'judge': the score 1.5 is not a number from 0 to 1"
NO_RESULT = "comparator 'judge': expected a ComparatorResult, got 'yes'"
Like = SimpleNamespace


def one(value: float, **keys: Any) -> ComparatorResult:
    return ComparatorResult(value, "judge", **keys)


def test_a_record_is_one_call_with_what_the_schema_says() -> None:
    judge = Recorder()
    field = compared(
        {"judge": {"hint": "h"}}, description="the name", **{"x-eval-transform": ["lowercase"]}
    )
    schema = record(a=field, l=array(record(b=JUDGED)))
    gold = {"a": "X", "l": [{"b": "p"}, {"b": "q"}]}
    extracted = {"a": "x", "l": [{"b": "p"}, {"b": "z"}]}

    result = run(schema, [gold], [extracted], registry_of(judge=judge))

    [items] = judge.calls
    assert items[0] == BatchItem("a", "X", "x", "x", "x", {"hint": "h"}, "a", "the name")
    assert [i.path for i in items[1:]] == ["l[0].b", "l[1].b"]
    assert {i.schema_path for i in items[1:]} == {"l[].b"}
    assert statuses(result) == {"a": "match", "l[0].b": "match", "l[1].b": "mismatch"}


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([one(1.0), one(0.4, reason="why")], [("match", 1.0, None), ("mismatch", 0.4, "why")]),
        ([None, one(1)], [("batch_error", 0.0, NO_VERDICT), ("match", 1.0, None)]),
        (["yes", one(1)], [("batch_error", 0.0, NO_RESULT), ("match", 1.0, None)]),
        ([one(1.5), one(1)], [("error", 0.0, NO_SCORE), ("match", 1.0, None)]),
        ([one(1)], [("match", 1.0, None), ("batch_error", 0.0, NO_VERDICT)]),
        ([Failure(None, "output", "no"), one(1)], [("batch_error", 0.0, "no"), ("match", 1, None)]),
        (
            [Like(score=0.5, reason="r"), Like(matched=True)],
            [("mismatch", 0.5, "r"), ("match", 1.0, None)],
        ),
        (
            [Like(status="skipped", reason="r"), Like(status="match")],
            [("skipped", 0.0, "r"), ("match", 1.0, None)],
        ),
        ([one(0.7, skip=True, reason="r"), one(1)], [("skipped", 0.0, "r"), ("match", 1.0, None)]),
        ([one(1), one(0), one(1)], [("match", 1.0, None), ("mismatch", 0.0, None)]),
        *(
            (answer, [("batch_error", 0.0, f"{NO_LIST} {kind}, not a list")] * 2)
            for answer, kind in (((), "tuple"), (None, "NoneType"))
        ),
    ],
)
def test_every_answer_finds_its_field(answers: Any, expected: list[Any]) -> None:
    judge = Recorder()
    judge.answers = lambda _items: answers
    result = run(TWO, [{"a": "x", "b": "y"}], [{"a": "x", "b": "z"}], registry_of(judge=judge))

    fields = result.records[0].field_results
    assert [(f.status, f.score, f.reason) for f in fields] == expected
    n_errors = sum(status == "batch_error" for status, _, _ in expected)
    assert result.total_batch_errors == n_errors


def test_a_comparator_that_raises_loses_only_its_call(caplog: pytest.LogCaptureFixture) -> None:
    def answer(item: BatchItem) -> ComparatorResult:
        if item.extracted_compared == "bad":
            raise KeyError("no")
        return one(1.0)

    schema = record(a=JUDGED, b=compared("other"))
    rows = [{"a": "x", "b": "y"}] * 3
    found = [*rows[:2], {"a": "bad", "b": "y"}]
    registry = registry_of(judge=Recorder(answer, across_records=True), other=Recorder())
    result = run(schema, rows, found, registry)

    assert {name: field.counts for name, field in result.by_field.items()} == {
        "a": {"batch_error": 3}, "b": {"match": 3},
    }  # fmt: skip
    reason = "comparator 'judge': KeyError: 'no'"
    assert result.records[0].field_results[0].reason == reason
    assert f"{reason} (3 fields)" in caplog.text


ROWS = [{"a": f"x{n}", "b": "y"} for n in range(30)]
OTHERS = [{"a": f"z{n % 3}", "b": "y"} for n in range(30)]


def test_one_call_for_all_records_where_the_comparator_allows_it() -> None:
    judge, single = Recorder(across_records=True), Recorder()
    together = run(TWO, ROWS, OTHERS, registry_of(judge=judge))
    apart = run(TWO, ROWS, OTHERS, registry_of(judge=single))

    assert [len(call) for call in judge.calls] == [60]
    assert [len(call) for call in single.calls] == [2] * 30
    assert together == apart


def test_a_stream_asks_window_by_window() -> None:
    judge = Recorder(across_records=True)
    evaluator = FieldEvaluator(TWO, registry=registry_of(judge=judge))
    tally = evaluator.tally((ROWS[0], OTHERS[0]) for _ in range(2_500))
    assert [len(call) for call in judge.calls] == [2_000, 2_000, 1_000]
    assert tally.result().total_fields == 5_000


ELEMENTS: tuple[Any, ...] = (
    JUDGED,
    record(d=JUDGED, n=NUMBER),
    record(d=JUDGED, e=JUDGED),
    record(n=NUMBER, k=array(JUDGED)),
    record(n=NUMBER, k=best(JUDGED)),
    record(n=NUMBER, k=best(record(d=JUDGED, n=NUMBER))),
    record(n=NUMBER, k=array(record(d=JUDGED, n=NUMBER), match_by="key_field", key="n")),
    record(n=NUMBER, k=best(NUMBER)),
    record(k=best(record(n=NUMBER, m=best(NUMBER)))),
    record(n=NUMBER, k=array(record(n=NUMBER, m=NUMBER), match_by="key_field", key="n")),
)


def element(schema: Any, draw: random.Random) -> Any:
    if draw.random() < 0.1:
        return draw.choice((None, None, 3, [], {}))
    if schema["type"] == "object":
        fields = schema["properties"].items()
        made = {name: element(field, draw) for name, field in fields if draw.random() > 0.1}
        return made if draw.random() > 0.1 else {**made, "unknown": 1}
    if schema["type"] == "array":
        return [element(schema["items"], draw) for _ in range(draw.randrange(4))]
    return draw.randrange(4) if schema == NUMBER else draw.choice("abcdef")


def drawn(item: BatchItem, salt: str) -> ComparatorResult | None:
    draw = random.Random(f"{salt} {item.gold_compared!r} {item.extracted_compared!r}")
    return draw.choice((None, one(0.0, skip=True), one(7.0), *map(one, (0, 0, 0, 1, 1, 0.5, 0.25))))


def f1_of(results: list[FieldResult]) -> float:
    matched, n_extracted, n_gold, _ = count(results)
    return 2 * matched / (n_extracted + n_gold) if matched else 0.0


GOLD = {"s": [{"d": "red", "n": 1}, {"d": "blue", "n": 2}, {"d": "red", "n": 3}]}
FOUND = {"s": [{"d": "azure", "n": 2}, {"d": "crimson", "n": 9}]}
SAME = frozenset({("red", "crimson"), ("blue", "azure")})


class TestBestPairing:
    """Arrays whose pairing needs a batch comparator."""

    def judge(self) -> Recorder:
        return Recorder(lambda i: one(float((i.gold_compared, i.extracted_compared) in SAME)))

    def test_only_pairs_that_can_belong_to_it_are_asked_and_equal_ones_once(self) -> None:
        judge = self.judge()
        schema = record(s=best(record(d=JUDGED, n=NUMBER)))
        result = run(schema, [GOLD], [FOUND], registry_of(judge=judge))

        [items] = judge.calls
        assert sorted((i.gold_compared, i.extracted_compared) for i in items) == [
            ("blue", "azure"), ("red", "crimson"),
        ]  # fmt: skip
        assert len({item.path for item in items}) == len(items)
        assert {item.schema_path for item in items} == {"s[].d"}
        assert statuses(result) == {
            "s[0].d": "match", "s[0].n": "mismatch", "s[1].d": "match", "s[1].n": "match",
            "s[2].d": "omission", "s[2].n": "omission",
        }  # fmt: skip

    @pytest.mark.parametrize("kind", ["object", "string", "tied"])
    def test_as_few_questions_as_elements_where_each_has_a_partner(self, kind: str) -> None:
        """Beside a number that tells them apart, or by the likeness of their texts."""
        n = 120
        judge = Recorder(lambda i: one(float(i.extracted_compared == i.gold_compared.upper())))
        texts = [f"article {n * 7919 % 1009} of {n}" for n in range(n)]
        gold: list[Any] = texts
        found: list[Any] = [text.upper() for text in reversed(texts)]
        items = JUDGED
        if kind != "string":
            items = record(d=JUDGED, n=NUMBER)
            tell_apart = kind == "object"
            gold = [{"d": text, "n": number * tell_apart} for number, text in enumerate(texts)]
            found = [
                {**row, "d": "?" if tell_apart and row["n"] % 3 == 0 else row["d"].upper()}
                for row in gold[::-1]
            ]

        result = run(record(s=best(items)), [{"s": gold}], [{"s": found}], registry_of(judge=judge))

        assert sum(map(len, judge.calls)) <= 2 * n
        assert result.total_omissions == result.total_hallucinations == 0

    def test_the_search_ends_and_says_so(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(optimal, "_MAX_SCORED", 100)
        judge = Recorder(lambda i: one(float(i.gold_compared.upper() == i.extracted_compared)))
        gold = [*(f"gold {n}" for n in range(20)), "steel"]
        found = [*(f"found {n}" for n in range(20)), "STEEL"]
        result = run(
            record(s=best(JUDGED)), [{"s": gold}], [{"s": found}], registry_of(judge=judge)
        )

        assert sum(map(len, judge.calls)) == 100
        assert "s: 21 and 21 elements were aligned after 100 of their pairs" in caplog.text
        assert result.by_field["s[]"].counts == {"match": 1, "omission": 20, "hallucination": 20}

        judge.calls.clear()
        lists = [[{"k": [f"{side} {n}"] * 3 + [str(n)]} for n in range(9)] for side in ("a", "b")]
        nested = record(s=best(record(k=best(JUDGED))))
        run(nested, [{"s": lists[0]}], [{"s": lists[1]}], registry_of(judge=judge))
        assert "s: 9 and 9 elements were aligned after" in caplog.text

    @pytest.mark.parametrize("seed", range(5))
    def test_the_pairing_is_as_good_as_with_every_pair_asked(self, seed: int) -> None:
        """On random arrays, with partial scores, answers that are missing, and arrays inside."""
        draw = random.Random(seed)
        for _ in range(25):
            items, threshold = draw.choice(ELEMENTS), draw.choice((0.0, 0.0, 0.3, 0.5))
            gold, found = ([element(items, draw) for _ in range(draw.randint(1, 6))] for _ in "ab")
            salt = str(draw.random())
            registry = registry_of(judge=Recorder(partial(drawn, salt=salt)))
            schema = record(s=best(items, threshold=threshold))
            result = run(schema, [{"s": gold}], [{"s": found}], registry)
            f1 = np.array(
                [
                    [f1_of(run(items, [g], [f], registry).records[0].field_results) for f in found]
                    for g in gold
                ]
            )
            f1[f1 < threshold] = 0
            rows: dict[str, list[FieldResult]] = {}
            for field in result.records[0].field_results:
                rows.setdefault(field.path.partition("]")[0], []).append(field)

            reached = sum(f1_of(own) for own in rows.values())
            assert reached == pytest.approx(f1[linear_sum_assignment(-f1)].sum(), abs=1e-9)

    def test_a_pair_that_is_better_by_a_hair_is_found_though_it_looks_unlike(self) -> None:
        judge = Recorder(lambda item: one(1.0 if item.extracted_compared == "q" else 1 - 1e-7))
        gold, found = [{"s": ["red apple"]}], [{"s": ["red apples", "q"]}]
        result = run(record(s=best(JUDGED)), gold, found, registry_of(judge=judge))

        assert [f.extracted_value for f in result.records[0].field_results] == ["q", "red apples"]

    def test_score_record_asks_for_such_arrays_only(self) -> None:
        judge = self.judge()
        schema = record(a=JUDGED, s=best(JUDGED))
        root = parse_eval_schema(annotate_xeval(schema), registry := registry_of(judge=judge))
        fields = score_record(
            root, {"a": "x", "s": ["red"]}, {"a": "x", "s": ["crimson"]}, registry
        )

        assert [(f.path, f.status) for f in fields] == [("a", "pending"), ("s[0]", "match")]
        assert [item.gold_compared for item in judge.calls[0]] == ["red"]


def test_one_batch_error_taints_the_record_if_that_is_wanted() -> None:
    judge = Recorder(lambda item: None if item.path == "a" else one(1))
    schema = record(a=JUDGED, b=JUDGED, c=JUDGED, d=TEXT)
    row = {"a": "x", "b": "y", "d": "z"}
    gold, registry = [{**row, "c": "q"}], registry_of(judge=judge)
    result = run(schema, gold, [row], registry, post_process=propagate_batch_errors)

    assert statuses(result) == {
        "a": "batch_error", "b": "batch_error", "c": "omission", "d": "match",
    }  # fmt: skip
    fields = result.records[0].field_results
    assert all("tainted" in (f.reason or "") for f in fields if f.status == "batch_error")


class TestCompound:
    """Fields that are scored as one."""

    NAME = compared("name")
    NAMES = record(given=NAME, family=NAME, n=NUMBER)

    class Full(CompoundComparator):
        """Matches where all parts do."""

        def compare(self, gold: dict[str, Any], extracted: dict[str, Any]) -> float:
            return float(gold == extracted)

    registry = registry_of(name=Full(["given", "family"], primary="family"))

    def test_a_missing_sibling_makes_the_rest_a_mismatch(self) -> None:
        gold, found = {"given": "Ada", "family": "L"}, {"family": "L"}
        result = run(self.NAMES, [gold], [found], self.registry)

        assert statuses(result) == {"given": "omission", "family": "mismatch"}
        assert "incomplete" in (result.records[0].field_results[1].reason or "")

    def test_a_group_that_only_the_extraction_breaks_is_a_mismatch(self) -> None:
        class Picky(CompoundComparator):
            def compare(self, gold: dict[str, Any], extracted: dict[str, Any]) -> float:
                return float(gold["family"].strip() == extracted["family"].strip())

        registry = registry_of(name=Picky(["given", "family"], primary="family"))
        good, bad = {"given": "Ada", "family": "L"}, {"given": "Ada", "family": 5}
        result = run(self.NAMES, [good, good, bad], [bad, good, good], registry)

        families = [record.field_results[1] for record in result.records]
        assert [f.status for f in families] == ["mismatch", "match", "batch_error"]
        assert {f.reason for f in families} == {
            None, "AttributeError: 'int' object has no attribute 'strip'",
        }  # fmt: skip
        assert {record.field_results[0].status for record in result.records} == {"skipped"}

    def test_records_and_pairs_of_elements_never_mix(self) -> None:
        """Though their paths are the same."""
        other = {"given": "y", "family": "z", "n": 1}
        gold = [{"p": [{"given": f"g{n}", "family": "x", "n": 2}, other]} for n in "ab"]
        found = [{"p": row["p"][::-1]} for row in gold]
        result = run(record(p=best(self.NAMES)), gold, found, self.registry)

        assert result.mean_f1 == 1.0
        assert result.total_fields == 8

    def test_names_with_dots_belong_to_their_parent(self) -> None:
        registry = registry_of(name=self.Full(["a.b", "c"], primary="c"))
        schema = record(o=record(**{"a.b": self.NAME, "c": self.NAME}))
        row = {"o": {"a.b": "1", "c": "2"}}

        assert run(schema, [row], [row], registry).mean_f1 == 1.0
        with pytest.raises(ValueError, match="primary field"):
            self.Full(["a"], primary="b")
