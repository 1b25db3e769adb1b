"""Cache keys, and the sealed form in which a store that others can damage holds a value."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Mapping, Sequence

JSON = bool | int | float | str | Sequence["JSON"] | Mapping[str, "JSON"] | None
"""Any JSON value."""

KEY_SCHEMA = 1
"""Part of every key. Raised when the meaning of keys changes, so that old entries are not found."""

_KEY = re.compile(r"[0-9a-f]{64}")
_CHECKSUM_DIGITS = 16
_log = logging.getLogger("factcheck.cache")


def answer_key(**parts: JSON) -> str:
    """The cache key of a question: SHA-256 of everything that shapes its answer.

    Args:
        parts: Names and values, in any order. Long texts cost their hashing for every key: give
            their digest, once computed, instead.

    Returns:
        64 hexadecimal digits; any difference in a name or value gives other ones.

    Raises:
        TypeError: A part is not JSON.
        ValueError: A part is not a finite number.
    """
    canonical = json.dumps(
        {"key_schema": KEY_SCHEMA, "parts": parts},
        ensure_ascii=False,
        sort_keys=True,
        separators=(",", ":"),
        allow_nan=False,
    )
    return hashlib.sha256(canonical.encode("utf-8", "surrogatepass")).hexdigest()


def is_key(text: str) -> bool:
    return _KEY.fullmatch(text) is not None


def check_keys(keys: Sequence[str]) -> None:
    for key in keys:
        if not is_key(key):
            raise ValueError(f"{key!r} is not a cache key; answer_key makes them")


def seal(key: str, value: str) -> bytes:
    """The stored form of a value: a checksum over key and value, then the value."""
    data = value.encode("utf-8", "surrogatepass")
    return _checksum(key, data) + data


def unseal(key: str, stored: object) -> str | None:
    """The value, or `None` if this is not what `seal` made for this key."""
    if type(stored) is not bytes:
        return None
    data = stored[_CHECKSUM_DIGITS:]
    if stored[:_CHECKSUM_DIGITS] != _checksum(key, data):
        return None
    return data.decode("utf-8", "surrogatepass")


def _checksum(key: str, data: bytes) -> bytes:
    digest = hashlib.sha256(key.encode("ascii") + data).hexdigest()
    return digest[:_CHECKSUM_DIGITS].encode("ascii")


class WarnOnce:
    """Logs each kind of warning once; repetitions go to the debug level."""

    def __init__(self) -> None:
        self._logged: set[str] = set()

    def __call__(self, kind: str, message: str, *details: object) -> None:
        level = logging.DEBUG if kind in self._logged else logging.WARNING
        self._logged.add(kind)
        _log.log(level, message, *details)

    def refused(self, where: str, key: str) -> None:
        self(
            "refused",
            "%s has an entry that was damaged or tampered with; it counts as missing (%s)",
            where,
            key[:16],
        )
