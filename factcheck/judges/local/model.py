"""The fitted coefficients of the embedded judge, kept as data in `model.json`."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

_LARGEST = 700.0
"""Above this, `exp` overflows; the probability is 0 to any precision by then."""
DENIED = 3.0
"""What a conflict that decides takes from the log odds, or a reader that is sure."""
REFUSED = -3.0
"""The reader's log odds below which it is sure that a passage does not entail the statement."""


class Features(NamedTuple):
    """What speaks for a statement in a passage of a text."""

    text_third: float
    """Mean cosine of the best matches, anywhere in the text, of the worst third of the word pieces
    of content."""
    passage_mean: float
    """Mean cosine of the best matches of all word pieces in the passage."""
    entailed: float
    """The reader's log odds; so are the next."""
    contradicted: float


NAMES = ("text.third", "passage.mean", "reader.entailed", "reader.contradicted")
"""The fields of `Features` in `model.json`."""


class Weights(NamedTuple):
    """What a file of coefficients holds."""

    by_name: Mapping[str, float]
    version: str
    """First 8 hex digits of the SHA-256 of the file and of the digests of both networks."""


class Model(NamedTuple):
    """A logistic model of whether a passage, in its text, entails a statement."""

    bias: float
    weights: tuple[float, ...]
    """For `Features`; none has the wrong sign, so more text never lowers a probability."""
    version: str

    def probability(self, features: Features, *, is_denied: bool = False) -> float:
        """That the passage entails the statement."""
        score = self.bias + sum(w * v for w, v in zip(self.weights, features, strict=True))
        return logistic(score - DENIED * (is_denied or features.entailed < REFUSED))


def logistic(score: float) -> float:
    """The probability with these log odds."""
    return 1 / (1 + math.exp(min(-score, _LARGEST)))


def read_weights(room: str) -> Weights:
    """The coefficients in the `model.json` of a room, named as a package."""
    data = (files(room) / "model.json").read_bytes()
    networks = (files("factcheck.judges.local") / "weights" / "SHA256SUMS").read_bytes()
    weights = json.loads(data)["weights"]
    return Weights(
        {name: float(weight) for name, weight in weights.items()},
        hashlib.sha256(data + networks).hexdigest()[:8],
    )


@lru_cache(maxsize=1)
def load_model() -> Model:
    """The model that is shipped; the weights of the encoder and the reader belong to it."""
    weights, version = read_weights("factcheck.judges.local")
    return Model(weights["bias"], tuple(weights[name] for name in NAMES), version)
