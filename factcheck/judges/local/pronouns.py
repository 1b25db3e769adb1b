"""Who `he` or `she` is, where only one person can be meant.

Reads the sentences of a paragraph one after the other. A pronoun is replaced if one person alone
was named in its sentence and the one before, if it is the subject and the sentences before it were
about one and the same person, or if the paragraph said who this person is and no other was the
subject since; in all other cases it stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from factcheck.judges.local.grammar import WORDS, Tree

_GENDERS = {
    "he": "m", "him": "m", "his": "m", "she": "f", "her": "f", "mr.": "m", "mr": "m", "sir": "m",
    "mrs.": "f", "mrs": "f", "ms.": "f", "ms": "f", "miss": "f", "dame": "f",
}  # fmt: skip
_ROLE = re.compile(r"(?:[^h]er|or|ist|ian|man|woman|ess|ete|ant)\Z")
_NAMELESS = "?"
"""A person without a name."""


class _Name(NamedTuple):
    text: str
    start: int
    end: int


class Mentions:
    """The people that a paragraph has named so far."""

    def __init__(self) -> None:
        self._genders: dict[str, str] = {}
        """Gender of each person, as known from titles and pronouns; empty if unknown."""
        self._last: set[str] = set()
        """People of the sentence before."""
        self._topic = ""
        """The person that was the subject of it."""
        self._hero = ""
        """Whom the paragraph introduced last; empty if nobody."""
        self._actors: set[str] = set()
        """People of the sentence before that do something, or to or with whom it is done."""

    def read(self, tree: Tree) -> dict[int, str]:
        """What to say in place of words of the next sentence of the paragraph, by place."""
        subject = tree.subject(tree.root) if tree.tokens else None
        is_named = subject is not None and tree.tokens[subject].tag == "NNP"
        found: dict[int, str] = {}
        persons = {
            name.start: name
            for name in self._people(tree)
            if not is_named or subject not in list(tree.above(name.end - 1))[1:]
        }
        """Without other names of the subject: `Garrincha, born Manuel dos Santos`."""
        people: set[str] = set()
        topic = ""
        for place, (word, token) in enumerate(zip(tree.low, tree.tokens, strict=True)):
            if name := persons.get(place):
                people.add(name.text)
                self._genders[name.text] = _GENDERS.get(word) or self._genders.get(name.text, "")
                if subject is not None and name.start <= subject < name.end:
                    topic = name.text
            elif token.tag in ("PRP", "PRP$") and word in _GENDERS:
                if is_named and place < (subject or 0):
                    continue  # it may look ahead: "In her youth, Anna ..."
                who = self._who(_GENDERS[word], people)
                people.add(who or _NAMELESS)
                if who:
                    self._genders[who] = _GENDERS[word]
                    found[place] = f"{who}'s" if token.tag == "PRP$" else who
                    topic = who if place == subject else topic
            elif _is_nameless(tree, place):
                people.add(_NAMELESS)
        self._topic, self._last = topic, people
        self._actors = {name.text for name in persons.values() if _acts(tree, name.end - 1)}
        is_born = tree.tokens and tree.low[tree.root] == "born"
        if topic and (is_born or tree.of(tree.root, "attr")):
            self._hero = topic if self._hero in ("", topic) else ""
        return found

    def _who(self, gender: str, people: set[str]) -> str:
        """The person that a pronoun means; empty if that is not certain."""
        near = {
            name
            for name in self._last | people
            if self._genders.get(name) in ("", gender) or name == _NAMELESS
        }
        sure = {name for name, known in self._genders.items() if known == gender}
        if len(near) == 1 and near != {_NAMELESS}:
            return next(iter(near)) if near <= sure or not sure else ""
        known = self._genders.get(self._hero)
        rivals = near - {self._hero}
        if known:
            rivals &= {*sure, self._topic}
        elif self._topic == self._hero:
            rivals &= self._actors
        return self._hero if known in ("", gender) and not rivals else ""

    def _people(self, tree: Tree) -> Iterator[_Name]:
        """The names of people, by the fullest that is known: `Kern` is `Anna Kern`."""
        tags = [token.tag for token in tree.tokens]
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
            if name[0] in '"\u201c':
                continue
            full = [known for known in self._genders if last.text in known.split()]
            is_person = any(token.entity == "PERSON" for token in tree.tokens[start:end])
            if is_person or full or _is_born(tree, end):
                name = full[0] if len(full) == 1 else name
                self._genders.setdefault(name, "")
                yield _Name(name, start, end)


def _is_born(tree: Tree, end: int) -> bool:
    """Whether a subject is introduced as a person: `Orr is a writer`, `Orr was born`."""
    if tree.subject(tree.root) != end - 1:
        return False
    roles = [tree.low[i] for i, token in enumerate(tree.tokens)
             if token.relation in ("attr", "appos", "conj")]  # fmt: skip
    is_role = any(role in WORDS["people"] or _ROLE.search(role) for role in roles)
    return is_role or tree.low[tree.root] == "born"


def _stands(tree: Tree, place: int) -> tuple[str, str]:
    """The relation of a noun to its clause, and the preposition before it."""
    while tree.tokens[place].relation in ("conj", "appos", "compound", "nmod"):
        place = tree.tokens[place].head
    relation, head = tree.tokens[place].relation, tree.tokens[place].head
    return relation, tree.low[head] if relation == "pobj" else ""


def _acts(tree: Tree, place: int) -> bool:
    """Whether a name is no mere place, title or matter: `in Ulm`, `the film Kern`, `as Otto`."""
    relation, before = _stands(tree, place)
    return relation not in ("attr", "oprd") and before in ("", "by", "with", "to", "of", "from")


def _is_nameless(tree: Tree, place: int) -> bool:
    """Whether a word stands for a person without a name: `the mayor`, `A farmer brought it`."""
    token, word = tree.tokens[place], tree.low[place]
    is_owned = place > 0 and tree.tokens[place - 1].tag == "PRP$"  # "his career"
    is_subject = token.tag == "NN" and token.relation in ("nsubj", "nsubjpass") and not is_owned
    if word not in WORDS["people"] and not (is_subject and _ROLE.search(word)):
        return False
    relation, _ = _stands(tree, place)
    is_part = token.relation in ("compound", "nmod", "amod", "appos")
    return not is_part and relation not in ("attr", "oprd")
