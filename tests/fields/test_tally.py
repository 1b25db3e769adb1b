"""A tally says what the records say, however they are cut, and by which schema."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
from copy import deepcopy
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest import approx  # noqa: PT013 - it reads like a word

from factcheck.errors import InputError
from factcheck.fields import (
    FieldEvaluator,
    FieldResult,
    RecordResult,
    RunTally,
    annotate_xeval,
    evaluate,
)
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
    run_of,
)

PATHS = ["a", "b", "items[0].n", "items[1].n", "items[-1].n", "z\\.z", "rows[0][0]", "rows[1][0]"]
FIELDS = ["a", "b", "items", "items[].n"]
signs = st.lists(st.dictionaries(st.sampled_from(PATHS), st.text("".join(STATUSES), max_size=3)))


def figures(part: Any, path: str = "") -> dict[str, float]:
    """The numbers in the JSON of a run, by place."""
    if isinstance(part, dict):
        return {k: n for key in part for k, n in figures(part[key], f"{path}/{key}").items()}
    return {path: part} if isinstance(part, (int, float)) else {}


def rounded(numbers: dict[str, float]) -> Any:
    return approx(numbers, rel=1e-9, abs=1e-12)


def tally_of(some: Iterable[RecordResult], fields: Sequence[str] | None = None) -> RunTally:
    tally = RunTally(fields)
    for each in some:
        tally.add(each)
    return tally


@given(
    signs, st.lists(st.integers(0, 8), max_size=4), st.sampled_from([None, FIELDS]), st.randoms()
)
def test_shards_in_any_cut_and_order_add_up_to_the_run(
    signs: list[Any], cuts: list[int], fields: list[str] | None, random: Any
) -> None:
    records = run_of(signs).records
    ends = [0, *sorted(min(cut, len(records)) for cut in cuts), len(records)]
    shards = [tally_of(records[start:end], fields) for start, end in pairwise(ends)]
    random.shuffle(shards)

    while len(shards) > 1:
        place = random.randrange(len(shards) - 1)
        shards[place].merge(shards.pop(place + 1))

    whole = tally_of(records, fields).result()
    assert figures(shards[0].result().to_dict()) == rounded(figures(whole.to_dict()))


def test_a_score_that_a_post_processor_left_behind_counts_nowhere() -> None:
    def disown(results: list[FieldResult]) -> list[FieldResult]:
        for result in results:
            result.status = "hallucination"
        return results

    schema = annotate_xeval(record(a=TEXT))
    run = evaluate([{"a": "x"}], [{"a": "x"}], schema, post_process=disown)

    assert run.records[0].field_results[0].score == 1.0
    assert run.micro.precision == run.by_field["a"].precision == 0.0
    assert run.by_field["a"].mean_score == run.per_field["a"].mean_score == 0.0


def test_a_tally_comes_back_from_another_process() -> None:
    tally = tally_of(run_of([{"a": "-", "b": "/", "q": "h"}] * 3).records)
    back = pickle.loads(pickle.dumps(tally))  # noqa: S301 - its own
    assert back.result() == tally.result()
    back.merge(tally)
    back.merge(back)
    assert back.result().total_records == 12
    assert back.result().by_field["a"].counts == {"mismatch": 12}
    assert back.result().by_field["b"].f1 == 0.5


@pytest.mark.parametrize(
    ("tally", "other"),
    [
        (RunTally(), RunTally(["a"])),
        (RunTally(["a", "b"]), RunTally(["a"])),
        (RunTally(["a"], "1"), RunTally(["a"], "2")),
    ],
)
def test_unlike_tallies_do_not_add_up(tally: RunTally, other: RunTally) -> None:
    with pytest.raises(InputError, match="tallies of different schemas"):
        tally.merge(other)


SCORED = {"a": TEXT, "b": array(NUMBER)}

TOLERANCE = {"numeric": {"tolerance": {"rel": 0.1}}}


def digest_of(**fields: Any) -> str:
    schema = annotate_xeval(deepcopy(record(**fields)))
    return FieldEvaluator(schema, registry=registry_of(judge=Recorder())).schema_digest


@pytest.mark.parametrize(
    "other",
    [
        {"a": compared("fuzzy")},
        {"a": compared({"oneof": {"values": ["x"]}})},
        *({"a": {**TEXT, f"x-eval-{key}": value}} for key, value in (
            ("transform", ["strip"]), ("threshold", 0.5), ("weight", 2), ("skip", True),
        )),
        {"b": best(NUMBER)},
        {"b": array({**NUMBER, "x-eval-compare": TOLERANCE})},
        {"c": TEXT}, {"a": compared("judge", description="city")},
    ],
)  # fmt: skip
def test_whatever_changes_scores_changes_the_digest(other: dict[str, Any]) -> None:
    assert digest_of(**{**SCORED, **other}) != digest_of(**SCORED)


@pytest.mark.parametrize(
    "other",
    [
        {"a": {**TEXT, "title": "A", "description": "the first letter"}},
        {"a": {"type": ["string", "null"]}},
        {"a": {**TEXT, "x-eval-weight": 1, "x-eval-threshold": 1.0, "x-eval-skip": False}},
        {"a": compared({"exact": {}})},
        {"b": array(NUMBER, ordered=True)},
    ],
)
def test_what_changes_no_score_does_not(other: dict[str, Any]) -> None:
    backwards = dict(reversed({**SCORED, **other}.items()))
    assert digest_of(**backwards) == digest_of(**SCORED)


def test_a_tally_of_an_unknown_schema_makes_the_sum_unknown() -> None:
    fields = ["", "a", "b", "b[]"]
    tally = RunTally(fields, "0" * 64)
    tally.merge(RunTally(fields))
    assert tally.result().schema_digest is None
