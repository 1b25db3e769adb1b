"""Recall, precision, F1 and average similarity, with nothing to divide by as well."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import fmean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.keywords import CaseResult, Scores
from factcheck.keywords.matching import Counts
from tests.keywords.runs import card_run, case


@st.composite
def sums(draw: st.DrawFn) -> Counts:
    """The sums of a case."""
    matched = draw(st.integers(0, 5))
    expected = draw(st.integers(matched, 8))
    generated = draw(st.integers(matched, 8))
    scores = draw(st.lists(st.floats(0.01, 1.0), min_size=matched, max_size=matched).map(math.fsum))
    return Counts(matched, expected, generated, scores)


@pytest.mark.parametrize(
    ("given_sums", "expected"),
    [
        (Counts(2, 3, 4, 1.5), Scores(2 / 3, 2 / 4, 4 / 7, 0.75)),
        (Counts(0, 0, 0), Scores(1.0, 1.0, 1.0, None)),
        (Counts(0, 3, 0), Scores(0.0, 0.0, 0.0, None)),
        (Counts(0, 0, 3), Scores(0.0, 0.0, 0.0, None)),
        (Counts(0, 3, 3), Scores(0.0, 0.0, 0.0, None)),
    ],
    ids=["the seed", "nothing at all", "nothing generated", "nothing expected", "nothing matched"],
)
def test_a_share_of_nothing_is_1_only_if_there_is_nothing(
    given_sums: Counts, expected: Scores
) -> None:
    assert given_sums.scores() == expected


@given(sums())
def test_f1_lies_between_its_two_parts_and_is_their_harmonic_mean(counts: Counts) -> None:
    recall, precision, f1, similarity = counts.scores()

    assert 0.0 <= min(recall, precision) <= f1 <= max(recall, precision) <= 1.0
    if recall + precision:
        assert f1 == pytest.approx(2 * recall * precision / (recall + precision))
    assert similarity is None or 0.0 < similarity <= 1.0 + 1e-12


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
    counts = [one.counts for one in cases]
    sums = (sum(column) for column in zip(*counts, strict=True))
    run = card_run(*cases)

    assert run.macro == tuple(map(average, zip(*(one.scores() for one in counts), strict=True)))
    assert run.micro == Counts(*sums).scores()


def test_intervals_hold_the_macro_scores_and_say_nothing_of_one_case() -> None:
    run = card_run(*(case(f"{one.case_id}{k}", *one.counts[:3]) for one in CASES for k in range(5)))
    intervals = run.intervals()

    assert run.macro is not None
    for name, score in run.macro._asdict().items():
        low, high = intervals[name] or (1.0, 0.0)
        assert low <= score <= high
    assert intervals == run.intervals()
    assert set(card_run(CASES[0]).intervals().values()) == {None}
    assert card_run(*CASES[1:3]).intervals()["average_similarity"] is None
