"""The store of a disk cache: `diskcache` with rows of raw bytes; what is in it, and clearing it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import diskcache
from diskcache.core import MODE_RAW

from factcheck.errors import ConfigError, InputError

LOCK_WAIT_S = 5.0
"""Seconds to wait for another process's write."""
MAX_BYTES = 4 * 2**30
"""Size of a store from which a new answer replaces the oldest ones."""
_TOTALS = "SELECT count(*), CAST(min(store_time) AS REAL), CAST(max(store_time) AS REAL) FROM Cache"


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


def open_store(folder: Path) -> Any:
    """Open the store in a folder, which is created."""
    try:
        return diskcache.Cache(
            str(folder),
            LOCK_WAIT_S,
            disk=_RawDisk,
            eviction_policy="least-recently-stored",
            size_limit=MAX_BYTES,
        )
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


class Contents(NamedTuple):
    """What is in a cache."""

    n_entries: int = 0
    oldest: float | None = None
    newest: float | None = None
    """Unix time; `None` for an empty cache."""
    size: int = 0
    """Size on disk in bytes."""


def contents(path: Path) -> Contents:
    """Count the responses in the database of a `DiskCache`, valid or not; see `clear`."""
    if not path.exists():
        return Contents()
    with _connected(path) as connection:
        count, oldest, newest = connection.execute(_TOTALS).fetchone()
    size = sum(file.stat().st_size for file in path.parent.glob("cache.db*"))
    return Contents(count, oldest, newest, size)


def clear(path: Path) -> int:
    """Remove all responses from the database of a `DiskCache`; return their number.

    Raises:
        InputError: The file is damaged.
        ConfigError: It is locked, or cannot be used.
    """
    if not path.exists():
        return 0
    with _connected(path) as connection:
        return connection.execute("DELETE FROM Cache").rowcount


@contextmanager
def _connected(path: Path) -> Iterator[sqlite3.Connection]:
    """Connect to the database, and translate its errors."""
    folder = path.parent.parent
    try:
        with closing(
            sqlite3.connect(path, timeout=LOCK_WAIT_S, isolation_level=None)
        ) as connection:
            yield connection
    except Exception as error:
        if is_damage(error):
            raise InputError(
                f"the cache {folder} is damaged ({error}); the next run renames it and starts a "
                "new one"
            ) from error
        if is_trouble(error):
            raise ConfigError(f"the cache {folder} cannot be used: {error}") from error
        raise
