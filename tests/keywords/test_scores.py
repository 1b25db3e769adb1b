"""Recall, precision, F1 and average similarity, with nothing to divide by as well."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.keywords import CaseResult
from factcheck.keywords.results import Scores
from tests.keywords.runs import card_run, case


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [
        ((2, 3, 4), Scores(2 / 3, 2 / 4, 4 / 7, 0.5)),
        ((0, 0, 0), Scores(1.0, 1.0, 1.0, None)),
        ((0, 3, 0), Scores(0.0, 0.0, 0.0, None)),
        ((0, 0, 3), Scores(0.0, 0.0, 0.0, None)),
        ((0, 3, 3), Scores(0.0, 0.0, 0.0, None)),
    ],
    ids=["the seed", "nothing at all", "nothing generated", "nothing expected", "nothing matched"],
)
def test_a_share_of_nothing_is_1_only_if_there_is_nothing(
    sizes: tuple[int, int, int], expected: Scores
) -> None:
    assert case("a", *sizes).scores == expected


@given(st.integers(0, 5), st.integers(0, 3), st.integers(0, 3))
def test_f1_lies_between_its_two_parts_and_is_their_harmonic_mean(
    matched: int, missed: int, extra: int
) -> None:
    recall, precision, f1, _ = case("a", matched, matched + missed, matched + extra).scores

    assert 0.0 <= min(recall, precision) <= f1 <= max(recall, precision) <= 1.0
    if recall + precision:
        assert f1 == pytest.approx(2 * recall * precision / (recall + precision))


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


def test_intervals_hold_the_macro_scores_and_say_nothing_of_one_case() -> None:
    run = card_run(
        *(
            case(f"{one.case_id}{k}", len(one.matches), one.n_expected, one.n_generated)
            for one in CASES
            for k in range(5)
        )
    )
    intervals = run.intervals()

    assert run.macro is not None
    for name, score in run.macro._asdict().items():
        low, high = intervals[name] or (1.0, 0.0)
        assert low <= score <= high
    assert intervals == run.intervals()
    assert set(card_run(CASES[0]).intervals().values()) == {None}
    assert card_run(*CASES[1:3]).intervals()["average_similarity"] is None
