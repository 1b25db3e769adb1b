"""What the commands print: reports on standard output or to a file, the rest on standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from factcheck.cli.options import Format
from factcheck.errors import InputError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from factcheck.cli.gate import GateFailure
    from factcheck.facts import CoverageReport, FactSet
    from factcheck.reports.page import Page

_BY_SUFFIX = {
    ".json": Format.JSON,
    ".md": Format.MARKDOWN,
    ".html": Format.HTML,
    ".htm": Format.HTML,
    ".xml": Format.JUNIT,
}
_WIDEST = 120


def complain(message: str) -> None:
    """Print one line on standard error; where nobody can read it, the exit code has to do."""
    from factcheck.reports.content import one_line

    with suppress(OSError, AttributeError):
        typer.echo(f"factcheck: {one_line(message)}", err=True)


def remark(line: str) -> None:
    """Print one line on standard error that is no error."""
    from factcheck.reports.content import shorten

    typer.echo(shorten(line), err=True)


def warn_if_stale(facts: FactSet, source: str, name: str) -> None:
    """Say so when the facts were extracted from another text than `source`."""
    from factcheck.facts import digest

    if facts.source_digest not in {None, digest(source)}:
        complain(
            f"warning: {name} was made from another version of the source; "
            f"renew it with 'factcheck facts SOURCE --lock {name}'"
        )


def leave(failure: GateFailure | None) -> None:
    """Go on if there is no failure; else say why and leave with its exit code."""
    if failure is not None:
        complain(failure.message)
        raise typer.Exit(failure.exit_code)


def waiting(message: str) -> AbstractContextManager[Any]:
    """A spinner on standard error for the time of a `with` block; nothing if nobody sees it."""
    if sys.stderr is None or not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(message)


def prepare_out(out: str | None, *inputs: str | None) -> None:
    """Refuse a report file that cannot be written, before anything is spent on the report.

    Args:
        out: Where the report goes.
        inputs: Files that are read; none of them is to be overwritten.

    Raises:
        InputError: A directory, a folder that does not exist, or one of the inputs.
    """
    if out not in {None, "-"}:
        _refuse_inputs(str(out), inputs)
        from factcheck.files import check_writable

        check_writable(str(out))


def _refuse_inputs(out: str, inputs: Sequence[str | None]) -> None:
    for path in inputs:
        with suppress(OSError):
            if path is not None and Path(path).samefile(out):
                raise InputError(f"--out {out} is a file that is read; give the report another one")


def show_report(
    report: CoverageReport, chosen: Format | None, out: str | None, fail_under: float | None = None
) -> None:
    """Print the report, or write it to `out` and print its first line."""
    page = report.page(fail_under=fail_under)
    if out is None or out == "-":
        if chosen in {None, Format.TABLE}:
            from factcheck.reports.table import for_stdout

            print_out(for_stdout(page))
        else:
            print_out(_text(report, page, chosen))
        return
    from factcheck.files import write_text

    made = chosen or _BY_SUFFIX.get(Path(out).suffix.lower(), Format.TABLE)
    try:
        write_text(out, _text(report, page, made))
    except InputError:
        print_out(_text(report, page, Format.TABLE))  # what was paid for is shown all the same
        raise
    print_out(f"{page.first_line}   {out}")


def _text(report: CoverageReport, page: Page, chosen: Format | None) -> str:
    if chosen is Format.JSON:
        return report.to_json() + "\n"
    from factcheck.reports import render

    return render(page, chosen.value if chosen else "table")


def print_table(table: RenderableType) -> None:
    """Print something of Rich's: in colour and as wide as a terminal, or as plain text."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal:
        console = Console(width=_WIDEST, color_system=None)
    console.width = min(console.width, _WIDEST)
    with console.capture() as capture:
        console.print(table, crop=False)
    print_out("\n".join(line.rstrip() for line in capture.get().splitlines()))


def print_out(text: str) -> None:
    """Print UTF-8, whatever the locale; a reader who has seen enough is no error."""
    if sys.stdout is None:
        raise InputError("standard output is closed; give it somewhere to go, or use --out FILE")
    data = (text if text.endswith("\n") else f"{text}\n").encode("utf-8", "backslashreplace")
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        forget_stdout()
    except OSError as error:
        forget_stdout()
        raise InputError(f"cannot write to standard output: {error.strerror}") from error


def forget_stdout() -> None:
    """Python flushes standard output once more at its end; give that somewhere to go."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
