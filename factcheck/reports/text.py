"""Formatting of texts and numbers for reports: on one line, shortened, with nothing hidden."""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

from factcheck.errors import shorten_middle

DASH = "\u2013"
"""Placeholder for a missing number, and the dash of an interval."""
LONGEST_NAME = 40
LONGEST_QUOTE = 160
LONGEST_VALUE = 60
"""Maximum length of a name, a quote and a value."""
_JOINERS = "\u200c\u200d"
_LETTERS = ("L", "M", "S")
_SPACE = re.compile(r"[^\S ]")


def visible(text: str) -> str:
    r"""Return `text` on one line, with hidden characters escaped.

    Line breaks, controls, bidirectional and zero-width marks, surrogates and unassigned characters
    become escapes such as `\u202e`; spaces of any width become plain ones. Joiners between letters
    of a script that needs them, or inside an emoji, are kept. Renderers pass every string of a page
    through this function.
    """
    if text.isprintable():
        return text
    shown = []
    for place, character in enumerate(text):
        if character in _JOINERS:
            is_kept = _joins(text[place - 1 : place]) and _joins(text[place + 1 : place + 2])
        else:
            is_kept = character.isprintable()
        if is_kept:
            shown.append(character)
        else:
            is_space = unicodedata.category(character) == "Zs"
            shown.append(" " if is_space else _escape(character))
    return "".join(shown)


def visible_lines(text: str) -> str:
    """Make a text of several lines `visible`, keeping its lines."""
    lines = text.replace("\r\n", "\n").replace("\t", " ").split("\n")
    return "\n".join(map(visible, lines))


def _escape(character: str) -> str:
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - the plane


def _joins(character: str) -> bool:
    return character > "\u02ff" and unicodedata.category(character)[0] in _LETTERS


def one_line(text: str) -> str:
    """Collapse white space to single spaces and make hidden characters visible."""
    return visible(" ".join(text.split()))


def shorten(text: str, limit: int = LONGEST_QUOTE) -> str:
    """Truncate a text to `limit` characters, at a word boundary if possible."""
    if len(text) <= limit:
        return text
    head, space, _ = text[:limit].rpartition(" ")
    return (head if space and len(head) > limit // 2 else text[: limit - 1]) + "…"


def shorten_pair(first: str, second: str, limit: int = LONGEST_VALUE) -> tuple[str, str]:
    """Shorten two texts to `limit` characters each, keeping their first difference visible."""
    if len(first) <= limit and len(second) <= limit:
        return first, second
    skipped = n_shared(first, second) - limit // 3
    if skipped > 1:
        return _window(first, skipped, limit), _window(second, skipped, limit)
    return shorten_middle(first, limit), shorten_middle(second, limit)


def n_shared(first: str, second: str) -> int:
    """Return the length of the beginning that two texts have in common."""
    pairs = enumerate(zip(first, second, strict=False))
    shortest = min(len(first), len(second))
    return next((place for place, (one, other) in pairs if one != other), shortest)


def _window(text: str, start: int, limit: int) -> str:
    window = text[start : start + limit - 1]
    if start + len(window) < len(text):
        return f"…{window[:-1]}…"
    return f"…{window}"


def name_text(name: str, limit: int = LONGEST_NAME) -> str:
    """Format a name on one line, shortened in the middle."""
    return shorten_middle(one_line(name), limit)


def quote_text(text: str, limit: int = LONGEST_QUOTE) -> str:
    """Format a text on one line, shortened in the middle."""
    return shorten_middle(one_line(text), limit)


def value_text(value: Any) -> str:
    """Format a value as JSON on one line, with hidden characters escaped."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (RecursionError, TypeError, ValueError):
        text = f"({type(value).__name__} that JSON cannot hold)"
    return visible(_SPACE.sub(lambda found: _escape(found.group()), text))


def plural(count: int, noun: str) -> str:
    """Format a count with its noun: `1 fact`, `1,204 facts`."""
    if count == 1:
        return f"{count:,} {noun}"
    return f"{count:,} {noun}s"


def percent(value: float) -> str:
    """Format a fraction in [0, 1] as `35 %`."""
    return f"{value:.0%}".replace("%", " %")


def more_of(count: int, noun: str) -> str:
    """Format `and 3 more facts`; empty if `count` is not positive."""
    if count > 0:
        return f"and {plural(count, f'more {noun}')}"
    return ""


def some_of(names: Sequence[str | int], limit: int = 3) -> str:
    """Quote the first `limit` names, with an ellipsis for the others."""
    return ", ".join(quote_text(str(name)) for name in names[:limit]) + ", …" * (len(names) > limit)


def share(value: float, digits: int = 3) -> str:
    """Format a fraction in [0, 1]; 1.000 and 0.000 only if exact, or else `>0.999`, `<0.001`."""
    text, step = f"{value:.{digits}f}", 10.0**-digits
    if float(text) == 1.0 and value < 1.0:
        return f">{1 - step:.{digits}f}"
    if float(text) == 0.0 and value > 0.0:
        return f"<{step:.{digits}f}"
    return text


def signed(value: float) -> str:
    """Format a difference with its sign and three decimals; never `-0.000`."""
    return f"{0.0 if round(value, 3) == 0 else value:+.3f}"


def interval_text(interval: Sequence[float] | None, digits: int = 3) -> str:
    """Format both ends of an interval, with one more digit if they look equal; empty for `None`."""
    if interval is None:
        return ""
    low, high = interval
    if low < high and f"{low:.{digits}f}" == f"{high:.{digits}f}":
        digits += 1
    return f"{low:.{digits}f} {DASH} {high:.{digits}f}"


def p_text(value: float) -> str:
    """Format a p-value with three decimals; `<0.001` below that."""
    return "<0.001" if value < 0.001 else f"{value:.3f}"  # noqa: PLR2004 - the last digit shown
