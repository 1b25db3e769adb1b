"""One SQLite file of sealed values, trusted in nothing. Imported when a store is opened."""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple

from factcheck.errors import ConfigError, InputError
from factcheck.runtime.cache.entries import is_key, unseal
from factcheck.runtime.cache.folder import database

_CREATE = (
    "CREATE TABLE IF NOT EXISTS answers "
    "(key TEXT PRIMARY KEY, value BLOB NOT NULL, stored_at REAL NOT NULL)"
)
_ROWS = (
    "SELECT rowid, CASE typeof(key) WHEN 'text' THEN CAST(key AS BLOB) END, "
    "CASE typeof(value) WHEN 'blob' THEN value END, stored_at FROM answers ORDER BY rowid"
)
_FORMATS = slice(18, 20)
"""Where SQLite's header has the version of the file, for writing and for reading."""
_KNOWN_FORMATS = {b"", b"\1\1", b"\2\2"}
_KEYS_PER_QUERY = 500

Trouble = Literal["locked", "full", "unusable", "damaged"]
"""Wait, go on without, go on without, or start a new store."""

_BY_MESSAGE: tuple[tuple[str, Trouble], ...] = (
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
"""Parts of SQLite's messages; its error codes reach Python from 3.11 on only."""


class DamagedStore(Exception):
    """The file is not a store, or not a whole one."""


def classify(error: Exception) -> Trouble | None:
    """What is the matter with the store; `None` if the error is not the store's."""
    if isinstance(error, (DamagedStore, UnicodeDecodeError)):
        return "damaged"  # the second: SQLite quotes bytes of the file that are not text
    if isinstance(error, sqlite3.ProgrammingError):
        return None
    if isinstance(error, sqlite3.Error):
        message = str(error).lower()
        return next((trouble for part, trouble in _BY_MESSAGE if part in message), "damaged")
    return "unusable" if isinstance(error, (OSError, OverflowError)) else None


class Store:
    """The open file: one connection for all threads, which take turns. Nothing here waits.

    Raises:
        DamagedStore: The file is not a store.
        sqlite3.Error: The file is locked, damaged or cannot be used.
        OSError: The folder cannot be used.
    """

    def __init__(self, folder: Path) -> None:
        self.process = os.getpid()
        self._connection = _connect(database(folder), timeout_s=0.0)
        try:
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = NORMAL")
            self._connection.execute(_CREATE)
        except BaseException:
            self._connection.close()
            raise

    def read(self, keys: Sequence[str]) -> dict[str, Any]:
        """The stored values of these keys, as they are."""
        found: dict[str, Any] = {}
        for start in range(0, len(keys), _KEYS_PER_QUERY):
            part = keys[start : start + _KEYS_PER_QUERY]
            marks = ", ".join("?" * len(part))
            rows = self._connection.execute(
                f"SELECT key, CASE typeof(value) WHEN 'blob' THEN value END "  # noqa: S608 - marks
                f"FROM answers WHERE key IN ({marks})",
                part,
            )
            found.update((key.decode("ascii", "replace"), value) for key, value in rows)
        return found

    def write(self, values: Mapping[str, bytes]) -> None:
        """Store all of these, or none."""
        now = time.time()
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            self._connection.executemany(
                "INSERT OR REPLACE INTO answers VALUES (?, ?, ?)",
                ((key, value, now) for key, value in values.items()),
            )
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _connect(path: Path, *, timeout_s: float) -> sqlite3.Connection:
    """A connection to a file that SQLite may open: not a pipe, a link or a foreign format."""
    if path.is_symlink() or path.exists():
        if not stat.S_ISREG(path.lstat().st_mode):
            raise PermissionError(f"{path} is not a regular file")
        with path.open("rb") as file:
            if file.read(_FORMATS.stop)[_FORMATS] not in _KNOWN_FORMATS:
                raise DamagedStore("not a SQLite database of a known format")
    connection = sqlite3.connect(
        path, timeout=timeout_s, isolation_level=None, check_same_thread=False
    )
    connection.text_factory = bytes  # whatever the file calls text, without decoding it
    return connection


class StoredEntry(NamedTuple):
    """One row of a store."""

    rowid: int
    key: str
    """The key, or an empty string if it is not valid."""
    value: str
    """The value; empty if there is a problem."""
    problem: str | None
    """Why the row counts as missing, or `None` if it is good."""
    stored_at: Any
    """When it was written, in Unix seconds, as the row has it."""


@contextmanager
def connected(folder: Path, *, timeout_s: float) -> Iterator[sqlite3.Connection]:
    """A connection of its own to a store that exists; `timeout_s` is how long a lock may last.

    Raises:
        InputError: The file is damaged.
        ConfigError: It is locked, full or cannot be used.
    """
    try:
        with closing(_connect(database(folder), timeout_s=timeout_s)) as connection:
            yield connection
    except Exception as error:
        trouble = classify(error)
        if trouble == "damaged":
            raise InputError(
                f"the cache {folder} is damaged ({error}); the next run sets it aside and "
                "starts a new one"
            ) from error
        if trouble is not None:
            raise ConfigError(f"the cache {folder} cannot be used: {error}") from error
        raise


def read_entries(connection: sqlite3.Connection) -> Iterator[StoredEntry]:
    """Every row, in the order written; none if there is no table."""
    tables = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'answers'")
    if tables.fetchone() is None:
        return
    for rowid, stored_key, stored, stored_at in connection.execute(_ROWS):
        key = stored_key.decode("ascii", "replace") if stored_key is not None else ""
        value = unseal(key, stored) if is_key(key) else None
        problem = None
        if value is None:
            problem = "its checksum does not match" if is_key(key) else "its key is not valid"
        yield StoredEntry(rowid, key if is_key(key) else "", value or "", problem, stored_at)
