"""Renderer for self-contained HTML: no external resources, and scripts only where needed."""

from __future__ import annotations

import base64
import hashlib
import zlib
from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from functools import cache
from html import escape
from importlib.resources import files
from itertools import groupby, pairwise

from factcheck.reports.page import (
    TRUST,
    Item,
    MarkedText,
    Page,
    Part,
    Section,
    Table,
    brief,
    cleaned,
)
from factcheck.reports.text import visible_lines

_SEVERITY = ("plain", "good", "warn", "unknown", "bad")
_DIALOG = """\
<dialog><p class="steps"><button data-step="previousElementSibling">← Previous</button>
<button data-step="nextElementSibling">Next →</button> <button>Close</button></p>
<div class="shown"></div></dialog>
"""


def render(page: Page) -> str:
    """Render a page as a self-contained document that follows the system's light or dark mode.

    A page with texts, or with rows that have details, contains one script. The footer shows the
    date (UTC).
    """
    created = ("Created", datetime.now(timezone.utc).date().isoformat())
    page = cleaned(page._replace(footer=(*page.footer, created)))
    tables = (section.table for section in page.sections)
    listing = next((table for table in tables if table and table.details), None)
    packed = ""
    if listing and listing.details:
        details = (_main(cleaned(listing.details(n)), "div") for n in range(len(listing.rows)))
        lines = (base64.b64encode(zlib.compress(one.encode())).decode() for one in details)
        inert = '<script type="text/plain" id="packed">'  # one compressed page per line
        packed = f"{_DIALOG}{inert}" + "\n".join(lines) + "</script>\n"
    scripts = (script(),) if page.texts or listing else ()
    return document_html(page.title, f"{_main(page)}\n{packed}", *scripts)


def script() -> str:
    """Return the script of the pages with texts, or with rows that open."""
    return _file("page.js")


def document_html(title: str, body: str, *scripts: str, policy: str = "") -> str:
    """Return a self-contained document in the style of all pages.

    No other script can join `scripts`: the content security policy names their digests. `policy`
    are more directives of it, each after a semicolon.
    """
    if scripts:
        digests = (hashlib.sha256(script.encode()).digest() for script in scripts)
        names = " ".join(f"'sha256-{base64.b64encode(one).decode()}'" for one in digests)
        policy = f"; script-src {names}{policy}"
    script = "".join(f"<script>{script}</script>\n" for script in scripts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        f"style-src 'unsafe-inline'{policy}\">\n"
        f"<title>{escape(title)}</title>\n"
        f"<style>\n{_file('page.css')}</style>\n</head>\n"
        f"<body>\n{body}{script}</body>\n</html>\n"
    )


def frame(page: Page) -> str:
    """Render a page as a frame for a notebook, which keeps the styles of both apart."""
    document = escape(render(brief(page)))
    style = "width: 100%; height: 40rem; border: 0; resize: vertical"
    return f'<iframe title="Report" style="{style}" srcdoc="{document}"></iframe>\n'


@cache
def _file(name: str) -> str:
    return (files("factcheck.reports") / name).read_text("utf-8")


def _main(page: Page, tag: str = "main") -> str:
    body: list[str] = [*_headline(page)]
    if page.texts:
        body += ['<div class="desk">', *_panes(page.texts), '<div class="findings">']
    body += map(_section, page.sections)
    for metric in page.also:
        body += [*_headline(metric), *map(_section, metric.sections)]
    if page.texts:
        body.append("</div></div>")
    if page.footer:
        named = (f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in page.footer)
        body += ["<footer><dl>", *named, "</dl></footer>"]
    wide = " wide" if page.texts else ""
    return "\n".join([f'<{tag} class="page{wide}">', *body, f"</{tag}>"])


def _panes(texts: Sequence[MarkedText]) -> Iterator[str]:
    yield '<div class="panes">'
    for side, group in groupby(texts, lambda text: text.side):
        yield f'<section class="pane" tabindex="0" aria-label="{escape(side)}"><h2>{escape(side)}'
        yield "</h2>"
        for text in group:
            yield f'<p class="soft">{escape(text.name)}</p>' * (text.name != side.lower())
            yield f'<div class="text">{_marked(text)}</div>'
        yield "</section>"
    yield "</div>"


def _marked(text: MarkedText) -> str:
    """Render a text with its marks; an element where marks overlap has the keys of all."""
    cuts = sorted({0, len(text.text), *(x for mark in text.marks for x in mark[:2])})
    starting = sorted(text.marks, reverse=True)
    pieces, active = [], []
    for start, end in pairwise(cuts):
        while starting and starting[-1].start <= start:
            active.append(starting.pop())
        active = [mark for mark in active if mark.end > start]
        piece = escape(visible_lines(text.text[start:end]))
        if active:
            keys = " ".join(dict.fromkeys(mark.key for mark in active))
            tone = max((mark.tone for mark in active), key=_SEVERITY.index)
            piece = f'<mark class="{tone}" data-k="{keys}">{piece}</mark>'
        pieces.append(piece)
    return "".join(pieces) or '<span class="soft">(empty)</span>'


def _headline(page: Page) -> Iterator[str]:
    yield '<section class="headline">'
    yield f"<h1>{escape(page.answer or page.title)}</h1>"
    basis = page.title if page.answer else page.counts
    if numbers := " · ".join(filter(None, (basis, page.interval))):
        yield f'<p class="soft">{escape(numbers)}</p>'
    for alert in page.alerts:
        yield f'<p class="alert {alert.tone}">{escape(alert.text)}</p>'
    for line in page.lines:
        yield f'<p class="soft">{escape(line)}</p>'
    legend = ""
    for part in page.parts:
        words = f'<span class="mark">{escape(part.mark)}</span> {part.size:,} {escape(part.name)}'
        legend += f'<span class="{part.tone}">{words}</span>\n'
    if page.parts:
        yield f'{_bar(page.parts)}\n<p class="legend">\n{legend}</p>'
    if page.trust:
        line, *behind = map(escape, page.trust)
        figures = "".join(f"<p>{words}</p>" for words in behind)
        yield f'<details class="trust"><summary>{TRUST}: {line}</summary>{figures}</details>'
    yield "</section>"


def _bar(parts: Sequence[Part]) -> str:
    segments = (f'<i class="{part.tone}" style="flex:{part.size}"></i>' for part in parts)
    return f'<div class="bar" aria-hidden="true">{"".join(segments)}</div>'


def _section(section: Section) -> str:
    meaning = f'<span class="soft">{escape(section.meaning)}</span>' if section.meaning else ""
    body = "\n".join(_body(section))
    return (
        f'<details class="group {section.tone}" open>\n'
        f"<summary><h2>{escape(section.title)}</h2>{meaning}</summary>\n{body}\n</details>"
    )


def _body(section: Section) -> Iterator[str]:
    if section.picture:
        yield f'<div class="picture">{section.picture}</div>'
    if section.table is not None and section.table.rows:
        table = _table(section.table)
        if section.picture:
            table = f"<details><summary>Figures</summary>\n{table}\n</details>"
        yield table
    if section.items:
        kind = "marked" if any(item.mark for item in section.items) else "items"
        items = "\n".join(_item(item, is_marked=kind == "marked") for item in section.items)
        yield f'<ol class="{kind}">\n{items}\n</ol>'
    if section.more:
        yield f'<p class="more soft">{escape(section.more)}</p>'


def _table(table: Table) -> str:
    """Render a table; with details, its columns are sortable and its rows open."""
    kinds = [' class="name"'] * table.n_names + [""] * len(table.columns)

    def cell(tag: str, place: int, text: str, row: int | None) -> str:
        state, shown = "", escape(text)
        if table.details and row is None:
            state = ' aria-sort="ascending"' if place == table.n_names else ""
            shown = f"<button>{shown}</button>"
        elif table.details and not place:
            shown = f'<button data-open="{row}">{shown}</button>'
        return f"<{tag}{kinds[place]}{state}>{shown}</{tag}>"

    head = "".join(cell("th", place, name, None) for place, name in enumerate(table.columns))
    head += "<th></th>" if table.bars else ""
    rows = []
    for n, row in enumerate(table.rows):
        cells = "".join(cell("td", place, text, n) for place, text in enumerate(row))
        if table.bars:
            cells += f'<td class="small">{_bar(table.bars[n])}</td>'
        rows.append(f"<tr>{cells}</tr>")
    kind, label = "numbers", ""
    if table.details:
        kind, label = "numbers listing", f' role="region" aria-label="{escape(table.columns[0])}s"'
    body = "\n".join(rows)
    return (
        f'<div class="{kind}" tabindex="0"{label}><table>\n<thead><tr>{head}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _item(item: Item, *, is_marked: bool) -> str:
    words = [f'<span class="badge">{escape(badge)}</span>' for badge in item.badges]
    if item.text:
        words.append(escape(item.text))
    if item.aside:
        words.append(f'<span class="soft">{escape(item.aside)}</span>')
    body = f"<p>{' '.join(words)}</p>"
    if item.quote:
        body += f"<blockquote>“{escape(item.quote)}”</blockquote>"
    body += "".join(f'<p class="note">{escape(note)}</p>' for note in item.notes)
    if is_marked:
        key = f' data-k="{item.key}" tabindex="0"' if item.key else ""
        return (
            f'<li{key}><span class="mark">{escape(item.mark)}</span>'
            f'<span class="id">{escape(item.name)}</span><div>{body}</div></li>'
        )
    name = f'<p class="id">{escape(item.name)}</p>' if item.name.strip() else ""
    return f"<li>{name}{body}</li>"
