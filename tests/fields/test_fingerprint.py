"""A run says by which schema it was scored."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from factcheck.fields import FieldEvaluator, RunResult, RunTally, annotate_xeval
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
)

FIELDS = {"a": TEXT, "b": array(NUMBER)}
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
        {"c": TEXT},
    ],
)  # fmt: skip
def test_whatever_changes_scores_changes_the_digest(other: dict[str, Any]) -> None:
    assert digest_of(**{**FIELDS, **other}) != digest_of(**FIELDS)


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
    backwards = dict(reversed({**FIELDS, **other}.items()))
    assert digest_of(**backwards) == digest_of(**FIELDS)


def test_what_a_judge_is_shown_is_part_of_the_schema() -> None:
    digests = {digest_of(a=compared("judge", description=words)) for words in ("city", "country")}
    assert len(digests) == 2


def test_a_saved_run_keeps_it_and_an_old_one_has_none() -> None:
    result = run(record(**FIELDS), [{"a": "x"}], [{"a": "x"}])
    data = result.to_dict()

    assert result.schema_digest == digest_of(**FIELDS)
    assert RunResult.from_dict(data).schema_digest == result.schema_digest
    del data["schema_digest"]
    assert RunResult.from_dict(data).schema_digest is None


def test_a_tally_of_an_unknown_schema_makes_the_sum_unknown() -> None:
    fields = ["", "a", "b", "b[]"]
    tally = RunTally(fields, "0" * 64)
    tally.merge(RunTally(fields))
    assert tally.result().schema_digest is None
