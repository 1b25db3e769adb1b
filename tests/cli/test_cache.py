"""`factcheck cache`: what it says, what it removes, and that it harms nothing."""

from __future__ import annotations

import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from factcheck.runtime.cache import DiskCache, answer_key
from factcheck.runtime.cache.disk import database
from tests.cli.conftest import Run, refused
from tests.runtime.cache.stores import filled, in_lists, plant, run_sql

NOW = int(time.time())
DAY = 86400


KEYS = sorted(answer_key(n=n) for n in range(5))
ENTRIES = {key: f"answer {n}" for n, key in enumerate(KEYS)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A cache with five entries, one of them old, in the folder that the environment names."""
    filled(tmp_path, ENTRIES)
    old = (NOW - 60 * DAY - 1, KEYS[3])
    run_sql(tmp_path, "UPDATE Cache SET store_time = ? WHERE key = ?", old)
    return tmp_path


def kept(folder: Path) -> dict[str, list[str]]:
    cache = DiskCache(folder)
    found = cache.get_many(KEYS)
    cache.close()
    return found


@pytest.mark.parametrize("command", ["stats", "clear --yes"])
def test_no_cache_is_an_empty_cache(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Looking at a cache does not create one."""
    monkeypatch.setenv("FACTCHECK_CACHE_DIR", str(tmp_path / "none"))

    code, _, err = run("cache", *command.split())

    assert (code, err) == (0, "")
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("command", ["stats", "clear --yes"])
def test_a_damaged_file_is_named_and_started_anew_by_the_next_run(
    run: Run, folder: Path, command: str
) -> None:
    database(folder).write_bytes(b"no database " * 1000)

    code, _, err = run("cache", *command.split())
    assert (code, "is damaged" in err, "renames it" in err) == (2, True, True)
    filled(folder, ENTRIES)
    assert run("cache", "stats").code == 0


def test_clear_asks_and_without_a_terminal_refuses(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused(run("cache", "clear"), "confirm with --yes")
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("typer.confirm", lambda *_, **__: False)
    assert run("cache", "clear") == (0, "", "nothing removed\n")
    assert kept(folder) == in_lists(ENTRIES)
    plant(folder, "planted")
    assert run("cache", "clear", "--yes") == (0, f"6 responses removed from {folder}\n", "")
    assert kept(folder) == {}


def test_a_locked_cache_is_named(run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("factcheck.runtime.cache.store.LOCK_WAIT_S", 0.05)
    with closing(sqlite3.connect(database(folder), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        code, _, err = run("cache", "clear", "--yes")

    assert code == 3
    assert err == f"factcheck: the cache {folder} cannot be used: database is locked\n"
