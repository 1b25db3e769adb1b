"""`factcheck references`: read, embed, show, and say whether a build may pass."""

from __future__ import annotations

from typing import NamedTuple

from factcheck.cli import gate, keywords_output, output
from factcheck.cli.keywords_output import Shown
from factcheck.cli.options import Format
from factcheck.errors import InputError
from factcheck.files import read_text, refuse_stdin_twice
from factcheck.references import Aggregation, ReferenceMatch, ReferenceMatchResult
from factcheck.reports.keywords import junit

_THRESHOLD = 0.7
_ROUNDING = 1e-9


class Given(NamedTuple):
    """What is compared, and how."""

    actual: str
    references: tuple[str, ...]
    aggregation: Aggregation
    threshold: float | None
    provider: str
    fail_under: float | None


def run(given: Given, chosen: Format | None, out: str | None) -> None:
    """Compare the texts and show the report; leaves with an exit code where the gate fails."""
    from factcheck.reports.references import references_report

    gate.check_threshold(given.fail_under)
    output.prepare_out(out, given.actual, *given.references)
    result = _match(given)
    page = references_report(result, [_name(path) for path in given.references])
    shown = Shown(page, result.to_json, lambda: junit.render_references(result, page))
    keywords_output.show(shown, chosen, out)
    output.leave(failure(result.score or 0.0, given.fail_under))


def failure(score: float, threshold: float | None) -> gate.GateFailure | None:
    """Why the score does not do, or `None`."""
    if threshold is None or score >= threshold - _ROUNDING:
        return None
    shown = keywords_output.below_text(score, threshold)
    return gate.GateFailure(gate.GATE_FAILED, f"gate failed: score {shown} is under {threshold:g}")


def _match(given: Given) -> ReferenceMatchResult:
    refuse_stdin_twice(given.actual, *given.references)
    threshold = given.threshold
    if threshold is None:
        threshold = _THRESHOLD if given.fail_under is None else given.fail_under
    actual, *references = map(_text, (given.actual, *given.references))
    with (
        ReferenceMatch(
            references,
            given.aggregation,
            threshold,
            given.provider,
        ) as metric,
        output.waiting("Comparing"),
    ):
        return metric.match(actual)


def _text(path: str) -> str:
    text = read_text(path).strip()
    if not text:
        raise InputError(f"{_name(path)} is blank; there is nothing to compare")
    return text


def _name(path: str) -> str:
    return "standard input" if path == "-" else path
