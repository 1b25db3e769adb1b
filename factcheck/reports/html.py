"""The report as one HTML page that needs nothing but itself: no script, no font, no request."""

from __future__ import annotations

from html import escape
from importlib.resources import files
from os import PathLike

from factcheck.facts import CheckResult, CoverageReport
from factcheck.files import write_text
from factcheck.reports import content


def write_html(report: CoverageReport, path: str | PathLike[str]) -> None:
    """Write the page, replacing an earlier one only when the new one is complete.

    Raises:
        InputError: The path cannot be written.
    """
    write_text(path, render_html(report))


def render_html(report: CoverageReport) -> str:
    """The report as a self-contained page, light or dark as the reader's system is."""
    headline = content.coverage_headline(report)
    facts, claims = content.fact_groups(report), content.claim_groups(report)
    body = [_headline(headline, content.lost_musts(report), facts)]
    body += [_group(group) for group in facts]
    if faithfulness := content.faithfulness_headline(report):
        body.append(_headline(faithfulness, "", ()))
        body += [_group(group) for group in claims]
    body.append(_footer(report))
    return page(f"{headline.name} {headline.value}", "\n".join(body))


def page(title: str, body: str, *, style: str = "") -> str:
    """A whole page around its body, light or dark as the reader's system is.

    Args:
        title: Of the window, as plain text.
        body: What is to be seen, as HTML.
        style: A further file of styles in this folder; empty for none.
    """
    folder = files("factcheck.reports")
    css = "".join((folder / name).read_text("utf-8") for name in ("report.css", style) if name)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; '
        "style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n"
        f"<style>\n{css}</style>\n</head>\n<body>\n<main>\n{body}\n</main>\n</body>\n</html>\n"
    )


def _headline(headline: content.Headline, musts: str, groups: tuple[content.Group, ...]) -> str:
    words = "" if any(c.isdigit() for c in headline.value) else " words"
    lines = [
        '<section class="headline">',
        f"<h1>{escape(headline.name)}</h1>",
        f'<p class="value{words}">{escape(headline.value)}</p>',
        f'<p class="counts">{escape(headline.counts)}</p>',
    ]
    lines += [
        f'<p class="soft">{escape(line)}</p>'
        for line in (headline.interval, headline.bounds)
        if line
    ]
    if musts:
        lines.append(f'<p class="must">{escape(musts)}</p>')
    if groups:
        lines.append(_bar(groups))
    return "\n".join([*lines, "</section>"])


def _bar(groups: tuple[content.Group, ...]) -> str:
    kept_first = sorted(groups, key=lambda group: group.kind != "kept")
    parts = "".join(
        f'<i class="{group.kind}" style="flex:{len(group.results)}"></i>' for group in kept_first
    )
    legend = "\n".join(
        f'<a class="{group.kind}" href="#{group.kind}"><span class="mark">{group.mark}</span> '
        f"{len(group.results)} {group.title.lower()}</a>"
        for group in kept_first
    )
    return f'<div class="bar" aria-hidden="true">{parts}</div>\n<p class="legend">\n{legend}\n</p>'


def _group(group: content.Group) -> str:
    entries = "\n".join(_entry(result, content.mark(group, result)) for result in group.results)
    return (
        f'<details class="group {group.kind}" id="{group.kind}" open>\n'
        f"<summary><h2>{group.title} {len(group.results)}</h2>"
        f'<span class="soft">{group.meaning}</span></summary>\n'
        f"<ol>\n{entries}\n</ol>\n</details>"
    )


def _entry(result: CheckResult, mark: str) -> str:
    badges = "".join(
        f'<span class="badge{" is-must" if badge == "must" else ""}">{escape(badge)}</span>'
        for badge in content.badges(result.fact)
    )
    quote, reason = content.notes(result)
    quoted = f"<blockquote>“{escape(quote)}”</blockquote>" if quote else ""
    reasoned = f'<p class="reason">{escape(reason)}</p>' if reason else ""
    return (
        f'<li><span class="mark">{mark}</span>'
        f'<span class="id">{escape(content.one_line(result.fact.id))}</span>'
        f"<div><p>{badges}{escape(content.one_line(result.fact.text))}</p>"
        f"{quoted}{reasoned}</div></li>"
    )


def _footer(report: CoverageReport) -> str:
    entries = "\n".join(
        f"<dt>{name}</dt><dd>{escape(value)}</dd>" for name, value in content.footer(report)
    )
    return f"<footer><dl>\n{entries}\n</dl></footer>"
