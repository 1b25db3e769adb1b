"""How language models are called: what all judges of one scorer share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from factcheck.errors import InputError
from factcheck.runtime.budget import Purse
from factcheck.runtime.retry import RetryPolicy

if TYPE_CHECKING:
    from factcheck.runtime.cache import AnswerCache


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOptions:
    """How language models are called.

    Raises:
        InputError: A number is out of range.
    """

    facts_per_call: int = 16
    """Facts checked in one call, at most; from 1 to 100."""
    concurrency: int = 32
    """Requests under way at most, per language model."""
    timeout_s: float = 120.0
    """Seconds one request may take; reasoning models are slow."""
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    """How often a request is tried."""
    purse: Purse = field(default_factory=Purse)
    """What may still be spent."""
    cache: AnswerCache | None = None
    """Where answers are kept; `None`: nowhere."""
    around: Callable[[Any], Any] = lambda transport: transport
    """Puts another transport around that of each model: one that only counts, or that batches."""

    def __post_init__(self) -> None:
        if not 1 <= self.facts_per_call <= 100:  # noqa: PLR2004 - more than a model keeps apart
            raise InputError(f"facts_per_call must be from 1 to 100, not {self.facts_per_call}")
        if self.concurrency < 1:
            raise InputError(f"concurrency must be at least 1, not {self.concurrency}")
        if not self.timeout_s > 0:
            raise InputError(f"timeout_s must be more than 0, not {self.timeout_s}")
