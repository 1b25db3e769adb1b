"""Agreement of verdicts with human labels: metrics of decisions, and of coverage by text.

A metric is `None` where it is undefined: all labels equal, no probabilities, a single document.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from statistics import fmean, variance
from typing import Any, NamedTuple

from factcheck.stats.correlation import kendall, pearson, ranks
from factcheck.stats.intervals import Z_95, Estimate
from factcheck.stats.resampling import mean_estimate

Array = Any
"""A numpy array."""
N_BINS = 10
POWER_80 = 0.8416212335729143
"""Standard normal quantile for a power of 80 %."""
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
        """Some of the rows."""
        return Decisions(*(None if column is None else column[rows] for column in self))


class Bin(NamedTuple):
    """Pairs to which a judge gave about the same probability."""

    n: int
    probability: float
    """Mean probability."""
    share: float
    """Share of them with the human label entailed."""


def rates(pairs: Decisions) -> tuple[float | None, float | None]:
    """Sensitivity and specificity; `None` for one that has no pairs."""
    positive = pairs.labels
    return _mean(pairs.entailed[positive]), _mean(~pairs.entailed[~positive])


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
    found = []
    for number in range(N_BINS):
        held = place == number
        if held.any():
            probability = float(pairs.probabilities[held].mean())
            found.append(Bin(int(held.sum()), probability, float(pairs.labels[held].mean())))
    return found


def calibration_error(pairs: Decisions) -> float | None:
    """Expected calibration error: mean distance of probability and share, weighted by bins.

    Source:
        Naeini, Cooper and Hauskrecht (2015), "Obtaining well calibrated probabilities".
    """
    found = calibration_bins(pairs)
    n = sum(one.n for one in found)
    return sum(one.n * abs(one.probability - one.share) for one in found) / n if n else None


def best_threshold(pairs: Decisions) -> float | None:
    """The probability from which to call a fact entailed, for the highest balanced accuracy."""
    import numpy as np

    if pairs.probabilities is None or balanced_accuracy(pairs) is None:
        return None
    order = np.argsort(-pairs.probabilities, kind="stable")
    scores, labels = pairs.probabilities[order], pairs.labels[order]
    hits = np.cumsum(labels) / labels.sum()
    false = np.cumsum(~labels) / (~labels).sum()
    ends = np.append(np.flatnonzero(np.diff(scores)), len(scores) - 1)
    return float(scores[ends[np.argmax(hits[ends] - false[ends])]])


def _mean(values: Array) -> float | None:
    return float(values.mean()) if len(values) else None


def corrected_share(share: float, sensitivity: float, specificity: float) -> float | None:
    """The true share behind one observed by a judge with known error rates, in [0, 1].

    `None` for a judge no better than chance, which carries no information.

    Source:
        Rogan and Gladen (1978), "Estimating prevalence from the results of a screening test".
    """
    informed = sensitivity + specificity - 1
    if informed <= 0:
        return None
    return min(1.0, max(0.0, (share + specificity - 1) / informed))


class TextCoverage(NamedTuple):
    """The share of its decided facts that one text entails."""

    document: str
    system: str
    judge_score: float
    """By the judge, in [0, 1]."""
    human_score: float
    """By the human labels, over the same facts."""
    n: int
    """Number of facts."""


Coverages = Sequence[TextCoverage]


def correlation(texts: Coverages, kind: str) -> Estimate:
    """Mean over documents of the correlation of both scores over the systems of a document.

    Args:
        texts: All texts.
        kind: `"pearson"` or `"kendall"` (tau-b).
    """
    measure: Callable[..., float] = {"kendall": kendall, "pearson": pearson}[kind]
    values = [measure(*both) for both in _comparable(texts)]
    why = "no document has three texts whose coverage differs for both judge and humans"
    return mean_estimate(values, why)


def n_comparable(texts: Coverages) -> int:
    """Number of documents behind a correlation."""
    return len(_comparable(texts))


def _comparable(texts: Coverages) -> list[tuple[list[float], list[float]]]:
    """Judge and human scores of each document in which both differ."""
    found = []
    for group in _by_document(texts).values():
        judge, human = [text.judge_score for text in group], [text.human_score for text in group]
        if len(group) >= _MIN_SYSTEMS and len(set(judge)) > 1 and len(set(human)) > 1:
            found.append((judge, human))
    return found


def mean_coverage(texts: Coverages, score: Callable[[TextCoverage], float]) -> Estimate:
    """Mean over documents of the mean score of their texts."""
    groups = _by_document(texts).values()
    return mean_estimate([fmean(map(score, group)) for group in groups], "nothing was decided")


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
    by_system = _by_system(texts)
    paired = [_variance_of_difference(a, b) for a, b in combinations(by_system.values(), 2)]
    single = [variance(of.values()) for of in by_system.values() if len(of) >= _MIN_DOCUMENTS]
    known = [value for value in paired if value is not None]
    if not any(known) and not any(single):
        few = f"no system has {_MIN_DOCUMENTS} documents"
        why = "the judge sees no difference between documents" if single else few
        return DocumentsNeeded(difference, None, None, why)
    return DocumentsNeeded(
        difference,
        _sample_size(fmean(known), difference) if any(known) else None,
        _sample_size(2 * fmean(single), difference) if any(single) else None,
        "" if any(known) else f"no two systems share {_MIN_DOCUMENTS} documents",
    )


def _by_system(texts: Coverages) -> dict[str, dict[str, float]]:
    """For each system and document, the mean score of its texts."""
    shares: dict[str, dict[str, list[float]]] = {}
    for text in texts:
        scores = shares.setdefault(text.system, {}).setdefault(text.document, [])
        scores.append(text.judge_score)
    return {
        system: {document: fmean(values) for document, values in of.items()}
        for system, of in shares.items()
    }


def _variance_of_difference(a: Mapping[str, float], b: Mapping[str, float]) -> float | None:
    both = a.keys() & b.keys()
    if len(both) < _MIN_DOCUMENTS:
        return None
    return variance(a[name] - b[name] for name in both)


def _sample_size(spread: float, difference: float) -> int:
    return max(2, math.ceil((Z_95 + POWER_80) ** 2 * spread / difference**2))


def _by_document(texts: Coverages) -> dict[str, list[TextCoverage]]:
    groups: dict[str, list[TextCoverage]] = {}
    for text in texts:
        groups.setdefault(text.document, []).append(text)
    return groups
