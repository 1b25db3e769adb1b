"""Write reports to standard output or a file, notes and errors to standard error."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Collection, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import typer

from factcheck.cli.options import Format
from factcheck.errors import InputError, shorten_middle

if TYPE_CHECKING:
    from factcheck.facts import Usage
    from factcheck.reports import Report
    from factcheck.reports.page import Page
    from factcheck.scoring.gates import GateFailure

_BY_SUFFIX: dict[str, Format] = {
    "": "table",
    ".txt": "table",
    ".md": "markdown",
    ".html": "html",
    ".xml": "junit",
    ".json": "json",
    ".csv": "csv",
}
_MAX_LINE = 300
_MAX_WARNINGS = 20


class Destination(NamedTuple):
    """Format and path of a report."""

    format: Format
    path: str | None = None
    """`None`: standard output."""


def print_error(message: str) -> None:
    """Print one line of at most 300 characters on standard error, ignoring write errors."""
    with suppress(OSError, AttributeError):
        typer.echo(_one_line(f"factcheck: {message}"), err=True)


def print_note(message: str) -> None:
    """Print one line on standard error, without the prefix of errors."""
    typer.echo(_one_line(message), err=True)


def print_warnings(messages: Sequence[str]) -> None:
    for message in messages:
        print_error(f"warning: {message}")


def _one_line(text: str) -> str:
    """Fold a text into one line, cutting the middle if it is too long."""
    from factcheck.reports.text import one_line

    return shorten_middle(one_line(shorten_middle(text, 10 * _MAX_LINE)), _MAX_LINE)


def exit_with(failure: GateFailure | None) -> None:
    """Print why a gate failed, with the facts, and exit with its code; return if it passed."""
    if failure is not None:
        from factcheck.scoring.gates import failing_facts

        print_error(failure.message)
        if facts := failing_facts(failure):
            typer.echo(f"\n{facts}", err=True)
        raise typer.Exit(failure.exit_code)


def spinner(message: str) -> AbstractContextManager[Any]:
    """Show a spinner in a `with` block if standard error is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console

    return Console(stderr=True).status(message)


class _Warnings(logging.Handler):
    """Prints the first 20 distinct messages."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: set[str] = set()

    def emit(self, record: logging.LogRecord) -> None:
        message = record.getMessage()
        if message in self.seen or len(self.seen) > _MAX_WARNINGS:
            return
        self.seen.add(message)
        is_last = len(self.seen) > _MAX_WARNINGS
        print_warnings(["further warnings are left out" if is_last else message])


@contextmanager
def show_log(name: str) -> Iterator[None]:
    """Print messages logged under `name` in a `with` block, each once."""
    log, handler = logging.getLogger(name), _Warnings()
    log.addHandler(handler)
    try:
        yield
    finally:
        log.removeHandler(handler)


def destination(format_: Format | None, out: str | None, *inputs: str | None) -> Destination:
    """Validate the destination of a report, before any work is done.

    Without a format, it is that of the suffix of `out`, or a table. Raises `InputError` if the file
    is not writable, is an input, or has an unknown suffix; or if two inputs are standard input.
    """
    from factcheck.documents import refuse_stdin_twice

    refuse_stdin_twice(*inputs)
    if out is None or out == "-":
        return Destination(format_ or "table")
    check_out(out, *inputs)
    format_ = format_ or _BY_SUFFIX.get(Path(out).suffix.lower())
    if format_ is None:
        raise InputError(
            f"--out {out}: unknown suffix; use .txt, .md, .html, .xml, .json or .csv, "
            "or give --format"
        )
    return Destination(format_, out)


def check_out(out: str | None, *inputs: str | None, option: str = "--out") -> None:
    """Raise `InputError` if an output file is a directory, in a missing folder, or an input."""
    if out is None or out == "-":
        return
    for path in inputs:
        with suppress(OSError):
            if path is not None and Path(path).samefile(out):
                raise InputError(f"{option} would overwrite an input file; choose another file")
    from factcheck.documents import check_writable

    check_writable(out)


def report(
    result: Report,
    to: Destination,
    failure: GateFailure | None = None,
    *,
    page: Page | None = None,
    warnings: Sequence[str] = (),
) -> None:
    """Print a report, or write it to its file and print what it says first; `exit_with` follows.

    `page` is that of the result unless it is given. Warnings go to standard error unless the report
    is printed as a table or Markdown. JUnit shows the failure of the gate. If writing the file
    fails, the report is printed instead, and `InputError` raised.
    """
    from factcheck.documents import write_text
    from factcheck.reports import render
    from factcheck.reports.page import TRUST, gated
    from factcheck.reports.table import for_stdout
    from factcheck.scoring.gates import failing_facts

    page = result.page() if page is None else page
    if failure is None:
        page = gated(page, "")
    else:
        page = gated(page, failure.message, failing_facts(failure).splitlines())
    if to.path is not None or to.format not in {"table", "markdown"}:
        print_warnings(warnings)
    if to.format == "json":
        text = result.to_json()
    elif to == Destination("table"):
        text = for_stdout(page)
    else:
        text = render(page, to.format)
    if to.path is None:
        print_out(text)
        return
    try:
        write_text(to.path, text if text.endswith("\n") else f"{text}\n")
    except InputError:
        print_out(render(page))  # the result may have been paid for
        raise
    said = [alert.text for alert in page.alerts if alert.tone == "warn"]
    said += [f"{TRUST}: {line}" for line in page.trust[:1]]
    others = (other.first_line for other in page.also if other.value)
    head = f"{page.answer}   {page.title}" if page.answer else page.first_line
    print_out("\n".join([f"{head}   {to.path}", *others, *said]))


def finish(result: Report, to: Destination, failure: GateFailure | None = None) -> None:
    """Print or write a report, and exit with the code of a gate that failed."""
    report(result, to, failure)
    exit_with(failure)


def estimate_text(usage: Usage, models: Collection[str] = ()) -> str:
    """Say what an estimate comes to, after `needs`, and which models are known to think."""
    from factcheck.reports.text import plural
    from factcheck.runtime.budget import least_effort

    if not usage.calls:
        return "no requests: the judge is local, or replies are cached"
    cost = "unknown" if usage.cost_usd is None else f"at most ${usage.cost_usd:.4f}"
    needed = (
        f"about {plural(usage.calls, 'request')} and {usage.prompt_tokens:,} prompt tokens; "
        f"without thought, completion tokens: at most {usage.completion_tokens:,}, cost: {cost}"
    )
    thinking = [(name, effort) for name in sorted(models) if (effort := least_effort(name))]
    notes = (
        f"{name} thinks: hardly more with reasoning_effort={effort}, which is sent unless another "
        "is set; with more effort, 3 to 10 times the completion tokens"
        for name, effort in thinking
    )
    return "; ".join([needed, *notes])


def print_out(text: str) -> None:
    """Print UTF-8 in any locale, ignoring a pipe closed by its reader."""
    if sys.stdout is None:
        raise InputError("standard output is closed; redirect it, or use --out FILE")
    data = (text if text.endswith("\n") else f"{text}\n").encode("utf-8", "backslashreplace")
    try:
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        discard_stdout()
    except OSError as error:
        discard_stdout()
        raise InputError(f"cannot write to standard output: {error.strerror}") from error


def discard_stdout() -> None:
    """Redirect standard output to the null device, so that the flush at exit cannot fail."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
