"""A store that was tampered with or damaged: no code runs, no other file is touched."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import diskcache
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from factcheck.errors import FactcheckError
from factcheck.runtime.cache import DiskCache, answer_key, upkeep
from factcheck.runtime.cache.entries import seal
from tests.runtime.cache.conftest import KEY, OTHER
from tests.runtime.cache.stores import bomb, database, filled, plant, run_sql

ENTRIES = {answer_key(n=n): f"answer {n} " + "x" * 500 for n in range(40)}


@pytest.fixture
def canary(tmp_path: Path) -> Path:
    """A file that exists once planted code has run."""
    return tmp_path / "canary"


def test_the_bomb_works(canary: Path) -> None:
    """Otherwise the tests below would prove nothing."""
    pickle.loads(bomb(canary))  # noqa: S301 - ours

    assert canary.exists()


def test_a_plain_diskcache_would_run_it(folder: Path, canary: Path) -> None:
    """What is planted here reaches `diskcache`'s own reader."""
    filled(folder, {OTHER: "good"})
    plant(folder, KEY, mode=4, value=bomb(canary))
    with closing(diskcache.Cache(str(folder / "answers"))) as plain:
        plain.get(KEY)

    assert canary.exists()


def use_everything(folder: Path) -> None:
    """All that the package does with a cache, on one that may be hostile."""
    cache = DiskCache(folder)
    cache.get_many([KEY, OTHER])
    upkeep.statistics(folder)
    upkeep.verify(folder)
    upkeep.export_lines(folder)
    upkeep.prune(folder, before=0.5)
    cache.set_many({KEY: "new"})
    assert cache.get_many([KEY]) == {KEY: "new"}
    upkeep.repair(folder, upkeep.verify(folder))
    plain = upkeep.verify(folder)
    assert plain.refused == ()
    assert plain.damage is None
    upkeep.clear(folder)
    assert cache.get_many([KEY, OTHER]) == {}
    cache.close()


@pytest.mark.parametrize("mode", [4, 1, 2, 3, 0, None, "4"])
def test_a_planted_pickle_is_a_miss(
    folder: Path,
    canary: Path,
    disk: DiskCache,
    caplog: pytest.LogCaptureFixture,
    mode: int | str | None,
) -> None:
    """Whatever the row says it is."""
    filled(folder, {OTHER: "good"})
    plant(folder, KEY, mode=mode, value=bomb(canary))

    assert disk.get_many([KEY, OTHER, KEY]) == {OTHER: "good"}
    assert len(caplog.messages) == 1
    assert "damaged or tampered with" in caplog.text
    assert [entry.key for entry in upkeep.verify(folder).refused] == [KEY]
    use_everything(folder)
    assert not canary.exists()


def test_a_planted_pickled_key_is_never_loaded(folder: Path, canary: Path, disk: DiskCache) -> None:
    filled(folder, {OTHER: "good"})
    plant(folder, bomb(canary), raw=0, value=seal(KEY, "x"))

    assert disk.get_many([KEY, OTHER]) == {OTHER: "good"}
    (refused,) = upkeep.verify(folder).refused
    assert refused.problem == "its key is not plain text"
    use_everything(folder)
    assert not canary.exists()


@pytest.mark.parametrize("mode", [1, 2, 3, 4])
@pytest.mark.parametrize("absolute", [True, False])
def test_a_planted_path_is_neither_read_nor_removed(
    folder: Path,
    tmp_path: Path,
    canary: Path,
    disk: DiskCache,
    mode: int,
    absolute: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    """`diskcache` alone reads the file on reading the row, and removes it on overwriting."""
    victim = tmp_path / "victim"
    victim.write_bytes(bomb(canary))
    filled(folder, {OTHER: "good"})
    name = str(victim) if absolute else "../../victim"
    plant(folder, KEY, mode=mode, filename=name, value=None)

    assert disk.get_many([KEY, OTHER]) == {OTHER: "good"}
    use_everything(folder)
    assert victim.read_bytes() == bomb(canary)
    assert not canary.exists()


@pytest.mark.parametrize("columns", [{"mode": 4}, {"mode": 3}, {"filename": "x"}, {"raw": 0}])
def test_a_row_of_another_form_is_refused(
    folder: Path, disk: DiskCache, columns: dict[str, object]
) -> None:
    """Even where its value would do: this program does not write such rows."""
    filled(folder, {OTHER: "good"})
    plant(folder, KEY, value=seal(KEY, "looks good"), **columns)

    assert disk.get_many([KEY, OTHER]) == {OTHER: "good"}
    assert len(upkeep.verify(folder).refused) == 1


def test_the_value_of_another_key_is_refused(folder: Path, disk: DiskCache) -> None:
    """A row that was moved to another question does not answer it."""
    filled(folder, {OTHER: "answer of the other"})
    run_sql(folder, "UPDATE Cache SET key = ?", (KEY,))

    assert disk.get_many([KEY]) == {}


@pytest.mark.parametrize("name", ["transact", "get", "_sql", "timeout", "disk_hash", "sqlite_x"])
def test_planted_settings_do_not_become_attributes(
    folder: Path, disk: DiskCache, caplog: pytest.LogCaptureFixture, name: str
) -> None:
    """Each setting in the file becomes an attribute of a `diskcache.Cache`; not of ours."""
    filled(folder, ENTRIES)
    run_sql(folder, "INSERT INTO Settings VALUES (?, 'planted')", (name,))
    disk.set_many({KEY: "new"})

    assert disk.get_many([KEY, *ENTRIES]) == {KEY: "new", **ENTRIES}
    assert "40 answers are carried over" in caplog.text


@pytest.mark.parametrize(
    "name", ["size_limit", "count", "disk_min_file_size", "sqlite_journal_mode", "cull_limit"]
)
@pytest.mark.parametrize("value", [None, b"\xff", "many", -1])
def test_changed_settings_do_no_harm(
    folder: Path, disk: DiskCache, name: str, value: object
) -> None:
    filled(folder, ENTRIES)
    run_sql(folder, "UPDATE Settings SET value = ? WHERE key = ?", (value, name))
    disk.set_many({KEY: "new"})

    assert disk.get_many([KEY]) == {KEY: "new"}


def survives(folder: Path) -> dict[str, str]:
    """What is found in a damaged cache: nothing found is wrong, and new answers are kept."""
    cache = DiskCache(folder)
    found = cache.get_many(tuple(ENTRIES))
    assert found.items() <= ENTRIES.items()
    cache.set_many({KEY: "new"})
    assert cache.get_many([KEY]) == {KEY: "new"}
    assert cache.get_many(tuple(ENTRIES)).items() <= ENTRIES.items()
    cache.close()
    return found


@settings(
    max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture], database=None
)
@given(seed=st.integers(0, 2**32))
def test_flipped_bits_never_give_a_wrong_answer(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    """One to eight bits, anywhere in the file: misses and warnings, but no error."""
    folder = tmp_path_factory.mktemp("flipped") / "cache"
    data = bytearray(filled(folder, ENTRIES))
    chance = random.Random(seed)
    for _ in range(chance.choice([1, 1, 2, 8])):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    database(folder).write_bytes(data)
    copy = tmp_path_factory.mktemp("copy") / "cache"
    database(copy).parent.mkdir(parents=True)
    database(copy).write_bytes(data)

    survives(folder)
    look_after(copy)


def look_after(folder: Path) -> None:
    """The upkeep of a damaged cache ends in one that is whole, or says why not."""
    for look in (upkeep.statistics, upkeep.export_lines):
        try:
            look(folder)
        except FactcheckError as error:  # noqa: PERF203 - each is looked at
            assert "is damaged" in str(error)
    upkeep.repair(folder, upkeep.verify(folder))
    again = upkeep.verify(folder)
    assert again.refused == ()
    assert again.damage is None
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
def test_a_cut_file_is_survived(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, cut: Cut
) -> None:
    data = cut(filled(folder, ENTRIES))
    database(folder).write_bytes(data)

    found = survives(folder)
    assert len(caplog.messages) <= 1
    assert found == ENTRIES or caplog.messages or not data
    copy = tmp_path / "copy"
    filled(copy, {KEY: "x"})
    database(copy).write_bytes(data)
    look_after(copy)


def test_a_damaged_file_is_kept_and_what_can_be_read_stays(
    folder: Path, disk: DiskCache, caplog: pytest.LogCaptureFixture
) -> None:
    """It is moved, not deleted; the warning names where, and says how much was saved."""
    data = filled(folder, ENTRIES)
    cut = data[: len(data) * 2 // 3]
    database(folder).write_bytes(cut)
    found = disk.get_many(tuple(ENTRIES))

    (aside,) = folder.glob("damaged-*")
    assert database(aside).read_bytes() == cut
    assert 0 < len(found) < len(ENTRIES)
    assert found.items() <= ENTRIES.items()
    assert f"{len(found)} answers are carried over" in caplog.text
    assert f"the old one is in {aside}" in caplog.text
    assert len(upkeep.export_lines(aside).lines) == len(found)


def test_a_file_damaged_in_use_is_replaced_once(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A disk that keeps damaging files ends the cache, not the run."""
    cache = DiskCache(folder)
    for round_ in range(3):
        cache.set_many({KEY: str(round_)})
        cache.close()
        if (folder / "answers").exists():
            database(folder).write_bytes(b"garbage " * 1000)

    assert cache.get_many([KEY]) == {}
    assert len(tuple(folder.glob("damaged-*"))) == 1
    assert [record.message.split("(")[0] for record in caplog.records][1:] == [
        f"the cache {folder} is damaged again; going on without it "
    ]
    cache.close()


def test_a_cut_while_open_is_survived(folder: Path, disk: DiskCache) -> None:
    """The process neither ends nor gets a wrong answer when the file shrinks under it."""
    disk.set_many(ENTRIES)
    disk._store._sql("PRAGMA wal_checkpoint(TRUNCATE)")
    with database(folder).open("r+b") as file:
        file.truncate(5000)

    assert disk.get_many(tuple(ENTRIES)).items() <= ENTRIES.items()
    disk.set_many({KEY: "new"})
    assert disk.get_many([KEY]).items() <= {KEY: "new"}.items()


def test_a_store_that_cannot_be_moved_is_done_without(
    folder: Path,
    disk: DiskCache,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    filled(folder, ENTRIES)
    database(folder).write_bytes(b"garbage " * 1000)

    def refuse(*_: object) -> None:
        raise PermissionError("no")

    monkeypatch.setattr(Path, "rename", refuse)
    disk.set_many({KEY: "new"})

    assert disk.get_many([KEY]) == {}
    assert len(caplog.messages) == 1
    assert "cannot be moved aside" in caplog.text


def test_another_process_may_have_replaced_it(folder: Path) -> None:
    """A store that is no longer the one that was opened is not moved aside in its place."""
    filled(folder, ENTRIES)
    database(folder).write_bytes(b"garbage " * 1000)
    one, two = DiskCache(folder), DiskCache(folder)
    one.set_many({KEY: "of one"})
    two._replaced = False
    two._file = (0, 0)
    two._replace(None, RuntimeError("seen before the other replaced it"))

    assert two.get_many([KEY]) == {KEY: "of one"}
    assert len(tuple(folder.glob("damaged-*"))) == 1
    one.close()
    two.close()
