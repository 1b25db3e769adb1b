"""What an exception of the store means: wait, replace the store, or do without it."""

from __future__ import annotations

import sqlite3
from typing import Literal

Trouble = Literal["locked", "full", "unusable", "damaged"]

_BY_WORDS: tuple[tuple[str, Trouble], ...] = (
    ("is locked", "locked"),
    ("busy", "locked"),
    ("is full", "full"),
    ("readonly", "unusable"),
    ("unable to open", "unusable"),
    ("disk i/o error", "unusable"),
    ("out of memory", "unusable"),
    ("locking protocol", "unusable"),
    ("too big", "unusable"),
)
"""SQLite's messages; its error codes reach Python from 3.11 on only."""


def root(error: BaseException) -> BaseException:
    """The first error of those that `diskcache` raised on top of each other.

    It reports any failure to begin as `Timeout`, and a failed roll-back in place of its reason.
    """
    while isinstance(error.__context__, sqlite3.Error):
        error = error.__context__
    return error


def diagnosed(error: Exception) -> Trouble | None:
    """What is the matter with the store; `None` if the error is not the store's."""
    from diskcache import Timeout

    from factcheck.runtime.cache.safe_store import DamagedStore

    first = root(error)
    if isinstance(first, (DamagedStore, ValueError)):
        return "damaged"  # as ValueError: rows that cannot be, or an error text that is no text
    if isinstance(first, Timeout):
        return "locked"
    if isinstance(first, sqlite3.ProgrammingError):
        return None
    if isinstance(first, sqlite3.Error):
        words = str(first).lower()
        return next((trouble for part, trouble in _BY_WORDS if part in words), "damaged")
    return "unusable" if isinstance(first, (OSError, OverflowError)) else None
