"""Agreement of verdicts with human labels: metrics of decisions, and of coverage by text.

A metric is `None` where it is undefined: all labels equal, no probabilities, a single document.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any, Literal, NamedTuple

import numpy as np

from factcheck.stats.intervals import Estimate, ranks
from factcheck.stats.resampling import mean_estimate

Array = Any
"""A numpy array."""
_N_BINS = 10
_MIN_SYSTEMS = 3


class Decisions(NamedTuple):
    """Decided pairs as columns of equal length."""

    labels: Array
    """True where the human label is entailed."""
    entailed: Array
    """True where the judge's is."""
    probabilities: Array | None
    """`None` for a judge that gives none."""
    documents: Array
    """The number of each pair's document, from 0."""
    baseline: Array | None = None
    """True where word containment says entailed; `None` where it was not run."""

    def of(self, rows: Array) -> Decisions:
        return Decisions(*(None if column is None else column[rows] for column in self))


def rates(pairs: Decisions) -> tuple[float | None, float | None]:
    """Sensitivity and specificity; `None` for one that has no pairs."""
    right = (pairs.entailed[pairs.labels], ~pairs.entailed[~pairs.labels])
    sensitivity, specificity = (float(one.mean()) if len(one) else None for one in right)
    return sensitivity, specificity


def balanced_accuracy(pairs: Decisions) -> float | None:
    """Mean of sensitivity and specificity, in [0, 1]."""
    sensitivity, specificity = rates(pairs)
    if sensitivity is None or specificity is None:
        return None
    return (sensitivity + specificity) / 2


def baseline_accuracy(pairs: Decisions) -> float | None:
    """The balanced accuracy of word containment on the same pairs."""
    if pairs.baseline is None:
        return None
    return balanced_accuracy(pairs._replace(entailed=pairs.baseline))


def over_baseline(pairs: Decisions) -> float | None:
    """The balanced accuracy minus that of word containment, in [-1, 1]."""
    judge, words = balanced_accuracy(pairs), baseline_accuracy(pairs)
    return None if judge is None or words is None else judge - words


def auroc(pairs: Decisions) -> float | None:
    """Probability that an entailed pair gets the higher probability; ties count half."""
    n_positive = int(pairs.labels.sum())
    n_negative = len(pairs.labels) - n_positive
    if pairs.probabilities is None or not n_positive or not n_negative:
        return None
    total = float(ranks(pairs.probabilities)[pairs.labels].sum())
    return (total - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)


def calibration_error(pairs: Decisions) -> float | None:
    """Expected calibration error over ten bins of equal width, in [0, 1].

    The mean distance of probability and share of entailed labels, weighted by bins.

    Source:
        Naeini, Cooper and Hauskrecht (2015), "Obtaining well calibrated probabilities".
    """
    if pairs.probabilities is None or not len(pairs.labels):
        return None
    place = np.minimum((pairs.probabilities * _N_BINS).astype(int), _N_BINS - 1)
    distances = np.bincount(place, pairs.probabilities - pairs.labels)
    return float(np.abs(distances).sum()) / len(pairs.labels)


def corrected_share(share: float, sensitivity: float, specificity: float) -> float | None:
    """The true share, in [0, 1], behind an observed one; `None` if no better than chance.

    Source:
        Rogan and Gladen (1978), "Estimating prevalence from the results of a screening test".
    """
    informed = sensitivity + specificity - 1
    if informed <= 0:
        return None
    return min(1.0, max(0.0, (share + specificity - 1) / informed))


Coverages = Mapping[str, Sequence[tuple[float, float]]]
"""By document, of each of its texts the share of decided facts that it entails: by the judge, and
by human labels."""


def comparable(texts: Coverages) -> list[tuple[list[float], list[float]]]:
    """Judge and human scores of each document with three texts for which both differ."""
    columns = [tuple(map(list, zip(*group, strict=True))) for group in texts.values()]
    return [
        (judge, human)
        for judge, human in columns
        if len(judge) >= _MIN_SYSTEMS and len(set(judge)) > 1 and len(set(human)) > 1
    ]


def correlation(
    texts: Coverages, measure: Callable[[Sequence[float], Sequence[float]], float]
) -> Estimate:
    """Mean over documents of the correlation of both scores over the systems of a document."""
    why = "no document has three texts whose coverage differs for both judge and humans"
    return mean_estimate([measure(*both) for both in comparable(texts)], why)


def mean_coverage(texts: Coverages, by: Literal["judge", "human"]) -> Estimate:
    """Mean over documents of the mean score of their texts, by the judge or by human labels."""
    side = ("judge", "human").index(by)
    means = [fmean(text[side] for text in group) for group in texts.values()]
    return mean_estimate(means, "nothing was decided")
