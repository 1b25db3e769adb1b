"""Every kind of cache, a Redis server of our own among them."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from factcheck.runtime.cache import DiskCache, answer_key
from factcheck.runtime.cache.redis import RedisCache
from tests.runtime.cache.stores import MemoryCache, row_key

Kept = DiskCache | MemoryCache | RedisCache

KEY = answer_key(fact="The lake is deep.")
OTHER = answer_key(fact="The pier is old.")
ROW = row_key(KEY, "x")
"""Key of the row of `KEY` that has the value `"x"`."""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="session")
def redis_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    binary = shutil.which("redis-server")
    if binary is None:
        pytest.skip("no redis-server here: apt-get install redis-server")
    pytest.importorskip("redis", reason="the package redis is not installed: factcheck[redis]")
    port = free_port()
    folder = tmp_path_factory.mktemp("redis")
    server = subprocess.Popen(  # noqa: S603 - found on the path
        [binary, "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(folder)],
        stdout=subprocess.DEVNULL,
    )
    try:
        wait_for(port, server)
        yield f"redis://127.0.0.1:{port}/0"
    finally:
        server.terminate()
        server.wait(timeout=30)


def wait_for(port: int, server: subprocess.Popen[bytes]) -> None:
    for _ in range(1000):
        assert server.poll() is None, "redis-server ended"
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.02)
    raise AssertionError("redis-server does not listen")


@pytest.fixture
def empty_redis(redis_url: str) -> str:
    import redis

    with redis.Redis.from_url(redis_url) as client:
        client.flushall()
    return redis_url


@pytest.fixture(params=["memory", "disk", "redis"])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], Kept]]:
    made: list[Kept] = []

    def make_cache() -> Kept:
        if request.param == "memory":
            made.append(MemoryCache())
        elif request.param == "disk":
            made.append(DiskCache(tmp_path / "cache"))
        else:
            made.append(RedisCache(request.getfixturevalue("empty_redis")))
        return made[-1]

    yield make_cache
    for cache in made:
        cache.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def disk(folder: Path) -> Iterator[DiskCache]:
    cache = DiskCache(folder)
    yield cache
    cache.close()
