"""Embedders whose model is on the local server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from typing import Any, NamedTuple

import pytest

from factcheck import RetryPolicy
from factcheck.judges.embedders.openai import OpenAIEmbedder
from factcheck.judges.factory import build_embedder
from factcheck.judges.ports import EmbeddingResult, Ledger
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session
from factcheck.settings import Settings
from factcheck.testing import (
    EmbeddingsAnswer,
    EmbeddingsRequest,
    LocalOpenAIServer,
    hashed_embeddings,
)

QUICK = RetryPolicy(stop_after_attempt=3, wait_multiplier=0.001, wait_max=1.0)


class Setup(NamedTuple):
    """An embedder, and the server its model is on."""

    embedder: OpenAIEmbedder
    server: LocalOpenAIServer
    ledger: Ledger

    def embed(self, *texts: str) -> Sequence[EmbeddingResult]:
        return background.run(self._embed(texts))

    async def _embed(self, texts: Sequence[str]) -> Sequence[EmbeddingResult]:
        return await self.embedder.embed(texts, self.ledger)

    @property
    def asked(self) -> list[tuple[str, ...]]:
        return [r.texts for r in self.server.requests if isinstance(r, EmbeddingsRequest)]


MakeSetup = Callable[..., Setup]


@pytest.fixture
def remote() -> Iterator[MakeSetup]:
    with ExitStack() as stack:

        def make(
            answer: EmbeddingsAnswer | LocalOpenAIServer = hashed_embeddings,
            *,
            model: str = "tiny",
            **options: Any,
        ) -> Setup:
            server = answer
            if not isinstance(server, LocalOpenAIServer):
                server = stack.enter_context(LocalOpenAIServer(lambda _: "", embed=server))
            settings = Settings(openai_base_url=server.base_url)
            options = {"retry": QUICK, "cache": "off", **options}
            session = stack.enter_context(Session(settings=settings, **options))
            embedder = build_embedder(f"openai/{model}", session)
            assert isinstance(embedder, OpenAIEmbedder)
            return Setup(embedder, server, Ledger())

        yield make
