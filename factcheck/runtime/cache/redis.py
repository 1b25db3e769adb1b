"""Redis cache, shared by several machines (extra `redis`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from factcheck.errors import ConfigError
from factcheck.runtime.cache.entries import WarnOnce, seal, unseal

T = TypeVar("T")

PREFIX = "factcheck:1:"
"""Prefix of every key, with the version of the stored format."""
_LEASE = f"{PREFIX}lease "
"""Prefix of the leases of keys."""
TIMEOUT_S = 5.0
"""Timeout of a request in seconds."""
PAUSE_S = 10.0
"""Seconds without requests after a failure, so that an outage delays a run only briefly."""


class RedisCache:
    """Stores responses in a Redis server, contacted on first use.

    Args:
        url: `redis://`, `rediss://` or `unix://`; messages never contain its password.

    Raises:
        ConfigError: The package `redis` is missing, or the URL is invalid.
    """

    def __init__(self, url: str) -> None:
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError as error:
            raise ConfigError(
                "a Redis cache needs the package redis; install factcheck[redis]"
            ) from error
        try:
            self._client: Any = redis.Redis.from_url(
                url,
                socket_timeout=TIMEOUT_S,
                socket_connect_timeout=TIMEOUT_S,
                retry=Retry(NoBackoff(), 1),
                decode_responses=False,
            )
        except ValueError as error:
            raise ConfigError(
                "the URL of the Redis cache cannot be read; "
                "it looks like redis://user:password@host:6379/0"
            ) from error
        self._errors: tuple[type[Exception], ...] = (redis.RedisError, OSError)
        self.leased: set[str] = set()
        """Keys leased by this process."""
        self._warn = WarnOnce()
        self._paused_until = 0.0

    def get_many(self, keys: Sequence[str]) -> dict[str, str]:
        if not keys:
            return {}
        names = [PREFIX + key for key in keys]
        answers = self._ask(lambda: self._client.mget(names)) or [None] * len(keys)
        found = {}
        for key, stored in zip(keys, answers, strict=True):
            value = unseal(key, stored)
            if value is not None:
                found[key] = value
            elif stored is not None:
                self._warn.refused("the Redis cache", key)
        return found

    def set_many(self, entries: Mapping[str, str]) -> None:
        """Store all entries in one command; if the server fails, none, with a warning."""
        sealed = {PREFIX + key: seal(key, value) for key, value in entries.items()}
        if sealed:
            self._ask(lambda: self._client.mset(sealed))
        for key in self.leased & entries.keys():
            self.release(key)

    def lease(self, key: str, seconds: float) -> bool:
        """Lease a key; see `LeasingCache`. The lease of a process that dies ends with its time."""
        time_ms = max(1, round(1000 * seconds))
        is_ours = self._ask(lambda: bool(self._client.set(_LEASE + key, 1, nx=True, px=time_ms)))
        if is_ours is not False:
            self.leased.add(key)
        return is_ours is not False

    def release(self, key: str) -> None:
        self.leased.discard(key)
        self._ask(lambda: self._client.delete(_LEASE + key))

    def close(self) -> None:
        self._client.close()

    def _ask(self, command: Callable[[], T]) -> T | None:
        if time.monotonic() < self._paused_until:
            return None
        try:
            return command()
        except self._errors as error:
            self._paused_until = time.monotonic() + PAUSE_S
            self._warn(
                "connection",
                "the Redis cache does not answer; continuing without it (%s: %s)",
                type(error).__name__,
                error,
            )
            return None
