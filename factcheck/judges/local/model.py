"""The fitted coefficients of the embedded checker, kept as data in `model.json`."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from factcheck.judges.local.features import FACT_FEATURES, PASSAGE_FEATURES, TEXT_FEATURES

_LARGEST = 700.0
"""Above this, `exp` overflows; the probability is 0 to any precision by then."""


class Model(NamedTuple):
    """A logistic model of whether a sentence, in its text, entails a statement."""

    bias: float
    passage_weights: tuple[float, ...]
    """For `PASSAGE_FEATURES`."""
    whole_weights: tuple[float, ...]
    """For `TEXT_FEATURES`, never negative, or more text could lower a probability; and for
    `FACT_FEATURES`."""
    version: str
    """First 8 hex digits of the SHA-256 of the file."""

    def probability(self, passage: Sequence[float], whole: Sequence[float]) -> float:
        """That the sentence entails the statement, by these features."""
        score = self.bias
        for weight, value in zip(self.passage_weights, passage, strict=True):
            score += weight * value
        for weight, value in zip(self.whole_weights, whole, strict=True):
            score += weight * value
        return logistic(score)


class Weights(NamedTuple):
    """What a file of coefficients holds."""

    by_name: Mapping[str, float]
    version: str
    """First 8 hex digits of the SHA-256 of the file."""


def logistic(score: float) -> float:
    """The probability with these log odds."""
    return 1 / (1 + math.exp(min(-score, _LARGEST)))


def read_weights(room: str) -> Weights:
    """The coefficients in the `model.json` of a room, named as a package."""
    data = (files(room) / "model.json").read_bytes()
    weights = json.loads(data)["weights"]
    return Weights(
        {name: float(weight) for name, weight in weights.items()},
        hashlib.sha256(data).hexdigest()[:8],
    )


@lru_cache(maxsize=1)
def load_model() -> Model:
    """The model that is shipped."""
    weights, version = read_weights("factcheck.judges.local")
    return Model(
        bias=weights["bias"],
        passage_weights=tuple(weights[name] for name in PASSAGE_FEATURES),
        whole_weights=tuple(weights[name] for name in (*TEXT_FEATURES, *FACT_FEATURES)),
        version=version,
    )
