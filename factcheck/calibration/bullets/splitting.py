"""A summary as pieces of text, each a bullet that can be taken out or a heading that stays.

The pieces put together are the summary, character by character.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from factcheck.errors import InputError

_ITEM = re.compile(r"\s*(?:[-*+\u2022\u2023\u25aa\u25cf\u25e6\u2013\u2014]|\(?\d{1,3}[.)])\s+\S")
"""A list item: a dash, a dot, or a number, and what it says."""
_HEADING = re.compile(r"#{1,6}\s.*|.*[:\uff1a]|\*\*[^*]+\*\*")
"""A line that only introduces others: a Markdown heading, bold words, or words before a colon."""
_INDENTED = re.compile(r"[ \t]+\S")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a summary, with the white space after it."""

    text: str
    is_bullet: bool


@dataclass(frozen=True, slots=True)
class Bullets:
    """A summary, and the bullets that can be taken out of it."""

    pieces: tuple[Piece, ...]

    def __len__(self) -> int:
        return sum(piece.is_bullet for piece in self.pieces)

    @property
    def texts(self) -> tuple[str, ...]:
        """The bullets, without the white space around them."""
        return tuple(piece.text.strip() for piece in self.pieces if piece.is_bullet)

    def kept(self, numbers: Collection[int]) -> str:
        """The summary with only these bullets, counted from 0; headings stay."""
        number = -1
        left = []
        for piece in self.pieces:
            number += piece.is_bullet
            if not piece.is_bullet or number in numbers:
                left.append(piece.text)
        return "".join(left).strip()

    def bullet_at(self, offset: int) -> int | None:
        """The bullet that holds a character of the whole summary; `None` for a heading."""
        number, end = -1, 0
        for piece in self.pieces:
            number += piece.is_bullet
            end += len(piece.text)
            if offset < end:
                return number if piece.is_bullet else None
        return None


def split_bullets(summary: str) -> Bullets:
    """The bullets of a summary, in their order.

    Items of a list, however deep (dashes, dots, numbers), are bullets, with the lines that continue
    them. Lines that are no heading are bullets of their own. A summary without a list is split
    into its sentences.

    Raises:
        InputError: It is not a text, or blank.
    """
    if not isinstance(summary, str) or not summary.strip():
        raise InputError("the summary is blank; there is no bullet to take out of it")
    summary = summary.strip()
    lines = summary.splitlines(keepends=True)
    is_list = any(_ITEM.match(line) for line in lines)
    return Bullets(tuple(_items(lines) if is_list else _sentences(summary)))


def _items(lines: Sequence[str]) -> Iterator[Piece]:
    held = ""
    for line in lines:
        if held and not _continues(held, line):
            yield _piece(held)
            held = ""
        held += line
    yield _piece(held)


def _continues(held: str, line: str) -> bool:
    """Whether a line belongs to what stands before it, as in Markdown."""
    if not line.strip():
        return True
    if _ITEM.match(line) or _is_heading(line) or not _piece(held).is_bullet:
        return False
    after_blank_line = not held.splitlines()[-1].strip()
    return bool(_INDENTED.match(line)) or not after_blank_line


def _sentences(summary: str) -> Iterator[Piece]:
    """The sentences; each ends where the next begins."""
    from factcheck.judges.local.sentences import split_sentences

    starts = [sentence.span.start for sentence in split_sentences(summary)]
    edges = [0, *starts[1:], len(summary)]
    for start, end in pairwise(edges):
        yield _piece(summary[start:end])


def _piece(text: str) -> Piece:
    return Piece(text, bool(_ITEM.match(text)) or not _is_heading(text))


def _is_heading(text: str) -> bool:
    line = text.strip()
    return "\n" not in line and bool(_HEADING.fullmatch(line))
