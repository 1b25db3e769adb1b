"""Agreement of verdicts with human labels: metrics of decisions, and of coverage by text.

A metric is `None` where it is undefined: all labels equal, no probabilities, a single document.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from itertools import combinations
from statistics import fmean, variance
from typing import Any, NamedTuple

from factcheck.stats.correlation import ranks
from factcheck.stats.intervals import Z_95, Estimate
from factcheck.stats.resampling import mean_estimate

Array = Any
"""A numpy array."""
N_BINS = 10
Z_80 = 0.8416212335729143
_MIN_SYSTEMS = 3
_MIN_DOCUMENTS = 5
"""From which a variance over documents is meaningful."""


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


class Bin(NamedTuple):
    """Pairs with about the same probability: their mean, and the share labelled entailed."""

    n: int
    probability: float
    share: float


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


def kappa(pairs: Decisions) -> float | None:
    """Agreement beyond chance, in [-1, 1]; `None` where chance alone would always agree.

    Source:
        Cohen (1960), "A coefficient of agreement for nominal scales".
    """
    if not len(pairs.labels):
        return None
    agreed = float((pairs.labels == pairs.entailed).mean())
    human, judge = float(pairs.labels.mean()), float(pairs.entailed.mean())
    chance = human * judge + (1 - human) * (1 - judge)
    return None if chance == 1.0 else (agreed - chance) / (1 - chance)


def auroc(pairs: Decisions) -> float | None:
    """Probability that an entailed pair gets the higher probability; ties count half."""
    n_positive = int(pairs.labels.sum())
    n_negative = len(pairs.labels) - n_positive
    if pairs.probabilities is None or not n_positive or not n_negative:
        return None
    total = float(ranks(pairs.probabilities)[pairs.labels].sum())
    return (total - n_positive * (n_positive + 1) / 2) / (n_positive * n_negative)


def calibration_bins(pairs: Decisions) -> list[Bin]:
    """The calibration curve: ten bins of equal width, without the empty ones."""
    import numpy as np

    if pairs.probabilities is None:
        return []
    place = np.minimum((pairs.probabilities * N_BINS).astype(int), N_BINS - 1)
    columns = (pairs.probabilities, pairs.labels)
    masks = (place == number for number in np.unique(place))
    return [Bin(int(mask.sum()), *(float(of[mask].mean()) for of in columns)) for mask in masks]


def calibration_error(pairs: Decisions) -> float | None:
    """Expected calibration error: mean distance of probability and share, weighted by bins.

    Source:
        Naeini, Cooper and Hauskrecht (2015), "Obtaining well calibrated probabilities".
    """
    found = calibration_bins(pairs)
    n = sum(one.n for one in found)
    return sum(one.n * abs(one.probability - one.share) for one in found) / n if n else None


def corrected_share(share: float, sensitivity: float, specificity: float) -> float | None:
    """The true share, in [0, 1], behind an observed one; `None` if no better than chance.

    Source:
        Rogan and Gladen (1978), "Estimating prevalence from the results of a screening test".
    """
    informed = sensitivity + specificity - 1
    if informed <= 0:
        return None
    return min(1.0, max(0.0, (share + specificity - 1) / informed))


class TextCoverage(NamedTuple):
    """The share of its decided facts that one text entails, by the judge and by human labels."""

    document: str
    system: str
    judge: float
    human: float


Coverages = Sequence[TextCoverage]


def comparable(texts: Coverages) -> list[tuple[list[float], list[float]]]:
    """Judge and human scores of each document with three texts for which both differ."""
    groups = ([(t.judge, t.human) for t in group] for group in _by_document(texts))
    columns = [
        (list(judge), list(human)) for judge, human in (zip(*g, strict=True) for g in groups)
    ]
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


def mean_coverage(texts: Coverages, by: str) -> Estimate:
    """Mean over documents of the mean score of their texts, by the `judge` or the `human`."""
    means = [fmean(getattr(text, by) for text in group) for group in _by_document(texts)]
    return mean_estimate(means, "nothing was decided")


def _by_document(texts: Coverages) -> list[list[TextCoverage]]:
    groups: dict[str, list[TextCoverage]] = defaultdict(list)
    for text in texts:
        groups[text.document].append(text)
    return list(groups.values())


class DocumentsNeeded(NamedTuple):
    """Documents needed to detect a difference of the mean coverage with a power of 80 %."""

    difference: float
    paired: int | None
    """Both systems on the same documents; `None` where no two systems share five."""
    unpaired: int | None
    """For each system, on documents of its own; `None` where no system has five."""
    why: str = ""
    """Why a number is missing."""


def documents_needed(texts: Coverages, difference: float) -> DocumentsNeeded:
    """How many documents a comparison needs, given how much coverage differs between these.

    Two-sided at 5 %, by the normal approximation: n = (z_.975 + z_.80)^2 v / d^2, with v the
    variance over documents of the difference of two systems, averaged over pairs of systems; twice
    the variance of one system for documents of their own. A judge for which all documents are alike
    carries no information.
    """
    shares: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for text in texts:
        shares[text.system][text.document].append(text.judge)
    means = [{name: fmean(of[name]) for name in of} for of in shares.values()]
    pairs = [[a[name] - b[name] for name in a.keys() & b.keys()] for a, b in combinations(means, 2)]
    paired = [variance(values) for values in pairs if len(values) >= _MIN_DOCUMENTS]
    single = [variance(of.values()) for of in means if len(of) >= _MIN_DOCUMENTS]

    def needed(variances: Sequence[float], factor: int) -> int | None:
        if not any(variances):
            return None
        spread = factor * fmean(variances)
        return max(2, math.ceil((Z_95 + Z_80) ** 2 * spread / difference**2))

    why = "" if any(paired) else f"no two systems share {_MIN_DOCUMENTS} documents"
    if not any(paired) and not any(single):
        few = f"no system has {_MIN_DOCUMENTS} documents"
        why = "the judge sees no difference between documents" if single else few
    return DocumentsNeeded(difference, needed(paired, 1), needed(single, 2), why)
