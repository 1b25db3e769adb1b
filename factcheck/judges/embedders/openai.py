"""Vectors of an OpenAI-compatible server: many texts a request, each text paid for once."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from factcheck.errors import Failure, InputError, JudgeError, JudgeOutputError, JudgeUnavailable
from factcheck.facts import Usage
from factcheck.judges.embedders.vectors import ask_in_parts, packed, single_precision
from factcheck.judges.llm.engine import Account, RequestRunner, likely_tokens, most_tokens
from factcheck.judges.llm.errors import RequestRefused
from factcheck.judges.llm.http import LARGEST_VECTORS, JsonClient
from factcheck.judges.llm.providers import access_to
from factcheck.judges.ports import EmbeddingResult
from factcheck.runtime.budget import Price
from factcheck.runtime.cache import answer_key
from factcheck.runtime.loop import background
from factcheck.runtime.result_cache import ResultCache
from factcheck.settings import Model

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger
    from factcheck.runtime.session import Session

STAGE = "embed"
"""Under which stage usage is recorded and vectors are cached."""
DEFAULT_MODEL = "text-embedding-3-small"
MAX_TEXTS = 2048
"""Maximum number of texts in one request; the API's limit."""
_MAX_BYTES = 900_000
"""Of all texts of a request: the API takes 300,000 tokens, and three bytes are hardly ever more
than one. Where they are, the request is turned down and goes out again in halves."""
_REPEAT = frozenset({"missing", "duplicate", "invalid"})
"""Failures that another request may mend; the others have had their retries."""
_PRICES = {
    "text-embedding-3-small": Price(0.02, 0.02, 0.0),
    "text-embedding-3-large": Price(0.13, 0.13, 0.0),
}
"""List prices at OpenAI, as of 2026-11."""


class OpenAIEmbedder(JsonClient):
    """Asks a server for vectors; fulfils `Embedder`.

    All texts of a call go out in as few requests as the API's limits allow. Vectors are cached
    under a key of text, model and endpoint. A missing, duplicate or invalid one is requested once
    more; then it is a failure.

    Args:
        model: The model's name at the server.
        session: Key, address, cache, budget, limits and retries.

    Raises:
        ConfigError: The key is missing, the address is none, or a price that a budget needs.
    """

    def __init__(self, model: str, session: Session) -> None:
        access = access_to(Model(f"openai/{model}"), session.settings)
        super().__init__(access, session.timeout_s, LARGEST_VECTORS)
        self._endpoint = {"endpoint": self.endpoint} if self.endpoint else {}
        price = _PRICES.get(model) if access.is_default else None
        self._runner: RequestRunner[Mapping[str, Any]] = RequestRunner(self.name, session, price)
        self._cache = ResultCache[EmbeddingResult](
            session.cache, {"task": STAGE, "judge": self.name}, _to_json, _from_json
        )

    @property
    def identity(self) -> Mapping[str, str]:
        """The model, and the server where it is not OpenAI's own."""
        return {"embedder": self.name, **self._endpoint}

    async def embed(self, texts: Sequence[str], ledger: Ledger) -> Sequence[EmbeddingResult]:
        """One result per text, in their order; texts that are equal are asked about once."""
        model = {"name": self.name, **self._endpoint}
        sendable = list(filter(_is_sendable, texts))
        keys = [answer_key(task=STAGE, model=model, text=text) for text in sendable]
        text_of = dict(zip(keys, sendable, strict=True))

        results = await self._cache.results(
            keys,
            lambda some: _batches(some, text_of),
            lambda some: self._ask_twice([text_of[key] for key in some], ledger),
            lambda count: ledger.book(Usage(cache_hits=count), model=self.name, stage=STAGE),
        )
        found = dict(zip(sendable, results, strict=True))
        return tuple(found.get(text, _UNSENDABLE) for text in texts)

    async def _ask_twice(self, texts: Sequence[str], ledger: Ledger) -> list[EmbeddingResult]:
        ask = partial(self._ask, ledger)
        results = await ask_in_parts(texts, ask)
        again = [n for n, r in enumerate(results) if isinstance(r, Failure) and r.code in _REPEAT]
        if again:
            second = await ask_in_parts([texts[place] for place in again], ask)
            for place, result in zip(again, second, strict=True):
                results[place] = result
        return results

    async def _ask(
        self, ledger: Ledger, texts: Sequence[str]
    ) -> list[EmbeddingResult] | Failure[None]:
        request = self._runner.run(
            lambda: self._send(texts),
            Account(ledger, STAGE),
            upper_bound=Usage(prompt_tokens=sum(map(most_tokens, texts))),
            tokens_of=lambda answer: _tokens(answer, texts),
        )
        try:
            answer = await background.hop(request)
        except RequestRefused as error:
            return Failure.of(None, error)
        except JudgeError as error:
            return [Failure.of(None, error)] * len(texts)
        return read_vectors(answer["data"], len(texts))

    def _send(self, texts: Sequence[str]) -> Awaitable[Mapping[str, Any]]:
        model = self.name.partition("/")[2]
        body = {"model": model, "input": list(texts), "encoding_format": "base64"}
        return self.post("/embeddings", body, self._read)

    def _read(self, answer: Mapping[str, Any]) -> Mapping[str, Any]:
        if not isinstance(answer.get("data"), list):
            raise JudgeUnavailable(f"{self.name}: the server's answer has no list of vectors")
        return answer


def read_vectors(data: Sequence[Any], n_texts: int) -> list[EmbeddingResult]:
    """The vectors of an answer by their `index`, wherever in it they stand.

    An index that was not asked for is ignored; one that is missing, comes twice or has no vector
    that can be used is a failure.
    """
    results: list[EmbeddingResult] = [_MISSING] * n_texts
    for item in data:
        index = item.get("index") if isinstance(item, dict) else None
        if type(index) is not int or not 0 <= index < n_texts:
            continue
        if results[index] is not _MISSING:
            results[index] = _DUPLICATE
            continue
        try:
            results[index] = single_precision(item.get("embedding"))
        except JudgeOutputError as error:
            results[index] = Failure(None, "invalid", str(error))
    return results


_MISSING = Failure(None, "missing", "the answer holds no vector for the text")
_DUPLICATE = Failure(None, "duplicate", "the answer holds two vectors for the text")
_UNSENDABLE = Failure(None, "input", "the text is blank or not valid Unicode")


def _batches(keys: Sequence[str], text_of: Mapping[str, str]) -> list[list[str]]:
    """The keys in as few batches, in their order, as the limits of a request allow."""
    batches: list[list[str]] = []
    n_bytes = 0
    for key in keys:
        size = len(text_of[key].encode())
        if not batches or len(batches[-1]) == MAX_TEXTS or n_bytes + size > _MAX_BYTES:
            batches.append([])
            n_bytes = 0
        batches[-1].append(key)
        n_bytes += size
    return batches


def _is_sendable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return bool(text.strip())


def _to_json(result: EmbeddingResult) -> Mapping[str, Any] | None:
    return None if isinstance(result, Failure) else {"vector": packed(result)}


def _from_json(data: Mapping[str, Any]) -> EmbeddingResult:
    try:
        return single_precision(str(data["vector"]))
    except JudgeOutputError as error:
        raise InputError(f"cached vector: {error}") from error


def _tokens(answer: Mapping[str, Any], texts: Sequence[str]) -> Usage:
    """The tokens that the server counted; estimated where it does not say, which is not 0."""
    usage = answer.get("usage")
    counted = usage.get("prompt_tokens") if isinstance(usage, dict) else None
    if type(counted) is not int or counted < 0:
        counted = sum(map(likely_tokens, texts))
    return Usage(prompt_tokens=counted)
