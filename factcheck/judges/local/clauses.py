"""What one English sentence states, one clause, one detail and one member of a list at a time.

Every part is entailed by the sentence: conditions, hedges and sources ("according to", "the mayor
said that") stay with each part, and there is no cut where a negation or a word such as "only"
reaches over it, or where the parser is not sure how the words hang together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from factcheck.facts import Span
from factcheck.judges.local.grammar import (
    FINITE,
    NOUNS,
    PLURAL,
    SUBJECTS,
    WORDS,
    Item,
    Statement,
    be,
    past_of,
)
from factcheck.judges.local.phrases import EMBEDDED, LOAD_BEARING, SURE, Phrases
from factcheck.text.words import word_set

_PHRASES = LOAD_BEARING | word_set("acl prep pobj npadvmod advmod")
"""Relations of words, which no mark has."""
_MOST_FACTS = 40
"""Facts of one sentence; a longer list stands in one piece."""
_NO_BEGINNING = {*FINITE, "WDT", "WP", "WP$", "WRB"}
"""Parts of speech with which only a sentence that is cut wrongly goes on."""
_NO_END = word_set("CC DT IN TO PRP$ WDT POS")
_NEVER_CUT = word_set("neither not who whoever whose what whatever")
"""First words of sentences that stay whole."""
_CONTRASTS = word_set("although though while whereas")
_REASONS = _CONTRASTS | word_set("because since as")
_STATED = _REASONS | word_set("after when")
"""What opens a clause that is itself said to be so, if the clause around it is."""
_GERUNDS = word_set("after before by upon while since")
"""What opens a phrase in -ing of something that happened, too."""
_SETTINGS = word_set("in on at during throughout after before with")
"""What opens a phrase before a sentence that says where or when something happened."""
_UNREAL = word_set("former retired fake late alleged assistant potential honorary")
"""Adjectives by which a noun says less than it says alone."""
_BESIDES = word_set("besides along apart aside despite")
_PRONOUNS = word_set("he she it they this that these those")


class _Clause(NamedTuple):
    """The parts of a clause, each in words of the sentence."""

    front: list[Item]
    """What stands before the subject, and in each of its statements."""
    spare: list[Item]
    """What stands before the subject and may be left out."""
    core: list[int]
    """The verb, and all that belongs to what it says."""
    details: list[list[int]]
    """Phrases behind the verb that may be left out."""
    asides: list[int]
    """Verbs of subordinate clauses that are said to be so."""


class ParsedSentence(Phrases):
    """One parsed sentence, and what may be taken out of it."""

    def statements(self) -> tuple[Statement, ...]:
        """What the sentence says; one statement with all of its words where no cut is safe."""
        everything: list[Item] = list(range(len(self.tokens)))
        if all(self.is_mark):
            return (Statement(self.text, Span(0, len(self.text))),)
        facts = list(self._parts()) if self._may_be_cut() else [everything]
        if len(facts) > _MOST_FACTS:
            facts = [everything]
        whole = [fact for fact in facts if self._is_whole(fact)]
        if len(whole) < len(facts):
            facts = [*whole, everything] if len(whole) > 1 else [everything]
        return tuple(sorted(dict.fromkeys(map(self.tell, facts)), key=lambda s: s.own))

    # --- what is safe -------------------------------------------------------------------------

    def _may_be_cut(self) -> bool:
        tokens, root = self.tokens, self.root
        subject = self.subject(root)
        if subject is None or subject > root:
            return False
        if self.finite(root) is None or self.low[0] in _NEVER_CUT:
            return False
        if min(tokens[root].sure, tokens[subject].sure) < SURE:
            return False
        return not any(self._is_misread(place) for place in range(len(tokens)))

    def _is_misread(self, place: int) -> bool:
        """Whether a word cannot be what the parser takes it for, or ends what may be cut."""
        token = self.tokens[place]
        tag, relation, head = token.tag, token.relation, self.tokens[token.head]
        if self.low[place] in ("?", "\u2026", "...", ":", ";"):
            return True
        if self.is_mark[place]:
            return bool(self.kids[place]) or relation in _PHRASES
        subjects = [i for i in self.of(place, "nsubj", "nsubjpass") if not self.is_mark[i]]
        is_clause = relation in ("advcl", "ccomp") and self.finite(place) is not None
        is_owned = bool(self.of(place, "det", "poss"))
        if tag in NOUNS:
            is_misread = relation == "relcl" or (
                is_owned and relation == "conj" and head.tag[0] == "V"
            )
        else:
            is_misread = tag in FINITE and (is_owned or relation in ("nsubj", "nsubjpass"))
        is_torn = relation == "npadvmod" and is_owned and token.sure < SURE and not token.entity
        is_headless = is_clause and self.subject(place) is None
        return len(subjects) > 1 or is_misread or is_torn or is_headless

    def _is_whole(self, fact: Sequence[Item]) -> bool:
        """Whether a fact has more than one word, and its beginning and end."""
        first, *rest = [item for item in fact if item != ","]
        if not rest or isinstance(first, str):
            return False
        is_torn = first and (self.tokens[first].tag in _NO_BEGINNING or self.low[first] == "not")
        last = rest[-1]
        if len(rest) == 1 and isinstance(last, int) and self.low[last] in WORDS["reporting"]:
            return False  # `she says`
        return not (is_torn or (isinstance(last, int) and self.tokens[last].tag in _NO_END))

    # --- clauses ------------------------------------------------------------------------------

    def _clause(
        self, verb: int, subject: list[Item], lead: list[Item], shared: Sequence[int] = ()
    ) -> Iterator[list[Item]]:
        """The statements of a clause: `lead` opens each, `shared` are helping verbs of all."""
        own = self.subject(verb)
        if subject and own in self.cut:
            own = None
        chain = self._chain(verb)
        self.cut.update(chain, *(self.of(one, "cc") for one in [verb, *chain] if chain))
        parts = [i for i in self.kids[verb] if not self.is_mark[i] and i not in self.cut]
        scoped = self._is_bound(verb, parts)
        start = verb if own is None else self.under(own)[0]
        clause = _Clause([*lead], [], [verb, *shared], [], [])
        for kid in parts:
            if kid == own or kid in lead or self._is_link(kid, start):
                continue
            if (not scoped or self.is_set_off(kid)) and self._is_stated(kid, verb):
                clause.asides.append(kid)
                if self.tokens[kid].relation == "advcl" and self.opening(kid) in {*_CONTRASTS, ""}:
                    continue
            is_phrase = self.tokens[kid].relation in ("prep", "advcl", "npadvmod")
            if kid > start or (own is None and not is_phrase):
                self._place(kid, clause, parts, scoped=scoped)
            else:
                is_free = not scoped and self._is_free(kid, clause)
                words = self.under(kid)
                comma = [","] if self.low[words[-1] + 1 : words[-1] + 2] == [","] else []
                (clause.spare if is_free else clause.front).extend([*words, *comma])
        if own is not None:
            subject = [i for i in self.under(own) if i < verb]
            clause.core.extend(i for i in self.under(own) if i > verb)
        yield from self._tellings(clause, subject, parts, scoped=scoped)
        yield from self._joined(verb, chain, subject, [*clause.front, *clause.spare], shared)
        for aside in clause.asides:
            yield from self._adverbial(aside, subject, verb, lead)

    def _is_bound(self, verb: int, parts: Sequence[int]) -> bool:
        """Whether a word reaches over the clause, or a doubtful parse: nothing is left out."""
        inner = ("pobj", "pcomp", "nsubj", "dobj", "advcl", "prep")
        reach = [verb]
        for kid in parts:
            if self._is_stated(kid, verb) and self.is_set_off(kid):
                continue
            if self.tokens[kid].relation in ("prep", "advcl"):
                reach += [kid, *(i for i in self.kids[kid] if self.tokens[i].relation not in inner)]
            elif self.tokens[kid].relation != "ccomp":
                reach += self._said_of(kid)
        is_torn = len(self.of(verb, "dobj")) > 1
        return (
            is_torn
            or self.is_scoped(reach)
            or any(
                self.tokens[i].relation in ("appos", "relcl", "conj") and self.is_crossed(i)
                for i in self.under(verb)
            )
        )

    def _said_of(self, place: int) -> list[int]:
        """The words of a phrase, without clauses that only say which one is meant."""
        inner = [i for i in self.kids[place] if self.tokens[i].relation not in ("relcl", "acl")]
        return [place, *(word for kid in inner for word in self._said_of(kid))]

    def _is_link(self, kid: int, start: int) -> bool:
        """Whether a word only links the clause to another one."""
        relation = self.tokens[kid].relation
        if (relation == "mark" and self.tokens[kid].head != self.root) or (
            relation == "intj" and self.low[kid] not in ("no", "a")  # `Plan A`
        ):
            return True
        is_since_then = kid > 0 and self.tokens[kid - 1].tag == "IN"
        is_apart = kid < start and not is_since_then
        is_apart |= relation == "advmod" and self.is_set_off(kid)
        is_word = relation in ("cc", "preconj", "advmod") and self.low[kid] in WORDS["connectives"]
        is_word &= not self.kids[kid] and self.low[kid + 1 : kid + 2] != ["of"]  # `instead of`
        is_joint = self.tokens[self.tokens[kid].head].relation == "conj"
        return is_apart and (is_word or (is_joint and self.low[kid] in ("so", "yet")))

    def _is_free(self, kid: int, clause: _Clause) -> bool:
        """Whether a phrase at the beginning may be left out."""
        if kid - 1 in clause.spare and self.tokens[kid].tag in ("IN", "RP") and not self.kids[kid]:
            return True  # `from 2016 on`
        if self.low[kid] in _BESIDES or self.low[kid : kid + 2] == ["in", "addition"]:
            return True
        is_setting = self.low[kid] in _SETTINGS and self.has_happened(clause.core[0])
        is_setting &= self.is_closed(kid) and self.is_firm(kid)
        return self.is_time(kid) or kid in clause.asides or is_setting

    def _place(self, kid: int, clause: _Clause, parts: Sequence[int], *, scoped: bool) -> None:
        """Put a phrase of a clause into its core, or among what may be left out."""
        verb, words, details = clause.core[0], self.under(kid), clause.details
        if (origin := self._origin(kid, verb)) is not None:
            held = next((detail for detail in details if origin in detail), clause.core)
            held += words
            return
        has_happened = self.has_happened(verb)
        before = self.low[details[-1][0]] if details else ""
        goes_on = self.low[kid] == "to" and before not in ("", "on")
        goes_on |= bool(details) and self.low[words[0]] in ("a", "an")  # `an hour`
        if before == "from" and self.of(kid, "npadvmod"):  # `from 6 million the year before`
            goes_on |= words[0] == details[-1][-1] + 1
        if kid > verb and goes_on:
            details[-1] += words
        elif kid > verb and (
            kid in clause.asides
            or (not scoped and has_happened and self.is_detail(kid, verb, parts))
        ):
            details.append(words)
        else:
            inner = [] if scoped or kid < verb else self.inner_details(kid)
            details += inner
            clause.core.extend(i for i in words if not any(i in phrase for phrase in inner))

    def _origin(self, kid: int, verb: int) -> int | None:
        """The `from` that a phrase goes on with: `from 9 in May to 11 in June`."""
        origin = next((i for i in self.of(verb, "prep") if self.low[i] == "from"), kid)
        if origin >= kid:
            return None
        behind = [i for i in self.under(verb) if i > origin and self.tokens[i].relation == "prep"]
        goal = next((i for i in behind if self.low[i] == "to"), None)
        if goal is None:
            return None
        first, last = self.under(kid)[0], self.under(goal)[-1]
        is_dated = goal > self.under(origin)[-1] + 1 and self.is_time(kid) and first == last + 1
        return origin if first <= goal or is_dated else None

    def _tellings(
        self, clause: _Clause, subject: list[Item], parts: Sequence[int], *, scoped: bool
    ) -> Iterator[list[Item]]:
        """A clause without its details, if it says something, and with each of them."""
        verb, core = clause.core[0], clause.core
        told = [self.under(kid) for kid in clause.asides if self.subject(kid) is not None]
        is_enough = (
            all(detail in told for detail in clause.details)
            or self.says_more(verb, [i for i in parts if i in core])
            or (
                bool(self.of(verb, "auxpass"))
                and self.low[verb] not in WORDS["states"] | WORDS["needy"]
            )
        )
        if is_enough and clause.spare:
            plain = next(self.spread(sorted(core), core, verb, scoped=scoped))
            yield [*clause.front, *clause.spare, *subject, *plain]
        opening = clause.front if is_enough else [*clause.front, *clause.spare]
        for detail in [*([[]] if is_enough else []), *clause.details]:
            for one in self.spread(sorted({*core, *detail}), detail or core, verb, scoped=scoped):
                yield [*opening, *subject, *one]

    # --- joined verbs -------------------------------------------------------------------------

    def _joined(
        self,
        verb: int,
        chain: Sequence[int],
        subject: list[Item],
        front: list[Item],
        shared: Sequence[int],
    ) -> Iterator[list[Item]]:
        """The statements of the verbs that are joined to one."""
        helpers = self.helped(verb)[1:] or list(shared)
        holds = any(
            isinstance(i, int)
            and (self.low[i] in WORDS["hedges"] or self.tokens[i].relation == "mark")
            for i in front
        )
        for other in chain:
            own = self.subject(other)
            is_later = any(
                self.is_time(i) or self.low[i] in WORDS["later"] for i in self.kids[other]
            )
            opening = front if holds or (own is None and not is_later) else []
            is_full = self.finite(other) is not None and not self._is_passive_too(verb, other)
            kept = [] if own is not None or is_full else helpers
            yield from self._clause(other, [] if own is not None else subject, opening, kept)
            if own is not None:
                subject = list(self.under(own))

    def _chain(self, verb: int) -> list[int]:
        """The verbs that are joined to one and stand alone with its subject, or with their own."""
        found, links, last = [], self.of(verb, "cc"), verb
        while True:
            nexts = [i for i in self.of(last, "conj") if self.tokens[i].tag[0] in "VM"]
            if len(nexts) != 1 or nexts[0] in self.cut:
                break
            last = nexts[0]
            found.append(last)
            links += self.of(last, "cc")
        if any(self.low[i] not in ("and", "but") for i in links):
            return []
        if not links and any(self.subject(one) is None for one in found):
            return []
        is_sure = all(self.tokens[i].sure >= SURE for i in found)
        return found if is_sure and all(self._stands_alone(verb, one) for one in found) else []

    def _stands_alone(self, verb: int, other: int) -> bool:
        tokens, subject = self.tokens, self.subject(other)
        if self.of(verb, "ccomp"):
            return False
        finite, main = self.finite(other), self.finite(verb)
        if subject is not None:
            is_short = bool(self.of(verb, "auxpass")) and self.low[other].endswith("ed")
            is_short &= all(i == subject or self.is_mark[i] for i in self.kids[other])
            is_torn = self.low[subject] == "it" and self.low[self.subject(verb) or 0] != "it"
            return finite is not None and not (is_short or is_torn)  # `and the lamp replaced`
        embedded = [i for i in range(verb + 1, other) if tokens[i].relation in EMBEDDED | {"relcl"}]
        if main is None or any((self.finite(i) is None) == (finite is None) for i in embedded):
            return False
        if finite is None:
            agrees = tokens[other].tag == tokens[verb].tag
        else:  # not `is high and painted white`, `did not open and hire`
            agrees = finite != other or tokens[other].tag in ("VBZ", tokens[main].tag)
            agrees |= tokens[other].tag == "VBD" and (
                self.low[main] not in ("is", "are") and tokens[main].tag != "MD"
            )
            is_turned = any(self.low[i] == "but" for i in self.of(verb, "cc"))
            agrees &= not (is_turned and self._is_passive_too(verb, other))
        between = [i for i in self.kids[verb] if verb < i < other and not self.is_mark[i]]
        has_object = any(tokens[i].relation != "cc" for i in between)
        return agrees and not self.of(verb, "neg") and (has_object or not self.of(other, "dobj"))

    def _is_passive_too(self, verb: int, other: int) -> bool:
        """Whether a joined verb is a participle: `was built in 1968 and renovated in 1997`."""
        needs = ("nsubj", "dobj", "aux", "auxpass", "acomp", "xcomp")
        is_bare = self.low[other].endswith("ed") or self.low[other] in WORDS["participles"]
        is_bare &= not self.of(other, *needs)
        return bool(self.of(verb, "auxpass")) and is_bare and self.low[other] not in WORDS["alone"]

    # --- subordinate clauses ------------------------------------------------------------------

    def _is_stated(self, kid: int, verb: int) -> bool:
        """Whether what an adverbial clause says is said to be so."""
        relation, opening, subject = self.tokens[kid].relation, self.opening(kid), self.subject(kid)
        if relation not in ("prep", "advcl") or not self.is_firm(kid) or self.finite(verb) is None:
            return False
        if relation == "prep":
            return self.has_happened(verb) and self.low[kid] in _GERUNDS and any(
                self.tokens[i].tag == "VBG" and self.subject(i) is None
                for i in self.of(kid, "pcomp")
            )  # fmt: skip
        if subject is not None:
            is_named = self.low[subject] not in _PRONOUNS or subject in self.named
            is_named &= all(self.low[i] not in WORDS["hedges"] for i in self.of(kid, "advmod"))
            is_sure = self.is_past(kid) and opening != "as"
            is_sure |= opening in _REASONS and (
                opening in ("because", "although", "though", "whereas") or self.is_set_off(kid)
            )
            return is_sure and is_named and opening in _STATED
        words = self.under(kid, full=True)
        edge = words[-1] + 1 if words[0] == 0 else words[0] - 1
        is_over = self.is_past(verb) or self.low[self.finite(verb) or verb] in ("has", "have")
        is_bare = words[0] == kid and self.tokens[kid].tag == "VBG"
        is_bare &= self.low[kid] not in WORDS["loose"]  # the event does so, not its subject
        return is_bare and is_over and self.low[edge : edge + 1] == [","]

    def _adverbial(
        self, kid: int, subject: list[Item], verb: int, lead: list[Item]
    ) -> Iterator[list[Item]]:
        """The statements of an adverbial clause; what has no tense is told in the past."""
        if self.subject(kid) is not None:
            opening = self.of(kid, "mark")[:1] or [0]
            self.cut.update(
                i  # `when`, and what is before `because`: `mainly because`
                for i in self.of(kid, "advmod")
                if self.tokens[i].tag == "WRB" or i < opening[0]
            )
            yield from self._clause(kid, [], lead)
            return
        verb = self.of(kid, "pcomp")[0] if self.tokens[kid].relation == "prep" else kid
        rest = [i for i in self.under(verb) if i != verb]
        yield [*lead, *subject, past_of(self.low[verb]), *rest]

    def _parts(self) -> Iterator[list[Item]]:
        """The statements of the sentence, and of what stands behind its nouns."""
        asides = [i for i in range(len(self.tokens)) if self.is_aside(i)]
        self.cut.update(asides)
        yield from self._clause(self.root, [], [])
        for place in asides:
            token = self.tokens[place]
            noun = self.whose(token.head)
            about: list[Item] = list(self.under(noun))
            plural = self.tokens[noun].tag in PLURAL or bool(self.of(noun, "conj"))
            if token.relation == "appos":
                yield [*about, be(plural=plural, past=False), *self.under(place)]
            elif token.relation == "acl" and self.low[place - 1] == "(":
                yield [*about, be(plural=plural, past=True), *self.under(place)]
            elif token.relation == "acl":
                lasts = self.low[place] in WORDS["states"] and not self.is_past(self.root)
                yield from self._clause(place, [*about, be(plural=plural, past=not lasts)], [])
            else:
                opener = self.opener(place)
                named = [i for i in self.under(opener) if self.low[i] != "whose"]
                if len(named) < len(self.under(opener)):
                    about = [*about, "'s", *named]
                self.cut.add(opener)
                is_subject = self.tokens[opener].relation in SUBJECTS
                yield from self._clause(place, about if is_subject else [], [])
        for place, token in enumerate(self.tokens):
            is_plain = token.entity == "NORP" and token.tag == "JJ" and not self.kids[place]
            if is_plain and token.relation == "amod" and self.is_identity(token.head):
                verb = self.tokens[self.first(token.head)].head
                yield [*self.under(self.whose(token.head)), verb, place]
            if token.relation == "attr" and token.tag == "NN" and self.is_identity(place):
                yield from self._identity(place)

    def _identity(self, noun: int) -> Iterator[list[Item]]:
        """What the subject is, in a noun; and where it is from."""
        verb, subject = self.tokens[noun].head, self.under(self.whose(noun))
        articles = [i for i in self.of(noun, "det") if self.low[i] in ("a", "an")]
        if not articles or self.low[subject[0]] == "there" or self.finite(verb) != verb:
            return
        phrases = self.of(noun, "prep")
        for phrase in phrases:
            if self.low[phrase] == "from" and self.is_firm(phrase):
                yield [*subject, verb, *self.under(phrase)]
        kept = [i for i in phrases if self.low[i] == "of"] + self.of(noun, "compound")
        kinds = [noun, *articles, *(word for i in kept for word in self.under(i))]
        is_less = self.of(noun, "amod") or len(phrases) > sum(i in kept for i in phrases)
        if is_less and _UNREAL.isdisjoint(self.low[i] for i in self.kids[noun]):
            yield [*subject, verb, *sorted(kinds)]
