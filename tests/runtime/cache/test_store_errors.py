"""An exception of the store is classified by its message."""

from __future__ import annotations

import sqlite3

import diskcache
import pytest

from factcheck.runtime.cache.store import DamagedStore, classify


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (sqlite3.OperationalError("database is locked"), "locked"),
        (sqlite3.OperationalError("database or disk is full"), "full"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "unusable"),
        (sqlite3.OperationalError("unable to open database file"), "unusable"),
        (sqlite3.OperationalError("disk I/O error"), "unusable"),
        (sqlite3.DataError("string or blob too big"), "unusable"),
        (PermissionError("no"), "unusable"),
        (sqlite3.DatabaseError("database disk image is malformed"), "damaged"),
        (sqlite3.OperationalError("no such table: Cache"), "damaged"),
        (DamagedStore("planted"), "damaged"),
        (diskcache.Timeout("busy"), "locked"),
        (sqlite3.ProgrammingError("a mistake of ours"), None),
        (RuntimeError("a mistake of ours"), None),
    ],
)
def test_an_error_of_the_store_is_classified(error: Exception, trouble: str | None) -> None:
    assert classify(error) == trouble
