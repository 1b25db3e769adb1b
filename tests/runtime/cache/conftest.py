"""Every kind of cache, a Redis server of our own among them."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from factcheck.runtime.cache import DiskCache, answer_key
from factcheck.runtime.cache.redis import RedisCache
from tests.runtime.cache.stores import MemoryCache

Kept = DiskCache | MemoryCache | RedisCache

KEY = answer_key(fact="The lake is deep.")
OTHER = answer_key(fact="The pier is old.")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def is_open(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


@contextmanager
def redis_on(port: int) -> Iterator[None]:
    """A Redis server that writes nothing to disk; skips the test where there is none."""
    binary = shutil.which("redis-server")
    if binary is None:
        pytest.skip("no redis-server here: apt-get install redis-server")
    command = [binary, "--port", str(port), "--bind", "127.0.0.1", "--save", ""]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:  # noqa: S603 - on the path
        try:
            while not is_open(port):
                assert server.poll() is None, "redis-server ended"
                time.sleep(0.02)
            yield
        finally:
            server.kill()


@pytest.fixture(scope="session")
def redis_url() -> Iterator[str]:
    pytest.importorskip("redis", reason="the package redis is not installed: extra redis")
    port = free_port()
    with redis_on(port):
        yield f"redis://127.0.0.1:{port}/0"


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
