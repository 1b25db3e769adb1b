"""The labels of many responses at once, for guides whose keywords are plain texts.

The responses are joined and read once, by a search for the leftmost and longest pattern, then for
the next one after it, and so on. That can jump over most of a text (the algorithm Teddy of the Rust
library `aho-corasick`), but misses a keyword that begins inside one that was found. So where two
keywords of different behaviours can overlap, what they make together is a pattern too, which is
longer and found instead; it is ambiguous, and so is a keyword with another one inside. With these
patterns the labels are those that `in` gives.

Keywords beyond U+07FF, such as Chinese ones, are looked for in UTF-16, which Python makes of such
texts in no time; others in UTF-8, which their texts mostly are already.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence

from factcheck.keywords.guides import AMBIGUOUS, NO_MATCH, Guide
from factcheck.keywords.search import has_halves

_AT_ONCE = 256
"""Responses that are joined."""
_MOST_KEYWORDS = 500
"""Beyond, too many of them could overlap."""
_UTF_16 = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
_NARROW_SEPARATOR = "\0\1\2"
_WIDE_SEPARATOR = "\ufdd0\ufdd1"
"""Code points that are no characters."""

Hits = Callable[[str], Iterable[str]]
"""Finds the leftmost longest patterns in a text; may raise `UnicodeError`."""


class LabelSearch:
    """Labels responses by a guide.

    Args:
        guide: One for which `can_search` holds.
    """

    def __init__(self, guide: Guide) -> None:
        self._guide = guide
        self._labels = _labels(guide)
        patterns = [*self._labels]
        wide = all(len(pattern) > 1 and max(pattern) > "\u07ff" for pattern in patterns)
        self._separator = _WIDE_SEPARATOR if wide else _NARROW_SEPARATOR
        self._hits = (_wide_hits if wide else _narrow_hits)([*patterns, self._separator])

    @staticmethod
    def can_search(guide: Guide) -> bool:
        """Whether all keywords are plain, not empty, without separators or halves of characters."""
        words = [word for behavior in guide.behaviors for word in behavior.keywords]
        if not 0 < len(words) <= _MOST_KEYWORDS:
            return False
        if not all(isinstance(word, str) and word for word in words):
            return False
        everything = "".join(map(str, words))
        separators = set(_NARROW_SEPARATOR + _WIDE_SEPARATOR)
        return separators.isdisjoint(everything) and not has_halves(everything)

    def labels(self, responses: Sequence[str]) -> list[str]:
        """The label of each response, in order."""
        labels: list[str] = []
        for start in range(0, len(responses), _AT_ONCE):
            some = responses[start : start + _AT_ONCE]
            labels += self._joined(some) or map(self._guide.label, some)
        return labels

    def _joined(self, responses: Sequence[str]) -> list[str] | None:
        """The labels from one reading; `None` where the responses cannot be told apart in it."""
        labels: list[str] = []
        label = NO_MATCH
        separator, label_of = self._separator, self._labels
        try:
            for hit in self._hits(separator.join(responses)):
                if hit == separator:
                    labels.append(label)
                    label = NO_MATCH
                elif label is NO_MATCH:
                    label = label_of[hit]
                elif label_of[hit] != label:
                    label = AMBIGUOUS
        except UnicodeError:
            return None
        labels.append(label)
        return labels if len(labels) == len(responses) else None


def _labels(guide: Guide) -> dict[str, str]:
    """The label that each pattern gives a response: keywords, and what two make together."""
    owners = [(str(word), b.label) for b in guide.behaviors for word in b.keywords]
    labels = dict(owners)
    for word, label in owners:
        for other, other_label in owners:
            if other_label != label:
                if other in word:
                    labels[word] = AMBIGUOUS
                labels |= dict.fromkeys(_overlapped(word, other), AMBIGUOUS)
    return labels


def _overlapped(word: str, other: str) -> Iterator[str]:
    """The texts in which one keyword begins inside another, and does not end before it."""
    start = word.find(other[0], 1)
    while start > 0:
        if other.startswith(word[start:]):
            yield word[:start] + other
        start = word.find(other[0], start + 1)


def _narrow_hits(patterns: Sequence[str]) -> Hits:
    from ahocorasick_rs import AhoCorasick, MatchKind

    return AhoCorasick(patterns, matchkind=MatchKind.LeftmostLongest).find_matches_as_strings


def _wide_hits(patterns: Sequence[str]) -> Hits:
    from ahocorasick_rs import BytesAhoCorasick, MatchKind

    encoded = [pattern.encode(_UTF_16) for pattern in patterns]
    find = BytesAhoCorasick(encoded, matchkind=MatchKind.LeftmostLongest).find_matches_as_indexes

    def hits(text: str) -> Iterator[str]:
        for number, start, _ in find(text.encode(_UTF_16)):
            if start % 2:
                raise UnicodeError("halves of two characters look like a keyword")
            yield patterns[number]

    return hits
