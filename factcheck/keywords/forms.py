r"""Keyword forms, and their notation in files.

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

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

from factcheck.documents import shown
from factcheck.errors import InputError
from factcheck.keywords.text import folded, has_word

_GRAMMAR = (
    "a keyword must be a string or a mapping with one of the keys word, fold, regex, any, not, "
    "such as {word: cat}"
)


class Form:
    """Base of keywords with a matching rule of their own."""

    __slots__ = ()
    key: ClassVar[str]
    """Key of the form in files."""

    def to_data(self) -> dict[str, Any]:
        """Notation in files: a mapping with a single key."""
        content = getattr(self, fields(self)[0].name)  # type: ignore[arg-type]
        nested = isinstance(content, tuple)
        return {self.key: [*map(to_data, content)] if nested else to_data(content)}


Keyword = str | Form
"""A plain string is searched character for character; the empty one occurs in every text."""


@dataclass(frozen=True, slots=True)
class Word(Form):
    """A string that must occur as a whole word; see `factcheck.keywords.text.has_word`."""

    key = "word"
    text: str

    def __post_init__(self) -> None:
        _require_string(self.text, "word")

    def __str__(self) -> str:
        return f"the word {self.text}"


@dataclass(frozen=True, slots=True)
class Folded(Form):
    """A string or word whose case and accents are ignored; see `factcheck.keywords.text.folded`."""

    key = "fold"
    keyword: str | Word
    folded: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        plain = self.keyword.text if isinstance(self.keyword, Word) else self.keyword
        _require_string(plain, "fold")
        object.__setattr__(self, "folded", folded(plain))
        if not self.folded:
            raise InputError(f"fold: {plain!r} consists of accents only; add a letter")

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
            raise InputError("any: the empty string occurs in every text; remove it")
        if any(isinstance(keyword, Not) for keyword in self.keywords):
            raise InputError("any: 'not' cannot be an alternative; put it around all of them")

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
            raise InputError("not: the empty string occurs in every text; name what is forbidden")

    def __str__(self) -> str:
        return f"not {self.keyword}"


def occurs(keyword: Keyword, text: str) -> bool:
    """Whether a keyword occurs in a text; for `Not`, whether the forbidden keyword does."""
    if isinstance(keyword, str):
        return keyword in text
    if isinstance(keyword, Word):
        return has_word(text, keyword.text)
    if isinstance(keyword, Folded):
        is_word = isinstance(keyword.keyword, Word)
        return (has_word if is_word else str.__contains__)(folded(text), keyword.folded)
    if isinstance(keyword, Regex):
        return keyword.compiled.search(text) is not None
    if isinstance(keyword, AnyOf):
        return any(occurs(alternative, text) for alternative in keyword.keywords)
    return isinstance(keyword, Not) and occurs(keyword.keyword, text)


def to_data(keyword: Keyword) -> Any:
    """Notation of a keyword in files."""
    return keyword if isinstance(keyword, str) else keyword.to_data()


def as_keyword(data: Any) -> Keyword:
    """A keyword from its notation in files, or the keyword itself.

    Raises:
        InputError: Neither a string nor a mapping with one known key, or an invalid keyword.
    """
    if isinstance(data, str):
        return data if type(data) is str else str.__str__(data)
    if isinstance(data, Form):
        return data
    if not isinstance(data, Mapping) or len(data) != 1:
        raise InputError(f"{_GRAMMAR}, got {shown(data)}")
    [(key, value)] = data.items()
    if key == "fold":
        keyword = as_keyword(value)
        if not isinstance(keyword, (str, Word)):
            raise InputError(f"fold: expected a string or {{word: ...}}, got {shown(value)}")
        return Folded(keyword)
    if key not in _FORMS:
        raise InputError(f"{_GRAMMAR}; unknown key {key!r}")
    return _FORMS[key](value)


def as_keywords(data: Any, what: str) -> tuple[Keyword, ...]:
    """Keywords from a list, in order; raises `InputError`, starting with `what`, if invalid."""
    if isinstance(data, (str, bytes, Mapping)) or not isinstance(data, Iterable):
        raise InputError(f"{what}: expected a list of keywords, got {shown(data)}")
    return tuple(map(as_keyword, data))


_FORMS: Mapping[Any, Callable[[Any], Form]] = {form.key: form for form in (Word, Regex, AnyOf, Not)}


def _require_string(value: Any, what: str) -> None:
    if not isinstance(value, str):
        raise InputError(f"{what}: expected a string, got {shown(value)}; quote it")
    if not value:
        raise InputError(f"{what}: the string is empty")
