"""The fitted coefficients of the pair judge, kept as data in `model.json`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from factcheck.judges.local.model import logistic, read_weights
from factcheck.judges.local.pairs.features import FEATURES


class PairModel(NamedTuple):
    """A logistic model of whether two values mean the same."""

    bias: float
    weights: tuple[float, ...]
    """For `FEATURES`, never positive: what only one value says never speaks for a pair."""
    version: str
    """First 8 hex digits of the SHA-256 of the file."""

    def probability(self, features: Sequence[float]) -> float:
        score = self.bias
        for weight, value in zip(self.weights, features, strict=True):
            score += weight * value
        return logistic(score)


@lru_cache(maxsize=1)
def load_pair_model() -> PairModel:
    weights, version = read_weights("factcheck.judges.local.pairs")
    return PairModel(weights["bias"], tuple(weights[name] for name in FEATURES), version)
