"""Embeddings for tests: the local server with an endpoint for them, and a scripted embedder."""

from __future__ import annotations

import json
import math
import re
import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from factcheck.errors import Failure
from factcheck.judges.ports import EmbeddingResult, Ledger
from factcheck.testing import ChatAnswer, LocalOpenAIServer, Reply, Request
from factcheck.testing.fakes import Call, Scripted

_SIZE = 64
Vectors = Sequence[Sequence[float]] | Mapping[int, Sequence[float]]
"""One vector per text, in text order or by index."""
EmbeddingsAnswer = Callable[[Request], Reply | Vectors]


def texts_of(request: Request) -> tuple[str, ...]:
    texts = request.body["input"]
    return (texts,) if isinstance(texts, str) else tuple(texts)


def hashed_embeddings(request: Request) -> Sequence[Sequence[float]]:
    """Embed texts as unit vectors of hashed word counts."""
    vectors = []
    for text in texts_of(request):
        vector = [0.0] * _SIZE
        for word in re.findall(r"\w+", text.casefold()) or [text]:
            vector[zlib.crc32(word.encode()) % _SIZE] += 1.0
        length = math.hypot(*vector)
        vectors.append([x / length for x in vector])
    return vectors


class EmbeddingServer(LocalOpenAIServer):
    """The local server with requests for embeddings."""

    def __init__(
        self, embed: EmbeddingsAnswer = hashed_embeddings, answer: ChatAnswer = lambda _: ""
    ) -> None:
        super().__init__(answer)
        self._embed = embed

    def routes(self) -> Sequence[tuple[str, str, Callable[..., Reply]]]:
        return (*super().routes(), ("POST", "/v1/embeddings", self._embeddings))

    def _embeddings(self, request: Request) -> Reply:
        answer = self._embed(request)
        if isinstance(answer, Reply):
            return answer
        items = answer.items() if isinstance(answer, Mapping) else enumerate(answer)
        n_tokens = math.ceil(sum(map(len, texts_of(request))) / 4)
        data = [{"object": "embedding", "index": i, "embedding": list(v)} for i, v in items]
        usage = {"prompt_tokens": n_tokens, "total_tokens": n_tokens}
        result = {"object": "list", "data": data, "model": request.body["model"], "usage": usage}
        return Reply(raw_body=json.dumps(result).encode())

    @property
    def asked(self) -> list[tuple[str, ...]]:
        """The texts of each request."""
        return list(map(texts_of, self.requests))


class ScriptedEmbedder(Scripted[Sequence[float] | Failure[Any]]):
    """An `Embedder` with a script of vectors by text."""

    role = "embedder"

    async def embed(self, texts: Sequence[str], ledger: Ledger) -> Sequence[EmbeddingResult]:
        self.start(Call(text="\n".join(texts)), ledger)
        return tuple(self.answer(text) for text in texts)
