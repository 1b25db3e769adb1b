"""What a caller names becomes a cache, and what holds for every cache, its keys and entries."""

from __future__ import annotations

import hashlib
import json
import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from factcheck.errors import ConfigError
from factcheck.runtime.cache import (
    JSON,
    AnswerCache,
    DiskCache,
    answer_key,
    default_folder,
    open_cache,
)
from factcheck.runtime.cache.redis import RedisCache
from factcheck.settings import Settings
from tests.runtime.cache.conftest import KEY, OTHER
from tests.runtime.cache.stores import MemoryCache

VALUES = [
    json.dumps({"task": "check", "judge": "x", "at": 1}), "", "0", "≠ 東京 \U0001f6a2",
    "a\0b\r\n\u2028", "lone \udcff surrogate", "long " * 300_000,
]  # fmt: skip


@pytest.mark.parametrize("value", VALUES, ids=range(len(VALUES)))
def test_a_value_comes_back_as_it_was(cache: AnswerCache, value: str) -> None:
    cache.add_many({KEY: value})
    assert cache.get_many([KEY]) == {KEY: [value]}


def test_what_is_not_kept_is_missing(cache: AnswerCache) -> None:
    cache.add_many({KEY: "kept"})
    assert cache.get_many([OTHER, KEY, OTHER]) == {KEY: ["kept"]}
    assert cache.get_many([OTHER]) == {}
    assert cache.get_many([]) == {}


def test_values_keep_their_order_and_a_closed_cache_opens_again(cache: AnswerCache) -> None:
    assert isinstance(cache, AnswerCache)
    values = [str(n) for n in range(20)]
    cache.add_many({KEY: values[0], OTHER: "alone"})
    cache.add_many({})
    for value in values[1:]:
        cache.add_many({KEY: value})
    cache.close()
    cache.close()
    assert cache.get_many([KEY, OTHER]) == {KEY: values, OTHER: ["alone"]}


def test_threads_share_it(cache: AnswerCache, caplog: pytest.LogCaptureFixture) -> None:
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


def test_a_key_is_the_hash_of_canonical_json() -> None:
    canonical = '{"key_schema":2,"parts":{"fact":"Ä","task":"check"}}'
    assert answer_key(task="check", fact="Ä") == hashlib.sha256(canonical.encode()).hexdigest()


def test_types_and_surrogates_are_told_apart_and_what_is_not_json_has_no_key() -> None:
    values: tuple[JSON, ...] = ("1", 1, True, None, "", [], {}, "\U0001f6a2", "\ud83d\udea2")
    assert len({answer_key(part=value) for value in values}) == len(values)
    with pytest.raises(TypeError):
        answer_key(part={1, 2})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Out of range"):
        answer_key(part=float("nan"))


def folder_of(cache: AnswerCache | None) -> Path:
    assert isinstance(cache, DiskCache)
    return cache.folder


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        *((None, "there"), ("default", "there"), (True, "there")),
        *(("x", "x"), (Path("x"), "x"), ("~/x", "home/x"), ("$PLACE/x", "here/x")),
    ],
)
def test_answers_are_kept_where_the_caller_or_the_environment_says(
    spec: str | None, place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("FACTCHECK_CACHE_DIR", tmp_path / "there"), ("HOME", tmp_path / "home")):
        monkeypatch.setenv(name, str(value))
    monkeypatch.setenv("PLACE", "here")
    monkeypatch.chdir(tmp_path)
    assert folder_of(open_cache(spec)).absolute() == tmp_path / place


def test_or_in_the_users_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import platformdirs

    expected = Path(platformdirs.user_cache_dir("factcheck", appauthor=False))
    assert folder_of(open_cache(None, Settings())) == expected
    assert default_folder(Settings()) == expected


def test_off_is_no_cache_and_in_the_environment_none_by_default(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert open_cache("off") is open_cache(spec=False) is None
    monkeypatch.setenv("FACTCHECK_CACHE", "off")
    assert open_cache() is None
    assert folder_of(open_cache(tmp_path)) == tmp_path


@pytest.mark.parametrize("value", ["on", "0", "false", "OFF", "/tmp"])  # noqa: S108 - not used
def test_an_unclear_environment_is_an_error(value: str) -> None:
    with pytest.raises(ConfigError, match="FACTCHECK_CACHE is"):
        open_cache(None, Settings(cache=value))


def test_a_password_in_the_environment_is_not_shown() -> None:
    assert "s3cr3t" not in repr(Settings(cache="redis://:s3cr3t@127.0.0.1"))


@pytest.mark.parametrize("scheme", ["redis", "rediss", "unix"])
def test_a_redis_url_is_a_server_in_the_environment_too(scheme: str) -> None:
    pytest.importorskip("redis")
    url = f"{scheme}://127.0.0.1/0"
    for cache in (open_cache(url), open_cache(None, Settings(cache=url))):
        assert isinstance(cache, RedisCache)


@pytest.mark.parametrize("spec", [7, object(), MemoryCache, "", " ", "http://127.0.0.1", "a\0b"])
def test_an_object_with_the_methods_is_used_and_anything_else_is_an_error(spec: Any) -> None:
    memory = MemoryCache()
    assert open_cache(memory) is memory
    with pytest.raises(ConfigError, match="cache"):
        open_cache(spec)
