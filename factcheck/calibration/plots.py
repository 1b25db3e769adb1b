"""Plots of a bullet removal; they need the extra `plots` (matplotlib)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from factcheck.calibration.bullets_metrics import CurvePoint
from factcheck.documents import write_text, write_with
from factcheck.errors import ConfigError
from factcheck.reports.text import plural, shorten

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

State = Literal["dropped", "kept", "distorted", "undecided"]
"""What can become of a fact."""
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a57b8")
"""Okabe and Ito's, which can be told apart with any colour vision."""
_INK = "#333333"
_STATES: Mapping[State, str] = {
    "dropped": "#f1efea",
    "kept": "#2e7d4f",
    "distorted": "#c2352b",
    "undecided": "#7a57b8",
}
_LONGEST_FACT = 62
_MARKERS = "osD^vP*"
_SVG: Any = {"svg.hashsalt": "factcheck", "svg.fonttype": "none"}
_NO_METADATA: Any = {"Date": None, "Creator": None, "Format": None, "Type": None}
_DPI = 160


def can_plot() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def plot_curves(
    judges: Mapping[str, Sequence[CurvePoint]], truth: Sequence[CurvePoint], n_texts: int
) -> Figure:
    """Mean score by the share of bullets left: a line with its 95 % band for each judge.

    Args:
        judges: The curve of each judge, by name.
        truth: The curve of the true scores; may be empty.
        n_texts: Number of texts behind the means.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    figure, axes = _figure(7.2, 4.4)
    _line(axes, "true share of facts", truth, color=_INK, linestyle="--", marker="")
    for place, (judge, points) in enumerate(judges.items()):
        colour, marker = _COLOURS[place % len(_COLOURS)], _MARKERS[place % len(_MARKERS)]
        _line(axes, judge, points, color=colour, linestyle="-", marker=marker)
    axes.set(xlim=(1.02, 0), ylim=(-0.02, 1.02))
    axes.set_xlabel("share of bullets left")
    axes.set_ylabel("score")
    axes.set_title(f"Bullets are removed one by one ({plural(n_texts, 'text')})")
    axes.grid(visible=True, alpha=0.25)
    if axes.lines:
        axes.legend(frameon=False)
    return figure


def _line(axes: Axes, label: str, points: Sequence[CurvePoint], **style: Any) -> None:
    if not points:
        return
    left = [point.left for point in points]
    axes.plot(left, [point.score for point in points], label=label, markersize=4, **style)
    bands = [point.interval for point in points if point.interval]
    if len(bands) == len(points):
        lows, highs = ([band[k] for band in bands] for k in (0, 1))
        axes.fill_between(left, lows, highs, color=style["color"], alpha=0.12, linewidth=0)


def plot_facts(
    title: str,
    facts: Sequence[str],
    states: Sequence[Sequence[State]],
    truth: Sequence[Sequence[bool]] | None,
    order: str,
) -> Figure:
    """What becomes of each fact as bullets are removed: facts by number of bullets removed.

    Args:
        title: Stands above the plot.
        facts: Text of each row.
        states: The verdicts, one row per fact.
        truth: Whether the fact is really there, in the same shape; ringed. `None` if unknown.
        order: Name of the removal order.

    Raises:
        ConfigError: matplotlib is not installed.
    """
    n_columns = len(states[0])
    figure, axes = _figure(4.4 + 0.36 * n_columns, 1.1 + 0.22 * len(facts))
    from matplotlib.colors import ListedColormap

    colours, numbers = ListedColormap([*_STATES.values()]), {s: k for k, s in enumerate(_STATES)}
    image = [[numbers[state] for state in row] for row in states]
    axes.imshow(image, cmap=colours, vmin=0, vmax=len(_STATES) - 1, aspect="auto")
    rings = [(x, y) for y, row in enumerate(truth or ()) for x, held in enumerate(row) if held]
    if rings:
        xs, ys = zip(*rings, strict=True)
        axes.scatter(xs, ys, s=14, facecolors="none", edgecolors="#111111", linewidths=0.7)
    axes.set_xticks(range(n_columns), [str(n) for n in range(n_columns)])
    axes.set_yticks(range(len(facts)), [shorten(fact, _LONGEST_FACT) for fact in facts], fontsize=7)
    axes.set_xlabel("bullets removed, from the " + order if order in {"end", "start"} else order)
    axes.set_xticks([x - 0.5 for x in range(1, n_columns)], minor=True)
    axes.set_yticks([y - 0.5 for y in range(1, len(facts))], minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="minor", length=0)
    figure.suptitle(title, fontsize=10)
    _legend(figure, with_truth=truth is not None)
    return figure


def _legend(figure: Figure, *, with_truth: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(facecolor=colour, edgecolor="#bbbbbb", label=state)
        for state, colour in _STATES.items()
    ]
    if with_truth:
        ring = Line2D([], [], marker="o", linestyle="", label="really there", markersize=4)
        ring.set(markerfacecolor="none", markeredgecolor="#111111")
        handles.append(ring)
    figure.legend(
        handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=7
    )


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    if not can_plot():
        raise ConfigError("plots need matplotlib; install it: pip install 'factcheck[plots]'")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()


def save_figure(figure: Figure, stem: str | PathLike[str]) -> tuple[Path, Path]:
    """Write a figure as `STEM.png` and `STEM.svg`, and return both paths.

    The same figure gives the same bytes.

    Raises:
        InputError: They cannot be written.
    """
    png, svg = Path(f"{stem}.png"), Path(f"{stem}.svg")
    options: Any = {"format": "png", "dpi": _DPI, "metadata": {"Software": None}}
    write_with(png, lambda stream: figure.savefig(stream, **options))
    write_text(svg, svg_text(figure))
    return png, svg


def svg_text(figure: Figure) -> str:
    """A figure as SVG text, for a page."""
    import matplotlib as mpl

    sink = BytesIO()
    with mpl.rc_context(_SVG):
        figure.savefig(sink, format="svg", metadata=_NO_METADATA)
    return sink.getvalue().decode("utf-8")
