"""The report for a terminal: colour where there is one, the same words where there is none."""

from __future__ import annotations

from io import StringIO

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from factcheck.facts import CheckResult, CoverageReport, FactSet
from factcheck.reports import content

WIDTH = 100
_WIDEST_ID = 12
_STYLES: dict[content.GroupKind, str] = {
    "distorted": "red",
    "dropped": "yellow",
    "undecided": "magenta",
    "kept": "green",
    "superfluous": "yellow",
    "undecided-claims": "magenta",
}


def render_text(report: CoverageReport) -> str:
    """The report as plain text of `WIDTH` columns, without colour and without a final newline."""
    sink = StringIO()
    console = Console(
        file=sink,
        width=WIDTH,
        color_system=None,
        force_terminal=False,
        force_jupyter=False,
        force_interactive=False,
        legacy_windows=False,
    )
    console.print(render(report), crop=False)
    return "\n".join(line.rstrip() for line in sink.getvalue().splitlines()).rstrip()


def render(report: CoverageReport) -> RenderableType:
    """The report as something that Rich can print, at any width."""
    parts: list[RenderableType] = [_headline(content.coverage_headline(report))]
    if musts := content.lost_musts(report):
        parts.append(Text(musts, "bold red"))
    parts += _groups(content.fact_groups(report))
    if faithfulness := content.faithfulness_headline(report):
        parts += [Text(), _headline(faithfulness)]
        parts += _groups(content.claim_groups(report))
    parts += [Text(), _footer(report)]
    return Group(*parts)


def render_facts(facts: FactSet) -> str:
    """Facts as plain text, one line each: id, what sets it apart, the statement."""
    ids = [Text(content.one_line(fact.id)) for fact in facts]
    width = max((id_.cell_len for id_ in ids), default=0)
    lines = []
    for id_, fact in zip(ids, facts, strict=True):
        parts = (
            id_.plain + " " * (width - id_.cell_len),
            content.label(fact),
            content.one_line(fact.text),
        )
        lines.append("  ".join(part for part in parts if part))
    return "\n".join(lines)


def _headline(headline: content.Headline) -> Text:
    line = Text(f"{headline.name} {headline.value}", "bold")
    line.append(f"   {headline.counts}", "not bold")
    if headline.interval:
        line.append(f"   {headline.interval}", "not bold dim")
    if headline.bounds:
        line.append(f"\n{headline.bounds}", "not bold")
    return line


def _groups(groups: tuple[content.Group, ...]) -> list[RenderableType]:
    ids = [content.one_line(result.fact.id) for group in groups for result in group.results]
    id_width = min(_WIDEST_ID, max((Text(id_).cell_len for id_ in ids), default=1))
    parts: list[RenderableType] = []
    for group in groups:
        style = _STYLES[group.kind]
        title = Text(f"{group.title} {len(group.results)}", f"bold {style}")
        shared = content.shared_reason(group)
        title.append(f"   {shared or group.meaning}", "not bold dim")
        grid = Table.grid(padding=(0, 2, 0, 0))
        grid.add_column(width=1, style=style)
        grid.add_column(width=id_width, style="dim", overflow="fold")
        grid.add_column(overflow="fold")
        for result in group.results:
            id_ = Text(content.one_line(result.fact.id))
            grid.add_row(content.mark(group, result), id_, _body(result, reason=not shared))
        parts += [Text(), title, grid]
    return parts


def _body(result: CheckResult, *, reason: bool) -> Text:
    body = Text()
    if label := content.label(result.fact):
        body.append(label, "bold").append(" ")
    body.append(content.one_line(result.fact.text))
    notes = content.notes(result)
    if notes.quote:
        body.append(f"\n“{notes.quote}”", "dim italic")
    if notes.reason and reason:
        body.append(f"\n{notes.reason}", "dim")
    return body


def _footer(report: CoverageReport) -> Text:
    """Lines that are never wrapped: what they say can be copied."""
    entries = content.footer(report)
    width = max(len(entry.name) for entry in entries)
    lines = (f"{name:<{width}}  {value}" for name, value in entries)
    return Text("\n".join(lines), "dim", no_wrap=True, overflow="ignore")
