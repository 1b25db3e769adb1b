"""A fork neither damages a cache on disk nor hangs in it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.processes import printed_by_python

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")

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


def test_a_thread_at_work_does_not_hang_the_child(folder: Path) -> None:
    assert printed_by_python(BUSY.format(folder=str(folder))) == "0 ['child']"
