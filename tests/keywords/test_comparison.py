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
    assert data["format"] == "factcheck-keywords-comparison/1"
    assert data["better"][0] == {"case_id": "d", "a": 0.4, "b": 1.0}
    assert found.kind == "cards"
    assert found.n_cases == 4
    assert found.better == (("d", 0.4, 1.0), ("a", 0.5, 1.0))
    assert found.worse == (("b", 1.0, 0.5),)
    assert found.unchanged == ("c",)
    assert found.p_value == 1.0


def test_the_other_way_round_everything_has_the_other_sign() -> None:
    there, back = compare_runs(BEFORE, AFTER), compare_runs(AFTER, BEFORE)

    assert [change.name for change in back.worse] == [c.name for c in there.better]
    for name, one in there.overall.items():
        other = back.overall[name]
        assert one.difference is not None
        assert other.difference == pytest.approx(-one.difference)
    assert back.p_value == there.p_value


def test_errored_cases_and_those_of_one_run_only_are_left_out() -> None:
    a = card_run(case("a", 1, 1, 1), Failure("b", "input", ""), case("only", 1, 1, 1))
    b = card_run(case("a", 1, 1, 1), case("b", 1, 1, 1), case("other", 1, 1, 1))
    found = compare_runs(a, b)

    assert found.n_cases == 1
    assert found.left_out == ("b", "only", "other")
    assert found.overall["macro_f1"].interval == (-1.0, 1.0)


def test_behaviors_are_compared_by_the_cases_that_pass() -> None:
    a = behavior_run({"p": True, "q": False, "r": False, "s": True, "t": None})
    b = behavior_run({"p": True, "q": True, "r": True, "s": False, "t": True})
    found = compare_runs(a, b)

    assert found.kind == "behaviors"
    assert found.better == (("q", 0.0, 1.0), ("r", 0.0, 1.0))
    assert found.worse == (("s", 1.0, 0.0),)
    assert found.unchanged == ("p",)
    assert found.left_out == ("t",)
    assert (found.overall["pass_rate"].a, found.overall["pass_rate"].b) == (0.5, 0.75)
    assert found.p_value == 1.0


def test_a_score_that_one_run_has_not_has_no_difference() -> None:
    found = compare_runs(card_run(case("a", 0, 1, 1)), card_run(case("a", 1, 1, 1)))

    similarity = found.overall["micro_average_similarity"]
    assert (similarity.a, similarity.b, similarity.difference) == (None, 0.5, None)
    assert "NaN" not in found.to_json()


def test_settings_that_differ_are_noted() -> None:
    other = card_run(case("a", 1, 1, 1), settings=MatchSettings(0.5))
    found = compare_runs(card_run(case("a", 1, 1, 1)), other)

    assert found.notes == ("threshold is 0.3 in run a and 0.5 in run b",)


@pytest.mark.parametrize(
    ("a", "b", "message"),
    [
        (BEFORE, behavior_run({"a": True}), "not DatasetResult and BehaviorRun"),
        (BEFORE, None, "not DatasetResult and NoneType"),
        (1, 1, "not int and int"),
        (BEFORE, card_run(case("z", 1, 1, 1)), "no scored case of run a .a, .*is in run b .z"),
        (
            BEFORE,
            card_run(case("a", 1, 1, 1), digests={"a": "other"}),
            "run b expects something else than run a in 1 of 1 case .a",
        ),
    ],
)
def test_runs_that_cannot_be_compared_are_refused(a: Any, b: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare_runs(a, b)
