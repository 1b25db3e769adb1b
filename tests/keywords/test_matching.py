"""The share of keywords in a field, and the pairs of expected and generated cards."""

from __future__ import annotations

import math
import random
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from factcheck.errors import InputError
from factcheck.keywords import (
    CaseResult,
    ExpectedCard,
    MatchSettings,
    keyword_similarity,
    match_cards,
    score_pair,
)
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


def test_half_the_front_all_of_the_back_and_the_right_type() -> None:
    """The worked example of the seed, number for number."""
    wanted = expected_card(front=["cell", "unit"], back=["life", "small"], card_type="qa")
    assert score_pair(wanted, Card("What is a cell?", "small life", "qa")) == 0.4 * 0.5 + 0.4 + 0.2
    assert score_pair(wanted, Card("What is a cell?", "small life", "cloze")) == 0.4 * 0.5 + 0.4
    untyped = ExpectedCard(wanted.keywords)
    assert score_pair(untyped, Card("What is a cell?", "small life", "qa")) == 0.5 * 0.5 + 0.5
    assert score_pair(expected_card(front=["a"], back=[]), Card("a", "b")) == 0.5


@pytest.mark.parametrize(
    ("keywords", "text", "expected"),
    [
        (["a", "b", {"not": "x"}], "a b", 1.0),
        (["a", "b", {"not": "x"}], "a b x", 0.0),
        ([{"not": "x"}, {"not": "y"}], "nothing", 1.0),
        (["a", "a", "b"], "a", 2 / 3),
        ([], "anything", 0.0),
        (["a", {"fold": "b"}], "", 0.0),
    ],
)
def test_forbidden_keywords_set_the_score_to_0_and_add_nothing(
    keywords: list[Any], text: str, expected: float
) -> None:
    assert keyword_similarity(keywords, text) == expected


@given(st.lists(st.floats(0.01, 100.0), min_size=1, max_size=6), st.floats(0.0, 1.0), st.booleans())
@example([1.0, 4.0], 0.1, True)
def test_whatever_the_weights_a_card_that_is_all_right_scores_1_and_no_more(
    numbers: list[float],
    type_weight: float,
    has_type: bool,  # noqa: FBT001
) -> None:
    weights = {f"f{k}": number for k, number in enumerate(numbers)}
    card = dict.fromkeys(weights, "x") | {"card_type": "qa"}
    wanted = ExpectedCard(dict.fromkeys(weights, ("x",)), "qa" if has_type else None)
    settings = MatchSettings(weights=weights, type_weight=type_weight)
    score = score_pair(wanted, card, settings)
    [match] = match_cards([wanted], [card], weights=weights, type_weight=type_weight).matches
    assert 1.0 - 1e-12 <= score <= 1.0
    assert match.score == score


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        *(
            ({"weights": {"front": w}}, f"the weight of 'front' must be .* at least 0, not {w!r}")
            for w in (-1, math.nan, True, "1")
        ),
        ({"weights": [1, 2]}, "map fields to numbers"),
        *(
            ({name: value}, f"{name} must be .* at least 0 and at most 1, not {value!r}")
            for name, value in (("type_weight", 1.5), ("threshold", -0.1), ("threshold", None))
        ),
        ({"assignment": "best"}, "assignment must be one of greedy, optimal, got 'best'"),
    ],
)
def test_invalid_settings_are_refused(settings: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        match_cards([Wanted(["a"], ["b"])], [], **settings)


def test_weights_that_do_not_fit_a_card_are_refused() -> None:
    card = expected_card(front=["a"], back=["b"])
    with pytest.raises(InputError, match="'back' has no weight; weights are given for 'front'"):
        score_pair(card, {}, MatchSettings(weights={"front": 1}))
    with pytest.raises(InputError, match="all weigh 0"):
        score_pair(card, {}, MatchSettings(weights={"front": 0, "back": 0, "side": 1}))


def test_keywords_are_looked_for_in_texts_only() -> None:
    with pytest.raises(InputError, match="keywords are searched in a string, got null"):
        keyword_similarity(["a"], None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="the empty string occurs in every text"):
        keyword_similarity(["cell", ""], "x")
