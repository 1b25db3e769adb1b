"""Of the processes that share a cache, one asks, and the others wait for its answer."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from factcheck.runtime.cache import DiskCache, answer_key
from factcheck.runtime.cache.maintenance import statistics
from factcheck.runtime.result_cache import ResultCache

KEY, OTHER = answer_key(n=1), answer_key(n=2)


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[DiskCache, DiskCache]]:
    caches = DiskCache(tmp_path), DiskCache(tmp_path)
    yield caches
    for cache in caches:
        cache.close()


def test_a_lease_is_granted_once_and_is_no_answer(two: tuple[DiskCache, DiskCache]) -> None:
    one, other = two
    assert [one.lease(KEY, 60), other.lease(KEY, 60), other.lease(OTHER, 60)] == [True, False, True]
    assert other.get_many([KEY, OTHER]) == {}
    assert statistics(one.folder)[:2] == (0, 0)
    one.release(KEY)
    assert other.lease(KEY, 60)


def test_an_answer_ends_its_lease_and_outlives_it(two: tuple[DiskCache, DiskCache]) -> None:
    one, other = two
    assert one.lease(KEY, 60)
    one.set_many({KEY: "yes"})
    one.release(KEY)
    assert not other.lease(KEY, 60)
    assert other.get_many([KEY]) == {KEY: "yes"}


def test_a_lease_ends_with_its_time_or_its_process(two: tuple[DiskCache, DiskCache]) -> None:
    one, other = two
    assert one.lease(KEY, 0)
    assert other.lease(KEY, 60)
    code = f"from factcheck.runtime.cache import DiskCache as D; D({str(one.folder)!r}).lease"
    subprocess.run([sys.executable, "-c", f"{code}({OTHER!r}, 60)"], check=True)  # noqa: S603
    assert other.lease(OTHER, 60)


def results(cache: DiskCache) -> ResultCache[str]:
    def text(data: Any) -> str:
        return str(data["text"])

    return ResultCache(cache, {}, lambda answer: {"text": answer}, text, leases=True)


def test_whoever_waits_gets_the_answer_or_asks_after_a_failure(
    two: tuple[DiskCache, DiskCache],
) -> None:
    one, other = map(results, two)
    asked: list[str] = []
    begun = asyncio.Event()

    async def ask(cache: ResultCache[str], name: str, *, fails: bool = False) -> dict[str, str]:
        async with cache.lease([KEY, OTHER]) as received:
            if received:
                return received
            asked.append(name)
            begun.set()
            await asyncio.sleep(0.1)
            if not fails:
                await cache.keep({KEY: name, OTHER: name})
            return {}

    async def work() -> None:
        first = asyncio.ensure_future(ask(one, "one", fails=True))
        await begun.wait()
        assert [await ask(other, "other"), await first] == [{}, {}]
        assert asked == ["one", "other"]
        assert await ask(one, "one") == {KEY: "other", OTHER: "other"}

    asyncio.run(work())
