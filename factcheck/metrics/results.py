"""What a metric says about one case: a score, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from factcheck.errors import InputError


@dataclass(frozen=True, slots=True)
class MetricFailure:
    """A case could not be measured; it neither passes nor fails."""

    code: str
    """Stable reason: a code of `factcheck.errors`, `undecided`, or `raised` for an error of
    somebody else's code."""
    message: str

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {"code": self.code, "message": self.message}


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricResult:
    """What a metric says about one case; made by `scored` or `failed`.

    Raises:
        InputError: The score is outside [0, 1], or there is neither a score nor an error, or both.
    """

    score: float | None
    """In [0, 1]; `None` where the case could not be measured, never 0.0 or NaN for that."""
    passed: bool | None
    """Whether the score is good enough; `None` where there is none."""
    reason: str = ""
    error: MetricFailure | None = None
    details: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What the score was made of, JSON-ready; its keys are the metric's own."""

    def __post_init__(self) -> None:
        if self.error is not None:
            if (self.score, self.passed) != (None, None):
                raise InputError("a result with an error has no score and neither passes nor fails")
            return
        if not is_share(self.score):
            raise InputError(f"a score must be a number from 0 to 1, not {self.score!r}")
        if not isinstance(self.passed, bool):
            raise InputError(f"a result with a score passes or fails, not {self.passed!r}")

    @classmethod
    def scored(
        cls,
        score: float,
        *,
        passed: bool,
        reason: str = "",
        details: Mapping[str, Any] | None = None,
    ) -> MetricResult:
        """A case that was measured."""
        return cls(score=score, passed=passed, reason=reason, details=details or {})

    @classmethod
    def failed(cls, code: str, message: str) -> MetricResult:
        """A case that could not be measured."""
        return cls(score=None, passed=None, reason=message, error=MetricFailure(code, message))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "score": self.score,
            "passed": self.passed,
            "reason": self.reason,
            "error": self.error.to_dict() if self.error else None,
            "details": dict(self.details),
        }


def is_share(value: Any) -> bool:
    """Whether this is a number in [0, 1]."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0.0 <= value <= 1.0


def check_threshold(threshold: Any) -> float:
    """The threshold of a metric.

    Raises:
        InputError: It is no number in [0, 1].
    """
    if not is_share(threshold):
        raise InputError(f"threshold must be a number from 0 to 1, not {threshold!r}")
    return float(threshold)
