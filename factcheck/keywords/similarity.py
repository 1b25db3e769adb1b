"""Similarity of a generated card to an expected one: share of keywords, weighted over the fields.

A field scores the share of its keywords that occur. Forbidden keywords are not part of that share:
if one occurs, the field scores 0, and so does the card; a field with nothing but forbidden keywords
scores 1 if none occurs. A field with an empty list scores 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

from factcheck.errors import InputError
from factcheck.keywords.cards import as_expected, field_texts, types_of
from factcheck.keywords.forms import Keyword, Not, SearchedText, as_keywords, described, occurs

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
        raise InputError(f"keywords are searched in a string, got {described(text)}")
    words = as_keywords(keywords, "keywords")
    return share_found(words, found_in(words, text))


def found_in(keywords: Iterable[Keyword], text: str) -> set[Keyword]:
    """The keywords that occur in a text; of `Not`, those whose forbidden keyword does."""
    searched = SearchedText(text)
    return {word for word in keywords if occurs(word, searched)}


def share_found(keywords: Sequence[Keyword], found: set[Keyword]) -> float:
    """The similarity, given which of the keywords occur."""
    forbidden = [word for word in keywords if type(word) is Not]
    if not keywords or not found.isdisjoint(forbidden):
        return 0.0
    n_required = len(keywords) - len(forbidden)
    return sum(map(found.__contains__, keywords)) / n_required if n_required else 1.0


class CardWeights(NamedTuple):
    """Weights of the parts of one expected card; they sum to 1."""

    fields: Mapping[str, float]
    card_type: float
    """0 where no type is expected."""


@dataclass(frozen=True, slots=True)
class Weights:
    """Weights of fields and type."""

    fields: Mapping[str, float] = field(default_factory=dict)
    """By field, in any unit: those of a card share what the type leaves. Empty: equal weights."""
    card_type: float = TYPE_WEIGHT
    """Share of the score that the right type makes, where one is expected; in [0, 1]."""

    def __post_init__(self) -> None:
        if not isinstance(self.fields, Mapping):
            raise InputError(f"weights must map fields to numbers, got {described(self.fields)}")
        for name, weight in self.fields.items():
            if not _is_number(weight) or weight < 0:
                raise InputError(f"the weight of {name!r} must be a number >= 0, got {weight!r}")
        _require_share(self.card_type, "type_weight")

    def of(self, fields: Sequence[str], has_type: bool) -> CardWeights:  # noqa: FBT001 - of a card
        """The weights of an expected card with these fields, and with or without a type.

        Raises:
            InputError: A field has no weight, or all of them weigh 0.
        """
        for name in fields if self.fields else ():
            if name not in self.fields:
                known = ", ".join(map(repr, self.fields))
                raise InputError(f"the field {name!r} has no weight; weights are given for {known}")
        own = {name: float(self.fields[name]) if self.fields else 1.0 for name in fields}
        total = math.fsum(own.values())
        if total <= 0:
            raise InputError(f"the fields {', '.join(fields)} all weigh 0")
        bonus = float(self.card_type) if has_type else 0.0
        return CardWeights({n: (1 - bonus) * (w / total) for n, w in own.items()}, bonus)


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """How cards are scored and matched; stored with the results of a run."""

    threshold: float = THRESHOLD
    """Minimum score of a pair, in [0, 1]."""
    weights: Weights = field(default_factory=Weights)
    assignment: Assignment = "greedy"

    def __post_init__(self) -> None:
        _require_share(self.threshold, "threshold")
        if self.assignment not in ASSIGNMENTS:
            raise InputError(
                f"assignment must be one of {', '.join(ASSIGNMENTS)}, got {self.assignment!r}"
            )

    @classmethod
    def of(
        cls,
        threshold: float = THRESHOLD,
        weights: Mapping[str, float] | None = None,
        type_weight: float = TYPE_WEIGHT,
        assignment: Assignment = "greedy",
    ) -> MatchSettings:
        """Settings from single values.

        Raises:
            InputError: One is invalid.
        """
        return cls(threshold, Weights(weights or {}, type_weight), assignment)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready data; its keys are the arguments of `of`."""
        return {
            "threshold": self.threshold,
            "weights": dict(self.weights.fields),
            "type_weight": self.weights.card_type,
            "assignment": self.assignment,
        }


def score_pair(expected: Any, card: Any, weights: Weights | None = None) -> float:
    """The score of one pair of cards, in [0, 1]; 0 if a forbidden keyword occurs.

    Args:
        expected: An `ExpectedCard`, or a mapping or object with `<field>_keywords`.
        card: A mapping, or an object with attributes; has a string in every expected field.
        weights: Weights of fields and type; default: equal fields, and 0.2 for the type where one
            is expected.

    Raises:
        InputError: One of them is invalid.
    """
    wanted = as_expected(expected)
    own = (weights or Weights()).of(tuple(wanted.keywords), wanted.card_type is not None)
    total = 0.0
    for name, words in wanted.keywords.items():
        [text] = field_texts([card], name)
        found = found_in(words, text)
        if any(isinstance(word, Not) for word in found):
            return 0.0
        total += share_found(words, found) * own.fields[name]
    if own.card_type:
        [kind] = types_of([card])
        total += own.card_type * (kind == wanted.card_type)
    return min(1.0, total)


def _require_share(value: Any, what: str) -> None:
    if not _is_number(value) or not 0 <= value <= 1:
        raise InputError(f"{what} must be a number from 0 to 1, got {value!r}")


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) < math.inf
