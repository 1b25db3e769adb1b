"""A store that was tampered with or damaged: no code runs, and no run ends."""

from __future__ import annotations

import pickle
import random
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factcheck.errors import FactcheckError
from factcheck.runtime.cache import DiskCache, answer_key
from factcheck.runtime.cache.disk import database
from factcheck.runtime.cache.store import clear, contents
from tests.runtime.cache.conftest import KEY, OTHER
from tests.runtime.cache.stores import bomb, filled, in_lists, plant, run_sql

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


@pytest.mark.parametrize(
    "statement",
    [
        "DROP TABLE Cache",
        "INSERT INTO Settings VALUES ('sqlite_x', 1)",
        "ALTER TABLE Cache RENAME COLUMN value TO other",
    ],
)
def test_a_changed_schema_costs_the_entries_at_most(folder: Path, statement: str) -> None:
    filled(folder, ENTRIES)
    with closing(sqlite3.connect(database(folder))) as connection:
        connection.executescript(statement)
    survives(folder)


def survives(folder: Path) -> dict[str, list[str]]:
    cache = DiskCache(folder)
    found = cache.get_many(tuple(ENTRIES))
    assert found.items() <= STORED.items()
    cache.add_many({KEY: "new"})
    assert cache.get_many([KEY]) == {KEY: ["new"]}
    assert cache.get_many(tuple(ENTRIES)).items() <= STORED.items()
    cache.close()
    return found


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


@pytest.mark.parametrize(
    "cut",
    [
        lambda data: b"",
        lambda data: data[:50],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1],
        lambda data: data[:4096] + b"\0" * (len(data) - 4096),
        lambda data: b"not a database at all, but long enough for a header " * 100,
    ],
    ids=["empty", "header", "half", "a byte less", "zeros", "text"],
)
def test_a_cut_file_is_survived(folder: Path, caplog: pytest.LogCaptureFixture, cut: Any) -> None:
    data = cut(filled(folder, ENTRIES))
    database(folder).write_bytes(data)
    found = survives(folder)
    assert len(caplog.messages) <= 1
    assert found == STORED or caplog.messages or not data


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
