"""Frozen results of the Python API: a name, and a function that gives the text."""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import factcheck
from factcheck import calibration, fields, metrics
from tests.goldens.commands import MODEL
from tests.goldens.running import scripted_model, without_varying, working_folder


def _sample(name: str) -> str:
    return (files("factcheck") / "samples" / name).read_text("utf-8")


def _text(name: str) -> str:
    return Path(name).read_text("utf-8")


def _lines(name: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in _text(name).splitlines()]


def _coverage_report() -> str:
    report = factcheck.score(_sample("harbour.txt"), _sample("harbour_summary.txt"))
    return report.to_json()


def _coverage_report_of_a_model() -> str:
    with scripted_model():
        report = factcheck.score(
            _text("source.txt"), _text("summary.txt"), judge=MODEL, direction="both"
        )
    return report.to_json()


def _score_many() -> str:
    with factcheck.FactCoverage() as scorer:
        reports = scorer.score_many(_lines("records.jsonl"))
    dicts: list[object] = [getattr(report, "to_dict", dict)() for report in reports]
    return "".join(f"{json.dumps(each)}\n" for each in dicts)


def _fields_run() -> str:
    gold, extracted = _lines("gold.jsonl"), _lines("extracted.jsonl")
    schema = fields.annotate_xeval(fields.infer_schema(gold))
    run = fields.evaluate(gold, extracted, schema, id_field="id")
    return json.dumps(run.to_dict(), indent=1) + "\n"


def _inferred_schema() -> str:
    return json.dumps(fields.infer_schema(_lines("gold.jsonl")), indent=1) + "\n"


def _metrics_report() -> str:
    cases = [
        {"id": "a", "source": _text("source.txt"), "actual_output": _text("summary.txt")},
        {"id": "b", "actual_output": "No source."},
    ]
    with factcheck.FactCoverage() as scorer:
        report = metrics.evaluate(cases, [metrics.FactCoverageMetric(scorer)])
    return report.to_json() + "\n"


def _audit() -> str:
    text = calibration.load_texts()[0]
    return calibration.audit_judge("local", texts=[text], per_rule=1).to_json() + "\n"


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
    "api-coverage-report-model": _coverage_report_of_a_model,
    "api-score-many": _score_many,
    "api-fields-run": _fields_run,
    "api-inferred-schema": _inferred_schema,
    "api-metrics-report": _metrics_report,
    "api-audit": _audit,
    "signatures": _signatures,
}


def record(make: Callable[[], str]) -> str:
    """The text, made in a folder with the inputs."""
    with working_folder():
        return without_varying(make(), has_versions=make is _signatures)
