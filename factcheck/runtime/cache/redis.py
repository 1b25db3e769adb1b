"""Redis cache, shared by several machines (extra `redis`)."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from factcheck.errors import ConfigError
from factcheck.runtime.cache.entries import LEASE_S, WarnOnce, readable, seal

T = TypeVar("T")

PREFIX = "factcheck:2:"
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
        self._refusal: type[Exception] = redis.ResponseError
        self._warn = WarnOnce()
        self._paused_until = 0.0

    @property
    def is_quick(self) -> bool:
        return False

    def get_many(self, keys: Sequence[str]) -> dict[str, list[str]]:
        def read() -> list[Any]:
            with self._client.pipeline(transaction=False) as commands:
                for key in keys:
                    commands.lrange(PREFIX + key, 0, -1)
                return commands.execute(raise_on_error=False)  # type: ignore[no-any-return]

        answers = (self._ask(read) if keys else None) or []
        # an error stands for a value that is no list
        lists = [answer if isinstance(answer, list) else [None] for answer in answers]
        return readable(dict(zip(keys, lists, strict=False)), "the Redis cache", self._warn)

    def add_many(self, entries: Mapping[str, str]) -> None:
        """Add all entries in one transaction; if the server fails, none, with a warning."""

        def write() -> None:
            with self._client.pipeline() as commands:
                for key, value in entries.items():
                    commands.rpush(PREFIX + key, seal(key, value))
                commands.execute()

        if entries:
            self._ask(write)

    def lease(self, key: str) -> bool:
        time_ms = round(1000 * LEASE_S)
        is_ours = self._ask(lambda: bool(self._client.set(_LEASE + key, 1, nx=True, px=time_ms)))
        return is_ours is not False

    def release(self, key: str) -> None:
        self._ask(lambda: self._client.delete(_LEASE + key))

    def close(self) -> None:
        self._client.close()

    def _ask(self, command: Callable[[], T]) -> T | None:
        if time.monotonic() < self._paused_until:
            return None
        try:
            return command()
        except self._refusal as error:
            self._warn("rejected", "the Redis cache refused an entry (%s)", error)
        except self._errors as error:
            self._paused_until = time.monotonic() + PAUSE_S
            self._warn(
                "connection",
                "the Redis cache does not answer; continuing without it (%s: %s)",
                type(error).__name__,
                error,
            )
        return None
