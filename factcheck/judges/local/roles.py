"""What a word of a sentence is for the word above it: needed, a detail, something else, or nothing.

A detail may be left out only where the statement stays true: not under a negation, a condition or
a superlative, and in the present only where it says what is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from enum import Enum, auto
from functools import cached_property
from itertools import pairwise, product
from typing import NamedTuple

from factcheck.judges.local.asides import told_of
from factcheck.judges.local.grammar import pairs_behind
from factcheck.judges.local.tree import (
    BRACKET,
    FINITE,
    NAMES,
    NOUNS,
    PLURAL,
    REGION,
    SUBJECTS,
    TIMES,
    WORDS,
    Tree,
    is_person,
)
from factcheck.text.syntax import Token
from factcheck.text.words import word_set

COMPLEMENTS = word_set("dobj attr acomp oprd xcomp ccomp dative")
_TYING = (*SUBJECTS, *COMPLEMENTS, "cc", "advmod")
"""Relations of words that only a verb has two of, or ties together."""
NOUN_LIKE = NOUNS | {"CD", "PRP"}
BE = word_set("is was are were be been being 's 're 'm")
_PERFECT = word_set("has have had 've having")
_LIKELY = word_set("could might would")
_CONDITIONS = word_set("if unless whether once until provided lest whenever")
_TIMELESS = word_set("when while as before after")
"""What opens a clause that is a condition in the present."""
_FACTIVE = word_set("after when because although though while whereas since as before")
"""What opens a clause that is itself said to be so."""
_CONTRASTS = word_set("although though whereas while")
_RULES = word_set("can may must shall should")
_GERUNDS = word_set("after before upon while since")
_BOUND = word_set("of than to as between per according despite without except unlike about into")
"""What a noun needs behind it."""
_BOUND_TO_VERB = word_set("according as of than into without except unlike about like per")
_RESULTS = frozenset({"turned out", "turns out", "went on", "goes on", "gone on"})
_AIMING = word_set("on to for with")
_IN_NAMES = word_set("for on")
"""What a name may go on with: `the Minister for Health`."""
_RANKING = word_set("in on among at")
"""Before what a superlative holds for."""
_HEDGES = word_set(
    "reportedly allegedly apparently supposedly purportedly probably possibly perhaps presumably"
)
_ONLY = word_set("only solely merely")
_SOME = word_set("most some many few several certain")
_SEEING = word_set(
    "found find finds saw see sees seen kept keep keeps show shows showed shown heard hear "
    "involved involve involves"
)
"""These need what their object does: `found men suffering from it`."""
_HAVING = word_set("have has had having get gets got getting")
"""With an object, these say that something is done to it: `had a door installed`."""
_MEASURED = word_set("last lasts lasted lasting weigh weighs weighed stretch stretches stretched")
"""Verbs that say nothing without the time or the length behind them."""
_TAKING = WORDS["transitive"] | _MEASURED
_SINGLED_OUT = re.compile(
    r"(?:second|third|last|only|next|same|other|even|first|\d+(?:st|nd|rd|th)|[a-z]+th)\Z"
)
_RANK = re.compile(r"(?:first|second|third|[a-z]+th|\d[\d.,]*(?:st|nd|rd|th)?)\Z")
IN_PICTURE = re.compile(
    r"\((?:left|right|pictured|above|below|centre|center|cent|top|bottom|file)\b"
)
"""Opens a bracket that says where somebody stands in a picture."""
_YEAR = re.compile(r"1\d{3}|20\d\d")
_ANYBODY = word_set("someone somebody anyone anybody everyone everybody those one")
_RULERS = word_set("king queen emperor empress pope sultan tsar shah monarch ruler")
_EMPTY = word_set("made held used kept done given taken set put followed found seen left driven")
_TAKING_TIME = word_set("take takes took taken taking")
"""With a time, these say nothing without what it is needed for: `took a year to build`."""
_LEADING = word_set("in on at for of to out off over")
"""What is kept before a verb although its noun is read as another word's."""
_NEXT = word_set("followed preceded")
"""What is done so says nothing without what does it."""
_TRENDS = word_set("up down")
_PEOPLE = word_set("he she they we i")
_INNER = word_set("relcl acl advcl ccomp appos conj bracket parataxis csubj")
"""Relations of phrases whose negations are their own."""
_LINKS = word_set("punct mark cc conj preconj meta parataxis")
_OF_NOUNS = word_set("det poss amod compound")


class Role(Enum):
    """What a word is for the word above it."""

    NEEDED = auto()
    DETAIL = auto()
    OWN = auto()
    """It says something of its own."""
    OUT = auto()


class Freedom(NamedTuple):
    """What leaves a statement true."""

    drop: bool
    """Leaving out a detail."""
    split: bool
    """Telling the members of a list apart."""


class Roles(Tree):
    """One parsed sentence, and what its words are for."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        super().__init__(text, tokens)
        self.told: set[int] = set()
        """Verbs whose clauses were told."""
        self.hidden: set[int] = set()
        """Phrases that are told elsewhere: what somebody says, or what is told of a noun."""
        self.bound = range(0)
        """Characters of words that are never left out."""

    @cached_property
    def torn(self) -> frozenset[int]:
        """Words that the parser gives more of a kind than there can be, or what no verb has."""
        torn = set()
        for place, token in enumerate(self.tokens):
            kids = [i for i in self.kids[place] if not self.is_mark[i]]
            relations = [self.tokens[i].relation.replace("pass", "") for i in kids]
            is_doubled = any(
                relations.count(name) > 1 for name in ("nsubj", "relcl", "pobj", "dobj")
            )
            is_noun = token.tag in FINITE and not _OF_NOUNS.isdisjoint(relations)
            if is_doubled or is_noun:
                torn.add(place)
        return frozenset(torn)

    @cached_property
    def garbled(self) -> frozenset[int]:
        """Verbs that the parser ties together as no sentence does: no fact with them is one."""
        return frozenset(
            place
            for place, token in enumerate(self.tokens)
            if (token.relation == "conj" or self.of(place, *_TYING)) and self._is_garbled(place)
        )

    def _is_garbled(self, verb: int) -> bool:
        token = self.tokens[verb]
        subjects = [i for i in self.of(verb, "nsubj", "nsubjpass") if not self.is_mark[i]]
        values = [kid for kid in self.of(verb, "conj") if self.of(kid, "nummod")]
        if (
            len(subjects) > 1  # `the firm Peter Brett agreed`
            or any(
                "," in self.low[one:two] and self.of(two, "cc")
                for one, two in pairwise(self.of(verb, "dobj"))
            )
            # `rose 3 per cent in May and June and 5 per cent in July`
            or any(
                "," in self.low[one:two]
                for one, two in product(self.of(verb, "acomp"), self.of(verb, "attr"))
            )
            # `one third is due in May, one third in June`
            or (self.is_verb(verb) and any(self.subject(kid) is None for kid in values))
            or self.is_inverted(verb)
            or self._is_torn_saying(verb)
            or self._is_gapped(verb)
            or self._is_weighed(verb)
        ):
            return True
        head = self.tokens[token.head]
        if token.relation != "conj":
            return False
        if self._is_unlinked(verb) or any(self.low[i] == "having" for i in self.of(verb, "aux")):
            return True
        if self.of(verb, "aux", "auxpass"):
            return False
        is_alone = not any(self.tokens[i].tag == "MD" for i in self.helped(token.head))
        is_finite = head.tag in ("VBD", "VBZ") and is_alone
        is_base = token.tag == "VB" and (is_finite or head.tag == "VBG")
        return is_base or (token.tag == "VBG" and head.tag == "VB")

    def is_inverted(self, verb: int) -> bool:
        """Tell whether a helping verb stands before the subject: `Only then did he comply`."""
        subject = self.subject(verb)
        is_own = subject is not None and self.tokens[subject].tag in NOUN_LIKE
        return is_own and any(i < (subject or 0) for i in self.of(verb, "aux"))

    def _is_unlinked(self, verb: int) -> bool:
        """Tell whether no `and` joins a verb to another: `We help a man reported missing`."""
        links = [i for i, token in enumerate(self.tokens) if token.relation == "cc"]
        is_linked = any(i > self.first(verb) for i in links)
        first = self.start(verb)
        is_linked |= first == verb and self.low[first - 1] == ","  # `put it on, left the house`
        is_alone = self.is_verb(verb) and self.subject(verb) is None
        return is_alone and not is_linked

    def _is_gapped(self, verb: int) -> bool:
        """Tell whether a verb is left out of a list: `The mill burned in May, the dam in June`."""
        subject = self.subject(verb)
        counted = [k for k in self.of(verb, "dobj", "attr") if self.of(k, "nummod")]
        if any(self._is_other_count(k) for noun in counted for k in self.listed(noun)[1:]):
            return True  # `Spain won two medals and Italy three`
        people = [k for noun in self.of(verb, "attr") for k in self.listed(noun)[1:]]
        people = [k for k in people if self.tokens[k].entity == "PERSON"]
        if subject is not None and self.tokens[subject].entity == "PERSON" and people:
            return True  # `Anna Kern is the mayor and Tom Orr the treasurer`
        if self._has_pairs(verb):
            return True
        sides = [i for i in self.under(verb) if self.low[i] in ("for", "against")]
        for one, two in pairwise(sides):
            tags = [token.tag for token in self.tokens[one:two]]
            is_one = self.low[one] == self.low[two] or any(tag[0] == "V" for tag in tags)
            if not is_one and not {"CC", ","}.isdisjoint(tags[:-1]):
                return True  # `Two voted for it and three against`
        phrases = [k for k in self.of(verb, "prep", "agent") if k == verb + 1]
        return subject is not None and any(
            pairs_behind(self.tokens, phrase, subject) for phrase in phrases
        )

    def _has_pairs(self, verb: int) -> bool:
        """Tell whether a verb goes with two times: `In May it moved to Ulm and in June to Bonn`."""
        times = [k for k in self.kids[verb] if self.tokens[k].tag == "IN" and self.is_time(k)]
        links = [i for k in self.kids[verb] for i in self.of(k, "cc") if i > verb]
        behind = {link + 1 for link in links}
        inner = [i for k in self.kids[verb] for i in self.of(k, "conj")]
        is_second = any(i in behind and self.is_time(i) for i in [*times, *inner])
        return is_second and any(time < verb for time in times)

    def _is_other_count(self, noun: int) -> bool:
        """Tell whether a name in a list of things has a number behind it: `and Italy three`."""
        behind = [i for i in self.under(noun) if self.tokens[i].tag == "CD" and i >= noun]
        names = [i for i in self.under(noun) if self.tokens[i].tag in NAMES and i <= noun]
        return bool(behind and names) and behind[-1] == self.under(noun)[-1]

    def _is_torn_saying(self, verb: int) -> bool:
        """Tell whether a verb has two objects that do not go together.

        `Said that he saw it, assumed it was one`, but not `It grew and it may close, they say`.
        """
        said = self.of(verb, "ccomp")
        links = self.of(verb, "cc")
        for one, two in pairwise(said):
            is_joined = one < verb < two or any(one < link < two for link in links)
            if not is_joined or self.subject(one) is None or self.subject(two) is None:
                return True
        return False

    def freedom(self, verb: int) -> Freedom:
        main = self.main(verb)
        affirmed = not (self.is_negated(verb) or self.is_negated(main))
        is_ruled = any(self.is_condition(k) for k in self.of(main, "advcl"))
        is_real = self.has_happened(main) or self._will_happen(main)
        affirmed &= not self.is_condition(main) and (is_real or not is_ruled)
        is_participle = self.tokens[verb].relation in ("acl", "advcl", "pcomp")
        drop = is_real or is_participle or self._is_state(main)
        is_joint = any(self.low[i] == "together" for i in self.of(verb, "advmod"))
        is_joint |= self.low[verb - 1] in ("both", "each")  # `Anna and Tom both left`
        is_joint |= self.low[verb + 1 : verb + 2] == ["all"]
        is_joint |= self.low[verb] in WORDS["collective"] or self._is_matched(verb)
        return Freedom(affirmed and drop, affirmed and not is_joint)

    def _is_weighed(self, verb: int) -> bool:
        """Tell whether two things are weighed: `in steam rather than in oil`, `as much as in`."""
        is_rather = any(self.low[i] == "than" for i in self.of(verb, "cc"))
        much = [i for i in self.of(verb, "advmod") if self.low[i] == "much"]
        return is_rather or any(self.of(i, "prep") for i in much)

    def _is_matched(self, verb: int) -> bool:
        """Tell whether each subject has a rank of its own: `Ann and Tom came third and fifth`.

        So have they a role: `Ann and Tom are sister and brother`.
        """
        subject = self.subject(verb)
        names = [] if subject is None else self.listed(subject)
        others = [kid for kid in self.kids[verb] if kid != subject]
        lists = [self.listed(i) for kid in others for i in self.under(kid)]
        return any(
            len(names) == len(ranks) > 1
            and all(_RANK.match(self.low[i]) or self.low[i] in WORDS["people"] for i in ranks)
            for ranks in lists
        )

    def main(self, verb: int) -> int:
        """Return the verb that another goes with: `began` for `began to play`."""
        while self.finite(verb) is None and self.tokens[verb].relation in ("xcomp", "conj"):
            verb = self.tokens[verb].head
        return verb

    def has_happened(self, verb: int) -> bool:
        return any(
            self.tokens[i].tag == "VBD" or self.low[i] in _PERFECT for i in self.helped(verb)
        )

    def _will_happen(self, verb: int) -> bool:
        return any(self.low[i] in ("will", "'ll") for i in self.helped(verb))

    def _is_state(self, verb: int) -> bool:
        """Tell whether a clause in the present holds without its details, as `plays at home in`."""
        modals = {self.low[i] for i in self.of(verb, "aux") if self.tokens[i].tag == "MD"}
        is_ruled = not modals <= _LIKELY  # `may be kept with consent`, `must report within a day`
        subject = self.subject(verb)
        says_what = bool(self.of(verb, "dobj", "attr", "auxpass", "acomp"))
        if subject is not None:  # of one, not of a kind: `Orr hopes to win in May`
            says_what |= self.tokens[subject].tag in NAMES or self.low[subject] in ("he", "she")
        return says_what and not is_ruled and self.low[verb] not in WORDS["conditional"]

    def is_negated(self, verb: int) -> bool:
        near = [verb]
        for place in near:
            near += [k for k in self.kids[place] if self.tokens[k].relation not in _INNER]
        return any(self.denies(i) for i in near)

    def denies(self, place: int) -> bool:
        """Tell whether a word turns what is around it: `no`, `few`, but not `a few`."""
        is_some = place > 0 and self.low[place - 1 : place + 1] == ["a", "few"]
        return self.low[place] in WORDS["negative"] and not is_some

    def is_condition(self, verb: int) -> bool:
        return self.opening(verb) in _CONDITIONS

    def is_said(self, verb: int, kid: int) -> bool:
        """Tell whether a clause is the object of saying, thinking or being."""
        if self.finite(kid) is None or self.subject(kid) is None or self._is_asked(kid):
            return False
        subject = self.subject(verb)
        is_idle = subject is None or self.tokens[subject].relation == "expl"
        return self.low[verb] not in BE or not (is_idle or self.low[subject or 0] == "it")

    def _is_asked(self, verb: int) -> bool:
        """Tell whether a clause is a question: `how she left`, `if she left`."""
        is_led = any(self.tokens[i].tag in ("WRB", "WP", "WDT") for i in self.kids[verb])
        return is_led or self.opening(verb) in ("if", "whether")

    def is_identity(self, noun: int) -> bool:
        """Tell whether a noun says what the subject is: `Anna is a lawyer who ...`."""
        head = self.first(noun)
        verb = self.tokens[head].head
        subject = self.subject(verb) if verb in self.told else None
        if self.tokens[head].relation != "attr" or subject is None or self.is_negated(verb):
            return False
        is_known = self.tokens[subject].tag in NAMES or self.low[subject] in _PEOPLE
        return is_known and self._is_new(head)

    def _is_new(self, noun: int) -> bool:
        own = self.of(noun, "det", "poss")
        return not own or self.low[own[0]] in ("a", "an")

    def _is_open(self, noun: int, phrase: int) -> bool:
        """Tell whether a noun means the same without a phrase behind it."""
        if any(self.is_singling(kid) for kid in self.of(noun, "amod", "det", "nummod", "advmod")):
            return False  # `the oldest bridge in Ulm`
        if self.is_set_off(phrase) or self.tokens[noun].tag in NAMES:
            return True
        own = self.of(noun, "det", "poss")
        return not own or self.low[own[0]] in ("a", "an", "some", "several", "many", "another")

    def is_singling(self, kid: int) -> bool:
        """Tell whether a word before a noun picks one of several: `the oldest`, `the second`."""
        tags = {self.tokens[i].tag for i in self.under(kid)}
        return not tags.isdisjoint({"JJS", "RBS"}) or _SINGLED_OUT.match(self.low[kid]) is not None

    def _is_done_to(self, verb: int, gerund: int) -> bool:
        """Tell whether others than the subject do something: `After reading it, it was cut`."""
        subject = self.subject(verb)
        if subject is None or not self.of(verb, "auxpass") or self.of(gerund, "auxpass"):
            return False
        low, entity = self.low[subject], self.tokens[subject].entity
        return not (low in _PEOPLE or entity in ("PERSON", "ORG") or is_person(low))

    def _is_limited(self, phrase: int) -> bool:
        """Tell whether a clause holds for no more than a phrase: `only in May`, `in some towns`."""
        words = [self.low[i] for i in self.under(phrase)]
        is_only = words in (["in", "part"], ["to", "some", "extent"])
        is_only |= not _ONLY.isdisjoint([self.low[self.start(phrase) - 1], *words[:2]])
        is_always = not self.has_happened(self.main(self.tokens[phrase].head))
        is_always &= self.low[phrase] in _RANKING
        return is_only or (is_always and not _SOME.isdisjoint(words[:3]))

    def _is_met(self, noun: int) -> bool:
        """Tell whether a noun stands for something that there is: `a diver who ...`."""
        above = self.tokens[self.tokens[noun].head].head
        if self.tokens[noun].relation == "pobj" and self.tokens[above].tag in NOUNS:
            return False  # `a shot from 22 yards that ...`: either may be meant
        articles = [self.low[i] for i in self.of(noun, "det")]
        return articles in (["a"], ["an"]) or bool(self.of(noun, "nummod"))

    def _governs(self, head: int, phrase: int) -> bool:
        """Tell whether a word goes with a preposition: `refer to`, `known as`, `increase in`."""
        pair = f"{self.low[head]}_{self.low[phrase]}"
        if not self.is_verb(head):
            return pair in WORDS["governing nouns"]
        is_passive = bool(self.of(head, "auxpass")) or self.tokens[head].tag == "VBN"
        return pair in WORDS["governing passive" if is_passive else "governing"]

    def needed_phrase(self, verb: int) -> int | None:
        """Return the phrase without which a verb says nothing: `ran as an outsider`."""
        phrases = [k for k in self.of(verb, "prep") if k > verb]
        needy = self.low[verb] in WORDS["needy"]
        takes = self.low[verb] in _TAKING_TIME
        needy |= takes and any(self.low[i] in ("part", "place") for i in self.of(verb, "dobj"))
        agents = self.of(verb, "agent") if self.low[verb] in WORDS["done by"] else []
        if agents or (needy and phrases):
            return (agents or phrases)[0]
        if self._has_complement(verb):
            return None
        if self.low[verb] in BE:
            return phrases[0] if phrases else None
        is_passive = self.of(verb, "auxpass") or self.tokens[verb].tag == "VBN"
        is_enough = any(self._governs(verb, k) for k in phrases)
        is_empty = is_passive and self.low[verb] in _EMPTY and not self.has_happened(verb)
        if is_empty and phrases:
            return phrases[0]  # `is made with flour`
        if is_passive or is_enough or self.low[verb] in WORDS["intransitive"]:
            return None
        return next((k for k in phrases if not self.is_time(k)), phrases[0] if phrases else None)

    def _has_complement(self, verb: int) -> bool:
        return any(self.tokens[k].relation in COMPLEMENTS for k in self.kids[verb])

    def role(self, kid: int, free: Freedom) -> Role:
        """Return what a word, with all below it, is for the word above it."""
        role = self._fixed_role(kid) or self._free_role(kid, free)
        is_bound = role is Role.DETAIL and self.tokens[kid].start in self.bound
        return Role.NEEDED if is_bound else role

    def _fixed_role(self, kid: int) -> Role | None:
        """Return the role of a word that no freedom changes; `None` for all others."""
        relation, head = self.tokens[kid].relation, self.tokens[kid].head
        is_phrase = relation == "conj" and self.is_verb(head)
        is_phrase &= not self.is_verb(kid) and self.tokens[kid].tag != "CC"
        is_needed = relation == "expl"
        is_needed |= relation == "mark" and head not in self.told  # `whether to go`
        is_out = (relation in _LINKS and not is_phrase) or kid in self.hidden
        is_out |= (self.is_mark[kid] and not self.kids[kid]) or relation in SUBJECTS
        is_out |= any(self.tokens[i].tag in ("WDT", "WP") for i in self.of(kid, "pobj"))
        is_being = relation == "advcl" and self.low[kid] == "being" and self.finite(kid) is None
        is_out |= is_being and self.subject(kid) is not None  # `won six cups, the first being`
        if relation == BRACKET and not is_out:
            if self.aside(kid):
                return Role.OWN
            is_idle = IN_PICTURE.match(self.low[kid]) is not None
            is_idle |= self.tokens[head].tag == "CD" and self.low[kid][1:-1].isdigit()
            return Role.OUT if is_idle else Role.DETAIL
        if is_needed:
            return Role.NEEDED
        if relation == REGION:
            return Role.OWN
        return Role.OUT if is_out else None

    def aside(self, place: int) -> list[str]:
        """Return what brackets say of the noun before them."""
        head = self.tokens[place].head
        noun = self.tokens[head]
        is_late = self.subject(self.root) == head and self.low[self.root] == "was"
        is_late &= _RULERS.isdisjoint(self.low)
        entity = noun.entity if noun.tag in NAMES else None
        return told_of(self.tokens[place].text, entity, is_late=is_late)

    def _free_role(self, kid: int, free: Freedom) -> Role:
        relation, head = self.tokens[kid].relation, self.tokens[kid].head
        loose = Role.DETAIL if free.drop else Role.NEEDED
        if relation in ("prep", "agent") or (relation == "conj" and self.tokens[kid].tag == "IN"):
            is_led = self.is_verb(head)
            return self._role_of_phrase(kid, loose) if is_led else self._role_in_noun(kid, free)
        if relation in ("relcl", "acl"):
            return self._role_behind_noun(kid, free)
        if relation == "advcl":
            return self._role_of_clause(kid, loose)
        if relation == "appos":
            return self._role_of_apposition(kid)
        if relation == "advmod":
            return self._role_of_adverb(kid, loose)
        is_rate = any(self.low[i] in ("a", "an", "per") for i in self.of(kid, "det"))
        is_when = relation == "npadvmod" and self.is_verb(head) and self.is_time(kid)
        needs_object = self.low[head] in _TAKING
        is_object = needs_object and not self._has_complement(head)
        is_loose = is_when and not is_rate and not is_object
        is_loose |= relation == "amod" and kid > head and self.is_set_off(kid)
        is_loose |= self._sorts(kid)
        return loose if is_loose else Role.NEEDED  # not `14 kilometres an hour`, `took a week`

    def _sorts(self, kid: int) -> bool:
        """Tell whether a word says of what kind something is: `is an American film`."""
        token = self.tokens[kid]
        is_before = token.relation in ("amod", "nummod", "nmod", "compound") and kid < token.head
        is_sort = token.entity in ("NORP", "GPE") or _YEAR.fullmatch(token.text) is not None
        is_sort &= is_before and not self.of(kid, "conj")
        return is_sort and self.is_identity(token.head)

    def _role_of_phrase(self, kid: int, loose: Role) -> Role:
        """Return the role of a phrase with a preposition behind or before a verb."""
        head, low = self.tokens[kid].head, self.low[kid]
        is_bare, is_next = not self.kids[kid], kid == head + 1
        if is_bare and (low in WORDS["connectives"] or (kid < head and low not in _LEADING)):
            return Role.OUT  # `With` of `With Anna leading the way, it won`
        if (is_bare and (is_next or kid < head)) or (is_next and self.low[head] in BE):
            return Role.NEEDED  # `was last heard from in May`, `were on board the ship`
        is_goal = low in ("to", "out", "off") and kid == head + 1
        is_goal |= low == "to" and self.low[kid - 1] in _TRENDS
        is_led = self._governs(head, kid) and not self.is_time(kid)
        is_bound = kid > head and (low in _BOUND_TO_VERB or is_led or is_goal)
        is_bound |= self._is_limited(kid)
        if low in _AIMING and kid > head:  # `called on Ulm to pay`
            is_bound |= any(k > kid and self.tokens[k].tag == "VB" for k in self.of(head, "xcomp"))
        is_bound |= self.tokens[kid].relation == "agent" and self.low[head] in _NEXT
        is_bound |= self.tokens[head].tag == "VBN" and self.low[head - 1] == "as"  # `as seen in`
        if is_bound or kid == self.needed_phrase(head) or self._is_span(kid):
            return Role.NEEDED
        is_pronoun = any(self.tokens[i].tag == "PRP" for i in self.of(kid, "pobj"))
        if low == "according" or is_pronoun:  # `walked over it`
            return Role.NEEDED
        is_told = self.absolute(kid) is not None
        is_means = low == "by" and self.main(head) == head and not self.of(head, "auxpass")
        gerund = self.gerund(kid)
        is_told |= (low in _GERUNDS or is_means) and gerund is not None
        is_told &= not (gerund is not None and self._is_done_to(head, gerund))
        return Role.OWN if is_told and self.has_happened(self.main(head)) else loose

    def _role_in_noun(self, kid: int, free: Freedom) -> Role:
        """Return the role of a phrase with a preposition behind a noun."""
        head, low = self.tokens[kid].head, self.low[kid]
        is_rank = self.tokens[head].tag == "JJS" and low in _RANKING
        if self.tokens[head].relation == "prep" or self.tokens[head].tag == "RB" or is_rank:
            return Role.NEEDED  # `from near Ulm`, `apart from May`, `strongest in Ulm`
        is_bound = low in _BOUND or self._governs(head, kid) or self.tokens[head].tag == "CD"
        is_bound |= self.low[head] in _TRENDS
        above = self.tokens[self.first(head)]  # `put Labour on 34%, the Greens on 9%`
        is_bound |= above.relation == "dobj" and self.low[above.head] in ("put", "puts")
        is_bound |= self._is_in_name(kid)
        return Role.NEEDED if is_bound else self._role_of_modifier(kid, free)

    def _is_in_name(self, phrase: int) -> bool:
        """Tell whether a phrase is part of a name: `the Minister for Health`."""
        noun = self.tokens[self.tokens[phrase].head]
        goals = [self.tokens[i] for i in self.of(phrase, "pobj")]
        is_name = noun.tag in NAMES and noun.entity != "PERSON" and self.low[phrase] in _IN_NAMES
        return is_name and any(goal.tag in NAMES and goal.entity in ("", "ORG") for goal in goals)

    def _is_span(self, phrase: int) -> bool:
        """Tell whether a phrase is within `from 9 in May to 11 in June`, not `from May to June`."""
        verb = self.tokens[phrase].head
        if self.is_time(phrase) and any(self.low[i] == "to" for i in self.kids[phrase]):
            return False
        start = next((k for k in self.of(verb, "prep") if self.low[k] == "from"), phrase + 1)
        goals = [i for i in self.under(verb) if self.low[i] == "to" and i > start]
        return start <= phrase and any(self.tokens[i].relation == "prep" for i in goals)

    def _role_of_modifier(self, kid: int, free: Freedom) -> Role:
        head = self.tokens[kid].head
        may_go = free.drop and self._is_open(head, kid)
        return Role.DETAIL if may_go else Role.NEEDED

    def _role_behind_noun(self, kid: int, free: Freedom) -> Role:
        """Return the role of a relative clause, a participle or an infinitive."""
        token = self.tokens[kid]
        head = self.tokens[token.head]
        says_what = self.is_identity(token.head)
        is_set_off = self.is_set_off(kid)
        above = self.tokens[self.tokens[head.head].head] if head.relation == "pobj" else head
        is_infinitive = token.tag == "VB" or bool(self.of(kid, "mark"))
        is_relative = token.relation == "relcl"
        is_needed = is_infinitive if not is_relative else self.finite(kid) is None
        is_needed |= is_relative and self.low[head.head] in ("than", "like")  # `like men who ...`
        is_needed |= is_relative and self.low[token.head] in _ANYBODY
        is_one = above.text.lower() == "one" and bool(self.of(token.head, "nummod"))
        is_needed |= is_one and not is_set_off  # `one of six men accused of theft`
        if head.relation == "dobj" and not (is_relative or is_set_off):
            is_caused = token.tag == "VBN" and self.low[head.head] in _HAVING
            is_needed |= is_caused and self.low[kid] not in ("named", "called")
            is_needed |= token.tag in ("VBG", "VBN") and self.low[head.head] in _SEEING
        is_needed |= any(self.low[i] == "being" for i in self.of(kid, "aux", "auxpass"))
        is_needed |= self.low[head.head] == "despite" or self.low[head.head - 1] == "instead"
        is_last = kid == token.head + 1 and not self.kids[kid]
        is_needed |= is_last and token.tag == "VBN" and self.low[head.head] == "with"
        is_needed |= self.low[self.start(kid) - 1] == ":"  # `two questions: who paid`
        if is_needed or (not (is_set_off or says_what) and head.relation == "attr"):
            return Role.NEEDED
        if is_relative and self.low[kid] in WORDS["loose"] and not self._is_of_person(kid):
            return Role.DETAIL if free.drop and is_set_off else Role.NEEDED
        is_either = above.tag in NOUNS or (is_relative and head.tag not in NAMES)
        is_either &= not (self._agrees(kid) and above.tag not in NOUNS)
        between = range(token.head + 1, self.start(kid))
        goals = [self.tokens[i] for i in between if self.tokens[i].relation == "pobj"]
        is_either |= any(self.low[goal.head] != "of" for goal in goals)  # `a part in the cup, held`
        if head.relation == "pobj" and is_either and is_set_off and not self._stands_alone(kid):
            return Role.DETAIL  # `the mine at Ulm, which closed`: either may be meant
        if is_set_off or (says_what and (is_relative or token.tag != "VBG")):
            is_scoped = any(self.denies(i) for i in self.kids[token.head])
            return Role.OUT if is_scoped else Role.OWN
        role = self._role_of_modifier(kid, free)
        is_met = role is Role.DETAIL and free.drop and self._is_met(token.head)
        is_met &= self.has_happened(kid) or self.has_happened(self.root) or not is_relative
        return Role.OWN if is_met and token.tag != "VBG" else role

    def _stands_alone(self, clause: int) -> bool:
        """Tell whether a relative clause is told without its noun: `..., where she met Tom`."""
        opens = [self.tokens[i].tag for i in self.of(clause, "advmod")]
        led = [k for k in self.of(clause, "prep") if self.low[k] != "of"]
        opens += [self.tokens[i].tag for k in led for i in self.of(k, "pobj")]
        is_led = not {"WRB", "WDT"}.isdisjoint(opens)
        behind = [k for k in self.kids[clause] if k > clause and not self.is_mark[k]]
        is_full = bool(behind) and all(self.kids[k] for k in self.of(clause, "prep"))
        is_led &= is_full  # not `where it came from`
        return is_led and self.subject(clause) is not None and self.has_happened(clause)

    def _agrees(self, clause: int) -> bool:
        """Tell whether a relative clause can only be about its noun: a person, or many things."""
        verb = self.finite(clause)
        is_many = verb is not None and (self.tokens[verb].tag == "VBP" or self.low[verb] == "were")
        is_many &= self.tokens[self.tokens[clause].head].tag in PLURAL
        return is_many or self._is_of_person(clause)

    def _is_of_person(self, clause: int) -> bool:
        """Tell whether `who` is the subject of a relative clause."""
        return any(self.low[i] == "who" for i in self.of(clause, "nsubj", "nsubjpass"))

    def _role_of_clause(self, kid: int, loose: Role) -> Role:
        opening = self.opening(kid)
        is_object = self._ends_being(kid)
        marks = {self.low[i] for i in self.of(kid, "mark")}
        is_object |= marks in ({"as", "though"}, {"as", "if"})  # `looks as though it cost more`
        if opening == "than" or self._is_compared(kid) or is_object:
            return Role.NEEDED  # `longer than it had been`
        is_rule = any(self.low[i] in _RULES for i in self.of(self.tokens[kid].head, "aux"))
        if opening in _CONTRASTS and is_rule and not self.is_past(kid):
            return Role.NEEDED  # `may be returned even though it is open`
        is_contrast = opening == "while" and self.is_set_off(kid) and self.finite(kid) is not None
        is_always = opening in _TIMELESS and not (
            self.has_happened(self.tokens[kid].head) or self.is_past(kid)
        )
        is_now = self.finite(kid) is not None and not self.is_past(kid)
        is_always |= opening == "when" and is_now  # `was hard when it has snowed`
        is_always &= not is_contrast
        if opening in _CONDITIONS or is_always:
            return Role.NEEDED
        is_hedged = any(self.low[i] in _HEDGES for i in self.kids[kid])
        if self.subject(kid) is not None and not is_hedged:
            is_real = self.has_happened(kid) or self._will_happen(kid)
            is_stated = opening in _FACTIVE and is_real
            if opening == "before":  # `it may be years before they came`
                is_stated &= self.has_happened(self.main(self.tokens[kid].head))
                is_stated &= all(self.low[i] not in ("any", "even") for i in self.under(kid))
            is_stated |= opening == "so" and self._is_result(kid)
            return Role.OWN if is_stated or opening in _CONTRASTS else loose
        token = self.tokens[kid]
        is_command = self.low[token.head] in WORDS["commanding"]
        is_command &= bool(self.of(token.head, "dobj"))
        behind = token.head + 1 + (" ".join(self.low[token.head : token.head + 2]) in _RESULTS)
        if self.low[token.head] in _TAKING_TIME:
            times = self.of(token.head, "dobj", "npadvmod")
            is_command |= any(self.tokens[i].entity in TIMES for i in times)
        if token.tag == "VB" and (self.under(kid)[:1] == [behind] or is_command):
            return Role.NEEDED  # `was shown to fail`, `turned out to fail`, `ordered Ulm to pay`
        is_participle = token.tag in ("VBG", "VBN") and self.low[kid] not in WORDS["loose"]
        subject = self.subject(token.head)
        is_idle = subject is not None and self.tokens[subject].relation == "expl"
        is_own = is_participle and self.is_set_off(kid) and not opening and not is_idle
        is_own &= token.tag == "VBN" or self.has_happened(token.head)
        return Role.OWN if is_own else loose

    def _ends_being(self, verb: int) -> bool:
        """Tell whether a participle says what something is: `was the first involving Ulm`."""
        head = self.tokens[verb].head
        is_next = self.under(verb)[:1] == [head + 1]
        return is_next and self.low[head] in BE and not self._has_complement(head)

    def _is_compared(self, clause: int) -> bool:
        """Tell whether a clause ends a comparison: `as fast as it came`."""
        before = self.start(clause) - 1
        return any(self.low[i] in ("as", "so") for i in self.of(max(0, before), "advmod"))

    def _is_result(self, verb: int) -> bool:
        """Tell whether a clause behind `so` is not what somebody wants to happen."""
        is_aim = any(self.tokens[i].tag == "MD" for i in self.of(verb, "aux"))
        return not is_aim and all(self.low[i] != "that" for i in self.of(verb, "mark"))

    def _role_of_apposition(self, kid: int) -> Role:
        token, head = self.tokens[kid], self.tokens[self.tokens[kid].head]
        is_place = token.entity == head.entity and token.entity in ("GPE", "LOC")
        is_place &= not self.of(kid, "advmod")  # `Norway, officially the Kingdom of Norway`
        is_inside = head.relation == "pobj" and self.low[head.head] in ("in", "at", "near", "on")
        is_bare = not self.of(kid, "det", "relcl", "prep")
        is_bare &= is_inside or not self.of(token.head, "det")
        is_place |= {token.tag, head.tag} <= NAMES and is_bare
        is_set_off = self.is_set_off(kid)
        if is_place or head.entity in TIMES or not (is_set_off or token.tag in NAMES):
            return Role.NEEDED
        is_one = head.entity in ("GPE", "LOC", "PERSON") and head.tag == "NNP"
        is_listed = is_one and token.tag == "NNS"  # `the isle of Ulm, the towns of Bonn`
        is_behind_clause = any(token.head < i < kid for i in self.of(token.head, "relcl"))
        if is_listed or is_behind_clause or not self.is_beside(kid):
            return Role.OUT
        is_list = token.tag in NAMES and bool(self.of(kid, "conj"))
        if not is_set_off or (is_list and self.of(token.head, "nummod")):
            return Role.NEEDED
        is_age = token.tag == "CD" and head.entity == "PERSON" and token.entity != ""
        return (
            Role.OWN if (token.tag in NOUNS and token.entity not in TIMES) or is_age else Role.OUT
        )

    def is_beside(self, phrase: int) -> bool:
        """Tell whether only words of a noun stand between it and a phrase behind it."""
        noun = self.tokens[phrase].head
        return {i for i in range(noun, phrase) if not self.is_mark[i]} <= {*self.under(noun)}

    def _role_of_adverb(self, kid: int, loose: Role) -> Role:
        token, low = self.tokens[kid], self.low[kid]
        is_link = low in WORDS["connectives"] | {"yet", "though"} and not self.kids[kid]
        is_link |= low == "so" and kid < token.head and not self.kids[kid]
        is_link &= self.is_verb(token.head) and self.low[kid + 1 : kid + 2] != ["of"]
        is_asked = token.tag == "WRB" and token.head in self.told
        if is_asked or is_link:
            return Role.OUT
        is_choice = low == "instead" and bool(self.of(kid, "prep"))
        is_time = low in WORDS["times"] or (token.entity in TIMES and low != "twice")
        is_time |= low in _TRENDS and self.is_set_off(kid)
        return loose if is_choice or (is_time and self.is_verb(token.head)) else Role.NEEDED

    def gerund(self, phrase: int) -> int | None:
        """Return the verb of `after moving to Ulm`."""
        found = [i for i in self.of(phrase, "pcomp") if self.tokens[i].tag == "VBG"]
        return next((i for i in found if self.subject(i) is None), None)

    def absolute(self, phrase: int) -> tuple[int, int] | None:
        """Return the noun and the verb of `with the mayor leading the way`."""
        if self.low[phrase] != "with":
            return None
        for verb in self.of(phrase, "pcomp"):
            nouns = [*self.of(phrase, "pobj"), *self.of(verb, "nsubj")]
            if nouns and self.tokens[verb].tag == "VBG":
                return nouns[0], verb
        return None
