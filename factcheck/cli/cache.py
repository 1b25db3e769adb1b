"""`factcheck cache`: what was paid for and is kept, and what to do with it."""

from __future__ import annotations

import re
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from factcheck.cli import options, output
from factcheck.errors import InputError

if TYPE_CHECKING:
    from factcheck.runtime.cache.upkeep import Findings

FOUND_BAD = 1
_SECONDS = {"m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
_SHOWN = 20

app = typer.Typer(rich_markup_mode=None)

Folder = Annotated[
    str | None,
    typer.Option(
        "--dir",
        metavar="DIR",
        help="The cache's folder.  [default: $FACTCHECK_CACHE_DIR, or the user's cache folder]",
    ),
]


@app.callback(invoke_without_command=True)
def _root(context: typer.Context) -> None:
    """Look after the answers that are kept."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def _folder(chosen: str | None) -> Path:
    from factcheck.runtime.cache import default_folder
    from factcheck.runtime.cache.layout import expanded
    from factcheck.settings import Settings

    return expanded(chosen or default_folder(Settings.from_environment()))


@app.command("stats", epilog="Example: factcheck cache stats")
def stats(*, dir_: Folder = None, _debug: options.Debug = False) -> None:
    """Show how many answers are kept, and of which judges."""
    from factcheck.runtime.cache import upkeep

    folder = _folder(dir_)
    found = upkeep.statistics(folder)
    lines = [
        f"folder   {folder}",
        f"entries  {found.entries}",
        f"size     {_bytes(found.size)}",
    ]
    if found.oldest is not None and found.newest is not None:
        lines += [f"oldest   {_date(found.oldest)}", f"newest   {_date(found.newest)}"]
    if found.refused:
        lines.append(f"refused  {found.refused}   see 'factcheck cache verify'")
    if found.groups:
        width = max(len(task) for task, _, _ in found.groups)
        lines += ["", *(f"{n:>8}  {task:<{width}}  {judge}" for task, judge, n in found.groups)]
    output.print_out("\n".join(lines))


@app.command("verify", epilog="Example: factcheck cache verify --repair")
def verify(
    *,
    repair: Annotated[
        bool,
        typer.Option(
            "--repair", help="Remove bad entries; start a damaged file anew with what can be read."
        ),
    ] = False,
    dir_: Folder = None,
    _debug: options.Debug = False,
) -> None:
    """Read and check every kept answer.

    Exits with 1 if there is a bad one, also when it is repaired.
    """
    from factcheck.runtime.cache import upkeep

    folder = _folder(dir_)
    found = upkeep.verify(folder)
    output.print_out("\n".join(_findings(found)))
    bad = bool(found.refused or found.damage is not None)
    if bad and repair:
        done = upkeep.repair(folder, found)
        if done.aside is None:
            output.print_out(f"{done.removed} removed")
        else:
            output.print_out(
                f"{done.saved} carried over into a new file, the old is in {done.aside}"
            )
    if bad:
        raise typer.Exit(FOUND_BAD)


def _findings(found: Findings) -> list[str]:
    lines = [f"{found.good} good, {len(found.refused)} refused"]
    lines += [
        f"  {entry.key or f'row {entry.rowid}'}: {entry.problem}"
        for entry in found.refused[:_SHOWN]
    ]
    if len(found.refused) > _SHOWN:
        lines.append(f"  and {len(found.refused) - _SHOWN} more")
    if found.damage is not None:
        lines.append(f"the file is damaged: {found.damage}")
    return lines


@app.command("prune", epilog="Example: factcheck cache prune --older-than 30d")
def prune(
    *,
    older_than: Annotated[
        str | None,
        typer.Option("--older-than", metavar="AGE", help="Answers older than 90m, 12h, 30d or 8w."),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option("--judge", metavar="NAME", help="Answers of this judge, named as in stats."),
    ] = None,
    dir_: Folder = None,
    _debug: options.Debug = False,
) -> None:
    """Remove kept answers by age, by judge, or those that are both."""
    from factcheck.runtime.cache import upkeep

    if older_than is None and judge is None:
        raise InputError("say what may go: --older-than 30d, --judge NAME, or both")
    before = None if older_than is None else time.time() - _age(older_than)
    folder = _folder(dir_)
    removed = upkeep.prune(folder, before=before, judge=judge)
    which = [f"older than {older_than}"] if older_than else []
    which += [f"of {judge}"] if judge is not None else []
    output.print_out(f"{removed} entries {' and '.join(which)} removed from {folder}")


@app.command("clear", epilog="Example: factcheck cache clear --yes")
def clear(
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    dir_: Folder = None,
    _debug: options.Debug = False,
) -> None:
    """Remove all kept answers. What was paid for has to be paid for again."""
    from factcheck.runtime.cache import upkeep

    folder = _folder(dir_)
    if not yes:
        if not sys.stdin.isatty():
            raise InputError("nobody can be asked here; give --yes to remove all kept answers")
        entries = upkeep.statistics(folder).entries
        if not typer.confirm(f"Remove all {entries} entries from {folder}?", err=True):
            output.remark("nothing was removed")
            return
    output.print_out(f"{upkeep.clear(folder)} entries removed from {folder}")


@app.command("export", epilog="Example: factcheck cache export answers.jsonl")
def export(
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="One JSON object a line; '-': print.")
    ],
    *,
    dir_: Folder = None,
    _debug: options.Debug = False,
) -> None:
    """Write all kept answers to FILE, ordered by key."""
    from factcheck import files
    from factcheck.runtime.cache import upkeep

    output.prepare_out(file)
    done = upkeep.export_lines(_folder(dir_))
    text = "".join(f"{line}\n" for line in done.lines)
    if file != "-":
        files.write_text(file, text)
        output.print_out(f"{len(done.lines)} entries written to {file}")
    elif text:
        output.print_out(text)
    if done.refused:
        output.complain(
            f"warning: {done.refused} bad entries left out; see 'factcheck cache verify'"
        )


@app.command("import", epilog="Example: factcheck cache import answers.jsonl")
def import_(
    file: Annotated[str, typer.Argument(metavar="FILE", help="What 'export' wrote.")],
    *,
    dir_: Folder = None,
    _debug: options.Debug = False,
) -> None:
    """Add the answers in FILE. An answer that is already kept stays as it is.

    Lines that are not valid are named and left out, and the exit code is 2.
    """
    from factcheck import files
    from factcheck.runtime.cache import upkeep

    entries, bad = [], 0
    for number, line in enumerate(files.read_text(file).split("\n"), start=1):
        if line.strip():
            try:
                entries.append(upkeep.parse_line(line))
            except InputError as error:
                bad += 1
                output.complain(f"{file}:{number}: {error}")
    folder = _folder(dir_)
    done = upkeep.import_entries(folder, entries)
    output.print_out(
        f"{done.added} added to {folder}, {done.present} already there, "
        f"{done.kept} kept although the file has another value"
    )
    if bad:
        raise InputError(f"{bad} lines of {file} are not valid and were left out")


def _age(text: str) -> float:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([mhdw])", text.strip())
    if match is None:
        raise InputError(f"--older-than is {text!r}; give a number and m, h, d or w, such as 30d")
    return float(match[1]) * _SECONDS[match[2]]


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:  # noqa: PLR2004 - the step of decimal units
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"


def _date(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return f"at {seconds:g} s"
