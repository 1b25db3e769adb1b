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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

from factcheck.documents import shown
from factcheck.errors import InputError
from factcheck.settings import require_list

SUFFIX = "_keywords"
"""Suffix of a key with the keywords of a field or behavior."""
_GRAMMAR = (
    "a keyword must be a string or a mapping with one of the keys word, fold, any, not, "
    "such as {word: cat}"
)
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
_KANA = rf"[{_LETTER}&&[{_KATAKANA}]]"
_SPACED = rf"[{_LETTER}--[{_UNSPACED}]]"


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
    return word in text and bool(word) and _whole(word).search(text) is not None


@functools.cache
def _whole(word: str) -> Any:
    import regex  # type: ignore[import-untyped]

    pairs = (_LETTER, r"\p{M}"), (_KANA, _KANA), (_SPACED, _SPACED)
    joined = "|".join(f"(?<={left}){right}" for left, right in pairs)
    return regex.compile(f"(?V1)(?!{joined}){regex.escape(word)}(?!{joined})")


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
        object.__setattr__(self, "content", _parsed_content(self.kind, self.content))

    def __str__(self) -> str:
        if self.kind == "any":
            return " or ".join(map(str, self.content))
        if self.kind == "fold":
            return f"{self.content} (any case or accent)"
        return f"{'the word' if self.kind == 'word' else 'not'} {self.content}"


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


def is_forbidden(keyword: Keyword) -> bool:
    return isinstance(keyword, Form) and keyword.kind == "not"


def _parsed_content(kind: Kind, given: Any) -> Any:
    """Validate the content of a form and parse the keywords in it."""
    if kind == "any":
        words = as_keywords(given, "any")
        if not words or any(map(is_forbidden, words)):
            raise InputError("any: list one or more keywords; put 'not' around all of them")
        return words
    if kind == "not":
        word = as_keyword(given)
        if not word or is_forbidden(word):
            raise InputError(f"not: expected what is forbidden, got {shown(given)}")
        return word
    text = content = as_keyword(given) if kind == "fold" else given
    if isinstance(content, Form) and kind == "fold" and content.kind == "word":
        text = content.content
    if not isinstance(text, str) or not folded(text):
        expected = "a string or {word: ...}" if kind == "fold" else "a string"
        raise InputError(f"{kind}: expected {expected} with a letter, got {shown(given)}; quote it")
    return content


_folded_keyword = functools.cache(folded)


def occurs(keyword: Keyword, text: str) -> bool:
    """Whether a keyword, or the forbidden keyword of `Not`, occurs in a text."""
    if isinstance(keyword, str):
        return keyword in text
    kind, content = keyword.kind, keyword.content
    if kind == "word":
        return has_word(text, content)
    if kind == "fold":
        if isinstance(content, Form):
            return has_word(folded(text), _folded_keyword(content.content))
        return _folded_keyword(content) in folded(text)
    if kind == "any":
        return any(occurs(word, text) for word in content)
    return occurs(content, text)


class Found(NamedTuple):
    """What a search for keywords in a text found."""

    words: tuple[Keyword, ...]
    """Keywords that occur, in order, including `Not` if its forbidden keyword does."""
    is_forbidden: bool
    """Whether a forbidden keyword occurs."""
    share: float
    """Fraction of the keywords that occur, in [0, 1]; 0 if a forbidden one does, or without any."""
    unmet: tuple[Keyword, ...]
    """Keywords that do not occur, and forbidden ones that do."""


def search(keywords: Sequence[Keyword], text: str) -> Found:
    """Search a text for keywords."""
    found = [(word, occurs(word, text)) for word in keywords]
    words = tuple(word for word, is_there in found if is_there)
    unmet = tuple(word for word, is_there in found if is_there == is_forbidden(word))
    if any(map(is_forbidden, words)):
        return Found(words, True, 0.0, unmet)
    n_required = len(keywords) - sum(map(is_forbidden, keywords))
    share = len(words) / n_required if n_required else float(bool(keywords))
    return Found(words, False, share, unmet)


def as_keyword(data: Any) -> Keyword:
    """Parse a keyword from its notation; a keyword is returned as is, an integer as its digits."""
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
    words = tuple(map(as_keyword, require_list(what, data)))
    if "" in words:
        raise InputError(f"{what}: the empty string occurs in every text; remove it")
    return words


def as_keyword_lists(data: Any, what: str) -> dict[str, tuple[Keyword, ...]]:
    """Parse lists of keywords by name; the message of `InputError` starts with `what`."""
    if not isinstance(data, Mapping) or not data:
        raise InputError(f"{what} needs keywords, as <name>{SUFFIX}; got {shown(data)}")
    lists = {}
    for name, words in data.items():
        if not isinstance(name, str) or not name.strip():
            raise InputError(f"{what}: a name must be a string that is not blank, got {name!r}")
        lists[name] = as_keywords(words, f"{name}{SUFFIX}")
    return lists


def without_suffix(data: Any, what: str) -> dict[str, Any]:
    """Return lists by name, from `<name>_keywords`; raise `InputError` for any other key."""
    if not isinstance(data, Mapping):
        raise InputError(f"{what} must be a mapping with <name>{SUFFIX}, got {shown(data)}")
    lists = {}
    for key, words in data.items():
        if not isinstance(key, str) or not key.endswith(SUFFIX):
            raise InputError(f"{what}: unknown key {key!r}; use <name>{SUFFIX}")
        lists[key.removesuffix(SUFFIX)] = words
    return lists
