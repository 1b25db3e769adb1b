"""Frozen results of the Python API: a name, and a function that gives the text."""

from __future__ import annotations

from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import factcheck
from factcheck import metrics
from tests.goldens.commands import MODEL
from tests.goldens.running import scripted_model, without_varying, working_folder


def _sample(name: str) -> str:
    return (files("factcheck") / "samples" / name).read_text("utf-8")


def _text(name: str) -> str:
    return Path(name).read_text("utf-8")


def _coverage_report() -> str:
    report = factcheck.score(_sample("harbour.txt"), _sample("harbour_summary.txt"))
    return report.to_json()


def _metrics_report() -> str:
    cases = [
        {"id": "a", "source": _text("source.txt"), "actual_output": _text("summary.txt")},
        {"id": "b", "actual_output": "No source."},
    ]

    @metrics.metric(required_fields=["source"])
    def brevity(case: metrics.EvalCase) -> float:
        return 1 - len(case.actual_output) / len(case.source)

    return metrics.evaluate(cases, [brevity])["brevity"].to_json() + "\n"


def _signatures() -> str:
    source, summary = _text("source.txt"), _text("summary.txt")
    given = _text("facts.txt").splitlines()
    with scripted_model():
        shown = {
            "local": factcheck.score(source, summary),
            "local, both": factcheck.score(source, summary, direction="both"),
            "local, facts given": factcheck.score(source, summary, facts=given),
            "model": factcheck.score(source, summary, judge=MODEL),
            "model, given extractor": factcheck.score(
                source, summary, judge=MODEL, extractor="local"
            ),
            "reasoning model": factcheck.score(source, summary, judge="openai/gpt-5-nano"),
        }
    return "".join(f"{name}: {report.signature}\n" for name, report in shown.items())


RESULTS: dict[str, Callable[[], str]] = {
    "api-coverage-report": _coverage_report,
    "api-metrics-report": _metrics_report,
    "signatures": _signatures,
}


def record(make: Callable[[], str]) -> str:
    """The text, made in a folder with the inputs."""
    with working_folder():
        return without_varying(make(), has_versions=make is _signatures)
