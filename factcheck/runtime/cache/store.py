"""A hardened `diskcache` store that runs no code and touches no other files. Imported lazily.

A plain `diskcache` store trusts its rows: it unpickles values marked as pickled, reads the file
that a row names, and deletes that file when the row is overwritten (CVE-2025-69872). This store
does none of these.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Literal

import diskcache
from diskcache.core import DEFAULT_SETTINGS, METADATA, MODE_RAW

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
_VALUES = (
    "SELECT key, CASE WHEN mode = ? AND filename IS NULL AND typeof(value) = 'blob' "
    "THEN value END FROM Cache WHERE raw = 1 AND +expire_time IS NULL AND key IN "
)
"""Only leases expire. The plus keeps SQLite from using the index on expire_time, which would scan
all rows."""
_LEASE = (
    "SELECT CASE typeof(value) WHEN 'blob' THEN value END FROM Cache "
    "WHERE raw = 1 AND key = ? AND expire_time <= ?"
)
_KEYS_PER_QUERY = 500
"""Maximum number of keys in one query; every SQLite accepts 999 parameters."""

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


class _PlainDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """Stores text keys and byte values in the SQLite file: no pickle, no other files."""

    def put(self, key: Any) -> tuple[str, bool]:
        return str(key), True

    def store(self, value: Any, read: bool, key: Any = None) -> tuple[int, int, None, bytes]:  # noqa: ARG002, FBT001 - the signature of diskcache
        return len(value), MODE_RAW, None, bytes(value)

    def remove(self, file_path: str) -> None:
        pass


class ReadOnlyStore:
    """A store without write permission.

    It uses SQLite directly, because `diskcache` writes when it opens a store and looks keys up one
    by one. It never waits for a lock.
    """

    def __init__(self, path: Path) -> None:
        check_file(path)
        self._connection = _reading(path, "mode=ro&immutable=1")

    def read(self, keys: Sequence[str]) -> dict[str, bytes | None]:
        """Return the values of existing keys; `None` for rows in a foreign format."""
        found: dict[str, bytes | None] = {}
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            chunk = keys[start : start + _KEYS_PER_QUERY]
            query = f"{_VALUES}({','.join('?' * len(chunk))})"
            found.update(self._connection.execute(query, (MODE_RAW, *chunk)))
        return found

    def write(self, values: Mapping[str, bytes], answered: Collection[str] = ()) -> None:
        """Do nothing; `DiskCache` has warned about it."""

    def lease(self, key: str, seconds: float) -> bool:  # noqa: ARG002 - see above
        """Grant every lease, because the answer will not be stored."""
        return True

    def release(self, key: str) -> None:
        """Do nothing; there are no leases."""

    def close(self) -> None:
        self._connection.close()


class Store(ReadOnlyStore):
    """A writable store, used by one thread because `diskcache` has a connection per thread."""

    def __init__(self, path: Path) -> None:
        check_file(path)
        _check_settings(path)
        try:
            self.rows = diskcache.Cache(str(path.parent), timeout=0, disk=_PlainDisk, **_SETTINGS)
        except (TypeError, ValueError, LookupError, AttributeError, AssertionError) as error:
            raise DamagedStore(f"{type(error).__name__} on opening it") from error
        self._connection = _reading(path, "mode=ro")

    def write(self, values: Mapping[str, bytes], answered: Collection[str] = ()) -> None:
        """Store all values and release the leases of answered keys."""
        with self.rows.transact():
            for key, value in values.items():
                self.rows.set(key, value)
            for key in answered:
                self.release(key)

    def lease(self, key: str, seconds: float) -> bool:
        """Lease a key; `False` if another live process holds it.

        A lease that would outlast a new one is ignored: the clock was set back.
        """
        process, name = str(os.getpid()).encode(), _lease_of(key)
        if self.rows.add(name, process, expire=seconds):
            return True
        with self.rows.transact():
            found = self._connection.execute(_LEASE, (name, time.time() + seconds)).fetchone()
            is_free = found is None or not _is_alive(found[0])
            if is_free:
                self.rows.set(name, process, expire=seconds)
        return is_free

    def release(self, key: str) -> None:
        self.rows.delete(_lease_of(key))

    def close(self) -> None:
        super().close()
        self.rows.close()


def _lease_of(key: str) -> str:
    return f"lease {key}"


def _is_alive(holder: Any) -> bool:
    """Whether the process that holds a lease may be alive."""
    if os.name == "nt":  # os.kill would terminate the process there
        return True
    try:
        os.kill(int(holder), 0)
    except (ProcessLookupError, TypeError, ValueError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _reading(path: Path, mode: str) -> sqlite3.Connection:
    address = f"{path.absolute().as_uri()}?{mode}"
    return sqlite3.connect(address, uri=True, timeout=0, check_same_thread=False)


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
