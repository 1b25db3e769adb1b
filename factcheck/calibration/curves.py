"""The mean curves of judges as SVG."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape

from factcheck.calibration.bullets_metrics import CurvePoint
from factcheck.reports.text import plural, shorten_middle, visible

_WIDTH, _HEIGHT = 720, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 700, 40, 390
"""Edges of the area of the curves."""
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a57b8")
"""Okabe and Ito's, which can be told apart with any colour vision."""
_GREY = "#808080"
_TICKS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LEGEND_STEP = 18


def curves_svg(
    judges: Mapping[str, Sequence[CurvePoint]], truth: Sequence[CurvePoint], n_texts: int
) -> str:
    """A line with its 95 % band for each judge, and the truth dashed, if it is known."""
    curves = [("true share of facts", truth, _GREY)] if truth else []
    for place, (judge, points) in enumerate(judges.items()):
        if points:
            curves.append((judge, points, _COLOURS[place % len(_COLOURS)]))
    title = f"Bullets are removed one by one ({plural(n_texts, 'text')})"
    parts = list(_axes(title))
    for place, (name, points, colour) in enumerate(curves):
        parts += _curve(points, colour)
        y = _BOTTOM - 12 - (len(curves) - 1 - place) * _LEGEND_STEP
        dashes = _dashes(colour)
        parts.append(f'<path d="M{_LEFT + 12} {y - 4}h24" stroke="{colour}"{dashes}/>')
        parts.append(_text(_LEFT + 42, y, shorten_middle(visible(name)), "start"))
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" fill="none" '
        'stroke-width="2" font-family="sans-serif" font-size="12" color="#808080" role="img" '
        f'aria-label="{title}">\n'
        f"{body}\n</svg>\n"
    )


def _axes(title: str) -> Iterator[str]:
    middle = (_LEFT + _RIGHT) // 2
    yield _text(middle, _TOP - 16, title)
    yield _text(middle, _HEIGHT - 12, "share of bullets left")
    yield _text(_LEFT, _TOP - 16, "score")
    for tick in _TICKS:
        x, y = _place(tick, tick).split(",")
        grid = 'stroke="currentColor" stroke-width="1" opacity="0.25"'
        yield f'<path d="M{x} {_TOP}V{_BOTTOM}M{_LEFT} {y}H{_RIGHT}" {grid}/>'
        yield _text(x, _BOTTOM + 18, f"{tick:g}")
        yield _text(_LEFT - 8, float(y) + 4, f"{tick:g}", "end")


def _curve(points: Sequence[CurvePoint], colour: str) -> Iterator[str]:
    bands = [(point.left, point.interval) for point in points if point.interval]
    if len(bands) == len(points):
        outline = [_place(left, band.high) for left, band in bands]
        outline += [_place(left, band.low) for left, band in reversed(bands)]
        yield f'<polygon points="{" ".join(outline)}" fill="{colour}" opacity="0.12"/>'
    line = " ".join(_place(point.left, point.score) for point in points)
    yield f'<polyline points="{line}" stroke="{colour}"{_dashes(colour)}/>'


def _dashes(colour: str) -> str:
    return ' stroke-dasharray="6 4"' if colour == _GREY else ""


def _place(left: float, score: float) -> str:
    x = _RIGHT - left * (_RIGHT - _LEFT)
    y = _BOTTOM - score * (_BOTTOM - _TOP)
    return f"{x:.1f},{y:.1f}"


def _text(x: object, y: float, words: str, anchor: str = "middle") -> str:
    where = f'x="{x}" y="{y:g}" text-anchor="{anchor}"'
    return f'<text {where} fill="currentColor">{escape(words)}</text>'
