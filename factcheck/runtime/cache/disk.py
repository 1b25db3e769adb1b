"""Disk cache: a folder shared by all processes of one user on one machine.

The store is the subfolder `answers`, so that its files move in one step.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from factcheck.runtime.cache.entries import Store, packed, unpacked

T = TypeVar("T")


def expanded(folder: str | os.PathLike[str]) -> Path:
    """Return the absolute path with `~` and environment variables expanded."""
    return Path(os.path.expandvars(Path(folder).expanduser())).absolute()


def database(folder: Path) -> Path:
    return folder / "answers" / "cache.db"


class DiskCache(Store):
    """Stores responses in a folder, which is created on first use.

    Beyond 4 GiB, the oldest answers are replaced. A damaged store is renamed with a warning
    and replaced; if the new one is damaged, too, the run continues without a cache.
    """

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.folder = expanded(folder)
        """Folder of the cache."""
        super().__init__(f"the cache {self.folder}")
        self._lock = threading.Lock()
        self._store: Any = None
        self._identity: tuple[int, int] | None = None
        self._has_replaced = False

    @property
    def is_open(self) -> bool:
        """Whether reads take microseconds, so that they need no thread."""
        return self._store is not None

    def get_many(self, keys: Sequence[str]) -> dict[str, list[str]]:
        if not keys:
            return {}
        unique = dict.fromkeys(keys)
        rows = self._use(lambda store: [(key, store.get(key)) for key in unique]) or ()
        return self.values_of((key, stored) for key, stored in rows if stored is not None)

    def add_many(self, entries: Mapping[str, str]) -> None:
        """Add all entries in one transaction; if that fails, none, with a warning."""

        def write(store: Any) -> None:
            with store.transact():
                for key, value in entries.items():
                    values = unpacked(store.get(key)) or []
                    if value not in values:
                        store.set(key, packed([*values, value]))

        if entries:
            self._use(write)

    def close(self) -> None:
        with self._lock:
            self._close()

    def _close(self) -> None:
        if self._store is not None:
            self._store.close()
        self._store = None

    def _use(self, operation: Callable[[Any], T]) -> T | None:
        """Return the result of an operation, or `None` with a warning if the store fails."""
        while not self.is_paused:
            try:
                return operation(self._opened())
            except Exception as error:  # noqa: BLE001, PERF203 - raised again unless it is known
                self._recover(error)
        return None

    def _recover(self, error: Exception) -> None:
        """Replace a damaged store, or pause after any other failure of it."""
        from factcheck.runtime.cache.store import is_damage, is_trouble

        if is_damage(error):
            self._replace(error)
        elif is_trouble(error):
            self.pause("trouble", "cannot be used", str(error) or "locked by another process")
        else:
            raise error

    def _opened(self) -> Any:
        from factcheck.runtime.cache.store import open_store

        with self._lock:
            if self._store is None:
                path = database(self.folder)
                for folder in (self.folder, path.parent):
                    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
                self._identity = _identity(path)
                self._store = open_store(path.parent)
                self._identity = _identity(path)
            return self._store

    def _replace(self, reason: Exception) -> None:
        """Rename a damaged store, once, unless another thread or process has done so."""
        with self._lock:
            self._close()
            path = database(self.folder)
            if _identity(path) != self._identity:
                return
            if self._has_replaced:
                self.pause("again", "is damaged again", reason, math.inf)
                return
            self._has_replaced = True
            aside = self.folder / time.strftime(f"damaged-%Y%m%dT%H%M%S-{os.getpid()}")
            try:
                path.parent.rename(aside)
            except OSError as error:
                self.pause("stuck", "is damaged and cannot be renamed", error, math.inf)
            else:
                message = "was damaged (%s); it is now %s, and a new one was started"
                self.warn("replaced", message, reason, aside)


def _identity(path: Path) -> tuple[int, int] | None:
    """Return device and inode of a file, or `None` if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino
