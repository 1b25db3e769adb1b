"""Metrics of agreement against plain definitions."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from factcheck.calibration import agreement_metrics as metrics
from factcheck.calibration.agreement_metrics import Decisions, LabelledPair, mean_share


def decisions(
    labels: Sequence[bool],
    probabilities: Sequence[float] | None = None,
    entailed: Sequence[bool] | None = None,
) -> Decisions:
    if entailed is None:
        entailed = [p >= 0.5 for p in probabilities or ()]
    return Decisions(
        np.array(labels, dtype=bool),
        np.array(entailed, dtype=bool),
        None if probabilities is None else np.array(probabilities, dtype=float),
        np.zeros(len(labels), dtype=int),
    )


def test_by_hand() -> None:
    pairs = decisions([True, True, True, False, False], [0.9, 0.8, 0.2, 0.7, 0.1])
    assert metrics.rates(pairs) == pytest.approx((2 / 3, 0.5))
    assert metrics.balanced_accuracy(pairs) == pytest.approx((2 / 3 + 1 / 2) / 2)
    assert metrics.auroc(pairs) == pytest.approx(5 / 6)
    for label in (True, False):
        alike = decisions([label] * 3, [0.9, 0.8, 0.2])
        assert (metrics.balanced_accuracy(alike), metrics.auroc(alike)) == (None, None)
    silent = decisions([True, False], entailed=[True, False])
    assert (metrics.auroc(silent), metrics.calibration_error(silent)) == (None, None)


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 4)), min_size=2, max_size=25))
def test_auroc_is_the_share_of_pairs_in_the_right_order(rows: list[tuple[bool, int]]) -> None:
    labels, scores = [label for label, _ in rows], [score / 4 for _, score in rows]
    ups = [s for s, label in zip(scores, labels, strict=True) if label]
    downs = [s for s, label in zip(scores, labels, strict=True) if not label]
    if not ups or not downs:
        assert metrics.auroc(decisions(labels, scores)) is None
        return
    wins = sum((a > b) + (a == b) / 2 for a, b in product(ups, downs))
    assert metrics.auroc(decisions(labels, scores)) == pytest.approx(wins / len(ups) / len(downs))


@given(st.lists(st.tuples(st.booleans(), st.floats(0, 1)), min_size=1, max_size=40))
def test_the_calibration_error_is_that_of_bins_counted_by_hand(
    rows: list[tuple[bool, float]],
) -> None:
    labels, scores = [label for label, _ in rows], [score for _, score in rows]
    error = 0.0
    for place in range(10):
        own = [row for row in rows if min(int(row[1] * 10), 9) == place]
        error += abs(sum(score for _, score in own) - sum(label for label, _ in own))
    found = metrics.calibration_error(decisions(labels, scores))
    assert found == pytest.approx(error / len(rows))
    calibrated = decisions([True] * 3 + [False], [0.75] * 4)
    assert metrics.calibration_error(calibrated) == 0.0


def test_documents_count_alike_however_many_texts_they_have() -> None:
    texts = [("a", "t"), ("b", "u"), ("b", "u"), ("b", "v"), ("b", "v"), ("c", "w")]
    pairs = [LabelledPair(d, "", t, f"f{n}", label=True) for n, (d, t) in enumerate(texts)]
    found = mean_share(pairs, [True, False, False, True, False, None])
    assert found.value == pytest.approx((1.0 + (0.0 + 0.5) / 2) / 2)
    assert mean_share(pairs, [None] * 6, "nothing was decided").why == "nothing was decided"
