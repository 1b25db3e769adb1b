"""Metrics of agreement, counted by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from factcheck.calibration import agreement_metrics as metrics
from factcheck.calibration.agreement_metrics import Decisions, LabelledPair, mean_share


def decisions(labels: Sequence[bool], entailed: Sequence[bool]) -> Decisions:
    said = np.array(labels, dtype=bool), np.array(entailed, dtype=bool)
    return Decisions(*said, np.zeros(len(labels), dtype=int))


def test_by_hand() -> None:
    pairs = decisions([True, True, True, False, False], [True, True, False, True, False])
    assert metrics.rates(pairs) == pytest.approx((2 / 3, 0.5))
    assert metrics.balanced_accuracy(pairs) == pytest.approx((2 / 3 + 1 / 2) / 2)
    for label in (True, False):
        assert metrics.balanced_accuracy(decisions([label] * 3, [True, True, False])) is None


def test_documents_count_alike_however_many_texts_they_have() -> None:
    texts = [("a", "t"), ("b", "u"), ("b", "u"), ("b", "v"), ("b", "v"), ("c", "w")]
    pairs = [LabelledPair(d, "", t, f"f{n}", label=True) for n, (d, t) in enumerate(texts)]
    found = mean_share(pairs, [True, False, False, True, False, None])
    assert found.value == pytest.approx((1.0 + (0.0 + 0.5) / 2) / 2)
    assert mean_share(pairs, [None] * 6, "nothing was decided").why == "nothing was decided"
