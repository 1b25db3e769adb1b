"""Disk cache: a SQLite file in a folder, shared by all processes of one user on one machine.

The file lies in the subfolder `answers`, so that it moves in one step with its journal.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from factcheck.errors import ConfigError, InputError
from factcheck.runtime.cache.entries import Store, packed, unpacked
from factcheck.runtime.loop import PerProcess

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

LOCK_WAIT_S = 5.0
"""Seconds to wait for another process's write."""
MAX_BYTES = 4 * 2**30
"""Size of the file from which new answers replace the oldest ones."""
_REPLACED = 10
"""Number of old answers that a new one replaces."""
_TABLE = """
CREATE TABLE IF NOT EXISTS Cache (
    rowid INTEGER PRIMARY KEY, key BLOB, raw INTEGER, store_time REAL, expire_time REAL,
    access_time REAL, access_count INTEGER DEFAULT 0, tag BLOB, size INTEGER DEFAULT 0,
    mode INTEGER DEFAULT 0, filename TEXT, value BLOB);
CREATE UNIQUE INDEX IF NOT EXISTS Cache_key_raw ON Cache (key, raw);
"""
"""The table of the package `diskcache`, which earlier versions used."""
_READ = "SELECT value FROM Cache WHERE key = ? AND raw = 1"
_WRITE = "INSERT OR REPLACE INTO Cache (key, raw, store_time, mode, value) VALUES (?, 1, ?, 1, ?)"
_REMOVE_OLDEST = "DELETE FROM Cache WHERE rowid IN (SELECT rowid FROM Cache ORDER BY rowid LIMIT ?)"
_SIZE = (
    "SELECT (page_count - freelist_count) * page_size "
    "FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
)
_TOTALS = "SELECT count(*), CAST(min(store_time) AS REAL), CAST(max(store_time) AS REAL) FROM Cache"


class Contents(NamedTuple):
    """What is in a cache."""

    n_entries: int = 0
    oldest: float | None = None
    newest: float | None = None
    """Unix time; `None` for an empty cache."""
    size: int = 0
    """Size on disk in bytes."""


class _Connections:
    """Reads do not wait for writes, which may wait for another process."""

    def __init__(self, path: Path) -> None:
        self.is_closed = False
        self.lock, self.write_lock = threading.Lock(), threading.Lock()
        self.reader, self.writer = _connect(path), _connect(path)
        try:
            self.writer.execute("PRAGMA journal_mode = WAL")
            self.writer.execute("PRAGMA synchronous = NORMAL")
            self.writer.executescript(_TABLE)
        except BaseException:
            self.close()
            raise

    def read(self, keys: Sequence[str]) -> list[tuple[str, object]]:
        with self.lock:
            rows = [(key, self.reader.execute(_READ, (key,)).fetchone()) for key in keys]
        return [(key, row[0]) for key, row in rows if row is not None]

    def add(self, entries: Mapping[str, str]) -> None:
        with self.write_lock, self.writer as connection:
            connection.execute("BEGIN IMMEDIATE")
            for key, value in entries.items():
                row = connection.execute(_READ, (key,)).fetchone()
                values = (unpacked(row[0]) if row else None) or []
                if value not in values:
                    connection.execute(_WRITE, (key, time.time(), packed([*values, value])))
            if connection.execute(_SIZE).fetchone()[0] > MAX_BYTES:
                connection.execute(_REMOVE_OLDEST, (_REPLACED * len(entries),))

    def close(self) -> None:
        with self.lock, self.write_lock:
            self.is_closed = True
            self.reader.close()
            self.writer.close()


class DiskCache(Store):
    """Stores responses in a folder, which is created on first use.

    Beyond 4 GiB, the oldest answers are replaced. A damaged file is renamed with a warning and
    replaced; if the new one is damaged, too, the run continues without a cache.

    Args:
        folder: `~` and environment variables in it are expanded.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = Path(os.path.expandvars(Path(folder).expanduser())).absolute()
        """Folder of the cache."""
        self.path = self.folder / "answers" / "cache.db"
        super().__init__(f"the cache {self.folder}")
        self._lock = threading.Lock()
        self._connections = PerProcess(self._open)
        self._identity: tuple[int, int] | None = None
        self.is_open = False
        """Whether reads take microseconds, so that they need no thread."""
        self._has_replaced = False

    def get_many(self, keys: Sequence[str]) -> dict[str, list[str]]:
        if not keys:
            return {}
        return self.values_of(self._use(lambda connections: connections.read(keys)) or ())

    def add_many(self, entries: Mapping[str, str]) -> None:
        """Add all entries in one transaction; if that fails, none, with a warning."""
        if entries:
            self._use(lambda connections: connections.add(entries))

    def close(self) -> None:
        with self._lock:
            self._close()

    def contents(self) -> Contents:
        """Count the responses, valid or not; raises as `clear`."""
        if not self.path.exists():
            return Contents()
        with self._alone() as connection:
            count, oldest, newest = connection.execute(_TOTALS).fetchone()
        size = sum(file.stat().st_size for file in self.path.parent.glob("cache.db*"))
        return Contents(count, oldest, newest, size)

    def clear(self) -> int:
        """Remove all responses and return their number.

        Raises:
            InputError: The file is damaged.
            ConfigError: It is locked, or cannot be used.
        """
        if not self.path.exists():
            return 0
        with self._alone() as connection:
            return connection.execute("DELETE FROM Cache").rowcount

    @contextmanager
    def _alone(self) -> Iterator[sqlite3.Connection]:
        """Connect to the file, and raise its errors as ours."""
        try:
            with closing(_connect(self.path)) as connection:
                yield connection
        except Exception as error:
            if is_damage(error):
                raise InputError(
                    f"{self.name} is damaged ({error}); the next run renames it and starts a new "
                    "one"
                ) from error
            if is_trouble(error):
                raise ConfigError(f"{self.name} cannot be used: {error}") from error
            raise

    def _use(self, operation: Callable[[_Connections], T]) -> T | None:
        """Return the result of an operation, or `None` with a warning if the file fails."""
        while not self.is_paused:
            connections = None
            try:
                with self._lock:
                    connections = self._connections()
                return operation(connections)
            except Exception as error:
                if connections is not None and connections.is_closed:
                    continue  # by another thread
                if is_damage(error):
                    self._replace(error)
                elif is_trouble(error):
                    self.pause("trouble", "cannot be used", error)
                else:
                    raise
        return None

    def _open(self) -> _Connections:
        for folder in (self.folder, self.path.parent):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._identity = _identity(self.path)
        connections = _Connections(self.path)
        self._identity = _identity(self.path)
        self.is_open = True
        return connections

    def _close(self) -> None:
        self.is_open = False
        if connections := self._connections.take():
            connections.close()

    def _replace(self, reason: Exception) -> None:
        """Rename a damaged file, once, unless another thread or process has done so."""
        with self._lock:
            self._close()
            if _identity(self.path) != self._identity:
                return
            if self._has_replaced:
                self.pause("again", "is damaged again", reason)
                return
            self._has_replaced = True
            aside = self.folder / time.strftime(f"damaged-%Y%m%dT%H%M%S-{os.getpid()}")
            try:
                self.path.parent.rename(aside)
            except OSError as error:
                self.pause("stuck", "is damaged and cannot be renamed", error)
            else:
                message = "was damaged (%s); it is now %s, and a new one was started"
                self.warn("replaced", message, reason, aside)


def _connect(path: Path) -> sqlite3.Connection:
    import sqlite3

    return sqlite3.connect(path, timeout=LOCK_WAIT_S, isolation_level=None, check_same_thread=False)


def is_damage(error: Exception) -> bool:
    """Whether an error is the fault of the file; other errors may pass."""
    import sqlite3

    if isinstance(error, sqlite3.OperationalError):
        return "no such" in str(error)  # a table or a column
    return type(error) is sqlite3.DatabaseError or isinstance(error, UnicodeDecodeError)


def is_trouble(error: Exception) -> bool:
    """Whether an error is one of the disk, or of another process that holds the lock."""
    import sqlite3

    if isinstance(error, sqlite3.Error):
        return not isinstance(error, sqlite3.ProgrammingError)
    return isinstance(error, OSError)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file, or `None` if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
