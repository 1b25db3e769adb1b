"""An exception of the store is told from its first reason."""

from __future__ import annotations

import sqlite3
from itertools import pairwise

import diskcache
import pytest

from factcheck.runtime.cache.safe_store import DamagedStore
from factcheck.runtime.cache.trouble import diagnosed


def raised(*errors: Exception) -> Exception:
    """The last of these, each raised while the one before was handled."""
    for before, error in pairwise(errors):
        error.__context__ = before
    return errors[-1]


@pytest.mark.parametrize(
    ("error", "trouble"),
    [
        (sqlite3.OperationalError("database is locked"), "locked"),
        (raised(sqlite3.OperationalError("database is locked"), diskcache.Timeout()), "locked"),
        (diskcache.Timeout(), "locked"),
        (
            raised(
                sqlite3.OperationalError("database or disk is full"),
                sqlite3.OperationalError("cannot rollback - no transaction is active"),
            ),
            "full",
        ),
        (
            raised(
                sqlite3.OperationalError("attempt to write a readonly database"),
                diskcache.Timeout(),
            ),
            "unusable",
        ),
        (sqlite3.OperationalError("unable to open database file"), "unusable"),
        (sqlite3.OperationalError("disk I/O error"), "unusable"),
        (sqlite3.DataError("string or blob too big"), "unusable"),
        (PermissionError("no"), "unusable"),
        (sqlite3.DatabaseError("database disk image is malformed"), "damaged"),
        (raised(sqlite3.DatabaseError("malformed"), diskcache.Timeout()), "damaged"),
        (sqlite3.OperationalError("no such table: Cache"), "damaged"),
        (DamagedStore("planted"), "damaged"),
        (sqlite3.ProgrammingError("a mistake of ours"), None),
        (RuntimeError("a mistake of ours"), None),
    ],
)
def test_the_first_reason_counts(error: Exception, trouble: str | None) -> None:
    """`diskcache` hides it behind a `Timeout` or a failed roll-back."""
    assert diagnosed(error) == trouble
