"""Maintenance of a disk cache: statistics, verification and pruning.

Every function takes the folder of a `DiskCache`, raises `InputError` for a damaged file and
`ConfigError` for one that is locked or unusable, and never creates a store.
"""

from __future__ import annotations

import json
import re
import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from factcheck.errors import ConfigError, InputError
from factcheck.runtime.cache import disk
from factcheck.runtime.cache.entries import KEY_DIGITS, unseal
from factcheck.runtime.cache.store import check_file, classify

if TYPE_CHECKING:
    from pathlib import Path

_ROWS = (
    "SELECT rowid, CASE typeof(key) WHEN 'text' THEN CAST(key AS BLOB) END, "
    "CASE typeof(value) WHEN 'blob' THEN value END, store_time FROM Cache ORDER BY rowid"
)
_ROW_KEY = re.compile(r"[0-9a-f]{80}")
_END_OF_TIME = 2**40


class StoredEntry(NamedTuple):
    """One row of a store."""

    rowid: int
    key: str
    """The key of the question; empty if it is invalid."""
    value: str
    """The value; empty if the row is invalid."""
    problem: str | None
    """Why the row is invalid, or `None`."""
    stored_at: Any
    """Unix time of writing, not validated."""

    @property
    def labels(self) -> tuple[str, str, float | None]:
        """Task, judge and Unix time; `other`, and the time of writing, where they are missing."""
        try:
            data = json.loads(self.value)
        except ValueError:
            data = None
        data = data if isinstance(data, dict) else {}
        task, judge, at = (data.get(name) for name in ("task", "judge", "at"))
        if not (isinstance(at, (int, float)) and 0 <= at < _END_OF_TIME):
            at = self.stored_at if isinstance(self.stored_at, float) else None
        task, judge = (label if isinstance(label, str) else "other" for label in (task, judge))
        return task, judge, at


class Contents(NamedTuple):
    """Statistics of a cache."""

    groups: Mapping[tuple[str, str], int]
    """Number of valid entries, by task and judge."""
    refused: tuple[StoredEntry, ...]
    """Invalid rows, which are treated as missing."""
    oldest: float | None
    newest: float | None
    """Unix time; `None` for an empty cache."""
    size: int
    """Size on disk in bytes."""
    damage: str | None = None
    """Result of SQLite's integrity check in `verify`; `None` if it passed."""

    @property
    def n_entries(self) -> int:
        return sum(self.groups.values())


@contextmanager
def _connected(folder: Path) -> Iterator[sqlite3.Connection]:
    """Connect to the database, and translate its errors."""
    path = disk.database(folder)
    try:
        check_file(path)
        with closing(
            sqlite3.connect(path, timeout=disk.LOCK_WAIT_S, isolation_level=None)
        ) as connection:
            connection.text_factory = bytes  # do not decode what the file calls text
            yield connection
    except Exception as error:
        trouble = classify(error)
        if trouble == "damaged":
            raise InputError(
                f"the cache {folder} is damaged ({error}); the next run sets it aside and "
                "starts a new one"
            ) from error
        if trouble is not None:
            raise ConfigError(f"the cache {folder} cannot be used: {error}") from error
        raise


def read_entries(folder: Path) -> Iterator[StoredEntry]:
    """Yield every row, valid or not, in the order written; none if there is no store."""
    if not disk.database(folder).exists():
        return
    with _connected(folder) as connection:
        tables = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'Cache'")
        if tables.fetchone() is not None:
            for rowid, stored_key, stored, stored_at in connection.execute(_ROWS):
                key = stored_key.decode("ascii", "replace") if stored_key is not None else ""
                problem, value = _value(key, stored)
                key = key[:KEY_DIGITS] if _ROW_KEY.fullmatch(key) else ""
                yield StoredEntry(rowid, key, value, problem, stored_at)


def _value(key: str, stored: Any) -> tuple[str | None, str]:
    """Return the problem of a row, or its value."""
    if not _ROW_KEY.fullmatch(key):
        return "its key is not valid", ""
    value = unseal(key[:KEY_DIGITS], stored)
    if value is None:
        return "its checksum does not match", ""
    try:
        json.loads(value)
    except RecursionError:
        return "its value is nested too deeply", ""
    except ValueError:
        pass
    return None, value


def contents(folder: Path) -> Contents:
    groups: Counter[tuple[str, str]] = Counter()
    refused, times = [], []
    for entry in read_entries(folder):
        if entry.problem is not None:
            refused.append(entry)
            continue
        task, judge, at = entry.labels
        groups[task, judge] += 1
        times += [] if at is None else [at]
    files = disk.database(folder).parent.glob("*")
    size = sum(file.stat().st_size for file in files if file.is_file())
    oldest, newest = min(times, default=None), max(times, default=None)
    return Contents(dict(sorted(groups.items())), tuple(refused), oldest, newest, size)


def verify(folder: Path) -> Contents:
    """Check the integrity of the file and return its contents, empty if it cannot be read."""
    try:
        found = contents(folder)
        if not disk.database(folder).exists():
            return found
        with _connected(folder) as connection:
            ((finding,), *_) = connection.execute("PRAGMA integrity_check(1)").fetchall()
        damage = finding.decode("utf-8", "replace").strip()
        return found if damage == "ok" else found._replace(damage=damage)
    except InputError as error:
        return Contents({}, (), None, None, 0, str(error.__cause__ or error))


def prune(folder: Path, *, before: float | None = None, judge: str | None = None) -> int:
    """Remove the valid entries of `judge` from before that Unix time; return their number."""
    chosen = []
    for entry in read_entries(folder):
        if entry.problem is None:
            _, name, at = entry.labels
            old = before is None or (at is not None and at < before)
            if old and judge in {None, name}:
                chosen.append((entry.rowid, entry.stored_at))
    if not chosen:
        return 0
    with _connected(folder) as connection:
        connection.execute("BEGIN IMMEDIATE")
        removed = connection.executemany(  # unless another process has rewritten the row
            "DELETE FROM Cache WHERE rowid = ? AND store_time IS ?", chosen
        ).rowcount
        connection.execute("COMMIT")
    return removed


def clear(folder: Path) -> int:
    if not disk.database(folder).exists():
        return 0
    with _connected(folder) as connection:
        return connection.execute("DELETE FROM Cache").rowcount
