"""`factcheck cache`: show and clear the response cache."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from factcheck.cli import output
from factcheck.cli.options import flag
from factcheck.errors import ConfigError, InputError


def _place() -> tuple[Path, Path]:
    """Return the folder of the cache, and its database."""
    from factcheck.runtime.cache import default_folder
    from factcheck.runtime.cache.disk import database, expanded
    from factcheck.settings import Settings

    settings = Settings.from_environment()
    if settings.cache not in (None, "off"):
        raise ConfigError(
            "FACTCHECK_CACHE names another cache, and this is about the one on disk; unset it"
        )
    folder = expanded(default_folder(settings))
    return folder, database(folder)


def stats() -> None:
    """Count cached responses."""
    from rich.filesize import decimal

    from factcheck.runtime.cache import store

    folder, path = _place()
    found = store.contents(path)
    lines = [
        f"folder   {folder}",
        f"entries  {found.n_entries}",
        f"size     {decimal(found.size)}",
    ]
    if found.oldest is not None and found.newest is not None:
        lines += [f"oldest   {_date(found.oldest)}", f"newest   {_date(found.newest)}"]
    output.print_out("\n".join(lines))


def clear(*, yes: Annotated[bool, flag("--yes", "Do not ask for confirmation.")] = False) -> None:
    """Remove all cached responses; they will have to be paid for again."""
    from factcheck.reports.text import plural
    from factcheck.runtime.cache import store

    folder, path = _place()
    if not yes:
        if not sys.stdin.isatty():
            raise InputError("standard input is not a terminal; confirm with --yes")
        responses = plural(store.contents(path).n_entries, "response")
        if not typer.confirm(f"Remove {responses} from {folder}?", err=True):
            output.print_note("nothing removed")
            return
    removed = plural(store.clear(path), "response")
    output.print_out(f"{removed} removed from {folder}")


def _date(seconds: float) -> str:
    try:
        return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))
    except (OverflowError, ValueError, OSError):
        return f"at {seconds:g} s"
