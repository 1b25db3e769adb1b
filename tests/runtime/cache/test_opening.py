"""What a caller or the environment says becomes the cache that is meant, or an error."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from factcheck.errors import ConfigError
from factcheck.runtime.cache import (
    AnswerCache,
    DiskCache,
    answer_key,
    default_folder,
    open_cache,
)
from factcheck.runtime.cache.maintenance import verify
from factcheck.runtime.cache.redis import RedisCache
from factcheck.settings import Settings
from tests.runtime.cache.stores import MemoryCache, database


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


@pytest.mark.parametrize("spec", ["off", False])
def test_off_is_no_cache(spec: str | bool) -> None:  # noqa: FBT001 - a parameter of the test
    assert open_cache(spec) is None


def test_the_environment_switches_the_default_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_an_object_with_the_methods_is_used() -> None:
    memory = MemoryCache()
    assert open_cache(memory) is memory


@pytest.mark.parametrize("spec", [7, object(), MemoryCache, "", " ", "http://127.0.0.1", "a\0b"])
def test_anything_else_is_an_error(spec: object) -> None:
    with pytest.raises(ConfigError, match="cache"):
        open_cache(spec)  # type: ignore[arg-type]


def test_another_process_does_not_take_itself_for_the_last_one(tmp_path: Path) -> None:
    cache, other = DiskCache(tmp_path), DiskCache(tmp_path)
    cache.add_many({answer_key(n=1): "kept"})
    other.get_many([answer_key(n=2)])
    other.close()
    verify(tmp_path)
    leave = "import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute('SELECT key FROM Cache')"
    path = database(tmp_path)
    subprocess.run([sys.executable, "-c", leave, str(path)], check=True)  # noqa: S603 - Python
    # the last connection removes the log of changes; with locks that were lost it would do so here
    assert path.with_name("cache.db-wal").exists()
    cache.close()
