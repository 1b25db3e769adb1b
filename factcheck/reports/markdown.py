"""Renderer for GitHub-flavoured Markdown, for pull requests and wikis."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from factcheck.reports.page import TRUST, Item, Page, Section, Table, cleaned, in_words

_SPECIAL = re.compile(r"[\\`*_\[\]|~$]")
_AT_ENDS = re.compile(r"^(\d*)([-+#=]|[.)](?=\s|$))|(?<=\s)(?=#+$)")
"""Characters that start a list or heading, or close a heading; the last group is escaped."""
_LINKED = re.compile(
    r"(?<=(?<!\w)@)(?=\w)|(?<=\w@)(?=[\w-]+\.\w)"  # mentions, mail addresses
    r"|(?<=\#)(?=\d)|(?<=\bGH-)(?=\d)"  # issues
    r"|(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=\bmailto:)(?=\S)|(?<=\bxmpp:)(?=\S)"  # addresses
    r"|(?<=:)(?=[a-z+-][\w+-]*:)",  # emoji
    re.IGNORECASE,
)
_COMMENT = "<!-- -->"
"""Breaks up a mention or an address invisibly, where GitHub ignores a backslash."""
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def render(page: Page) -> str:
    """Render a page as Markdown; its strings never act as markup, mentions or links."""
    page = cleaned(in_words(page))
    blocks = [block for metric in (page, *page.also) for block in _metric(metric)]
    if page.footer:
        blocks += ["---", "  \n".join(f"{name}: {_code(value)}" for name, value in page.footer)]
    return "\n\n".join(blocks) + "\n"


def escape(text: str) -> str:
    """Escape a text for Markdown, both at the start of a line and within it."""
    return _AT_ENDS.sub(r"\1\\\2", _inline(text))


def _inline(text: str) -> str:
    pieces = _LINKED.split(" ".join(text.split()))
    return _joined(_SPECIAL.sub(r"\\\g<0>", piece) for piece in pieces)


def _joined(pieces: Iterable[str]) -> str:
    """Join pieces so that they form no link, mention or emoji."""
    return _COMMENT.join(piece.translate(_HTML) for piece in pieces)


def _code(value: str) -> str:
    longest = max(map(len, re.findall("`+", value)), default=0)
    fence, space = "`" * (longest + 1), " " if longest else ""
    return f"{fence}{space}{value}{space}{fence}"


def _metric(page: Page) -> Iterator[str]:
    yield f"## {escape(page.answer or page.title)}"
    basis = page.title if page.answer else page.counts
    numbers = " · ".join(escape(words) for words in (basis, page.interval) if words)
    alerts = (f"**{escape(alert.text)}**" for alert in page.alerts)
    lines = (numbers, *alerts, *map(escape, page.lines))
    if any(lines):
        yield "  \n".join(filter(None, lines))
    if page.trust:
        line, *behind = page.trust
        yield f"<details><summary>{TRUST}: {_joined(_LINKED.split(line))}</summary>"
        yield "  \n".join(map(escape, behind))
        yield "</details>"
    for section in page.sections:
        yield from _section(section)


def _section(section: Section) -> Iterator[str]:
    title = f"{section.mark} {section.title}".strip()
    folded = section.tone == "good" and bool(section.items)
    if folded:
        yield f"<details><summary>{_joined(_LINKED.split(title))}</summary>"
    else:
        yield f"### {escape(title)}"
    if section.meaning:
        yield escape(section.meaning)
    if section.table is not None and section.table.rows:
        yield _table(section.table)
    if section.items:
        yield "\n".join(map(_item, section.items))
    if section.more:
        yield escape(section.more)
    if folded:
        yield "</details>"


def _table(table: Table) -> str:
    n_numbers = len(table.columns) - table.n_names
    rule = ["---"] * table.n_names + ["--:"] * n_numbers
    header, *rows = (map(_inline, row) for row in (table.columns, *table.rows))
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, rule, *rows))


def _item(item: Item) -> str:
    pieces = [escape(item.mark), f"**{escape(item.name)}**" if item.name.strip() else ""]
    if item.badges:
        pieces.append(escape(f"[{', '.join(item.badges)}]"))
    pieces.append(escape(item.text))
    if item.aside:
        pieces.append(f"*{escape(item.aside)}*")
    lines = ["- " + " ".join(piece for piece in pieces if piece)]
    if item.quote:
        lines.append(f"*“{escape(item.quote)}”*")
    return "  \n  ".join([*lines, *map(escape, item.notes)])
