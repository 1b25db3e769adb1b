"""Hand-written texts that select the built-in judge.

python benchmarks/embedded/own_texts.py   # counts, and how many words the bullets copy
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from statistics import fmean

import snowballstemmer
from wordfreq import top_n_list

from factcheck.calibration.texts import BundledText, read_text

TEXTS = Path(__file__).parent / "texts"


@lru_cache(maxsize=1)
def texts() -> tuple[BundledText, ...]:
    """The short texts, by name."""
    return tuple(
        read_text(path.stem, path.read_text(encoding="utf-8"))
        for path in sorted(TEXTS.glob("*.yaml"))
    )


def copied(text: BundledText) -> list[float]:
    """For each carried fact, the share of its content words in the bullet that carries it.

    Words are stemmed, without the 150 most common ones; of several bullets, the nearest counts.
    """
    shares = []
    for fact in text.facts:
        words = _content(fact.fact.text)
        if fact.bullets:
            held = (_content(text.bullets[number]) for number in fact.bullets)
            shares.append(max(len(words & bullet) for bullet in held) / len(words))
    return shares


def _content(text: str) -> frozenset[str]:
    words = set(re.findall(r"\w+", text.casefold())) - _common_words()
    return frozenset(_stemmer().stemWord(word) for word in words)


@lru_cache(maxsize=1)
def _stemmer() -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=1)
def _common_words() -> frozenset[str]:
    common: Iterable[str] = top_n_list("en", 150)
    return frozenset(common)


def main() -> None:
    print("text                      words bullets facts carried distorted copied words")
    for text in texts():
        carried = sum(bool(fact.bullets) for fact in text.facts)
        distorted = sum(bool(fact.distorted_by) for fact in text.facts)
        print(
            f"{text.name:24}{len(text.source.split()):7}{len(text.bullets):8}{len(text.facts):6}"
            f"{carried:8}{distorted:10}{fmean(copied(text)):13.2f}"
        )
    print(f"mean share of copied words: {fmean(s for text in texts() for s in copied(text)):.3f}")


if __name__ == "__main__":
    main()
