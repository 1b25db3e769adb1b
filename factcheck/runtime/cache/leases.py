"""Leases of keys: locks on single bytes of a file, which the system ends with their process."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path

from factcheck.runtime.loop import PerProcess

_DIGITS = 7
"""Hexadecimal digits of a key that choose its byte; all offsets fit into 31 bits."""

if sys.platform == "win32":
    import msvcrt

    def _set_lock(file: int, offset: int, *, to: bool) -> None:
        os.lseek(file, offset, os.SEEK_SET)
        msvcrt.locking(file, msvcrt.LK_NBLCK if to else msvcrt.LK_UNLCK, 1)

else:
    import fcntl

    def _set_lock(file: int, offset: int, *, to: bool) -> None:
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB if to else fcntl.LOCK_UN, 1, offset)


class _Held:
    """The leases of this process in one file, which is open while there are any."""

    def __init__(self, path: Path) -> None:
        self.file = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o600)
        self.offsets: set[int] = set()


_held: PerProcess[tuple[threading.Lock, dict[Path, _Held]]] = PerProcess(
    lambda: (threading.Lock(), {})
)
"""By file: closing any descriptor of a file would end all locks that the process has on it."""


def take(path: Path, key: str) -> bool:
    """Lease a key in a file; `False` if it is leased, in this process or another.

    Raises:
        OSError: The file cannot be opened or locked.
    """
    lock, files = _held()
    offset = int(key[:_DIGITS], 16)
    with lock:
        held = files.setdefault(path, files.get(path) or _Held(path))
        try:
            if offset in held.offsets:
                return False
            _set_lock(held.file, offset, to=True)
            held.offsets.add(offset)
        except (BlockingIOError, PermissionError):
            return False
        finally:
            _close_unused(path, files)
    return True


def release(path: Path, key: str) -> None:
    lock, files = _held()
    offset = int(key[:_DIGITS], 16)
    with lock:
        held = files.get(path)
        if held is not None and offset in held.offsets:
            held.offsets.remove(offset)
            _set_lock(held.file, offset, to=False)
            _close_unused(path, files)


def _close_unused(path: Path, files: dict[Path, _Held]) -> None:
    if not files[path].offsets:
        os.close(files.pop(path).file)
