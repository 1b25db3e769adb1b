"""Figures as files, the same bytes for the same figure."""

from __future__ import annotations

from importlib.util import find_spec
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factcheck.errors import ConfigError
from factcheck.files import file_errors

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SVG: Any = {"svg.hashsalt": "factcheck", "svg.fonttype": "none"}
_NO_METADATA: Any = {"Date": None, "Creator": None, "Format": None, "Type": None}
_DPI = 160


def can_plot() -> bool:
    """Whether matplotlib is there."""
    return find_spec("matplotlib") is not None


def require_matplotlib() -> None:
    """Say how matplotlib is had.

    Raises:
        ConfigError: It is not there.
    """
    if not can_plot():
        raise ConfigError('plots need matplotlib; pip install "factcheck[plots]"')


def save_figure(figure: Figure, stem: str | PathLike[str]) -> tuple[Path, Path]:
    """Write a figure as `STEM.png` and `STEM.svg`; the paths of both.

    Raises:
        InputError: They cannot be written.
    """
    png, svg = Path(f"{stem}.png"), Path(f"{stem}.svg")
    with file_errors(str(png), "write"):
        figure.savefig(png, dpi=_DPI, metadata={"Software": None})
        svg.write_text(svg_of(figure), encoding="utf-8")
    return png, svg


def svg_of(figure: Figure) -> str:
    """A figure as the text of an SVG picture, for a page."""
    import matplotlib as mpl

    sink = BytesIO()
    with mpl.rc_context(_SVG):
        figure.savefig(sink, format="svg", metadata=_NO_METADATA)
    return sink.getvalue().decode("utf-8")
