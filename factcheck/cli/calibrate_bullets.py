"""`factcheck calibrate bullets`: asks, prints the table, writes rows, plots and the page."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from factcheck.calibration.bullets import BulletRemoval, Subject, bullet_removal
from factcheck.calibration.containment import JUDGE as BASELINE
from factcheck.cli import output
from factcheck.cli.calibrate_texts import OwnText, own_texts
from factcheck.errors import JudgeUnavailable
from factcheck.files import write_text
from factcheck.runtime.budget import Budget
from factcheck.settings import Settings

PAGE = "bullets.html"


@dataclass(frozen=True)
class Asked:
    """What the command line says about the run."""

    text: OwnText
    judges: list[str] | None
    raters: list[str]
    max_calls: int | None
    max_cost_usd: float | None
    extractor: str | None
    n_random: int
    seed: int


def bullets(asked: Asked, out: str, from_rows: str | None, *, as_json: bool) -> None:
    """Run the study, or load it, and show it."""
    if from_rows is not None:
        run = BulletRemoval.load(from_rows)
    else:
        texts = own_texts(asked.text)
        judges = asked.judges or ([] if asked.raters else [Settings.from_environment().judge])
        with output.waiting("Taking bullets out"):
            run = bullet_removal(
                texts,
                judges,
                raters=asked.raters,
                budget=Budget(max_calls=asked.max_calls, max_cost_usd=asked.max_cost_usd),
                extractor=asked.extractor,
                n_random=asked.n_random,
                seed=asked.seed,
            )
        run.save(out)
    _show(run, as_json=as_json)
    output.remark(f"{_write_figures(run, Path(from_rows or out))} in {from_rows or out}")
    _require_answers(run)


def _write_figures(run: BulletRemoval, folder: Path) -> str:
    """Write the page and, if they can be made, the figures; what was written."""
    from factcheck.calibration.plots import can_plot, plot_curves, plot_facts, save_figure
    from factcheck.reports.calibration_html import render_html

    with output.waiting("Drawing"):
        write_text(folder / PAGE, render_html(run))
        if not can_plot():
            return f'{PAGE} and rows.jsonl (for plots: pip install "factcheck[plots]")'
        save_figure(plot_curves(run), folder / "curves")
        for subject in run.subjects:
            for judge in run.judges:
                if judge != BASELINE and _has_verdicts(run, judge, subject):
                    stem = re.sub(r"[^\w.-]+", "-", f"facts-{subject.name}-{judge}")
                    save_figure(plot_facts(run, judge, subject.name), folder / stem)
    return f"{PAGE}, rows.jsonl, curves.png and .svg, and a heat map for each text"


def _has_verdicts(run: BulletRemoval, judge: str, subject: Subject) -> bool:
    whole = run.row(judge, subject.name, range(len(subject.bullets)))
    return bool(whole.verdicts) and bool(subject.orders)


def _show(run: BulletRemoval, *, as_json: bool) -> None:
    if as_json:
        output.print_out(json.dumps(run.to_dict(), ensure_ascii=False, indent=2))
        return
    from factcheck.reports.calibration_bullets import bullet_report
    from factcheck.reports.calibration_table import render_bullets

    output.print_table(render_bullets(bullet_report(run)))


def _require_answers(run: BulletRemoval) -> None:
    for judge in run.judges:
        rows = [row for row in run.rows if row.judge == judge]
        if judge != BASELINE and all(row.score is None for row in rows):
            raise JudgeUnavailable(f"{judge} answered nothing: {rows[0].note}")
