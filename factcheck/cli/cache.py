"""`factcheck cache`: statistics and maintenance of the response cache."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from factcheck.cli import options, output
from factcheck.errors import InputError

_DAMAGED = 1
_SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}

app = typer.Typer(**options.FAMILY, help="Manage the response cache.")
app.callback()(options.show_help)


def _folder() -> Path:
    from factcheck.runtime.cache import default_folder
    from factcheck.runtime.cache.disk import expanded
    from factcheck.settings import Settings

    return expanded(default_folder(Settings.from_environment()))


@app.command("stats", epilog="Example: factcheck cache stats")
def stats() -> None:
    """Count cached responses."""
    from rich.filesize import decimal

    from factcheck.runtime.cache import maintenance

    folder = _folder()
    found = maintenance.contents(folder)
    lines = [
        f"folder   {folder}",
        f"entries  {found.n_entries}",
        f"size     {decimal(found.size)}",
    ]
    if found.oldest is not None and found.newest is not None:
        lines += [f"oldest   {_date(found.oldest)}", f"newest   {_date(found.newest)}"]
    output.print_out("\n".join(lines))


@app.command("verify", epilog="Example: factcheck cache verify")
def verify() -> None:
    """Verify all cached responses; exits with 1 if any is damaged."""
    from factcheck.runtime.cache import maintenance

    found = maintenance.verify(_folder())
    output.print_out(f"{found.n_good} good, {found.n_refused} refused")
    if found.damage:
        output.print_out(f"the file is damaged: {found.damage}")
    if found.n_refused or found.damage:
        raise typer.Exit(_DAMAGED)


@app.command("prune", epilog="Example: factcheck cache prune --older-than 30d")
def prune(
    *,
    older_than: Annotated[
        str, options.option("--older-than", "AGE", "Minimum age, e.g. 90m, 12h, 30d or 8w.")
    ],
) -> None:
    """Remove old responses."""
    from factcheck.reports.text import plural
    from factcheck.runtime.cache import maintenance

    folder = _folder()
    removed = plural(maintenance.prune(folder, time.time() - _age(older_than)), "response")
    output.print_out(f"{removed} older than {older_than} removed from {folder}")


@app.command("clear", epilog="Example: factcheck cache clear --yes")
def clear(
    *,
    yes: Annotated[bool, options.flag("--yes", "Do not ask for confirmation.")] = False,
) -> None:
    """Remove all cached responses; they will have to be paid for again."""
    from factcheck.reports.text import plural
    from factcheck.runtime.cache import maintenance

    folder = _folder()
    if not yes:
        if not sys.stdin.isatty():
            raise InputError("standard input is not a terminal; confirm with --yes")
        responses = plural(maintenance.contents(folder).n_entries, "response")
        if not typer.confirm(f"Remove {responses} from {folder}?", err=True):
            output.print_note("nothing removed")
            return
    removed = plural(maintenance.clear(folder), "response")
    output.print_out(f"{removed} removed from {folder}")


def _age(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([mhdw])", text.strip())
    if match is None:
        raise InputError(f"--older-than is {text!r}; give a number and m, h, d or w, such as 30d")
    return float(match[1]) * _SECONDS[match[2]]


def _date(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return f"at {seconds:g} s"
