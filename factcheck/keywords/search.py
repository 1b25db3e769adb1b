"""Many keywords looked for in many texts at once, with the results of looking one by one.

For plain texts, the searched texts are joined and read once, however many keywords there are (Aho
and Corasick, 1975). Making the automaton costs about as much as five ordinary searches, so one or
two texts are searched with `in`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from factcheck.keywords.forms import Form, Keyword, SearchedText

Find = Callable[..., list[str]]
SEPARATOR = "\0"
_WORTHWHILE = 5
"""Texts for which an automaton is made."""
_AT_ONCE = 256
"""Texts that are joined."""


class KeywordSearch:
    """Finds which of some keywords occur in a text; of a `Not`, whether the forbidden does.

    Args:
        keywords: Different keywords of any form.
    """

    def __init__(self, keywords: Iterable[Keyword]) -> None:
        distinct = list(keywords)
        plain = [keyword for keyword in distinct if isinstance(keyword, str)]
        self._plain = PlainSearch(plain)
        self._forms: list[Form] = []
        self.has_forms = len(plain) < len(distinct)
        """Whether any keyword is more than a plain text."""
        if self.has_forms:
            self._forms = [keyword for keyword in distinct if not isinstance(keyword, str)]

    def found_in_each(self, texts: Sequence[str]) -> Sequence[set[Keyword]]:
        """The keywords that occur in each text, in the order of the texts."""
        found: Sequence[set[Keyword]] = self._plain.found_in_each(texts)  # type: ignore[assignment]
        if self._forms:
            for text, own in zip(texts, found, strict=True):
                searched = SearchedText(text)
                own.update(form for form in self._forms if form.occurs(searched))
        return found


class PlainSearch:
    """Finds which of some plain texts occur in a text, letter for letter.

    Args:
        keywords: Different texts to look for; the empty one is in every text.
    """

    def __init__(self, keywords: Sequence[str]) -> None:
        self._keywords = keywords
        self._has_empty = "" in self._keywords
        self._n_searched = 0
        self._find: Find | None = None
        self._is_plain = False
        """Whether the keywords have no automaton."""

    def found_in_each(self, texts: Sequence[str]) -> list[set[str]]:
        """The keywords that occur in each text, in the order of the texts."""
        find = self._automaton(len(texts))
        if find is None:
            return self._one_by_one(texts)
        found: list[set[str]] = []
        for start in range(0, len(texts), _AT_ONCE):
            some = texts[start : start + _AT_ONCE]
            found += self._joined(find, some) or self._one_by_one(some)
        return found

    def _one_by_one(self, texts: Sequence[str]) -> list[set[str]]:
        return [set(filter(text.__contains__, self._keywords)) for text in texts]

    def _automaton(self, n_texts: int) -> Find | None:
        """What finds all occurrences in a text, once that is worth while.

        There is none for keywords with the separator or with half a character.
        """
        if self._find is None and not self._is_plain:
            self._n_searched += n_texts
            if self._n_searched >= _WORTHWHILE:
                self._find = _made([keyword for keyword in self._keywords if keyword])
                self._is_plain = self._find is None
        return self._find

    def _joined(self, find: Find, texts: Sequence[str]) -> list[set[str]] | None:
        """The same, from one reading; `None` where a text has a separator, or half a character."""
        try:
            hits = find(SEPARATOR.join(texts), overlapping=True)
        except UnicodeEncodeError:
            return None
        everywhere = {""} if self._has_empty else set()
        own = everywhere.copy()
        found = [own]
        for hit in hits:
            if hit == SEPARATOR:
                own = everywhere.copy()
                found.append(own)
            else:
                own.add(hit)
        return found if len(found) == len(texts) else None


def _made(keywords: Sequence[str]) -> Find | None:
    everything = "".join(keywords)
    if not keywords or SEPARATOR in everything or has_halves(everything):
        return None
    from ahocorasick_rs import AhoCorasick, Implementation

    patterns = [SEPARATOR, *keywords]
    made = AhoCorasick(patterns, implementation=Implementation.ContiguousNFA)
    return made.find_matches_as_strings


def has_halves(text: str) -> bool:
    """Whether a text has half of a surrogate pair, before which the library ends its patterns."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False
