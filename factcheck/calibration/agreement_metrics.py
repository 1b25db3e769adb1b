"""Agreement of verdicts with human labels: metrics of decisions, and of coverage by text.

A metric is `None` where it is undefined: all labels equal, no probabilities, a single document.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from factcheck.stats.intervals import Estimate, Interval, share_interval
from factcheck.stats.resampling import mean_estimate

Array = Any
"""A numpy array."""


class LabelledPair(NamedTuple):
    """A fact, a text, and whether people say that the text entails the fact."""

    document: str
    """Pairs of one document are not independent."""
    system: str
    """Author of the text; empty where there is one text per document."""
    text: str
    fact: str
    label: bool


class Answer(NamedTuple):
    """A judge's answer on a pair."""

    entailed: bool | None
    why: str = ""
    """Why it is undecided."""


class Decisions(NamedTuple):
    """Decided pairs as columns of equal length."""

    labels: Array
    """True where the human label is entailed."""
    entailed: Array
    """True where the judge's is."""
    documents: Array
    """The number of each pair's document, from 0."""

    @classmethod
    def of_pairs(cls, pairs: Sequence[LabelledPair], answers: Sequence[Answer]) -> Decisions:
        """Return the columns of labelled pairs with decided answers."""
        numbers: dict[str, int] = {}
        for pair in pairs:
            numbers.setdefault(pair.document, len(numbers))
        return cls(
            np.array([pair.label for pair in pairs], dtype=bool),
            np.array([answer.entailed for answer in answers], dtype=bool),
            np.array([numbers[pair.document] for pair in pairs], dtype=int),
        )

    def select(self, rows: Array) -> Decisions:
        """Return these rows of all columns."""
        return Decisions(self.labels[rows], self.entailed[rows], self.documents[rows])


def rates(pairs: Decisions) -> tuple[float | None, float | None]:
    """Compute sensitivity and specificity; `None` for one that has no pairs."""
    found = pairs.entailed[pairs.labels]
    refused = ~pairs.entailed[~pairs.labels]
    return _share(found), _share(refused)


def _share(right: Array) -> float | None:
    return float(right.mean()) if len(right) else None


def balanced_accuracy(pairs: Decisions) -> float | None:
    """Compute the mean of sensitivity and specificity, in [0, 1]."""
    sensitivity, specificity = rates(pairs)
    if sensitivity is None or specificity is None:
        return None
    return (sensitivity + specificity) / 2


def right_interval(pairs: Decisions, labels: Sequence[bool]) -> Interval:
    """Return the interval of the share of right verdicts on a label, or the mean of several."""
    found = []
    for label in labels:
        own = pairs.select(pairs.labels == label)
        n_pairs = np.bincount(own.documents)
        n_right = np.bincount(own.documents, own.entailed == label)
        counts = [(float(n), float(hits)) for n, hits in zip(n_pairs, n_right, strict=True) if n]
        found.append(share_interval(counts) or Interval(0.0, 1.0))
    return Interval(*map(fmean, zip(*found, strict=True)))


def mean_share(
    pairs: Sequence[LabelledPair], found: Sequence[bool | None], why: str = ""
) -> Estimate:
    """Average the share of facts found over the texts of each document, then over documents.

    `found` has one entry per pair, `None` for one to leave out; `why` is the reason if all are.
    """
    documents: dict[str, dict[tuple[str, str], list[bool]]] = {}
    for pair, one in zip(pairs, found, strict=True):
        if one is not None:
            texts = documents.setdefault(pair.document, {})
            texts.setdefault((pair.system, pair.text), []).append(one)
    means = [fmean(map(fmean, texts.values())) for texts in documents.values()]
    return mean_estimate(means, why)
