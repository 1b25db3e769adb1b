"""Redis cache (extra `redis`): for several machines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from factcheck.errors import ConfigError, describe
from factcheck.runtime.cache.entries import Store, packed

T = TypeVar("T")

PREFIX = "factcheck:2:"
"""Prefix of every key, with the version of the stored format."""
TIMEOUT_S = 5.0
"""Timeout of a request in seconds."""


class RedisCache(Store):
    """Stores responses in a Redis server, contacted on first use.

    Args:
        url: `redis://`, `rediss://` or `unix://`; messages never contain its password.

    Raises:
        ConfigError: The package `redis` is missing, or the URL is invalid.
    """

    def __init__(self, url: str) -> None:
        super().__init__("the Redis cache")
        self.url = url
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError as error:
            raise ConfigError.lacking("a Redis cache needs the package redis", "redis") from error
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

    def get_many(self, keys: Sequence[str]) -> dict[str, list[str]]:
        def read() -> list[Any]:
            with self._client.pipeline(transaction=False) as commands:
                for key in keys:
                    commands.lrange(PREFIX + key, 0, -1)
                return commands.execute(raise_on_error=False)  # type: ignore[no-any-return]

        rows: list[tuple[str, Any]] = []
        for key, answer in zip(keys, (self._ask(read) if keys else None) or [], strict=False):
            # an error stands for a value that is no list
            values = answer if isinstance(answer, list) else [None]
            rows += [(key, stored) for stored in values]
        return self.values_of(rows)

    def add_many(self, entries: Mapping[str, str]) -> None:
        """Add all entries in one transaction; if the server fails, none, with a warning."""

        def write() -> None:
            with self._client.pipeline() as commands:
                for key, value in entries.items():
                    commands.rpush(PREFIX + key, packed([value]))
                commands.execute()

        if entries:
            self._ask(write)

    def close(self) -> None:
        self._client.close()

    def evaluate(self, script: str, keys: Sequence[str], *arguments: object) -> Any:
        """Run a Lua script on the server; `None` if it does not answer, with a warning."""
        return self._ask(lambda: self._client.eval(script, len(keys), *keys, *arguments))

    def _ask(self, command: Callable[[], T]) -> T | None:
        if self.is_paused:
            return None
        try:
            return command()
        except self._refusal as error:
            self.warn("rejected", "refused an entry (%s)", error)
        except self._errors as error:
            self.pause("connection", "does not answer", describe(error))
        return None
