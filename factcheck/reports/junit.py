"""The report as JUnit XML, so that a build server lists lost facts as failed tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as ET

from factcheck.facts import CheckFailure, CheckResult, CoverageReport
from factcheck.reports import content

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_FAILURES = {"contradicted": "distorted", "neutral": "dropped"}
_CLAIM_FAILURES = {"contradicted": "contradicts the source", "neutral": "not in the source"}


def render_junit(report: CoverageReport) -> str:
    """The report as JUnit XML.

    One test per fact: passed if kept, an error if undecided. A fact that is dropped or distorted
    fails if it is marked `must`, as the gate does, and is skipped with its reason otherwise. With
    `direction="both"` a second suite has one test per claim of the summary.
    """
    root = ET.Element("testsuites", name="factcheck")
    coverage = _suite("coverage", report.results, _FAILURES)
    coverage.insert(0, _properties(report))
    root.append(coverage)
    if report.claims is not None:
        root.append(_suite("faithfulness", report.claim_results, _CLAIM_FAILURES))
    for name in ("tests", "failures", "errors", "skipped"):
        root.set(name, str(sum(int(suite.attrib[name]) for suite in root)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _properties(report: CoverageReport) -> ET.Element:
    share = report.share
    values = {
        "score": share.value,
        "low": share.low,
        "high": share.high,
        "interval.low": share.interval.low if share.interval else None,
        "interval.high": share.interval.high if share.interval else None,
        "faithfulness": report.faithfulness,
        "signature": str(report.signature),
    }
    properties = ET.Element("properties")
    for name, value in values.items():
        if value is not None:
            ET.SubElement(properties, "property", name=name, value=_text(str(value)))
    return properties


def _suite(name: str, results: Sequence[CheckResult], failures: dict[str, str]) -> ET.Element:
    suite = ET.Element("testsuite", name=name)
    for result in results:
        suite.append(_test(name, result, failures))
    suite.set("tests", str(len(results)))
    suite.set("failures", str(len(suite.findall("testcase/failure"))))
    suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    suite.set("errors", str(len(suite.findall("testcase/error"))))
    return suite


def _test(suite: str, result: CheckResult, failures: dict[str, str]) -> ET.Element:
    fact = result.fact
    parts = (content.one_line(fact.id), content.label(fact), content.one_line(fact.text))
    name = " ".join(part for part in parts if part)
    test = ET.Element("testcase", classname=f"factcheck.{suite}", name=_text(name))
    quote, reason = content.notes(result)
    if isinstance(result, CheckFailure):
        error = ET.SubElement(test, "error", type=_text(result.code), message="undecided")
        error.text = _text(content.one_line(result.message))
    elif not result.supported:
        kind = "failure" if fact.must else "skipped"
        lost = ET.SubElement(test, kind, type=result.label, message=failures[result.label])
        lost.text = _text("\n".join(line for line in (quote and f"“{quote}”", reason) if line))
    return test


def _text(value: str) -> str:
    return _NOT_XML.sub("�", value)
