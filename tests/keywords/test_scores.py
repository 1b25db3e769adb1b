"""Recall, precision, F1 and average similarity, with nothing to divide by as well."""

from __future__ import annotations

import math
from statistics import fmean
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.errors import InputError
from factcheck.keywords import CaseResult, Scores
from factcheck.keywords.card_runs import CARD_MEASURES, card_measures
from factcheck.keywords.results import Counts
from factcheck.stats.intervals import wilson
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
    for share, interval in zip((recall, precision, f1), counts.intervals().values(), strict=True):
        assert 0.0 <= interval.low <= share <= interval.high <= 1.0


def test_intervals_are_those_of_wilson() -> None:
    intervals = Counts(2, 3, 5).intervals()

    assert intervals["recall"] == wilson(2 / 3, 3)
    assert intervals["precision"] == wilson(2 / 5, 5)
    assert intervals["f1"] == wilson(2 / 4, 4)
    assert Counts(0, 0, 0).intervals()["recall"] == (0.0, 1.0)


CASES = [case("a", 2, 3, 4), case("b", 0, 2, 0), case("c", 0, 0, 0), case("d", 1, 1, 5)]


def by_hand(cases: list[CaseResult]) -> dict[str, float | None]:
    counts = [one.counts for one in cases]
    columns = zip(*(one.scores() for one in counts), strict=True)
    known = [[value for value in column if value is not None] for column in columns]
    means = [fmean(column) if column else None for column in known]
    together = Counts(*(sum(column) for column in zip(*counts, strict=True))).scores()
    return dict(zip(CARD_MEASURES, (*means, *together), strict=True))


@pytest.mark.parametrize(
    "cases",
    [CASES, CASES[1:3], [case("x", 0, 0, 3), case("y", 0, 0, 1)]],
    ids=["usual", "no match", "nothing expected"],
)
def test_the_measures_of_all_cases_are_the_scores_of_the_run(cases: list[CaseResult]) -> None:
    measures = card_measures(cases)
    found = dict(zip(measures.names, measures.of_all(), strict=True))

    expected = {n: math.nan if v is None else v for n, v in by_hand(cases).items()}
    assert list(found) == list(CARD_MEASURES)
    assert found == pytest.approx(expected, nan_ok=True)
    run = card_run(*cases)
    assert run.macro is not None
    assert run.micro is not None
    averages = [*run.macro, *run.micro]
    assert [math.nan if value is None else value for value in averages] == pytest.approx(
        list(expected.values()), nan_ok=True
    )


def test_the_interval_holds_the_middle_of_the_scores_of_resamples() -> None:
    n = len(CASES)
    draws = np.random.default_rng(7).integers(0, n, (400, n), np.int32)
    scores = [by_hand([CASES[number] for number in row])["macro_f1"] for row in draws]
    low, high = np.quantile(np.array(scores, dtype=float), (0.025, 0.975))

    assert card_run(*CASES).intervals(400, 7)["macro_f1"] == pytest.approx((low, high))


def test_intervals_repeat_themselves_and_say_nothing_of_one_case() -> None:
    run = card_run(*(case(f"{one.case_id}{k}", *one.counts[:3]) for one in CASES for k in range(5)))

    assert run.intervals(300, 1) == run.intervals(300, 1) != run.intervals(300, 2)
    assert set(card_run(CASES[0]).intervals(10).values()) == {(0.0, 1.0)}
    assert card_run(*CASES[1:3]).intervals(50)["micro_average_similarity"] == (0.0, 1.0)
    wrong: Any
    for wrong in ({"n_resamples": 0}, {"seed": -1}):
        with pytest.raises(InputError, match="must be"):
            run.intervals(**wrong)
