"""A cache on disk: private, shared by processes and forks, never in the way of a run."""

from __future__ import annotations

import logging
import multiprocessing
import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import diskcache
import pytest

from factcheck.runtime.cache import DiskCache, answer_key
from factcheck.runtime.cache import disk as disk_module
from factcheck.runtime.cache.entries import seal
from tests.processes import printed_by_python
from tests.runtime.cache.conftest import KEY, OTHER
from tests.runtime.cache.stores import database, filled, in_lists, row_key

NOBODY = 65534


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_nothing_is_created_before_the_first_use(folder: Path) -> None:
    DiskCache(folder).close()
    assert not folder.exists()


def test_diskcache_reads_the_folder(folder: Path, disk: DiskCache) -> None:
    entries = {KEY: "long " * 20_000, OTHER: "short"}
    disk.add_many(entries)
    disk.add_many(entries)
    assert disk.lease(KEY)
    with diskcache.Cache(folder / "answers") as store:
        assert store.check() == []
        assert {key: store[key] for key in store} == {
            row_key(key, value): seal(key, value) for key, value in entries.items()
        }
    assert disk.get_many([KEY, OTHER]) == in_lists(entries)


@pytest.mark.parametrize(
    "moment", ["diskcache.Cache.drop_tag_index", "pathlib.Path.rename", "folder.Leases.release"]
)
def test_a_process_killed_while_it_makes_the_file_is_in_nobodys_way(
    folder: Path, disk: DiskCache, caplog: pytest.LogCaptureFixture, moment: str
) -> None:
    code = (
        "import diskcache, os, pathlib; from factcheck.runtime.cache import DiskCache, folder; "
        f"{moment} = lambda *_: os._exit(9); DiskCache({str(folder)!r}).get_many(['0'])"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 9  # noqa: S603 - ours
    disk.add_many({KEY: "kept"})
    assert disk.get_many([KEY]) == {KEY: ["kept"]}
    assert caplog.messages == []
    with diskcache.Cache(folder / "answers") as store:
        assert store.check() == []


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_only_the_owner_can_enter(folder: Path, disk: DiskCache, umask: int) -> None:
    old = os.umask(umask)
    try:
        disk.add_many({KEY: "kept"})
    finally:
        os.umask(old)
    assert mode(folder) == mode(folder / "answers") == 0o700


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
def test_a_store_that_others_can_enter_is_closed_to_them(
    folder: Path, disk: DiskCache, caplog: pytest.LogCaptureFixture
) -> None:
    filled(folder, {KEY: "kept"})
    (folder / "answers").chmod(0o755)
    assert disk.get_many([KEY]) == {KEY: ["kept"]}
    assert mode(folder / "answers") == 0o700
    assert "was accessible to other users; it is now private" in caplog.text


@contextmanager
def write_lock(path: Path) -> Iterator[None]:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.execute("ROLLBACK")


def test_a_short_lock_is_waited_for(
    folder: Path, disk: DiskCache, caplog: pytest.LogCaptureFixture
) -> None:
    disk.add_many({KEY: "old"})
    writer = threading.Thread(target=disk.add_many, args=({KEY: "new"},))
    with write_lock(database(folder)):
        writer.start()
        writer.join(0.3)
        assert writer.is_alive()
        assert disk.get_many([KEY]) == {KEY: ["old"]}
    writer.join()
    assert disk.get_many([KEY]) == {KEY: ["old", "new"]}
    assert caplog.messages == []


@pytest.mark.parametrize("opened", [True, False])
def test_a_lock_that_stays_is_a_warning(
    folder: Path,
    disk: DiskCache,
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
    opened: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    monkeypatch.setattr(disk_module, "LOCK_WAIT_S", 0.05)
    disk.add_many({KEY: "old"})
    if not opened:
        disk.close()
    naps: list[float] = []
    with write_lock(database(folder)):
        disk.add_many({KEY: "new"})
        monkeypatch.setattr("time.sleep", naps.append)
        disk.add_many({OTHER: "new"})
    assert naps == []
    assert len(caplog.messages) == 1
    assert "is locked by another process" in caplog.text
    disk.add_many({OTHER: "newer"})

    assert disk.get_many([KEY, OTHER]) == {KEY: ["old"], OTHER: ["newer"]}


def _run_sql(disk: DiskCache, statement: str) -> int:
    def run(store: Any) -> int:
        return int(store.execute(statement).fetchone()[0])

    found = disk._use(run)
    assert found is not None
    return found


def test_a_full_disk_keeps_all_of_a_batch_or_nothing(
    folder: Path, disk: DiskCache, caplog: pytest.LogCaptureFixture
) -> None:
    disk.add_many({KEY: "kept"})
    run = partial(_run_sql, disk)
    run(f"PRAGMA max_page_count = {run('PRAGMA page_count') + 8}")
    batch = {answer_key(n=n): "x" * 4000 for n in range(16)}
    disk.add_many(batch)
    disk.add_many(batch)
    assert len(caplog.messages) == 1
    assert "the disk is full" in caplog.text
    assert disk.get_many([KEY, *batch]) == {KEY: ["kept"]}
    run("PRAGMA max_page_count = 1000000")
    disk.add_many(batch)
    assert disk.get_many([KEY, *batch]) == {KEY: ["kept"], **in_lists(batch)}


@pytest.fixture
def public_folder() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@contextmanager
def without_rights() -> Iterator[None]:
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(os.name == "nt", reason="POSIX modes")
@pytest.mark.parametrize("filled", [True, False])
def test_a_read_only_folder_is_a_warning(
    public_folder: Path,
    caplog: pytest.LogCaptureFixture,
    filled: bool,  # noqa: FBT001 - a parameter of the test
) -> None:
    folder = public_folder / "cache"
    disk = DiskCache(folder)
    disk.get_many([KEY])  # loads what is loaded on first use
    if filled:
        disk.add_many({KEY: "kept"})
    disk.close()
    if not filled:
        shutil.rmtree(folder)
    else:
        (folder / "answers").chmod(0o555)
        folder.chmod(0o555)
    public_folder.chmod(0o555)
    with without_rights():
        disk.add_many({KEY: "new"})
        assert disk.get_many([KEY]) == {}
    assert len(caplog.messages) == 1
    assert "cannot be used; continuing without it" in caplog.text
    if filled:
        (folder / "answers").chmod(0o700)
    public_folder.chmod(0o755)


def test_a_file_in_place_of_the_folder_is_a_warning(
    folder: Path, disk: DiskCache, caplog: pytest.LogCaptureFixture
) -> None:
    folder.write_text("a file")
    disk.add_many({KEY: "new"})
    assert disk.get_many([KEY]) == {}
    assert len(caplog.messages) == 1
    assert "cannot be used" in caplog.text
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
        complaints = pool.starmap(write_many, [(str(folder), own, 30) for own in range(4)], 1)
        pool.close()
        pool.join()
    cache = DiskCache(folder)
    shared = {answer_key(n=n, i=i): f"answer {n} {i}" for n in range(30) for i in range(16)}
    own = {answer_key(own=own, n=n): str(own) for own in range(4) for n in range(30)}
    assert complaints == ["", "", "", ""]
    for n in range(30):
        with closing(DiskCache(folder / str(n))) as made:
            assert sorted(made.get_many([KEY])[KEY]) == ["0", "1", "2", "3"]
    assert cache.get_many([*shared, *own]) == in_lists({**shared, **own})
    cache.close()
    with closing(sqlite3.connect(database(folder))) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert connection.execute("SELECT COUNT(*) FROM Cache").fetchone() == (600,)


@pytest.mark.skipif(os.name == "nt", reason="no links without rights there")
def test_a_link_where_the_cache_should_be_is_not_followed(
    tmp_path: Path, folder: Path, disk: DiskCache
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir(mode=0o755)
    folder.mkdir()
    (folder / "answers").symlink_to(victim)
    disk.add_many({KEY: "x"})
    assert disk.get_many([KEY]) == {}
    disk.close()
    assert list(victim.iterdir()) == []
    assert victim.stat().st_mode & 0o777 == 0o755


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (sqlite3.OperationalError("database is locked"), "locked"),
        (sqlite3.OperationalError("database or disk is full"), "full"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "damaged"),
        (sqlite3.OperationalError("unable to open database file"), "unusable"),
        (sqlite3.OperationalError("disk I/O error"), "unusable"),
        (sqlite3.DataError("string or blob too big"), "unusable"),
        (PermissionError("no"), "unusable"),
        (sqlite3.DatabaseError("database disk image is malformed"), "damaged"),
        (sqlite3.OperationalError("no such table: Cache"), "damaged"),
        (sqlite3.ProgrammingError("a mistake of ours"), None),
        (RuntimeError("a mistake of ours"), None),
    ],
)
def test_an_error_of_the_store_is_classified(error: Exception, trouble: str | None) -> None:
    assert disk_module.classify(error) == trouble


@pytest.fixture
def read_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with one entry; whoever runs the tests may write everything, so it is only said."""
    filled(tmp_path, {KEY: "kept"})
    monkeypatch.setattr("factcheck.runtime.cache.folder.may_write", lambda _: False)
    return tmp_path


def test_what_is_in_a_read_only_cache_is_found_and_nothing_is_added(
    read_only: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = {path: path.read_bytes() for path in read_only.rglob("*") if path.is_file()}
    cache = DiskCache(read_only)
    with caplog.at_level(logging.WARNING, "factcheck.cache"):
        assert cache.get_many([KEY, OTHER]) == {KEY: ["kept"]}
        cache.add_many({OTHER: "new"})
        assert cache.get_many([OTHER]) == {}
    cache.close()
    assert {path: path.read_bytes() for path in read_only.rglob("*") if path.is_file()} == before
    assert [record.getMessage() for record in caplog.records] == [
        f"the cache {read_only} cannot be written: it is read, and nothing is added"
    ]


def test_a_read_only_cache_of_another_user_is_not_believed(
    read_only: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 12_345)
    monkeypatch.setattr("factcheck.runtime.cache.folder._ADMINISTRATOR", -1)
    assert DiskCache(read_only).get_many([KEY]) == {}


forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")

SHARED = """
import os, sys, subprocess
from factcheck.runtime.cache import DiskCache, answer_key
KEYS = [answer_key(n=n) for n in range(3)]
cache = DiskCache({folder!r})
cache.add_many({{KEYS[0]: "parent"}})
opened, waits = os.pipe(), os.pipe()
if os.fork() == 0:
    cache.add_many({{KEYS[1]: "child"}})
    os.write(opened[1], b".")
    os.read(waits[0], 1)
    cache.add_many({{KEYS[2]: "child"}})
    cache.close()
    os._exit(0)
os.read(opened[0], 1)
cache.close()
wal = os.path.exists({folder!r} + "/answers/cache.db-wal")
other = DiskCache({folder!r})
seen = len(other.get_many(KEYS))
os.write(waits[1], b".")
os.wait()
print(wal, seen, len(other.get_many(KEYS)))
"""


@forking
def test_a_parent_that_closes_takes_nothing_from_its_child(folder: Path) -> None:
    assert printed_by_python(SHARED.format(folder=str(folder))) == "True 2 3"


BUSY = """
import os, signal, threading
from factcheck.runtime.cache import DiskCache, answer_key
KEY = answer_key(n=1)
cache = DiskCache({folder!r})
inside, leave = threading.Event(), threading.Event()

def stay(store):
    inside.set()
    leave.wait(0.5)

thread = threading.Thread(target=cache._use, args=(stay,))
thread.start()
inside.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    cache.add_many({{KEY: "child"}})
    os._exit(0)
_, status = os.waitpid(child, 0)
thread.join()
print(status, cache.get_many([KEY])[KEY])
"""


@forking
def test_a_thread_at_work_does_not_hang_the_child(folder: Path) -> None:
    assert printed_by_python(BUSY.format(folder=str(folder))) == "0 ['child']"
