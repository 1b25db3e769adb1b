"""Of the processes that share a cache, one asks, and the others wait for its answer."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from factcheck.runtime.cache import DiskCache
from factcheck.runtime.cache.maintenance import contents
from factcheck.runtime.cache.redis import RedisCache
from factcheck.runtime.result_cache import ResultCache
from tests.processes import printed_by_python
from tests.runtime.cache.conftest import KEY, OTHER, free_port

Shared = DiskCache | RedisCache


@pytest.fixture(params=["disk", "redis"])
def two(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Shared, Shared]]:
    caches: tuple[Shared, Shared] = DiskCache(tmp_path), DiskCache(tmp_path)
    if request.param == "redis":
        url = request.getfixturevalue("empty_redis")
        caches = RedisCache(url), RedisCache(url)
    yield caches
    for cache in caches:
        cache.close()


def test_a_lease_is_granted_once_and_is_no_answer(two: tuple[Shared, Shared]) -> None:
    one, other = two
    assert [one.lease(KEY), other.lease(KEY), other.lease(OTHER)] == [True, False, True]
    assert other.get_many([KEY, OTHER]) == {}
    if isinstance(one, DiskCache):
        assert contents(one.folder)[:2] == ({}, ())
    one.release(KEY)
    assert [other.lease(KEY), one.lease(KEY), one.lease(OTHER)] == [True, False, False]


def test_in_redis_a_lease_ends_with_its_time(
    empty_redis: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("factcheck.runtime.cache.redis.LEASE_S", 0.005)
    with closing(RedisCache(empty_redis)) as one, closing(RedisCache(empty_redis)) as other:
        assert one.lease(KEY)
        time.sleep(0.05)
        assert other.lease(KEY)


def test_a_lease_on_disk_ends_with_its_process(tmp_path: Path) -> None:
    code = f"from factcheck.runtime.cache import DiskCache as D; D({str(tmp_path)!r}).lease"
    subprocess.run([sys.executable, "-c", f"{code}({OTHER!r})"], check=True)  # noqa: S603
    with closing(DiskCache(tmp_path)) as other:
        assert other.lease(OTHER)


def test_closing_a_cache_ends_no_lease_of_another_in_its_process(tmp_path: Path) -> None:
    code = f"from factcheck.runtime.cache import DiskCache as D; c = D({str(tmp_path)!r})"
    with closing(DiskCache(tmp_path)) as one:
        assert one.lease(KEY)
        with closing(DiskCache(tmp_path)) as other:
            assert other.lease(OTHER)
            other.release(OTHER)
        found = printed_by_python(f"{code}; print(c.lease({KEY!r}), c.lease({OTHER!r}))")
        assert found == "False True"


def test_without_a_server_every_lease_is_granted() -> None:
    pytest.importorskip("redis")
    with closing(RedisCache(f"redis://127.0.0.1:{free_port()}/0")) as cache:
        assert cache.lease(KEY)
        cache.release(KEY)


async def results_of(cache: Shared, keys: Sequence[str], ask: Any, keep: Any) -> list[str]:
    """Answers for keys, each kept as `keep`."""
    results = ResultCache[str, str](
        cache, {}, lambda _: keep, lambda data, _: str(data["text"]), leases=True
    )
    questions = dict.fromkeys(keys, "")
    return await results.results(keys, questions, lambda some: [[*some]], ask, lambda _: None)


def test_whoever_waits_gets_the_answer_or_asks_after_a_failure(two: tuple[Shared, Shared]) -> None:
    asked: list[str] = []
    begun = asyncio.Event()

    async def ask(cache: Shared, answer: str) -> set[str]:
        async def asking(keys: Sequence[str]) -> list[str]:
            asked.append(answer)
            begun.set()
            await asyncio.sleep(0.1)
            return [answer] * len(keys)

        keep = {"text": answer} if answer != "failure" else None
        return {*await results_of(cache, [KEY, OTHER], asking, keep)}

    async def work() -> None:
        one, other = two
        first = asyncio.ensure_future(ask(one, "failure"))
        await begun.wait()
        second, third = ask(other, "second"), ask(other, "third")
        assert [await first, *await asyncio.gather(second, third)] == [
            {"failure"}, {asked[1]}, {asked[1]}
        ]  # fmt: skip
        assert await ask(one, "late") == {asked[1]}

    asyncio.run(work())
    assert len(asked) == 2


def test_an_answer_that_cannot_be_read_is_asked_for(two: tuple[Shared, Shared]) -> None:
    two[0].add_many({KEY: "not JSON"})

    async def ask(keys: Sequence[str]) -> list[str]:
        return ["new"] * len(keys)

    assert asyncio.run(results_of(two[1], [KEY], ask, {})) == ["new"]
