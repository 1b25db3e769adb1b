"""The folder of a disk cache: its files, who may use them, and leases of keys."""

from __future__ import annotations

import errno
import os
import stat
import tempfile
import time
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows: every lease is granted
    fcntl = None  # type: ignore[assignment]

_STORE = "answers"
_PRIVATE = 0o700
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_ADMINISTRATOR = 0
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)


def expanded(folder: str | os.PathLike[str]) -> Path:
    """Return the absolute path with `~` and environment variables expanded."""
    return Path(os.path.expandvars(Path(folder).expanduser())).absolute()


def database(folder: Path) -> Path:
    return folder / _STORE / "cache.db"


def make_private(folder: Path) -> str | None:
    """Create the folder and the store in it, accessible only to the owner.

    Returns:
        A warning if other users had access, or `None`.

    Raises:
        OSError: They cannot be created.
    """
    folder.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    store = folder / _STORE
    if store.is_symlink():
        raise PermissionError(errno.EPERM, "a link in place of the cache is not followed", store)
    store.mkdir(mode=_PRIVATE, exist_ok=True)
    if os.name == "nt":  # permissions are inherited there, and modes meaningless
        return None
    status = store.lstat()
    if status.st_uid != os.geteuid():
        raise PermissionError(errno.EPERM, "the cache belongs to another user", store)
    if status.st_mode & _OTHERS:
        store.chmod(_PRIVATE)
        return f"{store} was accessible to other users; it is now private"
    return None


def is_read_only(folder: Path) -> bool:
    """Whether the store exists, belongs to this user or root, and is not writable."""
    path = database(folder)
    try:
        status = path.lstat()
    except OSError:
        return False
    writable = may_write(path) and may_write(path.parent)
    return not writable and os.name != "nt" and status.st_uid in {_ADMINISTRATOR, os.geteuid()}


def may_write(path: Path) -> bool:
    return os.access(path, os.W_OK)


def identity(folder: Path) -> tuple[int, int] | None:
    """Return device and inode of the database, or `None` if it does not exist."""
    try:
        status = database(folder).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def quarantine(folder: Path) -> Path:
    """Move the store into a new subfolder, which `FACTCHECK_CACHE_DIR` may name."""
    stamp = time.strftime("damaged-%Y%m%dT%H%M%S-", time.gmtime())
    aside = Path(tempfile.mkdtemp(prefix=stamp, dir=folder))
    (folder / _STORE).rename(aside / _STORE)
    return aside


def check_file(path: Path) -> None:
    """Raise unless the file is regular or absent; pipes and links are rejected."""
    if (path.is_symlink() or path.exists()) and not stat.S_ISREG(path.lstat().st_mode):
        raise PermissionError(f"{path} is not a regular file")


class Leases:
    """The leases of one cache, as locked files in a folder; call it in one thread at a time.

    A file is there while its key is leased, or after a kill; then its lock is free.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._is_made = False
        self._held: dict[str, int] = {}

    def take(self, key: str) -> bool:
        """Lease a key; `False` if it is leased, by this cache or another.

        Raises:
            OSError: The file cannot be opened or locked.
        """
        if fcntl is None:
            return True
        if not self._is_made:
            self._folder.mkdir(mode=_PRIVATE, exist_ok=True)
            if self._folder.is_symlink():
                raise PermissionError(errno.EPERM, "a link is not followed", self._folder)
            self._is_made = True
        path = self._folder / key
        file = os.open(path, _FLAGS, 0o600)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(file), path.stat()):  # or its holder has removed it
                self._held[key] = file
                return True
        except (BlockingIOError, FileNotFoundError):
            pass
        os.close(file)
        return False

    def release(self, key: str) -> None:
        """End a lease of this cache, also one that a forked process has inherited."""
        file = self._held.pop(key, None)
        if file is not None and fcntl is not None:
            (self._folder / key).unlink(missing_ok=True)
            fcntl.flock(file, fcntl.LOCK_UN)
            os.close(file)
