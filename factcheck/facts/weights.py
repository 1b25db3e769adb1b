"""Weights of facts by their place in the source."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal, get_args

from factcheck.documents import shown
from factcheck.errors import InputError
from factcheck.facts.groups import root_ids
from factcheck.facts.model import FactSet

Weighting = Literal["equal", "lead"]
"""`lead`: what stands first weighs most, as in news."""
_HALF = 10
"""Number of statements after which a weight has fallen to half."""


def require_weighting(value: Weighting) -> Weighting:
    """Return a valid weighting; raises `InputError` for others."""
    if value not in get_args(Weighting):
        raise InputError(f"weights {shown(value)} is not one of {', '.join(get_args(Weighting))}")
    return value


def weigh(facts: FactSet, weighting: Weighting) -> FactSet:
    """Weight extracted facts; those that have a weight already keep it.

    With `lead`, the n-th statement (from 0) weighs 1 / (1 + n / 10), and its details share that
    with it. `benchmarks/decomposition` says how this agrees with people on news and on other texts.
    """
    if weighting == "equal":
        return facts
    roots = list(root_ids(facts).values())
    order = {root: place for place, root in enumerate(dict.fromkeys(roots))}
    sizes = {root: roots.count(root) for root in order}
    weighed = [
        replace(fact, weight=1 / (1 + order[root] / _HALF) / sizes[root])
        if fact.weight == 1.0
        else fact
        for fact, root in zip(facts, roots, strict=True)
    ]
    return replace(facts, facts=tuple(weighed))
