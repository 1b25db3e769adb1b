"""Port of response caches, cache keys, and stored values."""

from __future__ import annotations

import hashlib
import json
import logging
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

JSON = bool | int | float | str | Sequence["JSON"] | Mapping[str, "JSON"] | None
"""Any JSON value."""

KEY_SCHEMA = 2
"""Version in every key; incremented when the meaning of keys changes, to invalidate old entries."""
KEY_DIGITS = 64

_ENCODER = json.JSONEncoder(
    ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False
)
_log = logging.getLogger("factcheck.cache")


def answer_key(**parts: JSON) -> str:
    """Return the cache key of a question: SHA-256 of everything that affects its answer, as hex.

    Any difference in a name or value changes the key. Pass long texts as digests to avoid hashing
    them for every key.

    Raises:
        TypeError: A part is not JSON.
        ValueError: A part is not a finite number.
    """
    text = _ENCODER.encode({"key_schema": KEY_SCHEMA, "parts": parts})
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def packed(values: Sequence[str]) -> bytes:
    """Encode values for storage."""
    return json.dumps([*values]).encode()


def unpacked(stored: Any) -> list[str] | None:
    """Decode stored values; `None` if they cannot be read."""
    try:
        values = json.loads(stored)
    except (TypeError, ValueError, RecursionError):
        return None
    if isinstance(values, list) and all(isinstance(value, str) for value in values):
        return values
    return None


class Store:
    """Base of the stores: a failure is logged, once per kind, and never raised."""

    pause_s = 10.0
    """Seconds without the store after a failure, so that an outage delays a run only briefly."""

    def __init__(self, name: str) -> None:
        self.name = name
        """Name of the store in messages."""
        self._logged: set[str] = set()
        self._paused_until = 0.0

    @property
    def is_paused(self) -> bool:
        return time.monotonic() < self._paused_until

    def warn(self, kind: str, message: str, *details: object) -> None:
        """Log a warning that begins with the name; repetitions go to the debug level."""
        level = logging.DEBUG if kind in self._logged else logging.WARNING
        self._logged.add(kind)
        _log.log(level, f"%s {message}", self.name, *details)

    def pause(self, kind: str, problem: str, reason: object, seconds: float | None = None) -> None:
        """Do without the store for `pause_s`, or for these seconds, with a warning."""
        self._paused_until = time.monotonic() + (self.pause_s if seconds is None else seconds)
        self.warn(kind, "%s; continuing without it (%s)", problem, reason)

    def values_of(self, rows: Iterable[tuple[str, Any]]) -> dict[str, list[str]]:
        """Return the values under each key; those that cannot be read are missing."""
        found: dict[str, list[str]] = {}
        for key, stored in rows:
            values = unpacked(stored)
            if values is None:
                message = "has an entry that cannot be read; it counts as missing (%s)"
                self.warn("damaged", message, key[:16])
            elif values:
                found.setdefault(key, []).extend(values)
        return found


@runtime_checkable
class AnswerCache(Protocol):
    """A thread-safe store of strings, any number of them under each key.

    Errors of the store are logged to `factcheck.cache`, once per kind, and never raised; values
    that cannot be read are missing.
    """

    def get_many(self, keys: Sequence[str]) -> dict[str, list[str]]:
        """Return the values under these keys, which `answer_key` makes, in the order of writing."""
        ...

    def add_many(self, entries: Mapping[str, str]) -> None:
        """Add a value under each key, or none of them if the store fails."""
        ...

    def close(self) -> None:
        """Release files and connections; the next use reopens them."""
        ...
