"""The tree of one parsed sentence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files

from factcheck.text.syntax import Token, parse
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
BRACKET = "bracket"
"""Relation of what stands in brackets, as one token, to the word before it."""
_INNER = r"[^()\[\]]|\([^()\[\]]{0,80}\)|\[[^()\[\]]{0,80}\]"
_BRACKETS = re.compile(
    rf"\s*(?:\((?:{_INNER}){{1,300}}\)|\[(?:{_INNER}){{1,300}}\])(?=[\s,.;:!?]|\Z)"
)
ROLE = re.compile(r"(?:[^h]er|or|ist|ian|man|woman|ess|ete|ant)\Z")
"""Ends most words for what somebody is."""
_IS_WORD = re.compile(r"[\w$€£¥%&@#°+=§]")


class Tree:
    """One sentence: who depends on whom."""

    def __init__(self, text: str, tokens: Sequence[Token]) -> None:
        self.text = text
        mended = [_mended(place, tokens) for place in range(len(tokens))]
        for mend in _MENDS:
            mended = mend(mended)
        self.tokens = tokens = mended if _is_tree(mended) else list(tokens)
        self.kids: list[list[int]] = [[] for _ in tokens]
        for place, token in enumerate(tokens):
            if token.head != place:
                self.kids[token.head].append(place)
        self.root = next((i for i, t in enumerate(tokens) if t.head == i), 0)
        self.low = [token.text.lower().replace("\u2019", "'") for token in tokens]
        self.is_mark = [not _IS_WORD.search(token.text) for token in tokens]

    def of(self, place: int, *relations: str) -> list[int]:
        """Return the words directly under one, in some relations to it."""
        return [kid for kid in self.kids[place] if self.tokens[kid].relation in relations]

    def under(self, place: int) -> list[int]:
        """Return the words of a phrase, in order, without marks."""
        found, open_ = [], [place]
        while open_:
            word = open_.pop()
            found.append(word)
            open_ += self.kids[word]
        return sorted(i for i in found if not self.is_mark[i])

    def above(self, place: int) -> Iterator[int]:
        """Yield a word and those it depends on, but for the root."""
        while self.tokens[place].head != place:
            yield place
            place = self.tokens[place].head

    def subject(self, verb: int) -> int | None:
        """Return the subject of a verb."""
        return next((i for i in self.of(verb, *SUBJECTS) if not self.is_mark[i]), None)

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
        is_many = self.low[noun] in ("i", "they", "we", "these", "those", "you")
        return is_many or self.tokens[noun].tag in PLURAL

    def opening(self, verb: int) -> str:
        """Return the word that opens a subordinate clause; empty for a bare participle."""
        marks = self.of(verb, "mark") + [
            i for i in self.of(verb, "advmod") if self.tokens[i].tag == "WRB"
        ]
        return self.low[marks[0]] if marks else ""

    def is_set_off(self, place: int) -> bool:
        """Tell whether a comma or a dash stands before a phrase, or behind it at the beginning."""
        words = self.under(place) or [place]
        if not words[0]:
            return self.low[words[-1] + 1 : words[-1] + 2] == [","]
        return self.low[words[0] - 1] in (",", "\u2013", "\u2014", "-", "--")

    def first(self, noun: int) -> int:
        """Return the first noun of the list that one is in."""
        while self.tokens[noun].relation == "conj":
            noun = self.tokens[noun].head
        return noun


def is_person(noun: str) -> bool:
    """Tell whether a noun in lower case is a word for a person: `judge`, `plumber`."""
    return noun in WORDS["people"] or (ROLE.search(noun) is not None and noun not in things())


def read_tokens(text: str) -> list[Token]:
    """Parse a sentence; what stands in brackets is one token under the word before it."""
    spans = [match.span() for match in _BRACKETS.finditer(text) if match.start()]
    bare, at = "", 0
    offsets: list[int] = []
    for start, end in [*spans, (len(text), len(text))]:
        bare += text[at:start]
        offsets += range(at, start)
        at = end
    tokens = [token._replace(start=offsets[token.start]) for token in parse(bare)]
    for start, end in spans if tokens else ():
        place = sum(token.start < start for token in tokens)
        head = next((i for i in range(place - 1, -1, -1) if _IS_WORD.search(tokens[i].text)), None)
        if head is None or not _IS_WORD.search(text, start, end):
            continue
        inner = text[start:end].lstrip()
        moved = [token._replace(head=token.head + (token.head >= place)) for token in tokens]
        added = Token(inner, end - len(inner), "-LRB-", head, BRACKET, "")
        tokens = [*moved[:place], added, *moved[place:]]
    return tokens


def _mended(place: int, tokens: Sequence[Token]) -> Token:
    """Return a word under the participle or noun before it, where the parser looks too far."""
    token = tokens[place]
    for i in range(token.head + 1, place if token.relation == "prep" else 0):
        noun = tokens[i].head
        beside = (tokens[noun].relation, tokens[noun].head) == ("attr", token.head)
        is_participle = tokens[i].relation == "acl" and tokens[i].tag == "VBN"
        if is_participle and (token.head == noun or beside):
            return token._replace(head=i)  # `is an actor born in May, in Bonn`
    if token.relation == "conj" and token.tag in ("IN", "TO"):
        for i in range(place - 1, token.head, -1):  # `moved to Ulm in May and to Bonn in June`
            if tokens[i].text == token.text and tokens[i].relation == "prep":
                return token._replace(head=tokens[i].head)
    is_later = token.text in ("before", "earlier", "later") and token.tag == "RB"
    noun = place - 1 if is_later else place
    if noun > 1 and tokens[noun].relation == "npadvmod":
        goal = tokens[noun - 2]  # `from 6 million the year before`
        if goal.relation == "pobj" and tokens[goal.head].text == "from":
            return token._replace(head=noun - 2)
    after = tokens[place + 1] if place + 1 < len(tokens) else token
    is_helper = token.text in ("had", "has", "have") and token.relation == "conj"
    if is_helper and (after.tag, after.relation, after.head) == ("VBN", "conj", token.head):
        return token._replace(head=place + 1, relation="aux")  # `was 80 and had worked in Ulm`
    is_loose = token.relation == "advcl" and token.text in WORDS["states"] and token.tag != "VBD"
    if is_loose and place > 1 and tokens[place - 1].text == "," and tokens[place - 2].tag in NOUNS:
        return token._replace(head=place - 2, relation="acl")  # `in Ulm, located on the Danube`
    return token


def _is_tree(tokens: Sequence[Token]) -> bool:
    """Tell whether each word depends, by way of others, on one that depends on none."""
    reached = {place for place, token in enumerate(tokens) if token.head == place}
    for place in range(len(tokens)):
        at, way = place, set[int]()
        while at not in reached and at not in way:
            way.add(at)
            at = tokens[at].head
        if at in way:
            return False
        reached |= way
    return True


def _with_joined_verbs(tokens: list[Token]) -> list[Token]:
    """Return words with those between `and` and a joined verb under that verb: `and in May left`.

    The noun among them is its subject if it has none.
    """
    links = {token.head: place for place, token in enumerate(tokens) if token.relation == "cc"}
    for verb, token in enumerate(tokens):
        link = links.get(token.head, verb)
        if token.relation != "conj" or token.tag not in FINITE or link > verb:
            continue
        if link == verb:
            _give_subject(tokens, verb)
            continue
        between = range(link + 1, verb)
        for place in between:
            is_outside = tokens[place].head == token.head and tokens[place].relation in _MOVABLE
            if is_outside:
                tokens[place] = tokens[place]._replace(head=verb)
        if _has_subject(tokens, verb):
            continue
        nouns = [i for i in between if tokens[i].tag in NOUNS | {"PRP"}]
        lost = [i for i in nouns if tokens[i].head not in between and tokens[i].head != verb]
        if lost and not any(tokens[i].tag in FINITE for i in range(link + 1, lost[0])):
            tokens[lost[0]] = tokens[lost[0]]._replace(head=verb, relation="nsubj")
    return tokens


def _has_subject(tokens: Sequence[Token], verb: int) -> bool:
    return any(token.head == verb and token.relation in SUBJECTS for token in tokens)


def _give_subject(tokens: list[Token], verb: int) -> None:
    """Make the noun before a joined verb its subject: `has a roof and one of its walls leans`."""
    at = verb - 1
    if tokens[at].tag not in NOUNS or _has_subject(tokens, verb):
        return
    while tokens[at].relation != "conj" and at < verb and tokens[at].head != at:
        at = tokens[at].head
    if at < verb and tokens[at].relation == "conj" and tokens[at].tag in NOUNS | {"CD", "PRP"}:
        tokens[at] = tokens[at]._replace(head=verb, relation="nsubj")


_MOVABLE = frozenset({"advcl", "prep", "npadvmod", "advmod", "mark", "aux", "auxpass", "neg"})


def _with_adjectives(tokens: list[Token]) -> list[Token]:
    """Return words with all adjectives of a list under its first: `organic, local and seasonal`."""
    for place, token in enumerate(tokens):
        if token.relation != "amod" or place < 2 or tokens[place - 1].text != ",":  # noqa: PLR2004
            continue
        before = tokens[place - 2]
        is_listed = any(t.head == place and t.relation == "cc" for t in tokens)
        if is_listed and before.relation == "amod" and before.head == token.head:
            tokens[place] = token._replace(head=place - 2, relation="conj")
    return tokens


def _with_lists(tokens: list[Token]) -> list[Token]:
    """Return words with members of a list that the parser took for appositions: `a, b and c`."""
    for place, token in enumerate(tokens):
        if token.relation != "cc" or tokens[token.head].relation != "appos":
            continue
        noun = tokens[token.head].head
        kids = [(i, t) for i, t in enumerate(tokens) if t.head == noun]
        is_odd = not any(t.head == token.head and t.relation == "conj" for t in tokens)
        if not any(t.relation == "conj" and i > place for i, t in kids):
            continue
        tokens[place] = token._replace(head=noun if is_odd else token.head)
        for i, kid in kids if is_odd else ():
            if kid.relation == "appos":
                tokens[i] = kid._replace(relation="conj")
    return tokens


def _with_modals(tokens: list[Token]) -> list[Token]:
    """Return words with helping verbs that the parser took for nouns: `tenants shall pay`."""
    for place, token in enumerate(tokens):
        if token.text not in WORDS["modals"] or token.tag not in NOUNS:
            continue
        tokens[place] = token._replace(tag="MD", relation="aux")
        kids = [i for i, t in enumerate(tokens) if t.head == place and i < place]
        if kids:
            tokens[kids[-1]] = tokens[kids[-1]]._replace(head=token.head, relation="nsubj")
        for kid in kids[:-1]:
            tokens[kid] = tokens[kid]._replace(head=kids[-1])
    return tokens


def _with_jobs(tokens: list[Token]) -> list[Token]:
    """Return words with two jobs as a list, not as one noun: `an actor and film director`."""
    for place, token in enumerate(tokens):
        job = tokens[token.head]
        if token.relation != "cc" or job.relation not in ("nmod", "compound") or job.tag != "NN":
            continue
        last = job.head
        is_list = token.head < place < last and tokens[last].tag == "NN"
        if not (is_list and is_person(job.text) and is_person(tokens[last].text)):
            continue
        first = token.head
        for i, kid in enumerate(tokens):
            if kid.head == last and i < first:
                tokens[i] = kid._replace(head=first)
            elif kid.head == first and place < i < last:
                tokens[i] = kid._replace(head=last, relation="compound")
        tokens[first] = job._replace(head=tokens[last].head, relation=tokens[last].relation)
        tokens[last] = tokens[last]._replace(head=first, relation="conj")
    return tokens


def _with_one_subject(tokens: list[Token]) -> list[Token]:
    """Return words with one subject for each verb: `A lawyer by training, she ran for mayor`."""
    for place, token in enumerate(tokens):
        if token.relation not in SUBJECTS:
            continue
        later = next(
            (
                i
                for i in range(place + 1, token.head)
                if tokens[i].head == token.head and tokens[i].relation in SUBJECTS
            ),
            place,
        )
        between, behind = tokens[place + 1 : later], tokens[later + 1 : token.head]
        if all(word.text != "," for word in between):
            continue
        if any(word.relation == "cc" for word in between):
            tokens[later] = tokens[later]._replace(head=place, relation="conj")
        elif any(word.text == "," or word.relation == BRACKET for word in behind):
            tokens[later] = tokens[later]._replace(head=place, relation="appos")
        elif is_person(token.text):
            tokens[place] = token._replace(head=later, relation="appos")
        else:
            tokens[place] = token._replace(relation="meta")
    return tokens


def _with_clauses(tokens: list[Token]) -> list[Token]:
    """Return words with clauses under nouns, not dates: `a film from 2014, which was cut`."""
    for place, token in enumerate(tokens):
        goal = tokens[token.head]
        above = tokens[goal.head].head
        is_date = goal.relation == "pobj" and goal.entity in TIMES
        if token.relation == "relcl" and is_date and tokens[above].tag in NOUNS:
            tokens[place] = token._replace(head=above)
    return tokens


def _with_links(tokens: list[Token]) -> list[Token]:
    """Return words with `and` under the noun that it joins to another, not under its verb."""
    for place, token in enumerate(tokens):
        head = token.head
        if token.relation != "conj" or tokens[head].tag not in NOUNS or head > place:
            continue
        between = [i for i in range(head + 1, place) if tokens[i].relation == "cc"]
        is_linked = any(tokens[i].head in range(head, place) for i in between)
        if not between or is_linked or tokens[between[-1] + 1].text == "not":
            continue
        verb = tokens[between[-1]].head
        if not any(t.head == verb and t.relation == "conj" for t in tokens):
            tokens[between[-1]] = tokens[between[-1]]._replace(head=head)
    return tokens


def _with_ages(tokens: list[Token]) -> list[Token]:
    """Return words with an age as the subject of the verb behind it: `The 23-year-old ran`."""
    for place, token in enumerate(tokens[:-1]):
        verb = place + 1
        is_age = token.text == "old" and token.head == verb and tokens[place - 1].text == "-"
        if not is_age or tokens[verb].tag not in ("VBN", "VBD") or _has_subject(tokens, verb):
            continue
        for i in range(place):
            if tokens[i].head == verb and tokens[i].relation == "det":
                tokens[i] = tokens[i]._replace(head=place)
        tokens[place] = token._replace(tag="NN", relation="nsubj")
        tokens[verb] = tokens[verb]._replace(tag="VBD")
    return tokens


_MENDS = (
    _with_clauses,
    _with_links,
    _with_ages,
    _with_adjectives,
    _with_jobs,
    _with_one_subject,
    _with_modals,
    _with_lists,
    _with_joined_verbs,
)
"""In this order."""
