"""Pairs of expected and generated cards, given the scores of all pairs: greedy and optimal."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

Scores = Sequence[Mapping[int, float]]
"""For each expected card the scores above 0, by the number of the generated card, in order."""
Partners = Mapping[int, int]
"""For each matched expected card the generated one."""


def greedy(scores: Scores, threshold: float) -> Partners:
    """Each expected card in turn gets the best card that is left, the first of equally good ones.

    Args:
        scores: Of all pairs that score more than 0; others never match.
        threshold: Score that a pair needs.
    """
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


def optimal(scores: Scores, n_generated: int, threshold: float) -> Partners:
    """The pairs with the highest total score, of those that reach the threshold.

    Source:
        The assignment problem (Kuhn, 1955), solved by `scipy.optimize.linear_sum_assignment`.
    """
    import numpy as np
    from scipy.optimize import linear_sum_assignment

    gains = np.zeros((len(scores), n_generated))
    for i, own in enumerate(scores):
        for j, score in own.items():
            if score >= threshold:
                gains[i, j] = score
    rows, columns = linear_sum_assignment(gains, maximize=True)
    pairs = zip(rows.tolist(), columns.tolist(), strict=True)
    return {i: j for i, j in pairs if gains[i, j] > 0}


def difference(scores: Scores, by_greedy: Partners, by_optimum: Partners) -> str:
    """In words how the two differ; empty if they do not."""
    if by_greedy == by_optimum:
        return ""
    of_greedy, of_optimum = _total(scores, by_greedy), _total(scores, by_optimum)
    if math.isclose(of_greedy, of_optimum) and len(by_greedy) == len(by_optimum):
        return "greedy matching makes other pairs, which are as good"
    return (
        f"greedy matching has a total score of {of_greedy:.3f} (pairs: {len(by_greedy)}), "
        f"the optimum {of_optimum:.3f} (pairs: {len(by_optimum)})"
    )


def _total(scores: Scores, partners: Partners) -> float:
    return math.fsum(scores[i][j] for i, j in partners.items())
