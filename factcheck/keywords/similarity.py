"""How well a card says what is expected: the share of keywords in each field, and a weighted sum.

A field scores the share of its keywords that occur. Keywords that must not occur are no part of
that share: where one occurs, the field scores 0, and so does the card; a field that has no others
scores 1 without it. A field with an empty list scores 0.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from factcheck.errors import InputError
from factcheck.keywords.cards import as_expected, field_texts, types_of
from factcheck.keywords.forms import Keyword, Not, SearchedText, as_keywords, occurs

TYPE_WEIGHT = 0.2
"""Share of the score that a right type makes, where one is expected."""


def keyword_similarity(keywords: Iterable[Any], text: str) -> float:
    """The share of keywords that occur in a text, in [0, 1]; 0 if there are none.

    Args:
        keywords: Texts or forms, as `factcheck.keywords.forms` has them.
        text: Where they are looked for.

    Raises:
        InputError: A keyword cannot be used, or the text is none.
    """
    if not isinstance(text, str):
        raise InputError(f"keywords are looked for in a text, not in {type(text).__name__}")
    words = as_keywords(keywords, "keywords")
    searched = SearchedText(text)
    return share_found(words, {word for word in words if occurs(word, searched)})


def share_found(keywords: Sequence[Keyword], found: set[Keyword]) -> float:
    """The similarity, given which of the keywords occur."""
    bans = [word for word in keywords if type(word) is Not]
    if not keywords or not found.isdisjoint(bans):
        return 0.0
    n_wanted = len(keywords) - len(bans)
    return sum(map(found.__contains__, keywords)) / n_wanted if n_wanted else 1.0


class CardWeights(NamedTuple):
    """What each part of one expected card counts; together 1."""

    fields: Mapping[str, float]
    card_type: float
    """0 where no type is expected."""


@dataclass(frozen=True, slots=True)
class Weights:
    """How much fields and type count."""

    fields: Mapping[str, float] = field(default_factory=dict)
    """By field, in any unit: those of a card share what the type leaves. Empty: all alike."""
    card_type: float = TYPE_WEIGHT
    """Share of the score that a right type makes, where one is expected; in [0, 1]."""

    def __post_init__(self) -> None:
        if not isinstance(self.fields, Mapping):
            raise InputError(f"weights must be a mapping from field to number: {self.fields!r}")
        for name, weight in self.fields.items():
            if not _is_number(weight) or weight < 0:
                raise InputError(f"the weight of {name!r} must be a number >= 0, not {weight!r}")
        require_share(self.card_type, "type_weight")

    def of(self, fields: Sequence[str], has_type: bool) -> CardWeights:  # noqa: FBT001 - of a card
        """The weights of an expected card with these fields, and with or without a type.

        Raises:
            InputError: A field has no weight, or all of them have none.
        """
        for name in fields if self.fields else ():
            if name not in self.fields:
                known = ", ".join(map(repr, self.fields))
                raise InputError(f"the field {name!r} has no weight; there are weights of {known}")
        own = {name: float(self.fields[name]) if self.fields else 1.0 for name in fields}
        total = math.fsum(own.values())
        if total <= 0:
            raise InputError(f"the fields {', '.join(fields)} all weigh 0; give one a weight")
        bonus = float(self.card_type) if has_type else 0.0
        return CardWeights({n: (1 - bonus) * (w / total) for n, w in own.items()}, bonus)


def score_pair(expected: Any, card: Any, weights: Weights | None = None) -> float:
    """How well one card says what is expected, in [0, 1]; 0 if it has what must not occur.

    Args:
        expected: An `ExpectedCard`, or what `as_expected` takes for one.
        card: A mapping, or an object with attributes; has a text in every expected field.
        weights: How much fields and type count; without, fields count alike, and a type, where one
            is expected, 0.2.

    Raises:
        InputError: One of them cannot be used.
    """
    wanted = as_expected(expected)
    own = (weights or Weights()).of(tuple(wanted.keywords), wanted.card_type is not None)
    total = 0.0
    for name, words in wanted.keywords.items():
        [text] = field_texts([card], name)
        searched = SearchedText(text)
        found = {word for word in words if occurs(word, searched)}
        if any(isinstance(word, Not) for word in found):
            return 0.0
        total += share_found(words, found) * own.fields[name]
    if own.card_type:
        [kind] = types_of([card])
        total += own.card_type * (kind == wanted.card_type)
    return min(1.0, total)


def require_share(value: Any, what: str) -> None:
    """A number in [0, 1].

    Raises:
        InputError: It is none.
    """
    if not _is_number(value) or not 0 <= value <= 1:
        raise InputError(f"{what} must be a number from 0 to 1, not {value!r}")


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) < math.inf
