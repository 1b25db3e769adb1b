"""Looking after a disk cache: what is in it, what is wrong with it, what may go, in and out.

Every function takes the folder of a `DiskCache`, raises `InputError` for a damaged file and
`ConfigError` for one that is locked or cannot be used, and never creates a store but to fill it.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeVar

from factcheck.errors import ConfigError, FactcheckError, InputError
from factcheck.runtime.cache.disk import DiskCache
from factcheck.runtime.cache.entries import is_key
from factcheck.runtime.cache.layout import ANSWERS, set_aside
from factcheck.runtime.cache.ports import AnswerCache
from factcheck.runtime.cache.reading import (
    Labels,
    StoredEntry,
    connected,
    database,
    labels,
    read_entries,
)

T = TypeVar("T")

_BATCH = 200


class Statistics(NamedTuple):
    """What a cache holds."""

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


def statistics(folder: Path) -> Statistics:
    """What the cache in this folder holds."""
    groups: Counter[tuple[str, str]] = Counter()
    refused = 0
    times = []
    for entry in read_entries(folder):
        if entry.problem is not None:
            refused += 1
            continue
        said = labels(entry.value)
        groups[said.task, said.judge] += 1
        times.append(_age_mark(entry, said))
    known = [time for time in times if time is not None]
    return Statistics(
        entries=groups.total(),
        refused=refused,
        size=_size(folder),
        groups=tuple((task, judge, n) for (task, judge), n in sorted(groups.items())),
        oldest=min(known, default=None),
        newest=max(known, default=None),
    )


def _size(folder: Path) -> int:
    files = (folder / ANSWERS).glob("*") if (folder / ANSWERS).is_dir() else ()
    return sum(file.stat().st_size for file in files if file.is_file())


def _age_mark(entry: StoredEntry, said: Labels) -> float | None:
    if said.at is not None:
        return said.at
    return entry.stored_at if isinstance(entry.stored_at, float) else None


class Findings(NamedTuple):
    """What is wrong with a cache."""

    good: int
    refused: tuple[StoredEntry, ...]
    damage: str | None
    """What SQLite says about the file, or `None` if it is whole."""


def verify(folder: Path) -> Findings:
    """Every entry read and checked, and the file's structure too."""
    good = 0
    refused = []
    try:
        for entry in read_entries(folder):
            if entry.problem is None:
                good += 1
            else:
                refused.append(entry)
        damage = _damage(folder)
    except InputError as error:
        damage = str(error.__cause__ or error)
    return Findings(good, tuple(refused), damage)


def _damage(folder: Path) -> str | None:
    if not database(folder).exists():
        return None
    with connected(folder) as connection:
        ((said,), *_) = connection.execute("PRAGMA integrity_check(1)").fetchall()
    message = said.decode("utf-8", "replace").strip()
    return None if message == "ok" else message


class Repair(NamedTuple):
    """What a repair did."""

    removed: int
    saved: int
    """Entries carried over into a new store."""
    aside: Path | None
    """Where the damaged store is now, if there was one."""


def repair(folder: Path, findings: Findings) -> Repair:
    """Refused entries removed; a damaged store moved aside and what is readable carried over."""
    if findings.damage is None:
        with suppress(InputError):  # damage that shows on writing only
            return Repair(_remove(folder, findings.refused), 0, None)
    try:
        aside = set_aside(folder)
    except OSError as error:
        raise ConfigError(f"the cache {folder} cannot be moved aside: {error}") from error
    cache = DiskCache(folder)
    saved = carry_over(aside, cache)
    cache.close()
    return Repair(0, saved, aside)


def carry_over(aside: Path, cache: AnswerCache) -> int:
    """How many good entries of a damaged store are in `cache` now; checksums vouch for them."""
    readable: list[tuple[str, str]] = []
    with suppress(FactcheckError):  # the rest cannot be read; it stays where it is
        readable.extend((e.key, e.value) for e in read_entries(aside) if e.problem is None)
    saved = 0
    for batch in _batches(readable):
        cache.set_many(dict(batch))
        saved += len(cache.get_many([key for key, _ in batch]))
    return saved


def prune(folder: Path, *, before: float | None = None, judge: str | None = None) -> int:
    """How many good entries were removed: those of `judge`, given before that Unix second."""
    chosen = []
    for entry in read_entries(folder):
        if entry.problem is None:
            said = labels(entry.value)
            mark = _age_mark(entry, said)
            old = before is None or (mark is not None and mark < before)
            if old and judge in {None, said.judge}:
                chosen.append(entry._replace(value=""))
    return _remove(folder, chosen)


def clear(folder: Path) -> int:
    """How many rows, good or bad, were removed: all of them."""
    if not database(folder).exists():
        return 0
    with connected(folder) as connection:
        return connection.execute("DELETE FROM Cache").rowcount


def _remove(folder: Path, entries: Sequence[StoredEntry]) -> int:
    """Remove rows, unless another process has written them anew since they were read."""
    removed = 0
    if entries:
        with connected(folder) as connection:
            for batch in _batches(entries):
                connection.execute("BEGIN IMMEDIATE")
                for entry in batch:
                    removed += connection.execute(
                        "DELETE FROM Cache WHERE rowid = ? AND store_time IS ?",
                        (entry.rowid, entry.stored_at),
                    ).rowcount
                connection.execute("COMMIT")
    return removed


class Export(NamedTuple):
    """A cache as text."""

    lines: tuple[str, ...]
    """One JSON object an entry, by key."""
    refused: int


def export_lines(folder: Path) -> Export:
    """All good entries, ordered by key; the same entries give the same lines."""
    good = []
    refused = 0
    for entry in read_entries(folder):
        if entry.problem is None:
            good.append((entry.key, entry.value))
        else:
            refused += 1
    good.sort()
    return Export(tuple(json.dumps({"key": k, "value": v}) for k, v in good), refused)


class Import(NamedTuple):
    """What became of the entries that were read."""

    added: int = 0
    present: int = 0
    """Already there, with the same value."""
    kept: int = 0
    """Already there with another value, which stays."""


def import_entries(folder: Path, entries: Sequence[tuple[str, str]]) -> Import:
    """Entries added to the cache; nothing that is there is replaced.

    Raises:
        ConfigError: They could not be stored.
    """
    cache = DiskCache(folder)
    done = Import()
    for batch in _batches(entries):
        fresh: dict[str, str] = {}
        doubled = [(key, value) for key, value in batch if fresh.setdefault(key, value) != value]
        one = _store(cache, fresh)
        done = Import(
            done.added + one.added,
            done.present + one.present + len(batch) - len(fresh) - len(doubled),
            done.kept + one.kept + len(doubled),
        )
    cache.close()
    return done


def _store(cache: DiskCache, entries: dict[str, str]) -> Import:
    known = cache.get_many(tuple(entries))
    fresh = {key: value for key, value in entries.items() if key not in known}
    cache.set_many(fresh)
    if cache.get_many(tuple(fresh)) != fresh:
        raise ConfigError(f"the cache {cache.folder} could not be written; nothing more was added")
    same = sum(known[key] == entries[key] for key in known)
    return Import(len(fresh), same, len(known) - same)


def parse_line(line: str) -> tuple[str, str]:
    """Key and value of one exported line.

    Raises:
        InputError: It is not one.
    """
    try:
        data = json.loads(line)
    except (ValueError, RecursionError) as error:
        raise InputError(f"not JSON ({error})") from error
    if not isinstance(data, dict) or set(data) != {"key", "value"}:
        raise InputError('not an object with "key" and "value"')
    key, value = data["key"], data["value"]
    if not isinstance(key, str) or not is_key(key):
        raise InputError('"key" is not 64 hexadecimal digits')
    try:
        known = isinstance(value, str) and isinstance(json.loads(value), dict)
    except (ValueError, RecursionError):
        known = False
    if not known:
        raise InputError('"value" is not the text of a JSON object')
    return key, value


def _batches(items: Sequence[T]) -> Iterable[Sequence[T]]:
    return (items[start : start + _BATCH] for start in range(0, len(items), _BATCH))
