"""A persistent cache: one folder, shared by all processes of one user on one machine.

The store is `<folder>/answers`, so that its files (SQLite's file, log and index) move in one step,
and the rights of foreign folders never change.
"""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from factcheck.runtime.cache.entries import WarnOnce, check_keys, seal, unseal

if TYPE_CHECKING:
    from factcheck.runtime.cache.store import ReadOnlyStore

T = TypeVar("T")

LOCK_WAIT_S = 5.0
"""Seconds to wait for another process's write."""
_LOCK_POLL_S = 0.01

_TROUBLES = {
    "locked": "is locked by another process",
    "full": "cannot be written, the disk is full",
    "unusable": "cannot be used",
}
"""What is the matter with a cache that a run goes on without."""


class DiskCache:
    """Keeps responses in a folder. Nothing is created before the first use, nothing is evicted.

    A damaged store is set aside, with a warning, and a new one is started; the next damage ends
    the cache, not the run.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = expanded(folder)
        """Where the responses are."""
        self.leased: set[str] = set()
        """Keys whose answers nobody else is to ask for."""
        self._warn = WarnOnce()
        self._store: ReadOnlyStore | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._process = os.getpid()
        self._identity: tuple[int, int] | None = None
        self._lock = threading.RLock()
        self._patience_s = LOCK_WAIT_S
        self._replaced = False
        self._abandoned = False

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        check_keys(keys)
        stored = self._use(lambda store: store.read(keys), reads=True) if keys else None
        values = {key: unseal(key, value) for key, value in (stored or {}).items()}
        for key in (key for key, value in values.items() if value is None):
            self._warn.refused(f"the cache {self.folder}", key)
        return {key: values[key] for key in keys if values.get(key) is not None}  # type: ignore[misc]

    def set_many(self, entries: Mapping[str, str]) -> None:
        """Keep all of these in one transaction; if the store fails, none, with a warning."""
        check_keys(tuple(entries))
        sealed = {key: seal(key, value) for key, value in entries.items()}
        answered = self.leased & entries.keys()
        if sealed:
            self._use(lambda store: store.write(sealed, answered))
        self.leased -= answered

    def lease(self, key: str, seconds: float) -> bool:
        """Whether this process is to ask for an answer: no other one that is alive does.

        The lease ends after so many seconds, with its answer, or with `release`.
        """
        is_ours = self._use(lambda store: store.lease(key, seconds)) is not False
        if is_ours:
            self.leased.add(key)
        return is_ours

    def release(self, key: str) -> None:
        self.leased.discard(key)
        self._use(lambda store: store.release(key))

    def close(self) -> None:
        with self._lock:
            store, thread = self._store, self._thread
            self._store = self._thread = None
            if thread is not None and self._process == os.getpid():
                if store is not None:
                    thread.submit(store.close).result()
                thread.shutdown()

    def _use(self, operation: Callable[[ReadOnlyStore], T], *, reads: bool = False) -> T | None:
        """The operation's result, or `None`, with a warning, if the store fails.

        A lock is waited for; once that was in vain, no longer until the store has answered again,
        so that a stuck process costs a run seconds, not seconds per response.
        """
        from factcheck.runtime.cache.store import classify

        deadline = time.monotonic() + self._patience_s
        while not self._abandoned:
            with self._lock:
                try:
                    result = self._run(operation, reads=reads)
                except Exception as error:
                    trouble = classify(error)
                    if trouble is None:
                        raise
                    if trouble == "damaged":
                        self._replace(error)
                        continue
                    if trouble != "locked" or time.monotonic() >= deadline:
                        self._patience_s = 0.0 if trouble == "locked" else self._patience_s
                        self._go_on_without(trouble, _TROUBLES[trouble], error)
                        return None
                else:
                    self._patience_s = LOCK_WAIT_S
                    return result
            time.sleep(_LOCK_POLL_S)
        return None

    def _run(self, operation: Callable[[ReadOnlyStore], T], *, reads: bool) -> T:
        """The result of an operation; one thread opens, writes and closes, as `diskcache` wants."""
        if self._process != os.getpid():  # a fork has no thread, no right to the connection
            self._store = self._thread = None
            self._process = os.getpid()
        if reads and self._store is not None:
            return operation(self._store)
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="factcheck-cache")
        return self._thread.submit(lambda: operation(self._open())).result()

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
        """Set the damaged store aside, once, unless another process has done so."""
        self.close()
        if identity(self.folder) != self._identity:
            return
        what = "is damaged again"
        if not self._replaced:
            self._replaced = True
            try:
                aside = quarantine(self.folder)
            except OSError as error:
                what, reason = "is damaged and cannot be moved aside", error
            else:
                message = (
                    "the cache %s was damaged (%s); it is now in %s, and a new one was started"
                )
                self._warn("damaged", message, self.folder, reason, aside)
                return
        self._abandoned = True
        self._go_on_without("abandoned", what, reason)

    def _go_on_without(self, kind: str, what: str, error: Exception) -> None:
        self._warn(kind, "the cache %s %s; continuing without it (%s)", self.folder, what, error)


_STORE = "answers"
_PRIVATE = 0o700
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def expanded(folder: str | os.PathLike[str]) -> Path:
    """The absolute path, with `~` and environment variables expanded."""
    return Path(os.path.expandvars(Path(folder).expanduser())).absolute()


def database(folder: Path) -> Path:
    return folder / _STORE / "cache.db"


def make_private(folder: Path) -> str | None:
    """Make the folder and the store's folder in it, accessible to their owner alone.

    Returns:
        A warning if other users had access, or `None`.

    Raises:
        OSError: They cannot be made.
    """
    folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    store = folder / _STORE
    if store.is_symlink():
        raise PermissionError(errno.EPERM, "a link in place of the cache is not followed", store)
    store.mkdir(mode=_PRIVATE, exist_ok=True)
    if os.name == "nt":  # rights are inherited there, and modes say nothing
        return None
    status = store.lstat()
    if status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "the cache belongs to another user", store)
    if status.st_mode & _OTHERS:
        store.chmod(_PRIVATE)
        return f"{store} was accessible to other users; it is now private"
    mode = folder.stat().st_mode
    if mode & _OTHERS_WRITE and not mode & stat.S_ISVTX:
        return f"{folder} is writable by other users, who can replace the cache in it"
    return None


_ADMINISTRATOR = 0


def is_read_only(folder: Path) -> bool:
    """Whether there is a store to be read only: of this user or of root, and not to be written."""
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
    """Device and inode of the store's file; `None` if there is none."""
    try:
        status = database(folder).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def quarantine(folder: Path) -> Path:
    """Move the store into a new folder beside it, where `--dir` finds it."""
    stamp = time.strftime("damaged-%Y%m%dT%H%M%S-", time.gmtime())
    aside = Path(tempfile.mkdtemp(prefix=stamp, dir=folder))
    (folder / _STORE).rename(aside / _STORE)
    return aside
