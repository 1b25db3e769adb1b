"""The built-in lexical embedder: hashed words, word pairs and letters, offline.

It is lexical. Texts are alike as far as they share rare words; spelling variants help a little,
synonyms and paraphrase not at all, and it does not see who did what to whom. Its similarities are
lower than those of a model that was trained on meaning, so a threshold for one is none for the
other.
"""

from __future__ import annotations

import hashlib
import math
from array import array
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

from factcheck.errors import Failure
from factcheck.judges.embedders.vectors import SINGLE
from factcheck.judges.local.cancellation import checkpoint, run_in_thread
from factcheck.judges.local.language import DEFAULT, guess_language
from factcheck.judges.local.tokens import fold_form
from factcheck.judges.local.words import Word, english_knows_as_many, words
from factcheck.judges.ports import EmbeddingResult, Ledger

NAME = "local/1 (lexical)"
"""The embedder in score signatures; the number changes when its vectors do."""
SIZE = 2048
"""Numbers in a vector."""
_STEPS = 64
"""Weights are whole numbers of this part, so that sums are exact, in any order, on any machine."""
_LETTERS = 0.5
"""Weight of the letters of a word beside that of the word."""
_NEIGHBOURS = 0.3
"""Weight of two words in a row; without it, texts of the same words in any order were the same."""
_TOUCHING = 1.0
"""The same where no space is between them, as in Chinese: there the pair is the word."""
_GRAM = 3
_BLANK = Failure(None, "input", "the text is blank")


class LocalEmbedder:
    """Turns texts into vectors by `embed_text`; fulfils `Embedder` and costs nothing."""

    @property
    def identity(self) -> Mapping[str, str]:
        return {"embedder": NAME}

    async def embed(self, texts: Sequence[str], ledger: Ledger) -> Sequence[EmbeddingResult]:
        """One vector per text, in their order; a failure for a blank one."""
        del ledger
        return await run_in_thread(_embed_all, tuple(texts))


def _embed_all(texts: Sequence[str]) -> tuple[EmbeddingResult, ...]:
    return tuple(embed_text(text) if text.strip() else _BLANK for text in texts)


def embed_text(text: str) -> array[float]:
    """The vector of a text: `SIZE` whole numbers, the same bytes in every process.

    All zero for a blank text, and for no other.

    Source:
        Weinberger et al. (2009), "Feature hashing for large scale multitask learning": what falls
        into one number has random signs, so that collisions cancel out on average. Letters in
        threes between word boundaries are those of Bojanowski et al. (2017).
    """
    checkpoint()
    vector = array(SINGLE, bytes(4 * SIZE))
    features, forms = _weights(text)
    for feature, square in features.items():
        _add(vector, feature, math.sqrt(square))
    for form, square in forms.items():
        grams = _grams(form)
        for gram in grams:
            _add(vector, gram, _LETTERS * math.sqrt(square / len(grams)))
    return vector


def _weights(text: str) -> tuple[Mapping[str, float], Mapping[str, float]]:
    """Squared weights of words and word pairs, and of the words also taken letter by letter.

    Squares of rarities add up, so a repeated word gains by its root.
    """
    features: dict[str, float] = defaultdict(float)
    forms: dict[str, float] = defaultdict(float)
    before: Word | None = None
    for word in words(text, _language(text)):
        features[word.stem] += word.rarity**2
        if word.kind == "content":
            forms[fold_form(word.text)] += word.rarity**2
        if before is not None:
            share = _TOUCHING if before.end == word.start else _NEIGHBOURS
            features[f"{before.stem} {word.stem}"] += share**2 * before.rarity * word.rarity
        before = word
    if not features and (bare := "".join(text.split())):
        forms[fold_form(bare) or bare] = 1.0  # nothing but punctuation
    return features, forms


def _language(text: str) -> str:
    """The guessed language, unless English knows as many of the first words.

    Two texts in one language have to be read alike, however short they are.
    """
    guess = guess_language(text)
    return DEFAULT if english_knows_as_many(text, guess) else guess


@lru_cache(maxsize=65536)
def _grams(form: str) -> tuple[str, ...]:
    """The letters of a word in threes; `<` and `>` stand for its ends and set them apart."""
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
