"""The arithmetic of coverage: verdicts in, a share with its bounds out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from factcheck.facts.model import CheckResult, Verdict
from factcheck.facts.statistics import Interval, effective_size, wilson


@dataclass(frozen=True, slots=True)
class Share:
    """A weighted share of entailed facts, with everything that is not known about it."""

    value: float | None
    """Entailed weight over decided weight, in [0, 1]; `None` when nothing was decided."""
    low: float
    """The share if every undecided fact were not entailed, in [0, 1]."""
    high: float
    """The share if every undecided fact were entailed, in [0, 1]."""
    interval: Interval | None
    """95 % Wilson interval of `value`; `None` with it."""


def share_entailed(results: Sequence[CheckResult]) -> Share:
    """Weighted share of facts that are entailed.

    Args:
        results: One result per fact. A `CheckFailure` is undecided: it is outside `value` and
            inside `low` and `high`.

    Returns:
        The share. Without any weight to divide by, nothing is known: `None`, and [0, 1].

    Source:
        FActScore's ratio (Min et al., 2023) with premise and hypothesis swapped, which makes it a
        recall; Wilson's interval on Kish's effective number of facts.
    """
    largest = max((result.fact.weight for result in results), default=0.0)
    if largest <= 0.0:
        return Share(None, 0.0, 1.0, None)
    entailed: list[float] = []
    rejected: list[float] = []
    undecided: list[float] = []
    for result in results:
        group = (
            undecided
            if not isinstance(result, Verdict)
            else (entailed if result.supported else rejected)
        )
        group.append(result.fact.weight / largest)
    kept, open_ = math.fsum(entailed), math.fsum(undecided)
    decided = math.fsum(entailed + rejected)
    total = decided + open_
    if decided <= 0.0:
        return Share(None, 0.0, 1.0, None)
    value = kept / decided
    return Share(
        value=value,
        low=min(value, kept / total),
        high=max(value, (kept + open_) / total),
        interval=wilson(value, effective_size(entailed + rejected)),
    )
