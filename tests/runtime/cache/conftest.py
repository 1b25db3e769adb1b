"""Every kind of cache, a Redis server of our own among them."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from factcheck.runtime.cache import DiskCache, answer_key
from factcheck.runtime.cache.redis import RedisCache

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def disk(folder: Path) -> Iterator[DiskCache]:
    with closing(DiskCache(folder)) as cache:
        yield cache


@pytest.fixture(params=["disk", "empty_redis"])
def cache(request: pytest.FixtureRequest) -> Iterator[DiskCache | RedisCache]:
    made = request.getfixturevalue(request.param)
    with closing(RedisCache(made) if isinstance(made, str) else made) as cache:
        yield cache
