"""JSON values as short texts on one line, in which nothing is hidden and nothing can act."""

from __future__ import annotations

import json
from itertools import takewhile
from typing import Any

LONGEST = 60
"""Characters of a value that are shown."""


def value_text(value: Any) -> str:
    """A value as JSON: texts in quotes, what cannot be seen as an escape."""
    try:
        text = json.dumps(value, ensure_ascii=False, default=repr)
    except (RecursionError, TypeError, ValueError):
        text = f"({type(value).__name__} that is no JSON)"
    return visible(text)


def visible(text: str) -> str:
    """`text` with every character that is not printed as an escape; blanks stay as they are."""
    return text if text.isprintable() else "".join(map(_visible_character, text))


def _visible_character(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"  # noqa: PLR2004 - the plane


def shortened(text: str, limit: int = LONGEST) -> str:
    """At most `limit` characters: a long text loses its middle."""
    if len(text) <= limit:
        return text
    tail = (limit - 1) // 2
    return f"{text[: limit - 1 - tail]}…{text[-tail:]}"


def shortened_pair(first: str, second: str, limit: int = LONGEST) -> tuple[str, str]:
    """Both shortened, but such that the place where they begin to differ is seen."""
    if len(first) <= limit and len(second) <= limit:
        return first, second
    alike = (a == b for a, b in zip(first, second, strict=False))
    skipped = sum(takewhile(bool, alike)) - limit // 3
    if skipped > 1:
        return _window(first, skipped, limit), _window(second, skipped, limit)
    return shortened(first, limit), shortened(second, limit)


def _window(text: str, start: int, limit: int) -> str:
    shown = text[start : start + limit - 1]
    return f"…{shown[:-1]}…" if start + len(shown) < len(text) else f"…{shown}"
