"""What a report tells whoever wrote the summary: which facts are missing, wrong, or made up."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from factcheck.facts import CheckFailure, CoverageReport, Verdict

_MISSING = "Missing: facts of the source that the summary does not say."
_DISTORTED = "Distorted: facts of the source that the summary says differently."
_SUPERFLUOUS = "Superfluous: what the summary says and the source does not."
_UNDECIDED = "Undecided: no verdict could be had on these; they count neither way."


def feedback_of(report: CoverageReport) -> str:
    """A report in words that names every fact and claim but those that are right."""
    return "\n".join(_lines(report))


def _lines(report: CoverageReport) -> Iterator[str]:
    decided = len(report.results) - len(report.undecided)
    yield f"The summary keeps {len(report.kept)} of {decided} facts of the source."
    yield from _section(_MISSING, (verdict.fact.text for verdict in report.dropped))
    yield from _section(_DISTORTED, (_beside(v, "the summary says") for v in report.distorted))
    yield from _section(_SUPERFLUOUS, (_beside(v, "the source says") for v in report.superfluous))
    yield from _section(_UNDECIDED, map(_why, (*report.undecided, *report.undecided_claims)))


def _section(title: str, items: Iterable[str]) -> Iterator[str]:
    lines = [f"- {' '.join(item.split())}" for item in items]
    if lines:
        yield title
        yield from lines


def _beside(verdict: Verdict, who_says: str) -> str:
    """A fact, and what stands in the other text instead, as far as the judge can show it."""
    if verdict.label != "contradicted":
        return verdict.fact.text
    if verdict.evidence is not None:
        return f'{verdict.fact.text} ({who_says}: "{verdict.evidence.quote}")'
    return f"{verdict.fact.text} ({verdict.reason})" if verdict.reason else verdict.fact.text


def _why(failure: CheckFailure) -> str:
    return f"{failure.fact.text} ({failure.code})"
