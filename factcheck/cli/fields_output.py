"""What the commands on fields print: reports in several formats, and warnings as lines."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from factcheck.cli import output
from factcheck.cli.fields import FieldsFormat
from factcheck.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

_BY_SUFFIX = {
    ".json": FieldsFormat.JSON,
    ".csv": FieldsFormat.CSV,
    ".md": FieldsFormat.MARKDOWN,
    ".markdown": FieldsFormat.MARKDOWN,
    ".txt": FieldsFormat.TABLE,
    ".log": FieldsFormat.TABLE,
    "": FieldsFormat.TABLE,
}
MACHINE = frozenset({FieldsFormat.JSON, FieldsFormat.CSV})
"""Formats with no room for notes, which go to standard error."""
_WIDEST = 140
_MOST_WARNINGS = 20
_MOST_KEPT = 1_000


class Shown(NamedTuple):
    """A report, ready to be shown."""

    first_line: str
    """What it says in one line."""
    table: Callable[[], RenderableType]
    texts: Mapping[FieldsFormat, Callable[[], str]]
    """How it is written in the formats for files."""


def format_of(chosen: FieldsFormat | None, out: str | None) -> FieldsFormat:
    """The format that was asked for, by name or by the suffix of the file.

    Raises:
        InputError: The suffix stands for none of them.
    """
    if chosen is not None:
        return chosen
    suffix = Path(out).suffix.lower() if out else ""
    if suffix not in _BY_SUFFIX:
        raise InputError(
            f"--out {out}: reports on fields are written as .json, .csv, .md or .txt; choose one, "
            "or say --format"
        )
    return _BY_SUFFIX[suffix]


def show(shown: Shown, made: FieldsFormat, out: str | None) -> None:
    """Print a report, or write it to `out` and print its first line."""
    if out is None or out == "-":
        output.print_out(_printed(shown, made))
        return
    from factcheck.files import write_text

    try:
        write_text(out, _text(shown, made))
    except InputError:
        output.print_out(_text(shown, FieldsFormat.TABLE))
        raise
    output.print_out(f"{shown.first_line}   {out}")


def _text(shown: Shown, made: FieldsFormat) -> str:
    if made is not FieldsFormat.TABLE:
        return shown.texts[made]()
    from factcheck.reports.fields_table import plain

    return f"{plain(shown.table())}\n"


def _printed(shown: Shown, made: FieldsFormat) -> str:
    from rich.console import Console

    console = Console()
    if made is not FieldsFormat.TABLE or not console.is_terminal:
        return _text(shown, made)
    console.width = min(console.width, _WIDEST)
    with console.capture() as capture:
        console.print(shown.table(), crop=False)
    return capture.get()


class _Gatherer(logging.Handler):
    """Hands on what is logged."""

    def __init__(self, take: Callable[[logging.LogRecord], None]) -> None:
        super().__init__(logging.WARNING)
        self._take = take

    def emit(self, record: logging.LogRecord) -> None:
        """Hand it on."""
        self._take(record)


@contextmanager
def gathered(take: Callable[[logging.LogRecord], None]) -> Iterator[None]:
    """What the evaluator warns of in a `with` block is handed to `take`."""
    log = logging.getLogger("factcheck.fields")
    handler = _Gatherer(take)
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


@contextmanager
def warnings_told() -> Iterator[None]:
    """What the evaluator warns of in a `with` block is told after it, the same thing once."""
    messages: dict[str, None] = {}

    def take(record: logging.LogRecord) -> None:
        if len(messages) < _MOST_KEPT:
            messages[record.getMessage()] = None

    try:
        with gathered(take):
            yield
    finally:
        for message in list(messages)[:_MOST_WARNINGS]:
            output.complain(f"warning: {message}")
        if len(messages) > _MOST_WARNINGS:
            n_more = len(messages) - _MOST_WARNINGS
            or_more = " or more" if len(messages) == _MOST_KEPT else ""
            output.complain(f"warning: {n_more:,}{or_more} others of this kind")
