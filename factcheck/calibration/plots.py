"""Plots of a bullet removal; they need the extra `plots` (matplotlib)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from io import BytesIO
from os import PathLike
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
_METADATA = ("Date", "Creator", "Format", "Type")
_STATES: Mapping[State, str] = {
    "dropped": "#f1efea",
    "kept": "#2e7d4f",
    "distorted": "#c2352b",
    "undecided": "#7a57b8",
}
_MARKERS = "osD^vP*"


def can_plot() -> bool:
    return find_spec("matplotlib") is not None


def plot_curves(
    judges: Mapping[str, Sequence[CurvePoint]], truth: Sequence[CurvePoint], n_texts: int
) -> Figure:
    """Mean score by the share of bullets left: a line with its 95 % band for each judge."""
    figure, axes = _figure(7.2, 4.4)
    _line(axes, "true share of facts", truth, color="#333333", linestyle="--", marker="")
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

    `states` has one row per fact, and so has `truth`: whether the fact is really there, which is
    ringed; `None` if unknown.
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
    axes.set_yticks(range(len(facts)), [shorten(fact, 62) for fact in facts], fontsize=7)
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


def save_figure(figure: Figure, stem: str | PathLike[str]) -> None:
    """Write a figure as `STEM.png` and `STEM.svg`; the same figure gives the same bytes."""
    options: Any = {"format": "png", "dpi": 160, "metadata": {"Software": None}}
    write_with(f"{stem}.png", lambda stream: figure.savefig(stream, **options))
    write_text(f"{stem}.svg", svg_text(figure))


def svg_text(figure: Figure) -> str:
    import matplotlib as mpl

    sink, repeatable = BytesIO(), {"svg.hashsalt": "factcheck", "svg.fonttype": "none"}
    with mpl.rc_context(repeatable):  # type: ignore[arg-type]
        figure.savefig(sink, format="svg", metadata=dict.fromkeys(_METADATA))
    return sink.getvalue().decode("utf-8")
