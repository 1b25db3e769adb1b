"""The folder of a disk cache: `<folder>/answers`, private to its owner, set aside as a whole.

The store has a folder of its own inside the one that is named, so that its files (SQLite's file,
its log and its index) move in one step, and the rights of foreign folders never change.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from pathlib import Path

PathLike = str | os.PathLike[str]

_STORE = "answers"
_PRIVATE = 0o700
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def expanded(folder: PathLike) -> Path:
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


def identity(folder: Path) -> tuple[int, int] | None:
    """Device and inode of the store's file; `None` if there is none."""
    try:
        status = database(folder).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def quarantine(folder: Path) -> Path:
    """Move the store into a new folder beside it, where `--dir` finds it."""
    stamp = time.strftime("damaged-%Y%m%dT%H%M%S", time.gmtime())
    number = 0
    while True:
        aside = folder / (f"{stamp}-{number}" if number else stamp)
        try:
            aside.mkdir(mode=_PRIVATE)
        except FileExistsError:
            number += 1
            continue
        (folder / _STORE).rename(aside / _STORE)
        return aside
