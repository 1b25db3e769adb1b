"""95 % confidence intervals by resampling records: the percentile bootstrap.

Records are drawn with replacement, as many as there are, and every resample is scored as a run. The
interval holds the middle 95 % of these scores. Fields of one record are never torn apart, since
they are not independent. The intervals are as post-processing, thresholds and weights left the
records. They are too narrow for fewer than about twenty records, and where all records are equal
they have no width at all.

Source:
    Efron and Tibshirani (1993), "An Introduction to the Bootstrap", chapter 13.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from factcheck.fields.runs.resampling import (
    MEASURES,
    Figures,
    Matrix,
    check_settings,
    drawn,
    field_figures,
    kept_records,
    numbered_fields,
    overall_figures,
)
from factcheck.fields.runs.results import RunResult
from factcheck.stats import Interval

_TAILS = (0.025, 0.975)


def run_intervals(run: RunResult, n_resamples: int, seed: int) -> dict[str, Interval]:
    """The intervals of all `MEASURES`; (0, 1) where there are fewer than two records.

    Raises:
        InputError: The records were not kept, or the arguments cannot be used.
    """
    check_settings(n_resamples, seed)
    records = kept_records(run)
    if len(records) < 2:  # noqa: PLR2004 - one record says nothing about another
        return dict.fromkeys(MEASURES, Interval(0.0, 1.0))
    return _intervals(overall_figures(records), len(records), n_resamples, seed)


def field_intervals(run: RunResult, n_resamples: int, seed: int) -> dict[str, Interval]:
    """The intervals of the F1 of each field; (0, 1) where there are fewer than two records.

    Raises:
        InputError: The records were not kept, or the arguments cannot be used.
    """
    check_settings(n_resamples, seed)
    records = kept_records(run)
    fields = numbered_fields(records)
    if len(records) < 2:  # noqa: PLR2004 - one record says nothing about another
        return dict.fromkeys(fields, Interval(0.0, 1.0))
    found: dict[str, Interval] = {}
    for figures in field_figures(records, fields):
        found |= _intervals(figures, len(records), n_resamples, seed)
    return found


def _intervals(figures: Figures, n: int, n_resamples: int, seed: int) -> dict[str, Interval]:
    scores = (figures.of(draws) for draws in drawn(n, n_resamples, seed))
    return dict(zip(figures.names, middle(scores), strict=True))


def middle(scores: Iterable[Matrix]) -> list[Interval]:
    """The middle 95 % of each row; resamples are columns, some at a time."""
    lows, highs = np.quantile(np.hstack(list(scores)), _TAILS, axis=1)
    return [Interval(float(low), float(high)) for low, high in zip(lows, highs, strict=True)]
