"""What may be taken out of a sentence: details, what stands behind a noun, members of a list."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import takewhile

from factcheck.judges.local.grammar import (
    NAMES,
    NOUNS,
    PLURAL,
    QUOTES,
    SUBJECTS,
    TIMES,
    WORDS,
    Item,
    Tree,
)
from factcheck.text.words import word_set

LOAD_BEARING = SUBJECTS | word_set("ROOT cc conj relcl appos advcl ccomp dobj attr")
"""Relations that decide where a sentence is cut."""
EMBEDDED = word_set("ccomp pcomp csubj csubjpass xcomp advcl acl parataxis")
"""Relations of clauses whose content the sentence need not state as a fact."""
COMPLEMENTS = word_set("dobj attr acomp xcomp ccomp oprd agent dative prep")
_CERTAIN = word_set("has have will must shall should")
"""Helping verbs after which a detail less says less, not another thing."""
SURE = 0.5
"""Least probability of each load-bearing word of what is told on its own."""


class Phrases(Tree):
    """One parsed sentence, and its phrases."""

    # --- what is safe -------------------------------------------------------------------------

    def is_crossed(self, place: int) -> bool:
        """Whether a word between this one and its head hangs on one outside: a wrong parse."""
        low, high = sorted((place, self.tokens[place].head))
        return any(not low <= self.tokens[i].head <= high for i in range(low + 1, high))

    def is_firm(self, place: int) -> bool:
        """Whether the parser is sure of all that decides what belongs to a phrase."""
        return all(
            (self.tokens[i].sure >= SURE or self.tokens[i].relation not in LOAD_BEARING)
            and not self.is_crossed(i)
            for i in self.under(place, full=True)
        )

    def is_scoped(self, places: Iterable[int]) -> bool:
        """Whether a word is among these by which a shorter sentence may say something else."""
        return any(
            self.low[i] in WORDS["scopes"]
            and not (self.low[i] == "last" and self.tokens[i].entity in TIMES)
            for i in places
        )

    def has_happened(self, verb: int) -> bool:
        """Whether a verb tells of one time, and holds also without saying where."""
        return self.tokens[verb].relation == "acl" or any(
            self.tokens[i].tag == "VBD" or self.low[i] in _CERTAIN for i in self.helped(verb)
        )

    def says_more(self, verb: int, parts: Iterable[int]) -> bool:
        """Whether something stands behind a verb that completes it."""
        return any(self.tokens[i].relation in COMPLEMENTS for i in parts if i > verb)

    # --- what may be left out -----------------------------------------------------------------

    def is_detail(self, kid: int, verb: int, parts: Sequence[int]) -> bool:
        """Whether a phrase may be left out, because the verb says something without it."""
        is_time, relation = self.is_time(kid), self.tokens[kid].relation
        if not self.is_firm(kid) or (relation == "prep" and not self.kids[kid]):
            return False
        if self.low[kid] == "including":
            return self.is_set_off(kid) and self.is_closed(kid)
        if self.low[kid] in WORDS["inseparable"] or is_time:
            return is_time and self.low[kid] not in WORDS["inseparable"]
        if relation != "prep" or self.low[verb] in WORDS["needy"]:
            return False
        return self.says_more(verb, [i for i in parts if i < kid])

    def inner_details(self, kid: int) -> list[list[int]]:
        """Phrases at the end of a complement that says enough without them."""
        words, found = self.under(kid), []
        while phrase := next((i for i in words if self._is_outer(i, words[-1])), None):
            found.append(self.under(phrase))
            words = [i for i in words if i not in found[-1]]
        return found[::-1]

    def _is_outer(self, place: int, last: int) -> bool:
        token = self.tokens[place]
        head = self.tokens[token.head]
        if head.tag not in NOUNS or self.under(place)[-1] != last or not self.is_firm(place):
            return False
        if token.relation in ("relcl", "appos", "acl"):
            return self.is_set_off(place) and self.is_closed(place)
        return (
            token.relation == "prep"
            and self.low[place] in WORDS["outer"]
            and any(self.tokens[i].entity for i in self.of(place, "pobj"))
        )

    # --- behind a noun ------------------------------------------------------------------------

    def is_aside(self, place: int) -> bool:
        """Whether a phrase says something of its own about the noun that it follows."""
        token, noun = self.tokens[place], self.tokens[place].head
        head = self.tokens[noun]
        if token.relation not in ("relcl", "appos", "acl") or head.tag not in NOUNS:
            return False
        is_beside = self.is_set_off(place) and self.is_closed(place)
        is_own = self.is_identity(noun) or (is_beside and self.is_definite(noun))
        is_said = any(self.tokens[i].relation in EMBEDDED for i in self.above(noun))
        if (
            not is_own
            or is_said
            or not self.is_firm(place)
            or self.is_scoped(i for i in self.kids[noun] if i != place)
        ):
            return False
        if head.relation == "pobj" and self.tokens[self.tokens[head.head].head].tag in NOUNS:
            return False  # `the mine at Ulm, which closed in May`: either may be meant
        return {
            "appos": token.entity != "DATE"
            and not self.of(place, "cc", "conj", "nummod")
            and (token.tag == "NNP") != (head.tag == "NNP"),
            "relcl": self._is_relative(place),
            "acl": token.tag == "VBN"
            and len(self.under(place, full=True)) > 1
            and self.low[place] not in ("compared", "given"),
        }[token.relation]

    def opener(self, verb: int) -> int:
        """The phrase of `who`, `where` or `for which` that opens a relative clause."""
        first = self.under(verb, full=True)[0]
        return next((i for i in (first, *self.above(first)) if self.tokens[i].head == verb), first)

    def _is_relative(self, verb: int) -> bool:
        """Whether a clause speaks of the noun before it, or says all without it."""
        opener, finite = self.opener(verb), self.finite(verb)
        relation = self.tokens[opener].relation
        if finite is None or opener == verb:
            return False
        if relation in ("prep", "advmod"):
            is_where = self.low[opener] in ("where", "when") and self.tokens[finite].tag != "MD"
            has_all = is_where or self.says_more(verb, self.kids[verb])
            return has_all and self.subject(verb) is not None
        noun = self.tokens[self.tokens[verb].head]
        is_loose = noun.entity in TIMES or (
            self.low[opener] == "which" and self.low[verb] in WORDS["loose"]
        )
        is_loose |= self.low[opener] == "that" and not self.is_set_off(verb)
        return relation in ("nsubj", "nsubjpass") and not is_loose

    def is_identity(self, noun: int) -> bool:
        """Whether a noun says what the subject is: `Anna is a lawyer who ...`."""
        token = self.tokens[self.first(noun)]
        subject = self.subject(token.head)
        if token.relation != "attr" or token.head != self.root or subject is None:
            return False
        articles = self.of(noun, "det", "poss")
        is_new = self.low[articles[0]] in ("a", "an") if articles else self.low[subject] != "it"
        is_scoped = self.is_scoped([*self.kids[token.head], *self.kids[noun]])
        return is_new and not is_scoped

    def whose(self, noun: int) -> int:
        """Who or what an aside behind a noun is about."""
        subject = self.subject(self.tokens[self.first(noun)].head)
        return subject if subject is not None and self.is_identity(noun) else noun

    # --- lists --------------------------------------------------------------------------------

    def spread(
        self, predicate: list[int], part: Sequence[int], verb: int, *, scoped: bool
    ) -> Iterator[list[Item]]:
        """A predicate, once for each member of the lists in a part of it."""
        part = [] if scoped or self.low[verb] in WORDS["collective"] else part
        example = next((i for i in part if self._is_example(i)), None)
        if example is not None:
            noun = self.first(self.tokens[example].head)
            bundle = self.tokens[self.tokens[noun].head].head
            noun = bundle if self.low[bundle] in WORDS["bundles"] else noun  # a number of towns
            named = self.of(example, "pobj")[0]
            members = self._members(named) or [[*self.under(named)]]
            yield [i for i in predicate if i not in self.under(example)]
            exchanged = [(noun, member) for member in members]
        else:
            lists = [i for i in part if self._may_list(i, verb, predicate)]
            exchanged = [(noun, member) for noun in lists for member in self._members(noun)]
            if not lists:
                yield [*predicate]
        for noun, member in exchanged:
            gone = self.under(noun)
            before = [i for i in predicate if i < gone[0]]
            yield [*before, *member, *(i for i in predicate if i > gone[-1])]

    def _is_example(self, place: int) -> bool:
        """Whether `including` or `such as` names some of what the noun before it stands for."""
        named = self.of(place, "pobj")
        is_such = self.low[place - 1 : place + 1] == ["such", "as"]
        return (
            (is_such or self.low[place] == "including")
            and bool(named) and self.tokens[named[0]].tag in NOUNS
            and self.tokens[self.tokens[place].head].tag in PLURAL
        )  # fmt: skip

    def _may_list(self, noun: int, verb: int, predicate: Sequence[int]) -> bool:
        """Whether what is said with a list holds with each member of it."""
        path = list(takewhile(lambda place: place != verb, self.above(noun)))
        if not path or not self._members(noun):
            return False
        for place in path:
            head, relation = self.tokens[place].head, self.tokens[place].relation
            is_count = self.tokens[head].tag in PLURAL or self.of(head, "nummod")
            if (
                relation not in ("dobj", "attr", "acomp", "pobj", "prep", "agent", "oprd")
                or is_count
                or len(self.of(place, "pobj")) > 1
                or self.low[head] in WORDS["bundles"] | {"from", "than", "to"}
            ):
                return False
        own = self.under(noun)
        is_counted = any(
            self.tokens[i].relation == "nummod" and self.tokens[i].entity not in TIMES
            for i in predicate
            if i < noun and i not in own
        )
        return self.tokens[noun].relation != "pobj" or not is_counted

    def _members(self, noun: int) -> list[list[Item]]:
        """The members of a list that `and` joins, each a phrase; none if it stays together."""
        heads, links = [noun], []
        while nexts := [i for i in self.of(heads[-1], "conj") if i not in self.cut]:
            links += self.of(heads[-1], "cc")
            heads += nexts
        tags = [self.tokens[i].tag for i in heads]
        joins_name = any(
            self.tokens[i - 1].entity and self.tokens[i - 1].entity == self.tokens[i].entity
            for i in links
            if self.tokens[i - 1].text[0] not in QUOTES
        )
        if (
            not links
            or joins_name
            or any(self.low[i] not in ("and", "&") for i in links)
            or any((tag in NOUNS) != (tags[0] in NOUNS) for tag in tags)
            or any(self.low[i] in WORDS["bundles"] for i in heads[1:])  # "two hours and a half"
            # `and costs 2.6 million`: a verb that was taken for a noun
            or (tags[-1] == "NNS" and [t.tag for t in self.tokens[heads[-1] + 1 :][:1]] == ["CD"])
        ):
            return []
        return [self._member(heads, k) for k in range(len(heads))]

    def _member(self, heads: Sequence[int], k: int) -> list[Item]:
        """One member of a list, with the article of the first and what stands behind the last."""
        rest = self.under(heads[k + 1]) if k + 1 < len(heads) else []
        behind = [i for i in self.under(heads[0]) if i > max(self.under(heads[-1]))]
        gone = {*rest, *behind, *(link for i in heads for link in self.of(i, "cc"))}
        own: list[Item] = [*(i for i in self.under(heads[k]) if i not in gone), *behind]
        articles = [i for i in self.of(heads[0], "det", "poss") if self.tokens[i].tag != "PDT"]
        tag = self.tokens[heads[k]].tag
        if (
            not articles
            or self.of(heads[k], "det", "poss", "nummod")
            or tag in {*NAMES, "JJ", "VBN"}
        ):
            return own
        return [*self.under(articles[0]), *own]
