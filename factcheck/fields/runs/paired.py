"""Paired statistics: whether two runs differ by more than chance explains.

Intervals are by the paired bootstrap: both runs are scored on the same resamples of the records.

Tests are by paired randomization: if the runs do not differ, each record might as well have had
its two results the other way round, so a coin is tossed for each; for few records, each way to toss
is taken once. Unlike a p-value read off the bootstrap, this keeps its level for a handful of
records, and for fields in which few records differ: of five, no test can say less than 1 in 16.

Among many fields some differ by chance. The adjusted p-value of a field is how often chance gives
so large a difference to any of the fields that are not clearer, each difference being measured by
its own spread (step-down maximum). As it comes from the same coins, it knows which fields go
together, and asks no more of a field because there are many that hardly ever differ.

Source:
    Bootstrap: Efron and Tibshirani (1993). Randomization: Noreen (1989); for F1, Yeh (2000).
    Step-down maximum: Westfall and Young (1993), algorithm 4.1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

import numpy as np

from factcheck.fields.runs.bootstrap import middle
from factcheck.fields.runs.comparison import Difference
from factcheck.fields.runs.resampling import (
    Figures,
    Matrix,
    coins,
    drawn,
    field_figures,
    numbered_fields,
    overall_figures,
)
from factcheck.fields.runs.results import RecordResult
from factcheck.stats import Interval

_NEGLIGIBLE = 1e-9
"""Smaller differences are rounding."""


def overall_differences(
    a: Sequence[RecordResult], b: Sequence[RecordResult], n_resamples: int, seed: int
) -> dict[str, Difference]:
    """The means and the micro scores of two runs over the same records, in the same order."""
    found, _ = _compared(overall_figures(a), overall_figures(b), n_resamples, seed)
    return found


def field_differences(
    a: Sequence[RecordResult],
    b: Sequence[RecordResult],
    n_resamples: int,
    seed: int,
    *,
    without: Collection[str] = (),
) -> dict[str, Difference]:
    """The F1 of each field that counts in either run, adjusted for the number of fields.

    Args:
        a: The records of one run.
        b: Those of the other, in the same order.
        n_resamples: Resamples of the records, and randomizations.
        seed: Equal seeds give equal numbers.
        without: Fields that are left out.
    """
    rows = numbered_fields(a, b, without=without)
    found: dict[str, Difference] = {}
    names: list[str] = []
    chances: list[Matrix] = []
    spreads: list[Matrix] = []
    for some_of_a, some_of_b in zip(field_figures(a, rows), field_figures(b, rows), strict=True):
        some, by_chance = _compared(some_of_a, some_of_b, n_resamples, seed)
        found |= some
        # Where at most one record differs, no coin changes the size of the difference.
        varies = np.ptp(np.abs(by_chance), axis=1) > _NEGLIGIBLE
        names += [name for name, can_differ in zip(some, varies, strict=True) if can_differ]
        chances.append(by_chance[varies])
        spreads.append(_spread(some_of_a, some_of_b, by_chance)[varies])
    p_values: dict[str, float] = {}
    if names:
        spread = np.concatenate(spreads)
        sizes = np.abs([found[name].difference for name in names]) / spread
        p_values = dict(zip(names, _step_down(sizes, np.vstack(chances), spread), strict=True))
    return {
        name: replace(difference, p_adjusted=p_values.get(name, 1.0))
        for name, difference in found.items()
    }


def _compared(
    a: Figures, b: Figures, n_resamples: int, seed: int
) -> tuple[dict[str, Difference], Matrix]:
    """The differences by name, and those that chance gives, as rows in the same order."""
    n = a.matrix.shape[1]
    everyone = np.ones((n, 1))
    scores_a, scores_b = a.of(everyone)[:, 0], b.of(everyone)[:, 0]
    by_chance = np.hstack(list(_with_coins(a, b, n_resamples, seed)))
    if n > 1:
        intervals = middle(b.of(draws) - a.of(draws) for draws in drawn(n, n_resamples, seed))
    else:
        intervals = [Interval(-1.0, 1.0)] * len(scores_a)
    differences = scores_b - scores_a
    p_values = [_p_value(*row) for row in zip(np.abs(differences), np.abs(by_chance), strict=True)]
    rows = zip(scores_a, scores_b, differences, intervals, p_values, p_values, strict=True)
    return {
        name: Difference(float(own), float(other), float(change), *rest)
        for name, (own, other, change, *rest) in zip(a.names, rows, strict=True)
    }, by_chance


def _with_coins(a: Figures, b: Figures, n_resamples: int, seed: int) -> Iterator[Matrix]:
    """The differences if a coin says of each record which run has which of its two results."""
    records = np.unique((a.matrix != b.matrix).nonzero()[1])
    n = a.matrix.shape[1]
    equal = np.ones(n, dtype=bool)
    equal[records] = False
    rest = np.asarray(a.matrix[:, equal].sum(axis=1)).reshape(-1, 1)
    of_a, of_b = a.matrix[:, records], b.matrix[:, records]
    for tossed in coins(n, n_resamples, seed):
        coin = tossed[records]
        as_a = rest + (of_a @ (1 - coin) + of_b @ coin)
        as_b = rest + (of_b @ (1 - coin) + of_a @ coin)
        yield b.scores(as_b) - a.scores(as_a)


def _p_value(size: float, by_chance: Matrix) -> float:
    """How often chance gives at least this size, the observed case being one of the cases."""
    limit = size * (1 - _NEGLIGIBLE) if size > _NEGLIGIBLE else 0.0
    n_smaller = int(np.count_nonzero(by_chance < limit))
    return (1 + len(by_chance) - n_smaller) / (1 + len(by_chance))


def _spread(a: Figures, b: Figures, by_chance: Matrix) -> Matrix:
    """The standard deviation that coins give the difference of each field.

    F1 is twice what is matched, over what is found and wanted. Taken is the linear part of its
    difference, since no toss changes that, so that equal fields have equal spreads. Where nothing
    is ever matched there is no such part, and it is what the tosses have.
    """
    both, change = a.matrix + b.matrix, b.matrix - a.matrix
    matched = both[0::3].sum(axis=1)
    stake = (both[1::3] + both[2::3]).sum(axis=1)
    ratio = np.asarray(matched / stake).reshape(-1, 1)
    influence = change[0::3] - (change[1::3] + change[2::3]).multiply(ratio)
    linear = 4 * np.sqrt(np.asarray(influence.multiply(influence).sum(axis=1))) / stake
    spread: Matrix = np.where(matched == 0, np.sqrt(np.mean(by_chance**2, axis=1)), linear)
    return spread


def _step_down(sizes: Matrix, by_chance: Matrix, spread: Matrix) -> list[float]:
    """Adjusted p-values of the fields, which are the rows; sizes are in units of their spread."""
    clearest_first = np.argsort(-sizes, kind="stable")
    adjusted = np.ones(len(sizes))
    largest = np.zeros(by_chance.shape[1])
    for row in reversed(clearest_first):
        largest = np.maximum(largest, np.abs(by_chance[row]) / spread[row])
        adjusted[row] = _p_value(sizes[row], largest)
    adjusted[clearest_first] = np.maximum.accumulate(adjusted[clearest_first])
    return [float(p_value) for p_value in adjusted]
