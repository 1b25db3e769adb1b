"""Requests, reads, stores and compares vectors; vectors of any function or object with `encode`."""

from __future__ import annotations

import asyncio
import base64
import inspect
import math
import threading
from array import array
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from factcheck.errors import FactcheckError, Failure, JudgeOutputError, describe
from factcheck.judges.ports import EmbeddingResult

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from factcheck.judges.ports import Ledger

SINGLE: Final = "f"
"""Type code of 4-byte numbers: the precision in which APIs send vectors and caches keep them."""
_SENT: Final = "<f4"
"""The same as numpy calls it, in the byte order of APIs."""
_DIGITS = 6
"""Decimals of a similarity: as many as numbers of single precision bear on every machine."""


class Direction(NamedTuple):
    """Where a vector points."""

    values: NDArray[np.float64]
    """The vector, shrunk or stretched by a power of two so that no square overflows."""
    square: float
    """Its length squared; greater than 0."""


def direction_of(vector: Any) -> Direction:
    """Where a vector points, whatever holds its numbers: a list, an array of any library.

    Raises:
        JudgeOutputError: Not a list of numbers, empty, with NaN or infinity, or all zero.
    """
    import numpy as np

    try:
        numbers = np.asarray(vector)
    except Exception as error:
        raise JudgeOutputError(f"the vector cannot be read ({error})") from error
    if numbers.ndim != 1 or numbers.dtype.kind not in "fiu":
        kind = type(vector).__name__
        raise JudgeOutputError(f"a vector must be a flat list of numbers, not this {kind}")
    values = numbers.astype(np.float64)
    largest = float(np.abs(values).max(initial=0.0))
    if not math.isfinite(largest):
        raise JudgeOutputError("the vector holds NaN or infinity")
    if largest == 0.0:
        wrong = "all zero and points nowhere" if values.size else "empty"
        raise JudgeOutputError(f"the vector is {wrong}")
    scaled = np.ldexp(values, -math.frexp(largest)[1])
    return Direction(scaled, float((scaled * scaled).sum()))


def similarity(one: Direction, other: Direction) -> float:
    """Cosine of the angle between two vectors, in [0, 1] and rounded to six decimals.

    A negative cosine counts as 0: pointing away is no more alike than having nothing in common.
    The same for both orders, and exactly 1.0 for a vector and itself.

    Raises:
        JudgeOutputError: The vectors have different lengths.
    """
    if one.values.size != other.values.size:
        lengths = sorted((one.values.size, other.values.size))
        raise JudgeOutputError(
            f"vectors of {lengths[0]} and {lengths[1]} numbers cannot be compared; "
            "they come from different models; if one was changed under its name, clear the cache"
        )
    cosine = float((one.values * other.values).sum()) / math.sqrt(one.square * other.square)
    return round(min(max(cosine, 0.0), 1.0), _DIGITS)


def single_precision(numbers: Any) -> array[float]:
    """A vector as APIs send it, a list of numbers or base64, in single precision.

    Raises:
        JudgeOutputError: It is neither, or has no direction.
    """
    import numpy as np

    try:
        if isinstance(numbers, str):
            found = np.frombuffer(base64.b64decode(numbers, validate=True), _SENT)
        elif isinstance(numbers, list) and all(type(x) in (float, int) for x in numbers):
            with np.errstate(over="ignore"):  # infinity, which has no direction
                found = np.array(numbers, _SENT)
        else:
            raise JudgeOutputError("a vector must be a list of numbers, or base64")
    except OverflowError as error:
        raise JudgeOutputError("the vector holds a number beyond single precision") from error
    except ValueError as error:
        raise JudgeOutputError(f"the vector is not base64 of 4-byte numbers ({error})") from error
    direction_of(found)
    return array(SINGLE, found.astype(np.float32).tobytes())


def packed(vector: Sequence[float]) -> str:
    """A vector of single precision as base64, as the API writes it; `single_precision` inverts."""
    import numpy as np

    return base64.b64encode(np.asarray(vector, _SENT).tobytes()).decode("ascii")


_ENOUGH = 3
"""Texts that fail alone before any answer came: then it is not the texts."""

Ask = Callable[[Sequence[str]], Awaitable[Sequence[EmbeddingResult] | Failure[None]]]
"""One result per text, in their order, or why a request was turned down; one of its texts may be
the cause."""


async def ask_in_parts(texts: Sequence[str], ask: Ask) -> list[EmbeddingResult]:
    """One result per text, in their order; one text that cannot be embedded fails alone.

    What is turned down is asked about again in halves.
    """
    failed_alone: list[Failure[None]] = []
    answered = False

    async def results(part: Sequence[str]) -> list[EmbeddingResult]:
        nonlocal answered
        if len(failed_alone) >= _ENOUGH and not answered:
            return [failed_alone[-1]] * len(part)
        found = await ask(part)
        if not isinstance(found, Failure):
            answered = True
            return list(found)
        if len(part) == 1:
            failed_alone.append(found)
            return [found]
        middle = len(part) // 2
        return [*await results(part[:middle]), *await results(part[middle:])]

    return await results(texts)


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

    async def _ask(self, texts: Sequence[str]) -> Sequence[EmbeddingResult] | Failure[None]:
        try:
            vectors = list(await self._call(texts))
        except FactcheckError as error:
            return Failure.of(None, error)
        except (Exception, SystemExit, KeyboardInterrupt) as error:  # noqa: BLE001 - a user's
            return Failure(None, "judge", f"{self._name} raised {describe(error)}")
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
