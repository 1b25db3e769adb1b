"""The report as Markdown, for a pull request or a wiki."""

from __future__ import annotations

import re

from factcheck.facts import CheckResult, CoverageReport
from factcheck.reports import content

_SPECIAL = re.compile(r"[\\`*_\[\]|~$]")
_AT_LINE_START = re.compile(r"^(\d*)([-+#=]|[.)](?=\s))")
_HTML = str.maketrans({"&": "&amp;", "<": "&lt;", ">": "&gt;"})


def render_markdown(report: CoverageReport) -> str:
    """The report as GitHub-flavoured Markdown; no fact or quote can act as markup."""
    headline = content.coverage_headline(report)
    blocks = [f"## {headline.name} {_plain(headline.value)}", _numbers(headline)]
    if musts := content.lost_musts(report):
        blocks.append(f"**{escape(musts)}**")
    blocks += [_group(group) for group in content.fact_groups(report)]
    if faithfulness := content.faithfulness_headline(report):
        blocks += [f"## {faithfulness.name} {_plain(faithfulness.value)}", _numbers(faithfulness)]
        blocks += [_group(group) for group in content.claim_groups(report)]
    blocks.append("---")
    blocks.append("\n".join(f"{name}: {_code(value)}  " for name, value in content.footer(report)))
    return "\n\n".join(blocks).rstrip() + "\n"


def escape(text: str) -> str:
    """`text` on one line, such that Markdown shows it as it stands."""
    line = _SPECIAL.sub(r"\\\g<0>", _plain(content.one_line(text)))
    return _AT_LINE_START.sub(r"\1\\\2", line)


def _plain(text: str) -> str:
    return text.translate(_HTML)


def _code(value: str) -> str:
    fence = "``" if "`" in value else "`"
    return f"{fence}{content.one_line(value)}{fence}"


def _numbers(headline: content.Headline) -> str:
    parts = (headline.counts, headline.interval, headline.bounds)
    return " · ".join(part for part in parts if part)


def _group(group: content.Group) -> str:
    title = f"{group.mark} {group.title} ({len(group.results)})"
    entries = "\n".join(_entry(result, content.mark(group, result)) for result in group.results)
    if group.kind == "kept":
        return f"<details><summary>{title}</summary>\n\n{entries}\n\n</details>"
    return f"### {title}\n\n{group.meaning.capitalize()}.\n\n{entries}"


def _entry(result: CheckResult, mark: str) -> str:
    fact = result.fact
    parts = (escape(mark), f"**{escape(fact.id)}**", escape(content.label(fact)), escape(fact.text))
    lines = ["- " + " ".join(part for part in parts if part)]
    quote, reason = content.notes(result)
    if quote:
        lines.append(f"  *“{escape(quote)}”*")
    if reason:
        lines.append(f"  {escape(reason)}")
    return "  \n".join(lines)
