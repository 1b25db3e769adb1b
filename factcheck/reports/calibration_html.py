"""The report of a bullet removal as one page: figures, tables, and every text with its facts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files

from factcheck.calibration.bullets import BulletRemoval, Subject
from factcheck.calibration.containment import JUDGE as BASELINE
from factcheck.calibration.plots import can_plot, plot_curves, plot_facts, svg_of
from factcheck.reports.calibration_bullets import NONE, bullet_report, short


def render_html(run: BulletRemoval) -> str:
    """The report as a self-contained page; without matplotlib it has tables, but no figures."""
    report = bullet_report(run)
    parts = [
        '<section class="headline">',
        "<h1>Bullet removal</h1>",
        f'<p class="counts">{escape(report.headline)}</p>',
        *(f'<p class="note">{escape(note)}</p>' for note in report.notes),
        "</section>",
    ]
    if can_plot() and report.chart:
        parts.append(f'<div class="figure">{_inline(svg_of(plot_curves(run)))}</div>')
    parts.append(_section("Figures", _table(("", *report.columns), report.rows), opened=True))
    parts.append(_section("Mean score by the share of bullets left", _curves(run)))
    parts += [_section(subject.name, "\n".join(_subject(run, subject))) for subject in run.subjects]
    return _page("Bullet removal", "\n".join(parts))


def _page(title: str, body: str) -> str:
    folder = files("factcheck.reports")
    css = "".join((folder / name).read_text("utf-8") for name in ("page.css", "calibration.css"))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>\n{css}</style>\n</head>\n"
        f"<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _curves(run: BulletRemoval) -> str:
    report = bullet_report(run)
    return _table(("bullets left", *report.columns), report.chart)


def _subject(run: BulletRemoval, subject: Subject) -> Iterator[str]:
    judges = [judge for judge in run.judges if judge != BASELINE]
    for judge in judges:
        whole = run.row(judge, subject.name, range(len(subject.bullets)))
        if can_plot() and subject.orders and whole.verdicts:
            svg = svg_of(plot_facts(run, judge, subject.name))
            yield f'<div class="figure">{_inline(svg)}</div>'
    effects = [run.bullet_effects(judge, subject.name) for judge in judges]
    rows = [
        (str(number), text, *map(_effect, falls))
        for number, (text, *falls) in enumerate(
            zip(subject.bullets.texts, *effects, strict=True), 1
        )
    ]
    yield '<p class="soft">Fall of the score when a bullet goes, on average over the orders:</p>'
    yield _table(("", "bullet", *judges), rows)


def _effect(fall: float | None) -> str:
    return NONE if fall is None else short(fall)


def _inline(svg: str) -> str:
    """A picture without what only a file of its own needs."""
    return svg[svg.index("<svg") :]


def _section(title: str, body: str, *, opened: bool = False) -> str:
    state = " open" if opened else ""
    return (
        f'<details class="group plain"{state}>\n<summary><h2>{escape(title)}</h2></summary>\n'
        f'<div class="numbers">\n{body}\n</div>\n</details>'
    )


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    head = "".join(f"<th>{escape(column)}</th>" for column in columns)
    lines = ("".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows)
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table>"
