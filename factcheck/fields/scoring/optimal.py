"""Alignment of arrays by key, or optimally: the pairing of elements with the highest total F1.

If the F1 of pairs depends on a batch comparator, the pairs that may belong to the optimal pairing
are scored in rounds, each under a path of its own (`items[2|0]`), together with the pending fields
of the record.
"""

from __future__ import annotations

import functools
import logging
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from factcheck.fields.runs.records import count
from factcheck.fields.scoring.nodes import (
    MISSING,
    Align,
    ArrayNode,
    Node,
    Out,
    Pairing,
    by_position,
)
from factcheck.fields.types import FieldResult
from factcheck.fields.values import plain
from factcheck.stats.intervals import assign

if TYPE_CHECKING:
    from factcheck.fields.scoring.grid import Grid


class OptimalMatch:
    """Pairs elements so that the sum of F1 over all pairs is as high as possible."""

    def __init__(
        self, element: Node, threshold: float | None, weights: Mapping[str, float]
    ) -> None:
        self._element = element
        self.threshold = threshold or 0.0
        self.weights = weights

    def __call__(self, gold: Sequence[Any], extracted: Sequence[Any], _path: str) -> Pairing:
        if not gold or not extracted:
            return by_position(gold, extracted)
        grid = self.grid(gold, extracted)
        f1, undecided, _ = grid.outcome()
        f1[f1 < self.threshold] = 0.0
        return completed(assign(f1), undecided, f1.shape)

    def grid(self, gold: Sequence[Any], extracted: Sequence[Any]) -> Grid:
        from factcheck.fields.scoring.grid import Grid

        grid = Grid(len(gold), len(extracted), self.weights)
        grid.add(self._element, gold, extracted)
        return grid


def completed(partner: dict[int, int], undecided: Any, shape: tuple[int, int]) -> Pairing:
    """A pairing that also pairs elements that are left over, where nothing could be decided.

    Args:
        partner: The extracted partner of gold elements.
        undecided: More than 0 for each pair in which nothing could be scored, or nothing matched
            and a field could not be compared, and more the less is wrong in it; `None`: there is
            none. Their elements may be neither omitted nor hallucinated.
        shape: Number of gold and extracted elements.
    """
    if undecided is not None and len(partner) < min(shape):
        free = undecided.copy()
        free[list(partner)] = 0.0
        free[:, list(partner.values())] = 0.0
        partner = {**partner, **assign(free)}
    taken = set(partner.values())
    n, m = shape
    return Pairing(
        sorted(partner.items()),
        [i for i in range(n) if i not in partner],
        [j for j in range(m) if j not in taken],
    )


_PREFERENCE = 1e-6
"""By this share, F1 counts more for pairs that are scored, and for similar ones."""
_ROUNDING = 1e-9


class DeferredArray:
    """The search for the optimal pairing, in which only pairs that may belong to it are scored.

    A pair that is not scored yet has the F1 it would have if every pending field matched. Those of
    them that belong to the best pairing are scored, until it has none: since F1 only falls by that,
    no other pairing is better. Equally good pairings with fewer such pairs come first.
    """

    def __init__(
        self,
        match: OptimalMatch,
        node: ArrayNode,
        gold: Sequence[Any],
        extracted: Sequence[Any],
        path: str,
    ) -> None:
        self._node = node
        self._gold = gold
        self._extracted = extracted
        self._path = path
        self._least_f1 = match.threshold
        self._grid = match.grid(gold, extracted)
        self._f1, undecided, self._open = self._grid.outcome()
        self._f1[self._f1 < self._least_f1] = 0.0
        self._undecided = self._f1 * 0.0 if undecided is None else undecided
        self._weights = match.weights
        self._scored: dict[tuple[int, int], Out] = {}
        self._next: list[tuple[int, int]] = []
        self._pairing: Pairing | None = None

    @property
    def most(self) -> float:
        return self._grid.most_matched()

    def pending(self) -> list[list[FieldResult]]:
        while self._pairing is None:
            blocks = [block for pair in self._next for block in pending_in(self._scored[pair])]
            if blocks:
                return blocks
            failed = [self._close(pair) for pair in self._next]
            pairing = self._best()
            self._next = [pair for pair in pairing.pairs if self._open[pair]]
            if not self._next:
                self._pairing = pairing
            elif failed and all(failed):  # without verdicts, round after round would ask in vain
                self._next = list(
                    zip(*(axis.tolist() for axis in self._open.nonzero()), strict=True)
                )
            for i, j in self._next:
                out = self._scored[i, j] = []
                place = f"{self._path}[{i}|{j}]"
                self._node.element.pair(self._gold[i], self._extracted[j], place, out)
        return []

    def _close(self, pair: tuple[int, int]) -> bool:
        """Take the F1 of a scored pair; whether a batch comparator gave no verdict on it."""
        results = settled(self._scored[pair])
        self._scored[pair] = list(results)
        counts = count(results, self._weights)
        stake = counts.n_extracted + counts.n_gold
        f1 = 2 * counts.matched / stake if stake else 0.0
        failed = {result.status for result in results} & {"batch_error", "error"}
        self._open[pair] = False
        self._f1[pair] = f1 if f1 >= self._least_f1 else 0.0
        is_undecided = not stake or (bool(failed) and not counts.matched)
        self._undecided[pair] = is_undecided / (1 + stake)
        return "batch_error" in failed

    def _best(self) -> Pairing:
        preferred = 1 - self._open * (1 - self._similarity)
        partner = assign(self._f1 * (1 + _PREFERENCE * preferred))
        if not any(self._open[pair] for pair in partner.items()):
            best = assign(self._f1)
            if self._total(best) > self._total(partner) + _ROUNDING:
                partner = best
        return completed(partner, self._undecided, self._f1.shape)

    def _total(self, partner: Mapping[int, int]) -> float:
        return sum(float(self._f1[pair]) for pair in partner.items())

    @functools.cached_property
    def _similarity(self) -> Any:
        """Of the texts of each pair, in [0, 1]: which unscored pairs to score first."""
        from rapidfuzz.distance.Indel import normalized_similarity
        from rapidfuzz.process import cdist

        texts, others = (
            [str(plain(value))[:60].casefold() for value in side]
            for side in (self._gold, self._extracted)
        )
        return cdist(texts, others, scorer=normalized_similarity)

    def settle(self) -> list[FieldResult]:
        self.pending()  # nothing is, but without any the pairing is still to be found
        node, path, pairing = self._node, self._path, cast("Pairing", self._pairing)
        results: Out = []
        for i, j in pairing.pairs:
            place = f"{path}[{i}]"
            if (i, j) not in self._scored:
                node.element.pair(self._gold[i], self._extracted[j], place, results)
            n_prefix = len(f"{path}[{i}|{j}]")
            for result in cast("list[FieldResult]", self._scored.get((i, j), ())):
                result.path = f"{place}{result.path[n_prefix:]}"
                results.append(result)
        rest = Pairing([], pairing.gold_only, pairing.extracted_only)
        node.score(self._gold, self._extracted, rest, path, results)
        return cast("list[FieldResult]", results)


def settled(out: Out) -> list[FieldResult]:
    if all(type(entry) is FieldResult for entry in out):
        return cast("list[FieldResult]", out)
    results: list[FieldResult] = []
    for entry in out:
        results += [entry] if isinstance(entry, FieldResult) else entry.settle()
    return results


def pending_in(out: Out) -> list[list[FieldResult]]:
    """The pending results of a pair of elements, and then of pairs in its arrays."""
    own = [entry for entry in out if isinstance(entry, FieldResult) and entry.status == "pending"]
    blocks = [own] if own else []
    for entry in out:
        if not isinstance(entry, FieldResult):
            blocks += entry.pending()
    return blocks


_log = logging.getLogger("factcheck.fields")


def by_key(key_of: Callable[[Any], Any]) -> Align:
    """Pairs elements with equal keys; of several with the same key, the first."""
    has_warned = False

    def align(gold: Sequence[Any], extracted: Sequence[Any], path: str) -> Pairing:
        nonlocal has_warned
        free: dict[Any, int] = {}
        unkeyed = []
        for place, element in enumerate(extracted):
            key = key_of(element)
            if key is MISSING or key in free:
                unkeyed.append(place)
            else:
                free[key] = place
        n_unkeyed = len(unkeyed)
        pairs, gold_only = [], []
        for place, element in enumerate(gold):
            key = key_of(element)
            n_unkeyed += key is MISSING
            if key is not MISSING and key in free:
                pairs.append((place, free.pop(key)))
            else:
                gold_only.append(place)
        if n_unkeyed and not has_warned:
            has_warned = True
            _log.warning(
                "%s: %d elements have no unique key and stay unmatched, here and in later records",
                path,
                n_unkeyed,
            )
        return Pairing(pairs, gold_only, [*free.values(), *unkeyed], in_gold_order=True)

    return align


def as_key(value: Any) -> Any:
    """What an element is found by: `1` equals `1.0`, and not `True`; `MISSING` if it is no key."""
    if value is None or isinstance(value, bool):
        return type(value), value
    if isinstance(value, float):
        return MISSING if math.isnan(value) else value
    return value if isinstance(value, (str, int)) else MISSING
