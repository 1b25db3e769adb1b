"""Render a page as JUnit XML, so that a build server lists what went wrong as failed tests."""

from __future__ import annotations

from xml.etree import ElementTree as ET

from factcheck.reports.page import Case, Page, cleaned, entries

_ELEMENTS = {"failed": "failure", "error": "error", "skipped": "skipped"}
_COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def render(page: Page) -> str:
    """The page as JUnit XML: a suite for each metric, a test for each of its cases."""
    page = cleaned(page)
    root = ET.Element("testsuites", name="factcheck")
    for metric in (page, *page.also):
        root.append(_suite(metric))
    for name in ("tests", *_COUNTS):
        root.set(name, str(sum(int(suite.attrib[name]) for suite in root)))
    ET.indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(root, encoding="unicode") + "\n"


def _suite(page: Page) -> ET.Element:
    suite = ET.Element("testsuite", name=page.suite or "factcheck")
    listed = ET.SubElement(suite, "properties")
    metric = entries(
        (page.name, page.value),
        ("counts", page.counts),
        ("interval", page.interval),
        ("notes", "; ".join(page.lines)),
    )
    for name, value in (*metric, *page.footer):
        ET.SubElement(listed, "property", name=name, value=value)
    classname = f"factcheck.{page.suite}" if page.suite else "factcheck"
    suite.extend(_test(case, classname) for case in page.cases)
    suite.set("tests", str(len(page.cases)))
    for name, element in _COUNTS.items():
        suite.set(name, str(len(suite.findall(f"testcase/{element}"))))
    return suite


def _test(case: Case, classname: str) -> ET.Element:
    test = ET.Element("testcase", classname=classname, name=case.name)
    if case.status != "passed":
        outcome = ET.SubElement(test, _ELEMENTS[case.status], message=case.message)
        if case.kind:
            outcome.set("type", case.kind)
        outcome.text = "\n".join(case.details)
    return test
