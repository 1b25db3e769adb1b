"""A hardened `diskcache` store that runs no code and touches no other files. Imported lazily.

`diskcache` creates the file; rows are read and written with SQL of our own. `diskcache` would
unpickle values marked as pickled, read the file that a row names, and delete that file when the row
is overwritten (CVE-2025-69872); and it takes a connection for each thread, and twice the time.
"""

from __future__ import annotations

import sqlite3
import stat
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Literal

import diskcache
from diskcache.core import DEFAULT_SETTINGS, METADATA, MODE_RAW

from factcheck.runtime.cache import leases
from factcheck.runtime.cache.entries import CHECKSUM_DIGITS

_NEVER = 2**62
"""Size in bytes beyond any limit."""
_SETTINGS = {
    **DEFAULT_SETTINGS,
    "cull_limit": 0,
    "disk_min_file_size": _NEVER,
    "eviction_policy": "none",
    "size_limit": _NEVER,
    "sqlite_mmap_size": 0,  # truncation of a mapped file would crash the process
}
"""All settings of `diskcache`, so that those stored in the file are ignored."""
_READ = (
    "SELECT CASE WHEN mode = ? AND filename IS NULL AND typeof(value) = 'blob' THEN value END "
    "FROM Cache WHERE raw = 1 AND key > ? AND key < ? ORDER BY rowid"
)
_WRITE = (
    "INSERT OR REPLACE INTO Cache (key, raw, store_time, access_time, size, mode, value) "
    "VALUES (?, 1, ?, ?, ?, ?, ?)"
)
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


class DamagedStore(Exception):
    """The file is not a valid store."""


def classify(error: BaseException) -> Trouble | None:
    """Classify a failure of the store; `None` for any other exception."""
    if isinstance(error, (DamagedStore, UnicodeDecodeError)):
        return "damaged"  # SQLite messages may quote bytes of the file that are not UTF-8
    if isinstance(error, sqlite3.ProgrammingError):
        return None
    if isinstance(error, diskcache.Timeout):
        return "locked"
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
        return {
            key: [v for (v,) in rows(_READ, (MODE_RAW, key, key + _AFTER_DIGITS))] for key in keys
        }

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
        _check_settings(path)
        try:
            diskcache.Cache(str(path.parent), timeout=0, **_SETTINGS).close()
        except (TypeError, ValueError, LookupError, AttributeError, AssertionError) as error:
            raise DamagedStore(f"{type(error).__name__} on opening it") from error
        self._connection = _connected(path, "mode=rw")
        self._connection.execute("PRAGMA synchronous = NORMAL")  # survives a kill, as do all modes
        self._leases = path.with_name("leases")

    def write(self, sealed: Mapping[str, bytes]) -> None:
        """Store all values in one transaction."""
        now = time.time()
        rows = [
            (key + value[:CHECKSUM_DIGITS].decode("ascii"), now, now, len(value), MODE_RAW, value)
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


def _check_settings(path: Path) -> None:
    """Raise if the file is locked or has settings unknown to `diskcache`.

    Each setting becomes an attribute of the cache, so a planted one could replace a method; and on
    a locked file `diskcache` would wait for a minute per statement.
    """
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        tables = connection.execute("SELECT name FROM sqlite_master WHERE name = 'Settings'")
        if tables.fetchone() is not None:
            names = {name for (name,) in connection.execute("SELECT key FROM Settings")}
            if not names <= {*DEFAULT_SETTINGS, *METADATA}:
                raise DamagedStore("it has settings unknown to diskcache")
        connection.execute("ROLLBACK")
