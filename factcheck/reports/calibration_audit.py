"""What the report of an audit says, whatever it is rendered to."""

from __future__ import annotations

from typing import NamedTuple

from factcheck.calibration.audit import RULES, AuditReport, Finding
from factcheck.reports.calibration_bullets import NONE, short
from factcheck.reports.content import one_line, shorten

MOST_EXAMPLES = 2
"""Proven errors shown for each rule; all of them are in JSON."""


class AuditWords(NamedTuple):
    """The report, as words."""

    headline: str
    faults: tuple[str, ...]
    notes: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """Rule, tried, broken, rate, interval."""
    examples: tuple[tuple[str, tuple[str, ...]], ...]
    """What a rule says, and proven errors against it as lines."""


def audit_words(report: AuditReport) -> AuditWords:
    """The report of an audit."""
    errors = report.n_errors
    entailed = NONE if report.share_entailed is None else f"{report.share_entailed:.0%}"
    return AuditWords(
        headline=(
            f"Audit of {report.judge}: {errors:,} proven errors   {report.n_texts} texts, "
            f"{report.n_questions:,} questions, {report.n_answers:,} answers, {entailed} yes"
        ),
        faults=report.faults,
        notes=tuple(_notes(report)),
        rows=tuple(
            (
                rule.rule,
                f"{rule.n_tried:,}",
                str(len(rule.errors)),
                NONE if rule.rate is None else short(rule.rate),
                NONE if rule.interval is None else "\u2013".join(map(short, rule.interval)),
            )
            for rule in report.rules
        ),
        examples=tuple(
            (RULES[rule.rule], tuple(map(_example, rule.errors[:MOST_EXAMPLES])))
            for rule in report.rules
            if rule.errors
        ),
    )


def _notes(report: AuditReport) -> list[str]:
    undecided = sum(rule.n_undecided for rule in report.rules)
    if not undecided:
        return []
    why = f" ({report.failure})" if report.failure else ""
    return [f"{undecided:,} trials lack an answer and count in no rate{why}"]


def _example(error: Finding) -> str:
    fact = shorten(one_line(error.trial.fact))
    if error.first is not None:
        return f"{error.trial.name}: {fact}   {error.first} \u2192 {error.second}"
    last = error.trial.second.text.splitlines()[-1].removeprefix("- ")
    return f"{error.trial.name}: {fact}   {error.second}, where the text says: {one_line(last)}"
