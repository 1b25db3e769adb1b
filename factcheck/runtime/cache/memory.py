"""The port of response caches, and one in memory, for tests and runs that leave no trace."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable

from factcheck.runtime.cache.entries import check_keys


@runtime_checkable
class AnswerCache(Protocol):
    """Keeps strings by key; safe to use from several threads.

    Errors of the store never reach the caller: they are logged to `factcheck.cache`, once per kind,
    and what cannot be read is missing.
    """

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        """The cached values among these keys.

        Raises:
            ValueError: A key is not 64 lower-case hexadecimal digits, as `answer_key` makes them.
        """
        ...

    def set_many(self, entries: Mapping[str, str]) -> None:
        """Keep all of these, or none if the store fails; earlier values of these keys are replaced.

        Raises:
            ValueError: A key is not 64 lower-case hexadecimal digits, as `answer_key` makes them.
        """
        ...

    def close(self) -> None:
        """Release files and connections; used again, the cache opens again."""
        ...


class MemoryCache:
    """Keeps responses in memory.

    Args:
        max_entries: Capacity; the least recently used go first. `None`: unlimited.
    """

    def __init__(self, max_entries: int | None = None) -> None:
        if max_entries is not None and max_entries < 1:
            raise ValueError(f"max_entries must be at least 1, or None, not {max_entries}")
        self._max_entries = max_entries
        self._entries: OrderedDict[str, str] = OrderedDict()
        self._lock = threading.Lock()

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        check_keys(keys)
        with self._lock:
            found = {key: self._entries[key] for key in keys if key in self._entries}
            for key in found:
                self._entries.move_to_end(key)
        return found

    def set_many(self, entries: Mapping[str, str]) -> None:
        check_keys(tuple(entries))
        with self._lock:
            for key, value in entries.items():
                self._entries[key] = value
                self._entries.move_to_end(key)
            while self._max_entries is not None and len(self._entries) > self._max_entries:
                self._entries.popitem(last=False)

    def close(self) -> None:
        pass
