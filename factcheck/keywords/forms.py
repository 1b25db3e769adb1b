r"""Keyword forms, their notation in files, and the rules by which they occur in a text.

    photosynthesis            the text occurs, character for character (Python's `in`)
    word: cat                 it occurs as a whole word, so not in `concatenate`
    fold: Énergie             it occurs, ignoring case and accents
    fold: {word: Énergie}     both
    regex: '\d+ kJ'           a match of the regular expression occurs
    any: [colour, color]      at least one of several keywords occurs
    not: mitochondria         the keyword must not occur

All but the first are mappings with a single key, in YAML and in JSON: `{"word": "cat"}`.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from factcheck.documents import shown
from factcheck.errors import InputError

SUFFIX = "_keywords"
"""Follows the name of a field or behavior in the key of its keywords."""
_GRAMMAR = (
    "a keyword must be a string or a mapping with one of the keys word, fold, regex, any, not, "
    "such as {word: cat}"
)
_EVERYWHERE = "the empty string occurs in every text"
_STROKES = {"ø": "o", "ł": "l", "đ": "d", "ħ": "h", "ŧ": "t", "\u0131": "i", "æ": "ae", "œ": "oe"}
_PLAIN: Mapping[int, str | None] = {
    **dict.fromkeys(range(0x0300, 0x0370)),
    **{ord(letter): plain for letter, plain in _STROKES.items()},
}
"""Accents of Latin, Greek and Cyrillic letters, and letters that have no decomposition. Marks that
make another letter, as in Japanese or the Indic scripts, are not among them."""
_KATAKANA = r"\u30a0-\u30ff\u31f0-\u31ff\uff66-\uff9f"
_UNSPACED = (
    r"\p{Han}\p{Hiragana}\p{Katakana}\p{Bopomofo}\p{Thai}\p{Lao}\p{Tibetan}\p{Myanmar}\p{Khmer}"
    rf"\p{{Tai_Le}}\p{{New_Tai_Lue}}\p{{Tai_Tham}}{_KATAKANA}"
)
"""Scripts written without spaces between words."""
_LETTER = r"[_\p{L}\p{M}\p{N}]"


@functools.lru_cache(maxsize=8)
def folded(text: str) -> str:
    """The text in lower case, without accents, in compatibility form; idempotent.

    Source:
        Caseless matching of compatibility forms (The Unicode Standard, section 3.13, D146), with
        accents removed.
    """
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text)
    lower = unicodedata.normalize("NFKD", decomposed.casefold())
    return unicodedata.normalize("NFC", lower.translate(_PLAIN))


def has_word(text: str, word: str) -> bool:
    """Whether `word` occurs in `text` with a word boundary on both sides.

    A word ends where no letter, digit or mark follows; an apostrophe or hyphen is a boundary. In
    scripts without spaces (Chinese, Japanese, Thai ...) every position between two characters is
    one, and so is every change to another script; only runs of katakana count as one word.

    Source:
        Word boundaries of Unicode Standard Annex 29, reduced to letters, digits and marks.
    """
    start = text.find(word) if word else -1
    while start >= 0:
        end = start + len(word)
        at_start, at_end = text[max(0, start - 1) : start + 1], text[end - 1 : end + 1]
        if not _joined().fullmatch(at_start) and not _joined().fullmatch(at_end):
            return True
        start = text.find(word, start + 1)
    return False


@functools.cache
def _joined() -> Any:
    """Matches two neighbouring characters that belong to one word."""
    import regex  # type: ignore[import-untyped]

    return regex.compile(
        rf"(?V1){_LETTER}\p{{M}}|[{_LETTER}&&[{_KATAKANA}]]{{2}}|[{_LETTER}--[{_UNSPACED}]]{{2}}"
    )


class Form:
    """Base of keywords with a matching rule of their own."""

    __slots__ = ()
    key: ClassVar[str]
    """Key of the form in files."""

    def occurs_in(self, text: str) -> bool:
        """Whether the keyword occurs; of `Not`, whether the forbidden one does."""
        raise NotImplementedError


Keyword = str | Form
"""A plain string is searched character for character; the empty one occurs in every text."""


@dataclass(frozen=True, slots=True)
class Word(Form):
    """A string that must occur as a whole word; see `has_word`."""

    key = "word"
    text: str

    def __post_init__(self) -> None:
        _require_string(self.text, "word")

    def occurs_in(self, text: str) -> bool:
        return has_word(text, self.text)

    def __str__(self) -> str:
        return f"the word {self.text}"


@dataclass(frozen=True, slots=True)
class Folded(Form):
    """A string or word whose case and accents are ignored; see `folded`."""

    key = "fold"
    keyword: str | Word
    folded: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        keyword = as_keyword(self.keyword)
        if not isinstance(keyword, (str, Word)):
            raise InputError(f"fold: expected a string or {{word: ...}}, got {shown(self.keyword)}")
        plain = keyword.text if isinstance(keyword, Word) else keyword
        _require_string(plain, "fold")
        object.__setattr__(self, "keyword", keyword)
        object.__setattr__(self, "folded", folded(plain))
        if not self.folded:
            raise InputError(f"fold: {plain!r} consists of accents only; add a letter")

    def occurs_in(self, text: str) -> bool:
        search = has_word if isinstance(self.keyword, Word) else str.__contains__
        return search(folded(text), self.folded)

    def __str__(self) -> str:
        return f"{self.keyword} (any case or accent)"


@dataclass(frozen=True, slots=True)
class Regex(Form):
    """A regular expression (Python's `re`) that must match somewhere."""

    key = "regex"
    pattern: str
    compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _require_string(self.pattern, "regex")
        try:
            object.__setattr__(self, "compiled", re.compile(self.pattern))
        except (re.error, RecursionError, OverflowError) as error:
            raise InputError(
                f"regex: {self.pattern!r} is not a valid regular expression: {error}"
            ) from error

    def occurs_in(self, text: str) -> bool:
        return self.compiled.search(text) is not None

    def __str__(self) -> str:
        return f"/{self.pattern}/"


@dataclass(frozen=True, slots=True)
class AnyOf(Form):
    """Alternatives that count as one keyword, which occurs if any of them does."""

    key = "any"
    keywords: tuple[Keyword, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "keywords", as_keywords(self.keywords, "any"))
        if not self.keywords:
            raise InputError("any: no alternatives; list at least one keyword")
        if "" in self.keywords:
            raise InputError(f"any: {_EVERYWHERE}; remove it")
        if any(isinstance(keyword, Not) for keyword in self.keywords):
            raise InputError("any: 'not' cannot be an alternative; put it around all of them")

    def occurs_in(self, text: str) -> bool:
        return any(occurs(keyword, text) for keyword in self.keywords)

    def __str__(self) -> str:
        return " or ".join(map(str, self.keywords))


@dataclass(frozen=True, slots=True)
class Not(Form):
    """A forbidden keyword."""

    key = "not"
    keyword: Keyword

    def __post_init__(self) -> None:
        object.__setattr__(self, "keyword", as_keyword(self.keyword))
        if isinstance(self.keyword, Not):
            raise InputError("not: cannot be nested in another 'not'; use the keyword itself")
        if not self.keyword:
            raise InputError(f"not: {_EVERYWHERE}; name what is forbidden")

    def occurs_in(self, text: str) -> bool:
        return occurs(self.keyword, text)

    def __str__(self) -> str:
        return f"not {self.keyword}"


_FORMS: Mapping[Any, Callable[[Any], Form]] = {
    form.key: form for form in (Word, Folded, Regex, AnyOf, Not)
}


def occurs(keyword: Keyword, text: str) -> bool:
    """Whether a keyword occurs in a text; for `Not`, whether the forbidden keyword does."""
    return keyword in text if isinstance(keyword, str) else keyword.occurs_in(text)


def found_in(keywords: Iterable[Keyword], text: str) -> set[Keyword]:
    """The keywords that occur in a text; of `Not`, those whose forbidden keyword does."""
    return {word for word in keywords if occurs(word, text)}


def share_found(keywords: Sequence[Keyword], found: set[Keyword]) -> float:
    """The similarity, given which of the keywords occur."""
    forbidden = [word for word in keywords if isinstance(word, Not)]
    if not keywords or not found.isdisjoint(forbidden):
        return 0.0
    n_required = len(keywords) - len(forbidden)
    return sum(map(found.__contains__, keywords)) / n_required if n_required else 1.0


def unmet_keywords(words: Sequence[Keyword], found: set[Keyword]) -> tuple[Keyword, ...]:
    """The keywords that do not occur, and the forbidden ones that do."""
    return tuple(word for word in words if (word in found) == isinstance(word, Not))


def to_data(keyword: Keyword) -> Any:
    if isinstance(keyword, str):
        return keyword
    content = getattr(keyword, fields(keyword)[0].name)  # type: ignore[arg-type]
    is_list = isinstance(content, tuple)
    return {keyword.key: [*map(to_data, content)] if is_list else to_data(content)}


def as_keyword(data: Any) -> Keyword:
    """A keyword from its notation in files, or the keyword itself.

    Raises:
        InputError: Neither a string nor a mapping with one known key, or an invalid keyword.
    """
    if isinstance(data, str):
        return str.__str__(data)  # the text of a member of an enumeration
    if isinstance(data, Form):
        return data
    if not isinstance(data, Mapping) or len(data) != 1:
        raise InputError(f"{_GRAMMAR}, got {shown(data)}")
    [(key, value)] = data.items()
    if key not in _FORMS:
        raise InputError(f"{_GRAMMAR}; unknown key {key!r}")
    return _FORMS[key](value)


def as_keywords(data: Any, what: str) -> tuple[Keyword, ...]:
    """Keywords from a list, in order; raises `InputError`, starting with `what`, if invalid."""
    if isinstance(data, (str, bytes, Mapping)) or not isinstance(data, Iterable):
        raise InputError(f"{what}: expected a list of keywords, got {shown(data)}")
    return tuple(map(as_keyword, data))


def _require_string(value: Any, what: str) -> None:
    if not isinstance(value, str):
        raise InputError(f"{what}: expected a string, got {shown(value)}; quote it")
    if not value:
        raise InputError(f"{what}: the string is empty")


def field_of(key: Any) -> str | None:
    """The name in front of `_keywords`; `None` for another key."""
    if isinstance(key, str) and key.endswith(SUFFIX):
        return key.removesuffix(SUFFIX) or None
    return None
