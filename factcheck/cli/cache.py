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
_SHOWN = 20

app = typer.Typer(**options.FAMILY, help="Manage the response cache.")
app.callback()(options.show_help)


def _folder() -> Path:
    from factcheck.runtime.cache import default_folder
    from factcheck.runtime.cache.disk import expanded
    from factcheck.settings import Settings

    return expanded(default_folder(Settings.from_environment()))


@app.command("stats", epilog="Example: factcheck cache stats")
def stats() -> None:
    """Count cached responses by task and judge."""
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
    if found.refused:
        lines.append(f"refused  {len(found.refused)}   see 'factcheck cache verify'")
    if found.groups:
        width = max(len(task) for task, _ in found.groups)
        of = found.groups.items()
        lines += ["", *(f"{n:>8}  {task:<{width}}  {judge}" for (task, judge), n in of)]
    output.print_out("\n".join(lines))


@app.command("verify", epilog="Example: factcheck cache verify")
def verify() -> None:
    """Verify all cached responses; exits with 1 if any is damaged."""
    from factcheck.runtime.cache import maintenance

    found = maintenance.verify(_folder())
    lines = [f"{found.n_entries} good, {len(found.refused)} refused"]
    bad = [f"  {one.key or f'row {one.rowid}'}: {one.problem}" for one in found.refused]
    lines += bad[:_SHOWN]
    if len(bad) > _SHOWN:
        lines.append(f"  and {len(bad) - _SHOWN} more")
    if found.damage is not None:
        lines.append(f"the file is damaged: {found.damage}")
    output.print_out("\n".join(lines))
    if found.refused or found.damage is not None:
        raise typer.Exit(_DAMAGED)


@app.command("prune", epilog="Example: factcheck cache prune --older-than 30d")
def prune(
    *,
    older_than: Annotated[
        str | None, options.option("--older-than", "AGE", "Minimum age, e.g. 90m, 12h, 30d or 8w.")
    ] = None,
    judge: Annotated[
        str | None, options.option("--judge", "NAME", "Judge, as named by 'cache stats'.")
    ] = None,
) -> None:
    """Remove responses by age, judge, or both."""
    from factcheck.reports.text import plural
    from factcheck.runtime.cache import maintenance

    if older_than is None and judge is None:
        raise InputError("give --older-than AGE, --judge NAME, or both")
    before = None if older_than is None else time.time() - _age(older_than)
    folder = _folder()
    removed = maintenance.prune(folder, before=before, judge=judge)
    which = [f"older than {older_than}"] if older_than else []
    which += [f"of {judge}"] if judge is not None else []
    output.print_out(f"{plural(removed, 'response')} {' and '.join(which)} removed from {folder}")


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
