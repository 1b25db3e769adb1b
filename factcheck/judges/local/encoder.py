"""The two networks of the embedded judge: 4-bit weights, run by onnxruntime.

The encoder (all-MiniLM-L6-v2, fine-tuned) turns a sentence into one vector per word piece, for
matching. The reader (eight layers of all-mpnet-base-v2, fine-tuned) reads a fact together with a
passage and rates whether it follows.
"""

from __future__ import annotations

import io
import math
import threading
from collections.abc import Callable, Sequence
from functools import cache, lru_cache, wraps
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from factcheck.runtime.deadline import checkpoint
from factcheck.text.weights import open_session, read_weights

if TYPE_CHECKING:
    import numpy as np
    import tokenizers
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float32]

_WEIGHTS = files("factcheck.judges.local") / "weights"
WIDTH = 384
"""Dimensions of a vector."""
_START, _END = 101, 102
_LONGEST_SENTENCE = 126
_LONGEST_FACT, _LONGEST_PASSAGE = 60, 200
"""Maximum number of word pieces; the rest of a longer string is ignored."""
_CHARACTERS = 12
"""Characters tokenised for each word piece read."""
_MOST_KEPT = 1_500
"""Maximum number of cached sentences, some 20 KB each."""
_BLOCK = 64
_BUCKETS, _EXACT, _FARTHEST = 16, 8, 128
_OF_THE_GRAPH = ("layer", "embedding.", "head.")
"""Prefixes of the weights that onnxruntime holds."""


T = TypeVar("T")


def _once(load: Callable[[], T]) -> Callable[[], T]:
    """Load on first use and keep; threads that come meanwhile wait for the first."""
    kept, loading = cache(load), threading.Lock()

    @wraps(load)
    def get() -> T:
        with loading:
            return kept()

    return get


class Reading(NamedTuple):
    """A sentence as unit vectors, one row per word piece."""

    vectors: FloatArray
    spans: tuple[tuple[int, int], ...]
    """Character span of each word piece."""


class Opinion(NamedTuple):
    """The reader's ratings of a fact and a passage, in log odds."""

    entailed: float
    contradicted: float


class _Network:
    """A transformer with its weights."""

    def __init__(self, name: str) -> None:
        import numpy as np

        weights = _load(f"{name}.npz")
        graph = {key: weights.pop(key) for key in [*weights] if key.startswith(_OF_THE_GRAPH)}
        singles = {
            key: np.ascontiguousarray(value, np.float32 if value.dtype == np.float16 else None)
            for key, value in graph.items()
        }
        self._session = open_session(read_file(f"{name}.onnx"), singles)
        self._weights = weights

    def run(self, pieces: Sequence[int], **inputs: FloatArray) -> FloatArray:
        """Run a string, given as word-piece ids."""
        import numpy as np

        places = np.array([pieces])
        length = len(pieces)
        weights = self._weights
        codes = _nibbles(weights["pieces.codes"][places])
        steps = np.repeat(weights["pieces.multipliers"][places], _BLOCK, axis=-1)
        words = codes * steps * weights["pieces.scale"][places][..., None]
        inputs["embedded"] = (words + weights["positions"][:length]).astype(np.float32)
        if "distances" in weights:
            buckets = _buckets()[:length, :length]
            inputs["bias"] = weights["distances"][buckets].transpose(2, 0, 1)[None]
        ((output,),) = self._session.run(None, inputs)
        return output  # type: ignore[no-any-return]


@lru_cache(maxsize=_MOST_KEPT)
def encode(sentence: str) -> Reading:
    """Read a sentence with the bundled encoder."""
    import numpy as np

    checkpoint()
    pieces = _cut(sentence, _LONGEST_SENTENCE)
    states = load_encoder().run([_START, *pieces.ids, _END])[1:-1]
    vectors = states / np.linalg.norm(states, axis=-1, keepdims=True)
    return Reading(vectors.astype(np.float16), tuple(pieces.offsets))


@_once
def load_encoder() -> _Network:
    """The bundled encoder."""
    return _Network("encoder")


@lru_cache(maxsize=20_000)
def judge(fact: str, passage: str) -> Opinion:
    """Rate a fact against a passage with the bundled reader."""
    import numpy as np

    own, other = _cut(fact, _LONGEST_FACT).ids, _cut(passage, _LONGEST_PASSAGE).ids
    pieces = [_START, *own, _END, _END, *other, _END]
    pool = np.full((1, len(own) + 2), 1 / (len(own) + 1), np.float32)
    pool[0, 0] = 0
    return Opinion(*load_reader().run(pieces, pool=pool).tolist())


@_once
def load_reader() -> _Network:
    """The bundled reader."""
    return _Network("reader")


@_once
def _tokenizer() -> tokenizers.Tokenizer:
    import tokenizers

    return tokenizers.Tokenizer.from_str(read_file("tokenizer.json").decode())


def _cut(text: str, longest: int) -> tokenizers.Encoding:
    """Tokenise a string, truncated to `longest` word pieces; lone surrogates count as `?`."""
    text = text[: longest * _CHARACTERS].encode("utf-8", "replace").decode()
    pieces = _tokenizer().encode(text)
    pieces.truncate(longest)
    return pieces


@cache
def _buckets() -> NDArray[Any]:
    """Relative-position bucket of each pair of positions (Raffel et al. 2020, section 2.1)."""
    import numpy as np

    places = np.arange(_LONGEST_FACT + _LONGEST_PASSAGE + 4)
    ahead = places[:, None] - places[None]
    distance = np.abs(ahead)
    wide = math.log(_FARTHEST / _EXACT)
    far = _EXACT + np.log(np.maximum(distance, 1) / _EXACT) / wide * (_BUCKETS - _EXACT)
    far = np.minimum(far.astype(np.int64), _BUCKETS - 1)
    found: NDArray[Any] = np.where(distance < _EXACT, distance, far)
    return found + np.where(ahead < 0, _BUCKETS, 0)


def _nibbles(packed: NDArray[Any]) -> NDArray[Any]:
    """Unpack signed 4-bit integers, two per byte, along the last axis."""
    import numpy as np

    pairs = packed.astype("<u2")
    pairs |= pairs << 4
    pairs &= 0x0F0F
    codes: NDArray[Any] = pairs.view(np.int8)
    codes -= 8
    return codes


def read_file(name: str) -> bytes:
    """Read a file of the networks; raises `ConfigError` if it was damaged or replaced."""
    return read_weights(_WEIGHTS, name)


def _load(name: str) -> dict[str, NDArray[Any]]:
    """Load weights; matrices as 7-bit integers (codes times multipliers)."""
    import numpy as np

    weights: dict[str, NDArray[Any]] = {}
    with np.load(io.BytesIO(read_file(name))) as packed:
        for key in packed.files:
            room, _, part = key.rpartition(".")
            if part == "codes" and room != "pieces":
                codes, multipliers = _nibbles(packed[key]), packed[f"{room}.multipliers"]
                blocks = codes.reshape(len(multipliers), _BLOCK, -1)
                blocks *= multipliers[:, None]
                weights[f"{room}.weight"] = codes
            elif part != "multipliers" or room == "pieces":
                weights[key] = packed[key]
    return weights
