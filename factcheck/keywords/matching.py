"""Matching of generated cards with expected ones, by the fraction of keywords they contain.

A field scores the fraction of its keywords that occur, without forbidden ones. If a forbidden one
occurs, the field and the card score 0. A field with forbidden keywords only scores 1 if none
occurs, and one with an empty list scores 0.

Greedy matching processes the expected cards in order, so an early card may take the only match of a
later one. The optimal assignment maximises the total score, independent of the order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from factcheck.documents import shown
from factcheck.errors import InputError
from factcheck.keywords.cards import (
    ExpectedCard,
    as_cards,
    as_expected_cards,
    field_text,
    type_of,
)
from factcheck.keywords.forms import (
    Keyword,
    as_keywords,
    found_in,
    share_found,
    unmet_keywords,
)
from factcheck.keywords.results import CaseResult, Match, Missed
from factcheck.settings import require_number
from factcheck.stats.intervals import assign

THRESHOLD = 0.3
TYPE_WEIGHT = 0.2
Assignment = Literal["greedy", "optimal"]
ASSIGNMENTS: tuple[Assignment, ...] = get_args(Assignment)
PairScores = Sequence[Mapping[int, float]]
"""Positive scores of each expected card, by index of the generated card, in order."""
Partners = Mapping[int, int]
"""Indices of matched cards: expected to generated."""


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """Settings of scoring and matching; stored with the results of a run."""

    threshold: float = THRESHOLD
    """Minimum score of a pair, in [0, 1]."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """Relative weights by field, scaled to what the type leaves; empty for equal weights."""
    type_weight: float = TYPE_WEIGHT
    """Weight of the correct type in the score of a card with an expected type; in [0, 1]."""
    assignment: Assignment = "greedy"

    def __post_init__(self) -> None:
        for name in ("threshold", "type_weight"):
            require_number(name, getattr(self, name), 0, high=1)
        if not isinstance(self.weights, Mapping):
            raise InputError(f"weights must map fields to numbers, got {shown(self.weights)}")
        for name, weight in self.weights.items():
            require_number(f"the weight of {name!r}", weight, 0)
        if self.assignment not in ASSIGNMENTS:
            raise InputError(
                f"assignment must be one of {', '.join(ASSIGNMENTS)}, got {self.assignment!r}"
            )

    def weights_of(self, card: ExpectedCard) -> tuple[dict[str, float], float]:
        """Return the weights of the fields of a card and of its type (0 without one); sum is 1.

        Raises:
            InputError: A field has no weight, or all weights are 0.
        """
        for name in card.keywords if self.weights else ():
            if name not in self.weights:
                known = ", ".join(map(repr, self.weights))
                raise InputError(f"the field {name!r} has no weight; weights are given for {known}")
        raw = {name: float(self.weights[name]) if self.weights else 1.0 for name in card.keywords}
        total = math.fsum(raw.values())
        if total <= 0:
            raise InputError(f"the fields {', '.join(raw)} all weigh 0")
        bonus = 0.0 if card.card_type is None else float(self.type_weight)
        return {name: (1 - bonus) * (weight / total) for name, weight in raw.items()}, bonus


def keyword_similarity(keywords: Iterable[Any], text: str) -> float:
    """Return the fraction of keywords that occur in a text, in [0, 1]; 0 without keywords.

    Args:
        keywords: Strings or forms, in the notation of `factcheck.keywords.forms`.
        text: The text to search.

    Raises:
        InputError: A keyword is invalid or empty, or the text is not a string.
    """
    if not isinstance(text, str):
        raise InputError(f"keywords are searched in a string, got {shown(text)}")
    words = as_keywords(keywords, "keywords")
    return share_found(words, found_in(words, text)) or 0.0


def score_pair(expected: Any, card: Any, settings: MatchSettings | None = None) -> float:
    """Score one pair of cards, in [0, 1]; 0 if a forbidden keyword occurs.

    Args:
        expected: An `ExpectedCard`, or a mapping or object with `<field>_keywords`.
        card: A mapping or object with a string in every expected field.
        settings: Weights of fields and type; by default, fields have equal weights, and the type,
            if one is expected, 0.2.

    Raises:
        InputError: A card is invalid.
    """
    [expected_card] = as_expected_cards([expected])
    weights = (settings or MatchSettings()).weights_of(expected_card)
    return _score(expected_card, weights, *_search([expected_card], [card]))


def match_cards(
    expected: Iterable[Any],
    generated: Iterable[Any],
    threshold: float = THRESHOLD,
    *,
    weights: Mapping[str, float] | None = None,
    type_weight: float = TYPE_WEIGHT,
    assignment: Assignment = "greedy",
) -> CaseResult:
    """Match generated cards with expected ones, and list the unmatched ones of both.

    Args:
        expected: `ExpectedCard`s, or mappings or objects with `<field>_keywords` and optionally
            `card_type`. Their order affects greedy matching.
        generated: Mappings, or objects with attributes such as dataclasses or pydantic models.
        threshold: Minimum score of a pair, in [0, 1]; pairs with a score of 0 never match.
        weights: Relative weight of each field; equal by default.
        type_weight: Weight of the correct type in the score of a card with an expected type.
        assignment: `"greedy"`, or `"optimal"` for the maximum total score, with a note if the two
            differ.

    Raises:
        InputError: A card or setting is invalid.
    """
    settings = MatchSettings(threshold, weights or {}, type_weight, assignment)
    return match(as_expected_cards(expected), generated, settings)


def match(
    expected: Sequence[ExpectedCard], generated: Any, settings: MatchSettings, case_id: str = ""
) -> CaseResult:
    """Match the generated cards of a case; raises `InputError` for an invalid one."""
    weighted = [(one, settings.weights_of(one)) for one in expected]
    cards = _search(expected, as_cards(generated))
    scores = [
        {j: score for j, card in enumerate(cards) if (score := _score(*one, card)) > 0.0}
        for one in weighted
    ]
    partners, note = greedy(scores, settings.threshold), ""
    if settings.assignment == "optimal":
        by_greedy, partners = partners, optimal(scores, len(cards), settings.threshold)
        note = difference_note(scores, by_greedy, partners)
    return CaseResult(
        case_id,
        len(expected),
        len(cards),
        tuple(_match(i, j, scores[i][j], expected[i], cards[j]) for i, j in partners.items()),
        tuple(
            _missed(i, row, expected[i], cards) for i, row in enumerate(scores) if i not in partners
        ),
        tuple(sorted({*range(len(cards))} - {*partners.values()})),
        note,
    )


class _Card(NamedTuple):
    """Properties of a generated card that the expected ones depend on."""

    found: Mapping[str, set[Keyword]]
    """Keywords that occur, by field."""
    kind: Any


def _search(expected: Sequence[ExpectedCard], cards: Sequence[Any]) -> list[_Card]:
    """Search each text of the generated cards once for all keywords of its field."""
    by_field: dict[str, dict[Keyword, None]] = {}
    for one in expected:
        for name, words in one.keywords.items():
            by_field.setdefault(name, {}).update(dict.fromkeys(words))
    return [
        _Card(
            {name: found_in(words, field_text(card, name, n)) for name, words in by_field.items()},
            type_of(card),
        )
        for n, card in enumerate(cards, 1)
    ]


def _score(
    expected: ExpectedCard, weights: tuple[Mapping[str, float], float], card: _Card
) -> float:
    total, (field_weights, type_weight) = 0.0, weights
    for name, words in expected.keywords.items():
        share = share_found(words, card.found[name])
        if share is None:
            return 0.0
        total += share * field_weights[name]
    return min(1.0, total + type_weight if card.kind == expected.card_type else total)


def _match(i: int, j: int, score: float, expected: ExpectedCard, card: _Card) -> Match:
    return Match(
        i,
        j,
        score,
        {n: share_found(words, card.found[n]) or 0.0 for n, words in expected.keywords.items()},
        None if expected.card_type is None else card.kind == expected.card_type,
        _unmet(expected, card.found),
    )


def _missed(
    number: int, scores: Mapping[int, float], expected: ExpectedCard, cards: Sequence[_Card]
) -> Missed:
    nearest = max(scores, key=scores.__getitem__, default=None)
    if nearest is None:
        return Missed(number, None, 0.0, _unmet(expected, {}))
    return Missed(number, nearest, scores[nearest], _unmet(expected, cards[nearest].found))


def _unmet(expected: ExpectedCard, found: Mapping[str, set[Keyword]]) -> dict[str, tuple[str, ...]]:
    unmet = {
        name: tuple(map(str, unmet_keywords(words, found.get(name, set()))))
        for name, words in expected.keywords.items()
    }
    return {name: words for name, words in unmet.items() if words}


def greedy(scores: PairScores, threshold: float) -> Partners:
    """Match each expected card in turn with the best card left, the first of equals."""
    partners: dict[int, int] = {}
    taken: set[int] = set()
    for i, row in enumerate(scores):
        left = {j: score for j, score in row.items() if j not in taken and score >= threshold}
        if left:
            partners[i] = max(left, key=left.__getitem__)
            taken.add(partners[i])
    return partners


def optimal(scores: PairScores, n_generated: int, threshold: float) -> Partners:
    """Find the pairs with the maximum total score among those that reach the threshold."""
    gains = np.zeros((len(scores), n_generated))
    for i, row in enumerate(scores):
        for j, score in row.items():
            if score >= threshold:
                gains[i, j] = score
    return assign(gains)


def difference_note(scores: PairScores, by_greedy: Partners, by_optimum: Partners) -> str:
    """Describe the difference of the two assignments; empty if there is none."""
    if by_greedy == by_optimum:
        return ""
    of_greedy = math.fsum(scores[i][j] for i, j in by_greedy.items())
    of_optimum = math.fsum(scores[i][j] for i, j in by_optimum.items())
    return (
        f"greedy matching has a total score of {of_greedy:.3f} (pairs: {len(by_greedy)}), "
        f"the optimum {of_optimum:.3f} (pairs: {len(by_optimum)})"
    )
