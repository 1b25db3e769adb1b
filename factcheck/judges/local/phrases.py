"""What the phrases of a sentence say: the words they need, their details, the members of lists."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice, product
from typing import NamedTuple, TypeAlias

from factcheck.judges.local.roles import NOUN_LIKE, Freedom, Role, Roles
from factcheck.judges.local.tree import (
    FINITE,
    NAMES,
    NOUNS,
    PLURAL,
    SUBJECTS,
    TIMES,
    WORDS,
    is_person,
)
from factcheck.text.syntax import Token
from factcheck.text.words import word_set

Words: TypeAlias = "frozenset[int]"
NONE: Words = frozenset()
_MOST_COMBINED = 12
"""Combinations of the members of several lists."""
_MOST_REPEATED = 8
"""Details that are told of each member of a list."""
_MOST_LINKED = 8
"""Words of a subordinate clause that is told together with the one around it."""
_TOGETHER = word_set("between from among than")
_COLOURS = word_set("red blue green yellow black white grey gray brown orange purple pink")
_NOT_LISTS = word_set("compound nmod poss nummod quantmod advmod det npadvmod case")
SAYING = WORDS["saying"] | WORDS["reporting"]
_MOSTLY = word_set("mostly mainly largely primarily chiefly partly")
"""Before phrases that hold for several things together."""
_OBJECTS = word_set("me him us them")
COUNTING = word_set(
    "other most many several few more various numerous certain such multiple different some"
)
_WORDINGS = word_set("names words titles terms labels brands")
_GROUPS = word_set("pair duo trio couple")
"""Before the names of those who are one: `the duo Anna and Tom`."""
_FEW_DIGITS = 2
"""Of a number that may well hold for each of several things."""
_PLACING = word_set("in at across throughout")


class Detail(NamedTuple):
    """Words that may be added to a phrase."""

    words: Words
    kind: str


class Part(NamedTuple):
    """A phrase: the words that it needs, and what may be added to them."""

    words: Words
    details: tuple[Detail, ...] = ()
    noun: int | None = None
    """The word that the others depend on."""


class Sayer(NamedTuple):
    """Who says what follows, and the words of saying it."""

    name: Words
    says: Words


class Phrases(Roles):
    """One parsed sentence, and what its phrases say."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        super().__init__(text, tokens)
        self._own: dict[int, tuple[Sayer, ...]] = {}
        """Phrases that say something of their own, and who says the clause around them."""
        self._sayers: tuple[Sayer, ...] = ()
        self._examples: list[tuple[int, int, tuple[Sayer, ...]]] = []
        """Nouns with the first of the names that show what they stand for, and who says so."""

    def _expand(self, place: int, free: Freedom) -> list[Part]:
        """Return what a phrase says, once for each member of a list."""
        example = self._example(place) if free.split else None
        if example is not None:
            self.hidden.add(example)
            named = self.of(example, "pobj")[0]
            self._examples.append((place, named, self._sayers))
            return [*self._expand(place, free), *self._expand(named, free)]
        names = self._named(place) if free.split else None
        if names is not None:
            self.hidden.add(names)
            self._examples.append((place, names, self._sayers))
            return self._expand(names, free)
        heads = self._list_at(place) if free.split else []
        if not heads:
            links = self.of(place, "cc", "preconj")
            is_either = any(self.low[i] in ("or", "nor") for i in links)
            joined = [
                kid
                for kid in self.of(place, "conj")
                if is_either or not self._is_other_verb(kid, place)
            ]
            links = links if joined else []
            return self._members_of(
                place, free, NONE.union(*(self.under(k) for k in [*joined, *links]))
            )
        relations = ("det", "poss") if self.tokens[place].tag in NOUNS else ("aux", "auxpass")
        self.hidden.update(k for k in self.kids[place] if self.low[k] == "both")
        own = [k for k in self.of(place, *relations) if k < place and k not in self.hidden]
        best = self.of(place, "amod")
        if any(self.tokens[k].tag == "JJS" for k in best):
            own += best  # `the best possible treatment and care`
        shared = NONE.union(*(self.under(k) for k in own))
        behind = [k for k in self.of(place, "prep") if k > heads[-1] and self.low[k] == "of"]
        is_of_all = bool(own) and not self.of(heads[-1], "det", "poss", "nummod", "amod")
        self.hidden.update(behind)  # `the author and judge of stories`, `ropes and a bag of sand`
        found = []
        is_one = any(self.low[i] in ("a", "an") for i in shared)
        for head in heads:
            is_named = bool(self.of(head, "det", "poss", "nummod", "aux"))
            is_named |= self.tokens[head].tag in NAMES or (is_one and self.is_plural(head))
            is_named |= any(self.low[i] in COUNTING for i in self.of(head, "amod"))
            extra = NONE if is_named else shared
            if is_of_all or head == heads[-1]:
                extra = extra.union(*(self.under(k) for k in behind))
            found += self._members_of(head, free, extra)
        return found

    def _example(self, noun: int) -> int | None:
        """Return the phrase that names some of what a noun stands for: `including Ulm and Bonn`."""
        above = self.tokens[noun].head
        is_counted = self.low[above] == "of" and not self.is_verb(self.tokens[above].head)
        # `hundreds of people, including`
        is_counted |= any(self.low[k] == "of" for k in self.of(noun, "prep"))  # `tins of tea`
        is_counted |= any(self.tokens[i].entity == "MONEY" for i in self.kids[noun])
        is_counted |= self.tokens[noun].entity in TIMES  # `for ten years, including`
        if is_counted or self.tokens[noun].tag not in NOUNS - NAMES:
            return None
        for kid in filter(self._shows, self.of(noun, "prep")):
            is_such = self.low[kid] == "as"
            named = [i for i in self.of(kid, "pobj") if self.tokens[i].tag in NOUNS]
            is_mixed = any(self.low[i] == "but" for i in self.of(kid, "cc"))
            is_one = any(self.low[i] in ("a", "an") for i in self.of(noun, "det"))
            is_mixed |= is_such and (is_one or self.tokens[noun].relation in SUBJECTS)
            if named and kid not in self.hidden and not is_mixed:
                return kid
        return None

    def _named(self, noun: int) -> int | None:
        """Return the first of the names of several things: `the films Lights Out and Candy`."""
        token = self.tokens[noun]
        is_counted = bool(self.of(noun, "nummod")) or self.low[noun] in _WORDINGS
        if token.tag != "NNS" or token.relation not in ("pobj", "dobj") or is_counted:
            return None
        for kid in self.of(noun, "appos"):
            heads = self.listed(kid)
            tags = {self.tokens[i].tag for i in heads}
            links = [self.low[k] for head in heads for k in self.of(head, "cc")]
            end = max(self.under(kid), default=kid) + 1
            is_subject = any(each.tag in FINITE for each in self.tokens[end : end + 1])
            is_beside = self.low[self.start(kid) - 1] not in (",", ":") and not is_subject
            if tags <= NAMES and links == ["and"] and is_beside:
                return kid
        return None

    def _shows(self, word: int) -> bool:
        """Tell whether a word opens examples: `including`, or the end of `such as`."""
        is_such = self.low[word] == "as" and self.low[word - 1] == "such"
        return is_such or self.low[word] == "including"

    def _is_other_verb(self, kid: int, place: int) -> bool:
        return self.is_verb(kid) and not self.is_verb(place)

    def _members_of(self, place: int, free: Freedom, extra: Words = NONE) -> list[Part]:
        """Return a word with all below it, once for each member of the lists below it."""
        choices, details = [], []
        for kid in self.kids[place]:
            role = self.role(kid, free)
            relation = self.tokens[kid].relation
            is_clause = relation in ("relcl", "acl") and not self.is_set_off(kid)
            if role is Role.OWN and self._sayers and is_clause:
                role = Role.DETAIL if free.drop else Role.NEEDED  # `said it had men who had fled`
            if role is Role.OWN:
                self._own.setdefault(kid, self._sayers)
                if (
                    self.tokens[kid].relation == "advcl"
                    and self.subject(kid) is not None
                    and free.drop
                ):
                    details += self._linked(kid)
            elif role is Role.NEEDED:
                choices.append(self._below(kid, free))
            elif role is Role.DETAIL:
                details += self._details(kid, free)
        found = []
        for combination in islice(product(*choices), _MOST_COMBINED):
            words = frozenset({place, *extra}).union(*(part.words for part in combination))
            inner = [detail for part in combination for detail in part.details]
            found.append(Part(words, tuple(inner), place))
        n_told = len(found) if len(found) * len(details) <= _MOST_REPEATED else 1
        told = [part._replace(details=(*part.details, *details)) for part in found[:n_told]]
        return [*told, *found[n_told:]]

    def _linked(self, clause: int) -> list[Detail]:
        """Return a short clause that says why or when, as a detail of the clause around it."""
        words = frozenset(self.under(clause))
        is_contrast = self.opening(clause) in ("while", "whereas") and self.is_set_off(clause)
        is_contrast |= self._is_own_remark(clause)
        is_short = len(words) <= _MOST_LINKED and not is_contrast
        return [Detail(words, "reason")] if is_short else []

    def _details(self, kid: int, free: Freedom) -> list[Detail]:
        kind = self._kind(kid)
        if self.tokens[kid].relation == "advcl" and self.of(kid, "mark"):
            return [Detail(frozenset(self.under(kid)), kind)]
        found = []
        for part in self._below(kid, free):
            if len(part.words) > 1 or not part.details:
                found.append(Detail(part.words, kind))
            found += [Detail(part.words | each.words, each.kind) for each in part.details]
        return found

    def _below(self, kid: int, free: Freedom) -> list[Part]:
        token = self.tokens[kid]
        has_subject = self.subject(kid) is not None
        is_whole = token.text == "between" or self.absolute(kid) is not None
        is_whole |= token.text == "including" and any(
            self.tokens[i].relation in SUBJECTS for i in self.above(kid)
        )
        if token.relation == "relcl" or has_subject or is_whole or self.is_condition(kid):
            return [Part(frozenset(self.under(kid)))]
        if token.relation == "acl":
            free = Freedom(drop=False, split=False)
        if any(self.denies(i) for i in self.kids[kid]):
            free = Freedom(drop=False, split=False)
        elif self.low[token.head] in _TOGETHER:
            free = free._replace(split=False)
        return self._expand(kid, free)

    def _kind(self, kid: int) -> str:
        relation = self.tokens[kid].relation
        if relation in ("prep", "npadvmod") and self.is_time(kid):
            return "time"
        if relation == "prep" and not self.is_verb(self.tokens[kid].head):
            return "noun phrase"
        return relation

    def _list_at(self, place: int) -> list[int]:
        """Return the members of a list that `and` joins; none if they stay together."""
        heads = [k for k in self.listed(place) if k == place or self.low[k - 1] != "&"]
        links = [k for head in heads for k in self.of(head, "cc") if self.low[k] != "&"]
        token = self.tokens[place]
        is_open = all(self.tokens[i].entity == "WORK_OF_ART" for i in heads)
        is_open |= self._shows(token.head)  # `such as wheat, rye, oats`
        is_open |= token.relation == "amod"
        if len(heads) == 1 or not (links or is_open) or token.relation in _NOT_LISTS:
            return []
        together = (_TOGETHER | WORDS["bundles"]) - {"series"}
        is_shared = token.tag[0] == "J" and token.relation == "pobj"  # `one of its oldest and best`
        is_shared |= self.low[token.head] == "aged" or self._is_sum(place)
        is_shared |= token.tag[0] == "J" and any(
            self.tokens[i].tag == "RBS" for i in self.of(place, "advmod")
        )  # `the most loved and widely known`
        is_one = self.low[token.head] == "of" and self.low[self.tokens[token.head].head] == "one"
        is_shared |= is_one and bool(self.of(place, "nummod"))  # `one of three mills and dams`
        is_shared |= token.relation == "appos" and bool(self.of(token.head, "nummod"))
        # `two towns: Ulm and Bonn`
        is_shared |= token.tag[0] in "JR" and {self.low[head] for head in heads} == {
            self.low[place]
        }
        if is_shared:
            return []
        before = self.low[max(0, token.head - 2) : token.head] if token.relation == "pobj" else []
        is_mostly = not _MOSTLY.isdisjoint(before)
        is_mostly |= self.low[token.head] == "of" and not together.isdisjoint(before[-1:])
        if is_mostly or self._is_whole(place, heads):
            return []
        if token.relation == "amod" and not self._are_kinds(token.head, heads):
            return []
        is_gapped = self.low[token.head] == "with" and any(
            self.low[k] == "with" for head in heads[1:] for k in self.of(head, "prep")
        )  # `8 hours with heavy use and 22 hours with normal use`
        if is_gapped or self.low[token.head] in together or not self._are_alike(heads, links):
            return []
        return heads

    def _is_sum(self, place: int) -> bool:
        """Tell whether a number is of several places, or a large one of several things.

        `Had 40 visitors in Ulm and Bonn`, `50,000 people came as guests to dinners and balls`.
        """
        token = self.tokens[place]
        phrase = token.head
        is_place = token.entity in ("GPE", "LOC") and self.low[phrase] in _PLACING
        head = self.tokens[phrase].head
        if token.relation == "pobj" and not is_place:
            head = next((i for i in self.above(head) if self.is_verb(i)), self.root)
        counted = [head, *self.of(head, "dobj", "nsubj", "nsubjpass", "attr")]
        numbers = [self.low[i] for noun in counted for i in self.of(noun, "nummod")]
        is_total = any(sum(map(str.isdigit, number)) > _FEW_DIGITS for number in numbers)
        return bool(numbers) and (is_place or (is_total and token.relation == "pobj"))

    def _is_whole(self, place: int, heads: Sequence[int]) -> bool:
        """Tell whether a list is what several are, not each: `the names A and B`.

        So are `brothers Carlo and Ettore` and `the threats are fire and rain`; and with towns,
        each may go with a country: `Brno, Slovakia, and Tisno, Croatia`.
        """
        token = self.tokens[place]
        titles = self.of(place, "compound", "nmod")
        several = [i for i in titles if self.tokens[i].tag in PLURAL or self.low[i] in _GROUPS]
        several += [i for i in titles if self.low[i][-1] == "s" and is_person(self.low[i][:-1])]
        if token.relation == "attr":
            several += [i for i in self.of(token.head, "nsubj") if self.tokens[i].tag in PLURAL]
        is_each = self.is_set_off(place) or self.low[self.start(place) - 1] == ":"
        is_each |= self.low[token.head] == "series"
        is_each |= any(named == place for _, named, _ in self._examples)
        if token.relation == "appos" and not is_each:
            several.append(token.head)
        places = [*heads, *self.of(heads[-1], "appos")]
        is_paired = len(places) > len(heads) and len(places) % 2 == 0
        return bool(several) or (is_paired and {self.tokens[i].tag for i in places} <= NAMES)

    def _are_kinds(self, noun: int, words: Sequence[int]) -> bool:
        """Tell whether a noun can be said with each of some adjectives: not `red and white`."""
        is_mixed = any(self.low[i] in _COLOURS or i > noun for i in words)
        is_mixed |= any(self.low[i + 1] == "," for i in self.of(noun, "amod") if i < words[0])
        return not is_mixed

    def _are_alike(self, heads: Sequence[int], links: Sequence[int]) -> bool:
        tokens = self.tokens
        kinds = {"N" if tokens[i].tag in NOUN_LIKE else tokens[i].tag[0] for i in heads}
        is_name = len(heads) == 2 and any(  # noqa: PLR2004 - a pair
            tokens[i].entity and tokens[i].entity == tokens[i - 1].entity for i in links
        )
        last = self.under(heads[0])
        is_torn = any(  # `half on signing and the rest before the event`
            not self.is_mark[i] and i not in last and i not in links
            for i in range(heads[0], min(self.under(heads[1]), default=0))
        )
        is_bundle = any(self.low[i] in WORDS["bundles"] for i in heads[1:])
        is_torn |= any(self.of(i, "nummod") for i in heads) and any(
            tokens[i].entity == "PERSON" for i in heads
        )  # `with 48 million and Katy Perry in fifth`
        is_torn |= any(self.low[i] in _OBJECTS for i in heads)  # `Me and Tom left`
        is_torn |= tokens[heads[-1]].tag == "CD" and tokens[heads[0]].tag in PLURAL
        # `wards 1, 2 and 4`
        is_kind = tokens[heads[0]].relation == "amod" or len(kinds) == 1
        known = {"and", "as", "or"} if self._shows(tokens[heads[0]].head) else {"and", "as"}
        is_kind &= {self.low[i] for i in links} <= known
        return is_kind and not (is_name or is_torn or is_bundle)

    def _is_own_remark(self, verb: int) -> bool:
        """Tell whether a contrast is the reporter's: `said no, although she conceded that ...`."""
        is_contrast = self.opening(verb) in ("although", "though", "while", "whereas")
        return is_contrast and self.low[verb] in SAYING and not self.of(verb, "auxpass")
