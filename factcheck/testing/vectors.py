"""An embedder that gives what its script gives, and what goes wrong with vectors of a server."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from factcheck.errors import InputError
from factcheck.facts import Usage
from factcheck.judges.ports import EmbeddingFailure, EmbeddingResult, Ledger
from factcheck.testing.replies import EmbeddingsAnswer, EmbeddingsRequest, Reply, VectorsByIndex

ScriptedVector = Sequence[float] | EmbeddingFailure | Exception
"""What a script has for a text; an exception is raised instead of any result of that call."""
EmbedScript = Mapping[str, ScriptedVector] | Callable[[str], ScriptedVector]
"""By text, or a function of the text."""


@dataclass(frozen=True, slots=True)
class EmbedCall:
    """One call of `ScriptedEmbedder.embed`."""

    texts: tuple[str, ...]
    """The texts, in the order asked."""


class ScriptedEmbedder:
    """An `Embedder` that gives what its script gives, for each text by itself.

    Args:
        script: The vector of a text.
        name: The embedder's name in the score signature.
        usage: Booked for each call.

    Example:
        >>> import asyncio
        >>> embedder = ScriptedEmbedder({"east": (1.0, 0.0)})
        >>> asyncio.run(embedder.embed(["east"], Ledger()))
        ((1.0, 0.0),)
        >>> embedder.calls
        (EmbedCall(texts=('east',)),)
    """

    def __init__(
        self, script: EmbedScript, *, name: str = "scripted", usage: Usage | None = None
    ) -> None:
        self._script = script
        self._name = name
        self._usage = usage
        self._calls: list[EmbedCall] = []

    @property
    def identity(self) -> Mapping[str, str]:
        """The name, as the entry `embedder`."""
        return {"embedder": self._name}

    @property
    def calls(self) -> tuple[EmbedCall, ...]:
        """Everything that was asked, in order."""
        return tuple(self._calls)

    async def embed(self, texts: Sequence[str], ledger: Ledger) -> Sequence[EmbeddingResult]:
        """One result per text, in their order.

        Raises:
            InputError: A text is not in the script.
            Exception: What the script has instead of a vector.
        """
        self._calls.append(EmbedCall(tuple(texts)))
        if self._usage is not None:
            ledger.book(self._usage)
        return tuple(self._result(text) for text in texts)

    def _result(self, text: str) -> EmbeddingResult:
        if callable(self._script):
            scripted = self._script(text)
        elif text in self._script:
            scripted = self._script[text]
        else:
            raise InputError(f"the script of {self._name!r} has no vector for {text!r}")
        if isinstance(scripted, Exception):
            raise scripted
        return scripted


def out_of_order(answer: EmbeddingsAnswer) -> EmbeddingsAnswer:
    """An answer that gives its vectors from last to first, each under its right index."""
    return _changed(answer, lambda vectors: dict(reversed(vectors.items())))


def without_vectors(answer: EmbeddingsAnswer, *places: int) -> EmbeddingsAnswer:
    """An answer that leaves out the vectors of some texts, by their places from 0."""
    return _changed(
        answer, lambda vectors: {at: v for at, v in vectors.items() if at not in places}
    )


def with_vector(
    answer: EmbeddingsAnswer, place: int, vector: Sequence[float] | Callable[..., Sequence[float]]
) -> EmbeddingsAnswer:
    """An answer that gives another vector for one text: a short one, NaN, whatever is wanted.

    Args:
        answer: What is given otherwise.
        place: Of the text in the request, from 0; requests with fewer texts are not changed.
        vector: Given instead, or a function of the right one.
    """

    def change(vectors: dict[int, Sequence[float]]) -> dict[int, Sequence[float]]:
        if place in vectors:
            vectors[place] = vector(vectors[place]) if callable(vector) else vector
        return vectors

    return _changed(answer, change)


def _changed(
    answer: EmbeddingsAnswer,
    change: Callable[[dict[int, Sequence[float]]], dict[int, Sequence[float]]],
) -> EmbeddingsAnswer:
    def changed(request: EmbeddingsRequest) -> Reply | VectorsByIndex:
        given = answer(request)
        if isinstance(given, Reply):
            return given
        return change(dict(given.items() if isinstance(given, Mapping) else enumerate(given)))

    return changed
