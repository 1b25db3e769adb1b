"""The `Report` mixin, and the machine-readable formats CSV and JUnit XML.

CSV is safe to open in a spreadsheet; build servers display the cases of JUnit XML as tests.
"""

from __future__ import annotations

import csv
from importlib import import_module
from io import StringIO
from os import PathLike
from typing import Any, ClassVar
from xml.etree import ElementTree as ET

from factcheck.documents import json_text, to_plain, write_text
from factcheck.errors import ConfigError, InputError
from factcheck.reports.page import Case, Page, cleaned, entries
from factcheck.reports.text import value_text, visible

_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_LONGEST_CELL = 32_000
"""Maximum number of characters in a cell; spreadsheets truncate at 32,767."""
_ELEMENTS = {"failed": "failure", "error": "error", "skipped": "skipped"}
_COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}
"""JUnit elements by status of a case, and by counter attribute."""

FORMATS = ("table", "markdown", "html", "junit", "csv")
"""Formats of a page; for JSON, see `Report.to_json`."""


def render(page: Page, to: str = "table") -> str:
    """Render a page as text, with a final newline.

    Args:
        page: The report.
        to: One of `FORMATS`; `table` is plain text, 100 columns wide.

    Raises:
        InputError: The format is unknown.
    """
    if to not in FORMATS:
        raise InputError(f"unknown report format {to!r}; use {', '.join(FORMATS)}")
    texts = {"csv": _csv_text, "junit": _junit_text}
    text = (texts.get(to) or import_module(f"factcheck.reports.{to}").render)(page)
    return text if text.endswith("\n") else f"{text}\n"


class Report:
    """Mixin that renders a result from its `page()` and serialises it from its `to_dict()`.

    Dataclasses need `repr=False`, so that their `repr` is the first line of the report.
    """

    __slots__ = ()
    DERIVED: ClassVar[tuple[str, ...]] = ()
    """Computed attributes that `to_dict` adds to the fields."""

    def page(self) -> Page:
        """Return the report, ready for rendering."""
        raise NotImplementedError

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON-ready data."""
        data: dict[str, Any] = to_plain(self)
        return data

    def to_json(self, *, indent: int | None = 2) -> str:
        """Return `to_dict` as JSON; equal results give equal bytes."""
        return json_text(self.to_dict(), indent=indent)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return the rows of the report, with the columns of CSV."""
        return [dict(row) for row in self.page().rows()]

    def to_markdown(self) -> str:
        """Render the report as GitHub-flavoured Markdown."""
        return render(self.page(), "markdown")

    def to_html(self, path: str | PathLike[str] | None = None) -> str:
        """Render the report as a self-contained HTML page.

        Args:
            path: File to write as well; an existing one is replaced atomically.

        Raises:
            InputError: The file cannot be written.
        """
        text = render(self.page(), "html")
        if path is not None:
            write_text(path, text)
        return text

    def to_pandas(self) -> Any:
        """Return the rows of the report as a `pandas.DataFrame`, with the columns of CSV.

        Raises:
            ConfigError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ConfigError("to_pandas() needs pandas; install it: pip install pandas") from error
        page = self.page()
        return pd.DataFrame.from_records(list(page.rows()), columns=list(page.columns))

    def _repr_html_(self) -> str:
        from factcheck.reports.html import frame

        return frame(self.page())

    def __str__(self) -> str:
        return render(self.page()).rstrip("\n")

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {self.page().first_line}>"


def _csv_text(page: Page) -> str:
    """Render the rows of a page as CSV with a header.

    Strings that a spreadsheet would evaluate as a formula get a leading apostrophe, lists and
    objects become JSON, and `None` is an empty cell.
    """
    sink = StringIO()
    writer = csv.writer(sink, lineterminator="\n")
    writer.writerow(page.columns)
    for row in page.rows():
        writer.writerow([_cell(row.get(name)) for name in page.columns])
    return sink.getvalue()


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, (int, float)) and not isinstance(value, bool)):
        return value
    if not isinstance(value, str):
        return value_text(value)[:_LONGEST_CELL]
    text = "\n".join(map(visible, value.splitlines()))[:_LONGEST_CELL]
    return f"'{text}" if text.startswith(_FORMULA) else text


def _junit_text(page: Page) -> str:
    """Render a page as JUnit XML: one suite per metric, one test per case."""
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
        ("notes", "; ".join((*(alert.text for alert in page.alerts), *page.lines))),
        ("trust", " ".join(page.trust)),
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
