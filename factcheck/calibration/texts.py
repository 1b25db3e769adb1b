"""The bundled texts: a source, a summary in bullets, and the bullets that carry each fact.

What a summary made of some of the bullets keeps is therefore known exactly. The bullets paraphrase:
at most half of the content words of a bullet are those of any one sentence of the source.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from importlib.resources import files
from typing import Any

from factcheck.documents.yaml_documents import parse_yaml
from factcheck.facts import AtomicFact, Span


@dataclass(frozen=True, slots=True)
class TextFact:
    """A fact of a source, and what becomes of it in the summary."""

    fact: AtomicFact
    bullets: frozenset[int]
    """Bullets, from 0, that carry it by themselves; none for a fact that was dropped."""
    distorted_by: frozenset[int] = frozenset()
    """Bullets that contradict it."""


@dataclass(frozen=True, slots=True)
class BundledText:
    """A source with its summary, its facts, and the bullets that carry each fact."""

    name: str
    title: str
    field: str
    """Kind of document."""
    language: str
    source: str
    bullets: tuple[str, ...]
    facts: tuple[TextFact, ...]

    @property
    def summary(self) -> str:
        """The bullets as a Markdown list."""
        return "\n".join(f"- {bullet}" for bullet in self.bullets)

    def expected(self, kept: Collection[int]) -> float:
        """The true score: share of the facts that the bullets in `kept` carry, in [0, 1]."""
        return sum(not fact.bullets.isdisjoint(kept) for fact in self.facts) / len(self.facts)


@lru_cache(maxsize=1)
def load_texts() -> tuple[BundledText, ...]:
    """All bundled texts, by name."""
    entries = files("factcheck.calibration").joinpath("data").iterdir()
    return tuple(
        _read(entry.name.removesuffix(".yaml"), entry.read_text(encoding="utf-8"))
        for entry in sorted(entries, key=lambda entry: entry.name)
        if entry.name.endswith(".yaml")
    )


def _read(name: str, text: str) -> BundledText:
    data = parse_yaml(text, name).value
    return BundledText(
        name=name,
        title=data["title"],
        field=data["field"],
        language=data["language"],
        source=data["source"],
        bullets=tuple(data["summary"]),
        facts=tuple(_fact(entry, data["source"]) for entry in data["facts"]),
    )


def _fact(data: dict[str, Any], source: str) -> TextFact:
    return TextFact(
        AtomicFact(data["id"], data["text"], span=_span(data["evidence"], source)),
        frozenset(number - 1 for number in data["bullets"]),
        frozenset(number - 1 for number in data.get("distorted", ())),
    )


def _span(evidence: str, source: str) -> Span:
    """Where the evidence stands, whatever the white space between its words."""
    found = re.search(r"\s+".join(re.escape(word) for word in evidence.split()), source)
    if found is None:
        raise ValueError(f"the source does not contain {evidence!r}")
    return Span(*found.span())
