"""A line that shows how far a run over many records is."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from factcheck.facts import RunSummary
from factcheck.reports.text import percent, plural


@contextmanager
def progress(message: str) -> Iterator[Callable[[RunSummary], None]]:
    """A line on standard error with count, rate, cache hits and cost; nothing if nobody sees it."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console
    from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(message)

        def show(summary: RunSummary) -> None:
            elapsed = bar.tasks[task].elapsed or 0.0
            bar.update(task, description=_progress_text(message, summary, elapsed))

        yield show


def _progress_text(message: str, summary: RunSummary, elapsed_s: float) -> str:
    usage = summary.usage
    parts = [f"{message}: {plural(summary.n_records, 'record')}"]
    if elapsed_s > 0:
        parts.append(f"{summary.n_records / elapsed_s:.1f}/s")
    if usage.cache_hits:
        share = min(1.0, usage.cache_hits / max(1, summary.counts["facts"]))
        parts.append(f"{percent(share)} from the cache")
    if usage.calls:
        cost = "cost unknown" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"
        parts.append(f"{usage.calls:,} calls, {cost}")
    return ", ".join(parts)
