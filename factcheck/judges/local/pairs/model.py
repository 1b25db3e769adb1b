"""What comparing two values finds, as a probability: fixed for rules, fitted for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, NamedTuple

from factcheck.judges.local.model import logistic, read_weights
from factcheck.judges.ports import Specificity


class Finding(NamedTuple):
    """That two values mean the same, as a probability, and why."""

    probability: float
    reason: str


Relation = Literal["same", "more", "less", "other"]
"""What the second value is to the first: it says the same, more, less, or something else."""

DECISION = 0.5
"""The probability from which two values count as equivalent."""
SAME = 0.98
"""For values that differ in notation only."""
SAME_WORDS = 0.93
"""For values that differ in the order or the form of their words, or in an addition."""
SIMILAR = 0.75
"""For values that are the same if something unsaid is as it usually is."""
VAGUE = 0.3
"""For one value that says more than the other where it may not."""
TURNED = 0.05
"""For a negation, an opposite or an exchange of roles."""
OTHER = 0.02
"""For values that contradict each other."""
LEAST = 0.06
"""The least for values that only differ in words."""
_LONGEST_QUOTE = 60
FEATURES = ("least_entailed", "most_entailed", "names")
"""Of two values that both have words of their own, as `texts.features` computes them."""


def settle(relation: Relation, specificity: Specificity, reason: str) -> Finding:
    """The finding on an extracted value that has this relation to the gold one."""
    allowed = {"allow_more_specific": "more", "allow_less_specific": "less"}.get(specificity)
    if relation in {"same", allowed}:
        return Finding(SAME, reason)
    return Finding(OTHER if relation == "other" else VAGUE, reason)


def against(first: str, second: str) -> str:
    """The reason of a contradiction: `28 against 82`."""
    return f"{quoted(first)} against {quoted(second)}"


def quoted(text: str) -> str:
    """A value, or the beginning of a long one, in one line."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:200]).split())
    line = line.encode("utf-8", "replace").decode("utf-8")
    return line if len(line) <= _LONGEST_QUOTE else line[: _LONGEST_QUOTE - 1].rstrip() + "…"


class PairModel(NamedTuple):
    """A logistic model of whether two values mean the same."""

    bias: float
    weights: tuple[float, ...]
    """For `FEATURES`."""
    version: str
    """First 8 hex digits of the SHA-256 of the file."""

    def probability(self, features: Sequence[float]) -> float:
        """That two values mean the same; never below `LEAST`, since words are no proof."""
        score = sum(w * value for w, value in zip(self.weights, features, strict=True))
        return LEAST + (1 - LEAST) * logistic(self.bias + score)


@lru_cache(maxsize=1)
def load_pair_model() -> PairModel:
    """The model that is shipped."""
    weights, version = read_weights("factcheck.judges.local.pairs")
    return PairModel(weights["bias"], tuple(weights[name] for name in FEATURES), version)
