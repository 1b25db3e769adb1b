"""Matching of generated cards with expected ones, by the share of keywords that occur in them.

A field scores the share of its keywords that occur. Forbidden keywords are not part of that share:
if one occurs, the field scores 0, and so does the card; a field with nothing but forbidden keywords
scores 1 if none occurs. A field with an empty list scores 0.

Greedy matching takes the expected cards in order, so an early card may take the only one that fits
a later card: the order of the expected cards matters. The optimal assignment finds the pairs with
the highest total score, whatever the order.
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
"""For each expected card the scores above 0, by the number of the generated card, in order."""
Partners = Mapping[int, int]
"""For each matched expected card the generated one."""


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """How cards are scored and matched; stored with the results of a run."""

    threshold: float = THRESHOLD
    """Minimum score of a pair, in [0, 1]."""
    weights: Mapping[str, float] = field(default_factory=dict)
    """By field, in any unit: those of a card share what the type leaves. Empty: equal weights."""
    type_weight: float = TYPE_WEIGHT
    """Share of the score that the right type makes, where one is expected; in [0, 1]."""
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
        """The weights of the fields of a card and of its type (0 without one); they sum to 1.

        Raises:
            InputError: A field has no weight, or all of them weigh 0.
        """
        for name in card.keywords if self.weights else ():
            if name not in self.weights:
                known = ", ".join(map(repr, self.weights))
                raise InputError(f"the field {name!r} has no weight; weights are given for {known}")
        own = {name: float(self.weights[name]) if self.weights else 1.0 for name in card.keywords}
        total = math.fsum(own.values())
        if total <= 0:
            raise InputError(f"the fields {', '.join(own)} all weigh 0")
        bonus = 0.0 if card.card_type is None else float(self.type_weight)
        return {name: (1 - bonus) * (weight / total) for name, weight in own.items()}, bonus


def keyword_similarity(keywords: Iterable[Any], text: str) -> float:
    """The share of keywords that occur in a text, in [0, 1]; 0 if there are none.

    Args:
        keywords: Strings or forms, in the notation of `factcheck.keywords.forms`.
        text: Where to search.

    Raises:
        InputError: An invalid or empty keyword, or the text is not a string.
    """
    if not isinstance(text, str):
        raise InputError(f"keywords are searched in a string, got {shown(text)}")
    words = as_keywords(keywords, "keywords")
    return share_found(words, found_in(words, text)) or 0.0


def score_pair(expected: Any, card: Any, settings: MatchSettings | None = None) -> float:
    """The score of one pair of cards, in [0, 1]; 0 if a forbidden keyword occurs.

    Args:
        expected: An `ExpectedCard`, or a mapping or object with `<field>_keywords`.
        card: A mapping, or an object with attributes; has a string in every expected field.
        settings: Weights of fields and type; default: equal fields, and 0.2 for the type where one
            is expected.

    Raises:
        InputError: One of them is invalid.
    """
    [wanted] = as_expected_cards([expected])
    weights = (settings or MatchSettings()).weights_of(wanted)
    return _score(wanted, weights, *_read([wanted], [card]))


def match_cards(
    expected: Iterable[Any],
    generated: Iterable[Any],
    threshold: float = THRESHOLD,
    *,
    weights: Mapping[str, float] | None = None,
    type_weight: float = TYPE_WEIGHT,
    assignment: Assignment = "greedy",
) -> CaseResult:
    """Match generated cards with expected ones, and list what is left over on both sides.

    Args:
        expected: `ExpectedCard`s, or mappings or objects with `<field>_keywords` and optionally
            `card_type`. Their order matters to greedy matching.
        generated: Mappings, or objects with attributes: dataclasses, pydantic models.
        threshold: Minimum score of a pair, in [0, 1]; a score of 0 never makes a pair.
        weights: Weight of each field, in any unit; default: equal weights.
        type_weight: Share of the score that the right type makes, where one is expected.
        assignment: `"greedy"`, or `"optimal"`: the highest total score, with a note where the two
            differ.

    Raises:
        InputError: An invalid card or setting.
    """
    settings = MatchSettings(threshold, weights or {}, type_weight, assignment)
    return match(as_expected_cards(expected), generated, settings)


def match(
    expected: Sequence[ExpectedCard], generated: Any, settings: MatchSettings, case_id: str = ""
) -> CaseResult:
    """Match the generated cards of a case; raises `InputError` for an invalid one."""
    weighted = [(one, settings.weights_of(one)) for one in expected]
    cards = _read(expected, as_cards(generated))
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
            _missed(i, own, expected[i], cards) for i, own in enumerate(scores) if i not in partners
        ),
        tuple(sorted({*range(len(cards))} - {*partners.values()})),
        note,
    )


class _Card(NamedTuple):
    """What the expected cards look for in a generated one."""

    found: Mapping[str, set[Keyword]]
    """By field, the keywords that occur."""
    kind: Any


def _read(expected: Sequence[ExpectedCard], cards: Sequence[Any]) -> list[_Card]:
    """The generated cards; each text is searched once for all keywords of its field."""
    words: dict[str, dict[Keyword, None]] = {}
    for wanted in expected:
        for name, own in wanted.keywords.items():
            words.setdefault(name, {}).update(dict.fromkeys(own))
    return [
        _Card(
            {name: found_in(own, field_text(card, name, n)) for name, own in words.items()},
            type_of(card),
        )
        for n, card in enumerate(cards, 1)
    ]


def _score(wanted: ExpectedCard, weights: tuple[Mapping[str, float], float], card: _Card) -> float:
    total, (of_fields, of_type) = 0.0, weights
    for name, words in wanted.keywords.items():
        share = share_found(words, card.found[name])
        if share is None:
            return 0.0
        total += share * of_fields[name]
    return min(1.0, total + of_type if card.kind == wanted.card_type else total)


def _match(i: int, j: int, score: float, expected: ExpectedCard, card: _Card) -> Match:
    return Match(
        i,
        j,
        score,
        {n: share_found(own, card.found[n]) or 0.0 for n, own in expected.keywords.items()},
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
    """Each expected card in turn takes the best card left, the first of equally good ones."""
    partners: dict[int, int] = {}
    taken: set[int] = set()
    for i, own in enumerate(scores):
        left = {j: score for j, score in own.items() if j not in taken and score >= threshold}
        if left:
            partners[i] = max(left, key=left.__getitem__)
            taken.add(partners[i])
    return partners


def optimal(scores: PairScores, n_generated: int, threshold: float) -> Partners:
    """The pairs with the highest total score, among those that reach the threshold."""
    gains = np.zeros((len(scores), n_generated))
    for i, own in enumerate(scores):
        for j, score in own.items():
            if score >= threshold:
                gains[i, j] = score
    return assign(gains)


def difference_note(scores: PairScores, by_greedy: Partners, by_optimum: Partners) -> str:
    """How the two assignments differ, in words; empty if they do not."""
    if by_greedy == by_optimum:
        return ""
    of_greedy = math.fsum(scores[i][j] for i, j in by_greedy.items())
    of_optimum = math.fsum(scores[i][j] for i, j in by_optimum.items())
    if math.isclose(of_greedy, of_optimum) and len(by_greedy) == len(by_optimum):
        return "greedy matching makes other pairs, equally good"
    return (
        f"greedy matching has a total score of {of_greedy:.3f} (pairs: {len(by_greedy)}), "
        f"the optimum {of_optimum:.3f} (pairs: {len(by_optimum)})"
    )
