"""The two figures of a bullet removal: the score as bullets go, and each fact as bullets go."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from factcheck.calibration.bullets import BulletRemoval, Subject
from factcheck.calibration.bullets.curves import curve
from factcheck.calibration.bullets.subjects import TRUTH
from factcheck.calibration.plots.saving import require_matplotlib

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a57b8")
"""Okabe and Ito's, which people with any colour vision can tell apart."""
_INK = "#333333"
_STATES = ("dropped", "kept", "distorted", "undecided")
_TONES = ("#f1efea", "#2e7d4f", "#c2352b", "#7a57b8")
_LONGEST_FACT = 62
_MARKERS = "osD^vP*"


def plot_curves(run: BulletRemoval) -> Figure:
    """Mean score against the share of bullets left, a line with its 95 % band for each judge.

    Raises:
        ConfigError: matplotlib is not there.
    """
    figure, axes = _figure(7.2, 4.4)
    if run.paths(TRUTH):
        _line(axes, run, TRUTH, color=_INK, linestyle="--", marker="")
    for place, judge in enumerate(run.judges):
        colour, marker = _COLOURS[place % len(_COLOURS)], _MARKERS[place % len(_MARKERS)]
        _line(axes, run, judge, color=colour, linestyle="-", marker=marker)
    axes.set(xlim=(1.02, 0), ylim=(-0.02, 1.02))
    axes.set_xlabel("share of bullets left")
    axes.set_ylabel("score")
    n = len(run.subjects)
    axes.set_title(f"Bullets are taken out one by one ({n} {'text' if n == 1 else 'texts'})")
    axes.grid(visible=True, alpha=0.25)
    if axes.lines:
        axes.legend(frameon=False)
    return figure


def _line(axes: Axes, run: BulletRemoval, name: str, **style: Any) -> None:
    points = curve(run.paths(name))
    if not points:
        return
    left = [point.left for point in points]
    label = "true share of facts" if name == TRUTH else name
    axes.plot(left, [point.score for point in points], label=label, markersize=4, **style)
    if all(point.interval for point in points):
        bands = [point.interval for point in points if point.interval]
        axes.fill_between(
            left,
            [band.low for band in bands],
            [band.high for band in bands],
            color=style["color"],
            alpha=0.12,
            linewidth=0,
        )


def plot_facts(run: BulletRemoval, judge: str, text: str, order: str = "end") -> Figure:
    """What a judge says of each fact of a text while bullets go: facts by bullets taken out.

    A ring marks the facts that are there in truth, where that is known.

    Raises:
        ConfigError: matplotlib is not there.
        KeyError: The run has no such judge, text or order, or the judge gives no verdicts.
    """
    subject = next(subject for subject in run.subjects if subject.name == text)
    kept_sets = list(next(o for o in subject.orders if o.name == order).kept())
    facts = [fact.id for fact in subject.facts]
    rows = [run.row(judge, text, kept) for kept in kept_sets]
    states = [[_state(row.verdicts[fact]) for row in rows] for fact in facts]
    figure, axes = _figure(4.4 + 0.36 * len(kept_sets), 1.1 + 0.22 * len(facts))
    from matplotlib.colors import ListedColormap

    axes.imshow(states, cmap=ListedColormap(_TONES), vmin=0, vmax=len(_STATES) - 1, aspect="auto")
    known = subject.carriers is not None and subject.carriers_from == TRUTH
    if known:
        _mark_truth(axes, subject, kept_sets)
    axes.set_xticks(range(len(kept_sets)), [str(n) for n in range(len(kept_sets))])
    axes.set_yticks(range(len(facts)), [_short(fact.text) for fact in subject.facts], fontsize=7)
    axes.set_xlabel("bullets taken out, from the " + order if order in {"end", "start"} else order)
    axes.set_xticks([x - 0.5 for x in range(1, len(kept_sets))], minor=True)
    axes.set_yticks([y - 0.5 for y in range(1, len(facts))], minor=True)
    axes.grid(which="minor", color="white", linewidth=1)
    axes.tick_params(which="minor", length=0)
    figure.suptitle(f"{text}, by {judge}", fontsize=10)
    _legend(figure, with_truth=known)
    return figure


def _state(label: str) -> int:
    if label.startswith("?"):
        return _STATES.index("undecided")
    return {"entailed": 1, "contradicted": 2}.get(label, 0)


def _mark_truth(axes: Axes, subject: Subject, kept_sets: Sequence[frozenset[int]]) -> None:
    places = [
        (column, row)
        for row, fact in enumerate(subject.facts)
        for column, kept in enumerate(kept_sets)
        if not (subject.carriers or {})[fact.id].isdisjoint(kept)
    ]
    if places:
        xs, ys = zip(*places, strict=True)
        axes.scatter(xs, ys, s=14, facecolors="none", edgecolors="#111111", linewidths=0.7)


def _legend(figure: Figure, *, with_truth: bool) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = [
        Patch(facecolor=tone, edgecolor="#bbbbbb", label=state)
        for state, tone in zip(_STATES, _TONES, strict=True)
    ]
    if with_truth:
        ring = Line2D([], [], marker="o", linestyle="", label="there in truth", markersize=4)
        ring.set(markerfacecolor="none", markeredgecolor="#111111")
        handles.append(ring)
    figure.legend(
        handles=handles, loc="outside lower center", ncols=len(handles), frameon=False, fontsize=7
    )


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_FACT else f"{text[: _LONGEST_FACT - 1]}\u2026"


def _figure(width: float, height: float) -> tuple[Figure, Axes]:
    require_matplotlib()
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, figure.add_subplot()
