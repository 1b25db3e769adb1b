"""Similarities of outputs to references: every text is embedded once, vectors are compared."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from factcheck.errors import FactcheckError, Failure, JudgeOutputError, describe
from factcheck.judges.embedders.vectors import Direction, direction_of, similarity
from factcheck.judges.ports import Embedder, Ledger

_MOST_TEXTS = 16_384
"""Texts whose vectors are in memory at the same time: some 130 MB of them at most sizes."""
_CACHED_DIRECTIONS = 1024
"""References recur from pair to pair."""


class Pair(NamedTuple):
    """An output and its references."""

    actual_output: str
    references: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.actual_output, *self.references)


Similarities = tuple[float, ...] | Failure[str]
"""Similarity of an output to each reference, or why there is none; the subject is the output."""


async def compare(
    pairs: Sequence[Pair], embedder: Embedder, ledger: Ledger, *, most_texts: int = _MOST_TEXTS
) -> dict[Pair, Similarities]:
    """The similarities of every pair.

    A text without a usable vector spoils the pairs with it, and no others.

    Args:
        pairs: Distinct pairs.
        embedder: Turns texts into vectors; gets every text once.
        ledger: Books the cost.
        most_texts: Approximate number of texts passed to the embedder in one call, and held in
            memory together.
    """
    windows = list(_windows(pairs, most_texts))
    last_use = {text: n for n, part in enumerate(windows) for pair in part for text in pair.texts}
    vectors: dict[str, Any] = {}
    found: dict[Pair, Similarities] = {}
    for number, part in enumerate(windows):
        texts = dict.fromkeys(text for pair in part for text in pair.texts)
        new = [text for text in texts if text not in vectors]
        vectors.update(zip(new, await _embedded(new, embedder, ledger), strict=True))
        found.update(await asyncio.to_thread(_similarities, part, vectors))
        vectors = {text: v for text, v in vectors.items() if last_use[text] > number}
    return found


def _windows(pairs: Iterable[Pair], most_texts: int) -> Iterator[list[Pair]]:
    window: list[Pair] = []
    texts: set[str] = set()
    for pair in pairs:
        window.append(pair)
        texts.update(pair.texts)
        if len(texts) >= most_texts:
            yield window
            window, texts = [], set()
    if window:
        yield window


async def _embedded(texts: Sequence[str], embedder: Embedder, ledger: Ledger) -> Sequence[Any]:
    """One result per text; where the embedder fails as a whole, a failure for each."""
    if not texts:
        return []
    try:
        vectors = list(await embedder.embed(texts, ledger))
        if len(vectors) == len(texts):
            return vectors
        message = f"the embedder returned {len(vectors)} vectors for {len(texts)} texts"
        failure = Failure(None, JudgeOutputError.code, message)
    except FactcheckError as error:
        failure = Failure.of(None, error)
    except Exception as error:  # noqa: BLE001 - a foreign embedder
        failure = Failure(None, "raised", f"the embedder: {describe(error)}")
    return [failure] * len(texts)


def _similarities(pairs: Sequence[Pair], vectors: Mapping[str, Any]) -> dict[Pair, Similarities]:
    @lru_cache(maxsize=_CACHED_DIRECTIONS)
    def direction(text: str) -> Direction:
        return direction_of(vectors[text])

    found: dict[Pair, Similarities] = {}
    for pair in pairs:
        missing = (vectors[text] for text in pair.texts)
        failed = next((one for one in missing if isinstance(one, Failure)), None)
        if failed is not None:
            found[pair] = Failure(pair.actual_output, failed.code, failed.message)
            continue
        try:
            output = direction(pair.actual_output)
            found[pair] = tuple(similarity(output, direction(text)) for text in pair.references)
        except JudgeOutputError as error:
            found[pair] = Failure.of(pair.actual_output, error)
    return found
