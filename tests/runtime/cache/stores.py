"""Disk caches with something planted in them."""

from __future__ import annotations

import pickle
import sqlite3
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

from factcheck.runtime.cache import DiskCache


def database(folder: Path) -> Path:
    return folder / "answers" / "answers.db"


def filled(folder: Path, entries: Mapping[str, str]) -> bytes:
    cache = DiskCache(folder)
    cache.set_many(entries)
    cache.close()
    return database(folder).read_bytes()


def run_sql(folder: Path, statement: str, values: tuple[Any, ...] = ()) -> None:
    with closing(sqlite3.connect(database(folder))) as connection:
        connection.execute(statement, values)
        connection.commit()


def plant(folder: Path, key: Any, value: Any = b"") -> None:
    run_sql(folder, "INSERT OR REPLACE INTO answers VALUES (?, ?, 1.0)", (key, value))


class _Toucher:
    def __init__(self, path: Path) -> None:
        self._path = path

    def __reduce__(self) -> Any:
        return (Path.touch, (self._path,))


def bomb(path: Path) -> bytes:
    return pickle.dumps(_Toucher(path))
