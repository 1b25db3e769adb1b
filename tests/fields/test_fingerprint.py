"""A run says by which schema it was scored."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from factcheck.fields import (
    FieldEvaluator,
    Registry,
    RunResult,
    RunTally,
    SemanticComparator,
    evaluate,
)

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "a": {"type": "string", "x-eval-compare": "exact"},
        "b": {"type": "array", "items": {"type": "number", "x-eval-compare": "numeric"}},
    },
}


def digest_of(schema: Any, registry: Registry | None = None) -> str:
    return FieldEvaluator(schema, registry=registry).schema_digest


def changed(path: tuple[str, ...], **keys: Any) -> dict[str, Any]:
    schema = deepcopy(SCHEMA)
    place = schema["properties"]
    for step in path:
        place = place[step]
    place.update(keys)
    return schema


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        (("a",), {"x-eval-compare": "fuzzy"}),
        (("a",), {"x-eval-compare": {"oneof": {"values": ["x"]}}}),
        (("a",), {"x-eval-transform": ["strip"]}), (("a",), {"x-eval-threshold": 0.5}),
        (("a",), {"x-eval-weight": 2}), (("a",), {"x-eval-skip": True}),
        (("b",), {"x-eval-align": {"match_by": "hungarian"}}),
        (("b", "items"), {"x-eval-compare": {"numeric": {"tolerance": {"rel": 0.1}}}}),
        ((), {"c": {"type": "string", "x-eval-compare": "exact"}}),
    ],
)  # fmt: skip
def test_whatever_changes_scores_changes_the_digest(
    path: tuple[str, ...], keys: dict[str, Any]
) -> None:
    assert digest_of(changed(path, **keys)) != digest_of(SCHEMA)


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        (("a",), {"title": "A", "description": "the first letter"}),
        (("a",), {"type": ["string", "null"]}),
        (("a",), {"x-eval-weight": 1, "x-eval-threshold": 1.0, "x-eval-skip": False}),
        (("a",), {"x-eval-compare": {"exact": {}}}),
        (("b",), {"x-eval-align": {"ordered": True}}),
        ((), {}),
    ],
)
def test_what_changes_no_score_does_not(path: tuple[str, ...], keys: dict[str, Any]) -> None:
    backwards = changed(path, **keys)
    backwards["properties"] = dict(reversed(backwards["properties"].items()))
    assert digest_of(backwards) == digest_of(SCHEMA)


def test_what_a_judge_is_shown_is_part_of_the_schema() -> None:
    registry = Registry()
    with SemanticComparator("local") as comparator:
        registry.register("semantic", comparator)
        digests = {
            digest_of(
                changed(("a",), **{"x-eval-compare": "semantic", "description": words}), registry
            )
            for words in ("a city", "a country")
        }

    assert len(digests) == 2


def test_a_saved_run_keeps_it_and_an_old_one_has_none() -> None:
    run = evaluate([{"a": "x"}], [{"a": "x"}], SCHEMA)
    data = run.to_dict()

    assert run.schema_digest == digest_of(SCHEMA)
    assert RunResult.from_json(run.to_json()) == run
    del data["schema_digest"]
    assert RunResult.from_dict(data).schema_digest is None


def test_a_tally_of_an_unknown_schema_makes_the_sum_unknown() -> None:
    fields = ["", "a", "b", "b[]"]
    tally = RunTally(fields, "0" * 64)
    tally.merge(RunTally(fields))
    assert tally.result().schema_digest is None
