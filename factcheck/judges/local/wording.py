"""The text of a proposition, in the words of its sentence."""

from __future__ import annotations

import re
from collections.abc import Container, Mapping, Sequence
from itertools import pairwise, takewhile
from typing import NamedTuple, TypeAlias

from factcheck.facts import Span
from factcheck.judges.local.tree import BRACKET, FINITE, NAMES, SUBJECTS, WORDS, Tree
from factcheck.text.syntax import Token
from factcheck.text.words import english_words

Item: TypeAlias = "int | str"
"""A word of the sentence by its place, or one that is added."""
_FRONTED = frozenset({"prep", "advcl", "npadvmod", "advmod"})
"""Relations of phrases that a comma parts from the subject behind them."""
_LONGEST_SPELT = 3
"""Letters of a short form that is read letter by letter: `an FBI agent`."""
_VOWELS = frozenset("AEIOUY")
_PAUSES = frozenset({",", "\u2014", "\u2013", "--"})
_MATES = {")": "(", "]": "[", "\u201d": "\u201c", "\u00bb": "\u00ab", '"': '"'}
_OPENING = frozenset(_MATES.values())
_PAIRS = _OPENING | _MATES.keys()
_NUMERIC = frozenset({"", "CARDINAL", "ORDINAL", "DATE", "TIME", "QUANTITY", "PERCENT", "MONEY"})
"""Kinds of entities that are no names."""
_IRREGULAR = dict(pair.split(":") for pair in WORDS["irregular"])
_FEWEST = 4
"""Letters of a noun in the plural."""
_TITLES = frozenset({"the", "Mr", "Mrs", "Ms", "Dr", "Sir", "Prince", "Princess", "King", "Queen"})
"""Words that several names share."""
_SHORT = {"'re": "are", "'ve": "have", "'ll": "will", "'d": "had", "'s": "is"}
_SINGULAR = {"are": "is", "were": "was", "have": "has", "do": "does", "go": "goes"}


class Statement(NamedTuple):
    """Something a sentence says, in words that stand alone."""

    text: str
    own: Span
    """The passage it comes from, in characters of the sentence."""


class Wording:
    """Puts propositions of a sentence into words."""

    def __init__(self, tree: Tree, named: Mapping[int, str]) -> None:
        self._tree = tree
        self._named = named
        """Words to be said in place of others: `{0: "Anna Kern"}` for `She`."""

    def tell(self, segments: Sequence[frozenset[int] | str], singular: int | None) -> Statement:
        """Return a statement; the verb `singular` gets the form that goes with one thing."""
        tree = self._tree
        parts = [[each] if isinstance(each, str) else sorted(each) for each in segments]
        items: list[Item] = [item for part in parts for item in part]
        placed = [item for item in items if isinstance(item, int)]
        names = self._names(placed)
        text = ""
        previous: Item | None = None
        order = self._with_marks(items)
        for item, after in pairwise([*order, ""]):
            word = item if isinstance(item, str) else names.get(item, tree.tokens[item].text)
            if word in ("a", "an") and not (isinstance(item, int) and after == item + 1):
                follows = after if isinstance(after, str) else tree.tokens[after].text
                is_short = 1 < len(follows) <= _LONGEST_SPELT or _VOWELS.isdisjoint(follows[:2])
                is_spelt = follows.isupper() and is_short
                vowels = "AEFHILMNORSX" if is_spelt else "AEIOUaeiou"
                word = "an" if follows[:1] in set(vowels) else "a"
            elif item == 0 and text and item not in names and _is_small(tree.tokens[0]):
                word = word[0].lower() + word[1:]
            elif item == singular:
                word = singular_of(word)
            elif isinstance(item, int) and item - 1 in names:
                word = self._spelt(item)
            text += self._gap(previous, item) + word
            previous = item
        first, last = min(placed), tree.tokens[max(placed)]
        start = 0 if all(tree.is_mark[:first]) else tree.tokens[first].start
        is_end = all(tree.is_mark[max(placed) + 1 :])
        end = len(tree.text) if is_end else last.start + len(last.text)
        return Statement(finished(text), Span(start, end))

    def _spelt(self, place: int) -> str:
        """Return a word behind a name in place of a pronoun: ` have` for that of `They've`."""
        token = self._tree.tokens[place]
        full = _SHORT.get(token.text.lower().replace("\u2019", "'"), "")
        if not full or token.tag not in FINITE or place + 1 == len(self._tree.tokens):
            return token.text
        after = self._tree.tokens[place + 1]
        if full == "had" and after.tag not in ("VBN", "VBD"):
            full = "would"
        elif full == "is" and after.tag == "VBN":
            has_object = bool(self._tree.of(token.head, "dobj"))
            is_perfect = has_object or after.text in ("been", "become", "gone", "got", "moved")
            full = "has" if is_perfect else full
        return f" {full}"

    def is_open(
        self, segments: Sequence[frozenset[int] | str], owners: Container[int] | None = None
    ) -> bool:
        """Tell whether it is unknown whose something is: `Tom Orr is his friend`.

        Args:
            segments: What is told.
            owners: Words that say whose it is; `None` for any of those told.
        """
        words = [i for each in segments if not isinstance(each, str) for i in each]
        said = self._names(words)
        return any(
            self._tree.tokens[i].tag == "PRP$"
            and self._tree.low[i] not in ("my", "our")
            and i not in said
            and (owners is None or i in owners)
            for i in words
        )

    def _names(self, placed: Sequence[int]) -> dict[int, str]:
        """Return the names to say for words of a fact: each once, and not beside the same name."""
        said = {self._tree.tokens[i].text for i in placed if i not in self._named}
        chosen: dict[int, str] = {}
        for i in placed:
            name = self._named.get(i, "").removesuffix("'s")
            words = set(name.replace("-", " ").split()) - _TITLES
            again = {word for word in words if word in said or word.capitalize() in said}
            is_thing = name.startswith("the ")  # `the common duct` may be said beside another duct
            if name and not (again == words if is_thing else again):
                chosen[i] = self._named[i]
                said |= words
        return chosen

    def _with_marks(self, items: Sequence[Item]) -> list[Item]:
        """Return the words with the marks between neighbours, and quotation marks and brackets."""
        order: list[Item] = []
        for one, two in pairwise(["", *items, ""]):
            behind = self._marks(one, 1)
            after = len(self._tree.tokens) if two == "" else two
            if isinstance(one, int) and one + len(behind) + 1 == after:
                order += [] if self._closes_nothing(one, items, order) else behind
            elif between := self._links(one, two):
                order += between
            else:
                kept = _MATES.keys() | ({","} if self._is_pause(one, two, items) else set())
                closing = [i for i in behind if not self._opens_quote(i)]
                order += [i for i in closing if self._tree.tokens[i].text in kept]
                before = self._marks(two, -1)[::-1]
                order += self._colon_between(one, two)
                order += [i for i in before if self._opens_quote(i)]
            order.append(two)
        return order[:-1]

    def _colon_between(self, one: Item, two: Item) -> list[int]:
        """Return the colon between two words that stands before the second, or before its list."""
        if isinstance(one, str) or isinstance(two, str):
            return []
        tree = self._tree
        heads = [tree.first(place) for place in tree.above(two)]
        listed = [head for head in heads if tree.tokens[head].relation == "appos"]
        starts = [two, *(tree.start(head) for head in listed)]
        return [start - 1 for start in starts if one < start and tree.low[start - 1] == ":"][:1]

    def _opens(self, place: int) -> bool:
        """Tell whether a mark opens a quotation or a bracket."""
        mark = self._tree.tokens[place].text
        return mark in _OPENING and (mark != '"' or self._opens_quote(place))

    def _opens_quote(self, place: int) -> bool:
        texts = [token.text for token in self._tree.tokens[: place + 1]]
        return texts[-1] == "\u201c" or (texts[-1] == '"' and texts.count('"') % 2 == 1)

    def _is_pause(self, one: Item, two: Item, items: Sequence[Item]) -> bool:
        """Tell whether a comma behind what stands before the subject is to be kept."""
        if isinstance(one, str) or isinstance(two, str) or self._marks(two, -1):
            return False
        is_fronted = any(
            self._tree.tokens[i].relation in _FRONTED
            and self._tree.tokens[i].head > i
            and (self._tree.tokens[i].relation == "advcl" or self._tree.tokens[i].head in items)
            for i in self._tree.above(one)
        )
        return is_fronted and [self._tree.low[i] for i in self._marks(one, 1)] == [","]

    def _closes_nothing(self, one: int, items: Sequence[Item], order: Sequence[Item]) -> bool:
        """Tell whether a comma or dash before a verb ends a phrase that none begins in a fact.

        Args:
            one: The word before it.
            items: The words of the fact.
            order: What is told before, with marks.
        """
        tree = self._tree
        verb = one + 2
        pause = "".join(tree.low[one + 1 : verb])
        if pause not in _PAUSES or not self._is_told_of(verb, one):
            return False
        if all(isinstance(i, str) or tree.low[i] != pause for i in order):
            return True
        phrase = one
        for place in tree.above(one):
            is_subject = tree.tokens[tree.first(place)].relation in SUBJECTS
            if is_subject or (tree.under(place) or [place])[-1] > one:
                break
            phrase = place
        opens = tree.start(phrase) - 1
        return opens > 0 and tree.low[opens] == pause and opens - 1 not in items

    def _is_told_of(self, verb: int, noun: int) -> bool:
        """Tell whether a word is a finite verb whose subject is, or ends with, a word before it."""
        tree = self._tree
        token = tree.tokens[verb] if verb < len(tree.tokens) else None
        if token is None or token.tag not in FINITE:
            return False
        subject = tree.subject(token.head if token.relation in ("aux", "auxpass") else verb)
        return subject is not None and subject <= noun

    def _links(self, one: Item, two: Item) -> list[int]:
        """Return the marks and `and` between two words that only these and brackets part."""
        if isinstance(one, str) or isinstance(two, str):
            return []
        tokens = self._tree.tokens
        between = [i for i in range(one + 1, two) if tokens[i].relation != BRACKET]
        tags = {tokens[i].tag for i in between if not self._tree.is_mark[i]}
        is_listed = not tags and len(between) < two - one - 1 and tokens[two].tag not in FINITE
        is_joint = tags == {"CC"} and all(self._tree.low[i] != "both" for i in between)
        return between if is_listed or is_joint else []

    def _marks(self, item: Item, step: int) -> list[int]:
        """Return the marks right behind a word (`step` 1) or right before it (-1)."""
        if isinstance(item, str):
            return []
        places = range(item + 1, len(self._tree.tokens)) if step > 0 else range(item - 1, -1, -1)
        return list(takewhile(lambda i: self._tree.is_mark[i], places))

    def _gap(self, previous: Item | None, item: Item) -> str:
        tree = self._tree
        if isinstance(previous, int) and isinstance(item, int) and item == previous + 1:
            before = tree.tokens[previous]
            return " " if tree.tokens[item].start > before.start + len(before.text) else ""
        opens = [isinstance(i, int) and self._opens(i) for i in (previous, item)]
        is_mark = isinstance(item, int) and tree.is_mark[item] and not opens[1]
        no_gap = previous is None or opens[0] or item in (",", ":", "'s") or is_mark
        return "" if no_gap else " "


def finished(text: str) -> str:
    """Return a statement with a capital at its beginning and a mark at its end."""
    text = _paired(text).strip(" ,;:\u2013\u2014-")
    first = next((i for i, c in enumerate(text) if c.isalnum()), 0)
    text = text[:first] + text[first : first + 1].upper() + text[first + 1 :]
    return text if re.search(r"[.!?\u2026][\"'\u201d\u2019)]*\Z", text) else text + "."


def _paired(text: str) -> str:
    """Return a text without quotation marks and brackets whose other half is missing."""
    if _PAIRS.isdisjoint(text):
        return text
    open_: dict[str, list[int]] = {mark: [] for mark in _OPENING}
    odd: set[int] = set()
    for place, mark in enumerate(text):
        if open_.get(_MATES.get(mark, "")):
            open_[_MATES[mark]].pop()
        elif mark in _OPENING:
            open_[mark].append(place)
        elif mark in _MATES:
            odd.add(place)
    for places in open_.values():
        odd |= {place for place in places if not text[place - 1 : place].isdigit()}
    if not odd:
        return text
    return " ".join("".join(mark for place, mark in enumerate(text) if place not in odd).split())


def _is_small(token: Token) -> bool:
    """Tell whether the first word of a sentence is written small elsewhere."""
    is_name = token.tag in NAMES or token.entity not in _NUMERIC
    is_name |= token.tag in ("JJ", "NN") and token.text.lower() not in english_words()
    return not is_name and (token.text == "A" or not token.text.isupper())


def singular_of(verb: str) -> str:
    """Return the form of a verb that goes with one thing: `lives` of `live`."""
    low = verb.lower()
    if low in _SINGULAR:
        return _SINGULAR[low]
    if re.search(r"[^aeiou]y\Z", low):
        return verb[:-1] + "ies"
    return verb + ("es" if re.search(r"(?:s|x|z|ch|sh|o)\Z", low) else "s")


def past_of(participle: str) -> str:
    """Return the simple past of a verb in -ing: `helped` of `helping`."""
    stem = participle[:-3]
    undoubled, in_ie = re.sub(r"(.)\1\Z", r"\1", stem), re.sub(r"y\Z", "ie", stem)
    for base in (stem + "e", stem, undoubled, in_ie):
        if base in _IRREGULAR:
            return _IRREGULAR[base]
    if re.search(r"[^aeiou]y\Z", stem):
        return stem[:-1] + "ied"
    return stem.removesuffix("e") + "ed"


def singular_noun(plural: str) -> str:
    """Return the singular of a regular plural, `city` of `cities`; empty for all others."""
    if (
        not plural.endswith("s")
        or plural.endswith(("ss", "ves", "us", "is"))
        or len(plural) < _FEWEST
    ):
        return ""
    if plural in ("movies", "series", "species", "ties", "pies", "shoes"):
        return "movie" if plural == "movies" else ""
    if plural.endswith("ies"):
        return plural[:-3] + "y"
    return plural[:-2] if plural.endswith(("sses", "xes", "ches", "shes")) else plural[:-1]
