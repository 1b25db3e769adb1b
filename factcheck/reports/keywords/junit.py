"""Reports on keywords and references as JUnit XML, so that a build server lists what went wrong."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal, NamedTuple
from xml.etree import ElementTree as ET

from factcheck.keywords import (
    BehaviorRun,
    CaseFailure,
    DatasetResult,
    KeywordComparison,
    LintFinding,
)
from factcheck.references import ReferenceMatchResult
from factcheck.reports.fields_values import visible
from factcheck.reports.keywords.behaviors import fired, outcome_reason
from factcheck.reports.keywords.lint import cases_in_words
from factcheck.reports.pages.model import Page, shown_text

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class _Test(NamedTuple):
    """One test of a suite."""

    name: str
    kind: Literal["passed", "failure", "error", "skipped"] = "passed"
    type: str = ""
    """What kind of failure."""
    message: str = ""
    text: str = ""


def render_cards(run: DatasetResult, page: Page) -> str:
    """A run over cards: a test for each case.

    It passes if every card has its partner, and is skipped with its figures if not, as the gate
    takes the mean; a case without a score is an error.

    Args:
        run: The run.
        page: Its report, of which the properties are made.
    """
    return _xml("keywords.cards", (_card_test(case) for case in run.cases), _properties(page))


def render_behaviors(run: BehaviorRun, page: Page) -> str:
    """A run over behaviours: a test for each case, as the case passed, failed or is errored."""
    tests = []
    kinds: Mapping[str, Any] = {"passed": "passed", "failed": "failure", "errored": "error"}
    for case in run.cases:
        wrong = [outcome for outcome in case.outcomes if outcome.failure]
        lines = [
            f"{o.variant}: {outcome_reason(o)}"
            + (f"; found {fired(o)}" if o.hits else "")
            + (f"\n“{shown_text(o.response)}”" if o.response else "")
            for o in wrong
        ]
        message = ", ".join(f"{outcome.variant}: {outcome.failure}" for outcome in wrong)
        kind = wrong[0].failure if wrong else ""
        tests.append(_Test(case.case_id, kinds[case.status], kind, message, "\n".join(lines)))
    return _xml("keywords.behaviors", tests, _properties(page))


def render_comparison(comparison: KeywordComparison, page: Page) -> str:
    """A comparison: a test for each case, which fails if it is worse; left out, it is skipped."""
    tests = [
        _Test(change.case_id, "failure", "worse", f"{change.a:.3f} → {change.b:.3f}")
        for change in comparison.worse
    ]
    tests += [_Test(change.case_id) for change in comparison.better]
    tests += [_Test(name) for name in comparison.unchanged]
    tests += [
        _Test(name, "skipped", "left_out", "it has no score in both runs")
        for name in comparison.left_out
    ]
    return _xml("keywords.compare", tests, _properties(page))


def render_lint(findings: Iterable[LintFinding], page: Page) -> str:
    """What the linter found: a failed test for each finding."""
    tests = [
        _Test(finding.message, "failure", finding.kind, cases_in_words(finding.case_ids))
        for finding in findings
    ]
    return _xml("keywords.lint", tests, _properties(page))


def render_references(result: ReferenceMatchResult, page: Page) -> str:
    """A reference match: one test, which fails if the score does not reach the threshold."""
    said = result.reason
    test = (
        _Test("reference match") if result.passed else _Test("reference match", "failure", "", said)
    )
    return _xml("references", [test], _properties(page))


def _card_test(case: Any) -> _Test:
    if isinstance(case, CaseFailure):
        return _Test(case.case_id, "error", case.code, "errored", case.message)
    if not case.missed and not case.extra:
        return _Test(case.case_id)
    message = f"F1 {case.f1:.3f}: {len(case.missed):,} missed, {len(case.extra):,} extra"
    lines = [
        f"missed: expected card {missed.expected + 1}, nearest score {missed.score:.3f}"
        for missed in case.missed
    ]
    lines += [f"extra: card {number + 1}" for number in case.extra]
    return _Test(case.case_id, "skipped", "cards", message, "\n".join(lines))


def _properties(page: Page) -> dict[str, str]:
    """The main figure and what belongs to it."""
    found = {page.name: page.value, "counts": page.counts, "interval": page.interval}
    found |= {entry.name: entry.value for entry in page.footer}
    return {name: value for name, value in found.items() if value}


def _xml(name: str, tests: Iterable[_Test], properties: Mapping[str, str]) -> str:
    root = ET.Element("testsuites", name="factcheck")
    suite = ET.SubElement(root, "testsuite", name=name)
    listed = ET.SubElement(suite, "properties")
    for key, value in properties.items():
        ET.SubElement(listed, "property", name=_text(key), value=_text(value))
    for test in tests:
        suite.append(_element(name, test))
    counts = {"tests": len(suite) - 1}
    for plural, kind in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        counts[plural] = len(suite.findall(f"testcase/{kind}"))
    for element in (suite, root):
        for key, count in counts.items():
            element.set(key, str(count))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _element(suite: str, test: _Test) -> ET.Element:
    element = ET.Element("testcase", classname=f"factcheck.{suite}", name=_text(visible(test.name)))
    if test.kind != "passed":
        reason = ET.SubElement(element, test.kind, message=_text(test.message))
        if test.type:
            reason.set("type", _text(test.type))
        reason.text = _text(test.text)
    return element


def _text(value: str) -> str:
    return _NOT_XML.sub("�", value)
