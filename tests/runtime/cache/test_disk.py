"""A cache on disk: private, shared by processes, never in the way, whatever was done to it."""

from __future__ import annotations

import logging
import math
import multiprocessing
import os
import pickle
import random
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factcheck.errors import FactcheckError
from factcheck.runtime.cache import DiskCache, answer_key, store
from factcheck.runtime.cache import disk as disk_module
from factcheck.runtime.cache.disk import database
from factcheck.runtime.cache.store import clear, contents, is_damage, is_trouble
from tests.runtime.cache.conftest import KEY, OTHER
from tests.runtime.cache.stores import bomb, filled, in_lists, plant, run_sql


def test_nothing_is_created_before_the_first_use(folder: Path) -> None:
    DiskCache(folder).close()
    assert not folder.exists()


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_owner_can_enter(folder: Path, disk: DiskCache, umask: int) -> None:
    old = os.umask(umask)
    try:
        disk.add_many({KEY: "kept"})
    finally:
        os.umask(old)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (folder, folder / "answers")}
    assert modes == {0o700}


def test_a_lock_that_stays_is_a_warning_and_waited_for_once(
    folder: Path,
    disk: DiskCache,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(store, "LOCK_WAIT_S", 0.05)
    disk.add_many({KEY: "old"})
    with closing(sqlite3.connect(database(folder), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        disk.add_many({KEY: "new"})
        monkeypatch.setattr(disk_module.DiskCache, "_opened", None)
        disk.add_many({OTHER: "new"})  # which is not even tried
        monkeypatch.undo()
    assert [message.rpartition("(")[2] for message in caplog.messages] == [
        "locked by another process)"
    ]
    disk._paused_until = 0.0
    disk.add_many({OTHER: "newer"})
    assert disk.get_many([KEY, OTHER, KEY]) == {KEY: ["old"], OTHER: ["newer"]}


def test_a_full_disk_keeps_all_of_a_batch_or_nothing(
    disk: DiskCache, caplog: pytest.LogCaptureFixture
) -> None:
    disk.add_many({KEY: "kept"})
    run = disk._store._sql
    ((n_pages,),) = run("PRAGMA page_count").fetchall()
    run(f"PRAGMA max_page_count = {n_pages + 8}")
    batch = {answer_key(n=n): "x" * 4000 for n in range(16)}
    for _ in range(2):
        disk.add_many(batch)
        disk._paused_until = 0.0
    assert len(caplog.messages) == 1
    assert "database or disk is full" in caplog.text
    assert disk.get_many([KEY, *batch]) == {KEY: ["kept"]}
    run("PRAGMA max_page_count = 1000000")
    disk.add_many(batch)
    assert disk.get_many([KEY, *batch]) == {KEY: ["kept"], **in_lists(batch)}


def test_a_file_in_place_of_the_folder_is_a_warning(
    folder: Path, disk: DiskCache, caplog: pytest.LogCaptureFixture
) -> None:
    folder.write_text("a file")
    disk.add_many({KEY: "new"})
    assert disk.get_many([KEY]) == {}
    assert len(caplog.messages) == 1
    assert "cannot be used; continuing without it" in caplog.text
    assert folder.read_text() == "a file"


def write_many(folder: str, own: int, rounds: int) -> str:
    caplog: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: caplog.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("factcheck.cache").addHandler(handler)
    for n in range(rounds):
        with closing(DiskCache(Path(folder, str(n)))) as cache:  # which all make at once
            cache.add_many({KEY: str(own)})
    cache = DiskCache(folder)
    for n in range(rounds):
        shared = {answer_key(n=n, i=i): f"answer {n} {i}" for i in range(16)}
        cache.add_many({**shared, answer_key(own=own, n=n): str(own)})
        assert cache.get_many(tuple(shared)) == in_lists(shared)
    cache.close()
    return "; ".join(caplog)


def test_processes_share_a_cache(folder: Path) -> None:
    context = multiprocessing.get_context("spawn")
    with context.Pool(4, context.Barrier(4).wait) as pool:
        complaints = pool.starmap(write_many, [(str(folder), own, 12) for own in range(4)], 1)
        pool.close()
        pool.join()
    cache = DiskCache(folder)
    shared = {answer_key(n=n, i=i): f"answer {n} {i}" for n in range(12) for i in range(16)}
    own = {answer_key(own=own, n=n): str(own) for own in range(4) for n in range(12)}
    assert complaints == ["", "", "", ""]
    for n in range(12):
        with closing(DiskCache(folder / str(n))) as made:
            assert sorted(made.get_many([KEY])[KEY]) == ["0", "1", "2", "3"]
    assert cache.get_many([*shared, *own]) == in_lists({**shared, **own})
    cache.close()
    with closing(sqlite3.connect(database(folder))) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "of a message"), "damage"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "trouble"),
        (sqlite3.DataError("string or blob too big"), "trouble"),
        (PermissionError("no"), "trouble"),
        (sqlite3.ProgrammingError("a mistake of ours"), "neither"),
        (RuntimeError("a mistake of ours"), "neither"),
    ],
)
def test_damage_is_no_trouble_and_a_mistake_is_neither(error: Exception, kind: str) -> None:
    found = "damage" if is_damage(error) else "trouble" if is_trouble(error) else "neither"
    assert found == kind


def test_a_file_that_a_row_names_is_neither_read_nor_removed(
    folder: Path, tmp_path: Path, disk: DiskCache
) -> None:
    victim = tmp_path / "victim"
    victim.write_bytes(b'["of another file"]')
    filled(folder, {KEY: "kept"})
    run_sql(folder, "UPDATE Cache SET filename = ?, mode = 4", (str(victim),))
    assert disk.get_many([KEY]) == {}
    disk.add_many({KEY: "new"})
    assert disk.get_many([KEY]) == {KEY: ["new"]}
    assert victim.exists()


def test_beyond_its_size_the_oldest_answers_are_replaced(
    disk: DiskCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "MAX_BYTES", 200_000)
    keys = [answer_key(n=n) for n in range(200)]
    for key in keys:
        disk.add_many({key: "x" * 2_000})
    found = disk.get_many(keys)
    assert 20 < len(found) < 100
    assert list(found) == keys[-len(found) :]


ENTRIES = {answer_key(n=n): f"answer {n} " + "x" * 500 for n in range(40)}
STORED = in_lists(ENTRIES)


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "canary"


def test_the_bomb_works(canary: Path) -> None:
    """Otherwise the tests below would prove nothing."""
    pickle.loads(bomb(canary))  # noqa: S301 - ours
    assert canary.exists()


PICKLE: Any = object()
"""Stands for a pickle that leaves the canary."""
PLANTED: list[Any] = [
    *(PICKLE, None, 7, "text", 0.5, b"", b'["cut off', b"[1]", b'{"a": "b"}', b"[" * 99_999),
]


@pytest.mark.parametrize("mode", [1, 4])
@pytest.mark.parametrize("value", PLANTED, ids=range(len(PLANTED)))
def test_a_planted_row_is_a_miss(
    folder: Path,
    canary: Path,
    disk: DiskCache,
    caplog: pytest.LogCaptureFixture,
    value: Any,
    mode: int,
) -> None:
    filled(folder, {OTHER: "good"})
    plant(folder, KEY, bomb(canary) if value is PICKLE else value)
    run_sql(folder, "UPDATE Cache SET mode = ? WHERE key = ?", (mode, KEY))
    assert disk.get_many([KEY, OTHER, KEY]) == {OTHER: ["good"]}
    is_empty = value is None and mode == 1
    assert len(caplog.messages) == (not is_empty)
    assert is_empty or "cannot be read; it counts as missing" in caplog.text
    disk.add_many({KEY: "new"})
    assert disk.get_many([KEY]) == {KEY: ["new"]}
    assert clear(database(folder)) == 2
    assert not canary.exists()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
@given(seed=st.integers(0, 2**32))
def test_flipped_bits_are_survived(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    """A bit in an index may bring the value of another entry under a key, but no other value."""
    folder = tmp_path_factory.mktemp("flipped") / "cache"
    data = bytearray(filled(folder, ENTRIES))
    chance = random.Random(seed)
    for _ in range(chance.choice([1, 1, 2, 8])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    database(folder).write_bytes(data)
    with suppress(FactcheckError):
        contents(database(folder))
    with closing(DiskCache(folder)) as cache:
        cache.add_many({KEY: "new"})
        assert {*cache.get_many([KEY]).get(KEY, [])} <= {"new", *ENTRIES.values()}
        cache.get_many(tuple(ENTRIES))


DAMAGE: list[Any] = [
    "INSERT INTO Settings VALUES ('sqlite_x', 1)",
    "ALTER TABLE Cache RENAME COLUMN value TO other",
    lambda data: b"",
    lambda data: data[:50],
    lambda data: data[:-1],
    lambda data: data[:4096] + b"\0" * (len(data) - 4096),
]
"""Statements, or what becomes of the file."""


@pytest.mark.parametrize("damage", DAMAGE, ids=range(len(DAMAGE)))
def test_damage_costs_the_entries_at_most(
    folder: Path, disk: DiskCache, caplog: pytest.LogCaptureFixture, damage: Any
) -> None:
    data = filled(folder, ENTRIES)
    if isinstance(damage, str):
        run_sql(folder, damage)
    else:
        data = damage(data)
        database(folder).write_bytes(data)
    found = disk.get_many(tuple(ENTRIES))
    assert len(caplog.messages) <= 1
    assert found == STORED or caplog.messages or not data
    assert found.items() <= STORED.items()
    disk.add_many({KEY: "new"})
    assert disk.get_many([KEY]) == {KEY: ["new"]}
    assert disk.get_many(tuple(ENTRIES)) == found


def test_a_damaged_store_is_renamed_once(
    folder: Path, disk: DiskCache, caplog: pytest.LogCaptureFixture
) -> None:
    data = filled(folder, ENTRIES)
    cut = data[: len(data) * 2 // 3]
    database(folder).write_bytes(cut)
    disk.add_many({KEY: "new"})
    assert disk.get_many([KEY]) == {KEY: ["new"]}
    (aside,) = folder.glob("damaged-*")
    assert (aside / "cache.db").read_bytes() == cut
    assert f"it is now {aside}, and a new one was started" in caplog.text
    disk.close()
    database(folder).write_bytes(b"garbage " * 1000)
    assert disk.get_many([KEY]) == {}
    assert len([*folder.glob("damaged-*")]) == 1
    assert "is damaged again; continuing without it" in caplog.text
    assert disk._paused_until == math.inf


def test_a_store_that_cannot_be_renamed_is_done_without(
    folder: Path, disk: DiskCache, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(folder, ENTRIES)
    database(folder).write_bytes(b"garbage " * 1000)

    def refuse(*_: object) -> None:
        raise PermissionError("no")

    monkeypatch.setattr(Path, "rename", refuse)
    disk.add_many({KEY: "new"})
    assert disk.get_many([KEY]) == {}
    assert len(caplog.messages) == 1
    assert "is damaged and cannot be renamed" in caplog.text


def test_another_process_may_have_replaced_it(folder: Path, disk: DiskCache) -> None:
    filled(folder, {KEY: "of another"})
    disk._identity = (0, 0)
    disk._replace(sqlite3.DatabaseError("seen before the other replaced it"))
    assert disk.get_many([KEY]) == {KEY: ["of another"]}
    assert not [*folder.glob("damaged-*")]


def test_what_another_process_put_in_its_place_may_not_open(
    disk: DiskCache, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk.add_many({KEY: "kept"})

    def damaged(_: object) -> Any:
        raise sqlite3.DatabaseError("file is not a database")

    def refused(_: object) -> Any:
        raise PermissionError("no")

    monkeypatch.setattr(disk._store, "get", damaged)
    monkeypatch.setattr(store, "open_store", refused)
    disk._identity = (0, 0)
    assert disk.get_many([KEY]) == {}
    assert "cannot be used; continuing without it (no)" in caplog.text
