"""The file of a disk cache: a `diskcache` store that is trusted in nothing. Imported lazily.

`diskcache` makes it, and can read it; after that, only the SQL below touches it. `diskcache` would
unpickle values marked as pickled, read the file that a row names and delete it with the row
(CVE-2025-69872), and turn planted settings into attributes; and it takes twice the time.
"""

from __future__ import annotations

import sqlite3
import stat
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal

from factcheck.runtime.cache import leases
from factcheck.runtime.cache.entries import CHECKSUM_DIGITS, KEY_DIGITS

_READ = (
    "SELECT CASE typeof(value) WHEN 'blob' THEN value END "
    "FROM Cache WHERE key > ? AND key < ? ORDER BY rowid"
)
_WRITE = (  # mode 1: bytes in the database; a row that was replaced would be counted twice
    "INSERT INTO Cache (key, raw, store_time, access_time, mode, value) VALUES (?, 1, ?, ?, 1, ?) "
    "ON CONFLICT (key, raw) DO UPDATE SET store_time = excluded.store_time, value = excluded.value"
)
_MAKING = "0" * KEY_DIGITS
"""Leased by the process that makes the file."""
_AFTER_DIGITS = "g"

Trouble = Literal["locked", "full", "unusable", "damaged"]
"""Kind of failure: wait, continue without a cache (twice), or start a new store."""

_BY_MESSAGE: tuple[tuple[str, Trouble], ...] = (
    ("is locked", "locked"),
    ("busy", "locked"),
    ("is full", "full"),
    ("unable to open", "unusable"),
    ("disk i/o error", "unusable"),
    ("out of memory", "unusable"),
    ("locking protocol", "unusable"),
    ("too big", "unusable"),
)
"""Kinds by parts of SQLite's messages; Python exposes its error codes only from 3.11."""


def classify(error: BaseException) -> Trouble | None:
    """Classify a failure of the store; `None` for any other exception."""
    if isinstance(error, UnicodeDecodeError):
        return "damaged"  # SQLite messages may quote bytes of the file that are not UTF-8
    if isinstance(error, sqlite3.ProgrammingError):
        return None
    if isinstance(error, sqlite3.Error):
        message = str(error).lower()
        return next((trouble for part, trouble in _BY_MESSAGE if part in message), "damaged")
    return "unusable" if isinstance(error, (OSError, OverflowError)) else None


class ReadOnlyStore:
    """A store without write permission; it never waits for a lock."""

    def __init__(self, path: Path) -> None:
        check_file(path)
        self._connection = _connected(path, "mode=ro&immutable=1")

    def read(self, keys: Sequence[str]) -> dict[str, list[bytes | None]]:
        """Return the values under each key, in the order of writing; `None` for foreign formats."""
        rows = self._connection.execute
        return {key: [v for (v,) in rows(_READ, (key, key + _AFTER_DIGITS))] for key in keys}

    def write(self, sealed: Mapping[str, bytes]) -> None:
        """Do nothing; `DiskCache` has warned about it."""

    def lease(self, key: str) -> bool:  # noqa: ARG002 - see below
        """Grant every lease, because the answer will not be stored."""
        return True

    def release(self, key: str) -> None:
        """Do nothing; there are no leases."""

    def close(self) -> None:
        self._connection.close()


class Store(ReadOnlyStore):
    """A writable store. A row has one value; its key is followed by the checksum of the value."""

    def __init__(self, path: Path) -> None:
        check_file(path)
        self._leases = path.with_name("cache.db-leases")
        if not path.exists():
            self._make(path)
        self._connection = _connected(path, "mode=rw")
        self._connection.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing

    def _make(self, path: Path) -> None:
        """Have `diskcache` make an empty file, and move it into its place in one step.

        Raises:
            sqlite3.OperationalError: The file is locked by another process that does so.
        """
        import diskcache

        if not self.lease(_MAKING):
            raise sqlite3.OperationalError(f"{path} is locked by the process that makes it")
        try:
            if not path.exists():
                with tempfile.TemporaryDirectory(dir=path.parent, prefix="new-") as folder:
                    diskcache.Cache(folder, eviction_policy="none").close()
                    Path(folder, path.name).rename(path)
        finally:
            self.release(_MAKING)

    def write(self, sealed: Mapping[str, bytes]) -> None:
        """Store all values in one transaction."""
        now = time.time()
        rows = [
            (key + value[:CHECKSUM_DIGITS].decode("ascii"), now, now, value)
            for key, value in sealed.items()
        ]
        with self._connection:
            self._connection.execute("BEGIN IMMEDIATE")
            self._connection.executemany(_WRITE, rows)

    def lease(self, key: str) -> bool:
        return leases.take(self._leases, key)

    def release(self, key: str) -> None:
        leases.release(self._leases, key)


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?{mode}"
    return sqlite3.connect(
        address, uri=True, timeout=0, isolation_level=None, check_same_thread=False
    )


def check_file(path: Path) -> None:
    """Raise unless the file is regular or absent; pipes and links are rejected."""
    if (path.is_symlink() or path.exists()) and not stat.S_ISREG(path.lstat().st_mode):
        raise PermissionError(f"{path} is not a regular file")
