"""A `diskcache` store that runs no code and touches no file but its own. Imported when opened.

A plain `diskcache` store believes its rows: it unpickles what a row calls pickled, reads the file
that a row names, and removes that file when the row is overwritten (CVE-2025-69872). Here each of
these is refused, whoever wrote the row.
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
"""As a size in bytes, more than any."""
_SETTINGS = {
    **DEFAULT_SETTINGS,
    "cull_limit": 0,
    "disk_min_file_size": _NEVER,
    "eviction_policy": "none",
    "size_limit": _NEVER,
    "sqlite_mmap_size": 0,  # a mapped file that someone truncates would end the process
}
"""All of them: what the file says about itself is not used."""
_VALUES = (
    "SELECT key, CASE WHEN mode = ? AND filename IS NULL AND typeof(value) = 'blob' "
    "THEN value END FROM Cache WHERE raw = 1 AND +expire_time IS NULL AND key IN "
)
"""Only leases expire. The plus keeps SQLite from the index of these times, which has all rows."""
_LEASE = (
    "SELECT CASE typeof(value) WHEN 'blob' THEN value END FROM Cache "
    "WHERE raw = 1 AND key = ? AND expire_time <= ?"
)
_AT_ONCE = 500
"""Keys that are looked up together; every SQLite takes 999 parameters."""

Trouble = Literal["locked", "full", "unusable", "damaged"]
"""Wait, go on without, go on without, or start a new store."""

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
"""Parts of SQLite's messages; its error codes reach Python from 3.11 on only."""


class DamagedStore(Exception):
    """The file is not a store, or not a whole one."""


def classify(error: BaseException) -> Trouble | None:
    """What is the matter with the store; `None` if the error is not the store's."""
    if isinstance(error, (DamagedStore, UnicodeDecodeError)):
        return "damaged"  # the second: SQLite quotes bytes of the file that are not text
    if isinstance(error, sqlite3.ProgrammingError):
        return None
    if isinstance(error, diskcache.Timeout):
        return "locked"
    if isinstance(error, sqlite3.Error):
        message = str(error).lower()
        return next((trouble for part, trouble in _BY_MESSAGE if part in message), "damaged")
    return "unusable" if isinstance(error, (OSError, OverflowError)) else None


class _PlainDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """Text keys and byte values in the SQLite file itself: no pickle, no other file."""

    def put(self, key: Any) -> tuple[str, bool]:
        return str(key), True

    def store(self, value: Any, read: bool, key: Any = None) -> tuple[int, int, None, bytes]:  # noqa: ARG002, FBT001 - the signature of diskcache
        return len(value), MODE_RAW, None, bytes(value)

    def remove(self, file_path: str) -> None:
        pass


class ReadOnlyStore:
    """A store that this process may read and not write; nothing is added, no file is touched.

    `diskcache` writes when it opens a store, and looks keys up one by one, so SQLite reads it
    directly. Nothing here waits for a lock.
    """

    def __init__(self, path: Path) -> None:
        check_file(path)
        self._connection = _reading(path, "mode=ro&immutable=1")

    def read(self, keys: Sequence[str]) -> dict[str, bytes | None]:
        """The values of the keys that are there; `None` for a row this program did not write."""
        found: dict[str, bytes | None] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            query = f"{_VALUES}({','.join('?' * len(some))})"
            found.update(self._connection.execute(query, (MODE_RAW, *some)))
        return found

    def write(self, values: Mapping[str, bytes], answered: Collection[str] = ()) -> None:
        """Nothing: whoever opened it has said so."""

    def lease(self, key: str, seconds: float) -> bool:  # noqa: ARG002 - see above
        """Granted: the answer will not be written anyway."""
        return True

    def release(self, key: str) -> None:
        """Nothing: there is no lease."""

    def close(self) -> None:
        self._connection.close()


class Store(ReadOnlyStore):
    """An open store, written by one thread: `diskcache` has a connection per thread."""

    def __init__(self, path: Path) -> None:
        check_file(path)
        _check_settings(path)
        try:
            self.rows = diskcache.Cache(str(path.parent), timeout=0, disk=_PlainDisk, **_SETTINGS)
        except (TypeError, ValueError, LookupError, AttributeError, AssertionError) as error:
            raise DamagedStore(f"{type(error).__name__} on opening it") from error
        self._connection = _reading(path, "mode=ro")

    def write(self, values: Mapping[str, bytes], answered: Collection[str] = ()) -> None:
        """Keep all values, and end the leases of those that are answered."""
        with self.rows.transact():
            for key, value in values.items():
                self.rows.set(key, value)
            for key in answered:
                self.release(key)

    def lease(self, key: str, seconds: float) -> bool:
        """Take the lease of a key; `False` if a process that is alive has it.

        One that lasts longer than this one would is not believed: the clock was set back.
        """
        own, name = str(os.getpid()).encode(), _lease_of(key)
        if self.rows.add(name, own, expire=seconds):
            return True
        with self.rows.transact():
            found = self._connection.execute(_LEASE, (name, time.time() + seconds)).fetchone()
            is_free = found is None or not _is_alive(found[0])
            if is_free:
                self.rows.set(name, own, expire=seconds)
        return is_free

    def release(self, key: str) -> None:
        self.rows.delete(_lease_of(key))

    def close(self) -> None:
        super().close()
        self.rows.close()


def _lease_of(key: str) -> str:
    return f"lease {key}"


def _is_alive(holder: Any) -> bool:
    """Whether the process that holds a lease may still run."""
    if os.name == "nt":  # a look at a process would end it there
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
    """The file is one that SQLite may open: not a pipe or a link."""
    if (path.is_symlink() or path.exists()) and not stat.S_ISREG(path.lstat().st_mode):
        raise PermissionError(f"{path} is not a regular file")


def _check_settings(path: Path) -> None:
    """The file can be written now, and has no settings that `diskcache` does not know.

    Each setting becomes an attribute of the cache, so a planted one could replace a method; and on
    a locked file `diskcache` would wait for a minute per statement.
    """
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        tables = connection.execute("SELECT name FROM sqlite_master WHERE name = 'Settings'")
        if tables.fetchone() is not None:
            names = {name for (name,) in connection.execute("SELECT key FROM Settings")}
            if not names <= {*DEFAULT_SETTINGS, *METADATA}:
                raise DamagedStore("it has settings that are not those of diskcache")
        connection.execute("ROLLBACK")
