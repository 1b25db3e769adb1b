"""A persistent cache: one folder, shared by all processes of one user on one machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from os import getpid
from typing import TYPE_CHECKING, TypeVar

from factcheck.runtime.cache import folder as folders
from factcheck.runtime.cache.entries import WarnOnce, check_keys, seal, unseal

if TYPE_CHECKING:
    from factcheck.runtime.cache.store import Store

T = TypeVar("T")

LOCK_WAIT_S = 5.0
"""Seconds to wait for another process's write."""
_LOCK_POLL_S = 0.01

_MESSAGES = {
    "locked": "the cache %s is locked by another process; continuing without it (%s)",
    "full": "the cache %s cannot be written, the disk is full; continuing without it (%s)",
    "unusable": "the cache %s cannot be used; continuing without it (%s)",
}


class DiskCache:
    """Keeps responses in a folder. Nothing is created before the first use, nothing is evicted.

    A damaged store is set aside, with a warning, and a new one is started; the next damage ends
    the cache, not the run.
    """

    def __init__(self, folder: folders.PathLike) -> None:
        self.folder = folders.expanded(folder)
        """Where the responses are."""
        self._warn = WarnOnce()
        self._store: Store | None = None
        self._thread: ThreadPoolExecutor | None = None
        self._process = getpid()
        self._identity: tuple[int, int] | None = None
        self._lock = threading.RLock()
        self._patience_s = LOCK_WAIT_S
        self._replaced = False
        self._abandoned = False

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        check_keys(keys)
        stored = self._use(lambda store: store.read(keys)) if keys else None
        values = {key: unseal(key, value) for key, value in (stored or {}).items()}
        for key in (key for key, value in values.items() if value is None):
            self._warn.refused(f"the cache {self.folder}", key)
        return {key: values[key] for key in keys if values.get(key) is not None}  # type: ignore[misc]

    def set_many(self, entries: Mapping[str, str]) -> None:
        """Keep all of these in one transaction; if the store fails, none, with a warning."""
        check_keys(tuple(entries))
        sealed = {key: seal(key, value) for key, value in entries.items()}
        if sealed:
            self._use(lambda store: store.write(sealed))

    def close(self) -> None:
        with self._lock:
            store, thread = self._store, self._thread
            self._store = self._thread = None
            if thread is not None and self._process == getpid():
                if store is not None:
                    thread.submit(store.close).result()
                thread.shutdown()

    def _use(self, operation: Callable[[Store], T]) -> T | None:
        """The operation's result, or `None`, with a warning, if the store fails.

        A lock is waited for; once that was in vain, no longer until the store has answered again,
        so that a stuck process costs a run seconds, not seconds per response.
        """
        from factcheck.runtime.cache.store import classify

        deadline = time.monotonic() + self._patience_s
        while not self._abandoned:
            with self._lock:
                try:
                    result = self._in_thread(lambda: operation(self._open()))
                except Exception as error:
                    trouble = classify(error)
                    if trouble is None:
                        raise
                    if trouble == "damaged":
                        self._replace(error)
                        continue
                    if trouble != "locked" or time.monotonic() >= deadline:
                        self._patience_s = 0.0 if trouble == "locked" else self._patience_s
                        self._warn(trouble, _MESSAGES[trouble], self.folder, error)
                        return None
                else:
                    self._patience_s = LOCK_WAIT_S
                    return result
            time.sleep(_LOCK_POLL_S)
        return None

    def _in_thread(self, work: Callable[[], T]) -> T:
        """The result of `work` in the one thread that uses the store, so that it can be closed."""
        if self._process != getpid():  # a fork has neither the thread nor a right to the connection
            self._store = self._thread = None
            self._process = getpid()
        if self._thread is None:
            self._thread = ThreadPoolExecutor(1, thread_name_prefix="factcheck-cache")
        return self._thread.submit(work).result()

    def _open(self) -> Store:
        from factcheck.runtime.cache.store import Store

        if self._store is None:
            warning = folders.make_private(self.folder)
            if warning is not None:
                self._warn("access", "%s", warning)
            self._identity = folders.identity(self.folder)
            self._store = Store(self.folder)
            self._identity = folders.identity(self.folder)
        return self._store

    def _replace(self, reason: Exception) -> None:
        """Set the damaged store aside, once, unless another process has done so."""
        self.close()
        if folders.identity(self.folder) != self._identity:
            return
        if self._replaced:
            self._abandon("is damaged again", reason)
            return
        self._replaced = True
        try:
            aside = folders.quarantine(self.folder)
        except OSError as error:
            self._abandon("is damaged and cannot be moved aside", error)
            return
        self._warn(
            "damaged",
            "the cache %s was damaged (%s); it is now in %s, and a new one was started",
            self.folder,
            reason,
            aside,
        )

    def _abandon(self, what: str, reason: Exception) -> None:
        self._abandoned = True
        self._warn(
            "abandoned", "the cache %s %s; continuing without it (%s)", self.folder, what, reason
        )
