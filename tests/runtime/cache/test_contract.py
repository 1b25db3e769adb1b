"""What holds for every cache."""

from __future__ import annotations

import json
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from factcheck.runtime.cache import AnswerCache, answer_key
from tests.runtime.cache.conftest import KEY, OTHER

Make = Callable[[], AnswerCache]

VALUES = [
    json.dumps({"task": "check", "judge": "x", "at": 1}), "", "0", "≠ 東京 \U0001f6a2",
    "a\0b\r\n\u2028", "lone \udcff surrogate", "long " * 300_000,
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_a_value_comes_back_as_it_was(make: Make, value: str) -> None:
    cache = make()
    cache.add_many({KEY: value})
    assert cache.get_many([KEY]) == {KEY: [value]}


def test_what_is_not_kept_is_missing(make: Make) -> None:
    cache = make()
    cache.add_many({KEY: "kept"})
    assert cache.get_many([OTHER, KEY, OTHER]) == {KEY: ["kept"]}
    assert cache.get_many([OTHER]) == {}
    assert cache.get_many([]) == {}


def test_values_are_in_the_order_of_writing_and_a_closed_cache_opens_again(make: Make) -> None:
    cache = make()
    assert isinstance(cache, AnswerCache)
    values = [str(n) for n in range(20)]
    cache.add_many({KEY: values[0], OTHER: "alone"})
    cache.add_many({})
    for value in values[1:]:
        cache.add_many({KEY: value})
    cache.close()
    cache.close()
    assert cache.get_many([KEY, OTHER]) == {KEY: values, OTHER: ["alone"]}


def test_threads_share_it(make: Make, caplog: pytest.LogCaptureFixture) -> None:
    cache = make()
    start = threading.Barrier(8)

    def work(thread: int) -> bool:
        start.wait()
        entries = {answer_key(thread=thread, n=n): f"{thread} {n}" for n in range(48)}
        keys = tuple(entries)
        for first in range(0, len(keys), 16):
            cache.add_many({key: entries[key] for key in keys[first : first + 16]})
            cache.add_many({KEY: f"{thread} {first}"})
        return cache.get_many(keys) == {key: [value] for key, value in entries.items()}

    with ThreadPoolExecutor(8) as pool, caplog.at_level(logging.DEBUG, "factcheck.cache"):
        assert all(pool.map(work, range(8)))
    (found,) = cache.get_many([KEY]).values()
    assert sorted(found) == sorted(
        f"{thread} {first}" for thread in range(8) for first in (0, 16, 32)
    )
    assert caplog.messages == []
