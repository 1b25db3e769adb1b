"""How often a right case scores higher than another one: the area under the ROC curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import rankdata


def auroc(scores: Any, labels: Any) -> float:
    """Return the AUROC of scores, given which cases are right; NaN if all are, or none."""
    is_right = np.asarray(labels, dtype=bool)
    n_right, n_other = is_right.sum(), (~is_right).sum()
    if not n_right or not n_other:
        return float("nan")
    above = rankdata(scores)[is_right].sum() - n_right * (n_right + 1) / 2
    return float(above / (n_right * n_other))
