"""Embedders: directions and similarity of vectors, functions as embedders, and a lexical one.

The lexical embedder hashes words, word pairs and letters, offline. Similarity comes from shared
rare words and, to a lesser degree, from similar spelling. Synonyms, paraphrases and the roles in a
sentence are ignored. Similarities are lower than those of a trained model, so thresholds do not
carry over.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import threading
from array import array
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from factcheck.errors import JudgeOutputError
from factcheck.judges.local.encoder import read_file
from factcheck.judges.ports import EmbeddingResult, Ledger
from factcheck.runtime.deadline import checkpoint, run_in_thread
from factcheck.text.units import Reading, read
from factcheck.text.words import DEFAULT, fold_word, guess_language

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DIGITS = 6
"""Decimal places of a similarity; those that single precision reproduces on every machine."""
NAME = "local/4 (lexical)"
"""Name in score signatures; the version changes with the vectors."""
SIZE = 2048
"""Dimensions of a vector."""
_STEPS = 64
"""Weights are rounded to multiples of 1 / 64 and stored as integers, so that sums are exact."""
_LETTERS = 0.5
"""Weight of a word's letters relative to the word."""
_NEIGHBOURS = 0.3
"""Weight of a pair of adjacent words, which makes vectors depend on word order."""
_TOUCHING = 1.0
"""Weight of a pair without a space in between, as in Chinese, where the pair is the word."""
_GRAM = 3
_NUMBER_RARITY, _UNIT_RARITY = 4.0, 3.0
_FOREIGN_RARITY, _COMMON_RARITY, _RARE_RARITY = 3.0, 0.2, 5.0
"""Information weight of a content word that is not English; bounds for English ones."""
_FIRST_WORD = 1996
"""Row of the most common word in the vocabulary of the embedded judge's tokenizer."""
_RARITY = {"number": _NUMBER_RARITY, "negation": 1.5, "function": 0.2, "symbol": 0.2}


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
        name = name or f"{named.__module__}.{named.__qualname__}"
        self.identity: Mapping[str, str] = {"embedder": name}
        self._one_at_a_time = threading.Lock()

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


class _Item(NamedTuple):
    """A word, number, unit or part of a date."""

    start: int
    end: int
    key: str
    rarity: float
    form: str = ""
    """Source of the letter features; empty for none."""


def embed_text(text: str) -> array[float]:
    """Embed a text as `SIZE` integers, identical in every process.

    The vector is all zero if and only if the text is blank.

    Source:
        Weinberger et al. (2009), "Feature hashing for large scale multitask learning": random signs
        make collisions cancel out on average. Letter trigrams with word boundaries follow
        Bojanowski et al. (2017).
    """
    checkpoint()
    vector = array("f", bytes(4 * SIZE))
    features, forms = _weights(text)
    for feature, square in features.items():
        _add(vector, feature, math.sqrt(square))
    for form, square in forms.items():
        grams = _grams(form)
        for gram in grams:
            _add(vector, gram, _LETTERS * math.sqrt(square / len(grams)))
    return vector


def _weights(text: str) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Squared weights of words and word pairs, and of the words with letter features.

    Squares add up, so the weight of a word grows with the square root of its count.
    """
    features: dict[str, float] = defaultdict(float)
    forms: dict[str, float] = defaultdict(float)
    before: _Item | None = None
    for item in sorted(_items(read(text, guess_language(text)))):
        features[item.key] += item.rarity**2
        if item.form:
            forms[item.form] += item.rarity**2
        if before is not None:
            share = _TOUCHING if before.end == item.start else _NEIGHBOURS
            features[f"{before.key} {item.key}"] += share**2 * before.rarity * item.rarity
        before = item
    if not features and (bare := "".join(text.split())):
        forms[fold_word(bare) or bare] = 1.0  # nothing but punctuation
    return features, forms


def _items(found: Reading) -> Iterator[_Item]:
    """Words, numbers, units and parts of dates, normalised."""
    taken: set[int] = set()
    for moment in found.moments:
        taken.update(range(moment.first, moment.last))
        start, end = found.words[moment.first].start, found.words[moment.last - 1].end
        yield from (_Item(start, end, key, _NUMBER_RARITY) for key in moment.keys)
    for quantity in found.quantities:
        taken.update(range(quantity.first, quantity.last))
        yield _Item(quantity.start, quantity.end, quantity.key, _NUMBER_RARITY)
        for unit in quantity.units[:1]:
            yield _Item(quantity.end, quantity.end, unit.name, _UNIT_RARITY)
    for at, word in enumerate(found.words):
        if at not in taken:
            is_content = word.kind == "content"
            weight = _rarity(word.form, found.language) if is_content else _RARITY[word.kind]
            yield _Item(word.start, word.end, word.stem, weight, word.form if is_content else "")


def _rarity(form: str, language: str) -> float:
    """Information weight of a content word, from 0.2 to 5: the logarithm of its rank."""
    if language != DEFAULT:
        return _FOREIGN_RARITY
    place = _vocabulary().get(form)
    if place is None:
        return _RARE_RARITY
    return max(math.log10(max(place - _FIRST_WORD, 1)) - 0.2, _COMMON_RARITY)


@lru_cache(maxsize=1)
def _vocabulary() -> Mapping[str, int]:
    """Rows of English words in the vocabulary of BERT, which is in the order of frequency."""
    vocabulary: dict[str, int] = json.loads(read_file("tokenizer.json"))["model"]["vocab"]
    return vocabulary


@lru_cache(maxsize=65536)
def _grams(form: str) -> tuple[str, ...]:
    """Letter trigrams of a word, with `<` and `>` as boundaries."""
    framed = f"<{form}>"
    return tuple(f"<{framed[at : at + _GRAM]}>" for at in range(max(1, len(framed) - _GRAM + 1)))


def _add(vector: array[float], feature: str, weight: float) -> None:
    place, sign = _slot(feature)
    vector[place] += sign * round(_STEPS * weight)


@lru_cache(maxsize=131_072)
def _slot(feature: str) -> tuple[int, int]:
    hashed = hashlib.blake2b(feature.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    number = int.from_bytes(hashed, "big")
    return number % SIZE, 1 if number >> 63 else -1
