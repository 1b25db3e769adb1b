"""A score with words beside it, in the form that DSPy's optimizers read."""

from __future__ import annotations

import dspy


def score_with_feedback(score: float, feedback: str) -> dspy.Prediction:
    """What a metric of `dspy.GEPA` returns; adds up and compares like the number."""
    return dspy.Prediction(score=score, feedback=feedback)
