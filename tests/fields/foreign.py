"""Types of a foreign evaluator with the same protocol for batch comparators."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class BatchItem:
    """One question."""

    path: str
    gold_raw: Any
    extracted_raw: Any
    gold_compared: Any
    extracted_compared: Any
    params: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ComparatorResult:
    """One answer."""

    score: float
    comparator: str
    reason: str | None = None
    skip: bool = False
