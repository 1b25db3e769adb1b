"""The two thresholds of a cascade: those that send the fewest facts on; what goes on held out."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

MAX_FOLDS = 10
ROUNDING = 1e-9
"""Shares that do not come out exactly in binary must not miss a target."""


class JudgedFact(NamedTuple):
    """A fact and a text on which both judges gave their verdict."""

    document: str
    """Facts of one document are not independent."""
    first: bool | None
    """Whether the first judge says entailed; `None`: it has no verdict, so the fact goes on."""
    probability: float | None
    """Of the first judge, in [0, 1]; without one its verdict stands."""
    second: bool
    """Whether the second judge says entailed."""


class Thresholds(NamedTuple):
    """The first judge keeps what is not strictly between them."""

    low: float
    high: float


def sent_held_out(facts: Sequence[JudgedFact], target: float) -> list[bool]:
    """Which facts go on, each by thresholds that were fitted on other documents.

    The documents are split at random into up to ten folds.
    """
    documents = sorted({fact.document for fact in facts})
    random.Random(0).shuffle(documents)  # noqa: S311 - repeatable, not secret
    n_folds = min(MAX_FOLDS, len(documents))
    fold = {document: place % n_folds for place, document in enumerate(documents)}
    fits = [
        fit_thresholds([fact for fact in facts if fold[fact.document] != number], target)
        for number in range(n_folds)
    ]
    return [_goes_on(fact, fits[fold[fact.document]]) for fact in facts]


def _goes_on(fact: JudgedFact, thresholds: Thresholds) -> bool:
    if fact.first is None:
        return True
    return fact.probability is not None and thresholds.low < fact.probability < thresholds.high


def fit_thresholds(facts: Sequence[JudgedFact], target: float) -> Thresholds:
    """The thresholds that send the fewest facts on while the cascade agrees in `target` of them.

    Where nothing reaches the target, all go on but those of probability 0 and 1.
    """
    n_wrong_allowed = math.floor((1.0 - target) * len(facts) + ROUNDING)
    at: dict[float, list[int]] = defaultdict(lambda: [0, 0, 0])
    for fact in facts:
        is_wrong = fact.first != fact.second
        if fact.first is not None and fact.probability is None:
            n_wrong_allowed -= is_wrong
        elif fact.first is not None and fact.probability is not None:
            counts = at[fact.probability]
            at[fact.probability] = [counts[0] + 1, counts[1] + is_wrong, counts[2] + fact.first]
    values = sorted(at)
    n = len(values)
    # of the i lowest values: facts, wrong ones, entailed ones; above: of those from the j-th on
    below = np.cumsum([[0, 0, 0], *(at[value] for value in values)], axis=0)
    above = below[-1] - below
    first, last = int(0.0 in at), n - int(1.0 in at)
    lowest = np.searchsorted(below[:, 1], below[:, 1] + above[0, 1] - n_wrong_allowed)
    ways = []
    for i in range(first, n + 1):
        j = max(i, min(int(lowest[i]), last))
        n_kept, n_wrong, _ = below[i] + above[j]
        if n_wrong <= n_wrong_allowed:
            # of equals, the one that keeps few entailed facts for their low probability
            ways.append((n_kept, -n_wrong, -below[i, 2], i, j))
    *_, i, j = max(ways, default=(first, max(first, last)))
    return Thresholds(_between(values, i), _between(values, j))


def _between(values: Sequence[float], place: int) -> float:
    """The shortest decimal between the values before and at a place; 0 or 1 at the ends."""
    if place in {0, len(values)}:
        return float(place > 0)
    below, above = values[place - 1], values[place]
    candidates = ((math.floor(below * 10**n) + 1) / 10**n for n in range(1, 17))
    return next((value for value in candidates if below < value < above), (below + above) / 2)
