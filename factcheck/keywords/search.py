"""Search for many keywords in many texts at once, with the results of searching one by one.

Texts are joined, and each block is read once for all plain keywords (Aho and Corasick, 1975).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from factcheck.keywords.forms import Form, Keyword, occurs

SEPARATOR = "\0"
_BLOCK = 256
"""Texts joined at a time."""
_WORTHWHILE = 5
"""Texts from which an automaton pays: building it costs about five searches with `in`."""
_UTF_16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
_NARROW_SEPARATOR = "\0\1\2"
_WIDE_SEPARATOR = "\ufdd0\ufdd1"
"""Noncharacters."""
Find = Callable[[str], Iterable[str]]
"""Finds patterns in a text; may raise `UnicodeError`."""


class KeywordSearch:
    """Finds which keywords occur in a text; for `Not`, whether the forbidden keyword does.

    Args:
        keywords: Distinct keywords of any form.
    """

    def __init__(self, keywords: Iterable[Keyword]) -> None:
        words = list(keywords)
        self._plain = [word for word in words if isinstance(word, str)]
        self._forms = [word for word in words if isinstance(word, Form)]
        self._everywhere: set[Keyword] = {""} if "" in self._plain else set()
        self._n_searched = 0
        self._find: Find | None = None

    def found_in_each(self, texts: Sequence[str]) -> list[set[Keyword]]:
        """The keywords that occur in each text, in the order of the texts."""
        self._n_searched += len(texts)
        if self._find is None and self._n_searched >= _WORTHWHILE:
            self._find = _all_matches([word for word in self._plain if word])
        found: list[set[Keyword]] = []
        for start in range(0, len(texts), _BLOCK):
            block = texts[start : start + _BLOCK]
            found += self._found_in_block(block) or map(self._found_by_in, block)
        if self._forms:
            for text, own in zip(texts, found, strict=True):
                own.update(form for form in self._forms if occurs(form, text))
        return found

    def _found_by_in(self, text: str) -> set[Keyword]:
        return {word for word in self._plain if word in text}

    def _found_in_block(self, texts: Sequence[str]) -> list[set[Keyword]] | None:
        """The plain keywords in each text; `None` where the automaton cannot tell."""
        if self._find is None:
            return None
        own = self._everywhere.copy()
        found = [own]
        try:
            for hit in self._find(SEPARATOR.join(texts)):
                if hit == SEPARATOR:
                    own = self._everywhere.copy()
                    found.append(own)
                else:
                    own.add(hit)
        except UnicodeError:
            return None
        return found if len(found) == len(texts) else None


def _all_matches(keywords: Sequence[str]) -> Find:
    """Finds all occurrences; for keywords with the separator or a lone surrogate, always raises."""
    joined = "".join(keywords)
    if not keywords or SEPARATOR in joined or _has_surrogates(joined):
        return _never_joined
    from ahocorasick_rs import AhoCorasick, Implementation

    patterns = [SEPARATOR, *keywords]
    automaton = AhoCorasick(patterns, implementation=Implementation.ContiguousNFA)
    return partial(automaton.find_matches_as_strings, overlapping=True)


def _never_joined(_: str) -> Iterable[str]:
    raise UnicodeError("these keywords are searched one by one")


def _has_surrogates(text: str) -> bool:
    """Whether a text has a lone surrogate, which has no UTF-8 form."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return True
    return False


class LabelSearch:
    """Labels of many texts, given plain keywords with a label each, from one pass over the texts.

    The pass is a search for the leftmost and longest pattern, then for the next one after it, which
    can skip most of a text (the algorithm Teddy of `aho-corasick`) but misses a keyword that begins
    inside a hit. So wherever keywords of different labels can overlap, their union is a pattern of
    its own: it is longer, found instead, and ambiguous; so is a keyword that contains another one.

    Patterns beyond U+07FF, such as Chinese ones, are searched in UTF-16, others in UTF-8: each is
    cheap to get from how Python stores such texts.

    Args:
        keywords: Pairs of keyword and label, for which `can_search` holds.
        no_match: The label of a text without keywords.
        ambiguous: The label of a text with keywords of several labels.
    """

    MOST_KEYWORDS = 500
    """More of them could overlap in too many ways."""

    def __init__(
        self, keywords: Sequence[tuple[str, str]], *, no_match: str, ambiguous: str
    ) -> None:
        self._no_match, self._ambiguous = no_match, ambiguous
        self._labels = _pattern_labels(keywords, ambiguous)
        wide = all(len(pattern) > 1 and max(pattern) > "\u07ff" for pattern in self._labels)
        self._separator = _WIDE_SEPARATOR if wide else _NARROW_SEPARATOR
        self._find = (wide_matches if wide else _narrow_matches)([*self._labels, self._separator])

    @classmethod
    def can_search(cls, keywords: Sequence[Keyword]) -> bool:
        """Whether all are plain and not empty, without separators and lone surrogates."""
        if not 0 < len(keywords) <= cls.MOST_KEYWORDS:
            return False
        if not all(isinstance(word, str) and word for word in keywords):
            return False
        joined = "".join(map(str, keywords))
        separators = set(_NARROW_SEPARATOR + _WIDE_SEPARATOR)
        return separators.isdisjoint(joined) and not _has_surrogates(joined)

    def labels(self, texts: Sequence[str], label: Callable[[str], str]) -> list[str]:
        """The label of each text, in order; `label` gives that of a text that cannot be joined."""
        labels: list[str] = []
        for start in range(0, len(texts), _BLOCK):
            block = texts[start : start + _BLOCK]
            labels += self._labels_in_block(block) or map(label, block)
        return labels

    def _labels_in_block(self, texts: Sequence[str]) -> list[str] | None:
        labels: list[str] = []
        label = no_match = self._no_match
        separator, label_of = self._separator, self._labels
        try:
            for hit in self._find(separator.join(texts)):
                if hit == separator:
                    labels.append(label)
                    label = no_match
                elif label is no_match:
                    label = label_of[hit]
                elif label_of[hit] != label:
                    label = self._ambiguous
        except UnicodeError:
            return None
        labels.append(label)
        return labels if len(labels) == len(texts) else None


def _pattern_labels(keywords: Sequence[tuple[str, str]], ambiguous: str) -> dict[str, str]:
    """The label of every pattern: keywords, and the unions of two that can overlap."""
    labels = dict(keywords)
    for word, label in keywords:
        for other, other_label in keywords:
            if other_label != label:
                if other in word:
                    labels[word] = ambiguous
                labels |= dict.fromkeys(_overlaps(word, other), ambiguous)
    return labels


def _overlaps(word: str, other: str) -> Iterator[str]:
    """The texts in which `other` begins inside `word` and ends with it or after it."""
    for start in range(1, len(word)):
        if other.startswith(word[start:]):
            yield word[:start] + other


def _narrow_matches(patterns: Sequence[str]) -> Find:
    from ahocorasick_rs import AhoCorasick, MatchKind

    return AhoCorasick(patterns, matchkind=MatchKind.LeftmostLongest).find_matches_as_strings


def wide_matches(patterns: Sequence[str]) -> Find:
    """Finds the leftmost longest patterns in UTF-16."""
    from ahocorasick_rs import BytesAhoCorasick, MatchKind

    encoded = [pattern.encode(_UTF_16) for pattern in patterns]
    find = BytesAhoCorasick(encoded, matchkind=MatchKind.LeftmostLongest).find_matches_as_indexes

    def matches(text: str) -> Iterator[str]:
        for number, start, _ in find(text.encode(_UTF_16)):
            if start % 2:
                raise UnicodeError("halves of two characters look like a keyword")
            yield patterns[number]

    return matches
