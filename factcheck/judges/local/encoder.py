"""The two networks of the embedded judge: 4-bit weights, run by onnxruntime.

The encoder (all-MiniLM-L6-v2, fine-tuned) turns a sentence into one vector per word piece, for
matching. The reader (eight layers of all-mpnet-base-v2, fine-tuned) reads a fact together with a
passage and rates whether it follows. Activations are quantised per row and batches hold strings of
one length only, so a result never depends on the rest of its batch.
"""

from __future__ import annotations

import io
import math
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, lru_cache, wraps
from importlib.resources import files
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from factcheck.runtime.deadline import checkpoint
from factcheck.text.weights import open_session, read_weights

if TYPE_CHECKING:
    import numpy as np
    import onnxruntime
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
_KEPT_VECTORS = 40_000
"""Maximum number of cached vectors, 768 bytes each."""
_AT_ONCE = 16
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
        weights = _load(f"{name}.npz")
        self._session = _session(f"{name}.onnx", weights)
        self._weights = {
            key: value for key, value in weights.items() if not key.startswith(_OF_THE_GRAPH)
        }

    def run(self, pieces: Sequence[Sequence[int]], **inputs: FloatArray) -> FloatArray:
        """Run strings of one length, given as word-piece ids."""
        import numpy as np

        places = np.array(pieces)
        length = places.shape[1]
        weights = self._weights
        codes = _nibbles(weights["pieces.codes"][places])
        steps = np.repeat(weights["pieces.multipliers"][places], _BLOCK, axis=-1)
        words = codes * steps * weights["pieces.scale"][places][..., None]
        inputs["embedded"] = (words + weights["positions"][:length]).astype(np.float32)
        if "distances" in weights:
            buckets = _buckets()[:length, :length]
            inputs["bias"] = weights["distances"][buckets].transpose(2, 0, 1)[None]
        (output,) = self._session.run(None, inputs)
        return output  # type: ignore[no-any-return]


class Encoder:
    """Encodes sentences and caches recent ones; thread-safe."""

    def __init__(self) -> None:
        self._network = _Network("encoder")
        self._kept: OrderedDict[str, Reading] = OrderedDict()
        self._n_vectors = 0
        self._lock = threading.Lock()

    def read(self, sentences: Sequence[str]) -> list[Reading]:
        """Encode sentences; one reading each, in order."""
        known = {text: self._kept.get(text) for text in sentences}
        for text, fresh in self._read([text for text, found in known.items() if found is None]):
            known[text] = fresh
            self._keep(text, fresh)
        return [reading for text in sentences if (reading := known[text]) is not None]

    def _keep(self, text: str, reading: Reading) -> None:
        with self._lock:
            if text not in self._kept:
                self._kept[text] = reading
                self._n_vectors += len(reading.vectors)
            while self._n_vectors > _KEPT_VECTORS:
                self._n_vectors -= len(self._kept.popitem(last=False)[1].vectors)

    def _read(self, sentences: Sequence[str]) -> Iterator[tuple[str, Reading]]:
        """Encode in small batches of equal length."""
        import numpy as np

        cut = {text: _cut(text, _LONGEST_SENTENCE) for text in sentences}
        by_length: dict[int, list[str]] = {}
        for text in sentences:
            by_length.setdefault(len(cut[text].ids), []).append(text)
        for same in by_length.values():
            for part in (same[at : at + _AT_ONCE] for at in range(0, len(same), _AT_ONCE)):
                checkpoint()
                states = self._network.run([[_START, *cut[text].ids, _END] for text in part])
                states = states[:, 1:-1]
                vectors = states / np.linalg.norm(states, axis=-1, keepdims=True)
                for text, rows in zip(part, vectors.astype(np.float16), strict=True):
                    yield text, Reading(rows, tuple(cut[text].offsets))


@_once
def load_encoder() -> Encoder:
    """The bundled encoder."""
    return Encoder()


@lru_cache(maxsize=20_000)
def judge(fact: str, passage: str) -> Opinion:
    """Rate a fact against a passage with the bundled reader."""
    import numpy as np

    own, other = _cut(fact, _LONGEST_FACT).ids, _cut(passage, _LONGEST_PASSAGE).ids
    pieces = [_START, *own, _END, _END, *other, _END]
    pool = np.full((1, len(own) + 2), 1 / (len(own) + 1), np.float32)
    pool[0, 0] = 0
    return Opinion(*load_reader().run([pieces], pool=pool)[0].tolist())


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


def _session(name: str, weights: Mapping[str, NDArray[Any]]) -> onnxruntime.InferenceSession:
    """Load a graph with those of the weights that it names."""
    import numpy as np
    import onnxruntime

    named = {
        key: np.ascontiguousarray(value, np.float32 if value.dtype == np.float16 else value.dtype)
        for key, value in weights.items()
        if key.startswith(_OF_THE_GRAPH)
    }
    values = {key: onnxruntime.OrtValue.ortvalue_from_numpy(value) for key, value in named.items()}
    return open_session(read_file(name), values)
