"""What an English sentence states: its clauses, and details with the smallest clause around them.

Needed words (`roles`) make the core of a clause, and each detail is told together with the core;
lists are told one member at a time. Relative clauses, participles, appositions and titles are told
of their nouns, and what somebody says with who says it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from itertools import product
from typing import NamedTuple

from factcheck.judges.local.phrases import (
    COUNTING,
    NONE,
    SAYING,
    Detail,
    Part,
    Phrases,
    Sayer,
    Words,
)
from factcheck.judges.local.roles import BE, COMPLEMENTS, Freedom
from factcheck.judges.local.tree import (
    AMOUNTS,
    BRACKET,
    FINITE,
    NAMES,
    PLURAL,
    REGION,
    SUBJECTS,
    WORDS,
    is_person,
)
from factcheck.judges.local.wording import past_of, singular_noun
from factcheck.text.syntax import Token
from factcheck.text.words import irregular_forms, word_set

MOST = 40
"""Propositions of one sentence."""
_DO = word_set("do does did")
_PAST = word_set(
    "came became went did saw took undertook gave wrote began ran drove ate fell flew grew knew "
    "rose arose spoke stole swam threw wore broke chose drank forgot froze rode rang sang sank "
    "shook swore tore woke withdrew quit"
)
"""Forms of verbs that are no participles."""
_SHIFTED = word_set("had would could might")
_NO_SUBJECTS = word_set("JJ RB MD VB PRP$")
"""Tags of words that the parser takes for a subject by mistake; of verbs, the base form."""
_ALONE = WORDS["intransitive"] | WORDS["alone"]
_TAKING = WORDS["transitive"] | word_set(
    "wrote directed produced designed built painted composed edited recorded "
    "writes directs produces designs builds paints composes edits records"
)
"""Verbs that may say something of the object of the next."""
_LASTING = WORDS["states"] | word_set(
    "led run headed backed funded managed chaired planned perched nestled tucked hidden surrounded"
)
"""Participles that tell what still is: `The group, led by Anna Kern, hopes to win`."""
_SITES = frozenset({"FAC", "GPE", "LOC"})
"""Kinds of entities that stay where they are."""
_BUILDINGS = word_set(
    "airport bridge castle cathedral center centre church college gardens hall hospital hotel "
    "house museum palace park prison school stadium station theater theatre university"
)
_KIN = word_set(
    "husband wife partner girlfriend boyfriend son daughter brother sister mother father uncle aunt"
)
_HEADS = word_set(
    "leader chairman chairwoman chair president captain head boss manager chief founder mayor "
    "coach owner director editor governor minister secretary"
)
"""Of these, there is one: `Ann Orr is the council leader`."""
_WORDING = word_set(
    "word words name term phrase letter number title nickname question year month day line slogan "
    "designation form code symbol motto date"
)
"""Before names, these do not say what is named."""
_UNKNOWN = word_set("a an this that these those some any no")
"""Before a noun, these do not say which one is meant."""
_NAMING = word_set("compound conj cc case det poss bracket punct nmod")
"""Relations of words to a name that they are part of."""
_SHARES = word_set("some most many several few one two three four five half none all each")
"""Before `of`, what a phrase behind the noun is about: `some of the men, bound for Ulm`."""
_FORMERLY = word_set("once formerly previously")
_AT_FIRST = _FORMERLY | {"initially", "originally"}
_OFTEN = word_set("often usually sometimes generally commonly always typically normally")


class Proposition(NamedTuple):
    """Something that a sentence says."""

    segments: tuple[Words | str, ...]
    """Words of the sentence, and words that are added between them."""
    kind: str
    head: int
    """The word that the others depend on."""
    core: int | None = None
    """Which one of the propositions this adds a detail to."""
    singular: int | None = None
    """A verb of several that is told of one."""


class Propositions(Phrases):
    """One parsed sentence, and what it says."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        super().__init__(text, tokens)
        self._found: list[Proposition] = []

    def read(self) -> list[Proposition]:
        """Return what the sentence says, each core before its details.

        At most `MOST` propositions; none of a sentence with a semicolon or a quotation in another,
        and of one without a verb only when its works are from.
        """
        subject = self.subject(self.root) if self.tokens and ";" not in self.low else None
        quotes = {i for i, token in enumerate(self.tokens) if token.tag in ("``", "''")}
        marks = {self.tokens[i].text in ("'", "\u2018", "\u2019") for i in quotes}
        if subject is None and all(token.tag[0] not in "VM" for token in self.tokens):
            self._dates()
        if subject is None or len(marks) > 1:  # nested quotations stay as they are
            return self._found
        is_led = bool(self.of(subject, "det"))
        if (self.tokens[subject].tag in _NO_SUBJECTS and not is_led) or self._has_aside():
            return []
        self._clause(self.root, None, kind="main")
        seen: set[int] = set()
        while len(self._found) < MOST and (rest := [i for i in self._own if i not in seen]):
            seen.add(rest[0])
            self._tell_own(rest[0], self._own[rest[0]])
        self._titles()
        self._descriptions()
        self._kinds()
        self._places()
        return self._found[:MOST]

    def _dates(self) -> None:
        """Tell when the works of a list are from: `The Long Road (2007) and Candy (2006)`."""
        for place, token in enumerate(self.tokens):
            if token.relation == BRACKET:
                self._tell_aside(place, frozenset(self.name(token.head)))

    def _has_aside(self) -> bool:
        """Tell whether somebody says the words around: `The delay, she said, would help`."""
        for place, token in enumerate(self.tokens[:-1]):
            is_saying = self.low[place] in WORDS["saying"] and self.low[place + 1] == ","
            is_aside = is_saying and token.relation in ("appos", "parataxis", "relcl")
            if is_aside and self.is_set_off(place) and self.subject(place) is not None:
                return True
        return False

    # --- clauses ------------------------------------------------------------------------------

    def _clause(
        self,
        verb: int,
        subjects: Sequence[Part] | None,
        *,
        kind: str,
        sayers: tuple[Sayer, ...] = (),
        shared: Words = NONE,
    ) -> None:
        """Tell a clause, and those that are joined to it.

        Args:
            verb: Its verb.
            subjects: Who or what it is about; `None` if it has a subject of its own.
            kind: How the clause came about.
            sayers: Who says it.
            shared: Helping verbs and conditions of the clause that it is joined to.
        """
        if verb in self.told:
            return
        self.told.add(verb)
        denied = any(self.denies(i) for sayer in sayers for i in sayer.says)
        free = Freedom(drop=False, split=False) if denied else self.freedom(verb)
        subjects = subjects or self._subjects(verb, free)
        is_saying = self.low[verb] in SAYING
        if self.low[verb] not in ("told", "tells"):
            is_saying &= not self.of(verb, "dobj")  # `It is rare, they found traces of it`
        parted = [k for k in self.of(verb, "ccomp") if k < verb and not is_saying]
        parted = [k for k in parted if not self.is_inverted(k)]
        said = [k for k in self.of(verb, "ccomp") if k not in parted and self.is_said(verb, k)]
        said += [k for k in self.of(verb, "conj") if said and self.opening(k) == "that"]
        self.hidden.update(said, parted)
        lead = shared | frozenset(self.of(verb, "mark") if self.is_condition(verb) else ())
        for place in parted:  # `Volumes were flat: the growth came from prices.`
            self._clause(place, None, kind="joined", sayers=sayers)
        self._sayers = sayers
        opening = self.of(verb, "mark")[:1]
        if kind == "clause" and opening:  # `partly because`, `two days after`
            measures = self.of(verb, "advmod", "npadvmod")
            self.hidden.update(k for k in measures if k < opening[0])
        together = self._or(verb, is_denied=denied)
        self.told |= together
        parts = self._members_of(verb, free._replace(split=free.split and not said), together)
        parts = self._with_shared_object(verb, parts, free)
        for place in said:
            says = parts[0].words | lead | frozenset(self.of(place, "mark"))
            sayer = Sayer(NONE.union(*(subject.words for subject in subjects)), says)
            self._said(place, (*sayers, sayer), parts[0].details)
        if not said:
            self._combine(verb, subjects, parts, kind, sayers, lead)
        self._joined(verb, subjects, sayers, shared, said)

    def _is_lead(self, words: Words, verb: int, subject: Part) -> bool:
        """Tell whether a detail leads a joined verb: `It grew and, by May, had become a firm`."""
        last = max(words, default=verb)
        is_between = min(words, default=0) > max(subject.words, default=0) and last < verb
        return is_between and self.subject(verb) is None and self.low[last + 1] == ","

    def _with_shared_object(self, verb: int, parts: list[Part], free: Freedom) -> list[Part]:
        """Return what a verb says with the object of the next: `found and removed a tumour`."""
        taken = self._object_behind(verb) if self.low[verb] in _TAKING else None
        if taken is None or self.of(verb, *COMPLEMENTS):
            return parts
        return [
            Part(part.words | each.words, (*part.details, *each.details), part.noun)
            for part in parts
            for each in self._below(taken, free)
        ]

    def _object_behind(self, verb: int) -> int | None:
        """Return the object of the verb that `and` or a comma joins right behind one."""
        for kid in self.of(verb, "conj"):
            if kid == verb + 2:
                return next(iter(self.of(kid, "dobj")), None)
        return None

    def _combine(
        self,
        verb: int,
        subjects: Sequence[Part],
        parts: Sequence[Part],
        kind: str,
        sayers: tuple[Sayer, ...],
        lead: Words,
    ) -> None:
        spare = self._spare(verb)
        for number, (subject, part) in enumerate(product(subjects, parts)):
            noun = subject.noun
            is_one = noun is not None and not (
                self.is_plural(noun) or self.low[noun] in WORDS["bundles"]
            )
            is_listed = noun is not None and len(self.listed(self.first(noun))) > 1
            singular = self.finite(verb) if is_listed and len(subjects) > 1 and is_one else None
            if singular is not None and self.low[singular] not in ("were", "are"):
                singular = singular if self.tokens[singular].tag == "VBP" else None
            words = subject.words | part.words | lead
            core = self._put((words,), "list" if number else kind, verb, None, sayers, singular)
            for detail in (*part.details, *subject.details):
                own = words - spare if self._is_beside(verb, detail) else words
                segments: tuple[Words, ...] = (own | detail.words,)
                if not sayers and self._is_lead(detail.words - own, verb, subject):
                    segments = (detail.words - own, own)
                of = core if own == words else None
                self._put(segments, detail.kind, verb, of, sayers, singular)

    def _spare(self, verb: int) -> Words:
        """Return a needed phrase in whose place others may stand: `was born in May in Ulm`."""
        needed = self.needed_phrase(verb)
        if needed is None or self.low[verb] in BE:
            return NONE
        is_either = self.is_time(needed) or self.low[verb] == "born"
        return frozenset(self.under(needed)) if is_either else NONE

    def _is_beside(self, verb: int, detail: Detail) -> bool:
        """Tell whether a detail is a phrase of a verb, not of another phrase."""
        return not detail.words.isdisjoint(self.of(verb, "prep", "npadvmod"))

    def _said(self, verb: int, sayers: tuple[Sayer, ...], details: Sequence[Detail]) -> None:
        """Tell what somebody says; the details of saying go with the first."""
        first = len(self._found)
        self._clause(verb, None, kind="said", sayers=sayers)
        if first < len(self._found):
            start, *rest = self._found[first].segments
            for detail in details:
                if not rest and not isinstance(start, str):
                    self._put((start | detail.words,), detail.kind, verb, first)

    def _joined(
        self,
        verb: int,
        subjects: Sequence[Part],
        sayers: tuple[Sayer, ...],
        shared: Words,
        said: Sequence[int],
    ) -> None:
        """Tell the clauses that are joined to one."""
        is_link = self.tokens[verb].tag in FINITE and bool(self.of(verb, "acomp", "attr"))
        helpers = frozenset(i for i in self.helped(verb)[not is_link :] if self.low[i] not in _DO)
        says = Sayer(NONE.union(*(s.words for s in subjects)), frozenset(self.helped(verb)))
        over = [k for k in self.of(verb, "advcl") if self.is_condition(k)]
        over += [k for k in self.of(verb, "prep") if self.low[k] == "according" and k < verb]
        for kid in self.of(verb, "conj"):
            is_object = self.low[self.start(kid)] == "that" and self.opening(kid) == "that"
            is_object &= self.subject(kid) is not None and not sayers
            if not self.is_verb(kid) or is_object:
                continue
            holds = NONE.union(shared, *(self.under(k) for k in over if not verb < k < kid))
            own = self.subject(kid) is not None
            if said and self._is_said_too(verb, kid):
                inner = None if own else self._subjects(said[-1], self.freedom(said[-1]))
                self._clause(kid, inner, kind="joined", sayers=(*sayers, says))
                continue
            passed = None if own else [subject._replace(details=()) for subject in subjects]
            is_joint = any(self.tokens[i].tag in PLURAL for i in self.of(kid, "attr"))
            noun = self.subject(verb)
            if noun is not None and passed and len(passed) > 1 and is_joint:
                passed = [Part(frozenset(self.under(noun)))]  # `Ann and Tom ran, and were friends`
            is_helped = self.finite(kid) not in (None, kid)  # `was well, tested and was freed`
            lead = holds - frozenset(self.helped(self.first(kid)) if is_helped else ())
            if self._lacks_helper(verb, kid):
                is_active = self.of(verb, "auxpass") and self.of(kid, "dobj")
                is_whole = self.of(kid, "auxpass") or is_active  # `will be sold and cost 6 euros`
                lead |= helpers - frozenset(self.of(verb, "auxpass") if is_whole else ())
            if self.low[verb] in BE and self.tokens[kid].tag == "VB":
                lead -= {verb}  # `are old and need repair`
            self._clause(kid, passed, kind="joined", sayers=sayers, shared=lead)

    def _is_said_too(self, verb: int, kid: int) -> bool:
        """Tell whether what is joined to a verb is said as well, not told beside it."""
        if self.subject(kid) is None:
            is_parted = self.low[kid - 2 : kid] == [",", "and"]
            return self.low[kid] not in SAYING and (self.low[verb] in SAYING or not is_parted)
        return self._is_quoted(kid) or self._is_shifted(verb, kid)

    def _is_quoted(self, verb: int) -> bool:
        """Tell whether a clause has words of somebody else: `and staff were "angry"`."""
        words = self.under(verb) or [verb]
        marks = {self.low[i] for i in range(words[0] - 1, words[-1]) if self.is_mark[i]}
        return not marks.isdisjoint('"\u201c') and self.low[verb] not in SAYING

    def _is_shifted(self, verb: int, kid: int) -> bool:
        """Tell whether a clause has the tense of what was said: `said it sank, but he would`."""
        helpers = {self.low[i] for i in self.helped(kid)[1:]}
        link = self.start(kid) - 1
        is_near = self.low[link] == "and" and not self.is_mark[link - 1]
        is_near &= self.low[verb] in ("said", "reported", "added")
        is_said = self.is_past(verb) and self.low[kid] not in SAYING
        return is_said and (is_near or not helpers.isdisjoint(_SHIFTED))

    def _or(self, verb: int, *, is_denied: bool) -> Words:
        """Return the words of clauses told with one: `sold or closed`, `not eat and run`."""
        links = self.of(verb, "cc")
        is_open = is_denied or any(self.low[k] in ("or", "nor") for k in links)
        is_not = bool(self.of(verb, "neg"))
        told = [
            kid
            for kid in self.of(verb, "conj")
            if is_open
            or (is_not and self._is_base(kid) and not self.of(kid, "aux"))
            or (self.subject(kid) is not None and self._lacks_helper(verb, kid))
            or self.low[self.start(kid) - 1] in ("or", "nor")
            or self._may_share_object(verb, kid)
        ]
        return NONE.union(links, *(self.under(k) for k in told)) if told else NONE

    def _may_share_object(self, verb: int, kid: int) -> bool:
        """Tell whether a verb may have the object of the next: `salvaged and sold two ships`."""
        is_next = kid in (verb + 2, verb + 3) and self.subject(kid) is None
        is_known = self.low[verb] in _TAKING or self.low[verb] in _ALONE
        has_object = bool(self.of(verb, *COMPLEMENTS, "prt", "auxpass"))
        is_full = has_object or any(k > verb for k in self.of(verb, "prep", "advmod", "npadvmod"))
        return is_next and bool(self.of(kid, "dobj")) and not (is_known or is_full)

    def _lacks_helper(self, verb: int, kid: int) -> bool:
        """Tell whether a joined verb has the helping verb of the first: `will run and go`."""
        subject = self.subject(kid)
        if subject is not None and self.tokens[subject].tag == "PRP":
            return False  # `was interned, but he escaped`
        own = self.of(kid, "aux", "auxpass", "mark")
        is_led = any(self.low[i] == "to" or self.tokens[i].relation == "mark" for i in own)
        if is_led or (own and self.finite(kid) is not None):
            return False
        tags = (self.tokens[verb].tag, self.tokens[kid].tag)
        if self.finite(kid) is None:
            return tags != ("VBN", "VB")  # not `were cut and now lead`
        is_modal = any(self.tokens[i].tag == "MD" for i in self.of(verb, "aux"))
        is_told = self.low[kid] in WORDS["commanding"]  # `was fined and ordered to pay`
        is_bare = not self.of(kid, "dobj", "acomp", "attr", "ccomp")
        is_bare &= is_told or not self.of(kid, "xcomp")
        is_alone = self.low[kid] in _ALONE
        is_participle = is_bare and not is_alone and self.tokens[kid].tag in ("VBD", "VBN")
        is_participle &= self.low[kid] not in _PAST
        is_passive = bool(self.of(verb, "auxpass")) and is_participle
        return is_passive or (is_modal and self._is_base(kid))

    def _is_base(self, verb: int) -> bool:
        low = self.low[verb]
        return low not in irregular_forms() and not low.endswith(("ed", "s"))

    def _put(
        self,
        segments: tuple[Words | str, ...],
        kind: str,
        head: int,
        core: int | None,
        sayers: tuple[Sayer, ...] = (),
        singular: int | None = None,
    ) -> int:
        for name, says in reversed(sayers):
            inner = NONE.union(*(each for each in segments if not isinstance(each, str)))
            first = min(inner, default=0)
            if len(segments) == 1 and max(name | says) < first:
                segments = (name | says | inner,)
            elif first and self.tokens[first - 1].text in ('"', "\u201c"):
                segments = (name, says, ":", *segments)
            else:
                segments = (name, says, *segments)
        whole = tuple(each if isinstance(each, str) else self._glued(each) for each in segments)
        self._found.append(Proposition(whole, kind, head, core, singular))
        return len(self._found) - 1

    def _glued(self, words: Words) -> Words:
        """Return words with those that hyphens join to them: all of `2007-08`."""
        found = set(words)
        for one, two in self._hyphenated:
            if one in found or two in found:
                found |= {one, two}
        return frozenset(found)

    @cached_property
    def _hyphenated(self) -> list[tuple[int, int]]:
        pairs = []
        for place in range(1, len(self.tokens) - 1):
            before, mark, after = self.tokens[place - 1 : place + 2]
            is_tight = before.start + len(before.text) == mark.start == after.start - len(mark.text)
            if mark.text in ("-", "--", "\u2013", "/") and is_tight:
                pairs.append((place - 1, place + 1))
        return pairs

    def _subjects(self, verb: int, free: Freedom) -> list[Part]:
        noun = self.subject(verb)
        if noun is None or self.tokens[noun].relation == "expl":
            return [Part(NONE)]
        if self.is_verb(noun):
            return [Part(frozenset(self.under(noun)))]
        articles = [self.low[i] for i in self.of(noun, "det")]
        drop = self.tokens[noun].tag in NAMES or (free.drop and articles in (["a"], ["an"]))
        roles = [
            i for k in self.of(verb, "prep") if self.low[k] == "as" for i in self.of(k, "pobj")
        ]
        kinds = [i for i in [*self.of(verb, "attr"), *roles] if self.tokens[i].tag in PLURAL]
        own = self.finite(verb)
        is_one = own is not None and self.low[own] in ("is", "was", "has") and own > noun
        is_one &= all(self.low[i] != "as" for i in self.of(noun, "cc"))
        return self._expand(noun, Freedom(drop, free.split and not (kinds or is_one)))

    # --- what phrases say of their own --------------------------------------------------------

    def _tell_own(self, place: int, sayers: tuple[Sayer, ...]) -> None:
        token = self.tokens[place]
        head = token.head
        of_nouns = {
            BRACKET: self._bracket,
            REGION: self._region,
            "appos": self._apposition,
            "relcl": self._relative,
        }
        if token.relation in of_nouns:
            of_nouns[token.relation](place)
        elif token.relation == "acl":
            self._participle(
                place, self._whose(head) if self.is_beside(place) else self._about(head)
            )
        elif (parts := self.absolute(place)) is not None:
            if not sayers:
                self._participle(parts[1], parts[0])
        elif self.subject(place) is not None:
            is_own = self._is_own_remark(place)
            self._clause(place, None, kind="clause", sayers=() if is_own else sayers)
        elif (subject := self._doer(self.main(head))) is not None:
            verb = self.gerund(place) if token.relation == "prep" else place
            if verb is not None and not sayers:
                self._participle(verb, subject)

    def _bracket(self, place: int) -> None:
        """Tell of a name what stands in brackets: `Anna (born in 1990)`, `Titanic (1997)`."""
        self._tell_aside(place, self._short(self.tokens[place].head, place))

    def _tell_aside(self, place: int, name: Words) -> None:
        for said in self.aside(place):
            self._put((name, said), "participle", place, None)

    def _region(self, place: int) -> None:
        """Tell in what a place is: `Ulm, Germany` as `Ulm is in Germany`."""
        smaller = self._short(self.tokens[place].head, place)
        self._put((smaller, "is in", self._name(place)), "place", place, None)

    def _doer(self, verb: int) -> int | None:
        """Return the subject of a verb, or the noun that `who` and `which` stand for."""
        subject = self.subject(verb)
        if subject is None or self.tokens[subject].tag not in ("WDT", "WP"):
            return subject
        return (
            self._whose(self.tokens[verb].head) if self.tokens[verb].relation == "relcl" else None
        )

    def _short(self, noun: int, without: int) -> Words:
        """Return a noun with what it needs to be known by, without a phrase that is told of it."""
        free = Freedom(drop=self.tokens[noun].tag in NAMES, split=False)
        self.hidden.add(without)
        if self._is_joined(noun, without):
            return self._expand(noun, free)[0].words
        return self._members_of(noun, free)[0].words

    def _is_joined(self, noun: int, place: int) -> bool:
        """Tell whether what stands at a place is said of a list, not of its first noun alone."""
        return any(kid < place for kid in self.of(noun, "conj"))

    def _about(self, noun: int) -> int:
        """Return what a sentence is about, for a phrase that follows more than a noun."""
        subject = self.subject(self.tokens[noun].head)
        return noun if subject is None else subject

    def _whose(self, noun: int) -> int:
        """Return who or what a phrase behind a noun is about."""
        head = self.first(noun)
        phrase = self.tokens[head].head
        if self.low[phrase] == "of" and self.low[self.tokens[phrase].head] in _SHARES:
            noun = head = self.tokens[phrase].head
        subject = self.subject(self.tokens[head].head)
        is_said = self.tokens[head].relation == "attr" and self.tokens[noun].tag not in NAMES
        if subject is None or not is_said or self.low[subject] in ("there", "it", "this"):
            return noun
        return noun if self.is_negated(self.tokens[head].head) else subject

    def _be(self, noun: int, place: int, *, past: bool) -> str:
        is_many = self.low[noun] in _SHARES - {"one", "none", "each"}
        is_many |= self.is_plural(noun) or self._is_joined(noun, place)
        if is_many:
            return "were" if past else "are"
        return "was" if past else "is"

    def _apposition(self, place: int) -> None:
        noun = self.tokens[place].head
        beside = [k for k in self.kids[noun] if self.tokens[k].relation != "appos"]
        counted = [noun, *beside, *self.kids[place], *range(self.start(place), place)]
        counted = [i for i in counted if self.low[i + 1 : i + 2] != ["-"]]  # `a 52-year-old man`
        counted = [i for i in counted if i == place or self.tokens[i].relation != "appos"]
        is_counted = any(self.tokens[i].tag == "CD" or self.low[i] == "only" for i in counted)
        articles = [[self.low[i] for i in self.of(k, "det")] for k in (noun, place)]
        is_list = bool(self.of(place, "conj")) and articles[0] == articles[1] != []
        is_many = self.is_plural(noun) or self.low[noun] in WORDS["bundles"]
        is_list |= len(self.listed(self.first(noun))) > 2  # noqa: PLR2004 - `Ann, a judge, and Tom`
        is_list |= bool(self.of(place, "conj")) and not (is_many or self.tokens[noun].tag in NAMES)
        end = self.under(place)[-1] + 1
        is_subject = any(token.tag in FINITE for token in self.tokens[end : end + 1])
        is_other = self.low[self.start(place) - 1] == "not"  # `a tax, not a retreat`
        is_other |= any(self.low[k] in ("not", "then") for k in self.kids[place])
        is_other |= ["that"] in articles  # `said that striker, Tom Orr, left`
        is_other |= self.tokens[noun].tag[0] == "V"  # `It is, they believe, a sign`
        is_other |= self.low[noun][0] == '"' and self.tokens[place].entity == "PERSON"
        if is_counted or is_list or is_subject or is_other:
            return
        about = self._short(self._whose(noun), place)
        is_one = self.tokens[noun].tag not in PLURAL
        is_past = any(self.low[i] in _FORMERLY | {"late"} for i in self.under(place))
        link = self._be(noun, place, past=is_past)
        for part in self._expand(place, Freedom(drop=False, split=is_one)):
            one, other = about, part.words
            if self.tokens[place].tag in NAMES and self.tokens[noun].tag not in NAMES:
                one, other = other, one
            self._put((one, link, other), "apposition", place, None)

    def _relative(self, verb: int) -> None:
        openers = [k for k in self.kids[verb] if self.tokens[k].tag in ("WDT", "WP", "WRB")]
        subject = self.subject(verb)
        owners = (
            []
            if subject is None
            else [k for k in self.of(subject, "poss") if self.low[k] == "whose"]
        )
        if owners and subject is not None:
            owned = frozenset(self.under(subject)) - {owners[0]}
            about = self._short(self.tokens[verb].head, verb)
            for part in self._members_of(verb, self.freedom(verb)):
                self._put((about, "'s", owned | part.words), "relative", verb, None)
        is_led = any(
            self.tokens[i].tag in ("WDT", "WP")
            for k in self.of(verb, "prep")
            for i in self.of(k, "pobj")
        )
        if is_led and subject is not None:
            self._clause(verb, None, kind="relative")  # `a battle, during which a friend helped`
        if owners or not openers:
            return
        relation = self.tokens[openers[0]].relation
        if relation in SUBJECTS:
            noun = self._whose(self.tokens[verb].head)
            self._clause(verb, [Part(self._short(noun, verb))], kind="relative")
        if relation == "advmod" and self.has_happened(verb):  # not `in Norway, where it is legal`
            self._clause(verb, None, kind="relative")

    def _participle(self, verb: int, noun: int) -> None:
        """Tell a participle of a noun: `Anna, born in Ulm` as `Anna was born in Ulm`."""
        token, main = self.tokens[verb], self.tokens[verb].head
        while self.finite(main) is None and self.tokens[main].head != main:
            main = self.tokens[main].head
        is_past = self.has_happened(main)
        lasts = any(self.low[i] in _OFTEN for i in self.of(verb, "advmod"))
        lasts = not self.is_past(main) and (lasts or self.low[verb] in _LASTING)
        lasts &= all(self.low[i] not in _AT_FIRST for i in self.of(verb, "advmod"))
        link = self._be(noun, verb, past=not lasts if token.tag != "VBG" else is_past)
        helpers = [i for i in self.helped(verb) if self.low[i] in ("having", "being")]
        gone = frozenset(helpers)
        if helpers and self.low[helpers[0]] == "having":
            link = "had"
        elif not helpers and token.tag == "VBG" and is_past:
            link, gone = past_of(self.low[verb]), frozenset({verb})
        about = self._short(noun, verb)
        kind = "participle"
        spare = self._spare(verb)
        together = self._or(verb, is_denied=False)  # `neither banned nor forgotten`
        for part in self._members_of(verb, self.freedom(verb), together):
            words = part.words - gone
            core = self._put((about, link, words), kind, verb, None)
            for detail in part.details:
                own = words - spare if self._is_beside(verb, detail) else words
                of = core if own == words else None
                self._put((about, link, own | detail.words), detail.kind, verb, of)
            kind = "list"
        for kid in self.of(verb, "conj"):
            is_alike = token.tag == "VBN" and self.tokens[kid].tag == "VBD"
            is_alike |= self.tokens[kid].tag in ("VBN", "VBG")
            if is_alike and kid not in together:
                self._participle(kid, noun)

    def _titles(self) -> None:
        """Tell what stands before a name: `actress Meg Ryan` as `Meg Ryan is an actress`."""
        for noun, token in enumerate(self.tokens):
            if token.tag != "NNP" or token.relation == "compound":
                continue
            before = [k for k in self.of(noun, "compound", "nmod", "amod") if k < noun]
            common = [k for k in before if self.tokens[k].tag == "NN"]
            is_named = any(self.tokens[k].entity for k in [noun, *before] if k not in common)
            if not common or not is_named:
                continue
            name = {noun, *(w for k in before if k > common[-1] for w in self.under(k))}
            title = {w for k in before if k <= common[-1] for w in self.under(k)}
            if self.low[common[-1] - 1] == "-" or any(self.of(k, "det") for k in common):
                continue
            is_role = is_person(self.low[common[-1]])
            if is_role if token.entity == "PERSON" else len(name) > 1:
                is_owned = any(self.tokens[i].tag in ("PRP$", "DT") for i in title)
                if self.low[common[-1]] in _KIN and len(title) == 1:
                    continue  # `husband Tom`: whose?
                is_one = self.low[common[-1]] in _HEADS and self.low[min(title)] != "former"
                self._title(frozenset(name), frozenset(title), noun, owned=is_owned, one=is_one)

    def _descriptions(self) -> None:
        """Tell what stands before a name as a noun: `the film Titanic` as `Titanic is a film`."""
        for place, token in enumerate(self.tokens):
            noun = token.head
            is_name = token.relation == "appos" and token.tag in NAMES and not self.is_mark[place]
            if not is_name or self.tokens[noun].tag != "NN" or self.start(place) != noun + 1:
                continue
            kids = [k for k in self.kids[noun] if k < noun]
            led = [k for k in kids if self.tokens[k].relation in ("det", "poss")]
            is_known = len(led) == 1 and self.low[led[0]] not in _UNKNOWN
            is_any = any(self.is_singling(k) for k in kids) or self.low[noun] in _WORDING
            is_any |= any(self.tokens[k].entity in AMOUNTS for w in kids for k in self.under(w))
            if not is_known or is_any or self.of(place, "conj", "appos"):
                continue
            is_one = self.low[noun] in _HEADS
            is_owned = self.low[led[0]] != "the"
            what = {noun, *(w for k in kids if k not in led or is_owned for w in self.under(k))}
            self._title(self._name(place), frozenset(what), place, owned=is_owned, one=is_one)

    def _title(self, name: Words, title: Words, place: int, *, owned: bool, one: bool) -> None:
        """Tell what somebody or something is: `Meg Ryan is an actress`, `... is Orr's friend`."""
        link = ("is",) if owned else ("is", "the" if one else "a")
        self._put((name, *link, title), "title", place, None)

    def _name(self, place: int) -> Words:
        """Return the words of a name, without what may be added to it."""
        return self._members_of(place, Freedom(drop=True, split=False))[0].words

    def _kinds(self) -> None:
        """Tell what examples are: `films such as Titanic` as `Titanic is a film`."""
        for noun, first, sayers in dict.fromkeys(self._examples):
            one = singular_noun(self.low[noun])
            before = [k for k in self.of(noun, "amod", "compound", "nmod") if k < noun]
            kind = frozenset(
                w for k in before if self.low[k] not in COUNTING for w in self.under(k)
            )
            for place in self.listed(first) if one else ():
                is_name = self.tokens[place].tag in NAMES
                is_name &= self.tokens[place].entity not in ("GPE", "LOC")  # `states such as Ohio`
                if not is_name or any(
                    self.tokens[k].relation not in _NAMING for k in self.kids[place]
                ):
                    continue
                self._put((self._name(place), "is", "a", kind, one), "title", place, None, sayers)

    def _places(self) -> None:
        """Tell where what is named is: `Kezar Stadium in San Francisco`."""
        for place, token in enumerate(self.tokens):
            noun = token.head
            if self.tokens[noun].tag not in NAMES or place != noun + 1 or self.low[place] != "in":
                continue
            goals = [k for k in self.of(place, "pobj") if self.tokens[k].entity == "GPE"]
            is_any = any(self.low[k] in ("a", "an") for k in self.of(noun, "det"))
            is_site = self.tokens[noun].entity in _SITES or self.low[noun] in _BUILDINGS
            if goals and is_site and not is_any:
                where = frozenset({place}) | self._short(goals[0], place)
                self._put((self._short(noun, place), "is", where), "place", place, None)
