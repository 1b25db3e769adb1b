"""Whom a text names: people by their names, or by what they are where they have none."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from factcheck.judges.local.tree import NAMES, NOUNS, PLURAL, TIMES, WORDS, Tree, is_person
from factcheck.text.words import english_words, word_set

GENDERS = {
    "he": "m", "him": "m", "his": "m", "mr.": "m", "mr": "m", "sir": "m", "she": "f", "her": "f",
    "mrs.": "f", "mrs": "f", "ms.": "f", "ms": "f", "miss": "f", "dame": "f",
    **dict.fromkeys(WORDS["men"], "m"), **dict.fromkeys(WORDS["women"], "f"),
}  # fmt: skip
"""Of pronouns, titles and first names."""
_FIRST_NAMES = WORDS["men"] | WORDS["women"]
_KINDS = frozenset({"club", "side", "team", "company", "firm", "group", "city", "town", "village"})
_PAPERS = word_set(
    "statement report letter study paper email message review bio profile post tweet caption sign"
    " headline note book article"
)
_NO_PERSONS = WORDS["firms"] | _KINDS | _PAPERS
"""What says something without being a person."""
_A_FEW = 10
"""People, of those who may be meant: enough to see that it is not clear who is."""


class Name(NamedTuple):
    """A name in a sentence, by the fullest form that is known, and its words."""

    text: str
    start: int
    end: int
    is_person: bool
    """Whether the parser, or the text so far, takes it for a person."""


class People:
    """The people that a text has named so far."""

    def __init__(self) -> None:
        self._genders: dict[str, str] = {}
        """Gender of each person, as known from titles, first names and pronouns; else empty."""
        self._of: dict[str, dict[str, None]] = {"m": {}, "f": {}, "": {}}
        """The same people by gender."""
        self._by_word: dict[str, list[str]] = {}
        """The same names, by each of their words."""
        self._doubtful: set[str] = set()
        """Words that began a sentence, so that their capital letter does not make them names."""
        self._firms: set[str] = set()
        """First words of the names of companies and clubs."""

    def know(self, name: str, gender: str = "") -> None:
        """Keep a person; without a gender, with that which the name tells."""
        if name not in self._genders:
            for word in {*name.split()}:
                self._by_word.setdefault(word, []).append(name)
        self._of[self._genders.get(name, "")].pop(name, None)
        self._genders[name] = gender or self.gender(name)
        self._of[self._genders[name]][name] = None

    def is_known(self, name: str) -> bool:
        return name in self._genders or is_nameless(name)

    def is_doubtful(self, name: str) -> bool:
        """Tell whether a name may be one of a thing."""
        return name in self._doubtful and name not in self._genders

    def of(self, gender: str) -> list[str]:
        """Return people who are known to be of a gender: a few, if there are many."""
        return [*islice(self._of[gender], _A_FEW)]

    def gender(self, name: str) -> str:
        """Return the gender of somebody, as far as it is known: `m`, `f` or nothing."""
        if name.startswith("?"):
            return name[1:2]
        if known := self._genders.get(name):
            return known
        if is_nameless(name):
            return gender_of(name.rpartition(" ")[2])
        words = name.lower().split(" ")
        told = [GENDERS.get(word, "") for word in words[:2]] + [gender_of(w) for w in words]
        return next(filter(None, told), "")

    def names(self, tree: Tree, subject: int | None) -> Iterator[Name]:
        """Yield the names of people in a sentence: `Kern` as `Anna Kern`."""
        tags = ["" if token.entity in TIMES else token.tag for token in tree.tokens]
        for i, token in enumerate(tree.tokens):
            is_known = token.text in self._by_word and token.text.istitle()
            if is_known and token.tag in PLURAL:  # `Crofts`
                tags[i] = "NNP"
        end = 0
        while "NNP" in tags[end:]:
            start = end = tags.index("NNP", end)
            while tags[end : end + 1] and (
                tags[end] in ("NNP", "NNPS", "HYPH")
                or (tree.low[end] in WORDS["particles"] and tags[end + 1 : end + 2] == ["NNP"])
            ):
                end += 1
            last = tree.tokens[end - 1]
            name = tree.text[tree.tokens[start].start : last.start + len(last.text)]
            is_addressed = not WORDS["formulas"].isdisjoint(tree.low[max(0, start - 1) : start + 1])
            is_other = tags[subject or 0] == "NNP" and subject in list(tree.above(end - 1))[1:]
            is_other &= tree.first(end - 1) != subject
            # `Garrincha, born Manuel dos Santos`
            is_thing = self._is_firm(tree.low[start:end]) or any(map(str.isdigit, name))
            is_nation = is_person(last.text.lower()) and bool(tree.of(end - 1, "det"))
            if name[0] in '"\u201c' or is_addressed or is_other or is_thing or is_nation:
                continue
            full = self._by_word.get(last.text, [])[:_A_FEW]
            is_human = any(token.entity == "PERSON" for token in tree.tokens[start:end])
            is_group = end - 1 == subject and is_several(tree, subject)
            is_human &= not (is_group or _is_place(tree, start, end))
            is_bare = not tree.of(end - 1, "det") and last.entity in ("", "PERSON")
            is_bare &= not (is_group or _is_word(tree, end - 1))
            if is_human or full or _is_born(tree, end):
                same = [each for each in full if self._may_be(name, each)]
                yield Name(same[0] if len(same) == 1 else name, start, end, True)
            elif end - 1 == subject and is_bare:
                if end == 1 and not (tree.is_saying and any(word in GENDERS for word in tree.low)):
                    self._doubtful.add(name)
                yield Name(name, start, end, False)

    def _may_be(self, name: str, full: str) -> bool:
        """Tell whether `Kern` or `Mr Kern` may be `Anna Kern`, as `Eva Kern` may not."""
        first, *rest = name.split()
        title = "" if first.lower() in _FIRST_NAMES else GENDERS.get(first.lower(), "")
        is_title = bool(rest and title)
        is_other = is_title and self.gender(full) not in ("", title)
        return not is_other and {*(rest if is_title else [first, *rest])} <= {*full.split()}

    def nameless(self, tree: Tree) -> dict[int, str]:
        """Return what to call the people without a name, by the places of their nouns."""
        return {
            place: _called(tree, place)
            for place in _nameless(tree)
            if not self._is_firm([tree.low[i] for i in tree.name(place)])
        }

    def _is_firm(self, words: Sequence[str]) -> bool:
        """Tell whether a name is one of a company or a club, as told before: `Velm Ltd`, `Velm`."""
        is_full = len(words) > 1 and words[-1].rstrip(".") in WORDS["firms"]
        if is_full:
            self._firms.add(words[0])
        return is_full or (len(words) == 1 and words[0] in self._firms)


def is_nameless(name: str) -> bool:
    """Tell whether somebody is called by what he is: `the guard`, `?m`."""
    return name.startswith(("?", "the "))


def stand(tree: Tree, place: int) -> int:
    """Return the noun that a name stands beside: `the mayor, Anna Kern`, `a man named Tom Orr`."""
    head = tree.tokens[place].head
    if tree.tokens[place].relation == "oprd" and tree.low[head] in ("named", "called"):
        return tree.tokens[head].head
    is_beside = tree.tokens[place].relation == "appos" and tree.tokens[head].tag == "NN"
    return head if is_beside else place


def _is_word(tree: Tree, place: int) -> bool:
    """Tell whether the first word of a sentence may be a common noun: `Arthritis`."""
    is_common = not place and tree.low[0] in english_words()
    return is_common and tree.low[0] not in _FIRST_NAMES and tree.tokens[0].entity == ""


def is_several(tree: Tree, subject: int) -> bool:
    """Tell whether a name is one of a group: `Ajax have lost`."""
    verb = tree.finite(tree.tokens[subject].head)
    return verb is not None and tree.low[verb] in ("are", "were", "have")


def _is_place(tree: Tree, start: int, end: int) -> bool:
    """Tell whether a name is one of a place or a club: `at St Etienne`, `the club Real Ulm`."""
    before = tree.tokens[max(0, start - 1)]
    is_region = "_".join(tree.low[start:end]) in WORDS["regions"]
    first = tree.tokens[tree.first(end - 1)]
    is_at = first.relation == "pobj" and tree.low[first.head] == "at"
    is_kind = before.text in _KINDS and before.head == end - 1
    return is_at or is_kind or is_region


def _is_born(tree: Tree, end: int) -> bool:
    """Tell whether a subject is introduced as a person: `Orr is a writer`, `Orr was born`."""
    if tree.subject(tree.root) != end - 1:
        return False
    roles = [tree.low[i] for i, token in enumerate(tree.tokens)
             if token.relation in ("attr", "appos", "conj")]  # fmt: skip
    is_role = any(is_person(role) for role in roles)
    return is_role or tree.low[tree.root] == "born"


def _nameless(tree: Tree) -> Iterator[int]:
    """Yield the words for persons without a name: `the mayor`, `A farmer brought it`."""
    for place, (word, token) in enumerate(zip(tree.low, tree.tokens, strict=True)):
        is_role = word in WORDS["people"]
        if not (is_role or token.tag in NAMES or token.relation in ("nsubj", "nsubjpass")):
            continue
        is_subject = token.tag == "NN" and token.relation in ("nsubj", "nsubjpass")
        clauses = [i for kid in tree.of(place, "relcl") for i in tree.kids[kid]]
        is_who = any(tree.low[i] == "who" for i in clauses) or is_person(word)
        first = tree.tokens[tree.first(place)]
        is_part = first.relation in ("compound", "nmod", "amod", "appos", "attr", "oprd")
        is_part |= first.relation == "pobj" and tree.low[first.head] == "as"
        is_bare = token.relation == "nsubj" and token.tag in NAMES and word not in _NO_PERSONS
        is_subject |= is_bare
        is_saying = token.relation == "nsubj" and tree.low[token.head] in WORDS["saying"]
        is_who |= (is_saying and word not in _NO_PERSONS) or word == "old"  # `the 26-year-old`
        is_led = bool(tree.of(place, "det"))
        is_name = not (_is_word(tree, place) or is_led)
        is_who |= is_bare and token.entity in ("", "PERSON") and is_name
        is_subject |= is_led and token.tag in NAMES and is_person(word)  # `the Englishman`
        is_subject |= word == "old" and token.relation in ("nsubj", "nsubjpass")
        is_demonym = word.endswith(("man", "ian")) and len(tree.name(place)) == 1
        is_part |= token.tag in NAMES and token.entity == "ORG" and not is_demonym
        if not is_part and (is_role or (is_subject and is_who)):
            yield place


def _called(tree: Tree, place: int) -> str:
    """Return what to call a person without a name: `the guard`; only the gender if it is unsure."""
    articles = [tree.low[i] for i in tree.of(place, "det")]
    is_one = articles in (["a"], ["an"], ["the"]) and not tree.of(place, "conj")
    owned = any(tree.tokens[i].tag in NOUNS for i in tree.of(place, "poss"))
    if owned or tree.low[place] == "old":
        start = tree.start(place)
        if tree.low[start] in ("a", "an", "the"):
            first, last = tree.tokens[start + 1], tree.tokens[place]
            return "the " + tree.text[first.start : last.start + len(last.text)]
    if tree.tokens[place].tag in ("NN", "NNP") and is_one:
        words = tree.name(place)
        return "the " + " ".join(tree.tokens[i].text for i in words)
    return "?" + gender_of(tree.low[place])


def gender_of(role: str) -> str:
    return next((gender for gender in "mf" if role in WORDS[f"people {gender}"]), "")
