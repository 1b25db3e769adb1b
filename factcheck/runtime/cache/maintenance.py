"""Maintenance of a disk cache: statistics, verification and pruning.

Every function takes the folder of a `DiskCache`, raises `InputError` for a damaged file and
`ConfigError` for one that is locked or unusable, and never creates a store.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, NamedTuple

from factcheck.errors import ConfigError, InputError
from factcheck.runtime.cache import disk
from factcheck.runtime.cache.store import is_damage, is_trouble

if TYPE_CHECKING:
    from pathlib import Path

_ROWS = (
    "SELECT CASE typeof(key) WHEN 'text' THEN key END, "
    "CASE typeof(value) WHEN 'blob' THEN value END FROM Cache ORDER BY rowid"
)
_TOTALS = "SELECT count(*), CAST(min(store_time) AS REAL), CAST(max(store_time) AS REAL) FROM Cache"


class Contents(NamedTuple):
    """Statistics of a cache."""

    n_entries: int = 0
    oldest: float | None = None
    newest: float | None = None
    """Unix time; `None` for an empty cache."""
    size: int = 0
    """Size on disk in bytes."""


class Verified(NamedTuple):
    """Result of a verification."""

    n_good: int = 0
    n_refused: int = 0
    """Number of invalid entries, which are treated as missing."""
    damage: str = ""
    """Why the file cannot be read, or what SQLite's integrity check found; empty if it passed."""


@contextmanager
def _connected(folder: Path) -> Iterator[sqlite3.Connection]:
    """Connect to the database, and translate its errors."""
    try:
        with closing(
            sqlite3.connect(disk.database(folder), timeout=disk.LOCK_WAIT_S, isolation_level=None)
        ) as connection:
            connection.text_factory = bytes  # do not decode what the file calls text
            yield connection
    except Exception as error:
        if is_damage(error):
            raise InputError(
                f"the cache {folder} is damaged ({error}); the next run renames it and starts a "
                "new one"
            ) from error
        if is_trouble(error):
            raise ConfigError(f"the cache {folder} cannot be used: {error}") from error
        raise


def read_entries(folder: Path) -> Iterator[tuple[str, list[str]] | None]:
    """Yield key and values of every row, in the order written; `None` for an invalid one."""
    if not disk.database(folder).exists():
        return
    with _connected(folder) as connection:
        for key, stored in connection.execute(_ROWS):
            name = (key or b"").decode("ascii", "ignore")
            values = disk.values_in(name, stored)
            yield None if values is None else (name, values)


def contents(folder: Path) -> Contents:
    """Return statistics of the rows, valid or not."""
    path = disk.database(folder)
    if not path.exists():
        return Contents()
    with _connected(folder) as connection:
        count, oldest, newest = connection.execute(_TOTALS).fetchone()
    size = sum(file.stat().st_size for file in path.parent.glob("cache.db*"))
    return Contents(count, oldest, newest, size)


def verify(folder: Path) -> Verified:
    """Check every row, and the integrity of the file."""
    try:
        entries = [entry is not None for entry in read_entries(folder)]
        found = Verified(sum(entries), entries.count(False))
        if not disk.database(folder).exists():
            return found
        with _connected(folder) as connection:
            ((finding,), *_) = connection.execute("PRAGMA integrity_check(1)").fetchall()
        damage = finding.decode("utf-8", "replace").strip()
        return found if damage == "ok" else found._replace(damage=damage)
    except InputError as error:
        return Verified(damage=str(error.__cause__ or error))


def prune(folder: Path, before: float) -> int:
    """Remove the rows written before a Unix time; return their number."""
    return _delete(folder, "WHERE store_time < ?", before)


def clear(folder: Path) -> int:
    """Remove all rows; return their number."""
    return _delete(folder, "")


def _delete(folder: Path, where: str, *values: float) -> int:
    if not disk.database(folder).exists():
        return 0
    with _connected(folder) as connection:
        return connection.execute(f"DELETE FROM Cache {where}", values).rowcount  # noqa: S608 - ours
