"""The store of a disk cache: `diskcache` with rows of raw bytes, or a file that is only read."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import diskcache
from diskcache.core import MODE_RAW


class _RawDisk(diskcache.Disk):  # type: ignore[misc]
    """Writes and reads raw bytes: a row that holds a pickle, or names a file, has no value.

    `diskcache` itself would unpickle the one, and read and remove the other (CVE-2025-69872).
    """

    def put(self, key: str) -> tuple[str, bool]:
        return key, True

    def store(self, value: bytes, *_: Any, **__: Any) -> tuple[int, int, None, bytes]:
        return 0, MODE_RAW, None, value

    def fetch(self, mode: int, filename: object, value: Any, read: object) -> Any:  # noqa: ARG002
        return value if mode == MODE_RAW and filename is None else b""

    def remove(self, file_path: str) -> None:
        """Leave files alone: none is ours."""


class ReadOnlyStore:
    """A store in a place that cannot be written to."""

    def __init__(self, path: Path) -> None:
        address = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
        self._db = sqlite3.connect(address, uri=True, check_same_thread=False)

    def get(self, key: str) -> Any:
        select = "SELECT value FROM Cache WHERE key = ? AND raw = 1 AND filename IS NULL"
        row = self._db.execute(select, (key,)).fetchone()
        return row[0] if row else None

    def close(self) -> None:
        self._db.close()


def open_store(folder: Path, timeout_s: float) -> Any:
    """Open the store in a folder, which is created; nothing is evicted."""
    try:
        return diskcache.Cache(str(folder), timeout_s, disk=_RawDisk, eviction_policy="none")
    except (TypeError, ValueError, AttributeError) as error:
        raise sqlite3.DatabaseError(f"its settings cannot be used: {error}") from error


def is_damage(error: Exception) -> bool:
    """Whether an error is the fault of the file; other errors may pass."""
    if isinstance(error, sqlite3.OperationalError):
        return "no such" in str(error)  # a table or a column
    return type(error) is sqlite3.DatabaseError or isinstance(error, UnicodeDecodeError)


def is_trouble(error: Exception) -> bool:
    """Whether an error is one of the disk, or of another process that holds the lock."""
    return isinstance(error, (OSError, diskcache.Timeout)) or (
        isinstance(error, sqlite3.Error) and not isinstance(error, sqlite3.ProgrammingError)
    )
