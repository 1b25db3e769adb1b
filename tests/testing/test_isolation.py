"""The walls around every test, which `tests/conftest.py` builds."""

from __future__ import annotations

import asyncio
import socket
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest_plugins = ("pytester",)

CONFTEST = Path(__file__).parents[1] / "conftest.py"
ELSEWHERE = "192.0.2.1"  # RFC 5737: an address for documentation, where nobody listens
REFUSED = "tests talk to 127.0.0.1"

RunTests = Callable[[str], pytest.RunResult]


@pytest.fixture
def run_tests(pytester: pytest.Pytester) -> RunTests:
    def run(tests: str) -> pytest.RunResult:
        pytester.makeconftest(CONFTEST.read_text("utf-8"))
        pytester.makepyfile(textwrap.dedent(tests))
        return pytester.runpytest_inprocess("-rs")

    return run


def test_no_foreign_host_is_looked_up_or_reached(socket_guard: Any) -> None:
    for family, host in (
        (socket.AF_INET, ELSEWHERE),
        (socket.AF_INET, "factcheck.invalid"),
        (socket.AF_INET6, "2001:db8::1"),
    ):
        for method in ("connect", "connect_ex"):
            with socket.socket(family) as sock, pytest.raises(Exception, match=REFUSED):
                getattr(sock, method)((host, 443))
        with pytest.raises(Exception, match=REFUSED):
            socket.getaddrinfo(host.encode(), 443)
        with pytest.raises(Exception, match=REFUSED):
            asyncio.run(asyncio.open_connection(host, 443))
        assert socket_guard.refused == [host] * 4
        socket_guard.refused.clear()


def test_an_attempt_that_the_test_catches_is_an_error(run_tests: RunTests) -> None:
    outcome = run_tests(
        f"""
        import contextlib, socket

        def test_quiet():
            with contextlib.suppress(Exception):
                socket.create_connection(({ELSEWHERE!r}, 443))
        """
    )
    outcome.assert_outcomes(passed=1, errors=1)
    outcome.stdout.fnmatch_lines([f"*the test tried to reach {ELSEWHERE}*"])
