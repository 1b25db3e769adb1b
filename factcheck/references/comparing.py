"""From questions to similarities: embed every text once, compare directions."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from factcheck.errors import FactcheckError, JudgeOutputError
from factcheck.judges.embedders.vectors import Direction, direction_of, similarity
from factcheck.judges.ports import EmbeddingFailure
from factcheck.metrics.results import MetricFailure
from factcheck.references.questions import Question, distinct_texts, windows

if TYPE_CHECKING:
    from factcheck.judges.ports import Embedder, Ledger

Similarities = tuple[float, ...]
_REMEMBERED = 1024
"""Directions kept while questions are answered one by one: references come again and again."""


async def compare(
    questions: Sequence[Question], embedder: Embedder, ledger: Ledger, *, most_texts: int
) -> dict[Question, Similarities | MetricFailure]:
    """For every question the similarity to each reference, or why there is none.

    Every text goes to the embedder once. A text without a vector that can be used spoils the
    questions it is in, and no others.

    Args:
        questions: Different ones.
        embedder: Who makes the vectors.
        ledger: What they cost is booked here.
        most_texts: About so many go to the embedder in one call, and are in memory together.
    """
    parts = list(windows(questions, most_texts))
    last_use = {text: n for n, part in enumerate(parts) for one in part for text in one.texts}
    vectors: dict[str, Any] = {}
    answers: dict[Question, Similarities | MetricFailure] = {}
    for number, part in enumerate(parts):
        new = [text for text in distinct_texts(part) if text not in vectors]
        vectors.update(zip(new, await _embedded(new, embedder, ledger), strict=True))
        answers.update(await asyncio.to_thread(_answers, part, vectors))
        vectors = {text: v for text, v in vectors.items() if last_use[text] > number}
    return answers


async def _embedded(texts: Sequence[str], embedder: Embedder, ledger: Ledger) -> Sequence[Any]:
    """One result per text; where the embedder fails as a whole, a failure for each."""
    if not texts:
        return []
    try:
        vectors = list(await embedder.embed(texts, ledger))
    except FactcheckError as error:
        return [EmbeddingFailure(error.code, str(error))] * len(texts)
    except Exception as error:  # noqa: BLE001 - an embedder of somebody else's
        said = f"the embedder: {type(error).__name__}: {error}"
        return [EmbeddingFailure("raised", said)] * len(texts)
    if len(vectors) == len(texts):
        return vectors
    said = f"the embedder gave {len(vectors)} vectors for {len(texts)} texts"
    return [EmbeddingFailure(JudgeOutputError.code, said)] * len(texts)


def _answers(
    questions: Sequence[Question], vectors: dict[str, Any]
) -> dict[Question, Similarities | MetricFailure]:
    @lru_cache(maxsize=_REMEMBERED)
    def direction(text: str) -> Direction:
        vector = vectors[text]
        if isinstance(vector, EmbeddingFailure):
            raise _NoVectorError(vector)
        return direction_of(vector)

    return {question: _answer(question, direction) for question in questions}


def _answer(
    question: Question, direction: Callable[[str], Direction]
) -> Similarities | MetricFailure:
    try:
        output = direction(question.actual_output)
        return tuple(similarity(output, direction(text)) for text in question.references)
    except _NoVectorError as error:
        return MetricFailure(error.failure.code, error.failure.message)
    except JudgeOutputError as error:
        return MetricFailure(error.code, str(error))


class _NoVectorError(Exception):
    def __init__(self, failure: EmbeddingFailure) -> None:
        super().__init__(failure.message)
        self.failure = failure
