"""Scorer for `mlflow.genai.evaluate`: how much of a source the output of the model keeps."""

from __future__ import annotations

from typing import Any

from mlflow.entities import Feedback
from mlflow.genai.scorers import Scorer, scorer

from factcheck.documents import json_text
from factcheck.facts.report import no_score
from factcheck.integrations import details, explanation, source_in
from factcheck.scoring import FactCoverage
from factcheck.settings import require_text


def coverage(judge: str | None = None, source: str = "source") -> Scorer:
    """Measure coverage of the source in the inputs of each row, in [0, 1].

    The rationale lists the facts that are distorted, dropped or undecided; the metadata has them
    for programs, as JSON. A row on which the judge gives no verdict gets an error instead of a
    value, as does one without a source or facts, and one whose judge cannot be reached.

    Args:
        judge: Name of a judge, as in `FactCoverage`.
        source: Key of the source in the inputs: a text or documents.
    """
    evaluator = FactCoverage(judge)

    @scorer(name="coverage")
    def score(inputs: Any, outputs: Any) -> Feedback:
        require_text(outputs, "outputs")
        report = evaluator.score(source_in(inputs, source, "the inputs"), outputs)
        return Feedback(
            value=report.score,
            error=no_score(report) if report.score is None else None,
            rationale=explanation(report),
            metadata={name: _text(value) for name, value in details(report).items()},
        )

    return score


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json_text(value)
