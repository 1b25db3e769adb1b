"""Embeddings from an OpenAI-compatible server: batched, and each text paid for once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from factcheck.errors import Failure, JudgeError, JudgeOutputError, JudgeUnavailable
from factcheck.facts import Usage
from factcheck.judges.embedders import direction_of
from factcheck.judges.llm.engine import RequestRunner, most_tokens
from factcheck.judges.llm.errors import RequestRefused
from factcheck.judges.llm.providers import access_to
from factcheck.judges.llm.transports import MIB, JsonClient, at, count_at
from factcheck.judges.ports import EmbeddingResult
from factcheck.runtime.budget import Tokens, price_of
from factcheck.runtime.cache import answer_key
from factcheck.runtime.deadline import within_deadline
from factcheck.runtime.loop import background
from factcheck.runtime.result_cache import ResultCache
from factcheck.settings import Model

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger
    from factcheck.runtime.session import Session

DEFAULT_MODEL = "text-embedding-3-small"
MAX_TEXTS = 2048
"""Maximum number of texts in one request; the API's limit. A request that has too many tokens is
rejected and split in two."""
_MAX_REFUSED = 3
"""Number of single texts that are refused, without any answer, before the rest are not tried."""


class OpenAIEmbedder(JsonClient):
    """Embeds texts on a server; implements `Embedder`.

    Texts are sent in as few requests as the API's limits allow. Vectors are cached by text, model
    and endpoint.

    Raises:
        ConfigError: The key is missing, the address is invalid, or the price is unknown and the
            budget is in dollars.
    """

    largest = 256 * MIB
    """Of 2,048 vectors of 8,192 numbers."""

    def __init__(self, model: str, session: Session) -> None:
        settings = Model(f"openai/{model}")
        access = access_to(settings, session.settings)
        super().__init__(access, settings.timeout_s)
        self._endpoint = {"endpoint": self.endpoint} if self.endpoint else {}
        self.identity: Mapping[str, str] = {"embedder": self.name, **self._endpoint}
        """The model, and the server if it is not OpenAI's."""
        price = price_of(self.name) if access.is_default else None
        self._runner: RequestRunner[Mapping[str, Any]] = RequestRunner(self.name, session, price)
        self._cache = ResultCache[str, EmbeddingResult](
            session.cache,
            lambda result: None if isinstance(result, Failure) else {"vector": result},
            lambda data, _text: data["vector"],
        )

    async def embed(self, texts: Sequence[str], ledger: Ledger) -> Sequence[EmbeddingResult]:
        """Return one result per text, in text order; equal texts are sent once."""
        model = {"name": self.name, **self._endpoint}
        sendable = list(filter(_is_sendable, texts))
        results = await self._cache.results(
            sendable,
            lambda texts: [answer_key(task="embed", model=model, text=text) for text in texts],
            _batches,
            partial(self._ask_in_parts, ledger),
            lambda count: ledger.book(Usage(cache_hits=count)),
        )
        found = dict(zip(sendable, results, strict=True))
        return tuple(found.get(text, _UNSENDABLE) for text in texts)

    async def _ask_in_parts(self, ledger: Ledger, texts: Sequence[str]) -> list[EmbeddingResult]:
        """Return one result per text, in text order, bisecting requests that are refused.

        A text that cannot be embedded therefore fails alone. After three that do, and no other, the
        rest are not tried.
        """
        results: list[EmbeddingResult] = []
        parts = [texts]
        while parts:
            part = parts.pop()
            if len(results) >= _MAX_REFUSED and all(isinstance(one, Failure) for one in results):
                results += [results[-1]] * len(part)
                continue
            try:
                results += await self._ask(ledger, part)
            except RequestRefused as error:
                if len(part) == 1:
                    results.append(Failure.of(None, error))
                else:
                    middle = len(part) // 2
                    parts += [part[middle:], part[:middle]]
            except JudgeError as error:
                results += [Failure.of(None, error)] * len(part)
        return results

    async def _ask(self, ledger: Ledger, texts: Sequence[str]) -> list[EmbeddingResult]:
        body = {"model": self.name.partition("/")[2], "input": list(texts)}
        request = partial(
            self._runner.run,
            partial(self._send, body),
            ledger,
            upper_bound=Tokens(sum(map(most_tokens, texts)), 0),
            tokens_of=lambda answer: Tokens.counted(count_at(answer, "usage", "prompt_tokens"), 0),
        )
        async with within_deadline():
            answer = await background.hop(request())
        return read_vectors(answer["data"], len(texts))

    async def _send(self, body: Mapping[str, Any]) -> Mapping[str, Any]:
        answer = await self.post("/embeddings", body)
        if not isinstance(answer.get("data"), list):
            raise JudgeUnavailable(f"{self.name}: the server's answer has no list of vectors")
        return answer


def read_vectors(data: Sequence[Any], n_texts: int) -> list[EmbeddingResult]:
    """Parse the vectors of a response and order them by `index`.

    Unknown indices are ignored; a missing or duplicate one, or an invalid vector, is a failure.
    """
    results: list[EmbeddingResult] = [_MISSING] * n_texts
    for item in data:
        index = at(item, "index")
        if type(index) is not int or not 0 <= index < n_texts:
            continue
        if results[index] is not _MISSING:
            results[index] = _DUPLICATE
            continue
        vector = item.get("embedding")
        try:
            direction_of(vector)
            results[index] = vector
        except JudgeOutputError as error:
            results[index] = Failure(None, "invalid", str(error))
    return results


_MISSING = Failure(None, "missing", "the answer holds no vector for the text")
_DUPLICATE = Failure(None, "duplicate", "the answer holds two vectors for the text")
_UNSENDABLE = Failure(None, "input", "the text is blank or not valid Unicode")


def _batches(texts: Mapping[str, str]) -> list[list[str]]:
    """Split the keys of texts, in order, into as few batches as the API allows."""
    keys = [*texts]
    return [keys[start : start + MAX_TEXTS] for start in range(0, len(keys), MAX_TEXTS)]


def _is_sendable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return bool(text.strip())
