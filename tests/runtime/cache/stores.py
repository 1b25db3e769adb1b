"""A cache in memory, and disk caches with something planted in them."""

from __future__ import annotations

import json
import pickle
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from factcheck.runtime.cache import DiskCache
from factcheck.runtime.cache.disk import database


class MemoryCache:
    """A cache of a user: stores responses in memory."""

    def __init__(self) -> None:
        self.entries: dict[str, list[str]] = {}

    def get_many(self, keys: Sequence[str]) -> dict[str, list[str]]:
        return {key: list(self.entries[key]) for key in keys if key in self.entries}

    def add_many(self, entries: Mapping[str, str]) -> None:
        for key, value in entries.items():
            self.entries.setdefault(key, []).append(value)

    def close(self) -> None:
        pass


def filled(folder: Path, entries: Mapping[str, str]) -> bytes:
    cache = DiskCache(folder)
    cache.add_many(entries)
    cache.close()
    return database(folder).read_bytes()


def stored(folder: Path) -> dict[str, list[str]]:
    """The values of every row, in the order of writing."""
    with closing(sqlite3.connect(database(folder))) as connection:
        rows = connection.execute("SELECT key, value FROM Cache ORDER BY rowid").fetchall()
    return {key: json.loads(values) for key, values in rows}


def in_lists(entries: Mapping[str, str]) -> dict[str, list[str]]:
    return {key: [value] for key, value in entries.items()}


def run_sql(folder: Path, statement: str, values: tuple[Any, ...] = ()) -> None:
    with closing(sqlite3.connect(database(folder))) as connection:
        connection.execute(statement, values)
        connection.commit()


def plant(folder: Path, key: Any, value: Any = b"") -> None:
    columns = "(key, raw, store_time, mode, value) VALUES (?, 1, 1.0, 1, ?)"
    run_sql(folder, f"INSERT OR REPLACE INTO Cache {columns}", (key, value))


class _Toucher:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self._path,))


def bomb(path: Path) -> bytes:
    return pickle.dumps(_Toucher(path))
