"""The tree of one parsed sentence, and the text of any of its parts."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import groupby, pairwise, takewhile
from typing import NamedTuple, TypeAlias

from factcheck.facts import Span
from factcheck.text.syntax import Token

Item: TypeAlias = "int | str"
"""A word of the sentence by its place, or one that is added."""


class Statement(NamedTuple):
    """Something a sentence says, in words that stand alone."""

    text: str
    own: Span
    """The passage it comes from, in characters of the sentence."""


WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in json.loads((files(__package__) / "words.json").read_text("utf-8")).items()
}
"""Lists of words, by what they have in common."""
_IRREGULAR = dict(pair.split(":") for pair in WORDS["irregular"])
SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
NAMES = frozenset({"NNP", "NNPS"})
PLURAL = frozenset({"NNS", "NNPS"})
TIMES = frozenset({"DATE", "TIME"})
QUOTES = ('"', "\u201c", "\u201d")
_MATES = {")": "(", "]": "[", "\u201d": "\u201c", "\u00bb": "\u00ab", '"': '"'}
_OPENING = frozenset(_MATES.values())


class Tree:
    """One sentence: who depends on whom."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.tokens = tokens = [_mended(place, tokens) for place in range(len(tokens))]
        self.named: Mapping[int, str] = {}
        """Words to be said in place of others: `{0: "Anna Kern"}` for `She`."""
        self.kids: list[list[int]] = [[] for _ in tokens]
        for place, token in enumerate(tokens):
            if token.head != place:
                self.kids[token.head].append(place)
        self.root = next((i for i, t in enumerate(tokens) if t.head == i), 0)
        self.low = [token.text.lower().replace("\u2019", "'") for token in tokens]
        self.is_mark = [not re.search(r"[\w$€£¥%&@#°+=§]", token.text) for token in tokens]
        self.cut: set[int] = set()
        """Phrases that are told on their own, and left out of all others."""

    # --- walking the tree ---------------------------------------------------------------------

    def of(self, place: int, *relations: str) -> list[int]:
        """The words directly under one, in some relations to it."""
        return [kid for kid in self.kids[place] if self.tokens[kid].relation in relations]

    def under(self, place: int, *, full: bool = False) -> list[int]:
        """The words of a phrase, in order, without marks and without what is told elsewhere."""
        found, open_ = [], [place]
        while open_:
            word = open_.pop()
            found.append(word)
            open_ += [kid for kid in self.kids[word] if full or kid not in self.cut]
        return sorted(i for i in found if not self.is_mark[i])

    def above(self, place: int) -> Iterator[int]:
        """A word and those it depends on, but for the root."""
        while self.tokens[place].head != place:
            yield place
            place = self.tokens[place].head

    def subject(self, verb: int) -> int | None:
        """The subject of a verb."""
        return next((i for i in self.of(verb, *SUBJECTS) if not self.is_mark[i]), None)

    def helped(self, verb: int) -> list[int]:
        """A verb and its helping verbs."""
        return [verb, *self.of(verb, "aux", "auxpass")]

    def finite(self, verb: int) -> int | None:
        """The word of a verb that has its tense."""
        return next((i for i in self.helped(verb) if self.tokens[i].tag in FINITE), None)

    def is_past(self, verb: int) -> bool:
        """Whether a verb is in the past tense."""
        return any(self.tokens[i].tag == "VBD" for i in self.helped(verb))

    def is_time(self, place: int) -> bool:
        """Whether a phrase says when."""
        if self.tokens[place].relation == "npadvmod":
            return self.tokens[place].entity in TIMES
        return any(self.tokens[i].entity in TIMES for i in self.of(place, "pobj"))

    def opening(self, verb: int) -> str:
        """The word that opens a subordinate clause; empty for a bare participle."""
        marks = self.of(verb, "mark") + [
            i for i in self.of(verb, "advmod") if self.tokens[i].tag == "WRB"
        ]
        return self.low[marks[0]] if marks else ""

    def is_set_off(self, place: int) -> bool:
        """Whether a comma or a dash stands before a phrase."""
        first = self.under(place, full=True)[0]
        return first > 0 and self.low[first - 1] in (",", "(")

    def is_closed(self, place: int) -> bool:
        """Whether a mark or the end of the sentence stands behind a phrase."""
        last = self.under(place, full=True)[-1]
        return all(self.is_mark[last + 1 : last + 2])

    def is_definite(self, noun: int) -> bool:
        """Whether a noun names one thing: a name, `the mill`, `her memoir`."""
        articles = {self.low[i] for i in self.of(noun, "det", "poss")}
        return self.tokens[noun].tag in NAMES or bool(articles - {"a", "an", "no", "any", "some"})

    def first(self, noun: int) -> int:
        """The first noun of the list that one is in."""
        while self.tokens[noun].relation == "conj":
            noun = self.tokens[noun].head
        return noun

    # --- text ---------------------------------------------------------------------------------

    def tell(self, items: Sequence[Item]) -> Statement:
        """The text of a statement, with the marks of the sentence that stand inside it."""
        spoken = [i for i in items if isinstance(i, str) or not self.is_mark[i]]
        items = [
            i for kind, run in groupby(spoken, type) for i in (sorted(run) if kind is int else run)
        ]
        placed = sorted(i for i in items if isinstance(i, int))
        if {*items} <= {*placed, ","} and len(placed) == self.is_mark.count(False):
            items = placed  # every word: as written
        names = self._names(placed)
        text = ""
        previous: Item | None = None
        order = self._with_marks(items)
        for item, after in pairwise([*order, ""]):
            word = item if isinstance(item, str) else names.get(item, self.tokens[item].text)
            if word in ("a", "an") and not (isinstance(item, int) and after == item + 1):
                follows = after if isinstance(after, str) else self.tokens[after].text
                word = "an" if follows[:1].lower() in set("aeiou") else "a"
            elif item == 0 and text and item not in names and _is_small(self.tokens[0]):
                word = word[0].lower() + word[1:]
            text += self._gap(previous, item) + word
            previous = item
        first, last = placed[0], self.tokens[placed[-1]]
        start = 0 if all(self.is_mark[:first]) else self.tokens[first].start
        is_end = all(self.is_mark[placed[-1] + 1 :])
        end = len(self.text) if is_end else last.start + len(last.text)
        return Statement(_finished(text), Span(start, end))

    def _names(self, placed: Sequence[int]) -> dict[int, str]:
        """The names to say for words of a fact: each once, and not beside the same name."""
        said = {self.tokens[i].text for i in placed if i not in self.named}
        chosen: dict[int, str] = {}
        for i in placed:
            words = set(self.named.get(i, "").removesuffix("'s").split())
            if words and not said & words - {"the"}:
                chosen[i] = self.named[i]
                said |= words
        return chosen

    def _with_marks(self, items: Sequence[Item]) -> list[Item]:
        """The words with the marks between neighbours, and quotation marks and brackets."""
        order: list[Item] = []
        for one, two in pairwise(["", *items, ""]):
            behind = self._marks(one, 1)
            if isinstance(one, int) and one + len(behind) + 1 == (two or len(self.tokens)):
                order += behind
            else:
                order += [i for i in behind if self.tokens[i].text in _MATES]
                before = self._marks(two, -1)[::-1]
                order += [i for i in before if self.tokens[i].text in QUOTES]
            order.append(two)
        return order[:-1]

    def _marks(self, item: Item, step: int) -> list[int]:
        """The marks right behind a word (`step` 1) or right before it (-1)."""
        if isinstance(item, str):
            return []
        places = range(item + 1, len(self.tokens)) if step > 0 else range(item - 1, -1, -1)
        return list(takewhile(lambda i: self.is_mark[i], places))

    def _gap(self, previous: Item | None, item: Item) -> str:
        if isinstance(previous, int) and isinstance(item, int) and item == previous + 1:
            before = self.tokens[previous]
            return " " if self.tokens[item].start > before.start + len(before.text) else ""
        opens = [isinstance(i, int) and self.tokens[i].text in _OPENING for i in (previous, item)]
        is_mark = isinstance(item, int) and self.is_mark[item] and not opens[1]
        return "" if previous is None or opens[0] or item in (",", "'s") or is_mark else " "


def _mended(place: int, tokens: Sequence[Token]) -> Token:
    """A word under the participle before it: `is an actor born in May, in Bonn`."""
    token = tokens[place]
    for i in range(token.head + 1, place if token.relation == "prep" else 0):
        noun = tokens[i].head
        is_near = token.head == noun or (tokens[noun].relation, tokens[noun].head) == (
            "attr",
            token.head,
        )
        if is_near and tokens[i].relation == "acl" and tokens[i].tag == "VBN":
            return token._replace(head=i)
    return token


def _finished(text: str) -> str:
    """A statement with a capital at its beginning and a mark at its end."""
    text = _paired(text).strip(" ,;:\u2013\u2014-")
    first = next((i for i, c in enumerate(text) if c.isalnum()), 0)
    text = text[:first] + text[first : first + 1].upper() + text[first + 1 :]
    return text if re.search(r"[.!?\u2026][\"'\u201d\u2019)]*\Z", text) else text + "."


def _paired(text: str) -> str:
    """A text without quotation marks and brackets whose other half is missing."""
    open_: dict[str, int] = {}
    odd: set[int] = set()
    for place, mark in enumerate(text):
        if _MATES.get(mark) in open_:
            del open_[_MATES[mark]]
        elif mark in _OPENING:
            open_[mark] = place
        elif mark in _MATES:
            odd.add(place)
    odd |= {place for mark, place in open_.items() if not text[place - 1 : place].isdigit()}
    return "".join(mark for place, mark in enumerate(text) if place not in odd)


def _is_small(token: Token) -> bool:
    """Whether the first word of a sentence is written small elsewhere."""
    return token.tag not in NAMES and token.text != "I" and not token.entity


def be(*, plural: bool, past: bool) -> str:
    return ("were" if plural else "was") if past else ("are" if plural else "is")


def past_of(participle: str) -> str:
    """The simple past of a verb in -ing: `helped` of `helping`."""
    stem = participle[:-3]
    undoubled, in_ie = re.sub(r"(.)\1\Z", r"\1", stem), re.sub(r"y\Z", "ie", stem)
    for base in (stem + "e", stem, undoubled, in_ie):
        if base in _IRREGULAR:
            return _IRREGULAR[base]
    if re.search(r"[^aeiou]y\Z", stem):
        return stem[:-1] + "ied"
    return stem.removesuffix("e") + "ed"
