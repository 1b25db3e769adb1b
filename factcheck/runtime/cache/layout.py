"""Where a disk cache lies: `<folder>/answers`, private to its owner, moved as a whole when damaged.

The store has a folder of its own inside the one that is named, so that its files (SQLite's file,
its log and its index) move in one step, and so that no foreign folder's rights are changed.
"""

from __future__ import annotations

import errno
import os
import stat
import time
from pathlib import Path

PathLike = str | os.PathLike[str]

ANSWERS = "answers"
_PRIVATE = 0o700
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


def expanded(folder: PathLike) -> Path:
    """The absolute path, with `~` and variables put in, as `diskcache` would do it later."""
    return Path(os.path.expandvars(Path(folder).expanduser())).absolute()


def make_private(folder: Path) -> str | None:
    """Make the folder and the store's folder in it, for their owner alone.

    Returns:
        What others could have done there, or `None`.

    Raises:
        OSError: They cannot be made.
    """
    folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    store = folder / ANSWERS
    if store.is_symlink():
        raise PermissionError(
            errno.EPERM, "a link where the cache should be is not followed", store
        )
    store.mkdir(mode=_PRIVATE, exist_ok=True)
    if os.name == "nt":  # rights are inherited there, and modes say nothing
        return None
    status = store.lstat()
    if status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "the cache belongs to another user", store)
    if status.st_mode & _OTHERS:
        store.chmod(_PRIVATE)
        return f"{store} could be entered by other users; it is now private"
    mode = folder.stat().st_mode
    if mode & _OTHERS_WRITE and not mode & stat.S_ISVTX:
        return f"{folder} can be written by other users, who can replace the cache in it"
    return None


def identity(path: Path) -> tuple[int, int] | None:
    """What tells this file from another one of the same name; `None` if there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def set_aside(folder: Path) -> Path:
    """Move the store into a new folder beside it, where it can be read with `--dir`.

    Returns:
        The new folder.

    Raises:
        OSError: It cannot be moved.
    """
    stamp = time.strftime("%Y%m%dT%H%M%S", time.gmtime())
    number = 0
    while True:
        aside = folder / (f"damaged-{stamp}-{number}" if number else f"damaged-{stamp}")
        try:
            aside.mkdir(mode=_PRIVATE)
        except FileExistsError:
            number += 1
            continue
        break
    (folder / ANSWERS).rename(aside / ANSWERS)
    return aside
