"""One parsed sentence: who depends on whom, its lists, and the text of any part of it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.resources import files
from itertools import pairwise
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


SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
NAMES = frozenset({"NNP", "NNPS"})
PLURAL = frozenset({"NNS", "NNPS"})
TIMES = frozenset({"DATE", "TIME"})
PLACES = frozenset({"GPE", "LOC", "FAC"})
_SURE_OF_LIST = 0.6
"""Least probability of the place of each member of a list that is told one by one."""
_SURE_OF_NAMES = 0.35
"""The same where every member is a name, which commas alone set apart."""
_QUOTES = ('"', "\u201c", "\u201d")
_MARKS = {")": "(", "]": "[", "\u201d": "\u201c", "\u00bb": "\u00ab"}


WORDS: Mapping[str, frozenset[str]] = {
    name: frozenset(words.split())
    for name, words in json.loads((files(__package__) / "words.json").read_text("utf-8")).items()
}
"""Lists of words, by what they have in common."""
TELLING = WORDS["telling"]
"""Verbs of those who say, suppose or hope something."""
_COLLECTIVE = WORDS["collective"]
"""Verbs that may say of several what they do not say of each."""
_BUNDLES = WORDS["bundles"]


class Grammar:
    """The tree of one sentence."""

    def __init__(
        self, text: str, tokens: Sequence[Token], named: Mapping[int, str] | None = None
    ) -> None:
        """`named` has words to be said in place of others: `{0: "Anna Kern"}` for `She`."""
        self.text = text
        self.tokens = tokens = _mended(tokens)
        self._named = named or {}
        self.kids: list[list[int]] = [[] for _ in tokens]
        for place, token in enumerate(tokens):
            if token.head != place:
                self.kids[token.head].append(place)
        self.root = next((i for i, t in enumerate(tokens) if t.head == i), 0)
        self.low = [token.text.lower().replace("\u2019", "'") for token in tokens]
        self.is_mark = [not re.search(r"[\w$€£¥%&@#°+=§]", token.text) for token in tokens]
        self.pairs = _pairs(tokens)
        self._opening = {a for a, _ in self.pairs}
        paired = {i for pair in self.pairs for i in pair}
        self._lone = {
            i for i, token in enumerate(tokens)
            if token.text in _QUOTES and i not in paired
            and not (i and tokens[i - 1].tag == "CD")
        }  # fmt: skip
        """Quotation marks whose other half stands in another sentence."""
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

    def speaker(self) -> str:
        """Who tells something in this sentence; empty if nobody does."""
        for place, word in enumerate(self.low):
            subject = self.subject(place) if word in TELLING else None
            if subject is not None:
                return self.tell(self.under(subject)).text.rstrip(".")
        return ""

    def finite(self, verb: int) -> int | None:
        """The word of a verb that has its tense."""
        group = [verb, *self.of(verb, "aux", "auxpass")]
        return next((i for i in group if self.tokens[i].tag in FINITE), None)

    def is_past(self, verb: int) -> bool:
        """Whether a verb is in the past tense."""
        return any(self.tokens[i].tag == "VBD" for i in [verb, *self.of(verb, "aux", "auxpass")])

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
        marks = (",", "(", "\u2013", "\u2014", "--")
        return first > 0 and self.low[first - 1] in marks

    def is_closed(self, place: int) -> bool:
        """Whether a mark or the end of the sentence stands behind a phrase."""
        last = self.under(place, full=True)[-1]
        return last + 1 == len(self.tokens) or self.is_mark[last + 1]

    def is_definite(self, noun: int) -> bool:
        """Whether a noun names one thing: a name, `the mill`, `her memoir`."""
        articles = self.of(noun, "det", "poss")
        return self.tokens[noun].tag in NAMES or any(
            self.low[i] not in ("a", "an", "no", "any", "some") for i in articles
        )

    def first(self, noun: int) -> int:
        """The first noun of the list that one is in."""
        while self.tokens[noun].relation == "conj":
            noun = self.tokens[noun].head
        return noun

    # --- lists --------------------------------------------------------------------------------

    def members(self, noun: int) -> list[list[Item]]:
        """The members of a list that `and` joins, each a phrase; none if it stays together."""
        heads, links = [noun], []
        while nexts := [i for i in self.of(heads[-1], "conj") if i not in self.cut]:
            links += self.of(heads[-1], "cc")
            if len(nexts) > 1:
                return []
            heads += nexts
        tags = [self.tokens[i].tag for i in heads]
        least = _SURE_OF_NAMES if NAMES.issuperset(tags) else _SURE_OF_LIST
        if (
            not links
            or any(self.low[i] not in ("and", "&") for i in links)
            or any(self.tokens[i].sure < least for i in heads[1:])
            or any((tag in NOUNS) != (tags[0] in NOUNS) for tag in tags)
            or any(self.low[i] in _BUNDLES for i in heads[1:])  # "two hours and a half"
        ):
            return []
        joins_name = any(
            self.tokens[i - 1].entity and self.tokens[i - 1].entity == self.tokens[i].entity
            for i in links
            if self.tokens[i - 1].text[0] not in _QUOTES
        )
        return [] if joins_name else [self._member(heads, k) for k in range(len(heads))]

    def _member(self, heads: Sequence[int], k: int) -> list[Item]:
        rest = set(self.under(heads[k + 1])) if k + 1 < len(heads) else set()
        own = [i for i in self.under(heads[k]) if i not in rest and self.low[i] not in ("and", "&")]
        behind = [i for i in self.under(heads[0]) if i > max(self.under(heads[-1]))]
        own = [*(i for i in own if i not in behind), *behind]
        articles = [i for i in self.of(heads[0], "det", "poss") if self.tokens[i].tag != "PDT"]
        has_own = bool(self.of(heads[k], "det", "poss", "nummod"))
        if not articles or has_own or self.tokens[heads[k]].tag in {*NAMES, "JJ", "VBN"}:
            return list(own)
        if self.low[articles[0]] in ("a", "an"):
            return ["a", *own] if self.tokens[heads[k]].tag == "NN" else list(own)
        return [*self.under(articles[0]), *own]

    def spread(
        self, predicate: list[int], part: Sequence[int], verb: int, *, scoped: bool
    ) -> Iterator[list[Item]]:
        """A predicate, once for each member of the lists in a part of it."""
        examples = [] if scoped else [i for i in part if self._is_example(i, verb)]
        lists = [] if scoped else [i for i in part if self._may_list(i, verb, predicate)]
        if examples:
            phrase, noun = self.under(examples[0]), self.first(self.tokens[examples[0]].head)
            named = self.of(examples[0], "pobj")[0]
            bundle = self.tokens[self.tokens[noun].head].head
            noun = bundle if self.low[bundle] in _BUNDLES else noun  # a number of towns
            yield [i for i in predicate if i not in phrase]
            members = self.members(named) or [[*self.under(named)]]
            yield from _exchanged(predicate, self.under(noun), members)
        elif not lists:
            yield list(predicate)
        else:
            for noun in lists:
                yield from _exchanged(predicate, self.under(noun), self.members(noun))

    def _is_example(self, place: int, verb: int) -> bool:
        """Whether `including` or `such as` names some of what the noun before it stands for."""
        named, noun = self.of(place, "pobj"), self.tokens[place].head
        is_such = self.low[place] == "as" and self.low[place - 1] == "such"
        return (
            self.tokens[place].relation == "prep"
            and (is_such or self.low[place] == "including")
            and bool(named)
            and self.tokens[named[0]].tag in NOUNS
            and noun < place
            and self.tokens[noun].tag in PLURAL
            and self.tokens[self.first(noun)].relation in ("dobj", "pobj")
            and self.low[verb] not in _COLLECTIVE
        )

    def _may_list(self, noun: int, verb: int, predicate: Sequence[int]) -> bool:
        """Whether what is said with a list holds with each member of it."""
        if self.low[verb] in _COLLECTIVE or not self.members(noun):
            return False
        place = noun
        for _ in range(4):
            head, relation = self.tokens[place].head, self.tokens[place].relation
            if relation not in ("dobj", "attr", "acomp", "pobj", "prep", "agent", "oprd"):
                return False
            is_count = self.tokens[head].tag in NOUNS and (
                self.of(head, "nummod") or self.tokens[head].tag in PLURAL
            )
            if is_count or self.low[head] in _BUNDLES or self.low[head] in ("from", "than", "to"):
                return False
            if head == verb:
                break
            place = head
        else:
            return False
        counted = any(
            self.tokens[i].relation == "nummod" and self.tokens[i].entity not in TIMES
            for i in predicate
            if i < noun and i not in self.under(noun)
        )
        return self.tokens[noun].relation != "pobj" or not counted

    # --- telling ------------------------------------------------------------------------------

    def tell(self, items: Sequence[Item]) -> Statement:
        """The text of a statement, with the marks of the sentence that stand inside it."""
        placed = [i for i in items if isinstance(i, int)]
        named = self._spoken_names(placed)
        text = ""
        previous: Item | None = None
        order = self._with_marks([i for i in items if isinstance(i, str) or not self.is_mark[i]])
        for n, item in enumerate(order):
            word = item if isinstance(item, str) else named.get(item, self.tokens[item].text)
            after = order[n + 1] if n + 1 < len(order) else ""
            if word in ("a", "an") and (item == "a" or after != previous):
                follows = after if isinstance(after, str) else self.tokens[after].text
                is_same = isinstance(item, int) and after == item + 1
                word = word if is_same else "an" if follows[:1].lower() in set("aeiou") else "a"
            elif item == 0 and n and item not in named and _is_small(self.tokens[0]):
                word = word[0].lower() + word[1:]
            if word:
                text += self._gap(previous, item) + word
                previous = item
        text = _finished(text)
        first_word, last_word = min(placed), max(placed)
        last = self.tokens[last_word]
        start = 0 if all(self.is_mark[:first_word]) else self.tokens[first_word].start
        is_end = all(self.is_mark[last_word + 1 :])
        return Statement(
            text, Span(start, len(self.text) if is_end else last.start + len(last.text))
        )

    def _spoken_names(self, placed: Iterable[int]) -> dict[int, str]:
        """The names to say for words of a fact: each once, and not beside the same name."""
        placed = sorted(placed)
        said = {self.tokens[i].text for i in placed if i not in self._named}
        chosen: dict[int, str] = {}
        for i in placed:
            name = self._named.get(i)
            if name == "" and i - 1 in chosen:
                chosen[i] = ""
            elif name and not said & set(name.removesuffix("'s").split()):
                chosen[i] = name
                said.update(name.removesuffix("'s").split())
        return chosen

    def _with_marks(self, words: Sequence[Item]) -> list[Item]:
        """The words with the marks between neighbours; quotation marks and brackets in pairs."""
        kept = set(words)
        behind = {one for one, two in pairwise(words) if isinstance(two, int)}
        whole = [
            p for p in self.pairs
            if all(i in kept or self.is_mark[i] for i in range(*p))
            and (self.tokens[p[0]].text != "(" or p[0] - 1 in behind)
        ]  # fmt: skip
        opening, closing = {a for a, _ in whole}, {b for _, b in whole}
        halves = self._lone | {i for pair in self.pairs for i in pair} - opening - closing
        order: list[Item] = []
        for n, item in enumerate(words):
            if not isinstance(item, int):
                order.append(item)
                continue
            before = item - 1
            while before >= 0 and self.is_mark[before]:
                before -= 1
            is_next = n > 0 and words[n - 1] == before
            order += [
                i for i in range(before + 1, item)
                if i in opening or (is_next and i not in closing and i not in halves)
            ]  # fmt: skip
            order.append(item)
            after = item + 1
            while after < len(self.tokens) and self.is_mark[after]:
                if after in closing:
                    order.append(after)
                after += 1
            if after == len(self.tokens) and n + 1 == len(words):
                order += [i for i in range(item + 1, after) if i not in closing | halves]
        return _in_order(order)

    def _gap(self, previous: Item | None, item: Item) -> str:
        if previous is None:
            return ""
        if isinstance(previous, int) and isinstance(item, int) and item == previous + 1:
            one = self.tokens[previous]
            return " " if self.tokens[item].start > one.start + len(one.text) else ""
        if item in (",", "'s") or previous in self._opening:
            return ""
        is_mark = isinstance(item, int) and self.is_mark[item]
        return "" if is_mark and item not in self._opening else " "


def _exchanged(
    predicate: Sequence[int], gone: Sequence[int], members: Iterable[list[Item]]
) -> Iterator[list[Item]]:
    """A predicate, once with each member in place of a phrase."""
    before = [i for i in predicate if i < gone[0]]
    behind = [i for i in predicate if i > gone[-1]]
    yield from ([*before, *member, *behind] for member in members)


def _finished(text: str) -> str:
    """A statement with a capital at its beginning and a mark at its end."""
    text = text.strip(" ,;:\u2013\u2014-")
    first = next((i for i, c in enumerate(text) if c.isalnum()), 0)
    if not re.match(r"[a-z]+[A-Z]", text[first:]):
        text = text[:first] + text[first : first + 1].upper() + text[first + 1 :]
    return text if re.search(r"[.!?\u2026][\"'\u201d\u2019)]*\Z", text) else text + "."


def _in_order(order: list[Item]) -> list[Item]:
    """Words with neighbouring marks in the order of the sentence: a quote after its comma."""
    for n in range(1, len(order)):
        one, two = order[n - 1], order[n]
        if isinstance(one, int) and isinstance(two, int) and one == two + 1:
            order[n - 1], order[n] = two, one
    return order


def _mended(tokens: Sequence[Token]) -> list[Token]:
    """The words; of `said that A and that B`, the second verb is put under the first."""
    mended = list(tokens)
    for place, token in enumerate(tokens):
        said = [i for i in range(place) if tokens[i].relation == "ccomp"]
        links = [i for i in range(place - 1) if tokens[i].relation == "cc"]
        if token.relation != "conj" or not said or not links:
            continue
        verb = tokens[said[-1]].head
        is_said = tokens[links[-1] + 1].text.lower() == "that"
        if is_said and tokens[verb].text.lower() in TELLING and token.head in (said[-1], verb):
            mended[place] = token._replace(head=said[-1], sure=1.0)
            mended[links[-1]] = mended[links[-1]]._replace(head=said[-1])
    return mended


def _pairs(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Places of opening and closing quotation marks and brackets."""
    pairs: list[tuple[int, int]] = []
    open_: dict[str, int] = {}
    for place, token in enumerate(tokens):
        mate = _MARKS.get(token.text)
        if token.text == '"' and '"' in open_:
            pairs.append((open_.pop('"'), place))
        elif token.text in ('"', "(", "[", "\u201c", "\u00ab"):
            open_[token.text] = place
        elif mate in open_:
            pairs.append((open_.pop(mate), place))
    return pairs


def _is_small(token: Token) -> bool:
    """Whether the first word of a sentence is written small elsewhere."""
    return token.tag not in NAMES and token.text != "I" and not token.entity
