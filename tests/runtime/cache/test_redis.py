"""Redis is never in the way of a run."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import closing
from typing import Any

import pytest

from factcheck.errors import ConfigError
from factcheck.runtime.cache.redis import RedisCache
from tests.runtime.cache.conftest import KEY, OTHER, free_port


@pytest.fixture
def client(empty_redis: str) -> Iterator[Any]:
    with pytest.importorskip("redis").Redis.from_url(empty_redis) as client:
        yield client


@pytest.fixture
def cache(empty_redis: str) -> Iterator[RedisCache]:
    with closing(RedisCache(empty_redis)) as cache:
        yield cache


def test_keys_have_a_prefix_and_do_not_expire(cache: RedisCache, client: Any) -> None:
    cache.add_many({KEY: "kept"})
    assert client.keys("*") == [f"factcheck:2:{KEY}".encode()]
    assert client.ttl(f"factcheck:2:{KEY}") == -1


def test_a_foreign_value_is_a_miss(
    cache: RedisCache, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    cache.add_many({OTHER: "kept"})
    client.rpush(f"factcheck:2:{KEY}", b"foreign", b'["kept, too"]')
    assert cache.get_many([KEY, OTHER]) == {KEY: ["kept, too"], OTHER: ["kept"]}
    assert "cannot be read" in caplog.text


def test_no_server_is_one_warning(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("redis")
    monkeypatch.setattr(RedisCache, "pause_s", 0.0)
    cache = RedisCache(f"redis://user:s3cr3t@127.0.0.1:{free_port()}/0")
    cache.add_many({KEY: "lost"})
    cache.add_many({KEY: "lost"})
    assert cache.get_many([KEY]) == {}
    assert len(caplog.messages) == 1
    assert "does not answer; continuing without it" in caplog.text
    assert "s3cr3t" not in caplog.text
    cache.close()


def test_a_server_that_fails_is_left_alone_for_a_while(
    cache: RedisCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    import redis

    now = 100.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    cache.add_many({KEY: "kept"})
    with monkeypatch.context() as outage:
        outage.setattr(redis.client.Pipeline, "execute", _fail)
        assert cache.get_many([KEY]) == {}
    assert cache.get_many([KEY]) == {}
    now += RedisCache.pause_s
    assert cache.get_many([KEY]) == {KEY: ["kept"]}


def _fail(*_: object, **__: object) -> None:
    raise TimeoutError("no answer")


def test_a_server_that_refuses_writes_is_a_warning(
    cache: RedisCache, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    client.config_set("maxmemory", "1")
    cache.add_many({KEY: "x" * 1000})
    client.config_set("maxmemory", "0")
    assert len(caplog.messages) == 1
    assert "refused an entry" in caplog.text


def test_a_key_of_another_type_costs_its_own_entries(
    cache: RedisCache, client: Any, caplog: pytest.LogCaptureFixture
) -> None:
    client.set(f"factcheck:2:{KEY}", "x")
    cache.add_many({KEY: "lost", OTHER: "kept"})
    assert cache.get_many([KEY, OTHER]) == {OTHER: ["kept"]}
    assert [message.partition(" (")[0] for message in caplog.messages] == [
        "the Redis cache refused an entry",
        "the Redis cache has an entry that cannot be read; it counts as missing",
    ]


def test_a_missing_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "redis", None)
    with pytest.raises(ConfigError, match=r"pip install '\.\[redis\]' in a checkout"):
        RedisCache("redis://127.0.0.1")


@pytest.mark.parametrize("url", ["redis://:s3cr3t@127.0.0.1:port/0", "http://s3cr3t@127.0.0.1"])
def test_a_bad_url_is_an_error_without_its_password(url: str) -> None:
    pytest.importorskip("redis")
    with pytest.raises(ConfigError, match="cannot be read") as caught:
        RedisCache(url)
    assert "s3cr3t" not in str(caught.value)
