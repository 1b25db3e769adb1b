"""A small foreign evaluator with the same protocol for batch comparators, and types of its own.

It dispatches the pending fields of flat records, record by record, and knows nothing of this
package: what it is given has to work as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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


Outcome = tuple[str, float, "str | None"]
"""Status, score and reason of a field."""


def dispatch(
    comparator: Callable[..., Any],
    gold: Mapping[str, Any],
    extracted: Mapping[str, Any],
    params: Mapping[str, dict[str, Any]],
) -> dict[str, Outcome]:
    paths = [path for path in gold if path in extracted]
    items = [
        BatchItem(p, gold[p], extracted[p], gold[p], extracted[p], params.get(p, {})) for p in paths
    ]
    return {path: _outcome(answer) for path, answer in zip(paths, comparator(items), strict=True)}


def _outcome(answer: Any) -> Outcome:
    if not isinstance(answer, ComparatorResult):
        return "batch_error", 0.0, None
    return "match" if answer.score >= 1.0 else "mismatch", answer.score, answer.reason
