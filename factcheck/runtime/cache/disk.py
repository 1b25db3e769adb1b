"""Disk cache: a folder shared by all processes of one user on one machine.

The store is the subfolder `answers`, so that SQLite's files move in one step, and the permissions
of the user's own folder never change.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from factcheck.runtime.cache.entries import WarnOnce, readable, seal

if TYPE_CHECKING:
    from factcheck.runtime.cache.store import ReadOnlyStore

T = TypeVar("T")

LOCK_WAIT_S = 5.0
"""Seconds to wait for another process's write."""
_LOCK_POLL_S = 0.01

_PROBLEMS = {
    "locked": "is locked by another process",
    "full": "cannot be written, the disk is full",
    "unusable": "cannot be used",
}
"""Descriptions of the problems that do not end a run."""


class DiskCache:
    """Stores responses in a folder, which is created on first use; nothing is evicted.

    A damaged store is quarantined with a warning and replaced; if the new one is damaged, too, the
    run continues without a cache.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = expanded(folder)
        """Folder of the cache."""
        self._warn = WarnOnce()
        self._store: ReadOnlyStore | None = None
        self._identity: tuple[int, int] | None = None
        self._lock = threading.RLock()
        self._patience_s = LOCK_WAIT_S
        self._replaced = False
        self._abandoned = False
        with _forking:
            _caches.add(self)

    @property
    def is_quick(self) -> bool:
        return self._store is not None

    def get_many(self, keys: Sequence[str]) -> dict[str, list[str]]:
        stored = (self._use(lambda store: store.read(keys)) if keys else None) or {}
        return readable(stored, f"the cache {self.folder}", self._warn)

    def add_many(self, entries: Mapping[str, str]) -> None:
        """Add all entries in one transaction; if that fails, none, with a warning."""
        sealed = {key: seal(key, value) for key, value in entries.items()}
        if sealed:
            self._use(lambda store: store.write(sealed))

    def lease(self, key: str) -> bool:
        return self._use(lambda store: store.lease(key)) is not False

    def release(self, key: str) -> None:
        self._use(lambda store: store.release(key))

    def close(self) -> None:
        with self._lock:
            if self._store is not None:
                self._store.close()
            self._store = None

    def pause(self) -> None:
        """Wait for other threads, close, and keep them out until `resume`."""
        self._lock.acquire()
        self.close()

    def resume(self) -> None:
        self._lock.release()

    def _use(self, operation: Callable[[ReadOnlyStore], T]) -> T | None:
        """Return the result of an operation, or `None` with a warning if the store fails.

        After one timeout on a locked store, later operations do not wait until one succeeds, so
        that a stuck process delays a run once rather than for every response.
        """
        from factcheck.runtime.cache.store import classify

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

    def _open(self) -> ReadOnlyStore:
        from factcheck.runtime.cache.store import ReadOnlyStore, Store

        if self._store is None and is_read_only(self.folder):
            self._warn(
                "readonly",
                "the cache %s cannot be written: it is read, and nothing is added",
                self.folder,
            )
            self._store = ReadOnlyStore(database(self.folder))
        if self._store is None:
            warning = make_private(self.folder)
            if warning is not None:
                self._warn("access", "%s", warning)
            self._identity = identity(self.folder)
            self._store = Store(database(self.folder))
            self._identity = identity(self.folder)
        return self._store

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

_STORE = "answers"
_PRIVATE = 0o700
_OTHERS = stat.S_IRWXG | stat.S_IRWXO


def expanded(folder: str | os.PathLike[str]) -> Path:
    """Return the absolute path with `~` and environment variables expanded."""
    return Path(os.path.expandvars(Path(folder).expanduser())).absolute()


def database(folder: Path) -> Path:
    return folder / _STORE / "cache.db"


def make_private(folder: Path) -> str | None:
    """Create the folder and the store in it, accessible only to the owner.

    Returns:
        A warning if other users had access, or `None`.

    Raises:
        OSError: They cannot be created.
    """
    folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    store = folder / _STORE
    if store.is_symlink():
        raise PermissionError(errno.EPERM, "a link in place of the cache is not followed", store)
    store.mkdir(mode=_PRIVATE, exist_ok=True)
    if os.name == "nt":  # permissions are inherited there, and modes meaningless
        return None
    status = store.lstat()
    if status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "the cache belongs to another user", store)
    if status.st_mode & _OTHERS:
        store.chmod(_PRIVATE)
        return f"{store} was accessible to other users; it is now private"
    return None


_ADMINISTRATOR = 0


def is_read_only(folder: Path) -> bool:
    """Whether the store exists, belongs to this user or root, and is not writable."""
    path = database(folder)
    try:
        status = path.lstat()
    except OSError:
        return False
    writable = may_write(path) and may_write(path.parent)
    return not writable and os.name != "nt" and status.st_uid in {_ADMINISTRATOR, os.geteuid()}


def may_write(path: Path) -> bool:
    return os.access(path, os.W_OK)


def identity(folder: Path) -> tuple[int, int] | None:
    """Return device and inode of the database, or `None` if it does not exist."""
    try:
        status = database(folder).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def quarantine(folder: Path) -> Path:
    """Move the store into a new subfolder, which `FACTCHECK_CACHE_DIR` may name."""
    stamp = time.strftime("damaged-%Y%m%dT%H%M%S-", time.gmtime())
    aside = Path(tempfile.mkdtemp(prefix=stamp, dir=folder))
    (folder / _STORE).rename(aside / _STORE)
    return aside
