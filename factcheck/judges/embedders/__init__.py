"""Embedders: the directions of vectors and their similarity, and user-defined embedders."""

from __future__ import annotations

import inspect
import math
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from factcheck.errors import JudgeOutputError
from factcheck.judges.ports import EmbeddingResult
from factcheck.runtime.deadline import run_in_thread

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from factcheck.judges.ports import Ledger

_DIGITS = 6
"""Decimal places of a similarity; those that single precision reproduces on every machine."""


def direction_of(vector: Any) -> NDArray[np.float64]:
    """Validate a vector, a list or an array of any library, and scale it to length 1.

    Raises:
        JudgeOutputError: It is not a flat list of finite numbers, or all of them are zero.
    """
    import numpy as np

    expected = "a vector must be a flat list of finite numbers that are not all zero"
    try:
        numbers = np.asarray(vector)
        values = numbers.astype(np.float64)
        largest = float(np.abs(values).max(initial=0.0))
    except Exception as error:
        raise JudgeOutputError(f"{expected} ({error})") from error
    is_flat = numbers.ndim == 1 and numbers.dtype.kind in "fiu"
    if not is_flat or not 0.0 < largest < math.inf:
        raise JudgeOutputError(expected)
    scaled = values / largest  # no square overflows
    return scaled / math.sqrt((scaled * scaled).sum())


def similarity(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Return the cosine similarity of two unit vectors, in [0, 1], rounded to six decimals.

    Negative cosines are clipped to 0. The result is symmetric, and exactly 1.0 for equal vectors.

    Raises:
        JudgeOutputError: The vectors have different lengths.
    """
    if one.size != other.size:
        lengths = sorted((one.size, other.size))
        raise JudgeOutputError(
            f"vectors of {lengths[0]} and {lengths[1]} numbers cannot be compared; if the model "
            "was replaced under its name, clear the cache"
        )
    cosine = float((one * other).sum())
    return round(min(max(cosine, 0.0), 1.0), _DIGITS)


class CallableEmbedder:
    """Adapts a function to the `Embedder` port.

    The function is called with a list of texts in a separate thread, one call at a time, and may be
    asynchronous. Vectors are not cached, because two functions may share a name.

    Args:
        function: Returns one vector per text, in text order.
        name: Appears in score signatures; empty for the qualified name of the function.
    """

    def __init__(self, function: Callable[[list[str]], Any], name: str = "") -> None:
        self._function = function
        owner = getattr(function, "__self__", function)
        named = owner if hasattr(owner, "__qualname__") else type(owner)  # a callable object
        self._name = name or f"{named.__module__}.{named.__qualname__}"
        self._one_at_a_time = threading.Lock()

    @property
    def identity(self) -> Mapping[str, str]:
        return {"embedder": self._name}

    async def embed(self, texts: Sequence[str], ledger: Ledger) -> Sequence[EmbeddingResult]:
        """Return one vector per text, in text order; they are not validated."""
        del ledger
        if not texts:
            return []
        vectors = await run_in_thread(self._vectors, list(texts))
        return list(await vectors if inspect.isawaitable(vectors) else vectors)

    def _vectors(self, texts: list[str]) -> Any:
        with self._one_at_a_time:
            return self._function(texts)
