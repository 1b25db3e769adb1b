"""What the report of a bullet removal says, whatever it is rendered to."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from factcheck.calibration.bullets import BulletRemoval, Figure, JudgeMeasures
from factcheck.calibration.bullets.curves import CurvePoint, curve
from factcheck.calibration.bullets.subjects import TRUTH
from factcheck.facts import Usage

NONE = "\u2013"
_LABELS = (
    ("kendall", "Kendall, facts left", ""),
    ("spearman", "Spearman, facts left", ""),
    ("kendall_bullets", "Kendall, bullets left", ""),
    ("kendall_characters", "Kendall, characters left", ""),
    ("rising_steps", "steps at which it rises", "%"),
    ("unchanged_steps", "steps without a change", "%"),
    ("missed_drops", "lost facts it overlooks", "%"),
    ("distinct_scores", "distinct scores", "%"),
    ("at_ceiling", "variants at the top", "%"),
    ("drop_per_bullet", "fall per bullet", ""),
    ("full_score", "the whole summary", ""),
    ("error", "error against the truth", ""),
    ("found", "there, called entailed", "%"),
    ("invented", "absent, called entailed", "%"),
)
_BAR = 20


class BulletReport(NamedTuple):
    """The report, as words."""

    headline: str
    columns: tuple[str, ...]
    """The judges; the truth first, where it is known."""
    rows: tuple[tuple[str, ...], ...]
    """Name of a figure, then its value and interval for each judge."""
    chart: tuple[tuple[str, ...], ...]
    """Share of bullets left, then the mean score of each judge as a bar."""
    notes: tuple[str, ...]


def bullet_report(run: BulletRemoval) -> BulletReport:
    """The report of a bullet removal."""
    names = ((TRUTH,) if run.paths(TRUTH) else ()) + run.judges
    measures = [run.measures(name) for name in names]
    n_variants = len({(row.text, row.kept) for row in run.rows})
    n_texts = len(run.subjects)
    return BulletReport(
        headline=(
            f"Bullet removal: {n_texts} {'text' if n_texts == 1 else 'texts'}, "
            f"{n_variants:,} variants, {measures[0].n_paths} removal orders"
        ),
        columns=names,
        rows=(*_figures(names, measures), *_counts(measures), *_costs(run, names)),
        chart=tuple(_chart([curve(run.paths(name)) for name in names])),
        notes=tuple(run.notes()),
    )


def _figures(names: Sequence[str], measures: Sequence[JudgeMeasures]) -> list[tuple[str, ...]]:
    rows = []
    for name, label, unit in _LABELS:
        cells = [
            _figure(judge.figures[name], unit, plain=of == TRUTH)
            for of, judge in zip(names, measures, strict=True)
        ]
        if any(cell != NONE for cell in cells):
            rows.append((label, *cells))
    return rows


def _figure(figure: Figure, unit: str, *, plain: bool) -> str:
    if figure.value is None:
        return NONE
    shown: Callable[[float], str] = _percent if unit else short
    interval = None if plain else figure.interval
    span = f" ({shown(interval.low)}\u2013{shown(interval.high)})" if interval else ""
    return f"{shown(figure.value)}{unit and ' %'}{span}"


def _percent(value: float) -> str:
    return f"{100 * value:.0f}"


def short(value: float) -> str:
    """Three decimals, without a zero before the point."""
    return re.sub(r"^(-?)0\.", r"\1.", f"{value:.3f}")


def _counts(measures: Sequence[JudgeMeasures]) -> list[tuple[str, ...]]:
    rows = [("rises, in all", *(str(judge.n_rising) for judge in measures))]
    constant = [judge.n_constant_paths for judge in measures]
    if any(constant):
        rows.append(("constant orders", *map(str, constant)))
    if any(judge.n_missing for judge in measures):
        cells = (f"{judge.n_missing} of {judge.n_variants}" for judge in measures)
        rows.append(("answers missing", *cells))
    return rows


def _costs(run: BulletRemoval, names: Sequence[str]) -> list[tuple[str, ...]]:
    usages = [run.usage(name) for name in names]
    if not any(usage.calls or usage.cache_hits for usage in usages):
        return []
    return [
        ("calls", *(f"{usage.calls:,}" for usage in usages)),
        ("tokens", *(f"{usage.prompt_tokens + usage.completion_tokens:,}" for usage in usages)),
        ("cost", *map(_cost, usages)),
    ]


def _cost(usage: Usage) -> str:
    return "not known" if usage.cost_usd is None else f"${usage.cost_usd:.4f}"


def _chart(curves: Sequence[Sequence[CurvePoint]]) -> list[tuple[str, ...]]:
    shares = sorted({point.left for points in curves for point in points}, reverse=True)
    by_share = [{point.left: point.score for point in points} for points in curves]
    return [
        (f"{100 * left:.0f} %", *(_bar(scores.get(left)) for scores in by_share)) for left in shares
    ]


def _bar(score: float | None) -> str:
    return NONE if score is None else f"{short(score)} {'█' * round(_BAR * score)}"
