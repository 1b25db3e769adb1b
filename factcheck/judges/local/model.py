"""The logistic models of the embedded judges; coefficients are in their `model.json`."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Sequence
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

from factcheck.errors import ConfigError, describe

_SETS = ("news summaries", "chatbot answers", "adversarial claims")
"""REALSumm, FactCheckGPT and FM2."""
_MEASURED = {
    "local": ("local/19@ca9a09c1", (0.837, 0.750, 0.687)),
    "containment": ("containment/4@0.65", (0.821, 0.698, 0.529)),
}
"""Version and balanced accuracy on each of the sets, by judge; 0.5 is chance."""
_LARGEST = 700.0
"""Largest argument of `exp` that does not overflow."""
_CONFLICT = 6.0
"""Penalty in log odds for a number or date in conflict: no passage is as good as that."""
_DENIED = 3.0
"""Penalty in log odds for a confident refusal by the reader."""
_REFUSED = -3.0
"""Log odds of the reader below which its refusal is confident."""


class Features(NamedTuple):
    """Features of a statement against a passage of a text."""

    text_third: float
    """Mean cosine, over the worst third of the content word pieces, of the best match anywhere in
    the text."""
    passage_mean: float
    """Mean cosine, over all word pieces, of the best match in the passage."""
    entailed: float
    """Log odds of the reader."""
    contradicted: float
    """Log odds of the reader."""

    def penalty(self, *, is_conflict: bool) -> float:
        """Return what a conflict, or a confident refusal by the reader, costs in log odds."""
        if is_conflict:
            return _CONFLICT
        return _DENIED if self.entailed < _REFUSED else 0.0


NAMES = ("text.third", "passage.mean", "reader.entailed", "reader.contradicted")
"""Names of the features in `model.json`."""


class Model(NamedTuple):
    """A logistic model."""

    bias: float
    weights: tuple[float, ...]
    """In the order of the features."""
    version: str
    """First 8 hex digits of the SHA-256 of the file and the digests of both networks."""

    def probability(self, features: Sequence[float], penalty: float = 0.0) -> float:
        """Return the probability for features, with a penalty in log odds."""
        score = self.bias + sum(w * v for w, v in zip(self.weights, features, strict=True))
        return logistic(score - penalty)


def logistic(score: float) -> float:
    """Convert log odds to a probability."""
    return 1 / (1 + math.exp(min(-score, _LARGEST)))


def read_model(room: str, names: Sequence[str]) -> Model:
    """Read the `model.json` of a package, with the weights of these features.

    Raises:
        ConfigError: It cannot be read.
    """
    try:
        data = (files(room) / "model.json").read_bytes()
        networks = (files("factcheck.judges.local") / "weights" / "SHA256SUMS").read_bytes()
        weights = json.loads(data)["weights"]
        bias, *others = (float(weights[name]) for name in ("bias", *names))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"model.json of the embedded judge cannot be read ({describe(error)}); "
            "reinstall factcheck"
        ) from error
    return Model(bias, tuple(others), hashlib.sha256(data + networks).hexdigest()[:8])


@lru_cache(maxsize=1)
def load_model() -> Model:
    """Load the model of facts; more text never lowers the probability."""
    return read_model("factcheck.judges.local", NAMES)


def quality_of(judge: str) -> str:
    """Describe the balanced accuracy of a judge on human-labelled data sets in one line.

    Args:
        judge: Name and version, as in the score signature; the line says if the figures belong to
            another version.
    """
    measured, values = _MEASURED[judge.partition("/")[0]]
    figures = (f"{value:.2f} on {name}" for name, value in zip(_SETS, values, strict=True))
    version = "" if measured == judge else f" of another version, {measured}:"
    return f"balanced accuracy{version} {', '.join(figures)}"
