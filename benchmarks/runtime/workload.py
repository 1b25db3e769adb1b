"""The texts of these studies: generated, the same on every machine, with a known answer each.

A source is 45 sentences about one town, every third of them a fact. A summary repeats six of the
15 facts, repeats two with another number, and says nothing about the other seven.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from factcheck.facts import EntailmentLabel
from factcheck.testing import parse_prompt
from factcheck.testing.fakes import sentences

FACTS_PER_SOURCE = 15
_N_KEPT = 6
_N_DISTORTED = 2
_EVERY = 3
"""Every so many sentences of a source, one is a fact."""

_FACTS = (
    "The ferry of {town} carried {n} passengers in {year}.",
    "The harbour of {town} was deepened by {n} centimetres in {year}.",
    "The library of {town} lent {n} books in {year}.",
    "The bridge near {town} was closed for {n} days in {year}.",
    "The bakery in {town} sold {n} loaves on one day of {year}.",
    "The school of {town} taught {n} children in {year}.",
    "The orchard behind {town} gave {n} baskets of pears in {year}.",
    "The mill at {town} ground {n} sacks of barley in {year}.",
    "The night train to {town} had {n} berths in {year}.",
    "The museum of {town} showed {n} paintings in {year}.",
    "The quarry above {town} employed {n} masons in {year}.",
    "The lighthouse of {town} burned {n} litres of oil in {year}.",
    "The choir of {town} gave {n} concerts in {year}.",
    "The dairy in {town} bottled {n} litres of milk on one day of {year}.",
    "The town hall of {town} cost {n} crowns to repair in {year}.",
)
_REMARKS = (
    "Nobody in {town} had expected as much, and the council talked about it for weeks.",
    "A visitor who had known {town} before would hardly have recognised the place.",
    "The papers of the region wrote about it at length and asked who would pay.",
    "Older people in {town} still remember how different it was in their own youth.",
    "The mayor of {town} promised to look into the matter before the end of winter.",
    "It rained for most of that spring, which made every kind of work slower.",
    "Several families moved to {town} at about that time and opened small shops.",
    "What became of the plans for a second market is told in another chapter.",
)
# fmt: off
_STEMS = (
    "Alder", "Birk", "Corn", "Dun", "Elm", "Fal", "Gor", "Hazel", "Ister",
    "Jarn", "Kel", "Lor", "Mar", "Nor", "Oster", "Pel", "Quar", "Rud",
)
_ENDS = (
    "by", "combe", "dale", "ford", "gate", "ham", "keld", "mouth", "ness",
    "port", "stead", "thorpe", "wick", "worth",
)
# fmt: on
_NUMBER = re.compile(r"\d[\d,]*")


class Pair(NamedTuple):
    """One source and one summary, and the label of every fact of the source."""

    id: str
    source: str
    summary: str
    labels: Mapping[str, EntailmentLabel]
    """By statement, in the order of the source."""

    def record(self, *, with_facts: bool = False) -> dict[str, object]:
        """What is scored; with its facts, nothing has to be extracted."""
        texts: dict[str, object] = {"id": self.id, "source": self.source, "summary": self.summary}
        return {**texts, "facts": list(self.labels)} if with_facts else texts


def make_pairs(n_sources: int, n_summaries: int) -> list[Pair]:
    """So many summaries of each of so many sources, source by source."""
    return [
        _pair(number, source, facts, of_source)
        for number, (source, facts) in enumerate(map(_source, range(n_sources)))
        for of_source in range(n_summaries)
    ]


def facts_of(source: str) -> Sequence[str]:
    """The facts of a source, as the scripted model lists them."""
    return sentences(source)[::_EVERY]


def label_of(fact: str, text: str) -> EntailmentLabel:
    """What the scripted model says: read off the text, without knowing how it was made."""
    if fact in text:
        return "entailed"
    return "contradicted" if _NUMBER.sub("#", fact) in _without_numbers(text) else "neutral"


def question(body: Mapping[str, Any]) -> str:
    """What a request asks, apart from the ids and numbers that change with every call."""
    prompt = parse_prompt(body)
    return json.dumps([prompt.kind, prompt.text, list(prompt.facts.values())])


@lru_cache(maxsize=4096)
def _without_numbers(text: str) -> str:
    return _NUMBER.sub("#", text)


def _source(number: int) -> tuple[str, tuple[str, ...]]:
    chance = random.Random(f"source {number}")  # noqa: S311 - nothing secret
    town = _STEMS[number % len(_STEMS)] + _ENDS[number // len(_STEMS) % len(_ENDS)]
    facts = tuple(
        fact.format(town=town, n=f"{chance.randrange(100, 90_000):,}", year=1800 + number % 200)
        for fact in _FACTS
    )
    lines: list[str] = []
    for fact in facts:
        lines += [fact, *(remark.format(town=town) for remark in chance.sample(_REMARKS, 2))]
    return " ".join(lines), facts


def _pair(number: int, source: str, facts: Sequence[str], of_source: int) -> Pair:
    chance = random.Random(f"summary {number} {of_source}")  # noqa: S311 - nothing secret
    chosen = chance.sample(facts, _N_KEPT + _N_DISTORTED)
    kept, distorted = chosen[:_N_KEPT], chosen[_N_KEPT:]
    lines = [*kept, *(_with_another_number(fact, chance) for fact in distorted)]
    chance.shuffle(lines)
    labels: dict[str, EntailmentLabel] = dict.fromkeys(facts, "neutral")
    labels.update(dict.fromkeys(kept, "entailed"))
    labels.update(dict.fromkeys(distorted, "contradicted"))
    return Pair(f"s{number:03}/{of_source}", source, " ".join(lines), labels)


def _with_another_number(fact: str, chance: random.Random) -> str:
    return _NUMBER.sub(f"{chance.randrange(100_000, 900_000):,}", fact, count=1)
