"""What one English sentence states, one clause and one detail at a time.

Every part is entailed by the sentence: conditions, hedges and sources ("according to", "the mayor
said that") stay with each part, and there is no cut where a negation or a word such as "only"
reaches over it, or where the parser is not sure how the words hang together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from factcheck.facts import Span
from factcheck.judges.local.clauses import EMBEDDED, PHRASES, SURE, Clauses, be
from factcheck.judges.local.grammar import (
    FINITE,
    NAMES,
    NOUNS,
    PLACES,
    PLURAL,
    SUBJECTS,
    TELLING,
    TIMES,
    WORDS,
    Item,
    Statement,
)

_NO_BEGINNING = {*FINITE, "WDT", "WP", "WP$", "WRB"}
"""Parts of speech with which only a sentence that is cut wrongly goes on."""
_MOST_FACTS = 40
"""Facts of one sentence; a longer list stands in one piece."""
_STATES = WORDS["states"]
"""Participles of what goes on: `a firm based in Ulm`."""
_LOOSE = WORDS["loose"]
"""Verbs after `which` that tend to speak of the whole clause before it."""


class ParsedSentence(Clauses):
    """One parsed sentence, and what may be taken out of it."""

    def statements(self) -> tuple[Statement, ...]:
        """What the sentence says; one statement with all of its words where no cut is safe."""
        everything: list[Item] = list(range(len(self.tokens)))
        if not everything:
            return (Statement(self.text, Span(0, len(self.text))),)
        facts = list(self._parts()) if self._may_be_cut() else [everything]
        if len(facts) > _MOST_FACTS:
            facts = [everything]
        facts = [fact for fact in facts if self._is_whole(fact)]
        if not self._are_all_told(facts):
            facts = [*facts, everything] if len(facts) > 1 else [everything]
        return tuple(sorted(dict.fromkeys(map(self.tell, facts)), key=lambda s: s.own))

    # --- what is safe -------------------------------------------------------------------------

    def _may_be_cut(self) -> bool:
        tokens, root = self.tokens, self.root
        subject = self.subject(root)
        if tokens[root].tag[:2] not in ("VB", "MD") or subject is None or subject > root:
            return False
        if self.finite(root) is None or self.low[0] in (
            "neither",
            "not",
            "who",
            "whoever",
            "whose",
            "what",
            "whatever",
        ):
            return False
        is_sure = min(tokens[root].sure, tokens[subject].sure) >= SURE
        in_brackets = any(a < root < b for a, b in self.pairs)
        if not is_sure or in_brackets or self._is_crossed(subject):
            return False
        for place, token in enumerate(tokens):
            is_title = token.text == ":" and 0 < place < len(tokens) - 1 and all(
                tokens[i].text[0].isupper() for i in (place - 1, place + 1)
            )  # fmt: skip
            if token.relation == "parataxis" or (
                self.low[place] in ("?", "\u2026", "...", ":", ";") and not is_title
            ):
                return False
            is_wrong = self.is_mark[place] and (self.kids[place] or token.relation in PHRASES)
            is_clause = token.relation in ("advcl", "ccomp") and self.finite(place) is not None
            subjects = [i for i in self.of(place, "nsubj", "nsubjpass") if not self.is_mark[i]]
            if is_wrong or len(subjects) > 1 or (is_clause and self.subject(place) is None):
                return False
        return not any(tokens[i].tag in FINITE for a, b in self.pairs for i in range(a, b)) or not (
            TELLING & set(self.low)
        )

    def _is_whole(self, fact: Sequence[Item]) -> bool:
        """Whether a fact has more than one word, and its end."""
        words = [item for item in fact if item != ","]
        first, last = words[0], words[-1]
        if isinstance(first, str) or (
            first and (self.tokens[first].tag in _NO_BEGINNING or self.low[first] == "not")
        ):
            return False
        ends = ("CC", "DT", "IN", "TO", "PRP$", "WDT", "POS")
        return len(words) > 1 and not (isinstance(last, int) and self.tokens[last].tag in ends)

    def _are_all_told(self, facts: Sequence[Sequence[Item]]) -> bool:
        """Whether each word that tells something is in some fact."""
        told = {item for fact in facts for item in fact}
        return all(
            place in told
            for place, token in enumerate(self.tokens)
            if token.tag in ("CD", "JJ", "VBD", "VBN", "VBZ", *NOUNS) and self.low[place] != "such"
        )

    # --- statements beside the main line ------------------------------------------------------

    def _parts(self) -> Iterator[list[Item]]:
        births = [(a, b) for a, b in self.pairs if self.low[a : a + 2] == ["(", "born"]]
        for start, end in births:
            self.cut.update(range(start + 1, end))
            noun = next((i for i in self.above(start + 1) if i < start), self.root)
            yield [*self.under(noun), "was", *range(start + 1, end)]
        asides = [i for i in range(len(self.tokens)) if i not in self.cut and self._is_aside(i)]
        self.cut.update(
            i for i in asides
            if self.tokens[i].relation != "appos" or self.tokens[i].entity not in PLACES
        )  # fmt: skip
        yield from self._clause(self.root, [], [])
        for place in asides:
            token = self.tokens[place]
            head = self._whose(token.head)
            about: list[Item] = list(self.under(head))
            be = self._be(place, head)
            if token.relation == "appos":
                is_place = token.entity in PLACES
                link = f"{be} in" if is_place else be
                about = self._name(token.head) if is_place else about
                yield [*about, link, *self.under(place)]
            elif token.relation == "acl":
                yield from self._clause(place, [*about, be], [])
            else:
                opener = self._opener(place)
                self.cut.add(opener)
                is_subject = self.tokens[opener].relation in SUBJECTS
                yield from self._clause(place, about if is_subject else [], [])
        for place, token in enumerate(self.tokens):
            is_adjective = token.entity == "NORP" and token.tag == "JJ" and not self.kids[place]
            if is_adjective and token.relation == "amod" and self._is_identity(token.head):
                owner = self._whose(token.head)
                verb = self.tokens[self.first(token.head)].head
                yield [*self.under(owner), verb, place]
            elif token.tag == "NN" and token.relation in ("compound", "nmod"):
                yield from self._kind(place)

    def _kind(self, place: int) -> Iterator[list[Item]]:
        """What a noun before a name says of it: `the production company "Kern & Co"`."""
        head = self.tokens[place].head
        name = [i for i in self.under(head) if place < i <= head]
        is_name = bool(name) and all(
            len(self.low[i]) > 1 and self.tokens[i].text[0].isupper() for i in (name[0], head)
        )
        is_name = is_name and self.tokens[head].tag in NAMES and self.tokens[name[0]].tag in NAMES
        is_noun = self.low[place].isalpha() and self.tokens[place].text.islower()
        is_time = self.tokens[head].entity in TIMES
        if is_name and is_noun and not is_time and not self._is_scoped(self.kids[head]):
            start = place
            while start and self.tokens[start - 1].tag in ("NN", "JJ", "NNP"):
                start -= 1
            is_counted = any(
                self.tokens[i].entity in {*TIMES, "ORDINAL", "CARDINAL"}
                for i in range(start, place + 1)
            )
            is_told = start > 0 and self.tokens[start - 1].tag in ("DT", "PRP$")
            is_full = len(name) > 1 and self.tokens[head].entity == "PERSON"
            if is_counted or not (is_told or is_full):
                return
            yield [*name, "is", "a", *range(start, place + 1)]

    def _is_aside(self, place: int) -> bool:
        """Whether a phrase says something of its own about the noun that it follows."""
        token = self.tokens[place]
        head = self.tokens[token.head]
        is_noun = head.tag in NOUNS or (head.entity in TIMES and token.relation == "relcl")
        if token.relation not in ("relcl", "appos", "acl") or not is_noun:
            return False
        words = self.under(place, full=True)
        is_new = self._is_identity(token.head)
        before = next((i for i in range(words[0] - 1, -1, -1) if not self.is_mark[i]), -1)
        is_behind = token.head <= before and before in self.under(token.head, full=True)
        is_definite = self.is_definite(token.head) or head.entity in TIMES
        is_beside = self.is_set_off(place) and self.is_closed(place) and is_definite
        in_list = head.relation == "conj" or bool(self.of(token.head, "conj", "cc"))
        is_sure = self._is_firm(place) and not self._is_scoped(self.kids[token.head])
        is_own = is_behind and (is_new or (is_beside and not in_list))
        is_said = self._is_hedged(self.root) or any(
            self.tokens[i].relation in EMBEDDED for i in self.above(token.head)
        )
        if not is_own or not is_sure or is_said:
            return False
        if head.relation == "pobj" and self.tokens[self.tokens[head.head].head].tag in NOUNS:
            return False  # `the mine at Ulm, which closed in May`: either may be meant
        if token.relation == "appos":
            return self._is_apposition(place)
        if token.relation == "relcl":
            return self._is_relative(place, is_new=is_new, is_close=token.head == before)
        is_plain = all(self.tokens[i].relation == "advmod" for i in words if i < place)
        return token.tag == "VBN" and is_plain and len(words) > 1

    def _opener(self, verb: int) -> int:
        """The phrase of `who`, `where` or `for which` that opens a relative clause."""
        first = self.under(verb, full=True)[0]
        return next((i for i in (first, *self.above(first)) if self.tokens[i].head == verb), first)

    def _is_relative(self, verb: int, *, is_new: bool, is_close: bool) -> bool:
        """Whether a clause speaks of the noun before it, or says all without it."""
        opener = self._opener(verb)
        words = self.under(opener, full=True)
        finite = self.finite(verb)
        if finite is None or len(words) > 2 or opener == verb:  # noqa: PLR2004 - in which
            return False
        pronoun, relation = self.tokens[words[-1]].tag, self.tokens[opener].relation
        if relation in ("prep", "advmod"):
            says_more = self._says_more(verb, self.kids[verb])
            is_where = self.low[opener] in ("where", "when") and self.tokens[finite].tag != "MD"
            is_link = pronoun in ("WDT", "WP", "WRB") and self.low[opener] != "of"
            return is_link and self.subject(verb) is not None and (
                says_more or is_where) and not is_new  # fmt: skip
        is_loose = self.low[opener] == "which" and (self.low[verb] in _LOOSE or not is_close)
        is_loose |= self.tokens[self.tokens[verb].head].entity in TIMES
        return relation in ("nsubj", "nsubjpass") and pronoun in ("WP", "WDT") and not is_loose

    def _is_identity(self, noun: int) -> bool:
        """Whether a noun says what the subject is: `Anna is a lawyer who ...`."""
        token = self.tokens[self.first(noun)]
        subject = self.subject(token.head)
        articles = self.of(noun, "det", "poss")
        return (
            token.relation == "attr"
            and token.head == self.root
            and subject is not None
            and self.tokens[subject].relation == "nsubj"
            and (self.low[articles[0]] in ("a", "an") if articles else self.low[subject] != "it")
            and self.low[subject] not in ("this", "that")
            and not self._is_scoped([*self.kids[token.head], *self.kids[noun]])
        )

    def _is_apposition(self, place: int) -> bool:
        token, head = self.tokens[place], self.tokens[self.tokens[place].head]
        if self.of(place, "cc", "conj") or head.relation in ("conj", "appos"):
            return False
        if token.entity in PLACES and head.entity in PLACES:
            return token.tag == "NNP" and head.tag == "NNP"
        is_thing = head.relation not in SUBJECTS and head.entity != "PERSON"
        if self.low[place] in WORDS["people"] and head.tag in NAMES and is_thing:
            return False
        is_name, has_article = token.tag == "NNP", bool(self.of(place, "det", "poss"))
        return (
            (is_name or has_article) and is_name != (head.tag == "NNP") and token.entity != "DATE"
        )

    def _whose(self, head: int) -> int:
        """Who or what an aside behind a noun is about."""
        subject = self.subject(self.tokens[self.first(head)].head)
        return subject if subject is not None and self._is_identity(head) else head

    def _name(self, head: int) -> list[Item]:
        return [i for i in self.under(head) if i <= head and self.tokens[i].tag == "NNP"]

    def _be(self, place: int, noun: int) -> str:
        plural = self.tokens[noun].tag in PLURAL or bool(self.of(noun, "conj"))
        lasts = self.low[place] in _STATES and not self.is_past(self.root)
        return be(plural=plural, past=self.tokens[place].relation == "acl" and not lasts)
