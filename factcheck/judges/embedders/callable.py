"""An embedder of your own: any function from texts to vectors, or an object with `encode`."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from factcheck.errors import FactcheckError, Failure, JudgeOutputError, describe
from factcheck.judges.embedders.vectors import SpoiltRequest, ask_in_parts
from factcheck.judges.ports import EmbeddingResult

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger


class CallableEmbedder:
    """Makes a function fulfil `Embedder`.

    It is called with a list of texts, in a thread of its own and never twice at the same time, and
    may be asynchronous. Where it raises, the texts are given to it again in halves, so that one
    text it cannot take fails alone. Its vectors are not cached: two functions may share a name.

    Args:
        function: Gives one vector per text, in their order. Score signatures name it as the code
            does.
    """

    def __init__(self, function: Callable[[list[str]], Any]) -> None:
        self._function = function
        self._name = _name_of(function)
        self._one_at_a_time = threading.Lock()

    @property
    def identity(self) -> Mapping[str, str]:
        return {"embedder": self._name}

    async def embed(self, texts: Sequence[str], ledger: Ledger) -> Sequence[EmbeddingResult]:
        """One result per text, in their order; vectors are handed on as they came."""
        del ledger
        return await ask_in_parts(texts, self._ask) if texts else []

    async def _ask(self, texts: Sequence[str]) -> Sequence[EmbeddingResult]:
        try:
            vectors = list(await self._call(texts))
        except FactcheckError as error:
            raise SpoiltRequest(Failure.of(None, error)) from error
        except (Exception, SystemExit, KeyboardInterrupt) as error:
            message = f"{self._name} raised {describe(error)}"
            raise SpoiltRequest(Failure(None, "judge", message)) from error
        if len(vectors) != len(texts):
            message = f"{self._name} gave {len(vectors)} vectors for {len(texts)} texts"
            return [Failure(None, JudgeOutputError.code, message)] * len(texts)
        return vectors

    async def _call(self, texts: Sequence[str]) -> Any:
        if inspect.iscoroutinefunction(self._function):
            return await self._function(list(texts))
        vectors = await asyncio.to_thread(self._alone, list(texts))
        return await vectors if inspect.isawaitable(vectors) else vectors

    def _alone(self, texts: list[str]) -> Any:
        with self._one_at_a_time:
            try:
                return self._function(texts)
            except (StopIteration, SystemExit, KeyboardInterrupt) as error:
                raise RuntimeError(describe(error)) from error  # a future cannot hold it, or a loop


def _name_of(function: Any) -> str:
    """Where the code of a function is, or the class of an object that can be called."""
    owner = getattr(function, "__self__", function)
    named = owner if hasattr(owner, "__qualname__") else type(owner)
    return f"{named.__module__}.{named.__qualname__}"
