"""Maintenance of a disk cache: statistics, verification and pruning.

Every function takes the folder of a `DiskCache`, raises `InputError` for a damaged file and
`ConfigError` for one that is locked or cannot be used, and creates no store.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from factcheck.errors import InputError
from factcheck.runtime.cache import disk

if TYPE_CHECKING:
    import sqlite3

    from factcheck.runtime.cache.store import StoredEntry

_END_OF_TIME = 2**40


class Labels(NamedTuple):
    """Labels in a value."""

    task: str
    judge: str
    at: float | None


class Statistics(NamedTuple):
    """Size and contents of a cache."""

    entries: int
    refused: int
    """Rows that count as missing; not among `entries`."""
    size: int
    """Bytes on disk."""
    groups: tuple[tuple[str, str, int], ...]
    """Task, judge and number of entries, by task and judge."""
    oldest: float | None
    newest: float | None
    """Unix seconds; `None` for an empty cache."""


class Verification(NamedTuple):
    """State of a cache."""

    good: int
    refused: tuple[StoredEntry, ...]
    damage: str | None
    """SQLite's finding, or `None` if the file is whole."""


@contextmanager
def _connected(folder: Path) -> Iterator[sqlite3.Connection]:
    from factcheck.runtime.cache.store import connected

    with connected(disk.database(folder), timeout_s=disk.LOCK_WAIT_S) as connection:
        yield connection


def read_entries(folder: Path) -> Iterator[StoredEntry]:
    """Every row, good or bad, in the order written; none if there is no store."""
    from factcheck.runtime.cache import store

    if disk.database(folder).exists():
        with _connected(folder) as connection:
            yield from store.read_entries(connection)


def statistics(folder: Path) -> Statistics:
    """Size and contents of the cache in this folder."""
    groups: Counter[tuple[str, str]] = Counter()
    refused = 0
    times = []
    for entry in read_entries(folder):
        if entry.problem is not None:
            refused += 1
            continue
        labels = _labels(entry)
        groups[labels.task, labels.judge] += 1
        times.append(labels.at)
    known = [time for time in times if time is not None]
    files = disk.database(folder).parent.glob("*")
    return Statistics(
        entries=groups.total(),
        refused=refused,
        size=sum(file.stat().st_size for file in files if file.is_file()),
        groups=tuple((task, judge, n) for (task, judge), n in sorted(groups.items())),
        oldest=min(known, default=None),
        newest=max(known, default=None),
    )


def _labels(entry: StoredEntry) -> Labels:
    """The labels in a good entry; missing ones are `other`, the time that of writing."""
    try:
        data = json.loads(entry.value)
    except (ValueError, RecursionError):
        data = None
    data = data if isinstance(data, dict) else {}
    task, judge, at = (data.get(name) for name in ("task", "judge", "at"))
    if not (isinstance(at, (int, float)) and 0 <= at < _END_OF_TIME):
        at = entry.stored_at if isinstance(entry.stored_at, float) else None
    return Labels(
        task if isinstance(task, str) else "other", judge if isinstance(judge, str) else "other", at
    )


def verify(folder: Path) -> Verification:
    good = 0
    refused: list[StoredEntry] = []
    damage: str | None = None
    try:
        for entry in read_entries(folder):
            if entry.problem is None:
                good += 1
            else:
                refused.append(entry)
        if disk.database(folder).exists():
            with _connected(folder) as connection:
                ((said,), *_) = connection.execute("PRAGMA integrity_check(1)").fetchall()
            damage = said.decode("utf-8", "replace").strip()
    except InputError as error:
        damage = str(error.__cause__ or error)
    return Verification(good, tuple(refused), None if damage == "ok" else damage)


def prune(folder: Path, *, before: float | None = None, judge: str | None = None) -> int:
    """Remove the good entries of `judge` given before that Unix second; returns how many."""
    chosen = []
    for entry in read_entries(folder):
        if entry.problem is None:
            labels = _labels(entry)
            old = before is None or (labels.at is not None and labels.at < before)
            if old and judge in {None, labels.judge}:
                chosen.append((entry.rowid, entry.stored_at))
    if not chosen:
        return 0
    with _connected(folder) as connection:
        connection.execute("BEGIN IMMEDIATE")
        removed = connection.executemany(  # unless another process has written it anew
            "DELETE FROM Cache WHERE rowid = ? AND store_time IS ?", chosen
        ).rowcount
        connection.execute("COMMIT")
    return removed


def clear(folder: Path) -> int:
    if not disk.database(folder).exists():
        return 0
    with _connected(folder) as connection:
        return connection.execute("DELETE FROM Cache").rowcount
