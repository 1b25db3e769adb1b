"""Who `he`, `she`, `it` or `the company` is, where only one can be meant.

Reads the sentences of a paragraph one after the other. A pronoun is replaced if one person alone
was named in its sentence and the one before, or if it is the subject and the sentences before it
were about one and the same person; in all other cases it stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from factcheck.text.syntax import Token

_GENDERS = {
    "he": "m", "him": "m", "his": "m", "she": "f", "her": "f", "mr.": "m", "mr": "m", "sir": "m",
    "mrs.": "f", "mrs": "f", "ms.": "f", "ms": "f", "dame": "f",
}  # fmt: skip
_SUBJECTS = ("nsubj", "nsubjpass")
_WORDS = (
    "man woman boy girl wife husband son daughter mother father brother sister friend colleague "
    "president minister mayor doctor officer judge lawyer king queen prince princess coach manager "
    "teacher partner chairman chairwoman director secretary owner patient customer tenant victim "
    "driver player singer actor actress author writer uncle aunt cousin nephew niece grandfather "
    "grandmother girlfriend boyfriend spokesman spokeswoman neighbour neighbor nurse guest host "
    "chef boss assistant student guard suspect captain general senator"
)
_PEOPLE = frozenset(_WORDS.split())
_FIRMS = frozenset(
    {"company", "firm", "organisation", "organization", "club", "band", "charity", "agency"}
)
_ROLE = re.compile(r"(?:[^h]er|or|ist|ian|man|woman|ess|ete|ant)\Z")
_NAMELESS = "?"
"""A person without a name."""


class _Name(NamedTuple):
    text: str
    start: int
    end: int
    kind: str
    """As in `Token.entity`; `PERSON` if any of its words is one's."""


class Mentions:
    """The people and things that a paragraph has named so far."""

    def __init__(self) -> None:
        self._genders: dict[str, str] = {}
        """Gender of each person, as known from titles and pronouns; empty if unknown."""
        self._last: frozenset[str] = frozenset()
        """People of the sentence before."""
        self._topic = ""
        """The person that was the subject of it."""
        self._steady = 0
        """Number of sentences on end with this subject."""
        self._thing = ""
        """What else was the subject of it, if nothing else in it could be `it`."""
        self._firms: frozenset[str] = frozenset()

    def read(self, text: str, tokens: Sequence[Token]) -> dict[int, str]:
        """What to say in place of words of the next sentence of the paragraph, by place.

        Args:
            text: The sentence.
            tokens: Its parse; empty if there is none.
        """
        names = {name.start: name for name in self._names(text, tokens)}
        subject = _subject(tokens)
        found = self._things(tokens, subject, names)
        people: set[str] = set()
        topic = ""
        for place, token in enumerate(tokens):
            word = token.text.lower()
            name = names.get(place)
            if name and name.kind == "PERSON":
                people.add(name.text)
                title = _GENDERS.get(word) or self._genders.get(name.text, "")
                self._genders[name.text] = title
                if subject is not None and name.start <= subject < name.end:
                    topic = name.text
            elif token.tag in ("PRP", "PRP$") and word in _GENDERS:
                if subject is not None and place < subject and tokens[subject].tag == "NNP":
                    continue  # it may look ahead: "In her youth, Anna ..."
                who = self._who(_GENDERS[word], people, is_subject=place == subject)
                people.add(who or _NAMELESS)
                if who:
                    self._genders[who] = _GENDERS[word]
                    found[place] = f"{who}'s" if token.tag == "PRP$" else who
                    topic = who if place == subject else topic
            elif word in _PEOPLE and not _is_role(tokens, place):
                people.add(_NAMELESS)
        self._steady = self._steady + 1 if topic and topic == self._topic else int(bool(topic))
        self._topic, self._last = topic, frozenset(people)
        self._note_things(tokens, subject, list(names.values()))
        return found

    def _who(self, gender: str, people: set[str], *, is_subject: bool) -> str:
        """The person that a pronoun means; empty if that is not certain."""
        near = {
            name
            for name in self._last | people
            if self._genders.get(name) in ("", gender) or name == _NAMELESS
        }
        if len(near) == 1:
            return next(iter(near - {_NAMELESS}), "")
        is_known = bool(self._topic) and self._genders.get(self._topic) == gender
        if is_known and ((is_subject and not people) or people == {self._topic}):
            rivals = [name for name in near if self._genders.get(name) == gender]
            if self._steady > 1 or (rivals == [self._topic] and _NAMELESS not in near):
                return self._topic
        return ""

    def _names(self, text: str, tokens: Sequence[Token]) -> Iterator[_Name]:
        """Runs of proper nouns; people by the fullest name known: `Kern` is `Anna Kern`."""
        end = 0
        while end < len(tokens):
            start = end
            while end < len(tokens) and (
                tokens[end].tag == "NNP" or (end > start and tokens[end].tag == "HYPH")
            ):
                end += 1
            if end == start:
                end += 1
                continue
            last = tokens[end - 1]
            name = text[tokens[start].start : last.start + len(last.text)]
            if name[0] in '"\u201c':
                continue
            kinds = {token.entity for token in tokens[start:end]}
            kind = "PERSON" if "PERSON" in kinds else max(kinds)
            full = [known for known in self._genders if last.text in known.split()]
            if kind == "PERSON" or full:
                name = full[0] if len(full) == 1 else name
                kind = "PERSON"
            elif self._may_be_person(tokens, start, end):
                kind = "PERSON"
            if kind == "PERSON" and last.relation not in ("oprd", "attr"):
                self._genders.setdefault(name, "")
                yield _Name(name, start, end, kind)
            elif kind != "PERSON":
                yield _Name(name, start, end, kind)

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

    def _things(
        self, tokens: Sequence[Token], subject: int | None, names: dict[int, _Name]
    ) -> dict[int, str]:
        """Names for `it` and `the company`."""
        found = {}
        if (
            self._thing
            and subject is not None
            and tokens[subject].text.lower() == "it"
            and not any(t.relation in ("ccomp", "csubj", "csubjpass") for t in tokens)
            and not any(t.relation == "xcomp" and t.head == tokens[subject].head for t in tokens)
        ):
            found[subject] = self._thing
        here = self._firms | {name.text for name in names.values() if name.kind == "ORG"}
        for place in range(1, len(tokens)):
            is_firm = tokens[place].text.lower() in _FIRMS and tokens[place].tag == "NN"
            kids = [i for i, token in enumerate(tokens) if token.head == place != i]
            is_alone = kids == [place - 1] and tokens[place - 1].text.lower() == "the"
            is_subject = tokens[place].relation in _SUBJECTS
            if is_firm and is_alone and is_subject and len(here) == 1 and place not in names:
                found.update({place - 1: next(iter(here)), place: ""})
        return found

    def _note_things(
        self, tokens: Sequence[Token], subject: int | None, names: Sequence[_Name]
    ) -> None:
        self._firms = frozenset(name.text for name in names if name.kind == "ORG")
        own = [n for n in names if subject is not None and n.start <= subject < n.end]
        if not own or own[0].kind == "PERSON":
            self._thing = ""
            return
        verb = tokens[subject or 0].head
        is_identity = any(token.relation == "attr" and token.head == verb for token in tokens)
        others = any(
            token.tag in ("NN", "NNP") and token.relation in ("dobj", "pobj", "conj", "appos")
            for token in tokens
        )
        article = tokens[own[0].start - 1].text.lower() == "the" if own[0].start else False
        self._thing = ("the " if article else "") + own[0].text if is_identity or not others else ""


def _is_role(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word says what somebody is, rather than who: `is a teacher`, `as a teacher`."""
    while tokens[place].relation == "conj":
        place = tokens[place].head
    token = tokens[place]
    is_as = token.relation == "pobj" and tokens[token.head].text.lower() == "as"
    return is_as or token.relation in ("attr", "appos", "compound", "oprd", "nmod", "amod")


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
