"""Facts with their details: shown on one line, checked in one batch, weighed together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

from factcheck.facts.model import AtomicFact, CheckResult, FactSet, root_ids

Weighting = Literal["equal", "lead"]
"""`lead`: what stands first weighs most, as in news."""
_HALF = 10
"""Number of statements after which a weight has fallen to half."""


class Group(NamedTuple):
    """The result of a fact, and those of the facts that add a detail to it."""

    core: CheckResult
    details: tuple[CheckResult, ...] = ()
    apart: tuple[CheckResult, ...] = ()
    """Details with a line of their own in reports; see `group_results`."""


def group_results(results: Iterable[CheckResult], *, are_claims: bool = False) -> tuple[Group, ...]:
    """Group results by core, in the order of the cores; a fact without a known core stands alone.

    A detail of a detail belongs to the group of that one's core. Apart are lost `must` details,
    those distorted alone, and those of supported claims, which no report lists.
    """
    by_id = {result.fact.id: result for result in results}
    groups = []
    for root, members in _by_root(result.fact for result in by_id.values()).items():
        core = by_id[root]
        details = (by_id[fact.id] for fact in members if fact.id != root)
        is_listed = not (are_claims and core.supported)
        within: list[CheckResult] = []
        apart: list[CheckResult] = []
        for one in details:
            side = apart if not is_listed or _is_apart(one, core) else within
            side.append(one)
        groups.append(Group(core, tuple(within), tuple(apart)))
    return tuple(groups)


def _is_apart(detail: CheckResult, core: CheckResult) -> bool:
    is_distorted = detail.label == "contradicted" and core.label != "contradicted"
    return is_distorted or (detail.fact.must and not detail.supported)


def _by_root(facts: Iterable[AtomicFact]) -> dict[str, list[AtomicFact]]:
    """Group facts by the id of the one that they add to in the end."""
    listed = list(facts)
    roots = root_ids(listed)
    groups: dict[str, list[AtomicFact]] = {}
    for fact in listed:
        groups.setdefault(roots[fact.id], []).append(fact)
    return groups


def batches(facts: Iterable[AtomicFact], size: int) -> list[tuple[AtomicFact, ...]]:
    """Split facts into batches of up to `size`; a fact and its details are never apart.

    A fact with more details than that has a batch of its own.
    """
    found: list[tuple[AtomicFact, ...]] = []
    batch: list[AtomicFact] = []
    for group in _by_root(facts).values():
        if batch and len(batch) + len(group) > size:
            found.append(tuple(batch))
            batch = []
        batch += group
    return [*found, tuple(batch)] if batch else found


def added_words(core: str, detail: str) -> str:
    """Return what a detail adds to its core: `in May` for `It sank.` and `It sank in May.`.

    A detail that lacks a word of its core, as after a change by hand, is returned as a whole.
    """
    one, other = core.rstrip(".").split(), detail.rstrip(".").split()
    matcher = SequenceMatcher(None, _bare(one), _bare(other), autojunk=False)
    parts = []
    for kind, _, _, start, end in matcher.get_opcodes():
        if kind in ("replace", "delete"):
            return detail
        if kind == "insert":
            parts.append(" ".join(other[start:end]))
    text = " … ".join(parts).strip(" ,;:")
    if other and text.startswith(other[0]) and one[:1] != other[:1]:
        text = text[0].lower() + text[1:]
    return text or detail


def _bare(words: Sequence[str]) -> list[str]:
    return [word.lower().strip(",;:.") for word in words]


def weigh(facts: FactSet, weighting: Weighting) -> FactSet:
    """Weight extracted facts; those that have a weight already keep it.

    With `lead`, the n-th statement (from 0) weighs 1 / (1 + n / 10), and its details share that
    with it. `benchmarks/decomposition` says how this agrees with people on news and on other texts.
    """
    if weighting == "equal":
        return facts
    weights: dict[str, float] = {}
    for place, members in enumerate(_by_root(facts).values()):
        for fact in members:
            weights[fact.id] = 1 / (1 + place / _HALF) / len(members)
    weighed = []
    for fact in facts:
        is_free = fact.weight == 1.0
        weighed.append(replace(fact, weight=weights[fact.id]) if is_free else fact)
    return replace(facts, facts=tuple(weighed))
