"""Names: words whose capital letter is not explained by their place in the sentence."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import NamedTuple

from factcheck.text.words import Word, frequencies, word_set


class Name(NamedTuple):
    """A name and the words `[first, last)` that it is made of."""

    first: int
    last: int
    stems: tuple[str, ...]
    """Of its words, without grammar."""
    initials: str
    """First letters of its capitalised words: `un` for `United Nations`."""


_JOINERS = word_set("of the de da del della di du van von der den la le el al bin ibn & y")
"""Small words within a name."""
_OPENERS = " \t\"'\u201c\u201e\u00ab\u2018([*_#-"
_RARE = 3.2
"""Zipf frequency below which an English word that opens a sentence in capitals is a name."""
_GAPS = frozenset((" ", "-", "\u00a0", " - ", ". ", ".", "\u2019", "'"))
_MOSTLY = 0.7


def read_names(
    found: Sequence[Word], text: str, language: str = "en", taken: frozenset[int] = frozenset()
) -> tuple[Name, ...]:
    """The names of a text, in order; none in a text in capitals or in a script without them.

    In German, where every noun has a capital, and at the start of a sentence only a word that is
    not common or that another capital follows opens a name.

    Args:
        found: The words of `text`.
        text: What the words were read from.
        language: Two-letter code.
        taken: Positions of words that are something else: dates, units.
    """
    letters = [word for word in found if word.text.isalpha() and len(word.text) > 1]
    if sum(word.text.isupper() for word in letters) > _MOSTLY * len(letters) and len(letters) > 2:  # noqa: PLR2004 - one or two may be a name
        return ()
    names: list[Name] = []
    at = 0
    while at < len(found):
        if at in taken or not _has_capital(found[at]):
            at += 1
            continue
        last = _end(found, at, text, taken)
        if _is_name(found, at, last, text, language):
            part = found[at:last]
            while part and part[0].kind == "function":
                part, at = part[1:], at + 1
            stems = tuple(word.stem for word in part if word.kind != "function")
            initials = "".join(word.form[0] for word in part if _has_capital(word))
            if stems:
                names.append(Name(at, last, stems, initials))
        at = last
    return tuple(names)


def same_name(name: Name, stems: Container[str], initials: Container[str]) -> bool:
    """Whether a text with these stems and initials of names speaks of a name, or of a part of it.

    `Obama` is found where `Barack Obama` is, `UN` where `United Nations` is, `German` where
    `Germany` is.
    """
    if any(stem in stems for stem in name.stems) or name.initials in initials:
        return True
    whole = "".join(name.stems)
    return len(name.stems) == 1 and len(whole) > 1 and whole in initials


def _has_capital(word: Word) -> bool:
    is_word = word.kind in {"content", "function", "negation"}
    return is_word and any(letter.isupper() for letter in word.text)


def _end(found: Sequence[Word], at: int, text: str, taken: frozenset[int]) -> int:
    """Where the run of capitalised words that starts at a place ends."""
    last = at + 1
    while last < len(found):
        ahead = last
        while ahead < len(found) and ahead - last < 2 and found[ahead].form in _JOINERS:  # noqa: PLR2004 - of the
            ahead += 1
        if ahead == len(found) or ahead in taken or not _has_capital(found[ahead]):
            break
        if any(
            text[found[k].end : found[k + 1].start] not in _GAPS for k in range(last - 1, ahead)
        ):
            break
        if text[found[ahead - 1].end : found[ahead].start].startswith(".") and (
            found[ahead - 1].end - found[ahead - 1].start > 2  # noqa: PLR2004 - an initial, Mr
        ):
            break
        last = ahead + 1
    return last


def _is_name(found: Sequence[Word], at: int, last: int, text: str, language: str) -> bool:
    content = [word for word in found[at:last] if word.kind == "content"]
    if not content:
        return False
    capitals = sum(letter.isupper() for letter in found[at].text)
    if 1 < capitals < len(found[at].text) or not found[at].text[0].isupper():
        return True
    if language != "de":
        opens = content[0] == found[at] and _opens_sentence(text, found[at].start)
        if len(content) > 1 or not opens:
            return True
    known = frequencies(language)
    return any(known and known.get(word.form, 0.0) < _RARE for word in content)


def _opens_sentence(text: str, start: int) -> bool:
    before = text[max(0, start - 8) : start].rstrip(_OPENERS)
    return not before.strip() or before[-1] in ".!?:\n\u2022\u3002"
