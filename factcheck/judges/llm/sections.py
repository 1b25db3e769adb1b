"""Cutting a long text into overlapping sections that respect paragraphs."""

from __future__ import annotations

import re

from factcheck.facts import Span

_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*")
_LINE_END = re.compile(r"\n\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s*(?=\S)")  # noqa: RUF001 - Chinese marks
_SPACE = re.compile(r"\s+")
_BREAKS = (_PARAGRAPH_END, _LINE_END, _SENTENCE_END, _SPACE)
"""Where a text may be cut, best first."""


def sections(text: str, size: int, overlap: int) -> tuple[Span, ...]:
    """Cover a text with sections of at most `size` characters.

    Cuts fall at the end of a paragraph where there is one in the second half of a section, else
    of a line, a sentence, a word; only a text without any of them is cut elsewhere. Each section
    but the first starts at such a place at most `overlap` characters before the previous one
    ends, so that what stands across a cut is whole in one of the two.

    Args:
        text: Any text.
        size: Most characters of a section; greater than twice `overlap`.
        overlap: Most characters that two neighbours share.

    Returns:
        Sections in order; together they cover the text. One section if the text is short enough.
    """
    if size <= 2 * overlap:
        raise ValueError(f"sections of {size} characters cannot overlap by {overlap}")
    spans = []
    start = 0
    while len(text) - start > size:
        end = _last_break(text, start + max(size // 2, overlap + 1), start + size)
        spans.append(Span(start, end))
        start = _first_break(text, end - overlap, end)
    spans.append(Span(start, len(text)))
    return tuple(spans)


def _last_break(text: str, low: int, high: int) -> int:
    for pattern in _BREAKS:
        ends = [match.end() for match in pattern.finditer(text, low, high)]
        if ends:
            return ends[-1]
    return high


def _first_break(text: str, low: int, high: int) -> int:
    for pattern in _BREAKS:
        found = pattern.search(text, low, high)
        if found and found.end() < high:
            return found.end()
    return high
