"""The tree of one parsed sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from importlib.resources import files

from factcheck.text.syntax import Token
from factcheck.text.words import things

WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for file in ("words.json", "verbs.json")
    for name, words in json.loads((files(__package__) / file).read_text("utf-8")).items()
}
"""Lists of words by what they have in common; `verbs.json` was counted in parsed text."""
SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
NAMES = frozenset({"NNP", "NNPS"})
PLURAL = frozenset({"NNS", "NNPS"})
TIMES = frozenset({"DATE", "TIME"})
AMOUNTS = frozenset({"CARDINAL", "QUANTITY", "PERCENT", "MONEY"})
BRACKET = "bracket"
"""Relation of what stands in brackets, as one token, to the word before it."""
REGION = "region"
"""Relation of a place to a smaller one before it: `Ulm, Germany`."""
ROLE = re.compile(r"(?:[^h]er|or|ist|ian|man|woman|(?<!pr)ess|ete|ant)\Z")
"""Ends most words for what somebody is."""
IS_WORD = re.compile(r"[\w$€£¥%&@#°+=§]")


class Tree:
    """One sentence: who depends on whom."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        self.tokens = list(tokens)
        self.kids: list[list[int]] = [[] for _ in tokens]
        for place, token in enumerate(tokens):
            if token.head != place:
                self.kids[token.head].append(place)
        self._relations = [token.relation for token in tokens]
        self.root = next((i for i, t in enumerate(tokens) if t.head == i), 0)
        self.low = [token.text.lower().replace("\u2019", "'") for token in tokens]
        self.is_mark = [_is_mark(token.text) for token in tokens]

    def of(self, place: int, *relations: str) -> list[int]:
        """Return the words directly under one, in some relations to it."""
        kids = self.kids[place]
        return [kid for kid in kids if self._relations[kid] in relations] if kids else []

    def under(self, place: int) -> list[int]:
        """Return the words of a phrase, in order, without marks."""
        found, open_ = [], [place]
        while open_:
            word = open_.pop()
            found.append(word)
            open_ += self.kids[word]
        return sorted(i for i in found if not self.is_mark[i])

    def name(self, place: int) -> list[int]:
        """Return a noun with the nouns before it that are part of its name."""
        return [*(i for i in self.of(place, "compound") if i < place), place]

    def start(self, place: int) -> int:
        """Return the first word of a phrase."""
        return next(iter(self.under(place)), place)

    def above(self, place: int) -> Iterator[int]:
        """Yield a word and those it depends on, but for the root."""
        while self.tokens[place].head != place:
            yield place
            place = self.tokens[place].head

    def subject(self, verb: int) -> int | None:
        """Return the subject of a verb."""
        for kid in self.kids[verb]:
            if self.tokens[kid].relation in SUBJECTS and not self.is_mark[kid]:
                return kid
        return None

    @property
    def is_saying(self) -> bool:
        """Whether the main verb is one of saying."""
        return bool(self.low) and self.low[self.root] in WORDS["saying"]

    def helped(self, verb: int) -> list[int]:
        """Return a verb and its helping verbs."""
        return [verb, *self.of(verb, "aux", "auxpass")]

    def finite(self, verb: int) -> int | None:
        """Return the word of a verb that has its tense."""
        return next((i for i in self.helped(verb) if self.tokens[i].tag in FINITE), None)

    def is_past(self, verb: int) -> bool:
        """Tell whether a verb is in the past tense."""
        return any(self.tokens[i].tag == "VBD" for i in self.helped(verb))

    def is_verb(self, place: int) -> bool:
        """Tell whether a word is a predicate."""
        return self.tokens[place].tag[0] in "VM" or self.subject(place) is not None

    def is_time(self, place: int) -> bool:
        """Tell whether a phrase says when."""
        if self.tokens[place].relation == "npadvmod":
            return self.tokens[place].entity in TIMES
        return any(self.tokens[i].entity in TIMES for i in self.of(place, "pobj"))

    def is_plural(self, noun: int) -> bool:
        """Tell whether a noun goes with `are`."""
        verb = self.finite(self.tokens[noun].head)
        is_one = verb is not None and (self.tokens[verb].tag == "VBZ" or self.low[verb] == "was")
        if is_one and self.tokens[noun].relation in SUBJECTS:
            return bool(self.of(noun, "conj"))  # `the species is rare`
        is_many = self.low[noun] in ("i", "they", "we", "these", "those", "you")
        return is_many or self.tokens[noun].tag in PLURAL

    def opening(self, verb: int) -> str:
        """Return the word that opens a subordinate clause; empty for a bare participle."""
        is_bare = self.finite(verb) is None
        marks = self.of(verb, "mark") + [
            i
            for i in self.of(verb, "advmod")
            if self.tokens[i].tag == "WRB" or (is_bare and self.low[i] == "once" and not i)
        ]
        return self.low[marks[0]] if marks else ""

    def is_set_off(self, place: int) -> bool:
        """Tell whether a comma or a dash stands before a phrase, or behind it at the beginning."""
        words = self.under(place) or [place]
        if not words[0]:
            return self.low[words[-1] + 1 : words[-1] + 2] == [","]
        return self.low[words[0] - 1] in (",", "\u2013", "\u2014", "-", "--")

    def listed(self, place: int) -> list[int]:
        """Return a word and those that are joined to it."""
        found = [place]
        for each in found:
            found += self.of(each, "conj")
        return found

    def first(self, noun: int) -> int:
        """Return the first noun of the list that one is in."""
        while self.tokens[noun].relation == "conj":
            noun = self.tokens[noun].head
        return noun


@lru_cache(maxsize=20_000)
def _is_mark(text: str) -> bool:
    return IS_WORD.search(text) is None


@lru_cache(maxsize=20_000)
def is_person(noun: str) -> bool:
    """Tell whether a noun in lower case is a word for a person: `judge`, `plumber`."""
    is_thing = noun in things() or noun in WORDS["things"]
    return noun in WORDS["people"] or (ROLE.search(noun) is not None and not is_thing)
