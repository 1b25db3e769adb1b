"""A cache that ends with the process: for tests, and for runs that must leave no trace."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence

from factcheck.runtime.cache.entries import check_keys


class MemoryCache:
    """Keeps answers in memory.

    Args:
        max_entries: How many; beyond that, those not used for longest go. `None`: all are kept.
    """

    def __init__(self, max_entries: int | None = None) -> None:
        if max_entries is not None and max_entries < 1:
            raise ValueError(f"max_entries is {max_entries}; give at least 1, or None")
        self._max_entries = max_entries
        self._entries: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        """Those of these keys that are kept, with their values."""
        check_keys(keys)
        with self._lock:
            found = {key: self._entries[key] for key in keys if key in self._entries}
            for key in found:
                self._entries.move_to_end(key)
        return found

    def set_many(self, entries: Mapping[str, str]) -> None:
        """Keep all of these."""
        check_keys(tuple(entries))
        with self._lock:
            for key, value in entries.items():
                self._entries[key] = value
                self._entries.move_to_end(key)
            while self._max_entries is not None and len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)

    def close(self) -> None:
        """Nothing to give back; the entries stay."""
