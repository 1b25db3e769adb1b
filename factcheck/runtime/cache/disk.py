"""Disk cache: a folder shared by all processes of one user on one machine.

The store is the subfolder `answers`, so that SQLite's files move in one step, and the permissions
of the user's own folder never change. `diskcache` makes its file, and can read it; after that, only
the SQL below touches it. `diskcache` would unpickle values marked as pickled, read the file that a
row names and delete it with the row (CVE-2025-69872), and turn planted settings into attributes;
and it takes twice the time.
"""

from __future__ import annotations

import os
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar

from factcheck.runtime.cache.entries import (
    CHECKSUM_DIGITS,
    KEY_DIGITS,
    WarnOnce,
    readable,
    seal,
)
from factcheck.runtime.cache.folder import (
    Leases,
    check_file,
    database,
    expanded,
    identity,
    is_read_only,
    make_private,
    quarantine,
)

if TYPE_CHECKING:
    import sqlite3

T = TypeVar("T")

LOCK_WAIT_S = 5.0
"""Seconds to wait for another process's write."""
_LOCK_POLL_S = 0.01
_MAKING = "0" * KEY_DIGITS
"""Leased by the process that makes the file."""
_AFTER_DIGITS = "g"
_READ = (
    "SELECT CASE typeof(value) WHEN 'blob' THEN value END "
    "FROM Cache WHERE key > ? AND key < ? ORDER BY rowid"
)
_WRITE = (  # mode 1: bytes in the database; a row that was replaced would be counted twice
    "INSERT INTO Cache (key, raw, store_time, access_time, mode, value) VALUES (?, 1, ?, ?, 1, ?) "
    "ON CONFLICT (key, raw) DO UPDATE SET store_time = excluded.store_time, value = excluded.value"
)
"""A row has one value; its key is followed by the checksum of the value."""

Trouble = Literal["locked", "full", "unusable", "damaged"]
"""Kind of failure: wait, continue without a cache (twice), or start a new store."""
_PROBLEMS = {
    "locked": "is locked by another process",
    "full": "cannot be written, the disk is full",
    "unusable": "cannot be used",
}
"""Descriptions of the problems that do not end a run."""
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
    import sqlite3

    if isinstance(error, UnicodeDecodeError):
        return "damaged"  # SQLite messages may quote bytes of the file that are not UTF-8
    if isinstance(error, sqlite3.ProgrammingError):
        return None
    if isinstance(error, sqlite3.Error):
        message = str(error).lower()
        return next((trouble for part, trouble in _BY_MESSAGE if part in message), "damaged")
    return "unusable" if isinstance(error, (OSError, OverflowError)) else None


class DiskCache:
    """Stores responses in a folder, which is created on first use; nothing is evicted.

    A damaged store is quarantined with a warning and replaced; if the new one is damaged, too, the
    run continues without a cache. A store without write permission is only read.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = expanded(folder)
        """Folder of the cache."""
        self._warn = WarnOnce()
        self._leases = Leases(self.folder / "leases")
        self._connection: sqlite3.Connection | None = None
        self._is_read_only = False
        self._identity: tuple[int, int] | None = None
        self._lock = threading.RLock()
        self._patience_s = LOCK_WAIT_S
        self._replaced = False
        self._abandoned = False
        with _forking:
            _caches.add(self)

    @property
    def is_quick(self) -> bool:
        """Whether to read and lease without a thread, because it takes microseconds."""
        return self._connection is not None

    def get_many(self, keys: Sequence[str]) -> dict[str, list[str]]:
        def read(store: sqlite3.Connection) -> dict[str, list[bytes | None]]:
            rows = store.execute
            return {key: [v for (v,) in rows(_READ, (key, key + _AFTER_DIGITS))] for key in keys}

        stored = (self._use(read) if keys else None) or {}
        return readable(stored, f"the cache {self.folder}", self._warn)

    def add_many(self, entries: Mapping[str, str]) -> None:
        """Add all entries in one transaction; if that fails, none, with a warning."""

        def write(store: sqlite3.Connection) -> None:
            if self._is_read_only:
                return
            now = time.time()
            sealed = ((key, seal(key, value)) for key, value in entries.items())
            rows = [
                (key + value[:CHECKSUM_DIGITS].decode("ascii"), now, now, value)
                for key, value in sealed
            ]
            with store:
                store.execute("BEGIN IMMEDIATE")
                store.executemany(_WRITE, rows)

        if entries:
            self._use(write)

    def lease(self, key: str) -> bool:
        """Lease a key until `release` or the end of the process; `False` if another holds it.

        A store that is only read grants every lease, as it keeps no answer.
        """
        return self._use(lambda _: self._is_read_only or self._leases.take(key)) is not False

    def release(self, key: str) -> None:
        self._leases.release(key)

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
            self._connection = None

    def pause(self) -> None:
        """Wait for other threads, close, and keep them out until `resume`."""
        self._lock.acquire()
        self.close()

    def resume(self) -> None:
        self._lock.release()

    def _use(self, operation: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return the result of an operation, or `None` with a warning if the store fails.

        After one timeout on a locked store, later operations do not wait until one succeeds, so
        that a stuck process delays a run once rather than for every response.
        """
        deadline = time.monotonic() + self._patience_s
        while not self._abandoned:
            with self._lock:
                try:
                    result = operation(self._open())
                except Exception as error:
                    trouble = classify(error)
                    if trouble is None:
                        raise
                    if trouble == "damaged":
                        self._replace(error)
                        continue
                    if trouble != "locked" or time.monotonic() >= deadline:
                        self._patience_s = 0.0 if trouble == "locked" else self._patience_s
                        self._warn_unavailable(trouble, _PROBLEMS[trouble], error)
                        return None
                else:
                    self._patience_s = LOCK_WAIT_S
                    return result
            time.sleep(_LOCK_POLL_S)
        return None

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            path = database(self.folder)
            self._is_read_only = is_read_only(self.folder)
            if self._is_read_only:
                message = "the cache %s cannot be written: it is read, and nothing is added"
                self._warn("readonly", message, self.folder)
                self._connection = _connected(path, "mode=ro&immutable=1")
                return self._connection
            if warning := make_private(self.folder):
                self._warn("access", "%s", warning)
            self._identity = identity(self.folder)
            if not (path.exists() or path.is_symlink()):
                self._make(path)
            connection = _connected(path, "mode=rw")
            connection.execute("PRAGMA synchronous = NORMAL")  # a killed process loses nothing
            self._connection, self._identity = connection, identity(self.folder)
        return self._connection

    def _make(self, path: Path) -> None:
        """Have `diskcache` make an empty file, and move it into its place in one step.

        Raises:
            sqlite3.OperationalError: The file is locked by another process that does so.
        """
        import sqlite3

        import diskcache

        if not self._leases.take(_MAKING):
            raise sqlite3.OperationalError(f"{path} is locked by the process that makes it")
        try:
            if not path.exists():
                with tempfile.TemporaryDirectory(dir=path.parent, prefix="new-") as folder:
                    diskcache.Cache(folder, eviction_policy="none").close()
                    Path(folder, path.name).rename(path)
        finally:
            self._leases.release(_MAKING)

    def _replace(self, reason: Exception) -> None:
        """Quarantine a damaged store, once, unless another process has done so."""
        self.close()
        if identity(self.folder) != self._identity:
            return
        problem = "is damaged again"
        if not self._replaced:
            self._replaced = True
            try:
                aside = quarantine(self.folder)
            except OSError as error:
                problem, reason = "is damaged and cannot be moved aside", error
            else:
                message = (
                    "the cache %s was damaged (%s); it is now in %s, and a new one was started"
                )
                self._warn("damaged", message, self.folder, reason, aside)
                return
        self._abandoned = True
        self._warn_unavailable("abandoned", problem, reason)

    def _warn_unavailable(self, kind: str, problem: str, error: Exception) -> None:
        self._warn(kind, "the cache %s %s; continuing without it (%s)", self.folder, problem, error)


_caches: weakref.WeakSet[DiskCache] = weakref.WeakSet()
_paused: list[DiskCache] = []
_forking = threading.Lock()


def _before_fork() -> None:
    """Close all stores, because a child that inherits one loses its locks, and wait for threads."""
    _forking.acquire()
    for cache in list(_caches):
        _paused.append(cache)
        cache.pause()


def _after_fork() -> None:
    while _paused:
        _paused.pop().resume()
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork
    )


def _connected(path: Path, mode: str) -> sqlite3.Connection:
    import sqlite3

    check_file(path)
    address = f"{path.absolute().as_uri()}?{mode}"
    return sqlite3.connect(
        address, uri=True, timeout=0, isolation_level=None, check_same_thread=False
    )
