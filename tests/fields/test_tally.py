"""A tally says what the records say, however they are cut into shards."""

from __future__ import annotations

import pickle
from collections.abc import Iterable, Sequence
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
    RunResult,
    RunTally,
    annotate_xeval,
    evaluate,
)
from factcheck.fields.runs.tally import OTHER
from tests.fields.builders import NUMBER, TEXT, array, best, compared, record

SCHEMA = annotate_xeval(
    record(
        a={**TEXT, "x-eval-weight": 3},
        b=compared({"fuzzy": {}}, **{"x-eval-threshold": 0.6, "x-eval-weight": 0.5}),
        c={**TEXT, "x-eval-skip": True},
        items=best(record(name=TEXT, n={**NUMBER, "x-eval-weight": 0})),
        rows=array(array(NUMBER)),
    )
)
FIELDS = ["a", "b", "c", "items", "items[].name"]
texts = st.sampled_from(["x", "y", "colour", "color", "", None])
numbers = st.sampled_from([0, 1, 2.5, None, "1", "many"])
elements = st.fixed_dictionaries({}, optional={"name": texts, "n": numbers, "unit": texts})
records = st.fixed_dictionaries(
    {},
    optional={
        "a": texts, "b": texts, "c": texts, "items": st.lists(elements, max_size=3),
        "rows": st.lists(st.lists(numbers, max_size=2), max_size=2), "z.z": texts, "y[0]": texts,
    },
)  # fmt: skip
pairs = st.lists(st.tuples(records, records), max_size=8)


def figures(run: RunResult) -> dict[str, float]:
    numbers = {
        name: value for name, value in vars(run).items() if name.startswith(("mean_", "total_"))
    }
    numbers |= {f"micro {name}": value for name, value in run.micro._asdict().items()}
    for path, place in run.per_field.items():
        numbers |= {f"at {path}: {name}": value for name, value in vars(place).items()}
    for path, field in run.by_field.items():
        shares = {name: getattr(field, name) for name in ("precision", "recall", "f1", "support")}
        named = {**shares, "mean": field.mean_score, **field.counts}
        numbers |= {f"of {path}: {name}": value for name, value in named.items()}
    return numbers


def rounded(numbers: dict[str, float]) -> Any:
    return approx(numbers, rel=1e-9, abs=1e-12)


def tally_of(some: Iterable[RecordResult], fields: Sequence[str] | None = None) -> RunTally:
    tally = RunTally(fields)
    for each in some:
        tally.add(each)
    return tally


def unknown(n: int, first: int = 0) -> RecordResult:
    results = [
        FieldResult(f"u{k}", 0.0, "", None, 1, "hallucination") for k in range(first, first + n)
    ]
    return RecordResult(0, results, None, None, 0.0, 1.0, 0.0)


@given(
    pairs, st.lists(st.integers(0, 8), max_size=4), st.sampled_from([None, FIELDS]), st.randoms()
)
def test_shards_in_any_cut_and_order_add_up_to_the_run(
    pairs: list[Any], cuts: list[int], fields: list[str] | None, random: Any
) -> None:
    run = evaluate([g for g, _ in pairs], [e for _, e in pairs], SCHEMA)
    ends = [0, *sorted(min(cut, len(pairs)) for cut in cuts), len(pairs)]
    shards = [tally_of(run.records[start:end], fields) for start, end in pairwise(ends)]
    random.shuffle(shards)

    while len(shards) > 1:
        place = random.randrange(len(shards) - 1)
        shards[place].merge(shards.pop(place + 1))

    whole = tally_of(run.records, fields)
    [merged] = shards
    assert figures(merged.result()) == rounded(figures(whole.result()))


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
    gold = {"a": "x", "b": "colour", "rows": [[1]]}
    tally = FieldEvaluator(SCHEMA).tally([(gold, {"a": "y", "b": "color", "q": 1})] * 3)
    back = pickle.loads(pickle.dumps(tally))  # noqa: S301 - its own
    assert figures(back.result()) == rounded(figures(tally.result()))
    back.merge(tally)
    back.merge(back)
    assert back.result().total_records == 12
    assert back.result().by_field["a"].counts == {"mismatch": 12}
    assert back.result().by_field["b"].f1 == approx(tally.result().by_field["b"].f1)


def test_the_number_of_unknown_keys_is_bounded() -> None:
    tally = tally_of([unknown(900)], ["a"])
    for shard in range(1, 5):
        tally.merge(tally_of([unknown(900, first=900 * shard)], ["a"]))

    run = tally.result()
    assert len(run.by_field) == 1_001
    assert run.by_field[OTHER].counts == {"hallucination": 3_500}
    assert run.total_hallucinations == 4_500


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
