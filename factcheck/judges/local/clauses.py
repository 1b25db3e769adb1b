"""The clauses of an English sentence, each detail and each member of a list told alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from factcheck.judges.local import forms
from factcheck.judges.local.grammar import (
    NOUNS,
    PLACES,
    SUBJECTS,
    TELLING,
    WORDS,
    Grammar,
    Item,
)
from factcheck.text.words import word_set

_COMPLEMENTS = word_set("dobj attr acomp xcomp ccomp oprd agent dative")
_LOAD_BEARING = SUBJECTS | word_set("ROOT cc conj relcl appos advcl ccomp dobj attr")
"""Relations that decide where a sentence is cut."""
PHRASES = _LOAD_BEARING | word_set("acl prep pobj npadvmod advmod")
"""Relations of words, which no mark has."""
EMBEDDED = word_set("ccomp pcomp csubj csubjpass xcomp advcl acl parataxis")
"""Relations of clauses whose content the sentence need not state as a fact."""
SURE = 0.5
"""Least probability of each load-bearing word of what is told on its own."""
_SCOPES = WORDS["scopes"]
"""Words by which leaving a detail out may change whether a sentence is true."""
HEDGES = WORDS["hedges"]
"""Words that hold for every verb they may reach."""
_CONNECTIVES = WORDS["connectives"]
_CONTRASTS = word_set("although though while whereas")
_STATED = _CONTRASTS | word_set("because after when since")
"""What opens a clause that is itself said to be so, if the clause around it is."""
_GERUNDS = word_set("after before by upon while since")
"""What opens a phrase in -ing of something that happened, too."""
_LATER = WORDS["later"]
_INSEPARABLE = WORDS["inseparable"]
"""Prepositions of phrases that belong to what the verb says."""
_NEEDY = WORDS["needy"]
"""Verbs whose object says too little without the phrase behind it: `put us in a small room`."""
_OUTER = WORDS["outer"]
"""Prepositions of phrases behind a name or noun that says enough without them."""
_BESIDES = word_set("besides along apart aside despite")
_PRONOUNS = word_set("he she it they this that these those")
_BE = word_set("is was are were be been 's")
_ALONE = WORDS["alone"]
"""Verbs on `-ed` that need no object: `was born in Ulm and moved to Bonn`."""
_NOT_SAYING = word_set("deny denies denied ask asks asked add adds added expect expects expected")


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


class Clauses(Grammar):
    """One parsed sentence, and what each of its clauses says."""

    # --- what is safe -------------------------------------------------------------------------

    def _is_crossed(self, place: int) -> bool:
        """Whether a word between this one and its head hangs on one outside: a wrong parse."""
        low, high = sorted((place, self.tokens[place].head))
        return self.low[place] not in ("including", "such", "as") and any(
            not low <= self.tokens[i].head <= high for i in range(low + 1, high)
        )

    def _is_firm(self, place: int) -> bool:
        """Whether the parser is sure of all that decides what belongs to a phrase."""
        return all(
            (self.tokens[i].sure >= SURE or self.tokens[i].relation not in _LOAD_BEARING)
            and not self._is_crossed(i)
            for i in self.under(place, full=True)
        )

    def _is_scoped(self, places: Iterable[int]) -> bool:
        """Whether a word is among these by which a shorter sentence may say something else."""
        return any(
            self.low[i] in _SCOPES
            or (self.tokens[i].tag == "MD" and self.low[i] not in ("will", "'ll"))
            or (self.tokens[i].tag in ("JJR", "RBR") and "than" in self.low)
            or (
                self.tokens[i].tag in ("JJS", "RBS")
                and self.low[i : i + 2] != ["best", "known"]
                and self.low[max(i - 3, 0) : i] != ["one", "of", "the"]
            )
            or self.tokens[i].relation in ("preconj", "neg")
            for i in places
        )

    def _is_hedged(self, verb: int) -> bool:
        """Whether a source or a hedge holds for all that stands with a verb."""
        return any(self.low[i] in HEDGES for i in self.kids[verb])

    # --- clauses ------------------------------------------------------------------------------

    def _clause(
        self, verb: int, subject: list[Item], lead: list[Item], shared: Sequence[int] = ()
    ) -> Iterator[list[Item]]:
        """The statements of the clause of a verb.

        Args:
            verb: Its verb.
            subject: Who does it, if the clause does not say so itself.
            lead: What has to be said before each statement.
            shared: Helping verbs and hedges of a clause before it that hold for this one too.
        """
        own = self.subject(verb)
        if subject and own is not None and own in self.cut:
            own = None
        chain = self._chain(verb)
        self.cut.update(i for one in [verb, *chain] for i in self.of(one, "cc") if chain)
        self.cut.update(chain)
        parts = [i for i in self.kids[verb] if not self.is_mark[i] and i not in self.cut]
        scoped = self._is_scoped([verb, *(i for kid in parts for i in self._reach(kid))]) or any(
            self.tokens[i].relation in ("appos", "relcl", "conj") and self._is_crossed(i)
            for i in self.under(verb)
        )
        start = verb if own is None else self.under(own)[0]
        clause = _Clause([*lead], [], [verb, *shared], [], [])
        said = None if scoped else self._said(verb, parts)
        for kid in parts:
            is_left_out = kid in (own, said) or kid in lead or self._is_left_out(kid, start)
            if not scoped and self._is_stated(kid, verb):
                clause.asides.append(kid)
                is_clause = self.tokens[kid].relation == "advcl"
                is_left_out = is_clause and self.opening(kid) in (_CONTRASTS | {""})
            if not is_left_out and (kid > verb or not self._opens(kid, own, start)):
                self._place(kid, clause, parts, scoped=scoped)
            elif not is_left_out:
                is_free = not scoped and self._is_free(kid, clause)
                (clause.spare if is_free else clause.front).extend(self._with_comma(kid))
        if own is not None:
            subject = [i for i in self.under(own) if i < verb]
            clause.core.extend(i for i in self.under(own) if i > verb)
        if said is not None:
            source = [*clause.front, *clause.spare, *subject, *sorted(clause.core)]
            marks = self.of(said, "mark")
            for statement in self._clause(said, [], []):
                is_marked = statement[0] in [i for i, word in enumerate(self.low) if word == "that"]
                yield [*source, *([] if is_marked else marks), *statement]
        else:
            yield from self._tellings(clause, subject, parts, scoped=scoped)
        yield from self._joined(verb, chain, subject, [*clause.front, *clause.spare], shared)
        for aside in clause.asides:
            yield from self._adverbial(aside, subject, verb, lead)

    def _said(self, verb: int, parts: Sequence[int]) -> int | None:
        """The clause of what somebody says, if it is all that follows the verb."""
        if self.low[verb] not in TELLING - _NOT_SAYING or self.finite(verb) != verb:
            return None
        last = parts[-1] if parts else verb
        is_clause = self.tokens[last].relation == "ccomp" and last > verb
        is_clause &= self.tokens[last].sure >= SURE and not self._is_crossed(last)
        has_own = is_clause and self.subject(last) is not None and self.finite(last) is not None
        return last if has_own and self.opening(last) in ("", "that") else None

    def _is_left_out(self, kid: int, start: int) -> bool:
        """Whether a word only links the clause to another one."""
        relation = self.tokens[kid].relation
        if (relation == "mark" and self.tokens[kid].head != self.root) or (
            relation == "intj" and self.low[kid] != "no"
        ):
            return True
        is_linked = kid < start and (not kid or self.tokens[kid - 1].tag != "IN")  # "since then"
        is_linked |= relation == "advmod" and self.is_set_off(kid)
        is_link = relation in ("cc", "preconj", "advmod") and self.low[kid] in _CONNECTIVES
        return is_link and is_linked

    def _opens(self, kid: int, own: int | None, start: int) -> bool:
        """Whether a phrase stands before the subject, or before the verb that has none."""
        is_phrase = self.tokens[kid].relation in ("prep", "advcl", "npadvmod")
        return kid < start and (own is not None or is_phrase)

    def _is_free(self, kid: int, clause: _Clause) -> bool:
        """Whether a phrase at the beginning may be left out."""
        if self.low[kid] in _BESIDES or self.low[kid : kid + 2] == ["in", "addition"]:
            return True
        is_phrase = self.is_time(kid) or kid in clause.asides or (
            self.low[kid] in _OUTER and any(
                self.tokens[i].entity in PLACES for i in self.of(kid, "pobj"))
        )  # fmt: skip
        return is_phrase and self._has_happened(clause.core[0], clause.core[1:])

    def _place(self, kid: int, clause: _Clause, parts: Sequence[int], *, scoped: bool) -> None:
        """Put a phrase of a clause into its core, or among what may be left out."""
        verb, words, details = clause.core[0], self.under(kid), clause.details
        has_happened = self._has_happened(verb, clause.core[1:])
        before = self.low[details[-1][0]] if details else ""
        goes_on = (self.low[kid] == "to" and before not in ("", "on")) or (
            self.low[kid] in ("until", "till", "through") and before == "from"
        )
        goes_on |= (
            before == "with"
            and self.low[kid] in ("in", "on", "at")
            and words[0] == details[-1][-1] + 1
            and not any(self.tokens[i].entity for i in self.of(kid, "pobj"))
        )  # `with pain in the knee`
        goes_on &= self.tokens[kid].relation == "prep"
        is_rate = self.tokens[kid].relation == "npadvmod" and self.low[words[0]] in ("a", "an")
        goes_on |= is_rate and bool(details) and words[0] == details[-1][-1] + 1
        if kid > verb and goes_on:
            details[-1] += words
        elif kid > verb and (
            kid in clause.asides
            or (has_happened and not scoped and self._is_detail(kid, verb, parts))
        ):
            details.append(words)
        else:
            inner = [] if scoped or kid < verb else self._inner_details(kid)
            details += inner
            clause.core.extend(i for i in words if not any(i in phrase for phrase in inner))

    def _says_more(self, verb: int, parts: Iterable[int]) -> bool:
        """Whether something stands behind a verb that completes it."""
        return any(
            self.tokens[i].relation in _COMPLEMENTS | {"prep"} for i in parts if i > verb
        )  # fmt: skip

    def _tellings(
        self, clause: _Clause, subject: list[Item], parts: Sequence[int], *, scoped: bool
    ) -> Iterator[list[Item]]:
        """A clause without its details, if it says something, and with each of them."""
        verb, core = clause.core[0], clause.core
        says_more = self._says_more(verb, [i for i in parts if i in core])
        details = [[], *clause.details] if says_more or not clause.details else clause.details
        spare = clause.spare if not details[0] else []
        opening = clause.front if spare or not clause.spare else [*clause.front, *clause.spare]
        if spare:
            plain = next(self.spread(sorted(core), core, verb, scoped=scoped))
            yield [*opening, *spare, *subject, *plain]
        for detail in details:
            predicate = sorted({*core, *detail})
            for one in self.spread(predicate, detail or core, verb, scoped=scoped):
                yield [*opening, *subject, *one]

    def _with_comma(self, phrase: int) -> list[Item]:
        """An opening phrase, with the comma that follows it in the sentence."""
        words = self.under(phrase)
        return [*words, ","] if any(self.is_mark[words[-1] + 1 :][:1]) else [*words]

    def _has_happened(self, verb: int, shared: Sequence[int]) -> bool:
        """Whether a verb tells of one time or person, and holds also without saying where."""
        subject = self.subject(verb)
        if subject is not None and self.tokens[subject].entity == "PERSON":
            return True
        helpers = [verb, *self.of(verb, "aux", "auxpass"), *shared]
        return self.tokens[verb].relation == "acl" or any(
            self.tokens[i].tag == "VBD" or self.low[i] in ("has", "have", "will") for i in helpers
        )

    def _reach(self, kid: int) -> list[int]:
        """The words of a phrase whose scope may go beyond it."""
        inner = ("pobj", "pcomp", "nsubj", "dobj", "advcl", "prep")
        if self.tokens[kid].relation in ("prep", "advcl"):
            return [kid, *(i for i in self.kids[kid] if self.tokens[i].relation not in inner)]
        return [] if self.tokens[kid].relation == "ccomp" else self.under(kid)

    def _joined(
        self,
        verb: int,
        chain: Sequence[int],
        subject: list[Item],
        front: list[Item],
        shared: Sequence[int],
    ) -> Iterator[list[Item]]:
        """The statements of the verbs that are joined to one."""
        helpers = self.of(verb, "aux", "auxpass") or list(shared)
        hedges = [
            i for i in self.kids[verb] if self.low[i] in HEDGES and i < verb and i not in front
        ]
        holds = any(
            isinstance(i, int) and (self.low[i] in HEDGES or self.tokens[i].relation == "mark")
            for i in front
        )
        for other in chain:
            own = self.subject(other)
            is_later = any(self.is_time(i) or self.low[i] in _LATER for i in self.kids[other])
            opening = front if holds or (own is None and not is_later) else []
            is_full = self.finite(other) is not None and not self._is_passive_too(verb, other)
            needs = [*hedges, *([] if is_full else helpers)]
            kept = [] if own is not None else needs
            yield from self._clause(other, [] if own is not None else subject, opening, kept)
            if own is not None:
                subject = list(self.under(own))

    def _chain(self, verb: int) -> list[int]:
        """The verbs that are joined to one and stand alone with its subject, or with their own."""
        found, last = [], verb
        while True:
            nexts = [
                i for i in self.of(last, "conj")
                if self.tokens[i].tag[0] in "VM" and i not in self.cut
            ]  # fmt: skip
            links = self.of(last, "cc")
            if len(nexts) != 1 or self.of(last, "preconj"):
                break
            if any(self.low[i] not in ("and", "but") for i in links):
                return []
            last = nexts[0]
            found.append(last)
            own = self.under(last, full=True)
            if links and own[0] < links[-1]:
                return []
            if links and not set(own).issuperset(
                i for i in range(links[-1] + 1, last) if not self.is_mark[i]
            ):
                return []  # a noun that should be its subject
        links = [i for one in [verb, *found] for i in self.of(one, "cc")]
        if not links and any(self.subject(one) is None for one in found):
            return []
        link = min(self.of(verb, "cc"), default=len(self.tokens))
        if any(
            found and i > min(link, found[0]) and not self.is_mark[i]
            for i in self.kids[verb]
            if i not in found
        ):
            return []  # a phrase between or behind them, which may belong to either
        is_sure = all(self.tokens[i].sure >= SURE and not self._is_crossed(i) for i in found)
        return found if is_sure and all(self._stands_alone(verb, one) for one in found) else []

    def _stands_alone(self, verb: int, other: int) -> bool:
        conditions = [i for i in self.of(other, "advcl") if i > other and self.opening(i)
                      and self.opening(i) not in _STATED]  # fmt: skip
        tells = {verb, other} if self.subject(other) is not None else set()
        has_told = any(self.tokens[i].relation == "ccomp" for i in self.kids[verb])
        if conditions or (has_told and not TELLING.issuperset(self.low[i] for i in tells)) or (
            has_told and not tells):  # fmt: skip
            return False
        finite = self.finite(other) is not None
        subject = self.subject(other)
        if subject is not None:
            is_short = bool(self.of(verb, "auxpass")) and self.low[other].endswith("ed")
            is_short &= all(i == subject or self.is_mark[i] for i in self.kids[other])
            has_link = any(self.tokens[i].tag[0] == "W" for i in self.under(subject))
            return finite and not is_short and not has_link  # `and the lamp replaced`
        embedded = [
            i for i in range(verb + 1, other)
            if self.tokens[i].relation in EMBEDDED or self.tokens[i].relation == "relcl"
        ]  # fmt: skip
        is_bare = not self.of(other, "aux", "auxpass")
        is_now = self.low[self.finite(verb) or verb] in ("is", "are")
        is_mixed = is_bare and is_now and self.tokens[other].tag == "VBD"
        is_plain = is_bare and not forms.is_past(self.low[other])
        is_bound = self.tokens[other].tag != "VBZ" and self.of(verb, "aux", "auxpass", "neg")
        is_turned = any(self.low[i] == "but" for i in self.of(verb, "cc"))
        is_mixed |= is_turned and self._is_passive_too(verb, other)
        if is_mixed or (finite and is_plain and is_bound):
            return False  # `is high and painted white`, `did not open and hire`
        if any((self.finite(i) is not None) == finite for i in embedded):
            return False
        if not finite and (self.of(verb, "neg") or self.tokens[other].tag != self.tokens[verb].tag):
            return False
        between = [i for i in self.kids[verb] if verb < i < other and not self.is_mark[i]]
        has_object = any(self.tokens[i].relation != "cc" for i in between)
        return self.finite(verb) is not None and (has_object or not self.of(other, "dobj"))

    def _is_passive_too(self, verb: int, other: int) -> bool:
        """Whether a joined verb is a participle: `was built in 1968 and renovated in 1997`."""
        needs = ("nsubj", "dobj", "aux", "auxpass", "acomp", "xcomp")
        is_bare = self.low[other].endswith("ed") and not self.of(other, *needs)
        return bool(self.of(verb, "auxpass")) and is_bare and self.low[other] not in _ALONE

    def _is_detail(self, kid: int, verb: int, parts: Sequence[int]) -> bool:
        """Whether a phrase may be left out, because the verb says something without it."""
        is_prep = self.tokens[kid].relation == "prep"
        is_time = self.is_time(kid)  # `ten miles off the cape` is no time
        measures = [i for i in self.of(verb, "npadvmod") if not self.is_time(i)]
        is_measured = not is_time and kid - 1 in [self.under(i)[-1] for i in measures]
        if not self._is_firm(kid) or is_measured or (is_prep and not self.kids[kid]):
            return False
        if not is_time and not is_prep:
            return False
        if self.low[kid] in _INSEPARABLE or (self.low[verb] in _NEEDY and not is_time):
            return False
        if self.low[verb] in _BE:
            return is_time or self.is_set_off(kid)
        return is_time or self._says_more(verb, [i for i in parts if i < kid])

    def _inner_details(self, kid: int) -> list[list[int]]:
        """Phrases at the end of a complement that says enough without them."""
        words, found = self.under(kid), []
        while phrase := next((i for i in words if self._is_outer(i, words[-1])), None):
            found.append(self.under(phrase))
            words = [i for i in words if i not in found[-1]]
        return found[::-1]

    def _is_outer(self, place: int, last: int) -> bool:
        token = self.tokens[place]
        head = self.tokens[token.head]
        if head.tag not in NOUNS or self.under(place)[-1] != last or not self._is_firm(place):
            return False
        if token.relation in ("relcl", "appos", "acl"):
            return self.is_set_off(place) and self.is_closed(place)
        return (
            token.relation == "prep"
            and self.low[place] in _OUTER
            and head.relation in ("dobj", "pobj", "attr")
            and not any(
                self.tokens[i].relation in ("conj", "relcl", "acl") and i not in self.cut
                for i in self.kids[token.head]
            )
            and any(self.tokens[i].entity for i in self.of(place, "pobj"))
        )

    def _is_stated(self, kid: int, verb: int) -> bool:
        """Whether what an adverbial clause says is said to be so."""
        finite = self.finite(verb)
        if finite is None or self.tokens[finite].tag == "MD" or self._is_hedged(verb):
            return False
        if self.tokens[kid].relation == "prep":
            inner = self.of(kid, "pcomp")
            is_done = self._has_happened(verb, []) and self._is_firm(kid)
            return is_done and self.low[kid] in _GERUNDS and any(
                self.tokens[i].tag == "VBG" and self.subject(i) is None for i in inner
            )  # fmt: skip
        if self.tokens[kid].relation != "advcl" or not self._is_firm(kid):
            return False
        opening = self.opening(kid)
        subject = self.subject(kid)
        if subject is not None:
            is_named = self.low[subject] not in _PRONOUNS or subject in self._named
            is_sure = opening in (_CONTRASTS | {"because"}) or self.is_past(kid)
            is_first = self.low[self.under(kid, full=True)[0]] == opening
            is_sure &= is_named and is_first and self.finite(kid) is not None
            return is_sure and opening in _STATED
        words = self.under(kid, full=True)
        edge = words[-1] + 1 if words[0] == 0 else words[0] - 1
        is_set_off = edge < len(self.tokens) and self.low[edge] == ","
        is_bare = words[0] == kid and len(words) > 1 and not self.of(kid, "aux", "auxpass", "neg")
        is_bare |= self.low[words[0]] == "having"
        is_over = self.is_past(verb) or self.low[finite] in ("has", "have")
        is_participle = (self.tokens[kid].tag == "VBG" and is_over) or (
            self.tokens[kid].tag == "VBN"
            and (words[0] == 0 or self.low[words[0]] == "having")
            and not self.of(kid, "dobj")
        )
        return opening == "" and is_set_off and is_bare and is_participle

    def _adverbial(
        self, kid: int, subject: list[Item], verb: int, lead: list[Item]
    ) -> Iterator[list[Item]]:
        """The statements of an adverbial clause; what has no tense is told in the past."""
        if self.subject(kid) is not None:
            self.cut.update(i for i in self.of(kid, "advmod") if self.tokens[i].tag == "WRB")
            yield from self._clause(kid, [], lead)
            return
        finite = self.finite(verb) or verb
        past = self.is_past(verb) or self.low[finite] in ("has", "have")
        plural = self.low[finite] == "were" or self.tokens[finite].tag == "VBP"
        first = self.of(kid, "pcomp")[0] if self.tokens[kid].relation == "prep" else kid
        each = [first, *(i for i in self.of(first, "conj") if self.tokens[i].tag == "VBG")]
        for one in each:
            gone = {i for other in each if other > one for i in self.under(other)}
            gone |= {one, *self.of(one, "cc")}
            rest = [i for i in self.under(one) if i not in gone]
            if self.low[min(self.under(one))] == "having":
                have = "had" if self.is_past(verb) else "have" if plural else "has"
                yield [*lead, *subject, have, *self.under(one)[1:]]
            elif self.tokens[one].tag == "VBN":
                yield [*lead, *subject, be(plural=plural, past=past), one, *rest]
            else:
                told = forms.past(forms.base_of_ing(self.low[one]))
                yield [*lead, *subject, told, *rest]


def be(*, plural: bool, past: bool) -> str:
    return ("were" if plural else "was") if past else ("are" if plural else "is")
