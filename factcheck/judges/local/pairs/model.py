"""What comparing two values finds, as a probability: fixed for rules, fitted for words."""

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
IDENTICAL = 1.0
SAME = 0.98
"""For values that differ in notation only."""
SIMILAR = 0.75
"""For values that are the same if something unsaid is as it usually is."""
VAGUE = 0.3
"""For one value that says more than the other where it may not."""
OTHER = 0.02
"""For values that contradict each other."""
_LONGEST_QUOTE = 60


def settle(relation: Relation, specificity: Specificity, reason: str) -> Finding:
    """The finding on an extracted value that has this relation to the gold one."""
    allowed = {"allow_more_specific": "more", "allow_less_specific": "less"}.get(specificity)
    if relation == "same":
        return Finding(SAME, reason)
    if relation == "other":
        return Finding(OTHER, reason)
    return Finding(SAME if relation == allowed else VAGUE, reason)


def against(first: str, second: str) -> str:
    """The reason of a contradiction: `28 against 82`."""
    return f"{quoted(first)} against {quoted(second)}"


def quoted(text: str) -> str:
    """A value, or the beginning of a long one, in one line."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text[:200]).split())
    line = line.encode("utf-8", "replace").decode("utf-8")
    return line if len(line) <= _LONGEST_QUOTE else line[: _LONGEST_QUOTE - 1].rstrip() + "…"


PLACES = ("frame", "aside", "title", "degree", "counted", "before", "behind", "inside", "apart")
"""How a unit that only one value has may stand to those in common."""
HARMLESS = frozenset({"frame", "aside", "title", "degree", "counted"})
"""Places where a word says nothing that makes another value of it."""
UNLESS_BOTH = ("aside", "title", "degree", "counted")
"""Those of them that matter if both values have something there: `Paris, France`, `Paris, Texas`.
"""
FEATURES = ("loss", *PLACES, "both", "numbers", "letters")


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
