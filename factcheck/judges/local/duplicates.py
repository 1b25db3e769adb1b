"""Facts that say the same thing twice, and which of them to keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from factcheck.facts import AtomicFact
from factcheck.judges.local.tree import WORDS
from factcheck.runtime.deadline import checkpoint
from factcheck.text.words import guess_language, words

_SCOPE_WORDS = WORDS["reporting"] | WORDS["qualifying"]
"""Words after which something is said, believed or tried rather than so, or that limit it."""


class _Bag(NamedTuple):
    stems: dict[str, None]
    """Content words and numbers, in order."""
    scope: list[str]
    """Negations, and words that make a statement less than so: what must be the same."""


def drop_near_duplicates(facts: Sequence[AtomicFact]) -> tuple[AtomicFact, ...]:
    """Drop the facts that another one says as well.

    A fact is a near-duplicate if another one has all of its content words and numbers, in the same
    order but for a phrase moved from one end to the other (`In 2019, ...`), and the same negations
    and words of doubt. Of two, the longer one is kept; of equals the first.

    Returns:
        The kept facts, in the given order.
    """
    language = guess_language(" ".join(fact.text for fact in facts))
    bags = [_bag(fact.text, language) for fact in facts]
    kept: set[int] = set()
    holders: dict[str, set[int]] = {}
    for index in sorted(
        range(len(facts)), key=lambda i: (-len(bags[i].stems), -len(facts[i].text))
    ):
        checkpoint()
        bag = bags[index]
        having = [holders.get(stem, set()) for stem in bag.stems] or [kept]
        if not any(_says(bags[other], bag) for other in set.intersection(*having)):
            kept.add(index)
            for stem in bag.stems:
                holders.setdefault(stem, set()).add(index)
    return tuple(fact for index, fact in enumerate(facts) if index in kept)


def _bag(text: str, language: str) -> _Bag:
    found = words(text, language)
    stems = [word.stem for word in found if word.kind in {"content", "number"}]
    scope = [
        word.stem
        for word in found
        if word.kind == "negation" or (word.text if word.start else word.form) in _SCOPE_WORDS
    ]
    return _Bag(dict.fromkeys(stems), sorted(scope))


def _says(other: _Bag, bag: _Bag) -> bool:
    """Whether `other`, which has the words of `bag`, has them in its order and scope."""
    places = {stem: place for place, stem in enumerate(other.stems)}
    order = [places[stem] for stem in bag.stems if stem in places]
    turns = sum(one > two for one, two in zip(order, order[1:] + order[:1], strict=True))
    return bag.scope == other.scope and turns <= 1
