"""Settings from the environment, which is read here only, and checks of numeric options."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from factcheck.errors import InputError

LOCAL = "local"
"""Name of the built-in judge."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Settings from environment variables."""

    judge: str = LOCAL
    """`FACTCHECK_JUDGE`: default judge."""
    extractor: str | None = None
    """`FACTCHECK_EXTRACTOR`: default extractor; `None`: the judge."""
    openai_api_key: str | None = field(default=None, repr=False)
    """`OPENAI_API_KEY`."""
    openai_base_url: str | None = None
    """`OPENAI_BASE_URL`: any OpenAI-compatible server."""
    cache: str | None = field(default=None, repr=False)
    """`FACTCHECK_CACHE`: `off`, or the URL of a Redis server; `None`: a folder on disk."""
    cache_dir: str | None = None
    """`FACTCHECK_CACHE_DIR`: cache folder; `None`: the user's cache folder of the platform."""

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        """Read the settings; empty variables count as unset."""
        return cls(
            judge=environment.get("FACTCHECK_JUDGE") or LOCAL,
            extractor=environment.get("FACTCHECK_EXTRACTOR") or None,
            openai_api_key=environment.get("OPENAI_API_KEY") or None,
            openai_base_url=environment.get("OPENAI_BASE_URL") or None,
            cache=environment.get("FACTCHECK_CACHE") or None,
            cache_dir=environment.get("FACTCHECK_CACHE_DIR") or None,
        )


def require_integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """`value` if it is an integer from `low` to `high`; a bool is not one.

    Raises:
        InputError: It is not; the message names the option.
    """
    if type(value) is int and low <= value and (high is None or value <= high):
        return value
    wanted = f"of at least {low}" if high is None else f"from {low} to {high}"
    raise InputError(f"{name} must be an integer {wanted}, not {value!r}")


def require_number(
    name: str, value: object, low: float | None = None, *, above: float | None = None
) -> float:
    """`value` if it is a finite number, at least `low` and more than `above`; a bool is not one.

    Raises:
        InputError: It is not; the message names the option.
    """
    if (
        type(value) in (int, float)
        and math.isfinite(value)  # type: ignore[arg-type] # just checked
        and (low is None or value >= low)  # type: ignore[operator]
        and (above is None or value > above)  # type: ignore[operator]
    ):
        return value  # type: ignore[return-value]
    wanted = f"of at least {low:g}" if low is not None else f"above {above or 0:g}"
    raise InputError(f"{name} must be a finite number {wanted}, not {value!r}")
