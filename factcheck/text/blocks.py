"""Block structure of a text: paragraphs, list items, headings, table rows, code.

Handles line structure and Markdown; `sentences` splits the blocks into sentences.
"""

from __future__ import annotations

import html
import re
from typing import Literal, NamedTuple

from factcheck.facts import Span

BlockKind = Literal["prose", "item", "heading", "row", "code"]


class Block(NamedTuple):
    """A run of lines that form a unit; its span excludes markers and decoration."""

    kind: BlockKind
    span: Span


_LINE = re.compile(r"[^\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")
_ANY_BREAK = re.compile(r"\r\n|[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_FENCE = re.compile(r"\s*(?:```+|~~~+)\s*(\w*)")
_TEXT_LABELS = frozenset({"markdown", "md", "text", "txt", "plain", "plaintext"})
"""Labels of fences that contain ordinary text."""
_RULE = re.compile(r"[\s\-=_*~|:+#>.•·\u2013—]*")
"""A line of decoration: rule, heading underline, table separator, empty marker."""
_UNDERLINE = re.compile(r"\s{0,3}(=+|-{2,})\s*")
_TABLE_RULE = re.compile(r"[\s|:-]*-[\s|:-]*")
_QUOTE_MARK = re.compile(r"(?:[ \t]*>)+[ \t]*")
_HEADING_MARK = re.compile(r"\s{0,3}#{1,6}\s+")
_ITEM_MARK = re.compile(
    r"\s*(?:[-*+•‣◦▪▫●○∙·\u2013—]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\)|[①-⑳]|\d{1,2}、)(?:\s+|(?<=[、①-⑳]))"
    r"(?:\[[ xX]\]\s+)?"
)
_BOLD_LINE = re.compile(r"\s*(\*\*|__)(?=\S)[^*_]*[^*_\s.!?。\uff01\uff1f:]\1\s*")

_INLINE = (
    "a|abbr|b|big|cite|code|del|em|font|i|ins|kbd|label|mark|q|s|small|span|strike|strong|sub|sup|"
    "time|tt|u|var"
)
_PARTING = (
    "article|aside|blockquote|body|br|button|caption|center|dd|div|dl|dt|figcaption|figure|footer|"
    "form|h[1-6]|head|header|hr|html|img|li|link|main|meta|nav|ol|option|p|pre|section|select|"
    "table|tbody|td|tfoot|th|thead|title|tr|ul"
)
_TAG = re.compile(
    r"<(?P<hidden>script|style)\b[^<>]{0,500}>[^<]*</(?P=hidden)\s?>|<!--[^<>]*-->|<!doctype[^<>]{0,200}>"
    rf"|</?(?:(?P<inline>{_INLINE})|{_PARTING})"
    r"(?:\s{1,9}[\w:-]{1,40}=(?:\"[^\"<>]{0,500}\"|'[^'<>]{0,500}'|[^\s\"'<>]{1,500})){0,20}\s?/?>",
    re.IGNORECASE,
)
_ENTITY = re.compile(r"&(?:#\d{1,6}|#x[\da-f]{1,5}|[a-z]{2,8});", re.IGNORECASE)
BLANK = "\u2060"
"""Stands for a character of a tag or entity in the middle of a line."""


def read_html(text: str) -> str:
    """Blank the tags of HTML, paragraphs and cells with line breaks, and read its entities.

    Every character of the result stands where it stood.
    """

    def blanked(tag: re.Match[str]) -> str:
        length = tag.end() - tag.start()
        return BLANK * length if tag["inline"] else "\n" * length

    def read(entity: re.Match[str]) -> str:
        letter = html.unescape(entity.group())
        return letter + BLANK * (len(entity.group()) - 1) if len(letter) == 1 else entity.group()

    bare = _TAG.sub(blanked, text) if "<" in text else text
    return _ENTITY.sub(read, bare) if "&" in bare else bare


def split_blocks(text: str) -> tuple[Block, ...]:
    """Split a text into blocks, in order.

    Every character that is neither white space nor a marker or decoration (bullets, heading marks,
    rules, code fences, outer pipes of tables) is inside exactly one block. The lines of a paragraph
    or list item form one block.
    """
    blocks: list[Block] = []
    in_fence = in_code = False
    can_grow = follows = False
    previous_end = 0
    for match in _LINE.finditer(text):
        line = match.group()
        if len(_ANY_BREAK.findall(text, previous_end, match.start())) > 1:
            can_grow = follows = False
        previous_end = match.end()
        fence = _FENCE.match(line)
        if fence:
            in_fence = not in_fence
            label = fence.group(1).lower()
            wraps_all = not label and not blocks
            in_code = in_fence and not wraps_all and label not in _TEXT_LABELS
            can_grow = follows = False
        elif in_code:
            _append(blocks, text, "code", match.start(), match.end())
        elif _RULE.fullmatch(line):
            if follows and _heads(blocks[-1].kind, line):
                blocks[-1] = Block("heading", blocks[-1].span)
            can_grow = follows = False
        else:
            can_grow = _add_line(blocks, text, Span(match.start(), match.end()), can_grow=can_grow)
            follows = bool(blocks)
    return tuple(blocks)


def _heads(kind: BlockKind, rule: str) -> bool:
    """Whether a rule directly below a block makes it a heading or a table header."""
    return (kind == "prose" and bool(_UNDERLINE.fullmatch(rule))) or (
        kind == "row" and bool(_TABLE_RULE.fullmatch(rule))
    )


def _add_line(blocks: list[Block], text: str, line: Span, *, can_grow: bool) -> bool:
    """Add a line of text to the blocks; return whether the next line may continue its block."""
    start, end = line
    quote = _QUOTE_MARK.match(text, start, end)
    if quote:
        start = quote.end()
    heading = _HEADING_MARK.match(text, start, end)
    if heading or _BOLD_LINE.fullmatch(text, start, end):
        _append(blocks, text, "heading", heading.end() if heading else start, end)
        return False
    content = text[start:end].strip()
    if content.startswith("|") and content.endswith("|"):
        begin = text.index("|", start) + 1
        _append(blocks, text, "row", begin, text.rindex("|", begin, end))
        return False
    item = _ITEM_MARK.match(text, start, end)
    if item:
        return _append(blocks, text, "item", item.end(), end)
    if can_grow:
        last = blocks[-1]
        blocks[-1] = Block(last.kind, Span(last.span.start, start + len(text[start:end].rstrip())))
        return True
    return _append(blocks, text, "prose", start, end)


def _append(blocks: list[Block], text: str, kind: BlockKind, start: int, end: int) -> bool:
    """Add a block for the text between two offsets; return whether there was any."""
    content = text[start:end]
    stripped = content.strip()
    if not stripped:
        return False
    begin = start + content.index(stripped)
    blocks.append(Block(kind, Span(begin, begin + len(stripped))))
    return True
