"""Who `he` or `she` is and what `it` is, where only one person or thing can be meant.

Reads the sentences of a paragraph one after the other. A pronoun is replaced if one person alone
was named in its sentence and the one before, if it is the subject and the sentences before it were
about one and the same person, or if the text said who this person is and no other was the subject
since; in all other cases it stays. `It` and `they` are replaced as the first subject of a sentence
if all sentences of the paragraph so far had the same subject and the last one has no object that
may be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from factcheck.judges.local.grammar import SUBJECTS, WORDS, Tree

_GENDERS = {
    "he": "m", "him": "m", "his": "m", "she": "f", "her": "f", "mr.": "m", "mr": "m", "sir": "m",
    "mrs.": "f", "mrs": "f", "ms.": "f", "ms": "f", "miss": "f", "dame": "f",
}  # fmt: skip
_ROLE = re.compile(r"(?:[^h]er|or|ist|ian|man|woman|ess|ete|ant)\Z")
_THINGS = {"it": ("NN", "NNP"), "they": ("NNS", "NNPS")}
"""What may be meant, by parts of speech."""
_NAMELESS = "?"
"""A person without a name."""


class _Name(NamedTuple):
    text: str
    start: int
    end: int


class Mentions:
    """The people that a text has named so far, and what its present paragraph is about."""

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
        self._thing: tuple[str, str] | None = None
        """What all sentences of the paragraph are about, as text and as `it` or `they`; empty if
        they differ."""

    def next_paragraph(self) -> None:
        """Forget all but the person whom the text is about."""
        gender = self._genders.get(self._hero, "")
        self._genders = {self._hero: gender} if gender else {}
        self._hero = self._hero if gender else ""
        self._last, self._topic, self._actors, self._thing = set(), "", set(), None

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
        if subject is not None:
            found |= self._read_thing(tree, subject, is_person=bool(topic))
        return found

    def _read_thing(self, tree: Tree, subject: int, *, is_person: bool) -> dict[int, str]:
        """What to say in place of `it` or `they`; keeps what the paragraph is about."""
        word = tree.low[subject]
        text, form = self._thing or ("", "")
        found = {}
        if self._thing is None and not is_person:
            text, form = _thing(tree, subject)
        elif word == form and not _is_idle(tree):
            if not any(token.relation in SUBJECTS for token in tree.tokens[:subject]):
                found[subject] = text
        elif not text or tree.tokens[subject].text != text.rsplit(None, 1)[-1]:
            text = form = ""
        if form and any(
            tree.tokens[i].tag in _THINGS[form] and tree.of(i, "det", "poss", "nummod")
            for i in tree.of(tree.root, "dobj")
        ):
            text = form = ""
        self._thing = (text, form)
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
            is_addressed = not WORDS["formulas"].isdisjoint(tree.low[max(0, start - 1) : start + 1])
            if name[0] in '"\u201c' or is_addressed:
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


def _thing(tree: Tree, subject: int) -> tuple[str, str]:
    """A thing that a sentence is about, and its pronoun; both empty if it may be a person."""
    token = tree.tokens[subject]
    form = next((form for form, tags in _THINGS.items() if token.tag in tags), "")
    words = [i for i in tree.under(subject, full=True) if i <= subject]
    is_plain = not tree.of(subject, "conj", "appos") and words == [*range(words[0], subject + 1)]
    is_person = token.entity == "PERSON" or tree.low[subject] in WORDS["people"]
    if form and is_plain and not is_person and tree.is_definite(subject):
        is_role = form == "it" and _ROLE.search(tree.low[subject]) and token.tag == "NN"
        start, end = tree.tokens[words[0]].start, token.start + len(token.text)
        text = tree.text[start:end]
        if words[0] == 0 and tree.tokens[0].tag in ("DT", "PRP$"):
            text = text[0].lower() + text[1:]
        return ("", "") if is_role else (text, form)
    return "", ""


def _is_idle(tree: Tree) -> bool:
    """Whether `it` stands for a clause or for nothing: `It follows that`, `It took years to`."""
    kids = [
        tree.root,
        *tree.kids[tree.root],
        *(k for i in tree.kids[tree.root] for k in tree.kids[i]),
    ]
    is_verb = tree.low[tree.root] in WORDS["idle"]
    return is_verb or any(
        tree.tokens[i].relation in ("ccomp", "csubj", "relcl", "xcomp") for i in kids
    )


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
