"""A store that was tampered with or damaged: no code runs, no other file is touched."""

from __future__ import annotations

import hashlib
import os
import pickle
import random
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import diskcache
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factcheck.errors import ConfigError, FactcheckError
from factcheck.runtime.cache import DiskCache, answer_key, maintenance
from factcheck.runtime.cache.entries import seal
from tests.runtime.cache.conftest import KEY, OTHER, ROW
from tests.runtime.cache.stores import bomb, database, filled, in_lists, plant, run_sql

ENTRIES = {answer_key(n=n): f"answer {n} " + "x" * 500 for n in range(40)}
STORED = in_lists(ENTRIES)


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    return tmp_path / "canary"


def test_the_bomb_works(canary: Path) -> None:
    """Otherwise the tests below would prove nothing."""
    pickle.loads(bomb(canary))  # noqa: S301 - ours
    assert canary.exists()


def use_everything(folder: Path) -> None:
    cache = DiskCache(folder)
    cache.get_many([KEY, OTHER])
    maintenance.contents(folder)
    maintenance.verify(folder)
    maintenance.prune(folder, 0.5)
    cache.add_many({KEY: "new"})
    assert cache.get_many([KEY]) == {KEY: ["new"]}
    maintenance.clear(folder)
    assert cache.get_many([KEY, OTHER]) == {}
    assert maintenance.verify(folder) == (0, 0, "")
    cache.close()


PICKLE: Any = object()
"""Stands for a pickle that leaves the canary."""
PLANTED: list[tuple[Any, Any]] = [
    *((key, PICKLE) for key in (ROW, b"\xff", b"0" * 80, 7, None, "0" * 79, KEY, "é" * 80)),
    *((ROW, value) for value in (None, 7, "text", 0.5, seal(OTHER, "of another key"))),
    (PICKLE, seal(KEY, "x")),
]


@pytest.mark.parametrize(("key", "value"), PLANTED, ids=range(len(PLANTED)))
def test_a_planted_row_is_a_miss(
    folder: Path,
    canary: Path,
    disk: DiskCache,
    caplog: pytest.LogCaptureFixture,
    key: Any,
    value: Any,
) -> None:
    filled(folder, {OTHER: "good"})
    key, value = (bomb(canary) if part is PICKLE else part for part in (key, value))
    plant(folder, key, value)
    assert disk.get_many([KEY, OTHER, KEY]) == {OTHER: ["good"]}
    assert len(caplog.messages) == (key == ROW)
    assert key != ROW or "damaged or tampered with" in caplog.text
    assert maintenance.verify(folder) == (1, 1, "")
    use_everything(folder)
    assert not canary.exists()


def sealed(key: str, data: bytes) -> bytes:
    """What `seal` makes, of bytes that need not be text: the checksum has no secret."""
    return hashlib.sha256(key.encode() + data).hexdigest()[:16].encode() + data


def test_a_row_that_is_no_text_may_have_a_right_checksum(folder: Path, disk: DiskCache) -> None:
    filled(folder, {OTHER: "good"})
    value = sealed(KEY, b"\xff")
    plant(folder, KEY + value[:16].decode(), value)
    assert disk.get_many([OTHER, KEY]) == {OTHER: ["good"]}
    assert maintenance.verify(folder) == (1, 1, "")


def test_a_store_of_diskcache_is_used_and_its_pickles_and_paths_are_not(
    folder: Path, tmp_path: Path, canary: Path, disk: DiskCache
) -> None:
    """`diskcache` alone unpickles rows, and reads and removes files."""
    victim = tmp_path / "victim"
    victim.write_bytes(bomb(canary))
    value = seal(OTHER, "good")
    with diskcache.Cache(folder / "answers") as store:
        store.set(OTHER + value[:16].decode(), value)
        store.set(ROW, 1)
    columns = {"mode": 4, "value": bomb(canary), "filename": str(victim)}
    for column, planted in columns.items():
        run_sql(folder, f"UPDATE Cache SET {column} = ? WHERE key = ?", (planted, ROW))  # noqa: S608 - ours
    assert disk.get_many([KEY, OTHER]) == {OTHER: ["good"]}
    use_everything(folder)
    assert victim.read_bytes() == bomb(canary)
    assert not canary.exists()


def test_a_file_system_without_links_has_a_cache(
    folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError("no links there")

    monkeypatch.setattr("os.link", refuse)
    monkeypatch.setattr("os.symlink", refuse)
    assert survives(folder) == {}
    assert caplog.messages == []


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE Cache",
        "DROP TABLE Settings",
        "INSERT INTO Settings VALUES ('transact', 'planted'), ('_sql', 1), ('sqlite_x', 1)",
        "UPDATE Settings SET value = x'ff'",
        "ALTER TABLE Cache RENAME COLUMN value TO other",
        "ALTER TABLE Cache ADD COLUMN other",
        "DROP TABLE Cache; CREATE VIEW Cache AS SELECT 1 AS key, 2 AS value, 3 AS store_time",
    ],
)
def test_a_planted_schema_costs_the_entries_at_most(folder: Path, statement: str) -> None:
    filled(folder, ENTRIES)
    with closing(sqlite3.connect(database(folder))) as connection:
        connection.executescript(statement)
    survives(folder)


@pytest.mark.skipif(os.name == "nt", reason="no pipes there")
@pytest.mark.parametrize("target", [None, "victim"])
def test_a_pipe_or_link_in_place_of_the_file_is_not_opened(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, target: str | None
) -> None:
    """A pipe would be waited for without end; a link would turn another file into a database."""
    filled(folder, ENTRIES)
    database(folder).unlink()
    victim = tmp_path / "victim"
    victim.write_text("mine")
    if target is None:
        os.mkfifo(database(folder))
    else:
        database(folder).symlink_to(victim)
    cache = DiskCache(folder)
    cache.add_many({KEY: "new"})

    assert cache.get_many([KEY]) == {}
    assert "is not a regular file" in caplog.text
    with pytest.raises(ConfigError, match="is not a regular file"):
        maintenance.contents(folder)
    assert victim.read_text() == "mine"


def survives(folder: Path) -> dict[str, list[str]]:
    cache = DiskCache(folder)
    found = cache.get_many(tuple(ENTRIES))
    assert found.items() <= STORED.items()
    cache.add_many({KEY: "new"})
    assert cache.get_many([KEY]) == {KEY: ["new"]}
    assert cache.get_many(tuple(ENTRIES)).items() <= STORED.items()
    cache.close()
    return found


def maintain(folder: Path) -> None:
    with suppress(FactcheckError):
        good = dict(filter(None, maintenance.read_entries(folder)))
        assert good.items() <= ENTRIES.items()
    try:
        maintenance.contents(folder)
    except FactcheckError as error:
        assert "is damaged" in str(error)
        assert maintenance.verify(folder).damage


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], database=None)
@given(seed=st.integers(0, 2**32))
def test_flipped_bits_never_give_a_wrong_answer(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    folder = tmp_path_factory.mktemp("flipped") / "cache"
    data = bytearray(filled(folder, ENTRIES))
    chance = random.Random(seed)
    for _ in range(chance.choice([1, 1, 2, 8])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    database(folder).write_bytes(data)
    maintain(folder)
    survives(folder)


@pytest.mark.parametrize("offset", range(0, 100, 2))
def test_a_flipped_header_is_survived(folder: Path, offset: int) -> None:
    """The first 100 bytes are SQLite's header: every second one is inverted, one by one."""
    data = bytearray(filled(folder, ENTRIES))
    data[offset] ^= 0xFF
    database(folder).write_bytes(data)
    survives(folder)


Cut = Callable[[bytes], bytes]


@pytest.mark.parametrize(
    "cut",
    [
        lambda data: b"",
        lambda data: data[:50],
        lambda data: data[:4096],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data[:4096] + b"\0" * (len(data) - 4096),
        lambda data: b"not a database at all, but long enough for a header " * 100,
    ],
    ids=["empty", "header", "a page", "half", "a byte less", "zeros", "text"],
)
def test_a_cut_file_is_survived(folder: Path, caplog: pytest.LogCaptureFixture, cut: Cut) -> None:
    data = cut(filled(folder, ENTRIES))
    database(folder).write_bytes(data)
    maintain(folder)
    found = survives(folder)
    assert len(caplog.messages) <= 1
    assert found == STORED or caplog.messages or not data


def test_a_damaged_file_is_set_aside(
    folder: Path, disk: DiskCache, caplog: pytest.LogCaptureFixture
) -> None:
    data = filled(folder, ENTRIES)
    cut = data[: len(data) * 2 // 3]
    database(folder).write_bytes(cut)
    disk.add_many({KEY: "new"})
    assert disk.get_many([KEY]) == {KEY: ["new"]}
    (aside,) = folder.glob("damaged-*")
    assert database(aside).read_bytes() == cut
    assert f"it is now in {aside}, and a new one was started" in caplog.text


def test_a_file_damaged_in_use_is_replaced_once(
    folder: Path, disk: DiskCache, caplog: pytest.LogCaptureFixture
) -> None:
    for round_ in range(3):
        disk.add_many({KEY: str(round_)})
        disk.close()
        if (folder / "answers").exists():
            database(folder).write_bytes(b"garbage " * 1000)
    assert disk.get_many([KEY]) == {}
    assert len(tuple(folder.glob("damaged-*"))) == 1
    assert [record.message.split("(")[0] for record in caplog.records][1:] == [
        f"the cache {folder} is damaged again; continuing without it "
    ]


def test_a_cut_while_open_is_survived(folder: Path, disk: DiskCache) -> None:
    disk.add_many(ENTRIES)
    run_sql(folder, "PRAGMA wal_checkpoint(TRUNCATE)")
    with database(folder).open("r+b") as file:
        file.truncate(5000)
    assert disk.get_many(tuple(ENTRIES)).items() <= STORED.items()
    disk.add_many({KEY: "new"})
    assert disk.get_many([KEY]).items() <= {KEY: ["new"]}.items()


def test_a_store_that_cannot_be_moved_is_done_without(
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
    assert "cannot be moved aside" in caplog.text


def test_another_process_may_have_replaced_it(folder: Path, disk: DiskCache) -> None:
    filled(folder, {KEY: "of another"})
    disk._identity = (0, 0)
    disk._replace(RuntimeError("seen before the other replaced it"))
    assert disk.get_many([KEY]) == {KEY: ["of another"]}
    assert not tuple(folder.glob("damaged-*"))
