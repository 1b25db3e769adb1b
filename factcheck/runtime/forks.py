"""State that a forked child must not inherit."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class PerProcess(Generic[T]):
    """A value that is made anew in every process: connections, limits, answers on their way.

    Args:
        make: Makes it, on first use.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._made: tuple[int, T] | None = None

    def __call__(self) -> T:
        """The value of this process."""
        process = os.getpid()
        if self._made is None or self._made[0] != process:
            self._made = (process, self._make())
        return self._made[1]

    def take(self) -> T | None:
        """The value of this process if it was made, and forget it."""
        made, self._made = self._made, None
        return made[1] if made is not None and made[0] == os.getpid() else None
