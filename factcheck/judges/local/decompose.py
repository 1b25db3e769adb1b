"""What one English sentence states, one clause and one detail at a time.

Works on the parse of `factcheck.text.syntax`. Every part is entailed by the sentence: conditions,
hedges and sources ("according to") stay with each part, and there is no cut where a negation or a
word such as "only" reaches over it, or where the parser is not sure how the words hang together.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from factcheck.facts import Span
from factcheck.judges.local import forms
from factcheck.text.syntax import Token

Item: TypeAlias = "int | str"
"""A word of the sentence by its place, or one that is added."""


class Statement(NamedTuple):
    """Something a sentence says, in words that stand alone."""

    text: str
    own: Span
    """The passage it comes from, in characters of the sentence."""


_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass", "expl"})
_COMPLEMENTS = frozenset({"dobj", "attr", "acomp", "xcomp", "ccomp", "oprd", "agent", "dative"})
_LOAD_BEARING = _SUBJECTS | {
    "ROOT",
    "cc",
    "conj",
    "relcl",
    "appos",
    "advcl",
    "ccomp",
    "dobj",
    "attr",
}
"""Relations that decide where a sentence is cut."""
_PHRASES = _LOAD_BEARING | {"acl", "prep", "pobj", "npadvmod", "advmod"}
"""Relations of words, which no mark has."""
_EMBEDDED = frozenset(
    {"ccomp", "pcomp", "csubj", "csubjpass", "xcomp", "advcl", "acl", "parataxis"}
)
"""Relations of clauses whose content the sentence need not state as a fact."""
_FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})
_PLURAL = frozenset({"NNS", "NNPS"})
_TIMES = frozenset({"DATE", "TIME"})
_PLACES = frozenset({"GPE", "LOC", "FAC"})
_SURE = 0.6
"""Least probability of each load-bearing word's place in a sentence that is cut."""
_SURE_OF_LIST = 0.8
"""The same for the members of a list that is told one by one."""
_MOST_FACTS = 40
"""Facts of one sentence; a longer list stands in one piece."""


def word_set(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SCOPES = word_set(
    "not n't no never neither nor none nobody nothing nowhere hardly scarcely barely rarely seldom "
    "without only solely exclusively merely just alone except unless than rather instead either or "
    "respectively together jointly between both few fewer least almost nearly fail fails failed "
    "refuse refused refuses deny denied denies decline declined declines lack lacks lacked avoid "
    "avoided prevent prevented stop stopped doubt doubted forbid forbade banned prohibited reject "
    "rejected unlikely unable impossible any if whether total combined first last each"
)
"""Words by which leaving a detail out may change whether a sentence is true."""
_HEDGES = word_set(
    "allegedly reportedly probably possibly perhaps supposedly apparently likely presumably maybe "
    "purportedly seemingly never often sometimes usually generally typically mostly rarely seldom "
    "hardly occasionally always only according"
)
"""Words that hold for every verb they may reach."""
_CONNECTIVES = word_set(
    "however moreover furthermore additionally meanwhile nevertheless nonetheless consequently "
    "therefore thus finally also indeed similarly likewise overall besides then hence subsequently "
    "instead too"
)
_CONTRASTS = word_set("although though while whereas")
_STATED = _CONTRASTS | word_set("because after when since")
"""What opens a clause that is itself said to be so, if the clause around it is."""
_LATER = word_set("later then now currently subsequently eventually today still since")
_INSEPARABLE = word_set("as of than despite without except like to into per instead because")
"""Prepositions of phrases that belong to what the verb says."""
_BESIDES = word_set("besides along apart aside despite")
_BE = word_set("is was are were be been 's")
_COLLECTIVE = word_set(
    "meet met marry married merge merged share shared differ combine combined separate separated "
    "unite united join joined link linked connect connected compare compared divide divided split "
    "consist consists consisted comprise comprises comprised mix mixed blend add adds added total "
    "cost costs exchange exchanged"
)
"""Verbs that may say of several what they do not say of each."""
_ALONE = word_set(
    "moved died lived worked played started graduated served retired studied performed appeared "
    "returned competed opened closed ended emerged debuted trained participated resided premiered"
)
"""Verbs on `-ed` that need no object: `was born in Ulm and moved to Bonn`."""
_STATES = word_set("based located known called situated owned dedicated named married")
"""Participles of what goes on: `a firm based in Ulm`."""
_BUNDLES = word_set(
    "mix mixture combination blend merger pair group series war relationship partnership balance "
    "trio duo team alliance marriage collaboration conflict border difference gap match friendship "
    "range variety number total sum average deal agreement talks dispute comparison majority half "
    "third quarter most"
)
_LOOSE = word_set(
    "make makes made mean means meant cause causes caused lead leads led allow allows allowed help "
    "helps helped result results resulted surprise surprises surprised prompt prompted give gives "
    "gave force forced brought bring brings enable enables enabled suggests suggested"
)
"""Verbs after `which` that tend to speak of the whole clause before it."""
TELLING = word_set(
    "say says said tell tells told claim claims claimed believe believes believed think thinks "
    "thought argue argues argued report reports reported announce announces announced state states "
    "stated allege alleges alleged suggest suggests suggested note notes noted add adds added warn "
    "warns warned insist insists insisted estimate estimates estimated expect expects expected "
    "hope hopes hoped fear fears feared write writes wrote explain explains explained confirm "
    "confirms confirmed ask asks asked promise promises promised deny denies denied"
)


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


class ParsedSentence:
    """One parsed sentence, and what may be taken out of it."""

    def __init__(
        self, text: str, tokens: Sequence[Token], named: Mapping[int, str] | None = None
    ) -> None:
        """`named` has words to be said in place of others: `{0: "Anna Kern"}` for `She`."""
        self._text = text
        self._tokens = tokens = _mended(tokens)
        self._named = named or {}
        self._kids: list[list[int]] = [[] for _ in tokens]
        for place, token in enumerate(tokens):
            if token.head != place:
                self._kids[token.head].append(place)
        self._root = next((i for i, t in enumerate(tokens) if t.head == i), 0)
        self._low = [token.text.lower().replace("\u2019", "'") for token in tokens]
        self._is_mark = [not re.search(r"[\w$€£¥%&@#°+=§]", token.text) for token in tokens]
        self._pairs = _pairs(tokens)
        paired = {i for pair in self._pairs for i in pair}
        self._lone = {
            i for i, token in enumerate(tokens)
            if token.text in ('"', "\u201c", "\u201d") and i not in paired
            and not (i and tokens[i - 1].tag == "CD")
        }  # fmt: skip
        """Quotation marks whose other half stands in another sentence."""
        self._cut: set[int] = set()
        """Phrases that are told on their own, and left out of all others."""

    def statements(self) -> tuple[Statement, ...]:
        """What the sentence says; one statement with all of its words where no cut is safe."""
        everything: list[Item] = list(range(len(self._tokens)))
        if not everything:
            return (Statement(self._text, Span(0, len(self._text))),)
        facts = list(self._parts()) if self._may_be_cut() else [everything]
        if len(facts) > _MOST_FACTS or not self._is_all_told(facts):
            facts = [everything]
        return tuple(sorted(dict.fromkeys(map(self._tell, facts)), key=lambda s: s.own))

    def speaker(self) -> str:
        """Who tells something in this sentence; empty if nobody does."""
        for place, word in enumerate(self._low):
            subject = self._subject(place) if word in TELLING else None
            if subject is not None:
                return self._tell(self._under(subject)).text.rstrip(".")
        return ""

    # --- what is safe -------------------------------------------------------------------------

    def _may_be_cut(self) -> bool:
        tokens, root = self._tokens, self._root
        subject = self._subject(root)
        if tokens[root].tag[:2] not in ("VB", "MD") or subject is None or subject > root:
            return False
        if not self._is_finite(root) or self._low[0] in ("neither", "not"):
            return False
        for place, token in enumerate(tokens):
            if token.relation == "parataxis" or self._low[place] in (
                "?",
                "\u2026",
                "...",
                ":",
                ";",
            ):
                return False
            is_unsure = token.relation in _LOAD_BEARING and token.sure < _SURE
            is_phrase = bool(self._kids[place]) or token.relation in _PHRASES
            if is_unsure or (self._is_mark[place] and is_phrase):
                return False
            low, high = sorted((place, token.head))
            if self._low[place] not in ("including", "such", "as") and any(
                not low <= tokens[i].head <= high for i in range(low + 1, high)
            ):
                return False
        return not any(
            tokens[i].tag in _FINITE for a, b in self._pairs for i in range(a, b)
        ) or not any(word in TELLING for word in self._low)

    def _is_all_told(self, facts: Sequence[Sequence[Item]]) -> bool:
        """Whether each fact has a verb and its end, and each name and number is in some fact."""
        told = {item for fact in facts for item in fact}
        for fact in facts:
            words = [item for item in fact if item != ","]
            last = words[-1]
            if len(words) < 2 or (  # noqa: PLR2004
                isinstance(last, int)
                and self._tokens[last].tag in ("CC", "DT", "IN", "TO", "PRP$", "WDT", "POS")
            ):
                return False
        return all(
            place in told
            for place, token in enumerate(self._tokens)
            if token.tag in ("CD", "JJ", "VBD", "VBN", "VBZ", *_NOUNS)
            and self._low[place] != "such"
        )

    def _is_scoped(self, places: Iterable[int]) -> bool:
        """Whether a word is among these by which a shorter sentence may say something else."""
        return any(
            self._low[i] in _SCOPES
            or (self._tokens[i].tag == "MD" and self._low[i] not in ("will", "'ll"))
            or (
                self._tokens[i].tag in ("JJS", "RBS", "JJR", "RBR")
                and self._low[i : i + 2] != ["best", "known"]
            )
            or self._tokens[i].relation in ("preconj", "neg")
            for i in places
        )

    def _is_finite(self, verb: int) -> bool:
        return any(
            self._tokens[i].tag in _FINITE for i in [verb, *self._of(verb, "aux", "auxpass")]
        )

    # --- walking the tree ---------------------------------------------------------------------

    def _of(self, place: int, *relations: str) -> list[int]:
        """The words directly under one, in some relations to it."""
        return [kid for kid in self._kids[place] if self._tokens[kid].relation in relations]

    def _under(self, place: int, *, full: bool = False) -> list[int]:
        """The words of a phrase, in order, without marks and without what is told elsewhere."""
        found, open_ = [], [place]
        while open_:
            word = open_.pop()
            found.append(word)
            open_ += [kid for kid in self._kids[word] if full or kid not in self._cut]
        return sorted(i for i in found if not self._is_mark[i])

    def _subject(self, verb: int) -> int | None:
        return next((i for i in self._of(verb, *_SUBJECTS) if not self._is_mark[i]), None)

    def _opening(self, verb: int) -> str:
        """The word that opens a subordinate clause; empty for a bare participle."""
        marks = self._of(verb, "mark") + [
            i for i in self._of(verb, "advmod") if self._tokens[i].tag == "WRB"
        ]
        return self._low[marks[0]] if marks else ""

    def _is_set_off(self, place: int) -> bool:
        """Whether a comma or a dash stands before a phrase."""
        first = self._under(place, full=True)[0]
        marks = (",", "(", "\u2013", "\u2014", "--")
        return first > 0 and self._low[first - 1] in marks

    def _is_time(self, place: int) -> bool:
        if self._tokens[place].relation == "npadvmod":
            return self._tokens[place].entity in _TIMES
        return any(self._tokens[i].entity in _TIMES for i in self._of(place, "pobj"))

    # --- statements beside the main line ------------------------------------------------------

    def _parts(self) -> Iterator[list[Item]]:
        asides = [place for place in range(len(self._tokens)) if self._is_aside(place)]
        self._cut.update(
            i for i in asides
            if self._tokens[i].relation != "appos" or self._tokens[i].entity not in _PLACES
        )  # fmt: skip
        yield from self._clause(self._root, [], [])
        lead = self._lead(self._root)
        for place in asides:
            token = self._tokens[place]
            head = self._whose(token.head)
            noun: list[Item] = list(self._under(head))
            be = self._be(place, head)
            if token.relation == "appos":
                is_place = token.entity in _PLACES
                link = f"{be} in" if is_place else be
                about = self._name(token.head) if is_place else noun
                yield [*lead, *about, link, *self._under(place)]
            elif token.relation == "acl":
                yield from self._clause(place, [*noun, be], lead)
            else:
                opener = self._under(place)[0]
                self._cut.add(opener)
                is_place = self._low[opener] == "where"
                yield from self._clause(place, [] if is_place else noun, lead)

    def _is_aside(self, place: int) -> bool:
        """Whether a phrase says something of its own about the noun that it follows."""
        token = self._tokens[place]
        head = self._tokens[token.head]
        if token.relation not in ("relcl", "appos", "acl") or head.tag not in _NOUNS:
            return False
        words = self._under(place, full=True)
        is_new = self._is_identity(token.head)
        before = next((i for i in range(words[0] - 1, -1, -1) if not self._is_mark[i]), -1)
        is_behind = token.head <= before and before in self._under(token.head, full=True)
        is_closed = words[-1] + 1 == len(self._tokens) or self._is_mark[words[-1] + 1]
        is_beside = self._is_set_off(place) and is_closed and self._is_definite(token.head)
        in_list = head.relation == "conj" or bool(self._of(token.head, "conj", "cc"))
        if not is_behind or not (is_new or (is_beside and not in_list)):
            return False
        if self._is_scoped(self._kids[token.head]) or any(
            self._tokens[i].relation in _EMBEDDED for i in self._above(token.head)
        ):
            return False
        if token.relation == "relcl":
            return self._is_relative(place, words[0], is_new=is_new, is_close=token.head == before)
        if token.relation == "appos":
            return self._is_apposition(place)
        is_plain = all(self._tokens[i].relation == "advmod" for i in words if i < place)
        return token.tag == "VBN" and is_plain and len(words) > 1

    def _is_relative(self, verb: int, first: int, *, is_new: bool, is_close: bool) -> bool:
        """Whether a clause speaks of the noun before it with a pronoun for its subject."""
        opener, word = self._tokens[first], self._low[first]
        if not self._is_finite(verb) or opener.head != verb:
            return False
        if word == "where":
            return not is_new and self._subject(verb) is not None
        is_loose = word == "which" and (self._low[verb] in _LOOSE or not is_close)
        is_subject = opener.relation in ("nsubj", "nsubjpass") and opener.tag in ("WP", "WDT")
        return is_subject and not is_loose

    def _above(self, place: int) -> Iterator[int]:
        while self._tokens[place].head != place:
            yield place
            place = self._tokens[place].head

    def _first(self, noun: int) -> int:
        """The first noun of the list that one is in."""
        while self._tokens[noun].relation == "conj":
            noun = self._tokens[noun].head
        return noun

    def _is_identity(self, noun: int) -> bool:
        """Whether a noun says what the subject is: `Anna is a lawyer who ...`."""
        token = self._tokens[self._first(noun)]
        subject = self._subject(token.head)
        articles = self._of(noun, "det", "poss")
        return (
            token.relation == "attr"
            and token.head == self._root
            and subject is not None
            and self._tokens[subject].relation == "nsubj"
            and (not articles or self._low[articles[0]] in ("a", "an"))
            and self._low[subject] not in ("this", "that")
            and not self._is_scoped([*self._kids[token.head], *self._kids[noun]])
        )

    def _is_definite(self, noun: int) -> bool:
        """Whether a noun names one thing: a name, `the mill`, `her memoir`."""
        articles = self._of(noun, "det", "poss")
        is_name = self._tokens[noun].tag in ("NNP", "NNPS")
        return is_name or any(
            self._low[i] not in ("a", "an", "no", "any", "some") for i in articles
        )

    def _is_apposition(self, place: int) -> bool:
        token, head = self._tokens[place], self._tokens[self._tokens[place].head]
        if self._of(place, "cc", "conj") or head.relation in ("conj", "appos"):
            return False
        if token.entity in _PLACES and head.entity in _PLACES:
            return token.tag == "NNP" and head.tag == "NNP"
        is_name, has_article = token.tag == "NNP", bool(self._of(place, "det", "poss"))
        return (
            (is_name or has_article) and is_name != (head.tag == "NNP") and token.entity != "DATE"
        )

    def _whose(self, head: int) -> int:
        """Who or what an aside behind a noun is about."""
        verb = self._tokens[self._first(head)].head
        subject = self._subject(verb) if self._is_identity(head) else None
        return head if subject is None else subject

    def _name(self, head: int) -> list[Item]:
        return [i for i in self._under(head) if i <= head and self._tokens[i].tag == "NNP"]

    def _be(self, place: int, noun: int) -> str:
        plural = self._tokens[noun].tag in _PLURAL or bool(self._of(noun, "conj"))
        lasts = self._low[place] in _STATES and not self._is_past(self._root)
        is_past = self._tokens[place].relation == "acl" and not lasts
        return ("were" if plural else "was") if is_past else ("are" if plural else "is")

    def _is_past(self, verb: int) -> bool:
        return any(self._tokens[i].tag == "VBD" for i in [verb, *self._of(verb, "aux", "auxpass")])

    def _lead(self, verb: int) -> list[Item]:
        """`According to Anna,` and hedges at the beginning, which hold for all that is said."""
        subject = self._subject(verb)
        return [
            i
            for kid in self._kids[verb]
            if kid < (verb if subject is None else subject) and self._low[kid] in _HEDGES
            for i in self._with_comma(kid)
        ]

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
        own = self._subject(verb)
        if subject and own is not None and own in self._cut:
            own = None
        chain = self._chain(verb)
        self._cut.update(i for one in [verb, *chain] for i in self._of(one, "cc") if chain)
        self._cut.update(chain)
        parts = [i for i in self._kids[verb] if not self._is_mark[i] and i not in self._cut]
        scoped = self._is_scoped([verb, *(i for kid in parts for i in self._reach(kid))])
        start = verb if own is None else self._under(own)[0]
        clause = _Clause([*lead], [], [verb, *shared], [], [])
        for kid in parts:
            is_left_out = kid == own or kid in lead or self._is_left_out(kid, start)
            if not scoped and self._is_stated(kid, verb):
                clause.asides.append(kid)
                is_left_out = self._opening(kid) in (_CONTRASTS | {""})
            if not is_left_out and (kid > verb or not self._opens(kid, own, start)):
                self._place(kid, clause, parts, scoped=scoped)
            elif not is_left_out:
                is_free = not scoped and self._is_free(kid, clause.core)
                (clause.spare if is_free else clause.front).extend(self._with_comma(kid))
        if own is not None:
            subject = [i for i in self._under(own) if i < verb]
            clause.core.extend(i for i in self._under(own) if i > verb)
        yield from self._tellings(clause, subject, parts, scoped=scoped)
        yield from self._joined(verb, chain, subject, [*clause.front, *clause.spare], shared)
        for aside in clause.asides:
            yield from self._adverbial(aside, subject, verb, lead)

    def _is_left_out(self, kid: int, start: int) -> bool:
        """Whether a word only links the clause to another one."""
        relation = self._tokens[kid].relation
        links = _CONNECTIVES | {"and", "but"}
        if relation in ("mark", "intj"):
            return True
        is_linked = kid < start or self._is_set_off(kid)
        return relation in ("cc", "preconj", "advmod") and self._low[kid] in links and is_linked

    def _opens(self, kid: int, own: int | None, start: int) -> bool:
        """Whether a phrase stands before the subject, or before the verb that has none."""
        is_phrase = self._tokens[kid].relation in ("prep", "advcl", "npadvmod")
        return kid < start and (own is not None or is_phrase)

    def _is_free(self, kid: int, core: Sequence[int]) -> bool:
        """Whether a phrase at the beginning may be left out."""
        words = " ".join(self._low[i] for i in self._under(kid)[:2])
        is_beside = self._low[kid] in _BESIDES or words == "in addition"
        return is_beside or (self._is_time(kid) and self._has_happened(core[0], core[1:]))

    def _place(self, kid: int, clause: _Clause, parts: Sequence[int], *, scoped: bool) -> None:
        """Put a phrase of a clause into its core, or among what may be left out."""
        verb, words, details = clause.core[0], self._under(kid), clause.details
        has_happened = self._has_happened(verb, clause.core[1:])
        goes_on = self._low[kid] == "to" or (
            self._low[kid] in ("until", "till", "through") and details
            and self._low[details[-1][0]] == "from"
        )  # fmt: skip
        if kid > verb and details and goes_on:
            details[-1] += words
        elif kid > verb and (
            kid in clause.asides
            or (has_happened and not scoped and self._is_detail(kid, verb, parts))
        ):
            details.append(words)
        else:
            inner = [] if scoped or kid < verb else self._inner_details(words)
            details += inner
            clause.core.extend(i for i in words if not any(i in phrase for phrase in inner))

    def _tellings(
        self, clause: _Clause, subject: list[Item], parts: Sequence[int], *, scoped: bool
    ) -> Iterator[list[Item]]:
        """A clause without its details, if it says something, and with each of them."""
        verb, core = clause.core[0], clause.core
        says_more = any(
            self._tokens[i].relation in _COMPLEMENTS | {"prep"} and i in core
            for i in parts
            if i > verb
        )
        details = [[], *clause.details] if says_more or not clause.details else clause.details
        spare = clause.spare if not details[0] else []
        opening = clause.front if spare or not clause.spare else [*clause.front, *clause.spare]
        for detail in details:
            predicate = sorted({*core, *detail})
            for one in self._spread(predicate, detail or core, verb, scoped=scoped):
                yield [*opening, *subject, *one]
        if spare:
            yield [*opening, *spare, *subject, *sorted(core)]

    def _with_comma(self, phrase: int) -> list[Item]:
        """An opening phrase, with the comma that follows it in the sentence."""
        words = self._under(phrase)
        return [*words, ","] if self._is_mark[words[-1] + 1] else [*words]

    def _has_happened(self, verb: int, shared: Sequence[int]) -> bool:
        """Whether a verb tells of one time, and holds also without saying when and where."""
        helpers = [verb, *self._of(verb, "aux", "auxpass"), *shared]
        return self._tokens[verb].relation == "acl" or any(
            self._tokens[i].tag == "VBD" or self._low[i] in ("has", "have", "will") for i in helpers
        )

    def _reach(self, kid: int) -> list[int]:
        """The words of a phrase whose scope may go beyond it."""
        inner = ("pobj", "pcomp", "nsubj", "dobj", "advcl", "prep")
        if self._tokens[kid].relation in ("prep", "advcl"):
            return [kid, *(i for i in self._kids[kid] if self._tokens[i].relation not in inner)]
        return [] if self._tokens[kid].relation == "ccomp" else self._under(kid)

    def _joined(
        self,
        verb: int,
        chain: Sequence[int],
        subject: list[Item],
        front: list[Item],
        shared: Sequence[int],
    ) -> Iterator[list[Item]]:
        """The statements of the verbs that are joined to one."""
        helpers = self._of(verb, "aux", "auxpass") or list(shared)
        hedges = [
            i for i in self._kids[verb] if self._low[i] in _HEDGES and i < verb and i not in front
        ]
        holds = any(
            isinstance(i, int) and (self._low[i] in _HEDGES or self._tokens[i].relation == "mark")
            for i in front
        )
        for other in chain:
            own = self._subject(other)
            is_later = any(self._is_time(i) or self._low[i] in _LATER for i in self._kids[other])
            opening = front if holds or (own is None and not is_later) else []
            kept = (
                [] if own is not None else [*hedges, *([] if self._is_finite(other) else helpers)]
            )
            yield from self._clause(other, [] if own is not None else subject, opening, kept)
            if own is not None:
                subject = list(self._under(own))

    def _chain(self, verb: int) -> list[int]:
        """The verbs that are joined to one and stand alone with its subject, or with their own."""
        found, last = [], verb
        while True:
            nexts = [
                i for i in self._of(last, "conj")
                if self._tokens[i].tag[0] in "VM" and i not in self._cut
            ]  # fmt: skip
            links = self._of(last, "cc")
            if len(nexts) != 1 or self._of(last, "preconj"):
                break
            if any(self._low[i] not in ("and", "but") for i in links):
                return []
            last = nexts[0]
            found.append(last)
        return found if all(self._stands_alone(verb, one) for one in found) else []

    def _stands_alone(self, verb: int, other: int) -> bool:  # noqa: PLR0911
        conditions = [i for i in self._of(other, "advcl") if i > other and self._opening(i)
                      and self._opening(i) not in _STATED]  # fmt: skip
        telling = any(self._tokens[i].relation == "ccomp" for i in self._kids[verb])
        if conditions or telling:
            return False
        if self._subject(other) is not None:
            return self._is_finite(other)
        embedded = [
            i for i in range(verb + 1, other)
            if self._tokens[i].relation in _EMBEDDED or self._tokens[i].relation == "relcl"
        ]  # fmt: skip
        finite = self._is_finite(other)
        is_plain = not self._of(other, "aux", "auxpass") and not forms.is_past(self._low[other])
        if finite and is_plain and self._of(verb, "aux", "auxpass", "neg"):
            return False
        if any(self._is_finite(i) == finite for i in embedded):
            return False
        if not finite and (
            self._of(verb, "neg") or self._tokens[other].tag != self._tokens[verb].tag
        ):
            return False
        between = [i for i in self._kids[verb] if verb < i < other and not self._is_mark[i]]
        has_object = any(self._tokens[i].relation != "cc" for i in between)
        is_passive = self._of(verb, "auxpass") and self._low[other].endswith("ed")
        if (
            is_passive
            and finite
            and not self._of(other, "dobj", "aux", "auxpass", "acomp", "xcomp")
        ):
            return self._low[other] in _ALONE
        return self._is_finite(verb) and (has_object or not self._of(other, "dobj"))

    def _is_detail(self, kid: int, verb: int, parts: Sequence[int]) -> bool:
        """Whether a phrase may be left out, because the verb says something without it."""
        is_time = self._is_time(kid)
        if not is_time and self._tokens[kid].relation != "prep":
            return False
        if self._low[kid] in _INSEPARABLE:
            return False
        if self._low[verb] in _BE:
            return is_time or self._is_set_off(kid)
        before = [i for i in parts if verb < i < kid]
        has_more = any(self._tokens[i].relation in _COMPLEMENTS | {"prep"} for i in before)
        return is_time or has_more

    def _inner_details(self, words: Sequence[int]) -> list[list[int]]:
        """Phrases of time and place at the end of an object that says enough without them."""
        return [
            self._under(i)
            for i in words
            if self._tokens[i].relation == "prep"
            and self._low[i] in ("in", "on", "at", "during", "since", "until")
            and self._tokens[self._tokens[i].head].relation in ("dobj", "pobj", "attr")
            and self._tokens[self._tokens[i].head].tag in _NOUNS
            and not self._of(self._tokens[i].head, "conj", "relcl", "acl", "nummod")
            and self._under(i)[-1] == words[-1]
            and self._of(i, "pobj")
            and self._tokens[self._of(i, "pobj")[0]].entity
        ][:1]

    def _is_stated(self, kid: int, verb: int) -> bool:
        """Whether what an adverbial clause says is said to be so."""
        finite = [
            i for i in [verb, *self._of(verb, "aux", "auxpass")] if self._tokens[i].tag in _FINITE
        ]
        is_modal = bool(finite) and self._tokens[finite[0]].tag == "MD"
        if self._tokens[kid].relation != "advcl" or not finite or is_modal:
            return False
        opening = self._opening(kid)
        if self._subject(kid) is not None:
            is_sure = opening in (_CONTRASTS | {"because"}) or self._is_past(kid)
            return self._is_finite(kid) and opening in _STATED and is_sure
        words = self._under(kid, full=True)
        edge = words[-1] + 1 if words[0] == 0 else words[0] - 1
        is_set_off = edge < len(self._tokens) and self._low[edge] == ","
        is_bare = (
            words[0] == kid
            and len(words) > 1
            and not self._of(kid, "aux", "auxpass", "neg", "conj")
        )
        is_perfect = self._low[finite[0]] in ("has", "have", "had")
        is_participle = self._tokens[kid].tag == "VBG" or (
            self._tokens[kid].tag == "VBN" and not self._of(kid, "dobj")
        )
        return opening == "" and is_set_off and is_bare and is_participle and not is_perfect

    def _adverbial(
        self, kid: int, subject: list[Item], verb: int, lead: list[Item]
    ) -> Iterator[list[Item]]:
        """The statements of an adverbial clause, in the tense of the verb if it has none itself."""
        if self._subject(kid) is not None:
            self._cut.update(i for i in self._of(kid, "advmod") if self._tokens[i].tag == "WRB")
            yield from self._clause(kid, [], lead)
            return
        past = self._is_past(verb)
        finite = next(
            i for i in [verb, *self._of(verb, "aux", "auxpass")] if self._tokens[i].tag in _FINITE
        )
        plural = self._low[finite] in ("were", "are") or self._tokens[finite].tag == "VBP"
        rest = [i for i in self._under(kid) if i != kid]
        if self._tokens[kid].tag == "VBN":
            be = ("were" if plural else "was") if past else ("are" if plural else "is")
            yield [*lead, *subject, be, kid, *rest]
        else:
            base = forms.base_of_ing(self._low[kid])
            form = forms.past(base) if past else base if plural else forms.third_person(base)
            yield [*lead, *subject, form, *rest]

    # --- coordinated nouns --------------------------------------------------------------------

    def _spread(
        self, predicate: list[int], part: Sequence[int], verb: int, *, scoped: bool
    ) -> Iterator[list[Item]]:
        """A predicate, once for each member of the lists in a part of it."""
        examples = [] if scoped else [i for i in part if self._is_example(i, verb)]
        if examples:
            place = examples[0]
            phrase, noun = self._under(place), self._tokens[place].head
            named = self._of(place, "pobj")[0]
            yield [i for i in predicate if i not in phrase]
            gone = self._under(noun)
            for member in self._members(named) or [[*self._under(named)]]:
                yield [
                    *(i for i in predicate if i < gone[0]),
                    *member,
                    *(i for i in predicate if i > gone[-1]),
                ]
            return
        lists = [] if scoped else [i for i in part if self._may_list(i, verb, predicate)]
        if not lists:
            yield list(predicate)
        for noun in lists:
            phrase = self._under(noun)
            for member in self._members(noun):
                yield [
                    *(i for i in predicate if i < phrase[0]),
                    *member,
                    *(i for i in predicate if i > phrase[-1]),
                ]

    def _is_example(self, place: int, verb: int) -> bool:
        """Whether `including` or `such as` names some of what the noun before it stands for."""
        named, noun = self._of(place, "pobj"), self._tokens[place].head
        is_such = self._low[place] == "as" and self._low[place - 1] == "such"
        return (
            self._tokens[place].relation == "prep"
            and (is_such or self._low[place] == "including")
            and bool(named)
            and self._tokens[named[0]].tag in _NOUNS
            and noun < place
            and self._tokens[noun].tag in _PLURAL
            and self._tokens[noun].relation in ("dobj", "pobj")
            and self._low[verb] not in _COLLECTIVE
        )

    def _members(self, noun: int) -> list[list[Item]]:
        """The members of a list that `and` joins, each a phrase; none if it stays together."""
        heads, links = [noun], []
        while nexts := [i for i in self._of(heads[-1], "conj") if i not in self._cut]:
            links += self._of(heads[-1], "cc")
            if len(nexts) > 1 or self._tokens[nexts[0]].sure < _SURE_OF_LIST:
                return []
            heads += nexts
        if any(self._low[i] not in ("and", "&") for i in links) or not links:
            return []
        if any(
            (self._tokens[i].tag in _NOUNS) != (self._tokens[noun].tag in _NOUNS) for i in heads
        ):
            return []
        joins_name = any(
            self._tokens[i - 1].entity and self._tokens[i - 1].entity == self._tokens[i].entity
            for i in links
        )
        return [] if joins_name else [self._member(heads, k) for k in range(len(heads))]

    def _member(self, heads: Sequence[int], k: int) -> list[Item]:
        rest = set(self._under(heads[k + 1])) if k + 1 < len(heads) else set()
        own = [
            i for i in self._under(heads[k]) if i not in rest and self._low[i] not in ("and", "&")
        ]
        behind = [i for i in self._under(heads[0]) if i > max(self._under(heads[-1]))]
        own = [*(i for i in own if i not in behind), *behind]
        articles = [i for i in self._of(heads[0], "det", "poss") if self._tokens[i].tag != "PDT"]
        has_own = bool(self._of(heads[k], "det", "poss", "nummod"))
        if not articles or has_own or self._tokens[heads[k]].tag in ("NNP", "NNPS", "JJ", "VBN"):
            return list(own)
        if self._low[articles[0]] in ("a", "an"):
            return ["a", *own] if self._tokens[heads[k]].tag == "NN" else list(own)
        return [*self._under(articles[0]), *own]

    def _may_list(self, noun: int, verb: int, predicate: Sequence[int]) -> bool:
        """Whether what is said with a list holds with each member of it."""
        if self._low[verb] in _COLLECTIVE or not self._members(noun):
            return False
        place = noun
        for _ in range(4):
            head, relation = self._tokens[place].head, self._tokens[place].relation
            if relation not in ("dobj", "attr", "acomp", "pobj", "prep", "agent", "oprd"):
                return False
            is_count = self._tokens[head].tag in _NOUNS and (
                self._of(head, "nummod") or self._tokens[head].tag in _PLURAL
            )
            if is_count or self._low[head] in _BUNDLES or self._low[head] in ("from", "than", "to"):
                return False
            if head == verb:
                break
            place = head
        else:
            return False
        counted = any(
            self._tokens[i].relation == "nummod" and self._tokens[i].entity not in _TIMES
            for i in predicate
            if i < noun and i not in self._under(noun)
        )
        return self._tokens[noun].relation != "pobj" or not counted

    # --- telling ------------------------------------------------------------------------------

    def _tell(self, items: Sequence[Item]) -> Statement:
        """The text of a statement, with the marks of the sentence that stand inside it."""
        placed = [i for i in items if isinstance(i, int)]
        named = self._spoken_names(placed)
        text = ""
        previous: Item | None = None
        order = self._with_marks([i for i in items if isinstance(i, str) or not self._is_mark[i]])
        for n, item in enumerate(order):
            word = item if isinstance(item, str) else named.get(item, self._tokens[item].text)
            after = order[n + 1] if n + 1 < len(order) else ""
            if word in ("a", "an") and (item == "a" or after != previous):
                follows = after if isinstance(after, str) else self._tokens[after].text
                is_same = isinstance(item, int) and after == item + 1
                word = word if is_same else "an" if follows[:1].lower() in set("aeiou") else "a"
            elif item == 0 and n and item not in named and _is_small(self._tokens[0]):
                word = word[0].lower() + word[1:]
            if word:
                text += self._gap(previous, item) + word
                previous = item
        text = text.strip(" ,;:\u2013\u2014-")
        first = next((i for i, c in enumerate(text) if c.isalnum()), 0)
        if not re.match(r"[a-z]+[A-Z]", text[first:]):
            text = text[:first] + text[first : first + 1].upper() + text[first + 1 :]
        if not re.search(r"[.!?\u2026][\"'\u201d\u2019)]*\Z", text):
            text += "."
        first_word, last_word = min(placed), max(placed)
        last = self._tokens[last_word]
        start = 0 if all(self._is_mark[:first_word]) else self._tokens[first_word].start
        is_end = all(self._is_mark[last_word + 1 :])
        return Statement(
            text, Span(start, len(self._text) if is_end else last.start + len(last.text))
        )

    def _spoken_names(self, placed: Sequence[int]) -> dict[int, str]:
        """The names to say for words of a fact: each once, and not beside the same name."""
        said = {self._tokens[i].text for i in placed if i not in self._named}
        chosen: dict[int, str] = {}
        for i in sorted(placed):
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
        whole = [p for p in self._pairs if all(i in kept or self._is_mark[i] for i in range(*p))]
        opening, closing = {a for a, _ in whole}, {b for _, b in whole}
        halves = self._lone | {i for pair in self._pairs for i in pair} - opening - closing
        order: list[Item] = []
        for n, item in enumerate(words):
            if not isinstance(item, int):
                order.append(item)
                continue
            before = item - 1
            while before >= 0 and self._is_mark[before]:
                before -= 1
            is_next = n > 0 and words[n - 1] == before
            order += [
                i for i in range(before + 1, item)
                if i in opening or (is_next and i not in closing and i not in halves)
            ]  # fmt: skip
            order.append(item)
            after = item + 1
            while after < len(self._tokens) and self._is_mark[after]:
                if after in closing:
                    order.append(after)
                after += 1
            if after == len(self._tokens) and n + 1 == len(words):
                order += [i for i in range(item + 1, after) if i not in closing | halves]
        return sorted_runs(order)

    def _gap(self, previous: Item | None, item: Item) -> str:
        if previous is None:
            return ""
        if isinstance(previous, int) and isinstance(item, int) and item == previous + 1:
            one = self._tokens[previous]
            return " " if self._tokens[item].start > one.start + len(one.text) else ""
        if item in (",", "'s") or previous in {a for a, _ in self._pairs}:
            return ""
        is_mark = isinstance(item, int) and self._is_mark[item]
        return "" if is_mark and item not in {a for a, _ in self._pairs} else " "


def sorted_runs(order: list[Item]) -> list[Item]:
    """Words with neighbouring marks in the order of the sentence: a quote after its comma."""
    for n in range(1, len(order)):
        one, two = order[n - 1], order[n]
        if isinstance(one, int) and isinstance(two, int) and one == two + 1:
            order[n - 1], order[n] = two, one
    return order


def _mended(tokens: Sequence[Token]) -> list[Token]:
    """The words, with two kinds of phrases put where they belong.

    `in Bonn` of `born on 3 May in Bonn` goes under the verb and not under the day, and `who` after
    a place under the noun before it.
    """
    mended = list(tokens)
    for place, token in enumerate(tokens):
        head = tokens[token.head]
        is_who = token.relation == "relcl" and any(
            t.head == place and t.text.lower() == "who" for t in tokens
        )
        if is_who and head.entity in _PLACES and head.relation == "pobj":
            noun = tokens[head.head].head
            if tokens[noun].tag in _NOUNS:
                mended[place] = token._replace(head=noun)
        if token.relation != "prep" or head.entity not in _TIMES or token.head > place:
            continue
        if token.text.lower() in ("of", "to", "until", "through") or head.tag[:2] not in (
            "NN",
            "CD",
        ):
            continue
        verb = tokens[head.head].head if head.relation == "pobj" else head.head
        if tokens[verb].tag[0] == "V":
            mended[place] = token._replace(head=verb)
    return mended


def _pairs(tokens: Sequence[Token]) -> list[tuple[int, int]]:
    """Places of opening and closing quotation marks and brackets."""
    pairs: list[tuple[int, int]] = []
    open_: dict[str, int] = {}
    for place, token in enumerate(tokens):
        mate = {")": "(", "]": "[", "\u201d": "\u201c", "\u00bb": "\u00ab"}.get(token.text)
        if token.text == '"' and '"' in open_:
            pairs.append((open_.pop('"'), place))
        elif token.text in ('"', "(", "[", "\u201c", "\u00ab"):
            open_[token.text] = place
        elif mate in open_:
            pairs.append((open_.pop(mate), place))
    return pairs


def _is_small(token: Token) -> bool:
    """Whether the first word of a sentence is written small elsewhere."""
    return token.tag not in ("NNP", "NNPS") and token.text != "I" and not token.entity
