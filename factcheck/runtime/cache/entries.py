"""Port of response caches, cache keys, and stored values."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping, Sequence
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


DAMAGED = "%s has an entry that cannot be read; it counts as missing (%s)"
"""Warning of a cache; takes its name and the first digits of a key."""


class WarnOnce:
    """Logs each kind of warning once; repetitions go to the debug level."""

    def __init__(self) -> None:
        self._logged: set[str] = set()

    def __call__(self, kind: str, message: str, *details: object) -> None:
        level = logging.DEBUG if kind in self._logged else logging.WARNING
        self._logged.add(kind)
        _log.log(level, message, *details)


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
