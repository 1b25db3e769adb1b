"""Progress line of a run over many records."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from factcheck.facts import Usage
from factcheck.reports.text import percent, plural

Show = Callable[[int, int, Usage], None]
"""Displays the number of records and facts so far, and their usage."""


@contextmanager
def progress(message: str) -> Iterator[Show]:
    """Show count, rate, cache hits and cost on standard error if it is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda *_: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(message)

        def show(n_records: int, n_facts: int, usage: Usage) -> None:
            elapsed = bar.tasks[task].elapsed or 0.0
            so_far = _progress_text(n_records, n_facts, usage, elapsed)
            bar.update(task, description=f"{message}: {so_far}")

        yield show


def _progress_text(n_records: int, n_facts: int, usage: Usage, elapsed_s: float) -> str:
    parts = [plural(n_records, "record")]
    if elapsed_s > 0:
        parts.append(f"{n_records / elapsed_s:.1f}/s")
    if usage.cache_hits:
        parts.append(f"{percent(min(1.0, usage.cache_hits / max(1, n_facts)))} from the cache")
    if usage.calls:
        cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
        parts.append(f"{usage.calls:,} calls, {cost}")
    return ", ".join(parts)
