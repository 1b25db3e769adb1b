"""Facts that say the same thing twice, and which of them to keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from factcheck.facts import AtomicFact
from factcheck.judges.local.cancellation import checkpoint
from factcheck.judges.local.grammar import WORDS
from factcheck.text.language import guess_language
from factcheck.text.reading import read
from factcheck.text.words import rarity

_CONTAINED = 0.9
"""Share of a fact's rarity that another one must hold to make it a near-duplicate."""

_SCOPE_WORDS = WORDS["reporting"] | WORDS["qualifying"]
"""Words after which something is said, believed or tried rather than so, or that limit it."""


class _Bag(NamedTuple):
    weights: dict[str, float]
    """Rarity of each content word and number, by stem, in the order of the text."""
    total: float
    exact: set[str]
    """Numbers, and words with a capital: what may not differ at all."""
    scope: list[str]
    """Negations, and words that make a statement less than so: what must be the same."""


def drop_near_duplicates(facts: Sequence[AtomicFact]) -> tuple[AtomicFact, ...]:
    """The facts without those that another one says as well.

    A fact is a near-duplicate if nearly all of its content words are in another fact, and all of
    its numbers and names, in the same order but for a phrase moved from one end to the other
    (`In 2019, ...`). Of two, the one with more information is kept; of
    equals the first. Facts that differ in a number, a name or a negation, or of which one only
    reports or supposes what the other states, are never duplicates of each other.

    Returns:
        The kept facts, in the given order.
    """
    language = guess_language(" ".join(fact.text for fact in facts))
    bags = [_bag(fact.text, language) for fact in facts]
    by_information = sorted(
        range(len(facts)), key=lambda i: (-round(bags[i].total, 6), -len(facts[i].text), i)
    )
    kept: set[int] = set()
    holders: dict[str, list[int]] = {}
    for index in by_information:
        checkpoint()
        bag = bags[index]
        if not any(_says(bags[other], bag) for other in _possible_holders(bag, holders)):
            kept.add(index)
            for stem in bag.weights:
                holders.setdefault(stem, []).append(index)
    return tuple(fact for index, fact in enumerate(facts) if index in kept)


def _bag(text: str, language: str) -> _Bag:
    found = read(text, language)
    told = [word for word in found.words if word.kind in {"content", "number"}]
    weights = {word.stem: rarity(word.form, language) for word in told}
    exact = {word.stem for word in told if word.kind == "number" or word.text[0].isupper()}
    scope = [
        word.stem
        for word in found.words
        if word.kind == "negation" or (word.text if word.start else word.form) in _SCOPE_WORDS
    ]
    return _Bag(weights, sum(weights.values()), exact, sorted(scope))


def _possible_holders(bag: _Bag, holders: dict[str, list[int]]) -> list[int]:
    """Kept facts that may say what `bag` says: those with one of the words it cannot spare."""
    possible: dict[int, None] = {}
    spare = (1 - _CONTAINED) * bag.total
    for stem in sorted(bag.weights, key=lambda stem: len(holders.get(stem, ()))):
        possible.update(dict.fromkeys(holders.get(stem, ())))
        spare -= bag.weights[stem]
        if spare < 0:
            break
    return list(possible)


def _says(other: _Bag, bag: _Bag) -> bool:
    """Whether `other` says what `bag` says."""
    shared = [stem for stem in bag.weights if stem in other.weights]
    if sum(bag.weights[stem] for stem in shared) < _CONTAINED * bag.total:
        return False
    if bag.scope != other.scope or not bag.exact <= other.weights.keys():
        return False
    places = {stem: place for place, stem in enumerate(other.weights)}
    order = [places[stem] for stem in shared]
    return sum(one > two for one, two in zip(order, order[1:] + order[:1], strict=True)) <= 1
