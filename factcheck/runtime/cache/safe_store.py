"""The `diskcache` store that runs no code and touches no file but its own.

A plain `diskcache` store believes its rows: it unpickles what a row calls pickled, reads the file
that a row names, and removes that file when the row is overwritten (CVE-2025-69872). Here each of
these is refused, whoever wrote the row. This module is imported when a store is opened, not before.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import diskcache
from diskcache.core import DBNAME, DEFAULT_SETTINGS, METADATA, MODE_RAW

DATABASE: str = DBNAME
"""Name of the SQLite file inside a store's folder."""

_FORMATS = slice(18, 20)
"""Where SQLite's header has the file's format, for writing and for reading."""
_KNOWN_FORMATS = {b"", b"\1\1", b"\2\2"}
_NEVER = 2**62
"""As a size in bytes, more than can be."""
_SETTINGS = {
    **DEFAULT_SETTINGS,
    "cull_limit": 0,
    "disk_min_file_size": _NEVER,
    "eviction_policy": "none",
    "size_limit": _NEVER,
    "sqlite_mmap_size": 0,  # a mapped file that someone truncates would end the process
}
"""All of them: what the file says about itself is not asked."""
_PRAGMAS = ("cache_size", "mmap_size", "synchronous")
"""Those that hold for a connection, not for a file."""


class RefusedEntry(ValueError):
    """A row is not one that this program wrote."""


class DamagedStore(Exception):
    """The SQLite file is not a store, or not a whole one."""


class SafeDisk(diskcache.Disk):  # type: ignore[misc]  # diskcache has no types
    """Text keys and byte values in the SQLite file itself: no pickle, no other file."""

    def put(self, key: Any) -> tuple[str, bool]:
        """Take a text key as it is."""
        if type(key) is not str:
            raise TypeError(f"a cache key is a str, not {type(key).__name__}")
        return key, True

    def get(self, key: Any, raw: Any) -> str:
        """Refuse a key that is not plain text."""
        if raw != 1 or type(key) is not str:
            raise RefusedEntry("the key is not plain text")
        return key

    def store(self, value: Any, read: bool, key: Any = None) -> tuple[int, int, None, bytes]:  # noqa: ARG002, FBT001 - the signature of diskcache
        """Keep bytes inside the row."""
        if type(value) is not bytes:
            raise TypeError(f"a cache value is bytes, not {type(value).__name__}")
        return len(value), MODE_RAW, None, value

    def fetch(self, mode: Any, filename: Any, value: Any, read: bool) -> bytes:  # noqa: ARG002, FBT001 - the signature of diskcache
        """Refuse a value that is pickled, or elsewhere."""
        if mode != MODE_RAW or filename is not None or type(value) is not bytes:
            raise RefusedEntry("the value is not plain bytes")
        return value

    def remove(self, file_path: str) -> None:
        """Leave the file alone: no row of ours has one."""


class SafeStore(diskcache.Cache):  # type: ignore[misc]  # diskcache has no types
    """A `diskcache.Cache` with one connection for all threads, which take turns.

    `diskcache` opens one for each thread, and then no thread can close those of the others. It also
    runs as a `PRAGMA` whatever the file's settings say; here they are the constants above.

    Raises:
        DamagedStore: The file is not a store of `diskcache`.
        sqlite3.Error: The file is locked (nothing waits here), damaged or cannot be used.
        OSError: The folder cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self._connection: sqlite3.Connection | None = None
        self._process = os.getpid()
        try:
            _probe(folder / DATABASE)
            super().__init__(str(folder), timeout=0, disk=SafeDisk, **_SETTINGS)
        except (TypeError, ValueError, LookupError, AttributeError, AssertionError) as error:
            self.close()
            raise DamagedStore(f"{type(error).__name__} on opening it") from error
        except BaseException:
            self.close()
            raise

    @property
    def _con(self) -> sqlite3.Connection:
        if self._process != os.getpid():  # a fork must not use its parent's connection
            self.close()
            self._process = os.getpid()
        if self._connection is None:
            self._connection = sqlite3.connect(
                str(Path(self.directory) / DATABASE),
                timeout=0,
                isolation_level=None,
                check_same_thread=False,
            )
            for pragma in _PRAGMAS:
                self._connection.execute(f"PRAGMA {pragma} = {_SETTINGS[f'sqlite_{pragma}']}")
        return self._connection

    def close(self) -> None:
        """Close the connection."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _probe(path: Path) -> None:
    """The file can be written now, and has no settings that `diskcache` does not know.

    Each setting becomes an attribute of the cache, so a planted one could replace a method; and on
    a locked file `diskcache` would wait for a minute per statement. A file of an unknown format is
    read-only to SQLite, not damaged.
    """
    if path.exists():
        with path.open("rb") as file:
            header = file.read(_FORMATS.stop)
        if header[_FORMATS] not in _KNOWN_FORMATS:
            raise DamagedStore("it is not a database of a known format")
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        tables = connection.execute("SELECT name FROM sqlite_master WHERE name = 'Settings'")
        if tables.fetchone() is not None:
            names = {name for (name,) in connection.execute("SELECT key FROM Settings")}
            if not names <= set(DEFAULT_SETTINGS) | set(METADATA):
                raise DamagedStore("it has settings that are not diskcache's")
        connection.execute("ROLLBACK")
