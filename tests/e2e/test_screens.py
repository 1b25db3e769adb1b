"""Every page without serious findings of axe-core, and cells of notebooks in their mode.

axe-core is read from the folder in AXE, or from npm's global folder.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

import factcheck
from factcheck import calibration, fields
from factcheck.facts import CoverageReport
from factcheck.scoring.many import RecordFailure
from factcheck.scoring.run_report import RunReport
from tests.reports.examples import all_groups, both_directions

INPUTS = Path(__file__).parents[1] / "goldens" / "inputs"
"""Bytes of a kept screen."""


def sample(name: str) -> str:
    return (files("factcheck") / "samples" / name).read_text("utf-8")


def rows(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (INPUTS / name).read_text("utf-8").splitlines()]


@cache
def reports() -> tuple[CoverageReport, CoverageReport]:
    """The sample, and the sample without the second half of its summary."""
    source, summary = sample("harbour.txt"), sample("harbour_summary.txt")
    half = summary[: summary.index(".", len(summary) // 2) + 1]
    with factcheck.FactCoverage("local-fast") as scorer:
        facts = scorer.extract(source)
        whole, short = (scorer.score(source, text, facts=facts) for text in (summary, half))
    return whole.named("harbour.txt", "summary.txt"), short.named("harbour.txt", "short.txt")


def run() -> RunReport:
    whole, short = reports()
    failure = RecordFailure("lost", "unavailable", "no reply")
    return RunReport({"whole": whole, "short": short, "lost": failure})


def trust() -> str:
    text = {"source": sample("harbour.txt"), "summary": sample("harbour_summary.txt")}
    labels = [
        calibration.LabelledPair(str(n), "", "A deep lake.", "The lake is deep.", label=n < 2)
        for n in range(3)
    ]
    return calibration.trust("local-fast", [text], labels).to_html()


def evaluated_fields() -> str:
    gold, extracted = rows("gold.jsonl"), rows("extracted.jsonl")
    schema = fields.annotate_xeval(fields.infer_schema(gold))
    return fields.evaluate(gold, extracted, schema, id_field="id").to_html()


def notebook() -> str:
    cell = reports()[0]._repr_html_()
    return f'<!doctype html><html lang="en"><title>Notebook</title><body>{cell}</body></html>'


PAGES: dict[str, Callable[[], str]] = {
    "report": lambda: reports()[0].to_html(),  # noqa: PLW0108 - made when it is needed
    "verdicts": lambda: all_groups().to_html(),
    "claims": lambda: both_directions().to_html(),
    "run": lambda: run().to_html(),
    "compare": lambda: factcheck.compare(*reports()).to_html(),
    "trust": trust,
    "fields": evaluated_fields,
    "notebook": notebook,
}
html = cache(lambda name: PAGES[name]())


def test_a_notebook_cannot_spoil_a_cell_and_gives_it_its_mode(tab: Any) -> None:
    """Margins, borders and backgrounds of JupyterLab's own rules; long lists are folded."""
    cell = reports()[0]._repr_html_()
    lab = (
        "<style>.lab p, .lab blockquote { margin: 0 0 1em; border: 9px solid } "
        ".lab ol:not(.list-inline) { padding-left: 2em }</style>"
    )
    body = '<body data-jp-theme-light="{}" style="background: #111"><div class="lab">{}</div>'
    seen = []
    for is_light in ("true", "false"):
        page = tab(
            f'<!doctype html><html lang="en"><title>N</title>{lab}{body.format(is_light, cell)}'
        )
        seen.append(
            page.evaluate(
                """() => {
                const one = name => document.querySelector(".factcheck" + name);
                const [cell, counts, list] = ["", " .counts", " ol"].map(
                    name => getComputedStyle(one(name)));
                return [counts.marginBottom, counts.borderTopWidth, list.paddingLeft,
                        cell.backgroundColor,
                        one("").querySelectorAll("details:not([open])").length];
                }"""
            )
        )
    light, dark = seen
    assert light[:3] == dark[:3] == ["0px", "0px", "0px"]
    assert (light[3], dark[3]) == ("rgb(251, 250, 248)", "rgb(22, 22, 20)")
    assert light[4] == 2


@cache
def axe() -> str:
    """The source of axe-core; empty where it is not found."""
    folder = os.environ.get("AXE")
    if folder is None and (npm := shutil.which("npm")):
        found = subprocess.run([npm, "root", "-g"], capture_output=True, text=True, check=False)  # noqa: S603 - a fixed command
        folder = str(Path(found.stdout.strip()) / "axe-core")
    path = Path(folder or "", "axe.min.js")
    return path.read_text("utf-8") if folder and path.is_file() else ""


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(tab: Any, name: str, scheme: str) -> None:
    if not axe():
        pytest.skip("needs axe-core: npm install -g axe-core, or AXE=FOLDER of its axe.min.js")
    page = tab(html(name), color_scheme=scheme)
    page.evaluate(axe())
    assert serious(page) == []
    if name == "run":
        page.locator("[data-open]").last.click()
        page.locator("dialog .page").wait_for()
        assert serious(page) == []


def serious(page: Any) -> list[str]:
    found = page.evaluate("axe.run()")
    assert len(found["passes"]) > 5
    return [
        f"{one['help']}: {[node['html'][:200] for node in one['nodes']][:3]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
    ]
