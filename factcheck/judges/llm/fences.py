"""Puts foreign text into a prompt so that it stays text; cuts long text into sections.

A text is put between two tags that carry a number it cannot know. The number depends on the text
and on a secret of this process: it stays the same for the same text, which lets a provider reuse
what it read before. Facts and pairs of values get random ids for one call, so that a text cannot
name one; values are JSON, too. Where a request has to be rendered again later, byte for byte, ids
come from a fixed secret.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
import secrets
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

from factcheck.facts import Span

T = TypeVar("T")

_SECRET = secrets.token_bytes(16)
_fixed_secret: ContextVar[bytes | None] = ContextVar("factcheck_fixed_secret", default=None)
_NUMBERED_TAG = re.compile(r"(</?\w+) \d{6}(?=>)")
_IDS = range(100, 1000)
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of control characters, invisible marks, lone surrogates and line breaks."""


def fence(tag: str, text: str) -> str:
    number = _number(text)
    return f"<{tag} {number}>\n{text}\n</{tag} {number}>"


def _number(text: str) -> str:
    keyed = hashlib.blake2b(
        text.encode("utf-8", "surrogatepass"), key=_fixed_secret.get() or _SECRET, digest_size=8
    ).digest()
    return f"{int.from_bytes(keyed, 'big') % 10**6:06d}"


def without_numbers(prompt: str) -> str:
    """A prompt with the numbers of its fences removed, for comparing prompts."""
    return _NUMBERED_TAG.sub(r"\1", prompt)


def random_ids(items: Sequence[T], texts: Sequence[str]) -> dict[str, T]:
    """The items by ids that hold for one call: numbers of three digits, one token each."""
    if len(items) > len(_IDS):
        raise ValueError(f"{len(items)} items in one call; there are {len(_IDS)} ids")
    numbers = _source_of_ids(texts).sample(_IDS, len(items))
    return {str(number): item for number, item in zip(numbers, items, strict=True)}


@contextmanager
def fixed_secret(secret: bytes) -> Iterator[None]:
    """Render the same facts and texts in the same way whenever this secret is used."""
    token = _fixed_secret.set(secret)
    try:
        yield
    finally:
        _fixed_secret.reset(token)


def _source_of_ids(texts: Sequence[str]) -> random.Random:
    secret = _fixed_secret.get()
    if secret is None:
        return random.Random(secrets.token_bytes(16))  # noqa: S311 - one unknown seed a call
    return random.Random(secret + repr(list(texts)).encode())  # noqa: S311


def one_line(text: str) -> str:
    """`text` with every run of white space turned into one space."""
    return " ".join(text.split())


def quoted(text: str) -> str:
    """`text` as JSON on one line, with whatever does not show written as an escape."""
    written = json.dumps(text, ensure_ascii=False)
    return written if written.isprintable() else "".join(map(_shown, written))


def _shown(character: str) -> str:
    hidden = unicodedata.category(character) in _HIDDEN
    return json.dumps(character)[1:-1] if hidden else character


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
