"""Scorers whose judge is a model on the local server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest

from factcheck import FactCoverage, RetryPolicy
from factcheck.testing import ChatAnswer, LocalOpenAIServer

MODEL = "openai/tiny"
QUICK = RetryPolicy(attempts=3, first_pause_s=0.001, longest_pause_s=1.0)


class Setup(NamedTuple):
    """A scorer, and the server its judge talks to."""

    scorer: FactCoverage
    server: LocalOpenAIServer


MakeSetup = Callable[..., Setup]


@pytest.fixture
def llm(monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeSetup]:
    """Starts a server with an answer and a scorer that asks it; closes both at the end."""
    with ExitStack() as stack:

        def make(answer: ChatAnswer, *, retry: RetryPolicy = QUICK, **options: Any) -> Setup:
            server = stack.enter_context(LocalOpenAIServer(answer))
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            options = {"cache": "off", **options}
            scorer = stack.enter_context(FactCoverage(MODEL, retry=retry, **options))
            return Setup(scorer, server)

        yield make
