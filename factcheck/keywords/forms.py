"""Keyword forms, their notation in files, and their matching rules.

    photosynthesis            exact substring (Python's `in`)
    word: cat                 whole word, so not in `concatenate`
    fold: Énergie             substring, ignoring case and accents
    fold: {word: Énergie}     both
    any: [colour, color]      at least one of several keywords
    not: mitochondria         forbidden keyword

All but the first are mappings with a single key, in YAML and in JSON: `{"word": "cat"}`.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from factcheck.documents import shown
from factcheck.errors import InputError

SUFFIX = "_keywords"
"""Suffix of a key with the keywords of a field or behavior."""
_GRAMMAR = (
    "a keyword must be a string or a mapping with one of the keys word, fold, any, not, "
    "such as {word: cat}"
)
EVERYWHERE = "the empty string occurs in every text"
_STROKES = {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "\u0131": "i", "æ": "ae", "œ": "oe"}
_UNACCENTED: Mapping[int, str | None] = {
    **dict.fromkeys(range(0x0300, 0x0370)),
    **{ord(letter): plain for letter, plain in _STROKES.items()},
}
"""Accents of Latin, Greek and Cyrillic letters, and letters without a decomposition. Marks that
form a different letter, as in Japanese or the Indic scripts, are not included."""
_KATAKANA = r"\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Tibetan}\p{Myanmar}\p{Khmer}"
    rf"\p{{Tai_Le}}\p{{New_Tai_Lue}}\p{{Tai_Tham}}{_KATAKANA}"
)
"""Scripts written without spaces between words."""
_LETTER = r"[_\p{L}\p{M}\p{N}]"


@functools.lru_cache(maxsize=8)
def folded(text: str) -> str:
    """Fold a text to lower case and compatibility form without accents; idempotent.

    Source:
        Caseless matching of compatibility forms (The Unicode Standard, section 3.13, D146), with
        accents removed.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    lower = unicodedata.normalize("NFKD", decomposed.casefold())
    return unicodedata.normalize("NFC", lower.translate(_UNACCENTED))


def has_word(text: str, word: str) -> bool:
    """Whether `word` occurs in `text` with no letter, digit or mark joined to it on either side.

    In scripts without spaces (Chinese, Japanese, Thai ...), characters are joined only within a run
    of katakana (Unicode Standard Annex 29, reduced to letters, digits and marks).
    """
    start = text.find(word) if word else -1
    while start >= 0:
        end = start + len(word)
        at_start, at_end = text[max(0, start - 1) : start + 1], text[end - 1 : end + 1]
        if not _joined_pair().fullmatch(at_start) and not _joined_pair().fullmatch(at_end):
            return True
        start = text.find(word, start + 1)
    return False


@functools.cache
def _joined_pair() -> Any:
    """Compile the pattern of two adjacent characters within one word."""
    import regex  # type: ignore[import-untyped]

    return regex.compile(
        rf"(?V1){_LETTER}\p{{M}}|[{_LETTER}&&[{_KATAKANA}]]{{2}}|[{_LETTER}--[{_UNSPACED}]]{{2}}"
    )


Kind = Literal["word", "fold", "any", "not"]


@dataclass(frozen=True, slots=True)
class Form:
    """A keyword with a matching rule; create it with `Word`, `Folded`, `AnyOf` or `Not`.

    Raises:
        InputError: The content is invalid, such as an empty string.
    """

    kind: Kind
    """Key in files."""
    content: Any
    """A string; for `fold` a string or `Word`, for `any` several keywords, for `not` one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "content", _parse_content(self.kind, self.content))

    def __str__(self) -> str:
        if self.kind == "any":
            return " or ".join(map(str, self.content))
        return _DESCRIPTIONS[self.kind].format(self.content)


Keyword = str | Form
"""A plain string is an exact substring; the empty one occurs in every text."""
Word = functools.partial(Form, "word")
"""A whole word; see `has_word`."""
Folded = functools.partial(Form, "fold")
"""A string or `Word`, ignoring case and accents; see `folded`."""
AnyOf = functools.partial(Form, "any")
"""Alternatives that count as one keyword."""
Not = functools.partial(Form, "not")
"""A forbidden keyword."""
_DESCRIPTIONS = {
    "word": "the word {}",
    "fold": "{} (any case or accent)",
    "not": "not {}",
}


def is_forbidden(keyword: Keyword) -> bool:
    return isinstance(keyword, Form) and keyword.kind == "not"


def _parse_content(kind: Kind, content: Any) -> Any:
    """Validate the content of a form and convert keywords from their notation."""
    if kind == "any":
        return _alternatives(content)
    word = as_keyword(content) if kind in ("fold", "not") else content
    if kind == "not":
        if is_forbidden(word):
            raise InputError("not: cannot be nested in another 'not'; use the keyword itself")
        if not word:
            raise InputError(f"not: {EVERYWHERE}; name what is forbidden")
        return word
    if kind == "fold" and isinstance(word, Form) and word.kind != "word":
        raise InputError(f"fold: expected a string or {{word: ...}}, got {shown(content)}")
    text = word.content if isinstance(word, Form) else word
    if not isinstance(text, str):
        raise InputError(f"{kind}: expected a string, got {shown(text)}; quote it")
    if not text:
        raise InputError(f"{kind}: the string is empty")
    if kind == "fold" and not folded(text):
        raise InputError(f"fold: {text!r} consists of accents only; add a letter")
    return word


def _alternatives(content: Any) -> tuple[Keyword, ...]:
    words = as_keywords(content, "any")
    if not words:
        raise InputError("any: no alternatives; list at least one keyword")
    if any(map(is_forbidden, words)):
        raise InputError("any: 'not' cannot be an alternative; put it around all of them")
    return words


@functools.cache
def _folded_content(word: Keyword) -> str:
    return folded(word if isinstance(word, str) else word.content)


def occurs(keyword: Keyword, text: str) -> bool:
    """Whether a keyword, or the forbidden keyword of `Not`, occurs in a text."""
    if isinstance(keyword, str):
        return keyword in text
    kind, content = keyword.kind, keyword.content
    if kind == "word":
        return has_word(text, content)
    if kind == "fold":
        search = str.__contains__ if isinstance(content, str) else has_word
        return search(folded(text), _folded_content(content))
    if kind == "any":
        return any(occurs(word, text) for word in content)
    return occurs(content, text)


def found_in(keywords: Iterable[Keyword], text: str) -> set[Keyword]:
    """Return the keywords that occur in a text, including `Not` if its forbidden keyword does."""
    return {word for word in keywords if occurs(word, text)}


def share_found(keywords: Sequence[Keyword], found: set[Keyword]) -> float | None:
    """Return the fraction of keywords found, in [0, 1]; `None` if a forbidden one is found."""
    forbidden = [word for word in keywords if is_forbidden(word)]
    if not found.isdisjoint(forbidden):
        return None
    n_required = len(keywords) - len(forbidden)
    if not n_required:
        return float(bool(keywords))
    return sum(map(found.__contains__, keywords)) / n_required


def unmet_keywords(words: Sequence[Keyword], found: set[Keyword]) -> tuple[Keyword, ...]:
    """Return the keywords that do not occur, and the forbidden ones that do."""
    return tuple(word for word in words if (word in found) == is_forbidden(word))


def as_keyword(data: Any) -> Keyword:
    """Parse a keyword from its notation; a keyword is returned as is, an integer as its digits.

    Raises:
        InputError: The data is neither a string nor a mapping with one known key, or the keyword is
            invalid.
    """
    if isinstance(data, str):
        return str.__str__(data)  # converts members of string enumerations
    if isinstance(data, Form):
        return data
    if isinstance(data, int) and not isinstance(data, bool):
        return str(data)
    if not isinstance(data, Mapping) or len(data) != 1:
        raise InputError(f"{_GRAMMAR}, got {shown(data)}")
    [(key, value)] = data.items()
    if key not in get_args(Kind):
        raise InputError(f"unknown key {key!r}; {_GRAMMAR}")
    return Form(key, value)


def as_keywords(data: Any, what: str) -> tuple[Keyword, ...]:
    """Parse a list of keywords; the message of `InputError` starts with `what`."""
    if isinstance(data, (str, bytes, Mapping)) or not isinstance(data, Iterable):
        raise InputError(f"{what}: expected a list of keywords, got {shown(data)}")
    words = tuple(map(as_keyword, data))
    if "" in words:
        raise InputError(f"{what}: {EVERYWHERE}; remove it")
    return words


def field_of(key: Any) -> str | None:
    """Strip `_keywords` from a key; `None` for any other key."""
    if isinstance(key, str) and key.endswith(SUFFIX):
        return key.removesuffix(SUFFIX) or None
    return None
