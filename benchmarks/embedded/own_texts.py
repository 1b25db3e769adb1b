"""Texts, minimal pairs and long pairs, written to select the embedded judge by.

`texts/README.md` says how they were written and how their truth was decided.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from factcheck.calibration.texts import Subject, parse_text
from factcheck.documents.yaml_documents import parse_yaml

TEXTS = Path(__file__).parent / "texts"
_NOT_TEXTS = ("hard_statements", "long_pairs")


class MinimalPair(NamedTuple):
    """Two statements about one premise that share most of their words; only one is true."""

    kind: str
    """What tells them apart, such as `roles`."""
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
