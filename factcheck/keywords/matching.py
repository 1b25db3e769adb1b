"""Matching of generated cards with expected ones.

Greedy matching takes the expected cards in order, so an early card may take the only one that fits
a later card: the order of the expected cards matters. The optimal assignment finds the pairs with
the highest total score, whatever the order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from factcheck.errors import InputError
from factcheck.keywords.cards import ExpectedCard, as_cards, as_expected, field_texts, types_of
from factcheck.keywords.forms import Keyword, Not
from factcheck.keywords.results import CaseResult, Match, Missed
from factcheck.keywords.search import KeywordSearch
from factcheck.keywords.similarity import (
    THRESHOLD,
    TYPE_WEIGHT,
    Assignment,
    MatchSettings,
    share_found,
)
from factcheck.stats.assignment import assign

Found = Sequence[set[Keyword]]
"""The keywords that occur in one field of each generated card."""
PairScores = Sequence[Mapping[int, float]]
"""For each expected card the scores above 0, by the number of the generated card, in order."""
Partners = Mapping[int, int]
"""For each matched expected card the generated one."""


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
        types = types_of(cards)
        found = [f.search.found_in_each(field_texts(cards, f.name)) for f in self._fields]
        scores = self._scores(found, types)
        partners, note = self._assigned(scores, len(cards))
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
        cards = as_cards(generated)
        found = [f.search.found_in_each(field_texts(cards, f.name)) for f in self._fields]
        return self._scores(found, types_of(cards))

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
        for field, column in zip(self._fields, found, strict=True):
            for i, part in field.parts(column[j]).items():
                sums[i] = sums[i] + part if i in sums else part
        for field, column in zip(self._fields, found, strict=True):
            for word in column[j] if field.forbidden else ():
                for i in field.forbidden.get(word, ()):
                    sums.pop(i, None)
        return sums

    def _assigned(self, scores: PairScores, n_generated: int) -> tuple[Partners, str]:
        """Partners, and a note where greedy and optimal assignment differ."""
        threshold = self.settings.threshold
        by_greedy = greedy(scores, threshold)
        if self.settings.assignment == "greedy":
            return by_greedy, ""
        by_optimum = optimal(scores, n_generated, threshold)
        return by_optimum, difference_note(scores, by_greedy, by_optimum)

    def _match(
        self, i: int, j: int, score: float, found: Sequence[Found], types: Sequence[Any]
    ) -> Match:
        similarities: dict[str, float] = {}
        unmet: dict[str, tuple[Keyword, ...]] = {}
        for field, column in zip(self._fields, found, strict=True):
            words = self.expected[i].keywords.get(field.name)
            if words is not None:
                similarities[field.name], missing = field.similarity(words, column[j])
                if missing:
                    unmet[field.name] = missing
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

    def similarity(
        self, words: Sequence[Keyword], found: set[Keyword]
    ) -> tuple[float, tuple[Keyword, ...]]:
        """The share of keywords that occur, and those that are unmet."""
        if self.forbidden:
            return share_found(words, found), unmet_keywords(words, found)
        unmet = tuple([word for word in words if word not in found])
        return (len(words) - len(unmet)) / len(words) if words else 0.0, unmet


def unmet_keywords(words: Sequence[Keyword], found: set[Keyword]) -> tuple[Keyword, ...]:
    """The keywords that do not occur, and the forbidden ones that do."""
    return tuple([word for word in words if (word in found) == (type(word) is Not)])


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
