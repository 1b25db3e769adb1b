"""Greedy and optimal pairs of expected and generated cards."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.keywords import CaseResult, match_cards
from factcheck.keywords.matching import ASSIGNMENTS, difference_note
from factcheck.keywords.results import Match, Missed
from tests.keywords.naive import (
    Card,
    Wanted,
    cards,
    expected_card,
    greedy_pairs,
    thresholds,
    wanted_cards,
)

WANTED = st.lists(wanted_cards, max_size=5)
CARDS = st.lists(cards, max_size=6)


def pairs(result: CaseResult) -> list[tuple[int, int, float]]:
    return [(match.expected, match.generated, match.score) for match in result.matches]


def total(result: CaseResult) -> float:
    return math.fsum(match.score for match in result.matches)


@given(WANTED, CARDS, thresholds)
def test_greedy_pairs_and_scores_are_those_of_the_plain_rule(
    wanted: list[Wanted], generated: list[Card], threshold: float
) -> None:
    """Empty lists of keywords, empty texts, ties and thresholds below the type's weight too."""
    expected = greedy_pairs(wanted, generated, threshold)
    assert pairs(match_cards(wanted, generated, threshold)) == expected


@given(WANTED, CARDS, thresholds)
def test_greedy_never_beats_optimal(
    wanted: list[Wanted], generated: list[Card], threshold: float
) -> None:
    by_greed = match_cards(wanted, generated, threshold)
    optimal = match_cards(wanted, generated, threshold, assignment="optimal")
    assert total(by_greed) <= total(optimal) + 1e-9
    assert all(match.score >= threshold and match.score > 0.0 for match in optimal.matches)
    assert bool(optimal.note) == (pairs(optimal) != pairs(by_greed))


@given(WANTED, CARDS, st.randoms(use_true_random=False))
def test_the_optimal_total_does_not_depend_on_any_order(
    wanted: list[Wanted], generated: list[Card], chance: random.Random
) -> None:
    one = match_cards(wanted, generated, assignment="optimal")
    other = match_cards(
        chance.sample(wanted, len(wanted)),
        chance.sample(generated, len(generated)),
        assignment="optimal",
    )
    assert total(one) == pytest.approx(total(other))


PICKY = {"text_keywords": ["cell", "wall"]}
EASY = {"text_keywords": ["cell"]}
ONE_FITS_BOTH = [{"text": "the cell wall"}, {"text": "a cell"}]


def test_greedy_matching_depends_on_the_order_and_the_optimum_says_so() -> None:
    """Whoever comes first takes the card that the other one needs."""
    easy_first = match_cards([EASY, PICKY], ONE_FITS_BOTH, 0.6)
    picky_first = match_cards([PICKY, EASY], ONE_FITS_BOTH, 0.6)
    optimum = match_cards([EASY, PICKY], ONE_FITS_BOTH, 0.6, assignment="optimal")
    assert pairs(easy_first) == [(0, 0, 1.0)]
    assert pairs(picky_first) == [(0, 0, 1.0), (1, 1, 1.0)]
    assert pairs(optimum) == [(0, 1, 1.0), (1, 0, 1.0)]
    assert optimum.note == (
        "greedy matching has a total score of 1.000 (pairs: 1), the optimum 2.000 (pairs: 2)"
    )


def test_other_pairs_that_are_as_good_are_called_so() -> None:
    alike = [{0: 0.5, 1: 0.5}, {0: 0.5, 1: 0.5}]
    note = difference_note(alike, {0: 0, 1: 1}, {0: 1, 1: 0})
    assert note == "greedy matching makes other pairs, equally good"


def test_a_score_of_0_never_makes_a_pair() -> None:
    for assignment in ASSIGNMENTS:
        result = match_cards([EASY], [{"text": "x"}], 0.0, assignment=assignment)

        assert result.matches == ()
        assert result.missed == (Missed(0, None, 0.0, {"text": ("cell",)}),)


def test_what_was_found_and_what_not_is_told() -> None:
    wanted = [
        expected_card("qa", front=["cell", "wall"], back=["small"]),
        expected_card(front=["plant"], back=["green", {"not": "animal"}]),
        expected_card(front=["plant"], back=["green", "leaf"]),
    ]
    generated = [
        Card("extra", "", "qa"),
        Card("a cell", "small", "cloze"),
        Card("plant", "green animal", "qa"),
    ]
    result = match_cards(wanted, generated)

    assert result.matches == (
        Match(0, 1, 0.4 * 0.5 + 0.4, {"front": 0.5, "back": 1.0}, False, {"front": ("wall",)}),
        Match(2, 2, 0.75, {"front": 1.0, "back": 0.5}, None, {"back": ("leaf",)}),
    )
    assert [missed.expected for missed in result.missed] == [1]
    assert result.extra == (0,)


def test_fields_that_a_card_does_not_name_are_not_judged() -> None:
    result = match_cards(
        [{"front_keywords": ["a"]}, {"title_keywords": ["t"], "body_keywords": ["b"]}],
        [{"front": "a", "title": "t", "body": ""}, {"front": "", "title": "t", "body": "b"}],
    )
    assert pairs(result) == [(0, 0, 1.0), (1, 1, 1.0)]
