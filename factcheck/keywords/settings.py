"""How cards are scored and matched: one value that a run carries with its results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from factcheck.errors import InputError
from factcheck.facts.reading import Reader
from factcheck.keywords.similarity import TYPE_WEIGHT, Weights, require_share

THRESHOLD = 0.3
"""Score that a pair needs."""
Assignment = Literal["greedy", "optimal"]
ASSIGNMENTS: tuple[Assignment, ...] = get_args(Assignment)


@dataclass(frozen=True, slots=True)
class MatchSettings:
    """How cards are scored and matched."""

    threshold: float = THRESHOLD
    """Score that a pair needs, in [0, 1]."""
    weights: Weights = field(default_factory=Weights)
    assignment: Assignment = "greedy"

    def __post_init__(self) -> None:
        require_share(self.threshold, "threshold")
        if self.assignment not in ASSIGNMENTS:
            raise InputError(
                f"assignment must be one of {', '.join(ASSIGNMENTS)}, not {self.assignment!r}"
            )

    @classmethod
    def of(
        cls,
        threshold: float = THRESHOLD,
        weights: Mapping[str, float] | None = None,
        type_weight: float = TYPE_WEIGHT,
        assignment: Assignment = "greedy",
    ) -> MatchSettings:
        """Settings from single values.

        Raises:
            InputError: One cannot be used.
        """
        return cls(threshold, Weights(weights or {}, type_weight), assignment)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "threshold": self.threshold,
            "weights": dict(self.weights.fields),
            "type_weight": self.weights.card_type,
            "assignment": self.assignment,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> MatchSettings:
        """Inverse of `to_dict`.

        Raises:
            InputError: A value is missing or cannot be used.
        """
        read = Reader(data, "settings")
        weights = read.mapping_required("weights")
        return cls.of(
            read.number("threshold"),
            weights,
            read.number("type_weight"),
            read.choice("assignment", ASSIGNMENTS),
        )
