"""Python assertion for promptfoo: how much of a source the output of the model keeps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from factcheck.errors import InputError
from factcheck.facts.report import no_score
from factcheck.integrations import details, explanation, source_in
from factcheck.scoring import FactCoverage
from factcheck.settings import require_text

_SETTINGS = {"judge": None, "source": "source"}


def get_assert(output: Any, context: Mapping[str, Any]) -> dict[str, Any]:
    """Measure coverage of the source in the variables of a test; `threshold` decides.

    The `config` of the assertion may name a `judge`, as in `FactCoverage`, and the variable that is
    the `source` (default `source`), a text or documents. The reason lists the facts that are
    distorted, dropped or undecided.

    Returns:
        A `GradingResult` with the named score `coverage`. Without a threshold it passes if any fact
        is kept.

    Raises:
        InputError: The config has an unknown key, the source is missing or has no facts.
        JudgeError: The judge could not be reached, or gave no verdict on any fact.
    """
    config = context.get("config") or {}
    if unknown := sorted({*config} - {*_SETTINGS}):
        raise InputError(f"config: unknown key {unknown[0]!r}; it may have {', '.join(_SETTINGS)}")
    settings = {**_SETTINGS, **config}
    source = source_in(context.get("vars"), settings["source"], "the vars")
    require_text(output, "the output")
    with FactCoverage(settings["judge"]) as evaluator:
        report = evaluator.score(source, output)
    if report.score is None:
        raise no_score(report)
    return {
        "pass": report.score > 0,
        "score": report.score,
        "reason": explanation(report, "table"),
        "named_scores": {"coverage": report.score},
        "metadata": details(report),
    }
