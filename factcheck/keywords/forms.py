r"""What a keyword can be: a text, or a form with a rule of its own; how it is written in a file.

    photosynthesis            the text occurs, letter for letter (Python's `in`)
    word: cat                 it occurs as a whole word, so not in `concatenate`
    fold: Énergie             it occurs but for case and accents
    fold: {word: Énergie}     both
    regex: '\d+ kJ'            a match of the regular expression occurs
    any: [colour, color]      at least one of several keywords occurs
    not: mitochondria         the keyword must not occur

Each but the first is a mapping with one key, in YAML and in JSON: `{"word": "cat"}`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from factcheck.errors import InputError
from factcheck.keywords.folding import folded
from factcheck.keywords.word_edges import has_word

_GRAMMAR = (
    "a keyword is a text, or a mapping with one of the keys word, fold, regex, any, not, such as "
    "{word: cat}"
)


class SearchedText:
    """A text that keywords are looked for in; what several of them need is made once."""

    __slots__ = ("_folded", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._folded: str | None = None

    @property
    def folded(self) -> str:
        """The text without case and accents."""
        if self._folded is None:
            self._folded = folded(self.text)
        return self._folded


@dataclass(frozen=True, slots=True)
class Word:
    """A text that must stand as a whole word; see `factcheck.keywords.word_edges`."""

    text: str

    def __post_init__(self) -> None:
        _require_text(self.text, "word")

    def occurs(self, searched: SearchedText) -> bool:
        """Whether the word is in the text."""
        return has_word(searched.text, self.text)

    def to_data(self) -> dict[str, Any]:
        """As it is written in a file."""
        return {"word": self.text}

    def __str__(self) -> str:
        return f"the word {self.text}"


@dataclass(frozen=True, slots=True)
class Folded:
    """A text or word of which case and accents do not matter; see `factcheck.keywords.folding`."""

    keyword: str | Word

    def __post_init__(self) -> None:
        if not isinstance(self.keyword, Word):
            _require_text(self.keyword, "fold")
        if not folded(self._text):
            raise InputError(f"fold: {self._text!r} consists of accents only; add a letter")

    @property
    def _text(self) -> str:
        return self.keyword.text if isinstance(self.keyword, Word) else self.keyword

    def occurs(self, searched: SearchedText) -> bool:
        """Whether it is in the text."""
        if isinstance(self.keyword, Word):
            return has_word(searched.folded, folded(self.keyword.text))
        return folded(self.keyword) in searched.folded

    def to_data(self) -> dict[str, Any]:
        """As it is written in a file."""
        return {"fold": to_data(self.keyword)}

    def __str__(self) -> str:
        return f"{self.keyword} (any case or accent)"


@dataclass(frozen=True, slots=True)
class Regex:
    """A regular expression of Python's `re`, of which a match must occur."""

    pattern: str
    _compiled: re.Pattern[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        _require_text(self.pattern, "regex")
        try:
            compiled = re.compile(self.pattern)
        except (re.error, RecursionError, OverflowError) as error:
            raise InputError(
                f"regex: {self.pattern!r} is no regular expression: {error}"
            ) from error
        object.__setattr__(self, "_compiled", compiled)

    def occurs(self, searched: SearchedText) -> bool:
        """Whether there is a match in the text."""
        return self._compiled.search(searched.text) is not None

    def to_data(self) -> dict[str, Any]:
        """As it is written in a file."""
        return {"regex": self.pattern}

    def __str__(self) -> str:
        return f"/{self.pattern}/"


@dataclass(frozen=True, slots=True)
class AnyOf:
    """Alternatives that count as one keyword, which occurs if any of them does."""

    keywords: tuple[Keyword, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "keywords", as_keywords(self.keywords, "any"))
        if not self.keywords:
            raise InputError("any: there are no alternatives; name at least one keyword")
        if "" in self.keywords:
            raise InputError("any: the empty text is in every text; leave it out")
        if any(isinstance(keyword, Not) for keyword in self.keywords):
            raise InputError("any: no 'not' among alternatives; put the 'not' around all of them")

    def occurs(self, searched: SearchedText) -> bool:
        """Whether any alternative is in the text."""
        return any(occurs(keyword, searched) for keyword in self.keywords)

    def to_data(self) -> dict[str, Any]:
        """As it is written in a file."""
        return {"any": [to_data(keyword) for keyword in self.keywords]}

    def __str__(self) -> str:
        return " or ".join(map(str, self.keywords))


@dataclass(frozen=True, slots=True)
class Not:
    """A keyword that must not occur."""

    keyword: Keyword

    def __post_init__(self) -> None:
        if isinstance(self.keyword, Not):
            raise InputError("not: no 'not' inside another; write the keyword itself")
        object.__setattr__(self, "keyword", as_keyword(self.keyword))
        if not self.keyword:
            raise InputError("not: the empty text is in every text; write what must not occur")

    def occurs(self, searched: SearchedText) -> bool:
        """Whether the keyword that must not occur does."""
        return occurs(self.keyword, searched)

    def to_data(self) -> dict[str, Any]:
        """As it is written in a file."""
        return {"not": to_data(self.keyword)}

    def __str__(self) -> str:
        return f"not {self.keyword}"


Form = Word | Folded | Regex | AnyOf | Not
Keyword = str | Form
"""A plain text is looked for letter for letter; the empty one is in every text."""


def occurs(keyword: Keyword, searched: SearchedText) -> bool:
    """Whether a text has what the keyword names; of a `Not`, what must not be there."""
    if isinstance(keyword, str):
        return keyword in searched.text
    return keyword.occurs(searched)


def to_data(keyword: Keyword) -> Any:
    """A keyword as it is written in a file."""
    return keyword if isinstance(keyword, str) else keyword.to_data()


def as_keyword(data: Any) -> Keyword:
    """A keyword from what stands for it in a file, or from itself.

    Raises:
        InputError: It is neither a text nor a mapping with one known key, or cannot be used.
    """
    if isinstance(data, str):
        return data if type(data) is str else str.__str__(data)
    if isinstance(data, (Word, Folded, Regex, AnyOf, Not)):
        return data
    if not isinstance(data, Mapping) or len(data) != 1:
        raise InputError(f"{_GRAMMAR}; this is {_shown(data)}")
    [(key, value)] = data.items()
    if key not in _MADE_BY:
        raise InputError(f"{_GRAMMAR}; {key!r} is not one of them")
    return _MADE_BY[key](value)


def as_keywords(data: Any, what: str) -> tuple[Keyword, ...]:
    """Several keywords, in order.

    Raises:
        InputError: Not a list, or a keyword that cannot be used.
    """
    if isinstance(data, (str, bytes, Mapping)) or not isinstance(data, Iterable):
        raise InputError(f"{what}: expected a list of keywords, found {_shown(data)}")
    return tuple(as_keyword(item) for item in data)


def _folded(value: Any) -> Folded:
    keyword = as_keyword(value)
    if isinstance(keyword, (str, Word)):
        return Folded(keyword)
    raise InputError(f"fold: takes a text or {{word: ...}}, not {_shown(value)}")


_MADE_BY: Mapping[str, Callable[[Any], Form]] = {
    "word": Word,
    "fold": _folded,
    "regex": Regex,
    "any": lambda value: AnyOf(as_keywords(value, "any")),
    "not": lambda value: Not(as_keyword(value)),
}


def _require_text(value: Any, what: str) -> None:
    if not isinstance(value, str):
        raise InputError(f"{what}: expected a text, found {_shown(value)}; put it in quotes")
    if not value:
        raise InputError(f"{what}: the text is empty; write what is to be found")


def _shown(value: Any) -> str:
    return "null" if value is None else f"{value!r:.80}"
