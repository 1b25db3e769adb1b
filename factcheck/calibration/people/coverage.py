"""Coverage by a judge and by people: documents, correction for known errors, documents needed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from statistics import fmean, variance
from typing import NamedTuple

from factcheck.calibration.people.measures import Figure
from factcheck.calibration.resampling import interval_of_mean
from factcheck.stats import Z_95

POWER_80 = 0.8416212335729143
"""Quantile of the normal distribution for a power of 80 %."""
_FEWEST_SYSTEMS = 3
_FEWEST_DOCUMENTS = 5
"""From which a variance over documents is worth something."""


class TextCoverage(NamedTuple):
    """One text: which share of the decided facts it entails."""

    document: str
    system: str
    judge: float
    """By the judge, in [0, 1]."""
    people: float
    """By people, over the same facts."""
    n: int
    """Facts."""


def correlation(texts: Sequence[TextCoverage], kind: str) -> Figure:
    """Mean over documents of the correlation of both coverages over the systems of a document.

    Args:
        texts: All of them.
        kind: `"pearson"` or `"kendall"` (tau-b).
    """
    values = [_correlation(kind, judge, people) for judge, people in _comparable(texts)]
    if not values:
        why = "no document has three texts whose coverage differs, by judge and by people"
        return Figure(None, None, why)
    return Figure(fmean(values), interval_of_mean(values))


def n_comparable(texts: Sequence[TextCoverage]) -> int:
    """Documents that a correlation rests on."""
    return len(_comparable(texts))


def _comparable(texts: Sequence[TextCoverage]) -> list[tuple[list[float], list[float]]]:
    """Coverage by the judge and by people, of each document in which both differ."""
    found = []
    for group in _by_document(texts).values():
        judge, people = [text.judge for text in group], [text.people for text in group]
        if len(group) >= _FEWEST_SYSTEMS and len(set(judge)) > 1 and len(set(people)) > 1:
            found.append((judge, people))
    return found


def _correlation(kind: str, xs: Sequence[float], ys: Sequence[float]) -> float:
    from scipy import stats

    found = (stats.kendalltau if kind == "kendall" else stats.pearsonr)(xs, ys)
    return float(found.statistic)


def mean_coverage(texts: Sequence[TextCoverage], *, by_people: bool) -> Figure:
    """Mean over documents of the mean coverage of their texts."""
    groups = _by_document(texts).values()
    means = [fmean(text.people if by_people else text.judge for text in group) for group in groups]
    if not means:
        return Figure(None, None, "nothing was decided")
    return Figure(fmean(means), interval_of_mean(means))


def corrected(coverage: float, sensitivity: float, specificity: float) -> float | None:
    """The coverage behind an observed one, by a judge whose error rates are known; in [0, 1].

    `None` for a judge that is no better than chance: nothing can be told from it.

    Source:
        Rogan and Gladen (1978), "Estimating prevalence from the results of a screening test".
    """
    informed = sensitivity + specificity - 1
    if informed <= 0:
        return None
    return min(1.0, max(0.0, (coverage + specificity - 1) / informed))


class DocumentsNeeded(NamedTuple):
    """Documents needed to see a difference of the mean coverage with a power of 80 %."""

    difference: float
    paired: int | None
    """Both systems on the same documents; `None` where no two systems share five."""
    unpaired: int | None
    """For each system, on documents of its own; `None` where no system has five."""
    why: str = ""
    """Why a number is missing."""


def documents_needed(texts: Sequence[TextCoverage], difference: float) -> DocumentsNeeded:
    """How many documents a comparison needs, from how much coverage differs between these.

    Two-sided at 5 %, by the normal approximation: n = (z_.975 + z_.80)^2 v / d^2, with v the
    variance over documents of the difference of two systems, averaged over pairs of systems; twice
    the variance of one system for documents of their own. A judge by which all documents are alike
    tells nothing about it.
    """
    by_system = _by_system(texts)
    paired = [_variance_of_difference(a, b) for a, b in combinations(by_system.values(), 2)]
    single = [variance(of.values()) for of in by_system.values() if len(of) >= _FEWEST_DOCUMENTS]
    known = [value for value in paired if value is not None]
    if not any(known) and not any(single):
        few = f"no system has {_FEWEST_DOCUMENTS} documents"
        why = "the judge sees no difference between documents" if single else few
        return DocumentsNeeded(difference, None, None, why)
    return DocumentsNeeded(
        difference,
        _needed(fmean(known), difference) if any(known) else None,
        _needed(2 * fmean(single), difference) if any(single) else None,
        "" if any(known) else f"no two systems share {_FEWEST_DOCUMENTS} documents",
    )


def _by_system(texts: Sequence[TextCoverage]) -> dict[str, dict[str, float]]:
    """For each system and document the mean coverage of the texts that it wrote."""
    shares: dict[str, dict[str, list[float]]] = {}
    for text in texts:
        shares.setdefault(text.system, {}).setdefault(text.document, []).append(text.judge)
    return {
        system: {document: fmean(values) for document, values in of.items()}
        for system, of in shares.items()
    }


def _variance_of_difference(a: Mapping[str, float], b: Mapping[str, float]) -> float | None:
    both = a.keys() & b.keys()
    if len(both) < _FEWEST_DOCUMENTS:
        return None
    return variance(a[name] - b[name] for name in both)


def _needed(spread: float, difference: float) -> int:
    return max(2, math.ceil((Z_95 + POWER_80) ** 2 * spread / difference**2))


def _by_document(texts: Sequence[TextCoverage]) -> dict[str, list[TextCoverage]]:
    groups: dict[str, list[TextCoverage]] = {}
    for text in texts:
        groups.setdefault(text.document, []).append(text)
    return groups
