"""Reference matches whose vectors come from the local server."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest

from factcheck import RetryPolicy
from factcheck.references import ReferenceMatch
from factcheck.testing import (
    EmbeddingsAnswer,
    EmbeddingsRequest,
    LocalOpenAIServer,
    hashed_embeddings,
)

QUICK = RetryPolicy(stop_after_attempt=3, wait_multiplier=0.001, wait_max=1.0)
REFERENCES = ("Paris is the capital of France.", "The capital is Paris.")


class Setup(NamedTuple):
    """A metric, and the server its vectors come from."""

    metric: ReferenceMatch
    server: LocalOpenAIServer

    @property
    def asked(self) -> list[tuple[str, ...]]:
        return [r.texts for r in self.server.requests if isinstance(r, EmbeddingsRequest)]


MakeSetup = Callable[..., Setup]


@pytest.fixture
def remote(monkeypatch: pytest.MonkeyPatch) -> Iterator[MakeSetup]:
    with ExitStack() as stack:

        def make(answer: EmbeddingsAnswer = hashed_embeddings, **options: Any) -> Setup:
            server = stack.enter_context(LocalOpenAIServer(lambda _: "", embed=answer))
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            options = {
                "references": REFERENCES,
                "embedding_provider": "openai",
                "retry": QUICK,
                "cache": "off",
                **options,
            }
            return Setup(stack.enter_context(ReferenceMatch(**options)), server)

        yield make
