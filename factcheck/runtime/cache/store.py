"""The file of a disk cache: an SQLite database that is read as data, whoever wrote it.

Imported when a cache is opened.
"""

from __future__ import annotations

import os
import sqlite3
import stat
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

_TABLES = (
    "CREATE TABLE answers (key TEXT PRIMARY KEY, value BLOB, at REAL)",
    "CREATE TABLE leases (key TEXT PRIMARY KEY, holder INTEGER, until REAL)",
)
_VALUES = "SELECT key, CASE typeof(value) WHEN 'blob' THEN value END FROM answers WHERE key IN"
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
    if isinstance(error, sqlite3.Error):
        message = str(error).lower()
        return next((trouble for part, trouble in _BY_MESSAGE if part in message), "damaged")
    return "unusable" if isinstance(error, (OSError, OverflowError)) else None


def connect(path: Path, mode: str, timeout_s: float = 0.0) -> sqlite3.Connection:
    """A connection to a file that SQLite may open: not to a pipe or a link.

    Args:
        path: The file.
        mode: Parameters of SQLite's address, such as `mode=ro`.
        timeout_s: How long a lock may last.
    """
    if (path.is_symlink() or path.exists()) and not stat.S_ISREG(path.lstat().st_mode):
        raise PermissionError(f"{path} is not a regular file")
    address = f"{path.absolute().as_uri()}?{mode}"
    return sqlite3.connect(
        address, uri=True, timeout=timeout_s, isolation_level=None, check_same_thread=False
    )


class Store:
    """An open store; one thread at a time may use it, and nothing in it waits for a lock.

    With `read_only` nothing is added, and no file is touched.
    """

    def __init__(self, path: Path, *, read_only: bool = False) -> None:
        self._read_only = read_only
        self.connection = connect(path, "mode=ro&immutable=1" if read_only else "mode=rwc")
        try:
            self._prepare()
        except BaseException:
            self.close()
            raise

    def _prepare(self) -> None:
        """Make the tables. There must be no others, and no view or trigger that runs by itself."""
        run = self.connection.execute
        if not self._read_only:
            run("PRAGMA journal_mode = WAL")
            run("PRAGMA synchronous = NORMAL")
            for table in _TABLES:
                run(table.replace("TABLE", "TABLE IF NOT EXISTS"))
        found = run("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name")
        if tuple(sql for (sql,) in found) != _TABLES:
            raise DamagedStore("its tables are not those of a cache")

    def read(self, keys: Sequence[str]) -> dict[str, bytes | None]:
        """The values of the keys that are there; `None` for one that this program did not write."""
        found: dict[str, bytes | None] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            query = f"{_VALUES} ({','.join('?' * len(some))})"
            found.update(self.connection.execute(query, some))
        return found

    def write(self, values: Mapping[str, bytes]) -> None:
        """Keep all of these, or none."""
        now = time.time()
        rows = [(key, value, now) for key, value in values.items()]
        if not self._read_only:
            with self._transaction() as run:
                run.executemany("INSERT OR REPLACE INTO answers VALUES (?, ?, ?)", rows)

    def lease(self, key: str, seconds: float) -> bool:
        """Take the lease of a key; `False` if a process that is alive has it.

        One that lasts longer than this one would is not believed: the clock was set back.
        """
        if self._read_only:
            return True
        now = time.time()
        query = "SELECT holder FROM leases WHERE key = ? AND until BETWEEN ? AND ?"
        with self._transaction() as run:
            found = run.execute(query, (key, now, now + seconds))
            is_free = not any(_is_alive(holder) for (holder,) in found)
            if is_free:
                row = (key, os.getpid(), now + seconds)
                run.execute("INSERT OR REPLACE INTO leases VALUES (?, ?, ?)", row)
        return is_free

    def release(self, key: str) -> None:
        if not self._read_only:
            with self._transaction() as run:
                run.execute("DELETE FROM leases WHERE key = ?", (key,))

    def close(self) -> None:
        self.connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Cursor]:
        """Statements that are carried out together, or not at all."""
        run = self.connection.cursor()
        run.execute("BEGIN IMMEDIATE")
        try:
            yield run
            run.execute("COMMIT")
        except BaseException:
            if self.connection.in_transaction:
                run.execute("ROLLBACK")
            raise


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
