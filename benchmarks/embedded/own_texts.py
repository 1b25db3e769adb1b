"""Texts, minimal pairs and long pairs, written to select the embedded judge by.

`texts/README.md` says how they were written and how their truth was decided.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import snowballstemmer

from factcheck.calibration.texts import Subject, parse_text
from factcheck.documents.yaml_documents import parse_yaml
from factcheck.text.words import TABLES, word_set

TEXTS = Path(__file__).parent / "texts"
KINDS = (
    "roles",
    "units",
    "quantities",
    "antonyms",
    "only_except",
    "negation",
    "hedges",
    "added_detail",
    "coordination",
)
"""What tells the two statements of a minimal pair apart."""
_NOT_TEXTS = ("extracted", "hard_statements", "long_pairs")


class MinimalPair(NamedTuple):
    """Two statements about one premise that share most of their words; only one is true."""

    kind: str
    premise: str
    entailed: str
    not_entailed: str


class LongSummary(NamedTuple):
    """A summary, and the ids of the facts that it entails."""

    text: str
    entails: frozenset[str]


class LongPair(NamedTuple):
    """A long source with a faithful summary, and a false one that copies the source's words."""

    name: str
    source: str
    facts: dict[str, str]
    """Text by id."""
    good: LongSummary
    lying: LongSummary


@lru_cache(maxsize=1)
def texts() -> tuple[Subject, ...]:
    """The short texts, by name."""
    return tuple(
        parse_text(path.stem, path.read_text(encoding="utf-8"))
        for path in sorted(TEXTS.glob("*.yaml"))
        if path.stem not in _NOT_TEXTS
    )


@lru_cache(maxsize=1)
def minimal_pairs() -> tuple[MinimalPair, ...]:
    """All minimal pairs, by kind; the premise is written out or is the source of a text."""
    sources = {text.name: text.source for text in texts()}
    path = TEXTS / "hard_statements.yaml"
    kinds = parse_yaml(path.read_text(encoding="utf-8"), path.name).value
    return tuple(
        MinimalPair(
            kind,
            entry["premise"] if "premise" in entry else sources[entry["text"]],
            entry["entailed"],
            entry["not_entailed"],
        )
        for kind, entries in kinds.items()
        for entry in entries
    )


@lru_cache(maxsize=1)
def long_pairs() -> tuple[LongPair, ...]:
    """The long pairs, in file order."""
    path = TEXTS / "long_pairs.yaml"
    return tuple(
        LongPair(
            entry["name"],
            entry["source"],
            entry["facts"],
            *(
                LongSummary(entry[key]["text"], frozenset(entry[key]["entails"]))
                for key in ("good", "lying")
            ),
        )
        for entry in parse_yaml(path.read_text(encoding="utf-8"), path.name).value
    )


class Extracted(NamedTuple):
    """Facts as extracted from a source, and whether a summary states them in full."""

    name: str
    summary: str
    facts: tuple[tuple[str, bool], ...]


def extracted() -> list[Extracted]:
    """The labelled extracted facts of some texts."""
    summaries = {text.name: text.summary for text in texts()}
    summaries |= {pair.name: pair.good.text for pair in long_pairs()}
    path = TEXTS / "extracted.yaml"
    labelled = parse_yaml(path.read_text(encoding="utf-8"), path.name).value
    return [
        Extracted(
            name,
            summaries[name],
            tuple((fact, key == "kept") for key in ("kept", "not_kept") for fact in entry[key]),
        )
        for name, entry in labelled.items()
    ]


def copied(text: Subject) -> list[float]:
    """For each carried fact, the share of its content words in the bullet that carries it.

    Words are stemmed, without function words; of several bullets, the nearest counts.
    """
    shares = []
    for fact in text.facts:
        words = _content(fact.text)
        if bullets := text.carriers[fact.id]:
            held = (_content(text.bullets.texts[number]) for number in bullets)
            shares.append(max(len(words & bullet) for bullet in held) / len(words))
    return shares


def _content(text: str) -> frozenset[str]:
    words = set(re.findall(r"\w+", text.casefold())) - _function_words()
    return frozenset(_stemmer().stemWord(word) for word in words)


@lru_cache(maxsize=1)
def _stemmer() -> snowballstemmer.stemmer:
    return snowballstemmer.stemmer("english")


@lru_cache(maxsize=1)
def _function_words() -> frozenset[str]:
    return word_set(TABLES["function words"]["en"])
