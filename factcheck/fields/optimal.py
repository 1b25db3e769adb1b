"""Optimal alignment of arrays, with the highest total F1, and rounds of batch comparators.

If the F1 of pairs depends on a batch comparator or on nested arrays, pairs that may belong to the
optimal alignment are scored in rounds, under paths such as `items[2|0]`, together with the pending
fields of the record, in as few calls as possible.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from factcheck.errors import Failure, describe
from factcheck.fields.grid import Grid, first_equal
from factcheck.fields.nodes import ArrayNode, Leaf, Out, Pairs, direct_in, nested_in, settled
from factcheck.fields.records import count
from factcheck.fields.schemas import schema_path
from factcheck.fields.types import BatchItem, FieldResult, UndecidableError, outcome_of
from factcheck.fields.values import plain, value_key
from factcheck.reports.text import plural
from factcheck.stats.intervals import assign
from factcheck.stats.resampling import NEGLIGIBLE

_PREFERENCE = 1e-6
"""Relative bonus in F1 for pairs that are scored, or else similar, to break ties."""
_MAX_SCORED = 20_000
"""Approximate maximum number of distinct pairs that are scored in rounds, including those of nested
arrays: all of 141 by 141 elements."""
_log = logging.getLogger("factcheck.fields")


class OptimalArray:
    """Search for the alignment with the highest total F1.

    A pair with fields for a batch comparator or with nested arrays is open: its F1 is an upper
    bound. Each round scores the open pairs of the best alignment, until it has none; scoring only
    lowers F1, so no other alignment is better then. Ties go to alignments with fewer open pairs.
    Pairs of equal elements are scored once. After 20,000 pairs the search ends with a warning.
    """

    def __init__(
        self,
        min_f1: float,
        weights: Mapping[str, float],
        node: ArrayNode,
        gold: list[Any],
        extracted: list[Any],
        path: str,
    ) -> None:
        self._node, self._gold, self._extracted, self._path = node, gold, extracted, path
        self._min_f1, self._weights = min_f1, weights
        grid = Grid(node.element, gold, extracted, weights)
        self._f1, self._undecided = grid.f1()
        self._f1[self._f1 < min_f1] = 0.0
        self._open = grid.open > 0
        self._scored: dict[tuple[int, int], Out] = {}
        self._pairs: Pairs = []
        self.is_open = bool(self._open.any())
        """Whether any pair was open at the start."""
        if self.is_open:
            self._first = [np.array(first_equal(side)) for side in (gold, extracted)]
            self._rounds = self._search()
        else:
            self._pairs = self._completed(assign(self._f1))

    def pending(self) -> list[list[FieldResult]]:
        """Return the fields to score next, by pair of elements; empty when the search is over."""
        return next(self._rounds, [])

    def _search(self) -> Iterator[list[list[FieldResult]]]:
        n_asked, width = 0, 1  # width: most pairs per element in a round, doubled while none match
        failed: list[bool] = []
        is_hopeless = False
        while True:
            pairs = self._best()
            chosen = self._open_among(pair for pair in pairs if min(pair) >= 0)
            work = max(len(self._scored), n_asked, 1)
            room = (_MAX_SCORED - work) * max(len(self._scored), 1) // work
            if chosen and room <= 0:
                pairs, chosen = self._given_up(), []
            if not chosen:
                self._pairs = pairs
                return
            if failed and all(failed):  # score all remaining pairs in one last round
                chosen = self._open_among(zip(*self._open.nonzero(), strict=True))
            elif is_hopeless:
                chosen = self._open_among([*chosen, *self._wider(pairs, width)])
            chosen = chosen[:room]
            for i, j in chosen:
                out = self._scored[i, j] = []
                place = f"{self._path}[{i}|{j}]"
                self._node.element.score(self._gold[i], self._extracted[j], place, out)
            while blocks := self._blocks(chosen):
                n_asked += len(blocks)
                yield blocks
            hoped = [self._f1[pair] for pair in chosen]
            failed = [self._close(pair) for pair in chosen]
            is_hopeless = all(
                self._f1[pair] < hope for pair, hope in zip(chosen, hoped, strict=True)
            )
            width = 2 * width if is_hopeless else 1
            for cells in (self._f1, self._undecided, self._open):
                cells[:] = cells[np.ix_(*self._first)]

    def _blocks(self, pairs: Pairs) -> list[list[FieldResult]]:
        """Return the pending fields of each pair, and those of the arrays in it."""
        blocks = []
        for pair in pairs:
            blocks += [direct_in(self._scored[pair]), *nested_in(self._scored[pair])]
        return [block for block in blocks if block]

    def _open_among(self, pairs: Iterable[tuple[int, int]]) -> Pairs:
        """Return the open ones of some pairs; the first equal elements stand for all."""
        rows, columns = self._first
        is_open = (pair for pair in pairs if self._open[pair])
        return list(dict.fromkeys((int(rows[i]), int(columns[j])) for i, j in is_open))

    def _given_up(self) -> Pairs:
        """Return the best alignment of the pairs that are not open."""
        _log.warning(
            "%s: %d and %d elements were aligned after %d of their pairs; the others count as "
            "different, so F1 may be too low; a key, or fields compared exactly, tell them apart",
            schema_path(self._path),
            *self._f1.shape,
            len(self._scored),
        )
        self._f1[self._open] = self._undecided[self._open] = 0.0
        self._open[:] = False
        return self._best()

    def _close(self, pair: tuple[int, int]) -> bool:
        """Update F1 with a scored pair; return whether a batch comparator gave no verdict on it."""
        results = settled(self._scored[pair])
        self._scored[pair] = list(results)
        counts = count(results, self._weights)
        stake = counts.n_extracted + counts.n_gold
        f1 = 2 * counts.matched / stake if stake else 0.0
        failed = {result.status for result in results} & {"batch_error", "error"}
        self._open[pair] = False
        self._f1[pair] = f1 if f1 >= self._min_f1 else 0.0
        is_undecided = not stake or (bool(failed) and not counts.matched)
        self._undecided[pair] = is_undecided / (1 + stake)
        return "batch_error" in failed

    def _wider(self, pairs: Pairs, width: int) -> Pairs:
        """Return the most similar pairs of each element without a scored partner."""
        rows = [i for i, j in pairs if i >= 0 and (j < 0 or self._open[i, j])]
        columns = [j for i, j in pairs if j >= 0 and (i < 0 or self._open[i, j])]
        distance = -(self._open * (1 + self._similarity))[np.ix_(rows, columns)]
        by_row = np.argsort(distance, axis=1, kind="stable")[:, :width]
        by_column = np.argsort(distance, axis=0, kind="stable")[:width]
        wider = {(i, columns[k]) for i, some in zip(rows, by_row, strict=True) for k in some}
        return sorted(
            wider
            | {(rows[k], j) for j, some in zip(columns, by_column.T, strict=True) for k in some}
        )

    def _best(self) -> Pairs:
        preferred = 1 - self._open * (1 - self._similarity)
        partner = assign(self._f1 * (1 + _PREFERENCE * preferred))
        if not any(self._open[pair] for pair in partner.items()):
            best = assign(self._f1)
            if self._total(best) > self._total(partner) + NEGLIGIBLE:
                partner = best
        return self._completed(partner)

    def _total(self, partner: dict[int, int]) -> float:
        return sum(float(self._f1[pair]) for pair in partner.items())

    def _completed(self, partner: dict[int, int]) -> Pairs:
        """Align remaining elements of undecided pairs, and add those without partner.

        Elements of undecided pairs may be neither omissions nor hallucinations.
        """
        n, m = self._f1.shape
        if len(partner) < min(n, m) and self._undecided.any():
            free = self._undecided.copy()
            free[list(partner)] = 0.0
            free[:, list(partner.values())] = 0.0
            partner = {**partner, **assign(free)}
        taken = set(partner.values())
        without = [(i, -1) for i in range(n) if i not in partner]
        return [*sorted(partner.items()), *without, *((-1, j) for j in range(m) if j not in taken)]

    @functools.cached_property
    def _similarity(self) -> Any:
        """Text similarity of each pair, in [0, 1]; decides which open pairs are scored first."""
        from rapidfuzz.distance.Indel import normalized_similarity
        from rapidfuzz.process import cdist

        texts, others = map(_beginning, self._gold), map(_beginning, self._extracted)
        return cdist([*texts], [*others], scorer=normalized_similarity, dtype=np.float64)

    def report(self, out: Out) -> None:
        """Append the results, once nothing is pending."""
        if self.is_open:
            self.pending()  # ends the search if no field was ever pending
        node, path, pairs = self._node, self._path, self._pairs
        n_matched = sum(min(pair) >= 0 for pair in pairs) if self._scored else 0
        for i, j in pairs[:n_matched]:
            place = f"{path}[{i}]"
            first = int(self._first[0][i]), int(self._first[1][j])
            if first not in self._scored:
                node.element.score(self._gold[i], self._extracted[j], place, out)
            n_prefix = len(f"{path}[{first[0]}|{first[1]}]")
            for result in settled(self._scored.get(first, [])):
                out.append(replace(result, path=f"{place}{result.path[n_prefix:]}"))
        node.score_pairs(self._gold, self._extracted, pairs[n_matched:], path, out)


def _beginning(value: Any) -> str:
    """Return the beginning of the text of a value."""
    return str(plain(value))[:60].casefold()


def dispatch(records: Sequence[Out], leaves: Mapping[str, Leaf]) -> None:
    """Score every pending field, round by round until all arrays are aligned.

    Equal pairs of array elements are scored once.
    """
    first_of: dict[Hashable, list[FieldResult]] = {}
    blocks = [(place, direct_in(out), False) for place, out in enumerate(records)]
    while True:
        for place, out in enumerate(records):
            blocks += [(place, block, True) for block in nested_in(out)]
        if not any(block for _, block, _ in blocks):
            return
        calls: dict[tuple[int, str], list[FieldResult]] = {}
        copies: list[tuple[FieldResult, FieldResult]] = []
        for place, block, is_in_array in blocks:
            for name in dict.fromkeys(result.comparator for result in block):
                results = [result for result in block if result.comparator == name]
                batch = leaves[schema_path(results[0].path)].batch
                takes_many_records = getattr(batch, "across_records", False) is True
                call = (-1 if takes_many_records else place, name)
                if is_in_array:
                    first = first_of.setdefault((call, *map(_question, results)), results)
                    if first is not results:
                        copies += zip(results, first, strict=True)
                        continue
                calls.setdefault(call, []).extend(results)
        for (_, name), results in calls.items():
            _score(name, results, leaves)
        for copy, result in copies:
            copy.status, copy.score, copy.reason = result.status, result.score, result.reason
            copy.doubtful = result.doubtful
        blocks = []


def _question(result: FieldResult) -> Hashable:
    compared = value_key(result.gold_compared), value_key(result.extracted_compared)
    return schema_path(result.path), *compared


def _score(name: str, results: list[FieldResult], by_path: Mapping[str, Leaf]) -> None:
    """Ask a comparator about pending fields; those without an answer are batch errors."""
    leaves = [by_path[schema_path(result.path)] for result in results]
    items = [
        BatchItem(
            result.path,
            result.gold_value,
            result.extracted_value,
            result.gold_compared,
            result.extracted_compared,
            params=leaf.params,
            schema_path=leaf.path,
            description=leaf.description,
        )
        for result, leaf in zip(results, leaves, strict=True)
    ]
    answers = _answers(name, leaves[0].batch, items)
    for answer, result, leaf in zip(answers, results, leaves, strict=True):
        if isinstance(answer, Failure):
            result.status, result.reason = "batch_error", answer.message
            continue
        result.reason = getattr(answer, "reason", None)
        if getattr(answer, "skip", False) or getattr(answer, "status", "") == "skipped":
            result.status = "skipped"
            continue
        try:
            result.score, _ = outcome_of(answer)
            result.status = "match" if result.score >= leaf.threshold else "mismatch"
            result.doubtful = getattr(answer, "doubtful", False) is True
        except UndecidableError as error:
            result.status = "error" if hasattr(answer, "score") else "batch_error"
            result.reason = f"comparator {name!r}: {error}"


def _answers(name: str, comparator: Any, items: list[BatchItem]) -> list[Any]:
    """Return one answer per item, a failure for an item without one."""
    n, answers = len(items), []
    reason = f"the comparator {name!r} gave no verdict"
    try:
        answers = comparator(items)
    except Exception as error:  # noqa: BLE001 - the user's code
        reason = f"comparator {name!r}: {describe(error)}"
        _log.warning("%s (%s)", reason, plural(n, "field"))
    if not isinstance(answers, list):
        reason = f"the comparator {name!r} returned {type(answers).__name__}, not a list"
        answers = []
    if len(answers) > n:
        _log.warning("the comparator %r returned %d answers too many", name, len(answers) - n)
    missing = Failure(None, "missing", reason)
    answers = [missing if answer is None else answer for answer in answers[:n]]
    return answers + [missing] * (n - len(answers))
