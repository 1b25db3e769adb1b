"""An encoder for the embedded judge: a sentence in, one vector per word piece out.

The lower layers of a frozen sentence encoder (all-mpnet-base-v2) read each sentence by itself; a
reader, two trained layers, can then read a fact together with a passage. Weights are kept in four
bits and run as integers by onnxruntime. Activations are scaled row by row and strings of one length
run together, so that a vector depends on nothing but its own sentence.
"""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    import onnxruntime
    import tokenizers
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float32]

LONGEST = 126
"""Word pieces of a sentence that are read; the rest of a longer one is left out."""
_KEPT = 30_000
"""Word pieces whose vectors are kept, about 3 kB each."""
_AT_ONCE = 16
_BLOCK = 64
_BUCKETS, _EXACT, _FARTHEST = 16, 8, 128


class Reading(NamedTuple):
    """The vectors of a sentence, one row per word piece, the marks at both ends included."""

    low: FloatArray
    """Of the layer that the reader starts from."""
    high: FloatArray
    """Of the last frozen layer, scaled to length 1: for matching by cosine."""
    spans: tuple[tuple[int, int], ...]
    """Where each word piece stands in the sentence."""


class Encoder:
    """Reads sentences, with weights from a folder; safe to use from several threads."""

    def __init__(self, folder: Path) -> None:
        import tokenizers

        self._weights = _load(folder / "encoder.npz")
        self._frozen = _session(folder / "encoder.onnx", self._weights)
        self._tokenizer = tokenizers.Tokenizer.from_str(
            (folder / "tokenizer.json").read_text("utf-8")
        )
        self._kept: OrderedDict[str, Reading] = OrderedDict()
        self._n_kept = 0
        self._lock = threading.Lock()

    def read(self, sentences: Sequence[str]) -> list[Reading]:
        """The vectors of each sentence."""
        with self._lock:
            known = {text: self._kept[text] for text in {*sentences} if text in self._kept}
            for text in known:
                self._kept.move_to_end(text)
        unknown = [text for text in dict.fromkeys(sentences) if text not in known]
        fresh = dict(self._read(unknown))
        with self._lock:
            for text, reading in fresh.items():
                if text not in self._kept:
                    self._kept[text] = reading
                    self._n_kept += len(reading.low)
            while self._n_kept > _KEPT:
                _, dropped = self._kept.popitem(last=False)
                self._n_kept -= len(dropped.low)
        return [known[text] if text in known else fresh[text] for text in sentences]

    def _read(self, sentences: Sequence[str]) -> Iterator[tuple[str, Reading]]:
        import numpy as np

        by_length: dict[int, list[tuple[str, tokenizers.Encoding]]] = {}
        for text in sentences:
            pieces = self._tokenizer.encode(text[: LONGEST * 12])
            pieces.truncate(LONGEST)
            by_length.setdefault(len(pieces.ids), []).append((text, pieces))
        for length, group in sorted(by_length.items()):
            for start in range(0, len(group), _AT_ONCE):
                part = group[start : start + _AT_ONCE]
                low, high = self._frozen.run(
                    ["low", "high"],
                    {
                        "embedded": self._embed(np.array([pieces.ids for _, pieces in part])),
                        "bias": self._bias(length),
                    },
                )
                high = high / np.linalg.norm(high, axis=-1, keepdims=True)
                states, unit = low.astype(np.float16), high.astype(np.float16)
                for (text, pieces), *vectors in zip(part, states, unit, strict=True):
                    yield text, Reading(vectors[0], vectors[1], tuple(pieces.offsets))

    def _embed(self, pieces: NDArray[Any]) -> FloatArray:
        import numpy as np

        weights = self._weights
        codes = _nibbles(weights["pieces.codes"][pieces])
        steps = np.repeat(weights["pieces.multipliers"][pieces], _BLOCK, axis=-1)
        words = codes * steps * weights["pieces.scale"][pieces][..., None]
        embedded: FloatArray = (words + weights["positions"][: pieces.shape[1]]).astype(np.float32)
        return embedded

    def _bias(self, length: int) -> FloatArray:
        bias: FloatArray = self._weights["distances"][buckets(length)].transpose(2, 0, 1)[None]
        return bias


def match(fact: Reading, sentence: Reading) -> FloatArray:
    """For each word piece of a fact, the best cosine among those of a sentence."""
    import numpy as np

    ours, theirs = (reading.high[1:-1].astype(np.float32) for reading in (fact, sentence))
    best: FloatArray = (ours @ theirs.T).max(axis=1, initial=-1.0)
    return best


@cache
def buckets(length: int) -> NDArray[Any]:
    """The distance bucket of each pair of positions (Raffel et al. 2020, section 2.1)."""
    import numpy as np

    ahead = np.arange(length)[:, None] - np.arange(length)[None]
    distance = np.abs(ahead)
    wide = math.log(_FARTHEST / _EXACT)
    far = _EXACT + np.log(np.maximum(distance, 1) / _EXACT) / wide * (_BUCKETS - _EXACT)
    far = np.minimum(far.astype(np.int64), _BUCKETS - 1)
    found: NDArray[Any] = np.where(distance < _EXACT, distance, far)
    return found + np.where(ahead < 0, _BUCKETS, 0)


def _nibbles(packed: NDArray[Any]) -> NDArray[Any]:
    """Signed 4-bit integers, two in a byte, along the last axis."""
    import numpy as np

    pairs = np.stack([packed & 15, packed >> 4], axis=-1).astype(np.int8) - 8
    codes: NDArray[Any] = pairs.reshape(*packed.shape[:-1], -1)
    return codes


def _load(path: Path) -> dict[str, NDArray[Any]]:
    """The weights of a file; matrices as integers of 7 bits, which are codes times multipliers."""
    import numpy as np

    weights: dict[str, NDArray[Any]] = {}
    with path.open("rb") as file, np.load(file) as packed:
        for key in packed.files:
            room, _, part = key.rpartition(".")
            if part == "codes" and room != "pieces":
                steps = np.repeat(packed[f"{room}.multipliers"], _BLOCK, axis=0)
                weights[f"{room}.weight"] = np.multiply(_nibbles(packed[key]), steps, dtype=np.int8)
            elif part != "multipliers" or room == "pieces":
                weights[key] = packed[key]
    return weights


def _session(path: Path, weights: Mapping[str, NDArray[Any]]) -> onnxruntime.InferenceSession:
    """A graph with its weights; those the graph does not name are for the caller."""
    import numpy as np
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    named = {
        key: np.ascontiguousarray(value, np.float32 if value.dtype == np.float16 else value.dtype)
        for key, value in weights.items()
        if key.startswith(("layer", "embedding.", "head."))
    }
    options.add_external_initializers(
        list(named), [onnxruntime.OrtValue.ortvalue_from_numpy(value) for value in named.values()]
    )
    return onnxruntime.InferenceSession(
        path.read_bytes(), options, providers=["CPUExecutionProvider"]
    )
