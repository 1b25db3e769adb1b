"""All entries of a disk cache, good and bad, read without believing any of them.

This reads SQLite's rows themselves: listing a `diskcache` store would unpickle what a row calls a
pickled key.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from factcheck.errors import ConfigError, InputError
from factcheck.runtime.cache.disk import LOCK_WAIT_S
from factcheck.runtime.cache.entries import is_key, unseal
from factcheck.runtime.cache.layout import ANSWERS

_CHUNK = 100
_UNREADABLE_CHUNKS = 50
"""How many chunks in a row may be unreadable before the rest counts as lost."""
_UNREADABLE = (sqlite3.DatabaseError, UnicodeDecodeError)
"""The second when SQLite's message about a damaged file quotes what is no text."""
_END_OF_TIME = 2**40
_COLUMNS = (
    "rowid, CASE typeof(key) WHEN 'text' THEN CAST(key AS BLOB) END, raw, mode, filename, "
    "CASE typeof(value) WHEN 'blob' THEN value END, store_time"
)


class StoredEntry(NamedTuple):
    """One row of a store."""

    rowid: int
    key: str
    """The key, or an empty text if there is no valid one."""
    value: str
    """The value; empty if there is a problem."""
    problem: str | None
    """Why the row counts as missing, or `None` if it is good."""
    stored_at: Any
    """When it was written, in Unix seconds, as the row has it."""


class Labels(NamedTuple):
    """What a value says about itself."""

    task: str
    judge: str
    at: float | None
    """When the answer was given, in Unix seconds."""


def labels(value: str) -> Labels:
    """The labels in a value; those that are not there are `other`."""
    try:
        data = json.loads(value)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict):
        return Labels("other", "other", None)
    task, judge, at = (data.get(name) for name in ("task", "judge", "at"))
    is_time = isinstance(at, (int, float)) and 0 <= at < _END_OF_TIME
    return Labels(
        task if isinstance(task, str) else "other",
        judge if isinstance(judge, str) else "other",
        at if is_time else None,
    )


def database(folder: Path) -> Path:
    """The SQLite file of the cache in this folder."""
    from factcheck.runtime.cache.safe_store import DATABASE

    return folder / ANSWERS / DATABASE


@contextmanager
def connected(folder: Path) -> Iterator[sqlite3.Connection]:
    """A connection of our own to the store's file, which has to be there.

    Raises:
        InputError: The file is damaged.
        ConfigError: It is locked, full or cannot be used.
    """
    from factcheck.runtime.cache.trouble import diagnosed

    try:
        with closing(
            sqlite3.connect(database(folder), timeout=LOCK_WAIT_S, isolation_level=None)
        ) as connection:
            connection.text_factory = bytes
            yield connection
    except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
        if diagnosed(error) == "damaged":
            raise InputError(
                f"the cache {folder} is damaged ({error}); "
                f"run: factcheck cache verify --repair --dir {folder}"
            ) from error
        raise ConfigError(f"the cache {folder} cannot be used: {error}") from error


def read_entries(folder: Path) -> Iterator[StoredEntry]:
    """Every row, in the order written; none if there is no store.

    Rows that a damaged file no longer gives are left out where others can still be read.

    Raises:
        InputError: Nothing can be read, the file is damaged.
        ConfigError: The store is locked or cannot be used.
    """
    if not database(folder).exists():
        return
    with connected(folder) as connection:
        # Lets SQLite read a file that is shorter than its header says; nothing is written.
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA writable_schema = ON")
        tables = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'Cache'")
        if tables.fetchone() is not None:
            yield from map(_entry, _rows(connection))


def _rows(connection: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    after = -(2**63)
    unreadable = 0
    while unreadable < _UNREADABLE_CHUNKS:
        try:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM Cache WHERE rowid > ? ORDER BY rowid LIMIT {_CHUNK}",  # noqa: S608 - constants
                (after,),
            ).fetchall()
        except _UNREADABLE as error:
            _raise_unless_damaged(error)
            unreadable += 1
            after = max(after, 0)
            yield from _one_by_one(connection, after)
            after += _CHUNK
            continue
        if not rows:
            return
        unreadable = 0
        yield from rows
        after = rows[-1][0]


def _one_by_one(connection: sqlite3.Connection, after: int) -> Iterator[tuple[Any, ...]]:
    for rowid in range(after + 1, after + _CHUNK + 1):
        try:
            yield from connection.execute(
                f"SELECT {_COLUMNS} FROM Cache WHERE rowid = ?",  # noqa: S608 - constants
                (rowid,),
            ).fetchall()
        except _UNREADABLE as error:  # noqa: PERF203 - each row may fail on its own
            _raise_unless_damaged(error)


def _raise_unless_damaged(error: Exception) -> None:
    from factcheck.runtime.cache.trouble import diagnosed

    if diagnosed(error) != "damaged":
        raise error


def _entry(row: tuple[Any, ...]) -> StoredEntry:
    rowid, stored_key, raw, mode, filename, stored, stored_at = row
    key = stored_key.decode("ascii", "replace") if isinstance(stored_key, bytes) else ""
    value = None
    if raw != 1:
        problem = "its key is not plain text"
    elif not is_key(key):
        problem = "its key is none of ours"
    elif filename is not None:
        problem = "it points to another file"
    elif mode != 1:
        problem = "its value is not plain"
    else:
        value = unseal(key, stored)
        problem = "its checksum does not fit" if value is None else ""
    return StoredEntry(rowid, key if is_key(key) else "", value or "", problem or None, stored_at)
