"""Small pictures in SVG: dots with their mean, histograms of shares, and curves with bands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import cycle

from factcheck.reports.page import Svg
from factcheck.reports.text import LONGEST_VALUE, name_text, signed
from factcheck.stats.intervals import Interval
from factcheck.stats.resampling import Comparison

_WIDTH = 640
_LEFT, _RIGHT = 30, 610
_BLUE, _ORANGE, _GREY = "#0072b2", "#d55e00", "#808080"
_COLOURS = (_BLUE, _ORANGE, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7a57b8")
"""Okabe and Ito's, which can be told apart with any colour vision."""
_DOT = 5
_BAR_HEIGHT = 110
_CURVES_LEFT, _CURVES_TOP, _CURVES_BOTTOM = 50, 40, 390
"""Edges of the area of curves."""
_LEGEND_STEP = 18
_QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
Point = tuple[float, float, Interval | None]
"""A point of a curve: share left, score, and the 95 % interval of the score."""


def dots_svg(differences: Sequence[float], main: Comparison) -> Svg:
    """Draw a dot for each difference B - A, and their mean with its 95 % interval below."""
    ends = [*differences, *(main.interval or ()), main.difference]
    widest: float = max(0.05, *map(abs, ends))

    def x(value: float) -> float:
        return (_LEFT + _RIGHT) / 2 + value / widest * (_RIGHT - _LEFT) / 2

    parts = [
        _text(_LEFT, 16, "A higher", "start"),
        _text(_RIGHT, 16, "B higher", "end"),
        f'<path d="M{x(0):.1f} 22V70" stroke="currentColor" stroke-dasharray="3 3"/>',
    ]
    for value in differences:
        words = f"<title>{escape(signed(value))}</title>"
        where = f'cx="{x(value):.1f}" cy="36" r="{_DOT}"'
        parts.append(f'<circle {where} fill="{_BLUE}" opacity="0.4">{words}</circle>')
    if main.interval is not None:
        low, high = map(x, main.interval)
        parts.append(f'<path d="M{low:.1f} 56H{high:.1f}" stroke="{_ORANGE}" stroke-width="3"/>')
    parts.append(f'<circle cx="{x(main.difference):.1f}" cy="56" r="6" fill="{_ORANGE}"/>')
    parts += _ticks([(x(value), signed(value)) for value in (-widest, 0.0, widest)], 88)
    return _svg(parts, 96, "Differences B - A as dots, their mean with its 95 % interval")


def histogram_svg(bins: Sequence[int]) -> Svg:
    """Draw the number of values in equal parts of the range from 0 to 1."""
    base, highest = _BAR_HEIGHT + 20, max(bins, default=0)
    width = (_RIGHT - _LEFT) / max(1, len(bins))
    parts = [f'<path d="M{_LEFT} {base}H{_RIGHT}" stroke="currentColor" opacity="0.4"/>']
    for place, n in enumerate(bins):
        if n:
            height, left = _BAR_HEIGHT * n / highest, _LEFT + place * width
            where = f'x="{left + 2:.1f}" y="{base - height:.1f}" width="{width - 4:.1f}"'
            parts.append(f'<rect {where} height="{height:.1f}" fill="{_BLUE}"/>')
            parts.append(_text(left + width / 2, base - height - 5, f"{n:,}"))
    edges = [(_LEFT + place * width, place / len(bins)) for place in range(len(bins) + 1)]
    parts += _ticks([(left, f"{value:.1f}") for left, value in edges], base + 16)
    return _svg(parts, base + 24, "Number of records by coverage")


def curves_svg(curves: Mapping[str, Sequence[Point]], title: str, reference: str) -> Svg:
    """Draw scores by the share of bullets left, from 1 to 0: a line with its band for each name.

    The line called `reference` is grey and dashed.
    """
    middle = (_CURVES_LEFT + _RIGHT) / 2
    parts = [
        _text(middle, _CURVES_TOP - 16, title),
        _text(middle, _CURVES_BOTTOM + 38, "share of bullets left"),
        _text(_CURVES_LEFT, _CURVES_TOP - 16, "score"),
    ]
    for tick in _QUARTERS:
        x, y = _place(tick, tick)
        grid = f"M{x:.1f} {_CURVES_TOP}V{_CURVES_BOTTOM}M{_CURVES_LEFT} {y:.1f}H{_RIGHT}"
        parts.append(f'<path d="{grid}" stroke="currentColor" opacity="0.25"/>')
        parts.append(_text(x, _CURVES_BOTTOM + 18, f"{tick:g}"))
        parts.append(_text(_CURVES_LEFT - 8, y + 4, f"{tick:g}", "end"))
    colours = cycle(_COLOURS)
    y = _CURVES_BOTTOM - 12 - (len(curves) - 1) * _LEGEND_STEP
    for name, points in curves.items():
        colour, dashes = next(colours), ""
        if name == reference:
            colour, dashes = _GREY, ' stroke-dasharray="6 4"'
        stroke = f'fill="none" stroke="{colour}" stroke-width="2"{dashes}'
        bands = [(left, band) for left, _, band in points if band]
        if len(bands) == len(points):
            outline = [(left, band.high) for left, band in bands]
            outline += [(left, band.low) for left, band in reversed(bands)]
            parts.append(f'<polygon points="{_line(outline)}" fill="{colour}" opacity="0.12"/>')
        line = _line([(left, score) for left, score, _ in points])
        parts.append(f'<polyline points="{line}" {stroke}/>')
        parts.append(f'<path d="M{_CURVES_LEFT + 12} {y - 4}h24" {stroke}/>')
        parts.append(_text(_CURVES_LEFT + 42, y, name_text(name, LONGEST_VALUE), "start"))
        y += _LEGEND_STEP
    return _svg(parts, _CURVES_BOTTOM + 50, title)


def _place(left: float, score: float) -> tuple[float, float]:
    x = _RIGHT - left * (_RIGHT - _CURVES_LEFT)
    return x, _CURVES_BOTTOM - score * (_CURVES_BOTTOM - _CURVES_TOP)


def _line(points: Sequence[tuple[float, float]]) -> str:
    places = (_place(*point) for point in points)
    return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)


def _ticks(places: Sequence[tuple[float, str]], y: float) -> Iterator[str]:
    return (_text(x, y, words) for x, words in places)


def _text(x: float, y: float, words: str, anchor: str = "middle") -> str:
    where = f'x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"'
    return f'<text {where} fill="currentColor">{escape(words)}</text>'


def _svg(parts: Sequence[str], height: float, label: str) -> Svg:
    body = "\n".join(parts)
    return Svg(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height:.0f}" '
        f'font-family="sans-serif" font-size="12" color="#595959" role="img" '
        f'aria-label="{escape(label)}">\n{body}\n</svg>\n'
    )
