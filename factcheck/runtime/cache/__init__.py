"""Response caches with one entry per response: on disk or in Redis."""

from __future__ import annotations

import os
from pathlib import Path

from factcheck.errors import ConfigError
from factcheck.runtime.cache.disk import DiskCache
from factcheck.runtime.cache.entries import JSON, AnswerCache, answer_key
from factcheck.settings import Settings

__all__ = [
    "JSON", "AnswerCache", "CacheSpec", "DiskCache", "answer_key", "default_folder", "open_cache",
]  # fmt: skip

CacheSpec = bool | str | os.PathLike[str] | AnswerCache | None
"""A cache or its name; see `open_cache`."""

_REDIS = ("redis://", "rediss://", "unix://")


def default_folder(settings: Settings) -> Path:
    """Return the cache folder of the settings, or else the platform's user cache folder."""
    if settings.cache_dir is not None:
        return Path(settings.cache_dir)
    from platformdirs import user_cache_path

    return user_cache_path("factcheck", appauthor=False)


def open_cache(spec: CacheSpec = None, settings: Settings | None = None) -> AnswerCache | None:
    """Return the cache for a spec, or `None` for no cache; files and connections open on first use.

    Args:
        spec: `None`, `True` or `"default"` for the cache of the settings; `"off"` or `False` for no
            cache; a Redis URL; any other string is a folder; a cache object is returned as is.
        settings: Read from the environment by default.

    Raises:
        ConfigError: The spec is invalid, or a package it needs is missing.
    """
    if spec is None or spec is True or spec == "default":
        settings = settings or Settings.from_environment()
        if settings.cache is None:
            return DiskCache(default_folder(settings))
        if settings.cache != "off" and not settings.cache.startswith(_REDIS):
            raise ConfigError(
                f"FACTCHECK_CACHE is {settings.cache!r}; it can be off or a redis:// URL "
                "(the folder goes into FACTCHECK_CACHE_DIR)"
            )
        spec = settings.cache
    if spec is False or spec == "off":
        return None
    if isinstance(spec, str) and spec.startswith(_REDIS):
        from factcheck.runtime.cache.redis import RedisCache

        return RedisCache(spec)
    if isinstance(spec, str) and (not spec.strip() or "://" in spec or "\0" in spec):
        raise ConfigError(
            f"{spec.partition('://')[0]!r} is not a cache; give a folder, a redis:// URL or 'off'"
        )
    if isinstance(spec, (str, os.PathLike)):
        return DiskCache(spec)
    if isinstance(spec, AnswerCache) and not isinstance(spec, type):
        return spec
    raise ConfigError(
        f"{spec!r} is not a cache; give a folder, a redis:// URL, 'off', "
        "or an object with get_many, add_many and close"
    )
