"""Results of keywords: saved, compared, and shown at any width."""

from __future__ import annotations

import json
from collections.abc import Iterable
from statistics import fmean
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import Failure, InputError
from factcheck.keywords import (
    CardCase,
    CardDataset,
    CaseResult,
    DatasetResult,
    ExpectedCard,
    MatchSettings,
    Not,
    compare_runs,
    evaluate_dataset,
)
from factcheck.keywords.results import Scores
from factcheck.reports.page import Item, Page, Section
from tests.keywords.naive import any_text, cards, wanted_cards
from tests.keywords.runs import behavior_run, card_run, case


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((2, 3, 4), Scores(2 / 3, 2 / 4, 4 / 7, 0.5)),
        ((0, 0, 0), Scores(1.0, 1.0, 1.0, None)),
        ((0, 3, 0), Scores(0.0, 0.0, 0.0, None)),
        ((0, 0, 3), Scores(0.0, 0.0, 0.0, None)),
    ],
    ids=["the seed", "nothing at all", "nothing generated", "nothing expected"],
)
def test_a_share_of_nothing_is_1_only_if_there_is_nothing(
    sizes: tuple[int, int, int], expected: Scores
) -> None:
    assert case("a", *sizes).scores == expected


CASES = [case("a", 2, 3, 4), case("b", 0, 2, 0), case("c", 0, 0, 0), case("d", 1, 1, 5)]


def average(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


@pytest.mark.parametrize(
    "cases",
    [CASES, CASES[1:3], [case("x", 0, 0, 3), case("y", 0, 0, 1)]],
    ids=["usual", "no match", "nothing expected"],
)
def test_macro_is_the_mean_over_cases_and_micro_over_cards(cases: list[CaseResult]) -> None:
    run = card_run(*cases)
    columns = zip(*(one.scores for one in cases), strict=True)
    together = (
        sum(len(one.matches) for one in cases),
        *(sum(getattr(one, f"n_{side}") for one in cases) for side in ("expected", "generated")),
    )
    assert run.macro == tuple(map(average, columns))
    assert run.micro == case("all", *together).scores


RUN = card_run(
    case("a", 1, 2, 3),
    Failure("b", "raised", "ValueError: no"),
    settings=MatchSettings(0.4, {"text": 2}, 0.1, "optimal"),
)


@given(
    st.lists(st.lists(wanted_cards, max_size=3), min_size=1, max_size=3),
    st.lists(cards, max_size=3),
    any_text,
)
def test_any_run_is_read_back(
    expected: list[list[Any]], generated: list[Any], version: str
) -> None:
    cases = tuple(CardCase(f"c{k}", "", tuple(own)) for k, own in enumerate(expected))
    dataset = CardDataset(cases, "n", version)
    outputs = [generated] * (len(cases) - 1) + [None]
    run = evaluate_dataset(dataset, outputs, assignment="optimal")
    assert DatasetResult.from_dict(json.loads(json.dumps(run.to_dict()))) == run


def test_there_is_a_row_for_every_case() -> None:
    scored, errored = RUN.to_rows()
    assert (scored["case"], scored["status"], scored["message"]) == ("a", "scored", None)
    assert [scored[name] for name in ("expected", "generated", "matched")] == [2, 3, 1]
    assert scored["f1"] == 0.4
    assert (errored["case"], errored["status"], errored["f1"]) == ("b", "errored", None)
    assert errored["message"] == "raised: ValueError: no"


def changed(**changes: Any) -> dict[str, Any]:
    return {**RUN.to_dict(), **changes}


def with_case(**changes: Any) -> dict[str, Any]:
    [first] = RUN.to_dict()["cases"]
    return changed(cases=[{**first, **changes}])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (3, "expected format 'factcheck-keywords-cards/3', got 3"),
        (changed(format="factcheck-keywords-cards/2"), "got 'factcheck-keywords-cards/2'"),
        (changed(settings={"threshold": 3}), "threshold must be"),
        (changed(digests={"a": None, "b": "x"}), "'digests': 'a': expected a string"),
        (changed(cases=[]), "no cases, or not those of its digests"),
        (with_case(extra=[1]), "case 'a': card counts do not add up; damaged run"),
        (with_case(matches=[{}]), "'matches', item 1: 'expected' is missing"),
    ],
)
def test_what_is_no_run_is_refused(data: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        DatasetResult.from_dict(data)


BEFORE = card_run(case("a", 1, 2, 2), case("b", 2, 2, 2), case("c", 1, 1, 1), case("d", 1, 4, 1))
AFTER = card_run(case("c", 1, 1, 1), case("a", 2, 2, 2), case("b", 1, 2, 2), case("d", 4, 4, 4))


def test_cases_are_paired_by_id_and_sorted_by_what_changed() -> None:
    found = compare_runs(BEFORE, AFTER)
    data = json.loads(found.to_json())
    assert data["changes"]["better"][0] == {"name": "d", "a": 0.4, "b": 1.0}
    assert (found.kind, found.n_cases) == ("cards", 4)
    assert found.changes.better == (("d", 0.4, 1.0), ("a", 0.5, 1.0))
    assert found.changes.worse == (("b", 1.0, 0.5),)
    assert found.changes.unchanged == (("c", 1.0, 1.0),)
    row = found.to_rows()[0]
    assert [row[name] for name in ("case", "change", "a", "b")] == ["b", "worse", 1.0, 0.5]


def test_errored_cases_and_those_of_one_run_only_are_left_out() -> None:
    bad = Failure("bad", "input", "")
    a = card_run(case("a", 1, 1, 1), Failure("b", "input", ""), case("only", 1, 1, 1), bad)
    b = card_run(case("a", 1, 1, 1), case("b", 1, 1, 1), case("other", 1, 1, 1), bad)
    found = compare_runs(a, b)
    assert found.n_cases == 1
    assert (found.only_a, found.only_b) == (("only",), ("b", "other"))
    assert found.unscored == ("bad",)
    assert "Only B has a score 2   left out\nb\nother" in str(found)
    assert found.mean.interval == (-1.0, 1.0)


def test_behaviors_are_compared_by_the_cases_that_pass() -> None:
    a = behavior_run({"p": True, "q": False, "r": False, "s": True, "t": None})
    b = behavior_run({"p": True, "q": True, "r": True, "s": False, "t": True})
    found = compare_runs(a, b)
    assert found.kind == "behaviors"
    assert found.changes.better == (("q", 0.0, 1.0), ("r", 0.0, 1.0))
    assert found.changes.worse == (("s", 1.0, 0.0),)
    assert found.only_b == ("t",)
    assert (found.mean.a, found.mean.b) == (0.5, 0.75)


@pytest.mark.parametrize(
    ("n_better", "n_worse", "worse"), [(6, 0, ""), (0, 6, "F1 -0.857, p 0.031"), (0, 5, "")]
)
def test_being_worse_needs_more_than_chance(n_better: int, n_worse: int, worse: str) -> None:
    changes = [(0, 1)] * n_better + [(1, 0)] * n_worse + [(1, 1)]
    a = card_run(*(case(str(k), before, 1, 1) for k, (before, _) in enumerate(changes)))
    b = card_run(*(case(str(k), after, 1, 1) for k, (_, after) in enumerate(changes)))
    assert compare_runs(a, b).worse == worse


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


def section_of(page: Page, title: str) -> Section:
    """The section whose title begins like this."""
    return next(section for section in page.sections if section.title.startswith(title))


def test_the_worst_cases_come_first_and_the_rest_is_counted() -> None:
    cases = [case(f"right {k}", 1, 1, 1) for k in range(60)]
    found = section_of(card_run(*cases, case("bad", 0, 1, 0)).page(), "Cases")
    assert found.title == "Cases 61"
    assert found.table is not None
    assert found.table.rows[0] == ("bad", "1", "0", "0", "0.000", "0.000", "0.000", "–")
    assert found.more == "and 21 more cases"


def test_a_missed_card_is_shown_with_the_nearest_one() -> None:
    """What it lacks, and what it says."""
    expected = ExpectedCard({"front": ("cell",), "back": ("unit", "atom")}, "qa")
    dataset = CardDataset((CardCase("c", "", (expected,)),))
    outputs = {"c": [{"front": "A cell?", "back": "", "card_type": "cloze"}]}
    run = evaluate_dataset(dataset, outputs, threshold=0.5)

    (item,) = section_of(run.page(outputs=outputs), "Missed").items

    assert item == Item(
        "c",
        "expected card 1   lacks back: unit, atom",
        (
            "nearest: card 1, score 0.400, below the threshold of 0.5",
            "front: “A cell?”; back: “”; card_type: “cloze”",
        ),
    )


@pytest.mark.parametrize(
    ("cards", "note"),
    [
        ([], "nothing was generated"),
        ([{"front": "A cell?", "back": "An atom"}], "no generated card scores above 0"),
    ],
)
def test_a_missed_card_without_a_nearest_one_says_why(
    cards: list[dict[str, str]], note: str
) -> None:
    expected = ExpectedCard({"front": ("cell",), "back": ("unit", Not("atom"))})
    run = evaluate_dataset(CardDataset((CardCase("c", "", (expected,)),)), {"c": cards})
    (item,) = section_of(run.page(), "Missed").items
    assert item.notes == (note,)


def test_without_texts_cards_have_numbers_and_examples_are_limited() -> None:
    """A run that was read back has no texts."""
    page = card_run(case("a", 0, 15, 14)).page()
    missed, extra = section_of(page, "Missed"), section_of(page, "Extra")
    assert [item.text for item in missed.items[:2]] == ["expected card 1", "expected card 2"]
    assert missed.more == "and 5 more missed cards"
    assert extra.items[:2] == (Item("a", "card 1"), Item("a", "card 2"))
    assert extra.more == "and 4 more extra cards"
