"""How well verdicts agree with the labels of people: figures of pairs, and of resampled documents.

Every figure is `None` where it is undefined: labels all alike, no probabilities, one document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from factcheck.stats import Interval

Array = Any
"""A numpy array."""
N_BINS = 10


class Figure(NamedTuple):
    """A figure with its interval."""

    value: float | None
    interval: Interval | None = None
    """95 %, by resampling documents; `None` with fewer than two of them."""
    why: str = ""
    """Why there is no value."""


class Judged(NamedTuple):
    """Decided pairs as columns of equal length."""

    labels: Array
    """True where people say entailed."""
    entailed: Array
    """True where the judge does."""
    probabilities: Array | None
    """`None` for a judge that gives none."""
    documents: Array
    """The number of each pair's document, from 0."""
    baseline: Array | None = None
    """True where word containment says entailed; `None` where it was not asked."""

    def of(self, rows: Array) -> Judged:
        """Some rows of it."""
        given, words = self.probabilities, self.baseline
        return Judged(
            self.labels[rows],
            self.entailed[rows],
            None if given is None else given[rows],
            self.documents[rows],
            None if words is None else words[rows],
        )


class Bin(NamedTuple):
    """Pairs to which a judge gave about the same probability."""

    n: int
    probability: float
    """Mean probability."""
    share: float
    """Share of them that people call entailed."""


def balanced_accuracy(pairs: Judged) -> float | None:
    """Mean of sensitivity and specificity, in [0, 1]; `None` where the labels are all alike."""
    sensitivity, specificity = rates(pairs)
    if sensitivity is None or specificity is None:
        return None
    return (sensitivity + specificity) / 2


def baseline_accuracy(pairs: Judged) -> float | None:
    """The balanced accuracy of word containment on the same pairs."""
    if pairs.baseline is None:
        return None
    return balanced_accuracy(pairs._replace(entailed=pairs.baseline))


def over_baseline(pairs: Judged) -> float | None:
    """By how much the balanced accuracy is above that of word containment, in [-1, 1]."""
    judge, words = balanced_accuracy(pairs), baseline_accuracy(pairs)
    return None if judge is None or words is None else judge - words


def rates(pairs: Judged) -> tuple[float | None, float | None]:
    """Sensitivity and specificity; `None` for one that has no pairs."""
    positive = pairs.labels
    return _mean(pairs.entailed[positive]), _mean(~pairs.entailed[~positive])


def kappa(pairs: Judged) -> float | None:
    """Agreement beyond chance, in [-1, 1]; `None` where chance alone would agree always.

    Source:
        Cohen (1960), "A coefficient of agreement for nominal scales".
    """
    n = len(pairs.labels)
    if not n:
        return None
    agreed = float((pairs.labels == pairs.entailed).mean())
    people, judge = float(pairs.labels.mean()), float(pairs.entailed.mean())
    chance = people * judge + (1 - people) * (1 - judge)
    return None if chance == 1.0 else (agreed - chance) / (1 - chance)


def auroc(pairs: Judged) -> float | None:
    """Probability that an entailed pair gets the higher probability; ties count half."""
    if pairs.probabilities is None:
        return None
    from scipy.stats import rankdata

    n_positive = int(pairs.labels.sum())
    n_negative = len(pairs.labels) - n_positive
    if not n_positive or not n_negative:
        return None
    total = float(rankdata(pairs.probabilities)[pairs.labels].sum())
    return (total - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)


def bins(pairs: Judged) -> list[Bin]:
    """The calibration curve: ten bins of equal width, without those that are empty."""
    import numpy as np

    if pairs.probabilities is None:
        return []
    place = np.minimum((pairs.probabilities * N_BINS).astype(int), N_BINS - 1)
    found = []
    for number in range(N_BINS):
        held = place == number
        if held.any():
            probability = float(pairs.probabilities[held].mean())
            found.append(Bin(int(held.sum()), probability, float(pairs.labels[held].mean())))
    return found


def calibration_error(pairs: Judged) -> float | None:
    """Expected calibration error: mean distance of probability and share, weighted by bins.

    Source:
        Naeini, Cooper and Hauskrecht (2015), "Obtaining well calibrated probabilities".
    """
    found = bins(pairs)
    n = sum(one.n for one in found)
    return sum(one.n * abs(one.probability - one.share) for one in found) / n if n else None


def best_threshold(pairs: Judged) -> float | None:
    """The probability from which to say entailed, for the highest balanced accuracy."""
    import numpy as np

    if pairs.probabilities is None or balanced_accuracy(pairs) is None:
        return None
    order = np.argsort(-pairs.probabilities, kind="stable")
    scores, labels = pairs.probabilities[order], pairs.labels[order]
    hits = np.cumsum(labels) / labels.sum()
    false = np.cumsum(~labels) / (~labels).sum()
    ends = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    return float(scores[ends[np.argmax(hits[ends] - false[ends])]])


def resampled(
    pairs: Judged,
    figure: Callable[[Judged], float | None],
    *,
    n_resamples: int,
    seed: int,
) -> Interval | None:
    """The middle 95 % of a figure over resampled documents; `None` with fewer than two.

    Resamples in which the figure is undefined are left out; with fewer than half of them left,
    there is no interval.
    """
    import numpy as np

    order = np.argsort(pairs.documents, kind="stable")
    edges = np.flatnonzero(np.diff(pairs.documents[order])) + 1
    members: Sequence[Array] = np.split(order, edges)
    if len(members) < 2 or not n_resamples:  # noqa: PLR2004 - one says nothing about another
        return None
    random = np.random.default_rng(seed)
    values = []
    for _ in range(n_resamples):
        drawn = random.integers(0, len(members), len(members))
        value = figure(pairs.of(np.concatenate([members[place] for place in drawn])))
        if value is not None:
            values.append(value)
    if 2 * len(values) < n_resamples:
        return None
    low, high = np.quantile(values, (0.025, 0.975))
    return Interval(float(low), float(high))


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None
