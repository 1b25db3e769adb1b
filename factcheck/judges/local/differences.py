"""What a difference between a fact and a sentence is, and where in the sentence to look for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

from factcheck.judges.local.features import Statement
from factcheck.judges.local.passages import Passage

_REACH = 1
"""Units within which a word stands in place of another, counted from a word that fits."""


class Mismatch(NamedTuple):
    """A reason why a sentence cannot entail a fact."""

    kind: Literal["negation", "number", "name", "order", "word", "gap", "hedge", "sense"]
    said: str
    """Words of the sentence; empty for a gap."""
    wanted: str
    """Words of the fact."""
    unit: int
    """Which unit of the fact does not fit."""

    @property
    def contradicts(self) -> bool:
        """Whether the sentence says something incompatible, rather than too little."""
        return self.kind in {"negation", "number", "name", "order"}


def beside_neighbours(
    wanted: Statement, passage: Passage, places: Sequence[int | None], k: int
) -> list[int]:
    """Where unit `k` of the fact would stand: the units after the one before it, and so on."""
    own = wanted.units[k]
    beside: list[int] = []
    before, after = k - 1, k + 1
    while own.is_name and before >= 0 and wanted.units[before].is_name and places[before] is None:
        before -= 1
    while (
        own.is_name
        and after < len(places)
        and wanted.units[after].is_name
        and places[after] is None
    ):
        after += 1
    low = places[before] if before >= 0 else None
    high = places[after] if after < len(places) else None
    if low is None and high is None:
        return beside
    for place in passage.units:
        behind = (
            low is not None and low < place and passage.ranks[place] - passage.ranks[low] <= _REACH
        )
        ahead = (
            high is not None
            and place < high
            and passage.ranks[high] - passage.ranks[place] <= _REACH
        )
        inside = (low is None or place > low) and (high is None or place < high)
        if inside and (behind or ahead):
            beside.append(place)
    return beside
