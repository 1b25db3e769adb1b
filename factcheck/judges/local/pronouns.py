"""Who `he` or `she` is, where only one person can be meant.

Reads the sentences of a paragraph one after the other. A pronoun is replaced if one person alone
was named in its sentence and the one before, if it is the subject and the sentences before it were
about one and the same person, or if the paragraph said who this person is and no other was the
subject since; in all other cases it stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from factcheck.judges.local.grammar import WORDS
from factcheck.text.syntax import Token

_GENDERS = {
    "he": "m", "him": "m", "his": "m", "she": "f", "her": "f", "mr.": "m", "mr": "m", "sir": "m",
    "mrs.": "f", "mrs": "f", "ms.": "f", "ms": "f", "dame": "f",
}  # fmt: skip
_TITLES = {*_GENDERS, "dr", "dr.", "prof", "prof.", "professor", "captain", "judge"}
_SUBJECTS = ("nsubj", "nsubjpass")
_PEOPLE = WORDS["people"]
_ROLE = re.compile(r"(?:[^h]er|or|ist|ian|man|woman|ess|ete|ant)\Z")
_NAMELESS = "?"
"""A person without a name."""
_PARTICLES = WORDS["particles"]
"""Small words inside names."""


class _Name(NamedTuple):
    text: str
    start: int
    end: int


class Mentions:
    """The people that a paragraph has named so far."""

    def __init__(self) -> None:
        self._genders: dict[str, str] = {}
        """Gender of each person, as known from titles and pronouns; empty if unknown."""
        self._last: frozenset[str] = frozenset()
        """People of the sentence before."""
        self._topic = ""
        """The person that was the subject of it."""
        self._hero = ""
        """Whom the paragraph introduced last; empty if nobody."""
        self._actors: set[str] = set()
        """People of the sentence before that do something, or to or with whom it is done."""

    def read(self, text: str, tokens: Sequence[Token]) -> dict[int, str]:
        """What to say in place of words of the next sentence of the paragraph, by place.

        Args:
            text: The sentence.
            tokens: Its parse; empty if there is none.
        """
        subject = _subject(tokens)
        found: dict[int, str] = {}
        persons = {
            name.start: name
            for name in self._people(text, tokens)
            if subject is None
            or tokens[subject].tag != "NNP"
            or subject not in list(_above(tokens, name.end - 1))
        }
        """Without other names of the subject: `Garrincha, born Manuel dos Santos`."""
        people: set[str] = set()
        topic, hero = "", self._hero
        for place, token in enumerate(tokens):
            word = token.text.lower()
            if name := persons.get(place):
                people.add(name.text)
                self._genders[name.text] = _GENDERS.get(word) or self._genders.get(name.text, "")
                if subject is not None and name.start <= subject < name.end:
                    topic = name.text
            elif token.tag in ("PRP", "PRP$") and word in _GENDERS:
                if subject is not None and place < subject and tokens[subject].tag == "NNP":
                    continue  # it may look ahead: "In her youth, Anna ..."
                who = self._who(_GENDERS[word], people, is_subject=place == subject)
                people.add(who or _NAMELESS)
                if who:
                    self._genders[who] = _GENDERS[word]
                    follows = tokens[place + 1].tag if place + 1 < len(tokens) else "."
                    is_owner = token.tag == "PRP$" and follows not in ("DT", "IN", ".")
                    found[place] = f"{who}'s" if is_owner else who
                    topic = who if place == subject else topic
            elif _is_nameless(tokens, place):
                people.add(_NAMELESS)
        self._topic, self._last = topic, frozenset(people)
        self._actors = {n.text for n in persons.values() if _acts(tokens, n.end - 1)}
        if topic and _introduces(tokens, subject):
            self._hero = topic if hero in ("", topic) else ""
        return found

    def _who(self, gender: str, people: set[str], *, is_subject: bool) -> str:
        """The person that a pronoun means; empty if that is not certain."""
        near = {
            name
            for name in self._last | people
            if self._genders.get(name) in ("", gender) or name == _NAMELESS
        }
        sure = {name for name, known in self._genders.items() if known == gender}
        if len(near) == 1 and near != {_NAMELESS}:
            return next(iter(near)) if near <= sure or not sure else ""
        known = self._genders.get(self._hero or "")
        rivals = near - {self._hero}
        if known:
            rivals = {
                name for name in rivals if self._genders.get(name) == gender or name == self._topic
            }
        elif self._topic == self._hero:
            rivals &= self._actors - {_NAMELESS}
        if self._hero and known in ("", gender) and not rivals and (is_subject or not people):
            return self._hero
        return ""

    def _people(self, text: str, tokens: Sequence[Token]) -> Iterator[_Name]:
        """The names of people, by the fullest that is known: `Kern` is `Anna Kern`."""
        end = 0
        while end < len(tokens):
            start = end
            while end < len(tokens) and (
                tokens[end].tag == "NNP"
                or (end > start and tokens[end].tag in ("HYPH", "NNPS"))
                or (end > start and tokens[end].text in _PARTICLES
                    and end + 1 < len(tokens) and tokens[end + 1].tag == "NNP")
            ):  # fmt: skip
                end += 1
            if end == start:
                end += 1
                continue
            last = tokens[end - 1]
            name = text[tokens[start].start : last.start + len(last.text)]
            is_kind = last.relation == "compound" and tokens[last.head].text.islower()
            if is_kind or name[0] in '"\u201c':  # `the Garland frog`
                continue
            full = [known for known in self._genders if last.text in known.split()]
            is_named = tokens[start].text.lower() in _TITLES or any(
                token.entity == "PERSON" for token in tokens[start:end]
            )
            if is_named or full or self._may_be_person(tokens, start, end):
                name = full[0] if len(full) == 1 else name
                self._genders.setdefault(name, "")
                yield _Name(name, start, end)

    def _may_be_person(self, tokens: Sequence[Token], start: int, end: int) -> bool:
        """Whether a subject is introduced as a person: `Orr is a writer`, `Orr was born`."""
        subject = _subject(tokens)
        if subject != end - 1 or (start and tokens[start - 1].text.lower() == "the"):
            return False
        verb = tokens[subject].head
        roles = [t.text.lower() for t in tokens if t.relation in ("attr", "appos", "conj")]
        return tokens[verb].text == "born" or any(
            role in _PEOPLE or _ROLE.search(role) for role in roles
        )


def _above(tokens: Sequence[Token], place: int) -> Iterator[int]:
    """The words that one depends on."""
    while tokens[place].head != place:
        place = tokens[place].head
        yield place


def _introduces(tokens: Sequence[Token], subject: int | None) -> bool:
    """Whether a sentence says who or what its subject is: `Orr is a writer`, `Orr was born`."""
    verb = -1 if subject is None else tokens[subject].head
    return any(
        (token.relation == "attr" and token.head == verb) or (token.text == "born" and at == verb)
        for at, token in enumerate(tokens)
    )


def _acts(tokens: Sequence[Token], place: int) -> bool:
    """Whether a name is no mere place, title or matter: `in Ulm`, `the film Kern`, `as Otto`."""
    for at in (place, *_above(tokens, place)):
        if tokens[at].relation == "pobj":
            return tokens[tokens[at].head].text.lower() in ("by", "with", "to", "of", "from")
        if tokens[at].relation not in ("conj", "appos", "compound", "nmod"):
            return tokens[at].relation not in ("attr", "oprd")
    return True


def _is_nameless(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word stands for a person without a name: `the mayor`, `A farmer brought it`."""
    token, word = tokens[place], tokens[place].text.lower()
    is_owned = place > 0 and tokens[place - 1].tag == "PRP$"  # "his career"
    is_subject = token.tag == "NN" and token.relation in _SUBJECTS
    acts = is_subject and not is_owned and _ROLE.search(word)
    return bool(acts or word in _PEOPLE) and not _is_role(tokens, place)


def _is_role(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word says what somebody is, rather than who: `is a teacher`, `as a teacher`."""
    for at in (place, *_above(tokens, place)):
        token = tokens[at]
        is_as = token.relation == "pobj" and tokens[token.head].text.lower() == "as"
        if is_as or token.relation in ("attr", "oprd"):
            return True
        if at == place and token.relation in ("compound", "nmod", "amod", "appos"):
            return True
        if token.relation not in ("conj", "appos"):
            break
    return False


def _subject(tokens: Sequence[Token]) -> int | None:
    """The place of the subject of a sentence."""
    return next(
        (
            place
            for place, token in enumerate(tokens)
            if token.relation in _SUBJECTS and tokens[token.head].relation == "ROOT"
        ),
        None,
    )
