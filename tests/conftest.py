"""What holds for every test: no network but the loopback, a clean environment, an own cache."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

_CHECKOUT = Path(__file__).resolve().parents[1]
_DATA_DIR = Path(os.environ.get("FACTCHECK_DATA") or _CHECKOUT.parent / "shared" / "data")

_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_FOREIGN_PREFIXES = ("FACTCHECK_", "OPENAI_", "AZURE_", "AWS_", "DSPY_", "LITELLM_", "VERTEX")
_FOREIGN_SUFFIXES = ("_API_KEY", "_API_BASE", "_BASE_URL", "_PROXY", "_TOKEN")

for _name, _examples in {"ci": 30, "nightly": 500}.items():
    settings.register_profile(  # nothing is timed in a test, these machines are noisy
        _name,
        deadline=None,
        max_examples=_examples,
        derandomize=_name == "ci",  # the same examples each time; `nightly` draws new ones
        suppress_health_check=[HealthCheck.too_slow],
    )
settings.load_profile(os.environ.get("FACTCHECK_TESTS", "ci"))

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"  # read when litellm or dspy is imported


class _ForbiddenHostError(Exception):
    """A test tried to reach another host; not an `OSError`, so that no client takes it for one."""


class SocketGuard:
    """Refuses every host but the loopback, and remembers what was refused."""

    def __init__(self) -> None:
        self.refused: list[str] = []

    def check_host(self, host: object) -> None:
        """Raise unless the host is this machine; `None` is the resolver's word for it."""
        name = host.decode() if isinstance(host, bytes) else host
        if name is not None and name not in _LOOPBACK:
            self.refused.append(str(name))
            raise _ForbiddenHostError(
                f"a test tried to reach {name!r}; tests talk to 127.0.0.1, ::1 or localhost only"
            )

    def guarded_connect(self, connect: Callable[..., Any]) -> Callable[..., Any]:
        """`socket.connect` or `connect_ex`, for the loopback and Unix sockets only."""

        def connect_locally(sock: socket.socket, address: Any) -> Any:
            if sock.family != getattr(socket, "AF_UNIX", None):
                self.check_host(address[0])
            return connect(sock, address)

        return connect_locally

    def guarded_resolver(self, resolve: Callable[..., Any]) -> Callable[..., Any]:
        """`socket.getaddrinfo`, for the loopback only."""

        def resolve_locally(host: object, *args: Any, **kwargs: Any) -> Any:
            self.check_host(host)
            return resolve(host, *args, **kwargs)

        return resolve_locally


@pytest.fixture(scope="session", autouse=True)
def _guarded_sockets() -> Iterator[SocketGuard]:
    """The guard is on for the whole run, between tests and in fixtures of any scope too."""
    guard = SocketGuard()
    with pytest.MonkeyPatch.context() as patch:
        for name in ("connect", "connect_ex"):
            patch.setattr(socket.socket, name, guard.guarded_connect(getattr(socket.socket, name)))
        patch.setattr(socket, "getaddrinfo", guard.guarded_resolver(socket.getaddrinfo))
        yield guard


@pytest.fixture(autouse=True)
def socket_guard(_guarded_sockets: SocketGuard) -> Iterator[SocketGuard]:
    """Fails a test that tried to leave the machine, even where its error was caught."""
    yield _guarded_sockets
    refused = tuple(_guarded_sockets.refused)
    _guarded_sockets.refused.clear()
    assert not refused, f"the test tried to reach {', '.join(refused)}"


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No setting, key or proxy of the machine reaches a test; each has its own cache folder."""
    for name in tuple(os.environ):
        if name.upper().startswith(_FOREIGN_PREFIXES) or name.upper().endswith(_FOREIGN_SUFFIXES):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "true")
    monkeypatch.setenv("FACTCHECK_CACHE_DIR", str(tmp_path))


@pytest.fixture(autouse=True)
def _no_memory_of_servers() -> Iterator[None]:
    """Another test may have had another kind of server on the same port."""
    yield
    if language_model := sys.modules.get("factcheck.judges.llm.language_model"):
        language_model.remembered.take()


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of the shared development data; the test is skipped where there is none."""
    if not _DATA_DIR.is_dir():
        pytest.skip("no development data: set FACTCHECK_DATA to its folder")
    return _DATA_DIR


@pytest.fixture
def anyio_backend() -> str:
    """Asynchronous tests (`pytest.mark.anyio`) run on asyncio."""
    return "asyncio"
