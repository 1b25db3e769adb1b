"""Recall, precision, F1 and average similarity: of one case, and of many.

A share of nothing is 1 if the other side is empty too, and else 0: where no card is expected and
none was generated, all is well; where cards are expected and none came, recall, precision and F1
are 0, and so they are where cards came and none is expected. No figure is ever NaN.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from factcheck.stats import Interval, wilson


class Scores(NamedTuple):
    """Recall, precision and F1 in [0, 1], and how alike the matched pairs are."""

    recall: float
    """Expected cards that were matched, of all that are expected."""
    precision: float
    """Generated cards that were matched, of all that were generated."""
    f1: float
    """Harmonic mean of the two."""
    average_similarity: float | None
    """Mean score of the matched pairs; `None` where nothing was matched."""


class Sums(NamedTuple):
    """What the scores are made of."""

    matched: int = 0
    expected: int = 0
    generated: int = 0
    similarity: float = 0.0
    """Sum of the scores of the matched pairs."""

    def scores(self) -> Scores:
        """The scores of these sums."""
        either = self.expected + self.generated
        return Scores(
            _share(self.matched, self.expected, self.generated),
            _share(self.matched, self.generated, self.expected),
            2 * self.matched / either if either else 1.0,
            self.similarity / self.matched if self.matched else None,
        )

    def intervals(self) -> dict[str, Interval]:
        """95 % intervals of recall, precision and F1; (0, 1) where there is nothing to count.

        Source:
            Wilson's interval. That of F1 takes it for the share of matched cards in half the cards
            of both sides, which it is.
        """
        scores = self.scores()
        sizes = {
            "recall": float(self.expected),
            "precision": float(self.generated),
            "f1": (self.expected + self.generated) / 2,
        }
        return {
            name: wilson(getattr(scores, name), size) if size else Interval(0.0, 1.0)
            for name, size in sizes.items()
        }


def micro(cases: Iterable[Sums]) -> Scores:
    """The scores over all cards of all cases at once."""
    total = Sums()
    similarities = []
    for sums in cases:
        total = Sums(*(a + b for a, b in zip(total[:3], sums[:3], strict=True)))
        similarities.append(sums.similarity)
    return total._replace(similarity=math.fsum(similarities)).scores()


def macro(cases: Iterable[Sums]) -> Scores:
    """The mean scores of the cases, each counting alike; average similarity of those with a match.

    Without any case, the scores of an empty one.
    """
    scores = [sums.scores() for sums in cases] or [Sums().scores()]
    similarities = [s.average_similarity for s in scores if s.average_similarity is not None]
    return Scores(
        _mean([s.recall for s in scores]),
        _mean([s.precision for s in scores]),
        _mean([s.f1 for s in scores]),
        _mean(similarities) if similarities else None,
    )


def _share(part: int, whole: int, other: int) -> float:
    if whole:
        return part / whole
    return 0.0 if other else 1.0


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
