"""Rich renderables as plain text; goes once calibration prints pages."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, RenderableType

from factcheck.reports.table import WIDTH


def plain(renderable: RenderableType, width: int = WIDTH) -> str:
    """What Rich would print, as plain text without colour and without a final newline."""
    sink = StringIO()
    console = Console(
        file=sink,
        width=width,
        color_system=None,
        force_terminal=False,
        force_jupyter=False,
        force_interactive=False,
        legacy_windows=False,
    )
    console.print(renderable, crop=False)
    return "\n".join(line.rstrip() for line in sink.getvalue().splitlines()).rstrip()
