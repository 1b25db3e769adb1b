"""What a cache of answers is. Any object with these three methods is one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class AnswerCache(Protocol):
    """Keeps texts by key; may be used from several threads at once.

    Trouble with the store is never the caller's: it is logged to `factcheck.cache`, once per kind,
    and what cannot be read is missing.
    """

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        """Those of these keys that are kept, with their values.

        Raises:
            ValueError: A key is not 64 lower-case hexadecimal digits, as `answer_key` makes them.
        """
        ...

    def set_many(self, entries: Mapping[str, str]) -> None:
        """Keep all of these, or none if the store fails; what was kept under a key is replaced.

        Raises:
            ValueError: A key is not 64 lower-case hexadecimal digits, as `answer_key` makes them.
        """
        ...

    def close(self) -> None:
        """Give back files and connections; used again, the cache opens again."""
        ...
