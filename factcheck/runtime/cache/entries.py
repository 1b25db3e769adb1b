"""Ports of response caches, cache keys, and checksummed values."""

from __future__ import annotations

import hashlib
import json
import logging
import re
from collections.abc import Mapping, Sequence
from secrets import token_hex
from typing import Protocol, runtime_checkable

JSON = bool | int | float | str | Sequence["JSON"] | Mapping[str, "JSON"] | None
"""Any JSON value."""

KEY_SCHEMA = 1
"""Version in every key; incremented when the meaning of keys changes, to invalidate old entries."""

_KEY = re.compile(r"[0-9a-f]{64}")
_CHECKSUM_DIGITS = 16
_MARK = token_hex(16)
"""Marks the place of a question's part in the serialised parts; it occurs in no text."""
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
    return _sha256(_canonical({"key_schema": KEY_SCHEMA, "parts": parts}))


def answer_keys(questions: Sequence[Mapping[str, JSON]], **shared: JSON) -> list[str]:
    """Return the `answer_key` of each question; shared parts are serialised once."""
    pieces_of: dict[tuple[str, ...], list[str]] = {}
    keys = []
    for question in questions:
        names = tuple(sorted(question))
        if names not in pieces_of:
            parts: dict[str, JSON] = {**shared, **dict.fromkeys(names, _MARK)}
            template = _canonical({"key_schema": KEY_SCHEMA, "parts": parts})
            pieces_of[names] = template.split(f'"{_MARK}"')
        *pieces, end = pieces_of[names]
        text = "".join(
            piece + _canonical(question[name]) for piece, name in zip(pieces, names, strict=True)
        )
        keys.append(_sha256(text + end))
    return keys


def _canonical(data: JSON) -> str:
    return _ENCODER.encode(data)


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def is_key(text: str) -> bool:
    return _KEY.fullmatch(text) is not None


def seal(key: str, value: str) -> bytes:
    """Encode a value for storage: a checksum over key and value, followed by the value."""
    data = value.encode("utf-8", "surrogatepass")
    return _checksum(key, data) + data


def unseal(key: str, stored: object) -> str | None:
    """Decode a stored value; `None` if its checksum does not match this key."""
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


@runtime_checkable
class AnswerCache(Protocol):
    """A thread-safe store of strings by key.

    Errors of the store are logged to `factcheck.cache`, once per kind, and never raised; entries
    that cannot be read are missing.
    """

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        """Return the cached values among these keys, which `answer_key` makes."""
        ...

    def set_many(self, entries: Mapping[str, str]) -> None:
        """Store all entries, replacing earlier values, or none if the store fails."""
        ...

    def close(self) -> None:
        """Release files and connections; the next use reopens them."""
        ...


@runtime_checkable
class LeasingCache(AnswerCache, Protocol):
    """A cache whose processes can wait for each other's answers."""

    leased: set[str]
    """Keys leased by this process."""

    def lease(self, key: str, seconds: float) -> bool:
        """Lease a key; `False` if another process holds it.

        The lease ends after `seconds`, when the answer is stored, or with `release`.
        """
        ...

    def release(self, key: str) -> None:
        """End a lease of this process."""
        ...
