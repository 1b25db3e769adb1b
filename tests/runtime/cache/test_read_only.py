"""A cache that cannot be written is read."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from factcheck.runtime.cache import DiskCache, answer_key

KEY, OTHER = answer_key(a=1), answer_key(a=2)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A cache with one entry; whoever runs the tests may write everything, so it is only said."""
    cache = DiskCache(tmp_path)
    cache.add_many({KEY: "kept"})
    cache.close()
    monkeypatch.setattr("factcheck.runtime.cache.disk.may_write", lambda _: False)
    return tmp_path


def test_what_is_in_it_is_found_and_nothing_is_added(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    cache = DiskCache(folder)
    with caplog.at_level(logging.WARNING, "factcheck.cache"):
        assert cache.get_many([KEY, OTHER]) == {KEY: ["kept"]}
        cache.add_many({OTHER: "new"})
        assert cache.get_many([OTHER]) == {}
    cache.close()
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert [record.getMessage() for record in caplog.records] == [
        f"the cache {folder} cannot be written: it is read, and nothing is added"
    ]


def test_entries_that_a_killed_writer_left_unmerged_are_named(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    left = folder / "answers" / "cache.db-wal"
    left.write_bytes(b"x")
    cache = DiskCache(folder)
    assert cache.get_many([KEY]) == {KEY: ["kept"]}
    cache.close()
    assert f"entries in {left} are not seen until" in caplog.text


def test_one_of_another_user_is_not_believed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 12_345)
    monkeypatch.setattr("factcheck.runtime.cache.disk._ADMINISTRATOR", -1)
    assert DiskCache(folder).get_many([KEY]) == {}
