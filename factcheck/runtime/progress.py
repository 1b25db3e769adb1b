"""Progress line of work on many records."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from factcheck.facts import Usage
from factcheck.reports.text import percent, plural


class Show(Protocol):
    """Displays how much is done."""

    def __call__(self, n_done: int, n_facts: int, usage: Usage, n_all: int = 0) -> None:
        """Display the number of records so far, of facts, and of all; 0 if unknown."""


@contextmanager
def progress(message: str) -> Iterator[Show]:
    """Show count, time left, cache hits and cost on standard error if it is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda *_, **__: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(message, total=None)

        def show(n_done: int, n_facts: int, usage: Usage, n_all: int = 0) -> None:
            so_far = _progress_text(n_done, n_facts, usage, n_all)
            described = f"{message}: {so_far}"
            bar.update(task, description=described, completed=n_done, total=n_all or None)

        yield show


def _progress_text(n_done: int, n_facts: int, usage: Usage, n_all: int) -> str:
    parts = [f"{n_done:,} of {plural(n_all, 'record')}" if n_all else plural(n_done, "record")]
    if usage.cache_hits and n_facts:
        parts.append(f"{percent(min(1.0, usage.cache_hits / n_facts))} from the cache")
    if usage.calls:
        cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
        parts.append(f"{usage.calls:,} calls, {cost}")
    return ", ".join(parts)
