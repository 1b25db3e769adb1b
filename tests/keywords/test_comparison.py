"""Two runs compared: which cases changed, by how much, and whether that is more than chance."""

from __future__ import annotations

import json
from typing import Any

import pytest

from factcheck.errors import Failure, InputError
from factcheck.keywords import MatchSettings, compare_runs
from tests.keywords.runs import behavior_run, card_run, case

BEFORE = card_run(case("a", 1, 2, 2), case("b", 2, 2, 2), case("c", 1, 1, 1), case("d", 1, 4, 1))
AFTER = card_run(case("c", 1, 1, 1), case("a", 2, 2, 2), case("b", 1, 2, 2), case("d", 4, 4, 4))


def test_cases_are_paired_by_id_and_sorted_by_what_changed() -> None:
    found = compare_runs(BEFORE, AFTER)
    data = json.loads(found.to_json())
    assert data["format"] == "factcheck-keywords-comparison/2"
    assert data["better"][0] == {"case_id": "d", "a": 0.4, "b": 1.0}
    assert (found.kind, found.n_cases) == ("cards", 4)
    assert found.changes.better == (("d", 0.4, 1.0), ("a", 0.5, 1.0))
    assert found.changes.worse == (("b", 1.0, 0.5),)
    assert found.changes.unchanged == (("c", 1.0, 1.0),)
    assert found.to_rows()[2] == {"case": "b", "change": "worse", "a": 1.0, "b": 0.5}


def test_errored_cases_and_those_of_one_run_only_are_left_out() -> None:
    a = card_run(case("a", 1, 1, 1), Failure("b", "input", ""), case("only", 1, 1, 1))
    b = card_run(case("a", 1, 1, 1), case("b", 1, 1, 1), case("other", 1, 1, 1))
    found = compare_runs(a, b)
    assert found.n_cases == 1
    assert found.left_out == ("b", "only", "other")
    assert found.only_a == ("only",)
    assert found.mean.interval == (-1.0, 1.0)


def test_behaviors_are_compared_by_the_cases_that_pass() -> None:
    a = behavior_run({"p": True, "q": False, "r": False, "s": True, "t": None})
    b = behavior_run({"p": True, "q": True, "r": True, "s": False, "t": True})
    found = compare_runs(a, b)
    assert found.kind == "behaviors"
    assert found.changes.better == (("q", 0.0, 1.0), ("r", 0.0, 1.0))
    assert found.changes.worse == (("s", 1.0, 0.0),)
    assert found.left_out == ("t",)
    assert (found.mean.a, found.mean.b) == (0.5, 0.75)


@pytest.mark.parametrize(
    ("n_better", "n_worse", "expected"),
    [(6, 0, "better"), (0, 6, "worse"), (5, 0, "unclear"), (6, 3, "unclear")],
)
def test_a_verdict_needs_more_than_chance(n_better: int, n_worse: int, expected: str) -> None:
    changes = [(0, 1)] * n_better + [(1, 0)] * n_worse + [(1, 1)]
    a = card_run(*(case(str(k), before, 1, 1) for k, (before, _) in enumerate(changes)))
    b = card_run(*(case(str(k), after, 1, 1) for k, (_, after) in enumerate(changes)))
    assert compare_runs(a, b).verdict == expected


def test_settings_that_differ_are_noted() -> None:
    other = card_run(case("a", 1, 1, 1), settings=MatchSettings(0.5))
    found = compare_runs(card_run(case("a", 1, 1, 1)), other)
    assert found.notes == ("threshold is 0.3 in run a and 0.5 in run b",)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (BEFORE, behavior_run({"a": True}), "not DatasetResult and BehaviorRun"),
        (1, 1, "not int and int"),
        (BEFORE, card_run(case("z", 1, 1, 1)), "no scored case of run a .a, .*is in run b .z"),
        (
            BEFORE,
            card_run(case("a", 1, 1, 1), digests={"a": "other"}),
            "runs a and b have different expectations in 1 of 1 case .a",
        ),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(a: Any, b: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare_runs(a, b)
