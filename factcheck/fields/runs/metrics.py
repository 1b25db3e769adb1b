"""Precision, recall and F1: of one record, of one field over many records, of a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import FieldResult

_MOST_PATHS = 100_000
"""Paths whose weight is remembered; they repeat from record to record."""


class Scores(NamedTuple):
    """Precision, recall and F1, each in [0, 1]."""

    precision: float
    recall: float
    f1: float


class Sums(NamedTuple):
    """What precision, recall and F1 are made of."""

    matched: float = 0.0
    """Sum of the scores of matches and mismatches."""
    found: float = 0.0
    """Matches, mismatches and hallucinations: what the extractor produced."""
    wanted: float = 0.0
    """Matches, mismatches and omissions: what the gold side expects."""

    def scores(self) -> Scores:
        """Shares of these sums; with nothing to find fault with, a share is 1."""
        precision = self.matched / self.found if self.found else 1.0
        recall = self.matched / self.wanted if self.wanted else 1.0
        if not self.found and not self.wanted:
            return Scores(1.0, 1.0, 1.0)
        total = precision + recall
        return Scores(precision, recall, 2 * precision * recall / total if total else 0.0)

    def plus(self, other: Sums) -> Sums:
        """The sums over both."""
        return Sums(*(a + b for a, b in zip(self, other, strict=True)))


def sums_of(results: Iterable[FieldResult]) -> Sums:
    """The sums over results that all count the same."""
    matched, n_both, n_lost, n_extra = 0.0, 0, 0, 0
    for result in results:
        status = result.status
        if status in ("match", "mismatch"):
            n_both += 1
            matched += result.score
        elif status == "omission":
            n_lost += 1
        elif status == "hallucination":
            n_extra += 1
    return Sums(matched, n_both + n_extra, n_both + n_lost)


class Weighing:
    """The sums over results of which some count more than others.

    Args:
        weights: By schema path; what is not in it counts once.
    """

    def __init__(self, weights: Mapping[str, float]) -> None:
        self._by_schema_path = weights
        self._by_path: dict[str, float] = {}

    def __call__(self, results: Iterable[FieldResult]) -> Sums:
        """The sums over these results."""
        matched = found = wanted = 0.0
        for result in results:
            status = result.status
            weight = self._weight(result.path)
            if status in ("match", "mismatch"):
                matched += weight * result.score
                found += weight
                wanted += weight
            elif status == "omission":
                wanted += weight
            elif status == "hallucination":
                found += weight
        return Sums(matched, found, wanted)

    def _weight(self, path: str) -> float:
        weight = self._by_path.get(path)
        if weight is None:
            if len(self._by_path) > _MOST_PATHS:
                self._by_path.clear()
            weight = self._by_schema_path.get(schema_path(path), 1.0)
            self._by_path[path] = weight
        return weight
