"""Progress line of work on many records."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from factcheck.facts import Usage
from factcheck.reports.text import percent, plural

_MINUTE = 60


class Show(Protocol):
    """Displays how much is done."""

    def __call__(self, n_done: int, n_facts: int, usage: Usage, n_all: int = 0) -> None:
        """Display the number of records so far, of facts, and of all; 0 if unknown."""


@contextmanager
def progress(message: str) -> Iterator[Show]:
    """Show count, rate, time left, cache hits and cost on standard error if it is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda *_, **__: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(message)

        def show(n_done: int, n_facts: int, usage: Usage, n_all: int = 0) -> None:
            elapsed = bar.tasks[task].elapsed or 0.0
            so_far = _progress_text(n_done, n_facts, usage, elapsed, n_all)
            bar.update(task, description=f"{message}: {so_far}")

        yield show


def _progress_text(
    n_done: int, n_facts: int, usage: Usage, elapsed_s: float, n_all: int = 0
) -> str:
    parts = [f"{n_done:,} of {plural(n_all, 'record')}" if n_all else plural(n_done, "record")]
    if elapsed_s > 0:
        parts.append(f"{n_done / elapsed_s:.1f}/s")
    if 0 < n_done < n_all:
        parts.append(f"{time_text(elapsed_s * (n_all - n_done) / n_done)} left")
    if usage.cache_hits and n_facts:
        parts.append(f"{percent(min(1.0, usage.cache_hits / n_facts))} from the cache")
    if usage.calls:
        cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
        parts.append(f"{usage.calls:,} calls, {cost}")
    return ", ".join(parts)


def time_text(seconds: float) -> str:
    """Return a rough duration: `about 40 seconds`, `about 4 minutes`."""
    if seconds < 1.5 * _MINUTE:
        return f"about {plural(max(1, round(seconds)), 'second')}"
    return f"about {plural(round(seconds / _MINUTE), 'minute')}"
