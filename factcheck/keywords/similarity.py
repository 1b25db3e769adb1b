"""Similarity of a generated card to an expected one: share of keywords, weighted over the fields.

A field scores the share of its keywords that occur. Forbidden keywords are not part of that share:
if one occurs, the field scores 0, and so does the card; a field with nothing but forbidden keywords
scores 1 if none occurs. A field with an empty list scores 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from factcheck.documents import PlainData, shown
from factcheck.errors import InputError
from factcheck.keywords.cards import ExpectedCard, as_expected, field_texts, types_of
from factcheck.keywords.forms import Keyword, Not, as_keywords, occurs

THRESHOLD = 0.3
"""Minimum score of a pair."""
TYPE_WEIGHT = 0.2
"""Share of the score that the right type makes, where one is expected."""
Assignment = Literal["greedy", "optimal"]
ASSIGNMENTS: tuple[Assignment, ...] = get_args(Assignment)


def keyword_similarity(keywords: Iterable[Any], text: str) -> float:
    """The share of keywords that occur in a text, in [0, 1]; 0 if there are none.

    Args:
        keywords: Strings or forms, in the notation of `factcheck.keywords.forms`.
        text: Where to search.

    Raises:
        InputError: An invalid keyword, or the text is not a string.
    """
    if not isinstance(text, str):
        raise InputError(f"keywords are searched in a string, got {shown(text)}")
    words = as_keywords(keywords, "keywords")
    return share_found(words, found_in(words, text))


def found_in(keywords: Iterable[Keyword], text: str) -> set[Keyword]:
    """The keywords that occur in a text; of `Not`, those whose forbidden keyword does."""
    return {word for word in keywords if occurs(word, text)}


def share_found(keywords: Sequence[Keyword], found: set[Keyword]) -> float:
    """The similarity, given which of the keywords occur."""
    forbidden = [word for word in keywords if type(word) is Not]
    if not keywords or not found.isdisjoint(forbidden):
        return 0.0
    n_required = len(keywords) - len(forbidden)
    return sum(map(found.__contains__, keywords)) / n_required if n_required else 1.0


@dataclass(frozen=True, slots=True)
class MatchSettings(PlainData):
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
            value = getattr(self, name)
            if not _is_number(value) or not 0 <= value <= 1:
                raise InputError(f"{name} must be a number from 0 to 1, got {value!r}")
        if not isinstance(self.weights, Mapping):
            raise InputError(f"weights must map fields to numbers, got {shown(self.weights)}")
        for name, weight in self.weights.items():
            if not _is_number(weight) or weight < 0:
                raise InputError(f"the weight of {name!r} must be a number >= 0, got {weight!r}")
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
    wanted = as_expected(expected)
    weights, bonus = (settings or MatchSettings()).weights_of(wanted)
    total = 0.0
    for name, words in wanted.keywords.items():
        [text] = field_texts([card], name)
        found = found_in(words, text)
        if any(isinstance(word, Not) for word in found):
            return 0.0
        total += share_found(words, found) * weights[name]
    if bonus:
        [kind] = types_of([card])
        total += bonus * (kind == wanted.card_type)
    return min(1.0, total)


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) < math.inf
