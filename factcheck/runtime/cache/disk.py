"""A cache that stays: one folder, shared by all processes of one user on one machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from factcheck.runtime.cache import layout
from factcheck.runtime.cache.entries import Complaints, check_keys, seal, unseal

T = TypeVar("T")

LOCK_WAIT_S = 5.0
"""How long another process's write is waited for."""
_LOCK_POLL_S = 0.01

_MESSAGES = {
    "locked": "%s is locked by another process; going on without it (%s)",
    "full": "%s cannot be written, the disk is full; going on without it (%s)",
    "unusable": "%s cannot be used; going on without it (%s)",
}


class DiskCache:
    """Keeps answers in a folder. Nothing is created before the first use.

    Args:
        folder: Where; made with rights for its owner alone. Nothing in it is ever evicted.
    """

    def __init__(self, folder: layout.PathLike) -> None:
        self.folder = layout.expanded(folder)
        """Where the answers are."""
        self._complaints = Complaints()
        self._store: Any = None
        self._file: tuple[int, int] | None = None
        self._lock = threading.RLock()
        self._patience_s = LOCK_WAIT_S
        self._replaced = False
        self._abandoned = False

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        """Those of these keys that are kept, with their values; a damaged entry is missing."""
        check_keys(keys)

        def read(store: Any) -> dict[str, str]:
            found = {}
            for key in keys:
                try:
                    stored = store.get(key)
                except ValueError:  # a row that is refused
                    stored = ""
                value = unseal(key, stored)
                if value is not None:
                    found[key] = value
                elif stored is not None:
                    self._complaints.refused(f"the cache {self.folder}", key)
            return found

        return (self._use(read) or {}) if keys else {}

    def set_many(self, entries: Mapping[str, str]) -> None:
        """Keep all of these in one transaction; if the store fails, none, with a warning."""
        check_keys(tuple(entries))
        sealed = {key: seal(key, value) for key, value in entries.items()}

        def write(store: Any) -> None:
            with store.transact():
                for key, value in sealed.items():
                    store.set(key, value)

        if sealed:
            self._use(write)

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            if self._store is not None:
                self._store.close()
            self._store = None

    def _use(self, operation: Callable[[Any], T]) -> T | None:
        """What the operation returns, or `None`, with a warning, if the store does not let it.

        A lock is waited for; once that was in vain, no longer until the store has answered again,
        so that a stuck process costs a run seconds, not seconds per answer.
        """
        from factcheck.runtime.cache.trouble import diagnosed, root

        deadline = time.monotonic() + self._patience_s
        while not self._abandoned:
            store = self._store
            try:
                with self._lock:
                    store = self._open()
                    result = operation(store)
            except Exception as error:
                trouble = diagnosed(error)
                if trouble is None:
                    raise
                if trouble == "damaged":
                    self._replace(store, root(error))
                elif trouble == "locked" and time.monotonic() < deadline:
                    time.sleep(_LOCK_POLL_S)
                else:
                    self._patience_s = 0.0 if trouble == "locked" else self._patience_s
                    self._complaints.warn(
                        trouble, _MESSAGES[trouble], f"the cache {self.folder}", root(error)
                    )
                    return None
            else:
                self._patience_s = LOCK_WAIT_S
                return result
        return None

    def _open(self) -> Any:
        from factcheck.runtime.cache.safe_store import DATABASE, SafeStore

        if self._store is None:
            remark = layout.make_private(self.folder)
            if remark is not None:
                self._complaints.warn("rights", "%s", remark)
            path = self.folder / layout.ANSWERS
            self._file = layout.identity(path / DATABASE)
            self._store = SafeStore(path)
            self._file = layout.identity(path / DATABASE)
        return self._store

    def _replace(self, store: Any, reason: BaseException) -> None:
        """Start a new store with what the damaged one still gives; once, the next is given up."""
        from factcheck.runtime.cache.safe_store import DATABASE
        from factcheck.runtime.cache.upkeep import carry_over

        with self._lock:
            if self._store is not store:
                return  # another thread did it
            self.close()
            if layout.identity(self.folder / layout.ANSWERS / DATABASE) != self._file:
                return  # another process did it
            if self._replaced:
                self._abandon("is damaged again", reason)
                return
            self._replaced = True
            try:
                aside = layout.set_aside(self.folder)
            except OSError as error:
                self._abandon("is damaged and cannot be moved aside", error)
                return
            saved = carry_over(aside, self)
            self._complaints.warn(
                "damaged",
                "the cache %s was damaged (%s); %d answers are carried over into a new one, "
                "the old one is in %s",
                self.folder,
                reason,
                saved,
                aside,
            )

    def _abandon(self, what: str, reason: BaseException) -> None:
        self._abandoned = True
        self._complaints.warn(
            "abandoned",
            "the cache %s %s; going on without it (%s)",
            self.folder,
            what,
            reason,
        )
