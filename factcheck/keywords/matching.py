"""Which generated card belongs to which expected one.

Greedy matching goes through the expected cards in order, so a card that comes early may take the
only one that would have fitted a later card: the order of the expected cards matters. The optimal
assignment finds the pairs with the highest total score, whatever the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

from factcheck.errors import InputError
from factcheck.keywords.assignment import Partners, Scores, difference, greedy, optimal
from factcheck.keywords.cards import ExpectedCard, as_cards, as_expected, field_texts, types_of
from factcheck.keywords.forms import Keyword, Not
from factcheck.keywords.results import CaseResult, Match, Missed
from factcheck.keywords.search import KeywordSearch
from factcheck.keywords.settings import THRESHOLD, Assignment, MatchSettings
from factcheck.keywords.similarity import TYPE_WEIGHT, share_found

T = TypeVar("T")
Found = Sequence[set[Keyword]]
"""The keywords that occur in one field of each generated card."""


def match_cards(
    expected: Iterable[Any],
    generated: Iterable[Any],
    threshold: float = THRESHOLD,
    *,
    weights: Mapping[str, float] | None = None,
    type_weight: float = TYPE_WEIGHT,
    assignment: Assignment = "greedy",
) -> CaseResult:
    """Say which generated card belongs to which expected one, and what is left over.

    Args:
        expected: `ExpectedCard`s, or mappings or objects with `<field>_keywords` and perhaps
            `card_type`. Their order matters to greedy matching.
        generated: Mappings, or objects with attributes: dataclasses, pydantic models.
        threshold: Score that a pair needs, in [0, 1]; a score of 0 never makes a pair.
        weights: How much each field counts, in any unit; without, all alike.
        type_weight: Share of the score that a right type makes, where one is expected.
        assignment: `"greedy"`, or `"optimal"`: the highest total score, with a note where the two
            differ.

    Raises:
        InputError: A card or setting cannot be used.
    """
    settings = MatchSettings.of(threshold, weights, type_weight, assignment)
    return CardMatcher(expected, settings).match(generated)


class CardMatcher:
    """Matches one list of expected cards with any number of lists of generated ones.

    Args:
        expected: As in `match_cards`.
        settings: How they are scored and matched.

    Raises:
        InputError: A card cannot be used, or has a field without weight.
    """

    def __init__(self, expected: Iterable[Any], settings: MatchSettings | None = None) -> None:
        self.expected = tuple(_numbered(as_expected, as_cards(expected)))
        self.settings = settings or MatchSettings()
        kinds = [(tuple(card.keywords), card.card_type is not None) for card in self.expected]
        weights = {kind: self.settings.weights.of(*kind) for kind in dict.fromkeys(kinds)}
        names = dict.fromkeys(name for fields, _ in weights for name in fields)
        self._fields = [
            _Field(name, self.expected, [weights[kind].fields.get(name, 0.0) for kind in kinds])
            for name in names
        ]
        self._bonuses = [weights[kind].card_type for kind in kinds]
        self._types = [card.card_type for card in self.expected]
        largest = max(self._bonuses, default=0.0)
        self._type_suffices = 0.0 < largest >= self.settings.threshold

    def match(self, generated: Iterable[Any], case_id: str = "") -> CaseResult:
        """Say which generated cards are expected ones.

        Raises:
            InputError: A generated card cannot be used; says which.
        """
        cards = as_cards(generated)
        types = types_of(cards)
        found = self._found(cards)
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

    def scores(self, generated: Iterable[Any]) -> Scores:
        """The scores of all pairs that share a keyword, or a type if that can make a match.

        Returns:
            For each expected card the scores above 0, by the number of the generated card.

        Raises:
            InputError: A generated card cannot be used; says which.
        """
        cards = as_cards(generated)
        return self._scores(self._found(cards), types_of(cards))

    def _found(self, cards: Sequence[Any]) -> list[Found]:
        return [f.search.found_in_each(field_texts(cards, f.name)) for f in self._fields]

    def _scores(self, found: Sequence[Found], types: Sequence[Any]) -> Scores:
        scores: list[dict[int, float]] = [{} for _ in self.expected]
        bonuses, wanted = self._bonuses, self._types
        for j, kind in enumerate(types):
            for i, score in self._without_types(found, j).items():
                total = score + bonuses[i] if kind == wanted[i] else score
                if total > 0.0:
                    scores[i][j] = min(1.0, total)
        return scores

    def _without_types(self, found: Sequence[Found], j: int) -> dict[int, float]:
        """What its fields alone score a generated card, by expected card.

        A card with a keyword that must not occur is no partner, whatever else it has.
        """
        sums: dict[int, float] = {}
        if self._type_suffices:
            sums = dict.fromkeys(range(len(self.expected)), 0.0)
        for field, column in zip(self._fields, found, strict=True):
            for i, part in field.parts(column[j]).items():
                sums[i] = sums[i] + part if i in sums else part
        for field, column in zip(self._fields, found, strict=True):
            for i in field.banned_by(column[j]):
                sums.pop(i, None)
        return sums

    def _assigned(self, scores: Scores, n_generated: int) -> tuple[Partners, str]:
        """Which cards are pairs, and a note where greedy and optimal pairs differ."""
        threshold = self.settings.threshold
        by_greedy = greedy(scores, threshold)
        if self.settings.assignment == "greedy":
            return by_greedy, ""
        by_optimum = optimal(scores, n_generated, threshold)
        return by_optimum, difference(scores, by_greedy, by_optimum)

    def _match(
        self, i: int, j: int, score: float, found: Sequence[Found], types: Sequence[Any]
    ) -> Match:
        similarities: dict[str, float] = {}
        unmet: dict[str, tuple[Keyword, ...]] = {}
        for field, column in zip(self._fields, found, strict=True):
            if field.name in self.expected[i].keywords:
                similarities[field.name], missing = field.similarity(i, column[j])
                if missing:
                    unmet[field.name] = missing
        wanted = self._types[i]
        right_type = None if wanted is None else types[j] == wanted
        return Match(i, j, score, similarities, right_type, unmet)


class _Field:
    """One field of all expected cards: which keywords it should have, and what each is worth."""

    def __init__(self, name: str, cards: Sequence[ExpectedCard], weights: Sequence[float]) -> None:
        self.name = name
        self._words = [card.keywords.get(name) for card in cards]
        self._weights = weights
        self._owners: dict[Keyword, list[int]] = {}
        for i, words in enumerate(self._words):
            for word in words or ():
                if word in self._owners:
                    self._owners[word].append(i)
                else:
                    self._owners[word] = [i]
        self.search = KeywordSearch(self._owners)
        self._sizes = [len(words or ()) for words in self._words]
        self._bans: dict[Keyword, list[int]] = {}
        self._without: dict[int, float] = {}
        """What cards get that ban keywords only, and score where none of them occurs."""
        if self.search.has_forms:
            self._set_bans_apart()

    def _set_bans_apart(self) -> None:
        bans = [word for word in self._owners if isinstance(word, Not)]
        self._bans = {word: self._owners.pop(word) for word in bans}
        for owners in self._bans.values():
            for i in owners:
                self._sizes[i] -= 1
        banning = {i for owners in self._bans.values() for i in owners}
        self._without = {i: self._weights[i] for i in banning if not self._sizes[i]}

    def parts(self, found: set[Keyword]) -> dict[int, float]:
        """What a text adds to the score of each card, where it adds anything.

        Args:
            found: The keywords that occur in it.
        """
        counts: dict[int, int] = {}
        owners_of = self._owners
        for word in found:
            for i in owners_of.get(word, ()):
                counts[i] = counts[i] + 1 if i in counts else 1
        sizes, weights = self._sizes, self._weights
        parts = {i: count / sizes[i] * weights[i] for i, count in counts.items()}
        return parts | self._without if self._bans else parts

    def banned_by(self, found: set[Keyword]) -> Iterator[int]:
        """The cards that one of these keywords must not occur in."""
        for word in found if self._bans else ():
            yield from self._bans.get(word, ())

    def similarity(self, i: int, found: set[Keyword]) -> tuple[float, tuple[Keyword, ...]]:
        """The similarity of one card, and the keywords that are not as it wants them."""
        words = self._words[i] or ()
        if self._bans:
            unmet = tuple(word for word in words if (word in found) == isinstance(word, Not))
            return share_found(words, found), unmet
        unmet = tuple([word for word in words if word not in found])
        return (len(words) - len(unmet)) / len(words) if words else 0.0, unmet


def _numbered(made: Callable[[Any], T], cards: Iterable[Any]) -> Iterable[T]:
    """What is made of each card; an error says which card it is about."""
    for number, card in enumerate(cards, 1):
        try:
            yield made(card)
        except InputError as error:  # noqa: PERF203 - it names the card
            raise InputError(f"expected card {number}: {error}") from error
