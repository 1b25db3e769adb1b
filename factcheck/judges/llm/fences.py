"""Rendering of untrusted texts and value pairs in prompts; sections of long texts.

A text is fenced by two tags with a number that occurs in none of the texts of the request, so that
no text can close its own fence. The number is derived from the text, so that the same text is sent
as the same bytes by every process and the provider's prompt cache applies.

Value pairs are grouped below their field, which is described once; untrusted strings are JSON on
one line:

    field "items[].name"
    description "Name of the product"
    417: ["Fuji X-T5", "Fujifilm X-T5"]
"""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import count, groupby, pairwise
from typing import NamedTuple

from factcheck.errors import InputError
from factcheck.facts import Span
from factcheck.judges.local.sentences import split_sentences
from factcheck.judges.ports import Specificity, ValuePair

_NUMBERED_TAG = re.compile(r"(</?\w+) \d{6,}(?=>)")
_DIGITS = 6
_MORE_DIGITS = 3
"""Digits of a fence number, and the increment per further attempt; three digits are one token."""
_INVISIBLE = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
"""Unicode categories of control characters, invisible marks, lone surrogates and line breaks."""
_JOINERS = "\u200c\u200d"
_NEVER_HIDDEN = frozenset({"\n", *_JOINERS})
_REPLACEMENTS = {"Cf": "", "Cc": " "}
"""Replacements of invisible marks and control characters."""
_LONE_JOINER = re.compile(rf"(?<![^\x00-\u02ff])[{_JOINERS}]|[{_JOINERS}](?![^\x00-\u02ff])")
_LINE_END = re.compile(r"\r\n?|[\v\f\x85\u2028\u2029]")


def fenced(texts: Mapping[str, str]) -> str:
    """Fence texts, given by tag, in order."""
    # digits of any width count as ASCII digits
    folded = [unicodedata.normalize("NFKC", text) for text in texts.values()]
    fences = []
    for tag, text in texts.items():
        number = _number(text, folded)
        fences.append(f"<{tag} {number}>\n{text}\n</{tag} {number}>")
    return "\n".join(fences)


def _number(text: str, others: Iterable[str]) -> str:
    data = text.encode("utf-8", "surrogatepass")
    for draw in count():
        drawn = hashlib.blake2b(data, digest_size=32, salt=draw.to_bytes(16, "big")).digest()
        digits = _DIGITS + _MORE_DIGITS * draw
        number = f"{int.from_bytes(drawn, 'big') % 10**digits:0{digits}d}"
        if not any(number in other for other in others):
            return number
    raise AssertionError("a text of finite length holds every number")


def without_numbers(prompt: str) -> str:
    """Remove fence numbers, to compare prompts."""
    return _NUMBERED_TAG.sub(r"\1", prompt)


def visible(text: str) -> str:
    """Remove invisible and bidirectional marks and control characters from a text.

    Joiners are kept in scripts that need them, and in emoji.
    """
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    text = _LINE_END.sub("\n", text)
    kinds = {character: unicodedata.category(character) for character in set(text) - _NEVER_HIDDEN}
    hidden = {ord(c): _REPLACEMENTS[kind] for c, kind in kinds.items() if kind in _REPLACEMENTS}
    return _LONE_JOINER.sub("", text).translate(hidden)


class Lines(NamedTuple):
    """A text whose sentences are numbered from 1."""

    text: str
    """One line per sentence: its number, a space, and the sentence."""
    spans: tuple[Span, ...]
    """Spans of the sentences in the original text."""


@lru_cache(maxsize=16)
def numbered(text: str) -> Lines:
    """Number the sentences of a text, one per line; list and heading marks are kept."""
    spans = tuple(sentence.span for sentence in split_sentences(text))
    if not spans:
        return Lines(visible(text), ())
    cuts = [0, *(span.end for span in spans[:-1]), len(text)]
    lines = (one_line(visible(text[start:end])) for start, end in pairwise(cuts))
    return Lines("\n".join(f"{number} {line}" for number, line in enumerate(lines, 1)), spans)


def one_line(text: str) -> str:
    """Collapse each run of white space to one space."""
    return " ".join(text.split())


def quoted(text: str) -> str:
    """Encode a text as JSON on one line, with invisible characters escaped."""
    encoded = json.dumps(text, ensure_ascii=False)
    if encoded.isprintable():
        return encoded
    hidden = {c for c in set(encoded) if unicodedata.category(c) in _INVISIBLE}
    return encoded.translate({ord(c): json.dumps(c)[1:-1] for c in hidden})


_SPECIFICITY_NOTES: Mapping[Specificity, str] = {
    "exact": "",
    "allow_more_specific": "second value may be more specific",
    "allow_less_specific": "second value may be less specific",
}


def _field_of(pair: ValuePair) -> tuple[str, str, str, Specificity]:
    """Return path, description, instructions and specificity of a pair's field."""
    if pair.specificity not in _SPECIFICITY_NOTES:
        raise InputError(
            f"specificity must be one of {list(_SPECIFICITY_NOTES)}, not {pair.specificity!r}"
        )
    return pair.path, pair.description, pair.instructions, pair.specificity


def _shown_values(pair: ValuePair) -> tuple[str, str]:
    """Return the two values in display order.

    Gold comes first if the order matters; otherwise a pair and its mirror image are one question.
    """
    if pair.specificity == "exact" and pair.extracted < pair.gold:
        return pair.extracted, pair.gold
    return pair.gold, pair.extracted


def order_of(pair: ValuePair) -> tuple[tuple[str, str, str, Specificity], tuple[str, str]]:
    """Return all that is shown of a pair; as a sort key, it groups pairs by field."""
    return _field_of(pair), _shown_values(pair)


def render_pairs(pairs_by_id: Mapping[str, ValuePair]) -> str:
    """Render pairs as lines with their ids, grouped by field."""
    lines = []
    in_order = sorted(pairs_by_id.items(), key=lambda item: _field_of(item[1]))
    for field, pairs in groupby(in_order, key=lambda item: _field_of(item[1])):
        path, description, instructions, specificity = field
        lines.append(f"field {quoted(path)}")
        if description:
            lines.append(f"description {quoted(description)}")
        if instructions:
            lines.append(f"instructions {quoted(instructions)}")
        if _SPECIFICITY_NOTES[specificity]:
            lines.append(_SPECIFICITY_NOTES[specificity])
        for call_id, pair in pairs:
            first, second = _shown_values(pair)
            lines.append(f"{call_id}: [{quoted(first)}, {quoted(second)}]")
    return "\n".join(lines)


_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"\n\s*")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？])\s*(?=\S)")  # noqa: RUF001 - Chinese marks
_SPACE = re.compile(r"\s+")
_BREAKS = (_PARAGRAPH_END, _LINE, _SENTENCE_END, _SPACE)
"""Places to split a text, best first."""


def sections(text: str, size: int) -> tuple[Span, ...]:
    """Split a text into overlapping sections of at most `size` characters.

    A section ends at the last end of a paragraph in its second half, or else of a line, a sentence
    or a word; only a text without any of these is split elsewhere. Each further section starts at
    such a place, at most a tenth of `size` before the end of the previous one, so that a passage
    across a boundary is complete in one of the two.
    """
    overlap = size // 10
    spans = []
    start = 0
    while len(text) - start > size:
        low, limit = start + size // 2, start + size
        end = next((places[-1] for places in _breaks(text, low, limit)), limit)
        spans.append(Span(start, end))
        starts = (places[0] for places in _breaks(text, end - overlap, end))
        start = next((place for place in starts if place < end), end)
    spans.append(Span(start, len(text)))
    return tuple(spans)


def _breaks(text: str, low: int, high: int) -> Iterator[list[int]]:
    """Places to split a text between two offsets, of each kind that occurs, best first."""
    for pattern in _BREAKS:
        if places := [match.end() for match in pattern.finditer(text, low, high)]:
            yield places
