"""A run of behaviours as JSON and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from factcheck.errors import InputError
from factcheck.facts.reading import Reader
from factcheck.keywords.forms import as_keywords, to_data
from factcheck.keywords.suite_results import BehaviorCaseResult, BehaviorRun, Outcome

FORMAT = "factcheck-keywords-behaviors/1"


def suite_to_dict(run: BehaviorRun) -> dict[str, Any]:
    """Everything about a run; its figures are there to be read, and made anew on reading."""
    return {
        "format": FORMAT,
        "pass_rate": run.pass_rate,
        "interval": None if run.interval is None else list(run.interval),
        "low": run.low,
        "high": run.high,
        "counts": dict(run.counts),
        "failures": run.failures,
        "confusion": run.confusion(),
        "warnings": list(run.warnings),
        "cases": [
            {
                "id": case.case_id,
                "digest": run.digests[case.case_id],
                "status": case.status,
                "outcomes": [outcome_to_dict(outcome) for outcome in case.outcomes],
            }
            for case in run.cases
        ],
    }


def suite_from_dict(data: Any) -> BehaviorRun:
    """Inverse of `suite_to_dict`.

    Raises:
        InputError: The data is no run of behaviours, or not of this format; says where.
    """
    read = Reader(data, "run")
    if data.get("format") != FORMAT:
        raise InputError(
            f"run: format {data.get('format')!r} is not {FORMAT!r}; it was written by another "
            "version, or is no run of behaviours (BehaviorRun.to_json writes one)"
        )
    cases, digests = [], {}
    for number, entry in enumerate(read.mappings("cases"), 1):
        own = Reader(entry, f"run: case {number}")
        outcomes = tuple(_outcome(item) for item in own.mappings("outcomes"))
        if not outcomes:
            raise InputError(f"run: case {number} has no outcomes; the run is damaged")
        cases.append(BehaviorCaseResult(own.text("id"), outcomes))
        digests[own.text("id")] = own.text("digest")
    if not cases or len(digests) != len(cases):
        raise InputError("run: it has no cases, or two with one id; the run is damaged")
    return BehaviorRun(tuple(cases), digests, tuple(read.texts("warnings")))


def outcome_to_dict(outcome: Outcome) -> dict[str, Any]:
    """Everything about an outcome."""
    hits = {label: [to_data(word) for word in words] for label, words in outcome.hits.items()}
    return {**outcome._asdict(), "hits": hits}


def _outcome(data: Mapping[str, Any]) -> Outcome:
    read = Reader(data, "outcome")
    return Outcome(
        read.text("variant"),
        read.text("expected"),
        read.text("label", None),
        read.text("response"),
        {n: as_keywords(words, n) for n, words in read.mapping_required("hits").items()},
        read.text("code"),
        read.text("message"),
    )
