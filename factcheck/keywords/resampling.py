"""95 % intervals by resampling cases: the percentile bootstrap.

Cases are drawn with replacement, as many as there are, and every resample is scored as a run; the
interval holds the middle 95 % of these scores. Cards of one case are never torn apart, since they
are not independent. The intervals are too narrow for fewer than about twenty cases, and where all
cases are equal they have no width at all.

Source:
    Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from factcheck.errors import InputError
from factcheck.keywords.results import CaseResult
from factcheck.stats import Interval

Matrix = np.ndarray[Any, np.dtype[np.float64]]
CARD_MEASURES = tuple(
    f"{kind}_{name}"
    for kind in ("macro", "micro")
    for name in ("recall", "precision", "f1", "average_similarity")
)
_TAILS = (0.025, 0.975)
_MOST_NUMBERS = 4_000_000
"""Numbers in an array of draws: 32 MB."""


@dataclass(frozen=True)
class Figures:
    """What the scores of cases are made of."""

    names: Sequence[str]
    matrix: Matrix
    """Cases by figures."""
    scores: Callable[[Matrix], Matrix]
    """From sums of the figures, one row a resample, to the scores; NaN where there is none."""

    def of_all(self) -> dict[str, float | None]:
        """The scores of all cases, each drawn once; `None` where there is none."""
        values = self.scores(self.matrix.sum(axis=0, keepdims=True))[0]
        return {
            name: None if np.isnan(value) else float(value)
            for name, value in zip(self.names, values, strict=True)
        }


def intervals(figures: Figures, n_resamples: int, seed: int) -> dict[str, Interval]:
    """The interval of each score; (0, 1) where there are fewer than two cases.

    Raises:
        InputError: An argument cannot be used.
    """
    check_settings(n_resamples, seed)
    if len(figures.matrix) < 2:  # noqa: PLR2004 - one case says nothing about another
        return dict.fromkeys(figures.names, Interval(0.0, 1.0))
    scores = (figures.scores(_sums(draws, figures)) for draws in _drawn(figures, n_resamples, seed))
    return _middle(figures.names, scores, Interval(0.0, 1.0))


def difference_intervals(
    a: Figures, b: Figures, n_resamples: int, seed: int
) -> dict[str, Interval]:
    """The interval of each score of `b` less that of `a`, over the same cases in the same order.

    Both are scored on the same resamples; (-1, 1) where there are fewer than two cases.

    Raises:
        InputError: An argument cannot be used.
    """
    check_settings(n_resamples, seed)
    if len(a.matrix) < 2:  # noqa: PLR2004 - one case says nothing about another
        return dict.fromkeys(a.names, Interval(-1.0, 1.0))
    differences = (
        b.scores(_sums(draws, b)) - a.scores(_sums(draws, a))
        for draws in _drawn(a, n_resamples, seed)
    )
    return _middle(a.names, differences, Interval(-1.0, 1.0))


def check_settings(n_resamples: int, seed: int) -> None:
    """Both can be used.

    Raises:
        InputError: One cannot.
    """
    for name, value, least in (("n_resamples", n_resamples, 1), ("seed", seed, 0)):
        if not isinstance(value, int) or isinstance(value, bool) or value < least:
            raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")


def card_figures(cases: Sequence[CaseResult]) -> Figures:
    """Figures for all `CARD_MEASURES`."""
    rows = []
    for case in cases:
        sums = case.sums
        scores = sums.scores()
        similarity = scores.average_similarity
        means = (scores.recall, scores.precision, scores.f1, similarity or 0.0)
        rows.append((*means, 1.0, float(similarity is not None), *sums))
    return Figures(CARD_MEASURES, np.array(rows, dtype=float).reshape(len(rows), 10), _card_scores)


def share_figures(name: str, successes: Sequence[bool]) -> Figures:
    """Figures for the share of cases that succeed."""
    rows = [(float(success), 1.0) for success in successes]
    matrix = np.array(rows, dtype=float).reshape(len(rows), 2)
    return Figures((name,), matrix, lambda sums: _over(sums[:, :1], sums[:, 1:]))


def _card_scores(sums: Matrix) -> Matrix:
    n_cases, n_with_match = sums[:, 4:5], sums[:, 5:6]
    matched, expected, generated, similarity = (sums[:, k : k + 1] for k in range(6, 10))
    empty = (expected == 0) & (generated == 0)
    return np.hstack(
        [
            _over(sums[:, :3], n_cases),
            _over(sums[:, 3:4], n_with_match),
            *(_share(matched, whole, empty) for whole in (expected, generated)),
            _share(2 * matched, expected + generated, empty),
            _over(similarity, matched),
        ]
    )


def _share(part: Matrix, whole: Matrix, empty: Any) -> Matrix:
    """A share as `Sums.scores` has it, of many sums at once."""
    return np.divide(part, whole, out=np.where(empty, 1.0, 0.0), where=whole > 0)


def _over(part: Matrix, whole: Matrix) -> Matrix:
    return np.divide(part, whole, out=np.full_like(part, np.nan), where=whole > 0)


def _drawn(figures: Figures, n_resamples: int, seed: int) -> Iterator[Matrix]:
    """How often each case is drawn, resamples by cases, some resamples at a time."""
    n = len(figures.matrix)
    rng = np.random.default_rng(seed)
    most = max(1, _MOST_NUMBERS // n)
    for start in range(0, n_resamples, most):
        draws = np.empty((min(most, n_resamples - start), n))
        for row in draws:
            row[:] = np.bincount(rng.integers(0, n, n, np.int32), minlength=n)
        yield draws


def _sums(draws: Matrix, figures: Figures) -> Matrix:
    """The sums of the figures over each resample; added up in one order, unlike by `@`."""
    sums: Matrix = np.einsum("ij,jk->ik", draws, figures.matrix)
    return sums


def _middle(
    names: Sequence[str], scores: Iterable[Matrix], unknown: Interval
) -> dict[str, Interval]:
    """The middle 95 % of each score; resamples without the score are left out."""
    columns = np.vstack(list(scores)).T
    found = {}
    for name, column in zip(names, columns, strict=True):
        known = column[~np.isnan(column)]
        low, high = np.quantile(known, _TAILS) if len(known) else unknown
        found[name] = Interval(float(low), float(high))
    return found
