"""Coverage inside other evaluation frameworks: one module each, which imports that framework.

All of them find the source in the data of a sample, score the output of the model against it, and
write the report beside the number. An output without a score stays without a number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from factcheck.errors import InputError
from factcheck.facts import CoverageReport, Source, as_source
from factcheck.reports import render


def source_in(data: Any, key: str, where: str) -> Source:
    """Return the source of a sample: a text or documents, as in `factcheck.score`.

    Raises `InputError`, which names `where` and the key, if it is missing or no source.
    """
    there = data if isinstance(data, Mapping) else {}
    if there.get(key) is None:
        keys = ", ".join(map(repr, there)) or "nothing"
        raise InputError(
            f"no {key!r} in {where} (there: {keys}); "
            "add the source text, or name the key that has it: source=KEY"
        )
    return as_source(there[key], f"{where}[{key!r}]")


def explanation(report: CoverageReport, to: str = "markdown") -> str:
    """Return the report without the facts that are kept, in a format of `render`."""
    return render(report.page().problems, to)


def details(report: CoverageReport) -> dict[str, Any]:
    """Return what a program needs beside the score, as JSON-ready data.

    `low` and `high` are the score if all undecided facts were dropped or kept, in [0, 1].
    """
    return {
        "low": report.low,
        "high": report.high,
        "counts": report.counts,
        "distorted": [verdict.fact.text for verdict in report.distorted],
        "dropped": [verdict.fact.text for verdict in report.dropped],
        "undecided": [failure.fact.text for failure in report.undecided],
        "judge_quality": report.judge_quality,
        "signature": str(report.signature),
    }
