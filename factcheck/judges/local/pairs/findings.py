"""What one way of comparing two values has to say about them, and how sure it is."""

from __future__ import annotations

from typing import Literal, NamedTuple

from factcheck.judges.ports import Specificity


class Finding(NamedTuple):
    """That two values mean the same, as a probability, and why."""

    probability: float
    reason: str


Relation = Literal["same", "more", "less", "other"]
"""What the second value is to the first: it says the same, more, less, or something else."""

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
