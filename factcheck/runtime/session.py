"""Sessions: response cache, budget, limits, retries and connections shared by evaluators."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar

from factcheck.errors import InputError
from factcheck.runtime.budget import Budget, BudgetTracker
from factcheck.runtime.cache import CacheSpec, open_cache
from factcheck.runtime.limits import SharedLimits
from factcheck.runtime.loop import background
from factcheck.runtime.retry import RetryPolicy
from factcheck.settings import Settings, require_integer

if TYPE_CHECKING:
    from typing_extensions import Self

C = TypeVar("C", bound="Connection")


class Connection(Protocol):
    """A resource that a session opens once and closes at the end."""

    async def aclose(self) -> None:
        """Close the connection; the next use reopens it."""
        ...


class SessionOptions(TypedDict, total=False):
    """Keyword arguments of `Session` that every evaluator accepts instead of a session."""

    cache: CacheSpec
    budget: Budget | None
    concurrency: int
    rpm: int | None
    retry: RetryPolicy | None
    run: str | None
    transport: Callable[[Any], Any] | None


class Closing:
    """Mixin: context managers, sync and async, that call `close` and `aclose`."""

    def close(self) -> None:
        raise NotImplementedError

    async def aclose(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


class Session(Closing):
    """Owns the response cache, the budget and the connections of any number of evaluators.

    Evaluators that share a session share its budget, and one connection, rate limit and set of
    requests in flight per model. Close it, or use it as a context manager (sync or async).

    Args:
        cache: Response cache: a folder, a `redis://` URL, `"off"`, or an object with the port in
            `factcheck.runtime.cache`, which is left open. `None` selects `FACTCHECK_CACHE` and
            `FACTCHECK_CACHE_DIR`, or else the user's cache folder.
        budget: Caps on total spending. Items beyond it fail with the code `budget`.
        concurrency: Maximum number of requests in flight per model; at least 1.
        rpm: Maximum number of requests per minute and model; `None` for no limit.
        retry: Retry policy; `None` for `RetryPolicy()`.
        run: Name of a run on several machines: its sessions, which need the same `redis://` cache,
            share `rpm` and `budget`. `None`: they are those of this session.
        settings: Keys, addresses and defaults; `None` for those of the environment.
        transport: Wraps the transport of each language model, for estimates and batches.

    Raises:
        InputError: A number is out of range.
        ConfigError: The cache is invalid, or a package it needs is missing.
    """

    def __init__(
        self,
        *,
        cache: CacheSpec = None,
        budget: Budget | None = None,
        concurrency: int = 32,
        rpm: int | None = None,
        retry: RetryPolicy | None = None,
        run: str | None = None,
        settings: Settings | None = None,
        transport: Callable[[Any], Any] | None = None,
    ) -> None:
        self.settings = settings or Settings.from_environment()
        self.concurrency = require_integer("concurrency", concurrency, 1)
        self.rpm = None if rpm is None else require_integer("rpm", rpm, 1)
        self.retry = retry or RetryPolicy()
        self.cache = open_cache(cache, self.settings)
        self.shared = None if run is None else SharedLimits(self.cache, run)
        self.budget = BudgetTracker(budget, self.shared)
        self.transport = transport
        self._owns_cache = self.cache is not cache
        self._lock = threading.Lock()
        self._connections: dict[tuple[str, str | int], tuple[object, Any]] = {}

    def uncached(self) -> Session:
        """Return a session with the same settings and budget but no cache; close it, too."""
        session = copy(self)
        vars(session).update(cache=None, _connections={})
        return session

    def connection(self, kind: str, spec: object, make: Callable[[], C]) -> C:
        """Return the connection of this kind for a spec, creating it on first use.

        A spec is a name, compared by value, or an object, compared by identity.
        """
        key = (kind, spec if isinstance(spec, str) else id(spec))
        with self._lock:
            if key not in self._connections:
                self._connections[key] = (spec, make())  # holding `spec` keeps its id unique
            connection: C = self._connections[key][1]
        return connection

    async def aclose(self) -> None:
        """Close connections and the cache; the next use reopens them."""
        connections = [connection for _, connection in self._connections.values()]
        await asyncio.gather(*(connection.aclose() for connection in connections))
        if self._owns_cache and self.cache is not None:
            await asyncio.to_thread(self.cache.close)

    def close(self) -> None:
        if self._connections:
            background.run(self.aclose())
        elif self._owns_cache and self.cache is not None:
            self.cache.close()


class SessionUser(Closing):
    """Base of evaluators: borrows a session, which `close` leaves open, or creates and owns one.

    Raises `InputError` if both a session and options are given, or an option is out of range;
    `ConfigError` if the cache is invalid.
    """

    def __init__(self, session: Session | None, options: SessionOptions) -> None:
        if session is not None and options:
            raise InputError(f"session= brings its own {', '.join(options)}; give one or the other")
        self.session = session or Session(**options)
        self._owns_session = session is None

    async def aclose(self) -> None:
        """Close an owned session; the next use reopens it."""
        if self._owns_session:
            await self.session.aclose()

    def close(self) -> None:
        if self._owns_session:
            self.session.close()
