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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

from factcheck.documents import PlainData, shown
from factcheck.errors import InputError
from factcheck.keywords.cards import ExpectedCard, as_cards, as_expected, field_texts, types_of
from factcheck.keywords.forms import (
    Keyword,
    KeywordSearch,
    Not,
    as_keywords,
    found_in,
    share_found,
    unmet_keywords,
)
from factcheck.keywords.results import CaseResult, Match, Missed
from factcheck.stats.intervals import assign

THRESHOLD = 0.3
TYPE_WEIGHT = 0.2
Assignment = Literal["greedy", "optimal"]
ASSIGNMENTS: tuple[Assignment, ...] = get_args(Assignment)
Found = Sequence[set[Keyword]]
"""The keywords that occur in one field of each generated card."""
PairScores = Sequence[Mapping[int, float]]
"""For each expected card the scores above 0, by the number of the generated card, in order."""
Partners = Mapping[int, int]
"""For each matched expected card the generated one."""


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
    if "" in words:
        raise InputError("keywords: the empty string occurs in every text; leave it out")
    return share_found(words, found_in(words, text))


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


def _is_number(value: Any) -> bool:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return is_number and abs(value) < math.inf


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
    settings = replace(settings or MatchSettings(), threshold=0.0)
    return CardMatcher([expected], settings).scores([card])[0].get(0, 0.0)


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
    return CardMatcher(expected, settings).match(generated)


class CardMatcher:
    """Matches one list of expected cards with any number of lists of generated ones.

    Args:
        expected: As in `match_cards`.
        settings: How cards are scored and matched.

    Raises:
        InputError: An invalid card, or one with a field that has no weight.
    """

    def __init__(self, expected: Iterable[Any], settings: MatchSettings | None = None) -> None:
        self.expected = tuple(_expected_cards(expected))
        self.settings = settings or MatchSettings()
        weights = [self.settings.weights_of(card) for card in self.expected]
        names = dict.fromkeys(name for card in self.expected for name in card.keywords)
        self._fields = [
            _Field(name, self.expected, [own.get(name, 0.0) for own, _ in weights])
            for name in names
        ]
        self._bonuses = [bonus for _, bonus in weights]
        self._types = [card.card_type for card in self.expected]
        largest = max(self._bonuses, default=0.0)
        self._type_suffices = 0.0 < largest >= self.settings.threshold

    def match(self, generated: Iterable[Any], case_id: str = "") -> CaseResult:
        """Match generated cards with the expected ones.

        Raises:
            InputError: An invalid generated card; names it.
        """
        cards = as_cards(generated)
        found, types = self._read(cards)
        scores = self._scores(found, types)
        partners, note = greedy(scores, self.settings.threshold), ""
        if self.settings.assignment == "optimal":
            by_greedy, partners = partners, optimal(scores, len(cards), self.settings.threshold)
            note = difference_note(scores, by_greedy, partners)
        taken = set(partners.values())
        return CaseResult(
            case_id,
            len(self.expected),
            len(cards),
            tuple(self._match(i, j, scores[i][j], found, types) for i, j in partners.items()),
            tuple(Missed.of(i, own) for i, own in enumerate(scores) if i not in partners),
            tuple(j for j in range(len(cards)) if j not in taken),
            note,
        )

    def scores(self, generated: Iterable[Any]) -> PairScores:
        """The scores of all pairs that share a keyword, or a type if that can make a pair.

        Returns:
            For each expected card the scores above 0, by the number of the generated card.

        Raises:
            InputError: An invalid generated card; names it.
        """
        return self._scores(*self._read(as_cards(generated)))

    def _read(self, cards: Sequence[Any]) -> tuple[list[Found], list[Any]]:
        """By field, the keywords that occur in each card; and the types of the cards."""
        types = types_of(cards)
        return [
            one.search.found_in_each(field_texts(cards, one.name)) for one in self._fields
        ], types

    def _scores(self, found: Sequence[Found], types: Sequence[Any]) -> PairScores:
        scores: list[dict[int, float]] = [{} for _ in self.expected]
        bonuses, wanted = self._bonuses, self._types
        for j, kind in enumerate(types):
            for i, score in self._field_scores(found, j).items():
                total = score + bonuses[i] if kind == wanted[i] else score
                if total > 0.0:
                    scores[i][j] = min(1.0, total)
        return scores

    def _field_scores(self, found: Sequence[Found], j: int) -> dict[int, float]:
        """The scores of a generated card without its type, by expected card.

        A card in which a forbidden keyword occurs has no score, whatever else it has.
        """
        sums: dict[int, float] = {}
        if self._type_suffices:
            sums = dict.fromkeys(range(len(self.expected)), 0.0)
        for own, column in zip(self._fields, found, strict=True):
            for i, part in own.parts(column[j]).items():
                sums[i] = sums[i] + part if i in sums else part
        for own, column in zip(self._fields, found, strict=True):
            for word in column[j] if own.forbidden else ():
                for i in own.forbidden.get(word, ()):
                    sums.pop(i, None)
        return sums

    def _match(
        self, i: int, j: int, score: float, found: Sequence[Found], types: Sequence[Any]
    ) -> Match:
        similarities: dict[str, float] = {}
        unmet: dict[str, tuple[str, ...]] = {}
        for own, column in zip(self._fields, found, strict=True):
            words = self.expected[i].keywords.get(own.name)
            if words is not None:
                similarities[own.name] = share_found(words, column[j])
                if missing := unmet_keywords(words, column[j]):
                    unmet[own.name] = tuple(map(str, missing))
        wanted = self._types[i]
        right_type = None if wanted is None else types[j] == wanted
        return Match(i, j, score, similarities, right_type, unmet)


class _Field:
    """One field of all expected cards: its keywords, and what each is worth."""

    def __init__(self, name: str, cards: Sequence[ExpectedCard], weights: Sequence[float]) -> None:
        self.name = name
        self._weights = weights
        self._sizes = [0] * len(cards)
        self._owners: dict[Keyword, list[int]] = {}
        self.forbidden: dict[Keyword, list[int]] = {}
        """The cards that forbid a keyword."""
        for i, card in enumerate(cards):
            for word in card.keywords.get(name, ()):
                if type(word) is Not:
                    self.forbidden.setdefault(word, []).append(i)
                else:
                    self._owners.setdefault(word, []).append(i)
                    self._sizes[i] += 1
        self.search = KeywordSearch([*self._owners, *self.forbidden])
        self._without = {
            i: weights[i]
            for owners in self.forbidden.values()
            for i in owners
            if not self._sizes[i]
        }
        """The parts of cards with forbidden keywords only, none of which occurs."""

    def parts(self, found: set[Keyword]) -> dict[int, float]:
        """What these keywords add to the score of each card, where they add anything."""
        counts: dict[int, int] = {}
        owners_of = self._owners
        for word in found:
            for i in owners_of.get(word, ()):
                counts[i] = counts[i] + 1 if i in counts else 1
        sizes, weights = self._sizes, self._weights
        parts = {i: count / sizes[i] * weights[i] for i, count in counts.items()}
        return parts | self._without if self._without else parts


def greedy(scores: PairScores, threshold: float) -> Partners:
    """Each expected card in turn takes the best card left, the first of equally good ones."""
    partners: dict[int, int] = {}
    taken: set[int] = set()
    for i, own in enumerate(scores):
        best, partner = 0.0, -1
        for j, score in own.items():
            if score > best and j not in taken:
                best, partner = score, j
        if partner >= 0 and best >= threshold:
            partners[i] = partner
            taken.add(partner)
    return partners


def optimal(scores: PairScores, n_generated: int, threshold: float) -> Partners:
    """The pairs with the highest total score, among those that reach the threshold."""
    import numpy as np

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


def _expected_cards(cards: Iterable[Any]) -> Iterator[ExpectedCard]:
    for number, card in enumerate(as_cards(cards), 1):
        try:
            yield as_expected(card)
        except InputError as error:  # noqa: PERF203 - it names the card
            raise InputError(f"expected card {number}: {error}") from error
