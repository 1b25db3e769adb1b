"""Findings on pairs of values: fixed probabilities for rules, a fitted model for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from factcheck.judges.local.model import logistic, read_weights
from factcheck.judges.ports import Specificity


class Finding(NamedTuple):
    """Probability that two values are equivalent, and the reason."""

    probability: float
    reason: str


Relation = Literal["same", "more", "less", "other"]
"""Relation of the second value to the first: the same, more specific, less specific, different."""

DECISION = 0.5
"""Probability threshold of equivalence."""
SAME, SAME_WORDS = 0.98, 0.93
"""Probabilities of values that differ in notation; in word order, inflection, a frame."""
VAGUE, TURNED, OTHER = 0.3, 0.05, 0.02
"""Probabilities of a value that says more; of a negation, opposite or swapped role; of others."""
LEAST = 0.06
"""Minimum probability of values that differ in words only."""
_LONGEST_QUOTE = 60
FEATURES = ("least_entailed", "most_entailed", "names")
"""Features of values that both have distinct words; see `texts.features`."""


def settle(relation: Relation, specificity: Specificity, reason: str) -> Finding:
    """Return the finding for a relation of the extracted value to gold."""
    allowed = {"allow_more_specific": "more", "allow_less_specific": "less"}.get(specificity)
    if relation in {"same", allowed}:
        return Finding(SAME, reason)
    return Finding(OTHER if relation == "other" else VAGUE, reason)


def against(first: str, second: str) -> str:
    """Format the reason of a contradiction: `28 against 82`."""
    return f"{quoted(first)} against {quoted(second)}"


def quoted(text: str) -> str:
    """Format a value in one line, shortened if long."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:200]).split())
    line = line.encode("utf-8", "replace").decode("utf-8")
    return line if len(line) <= _LONGEST_QUOTE else line[: _LONGEST_QUOTE - 1].rstrip() + "…"


class PairModel(NamedTuple):
    """Logistic model of equivalence."""

    bias: float
    weights: tuple[float, ...]
    """Weights of `FEATURES`."""
    version: str
    """First 8 hex digits of the SHA-256 of the file."""

    def probability(self, features: Sequence[float]) -> float:
        """Probability of equivalence, at least `LEAST`."""
        score = sum(w * value for w, value in zip(self.weights, features, strict=True))
        return LEAST + (1 - LEAST) * logistic(self.bias + score)


@lru_cache(maxsize=1)
def load_pair_model() -> PairModel:
    """Load the packaged model."""
    weights, version = read_weights("factcheck.judges.local.pairs")
    return PairModel(weights["bias"], tuple(weights[name] for name in FEATURES), version)
