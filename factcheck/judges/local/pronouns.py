"""Who `he` or `she` is and what `it` or `they` are, where only one can be meant.

Reads the sentences of a text one after the other. A pronoun that opens a sentence as its subject
means the subject of the sentence before, unless another person of the same gender does something
in that one, or it is done to her. Any other pronoun is replaced if one person alone can be meant
among those of its sentence and the one before, or, if these name nobody, among all that the text
has named. `It` and `they` mean the subject of the sentence before, unless its object may be meant
as well. In all other cases a pronoun stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from factcheck.judges.local.tree import (
    AMOUNTS,
    BRACKET,
    NAMES,
    NOUNS,
    PLURAL,
    SUBJECTS,
    TIMES,
    WORDS,
    Tree,
    is_person,
)
from factcheck.text.words import english_words, word_set

_GENDERS = {
    "he": "m", "him": "m", "his": "m", "mr.": "m", "mr": "m", "sir": "m", "she": "f", "her": "f",
    "mrs.": "f", "mrs": "f", "ms.": "f", "ms": "f", "miss": "f", "dame": "f",
    **dict.fromkeys(WORDS["men"], "m"), **dict.fromkeys(WORDS["women"], "f"),
}  # fmt: skip
_SOME = word_set("many several few more other such certain various most some different")
_FIRST_NAMES = WORDS["men"] | WORDS["women"]
_KINDS = frozenset({"club", "side", "team", "company", "firm", "group", "city", "town", "village"})
_BE = frozenset({"is", "was", "'s", "be", "been"})
THINGS = {"it": ("NN", "NNP"), "its": ("NN", "NNP"), "they": ("NNS",), "their": ("NNS",)}
"""What may be meant, by its form."""


class _Name(NamedTuple):
    text: str
    start: int
    end: int
    is_person: bool
    """Whether the parser, or the text so far, takes it for a person."""


class _Told(NamedTuple):
    """What a sentence leaves for the pronouns of the next one."""

    people: set[str]
    """Nameless ones are called `the guard`; `?m`, `?f` or `?` if one of several may be meant, and
    `?m?` or `?f?` where a pronoun is all that is known."""
    actors: set[str]
    """Those of them that do something, or to whom it is done."""
    about: str = ""
    """Its subject, if that is one person, or one thing or several, with the article."""
    form: str = ""
    """`PERSON`, `NN` or `NNS`; `NNP` if `about` is a name of either."""
    places: Mapping[int, str] = {}
    """Its people by place."""


class Mentions:
    """The people that a text has named so far, and what its last sentence is about."""

    def __init__(self) -> None:
        self._genders: dict[str, str] = {}
        """Gender of each person, as known from titles, first names and pronouns; else empty."""
        self._by_word: dict[str, list[str]] = {}
        """The same names, by each of their words."""
        self._doubtful: set[str] = set()
        """Words that began a sentence, so that their capital letter does not make them names."""
        self._firms: set[str] = set()
        """First words of the names of companies and clubs."""
        self._teams: set[str] = set()
        """Names that go with a plural verb: `Ajax have won`."""
        self._last = _Told(set(), set())
        self._said: _Told | None = None
        """What the last sentence of the quotation leaves, if it goes on."""
        self._speaker = ""
        self._hero = ""
        """Whom the text introduced; empty if nobody, or several."""

    @property
    def subject(self) -> str:
        """Return whom or what the last sentence is about; empty if that is not certain."""
        return self._last.about

    def next_paragraph(self) -> None:
        """Forget the thing that the last paragraph was about."""
        if self._last.form != "PERSON":
            self._last = self._last._replace(about="", form="")

    def read(self, tree: Tree, speaker: str = "") -> dict[int, str]:
        """What to say in place of words of the next sentence of the text, by place.

        Args:
            tree: The sentence.
            speaker: Who says it, if it is a quotation; never meant by `he` or `she`.
        """
        self._speaker, narrated = speaker, self._last
        if self._said and (speaker or not narrated.about):
            self._last = self._said
        subject = _topic(tree) if tree.tokens else None
        names = {name.start: name for name in self._names(tree, subject)}
        found: dict[int, str] = {}
        told = self._read_people(tree, subject, names, found)
        if told.form == "PERSON":
            self._meet(tree, told.about)
        if subject is not None:
            told = self._read_thing(tree, subject, found, told)
        self._last, self._said = (narrated, told) if speaker else (told, None)
        beside = {n.text for n in names.values() if _stand(tree, n.end - 1) == subject != n.end - 1}
        return {i: n for i, n in found.items() if n.removesuffix("'s") not in beside}

    def _read_people(
        self, tree: Tree, subject: int | None, names: Mapping[int, _Name], found: dict[int, str]
    ) -> _Told:
        """Put people in place of pronouns, and return those of the sentence."""
        heads = {_stand(tree, name.end - 1) for name in names.values()}
        nameless = {
            i: _called(tree, i)
            for i in _nameless(tree)
            if i not in heads and not self._is_firm([tree.low[k] for k in tree.name(i)])
        }
        begin = (subject or 0) if subject in heads else 0
        """Where pronouns no longer look ahead: `In her youth, Anna ...`."""
        places: dict[int, str] = {}
        told = _Told(set(), set(), places=places)
        for place, word in enumerate(tree.low):
            name, who, at = names.get(place), nameless.get(place, ""), place
            if name is not None:
                who, at = name.text, _stand(tree, name.end - 1)
                if name.is_person:
                    self._know(who, self._gender(who) or _GENDERS.get(word, ""))
            elif tree.tokens[place].tag in ("PRP", "PRP$") and word in _GENDERS:
                is_known = place >= begin or tree.tokens[place].head == subject
                who = self._put(tree, place, subject, told, found) if is_known else ""
            if not who:
                continue
            places[at] = who
            told.people.add(who)
            is_kin = any(tree.tokens[i].tag == "PRP$" for i in tree.of(at, "poss"))
            relation = tree.tokens[tree.first(at)].relation
            if relation in ("nsubj", "nsubjpass") or (relation == "dobj" and not is_kin):
                told.actors.add(who)
            if at == subject and who[0] != "?" and not tree.of(at, "conj"):
                is_person = who in self._genders or _is_nameless(who)
                told = told._replace(about=who, form="PERSON" if is_person else "NNP")
        return told

    def _meet(self, tree: Tree, who: str) -> None:
        """Keep whom the text introduces."""
        if _is_nameless(who):
            return
        if tree.low[tree.root] == "born" or tree.of(tree.root, "attr"):
            self._hero = who if self._hero in ("", who) else ""

    def _put(
        self, tree: Tree, place: int, subject: int | None, told: _Told, found: dict[int, str]
    ) -> str:
        """Put a person in place of a pronoun if that is certain, and return who it is."""
        people, about = told.people, told.about
        gender, last = _GENDERS[tree.low[place]], self._last

        doer = told.places.get(_doer_of(tree, place), "")

        def fitting(names: Iterable[str]) -> set[str]:
            fit = {name for name in names if self._gender(name) in ("", gender)} - {doer}
            speaking = {*self._speaker.lower().split()}
            return {name for name in fit if speaking.isdisjoint(name.lower().split())}

        opens = place == subject or tree.tokens[place].head == subject
        is_saying = tree.low[tree.root] in WORDS["saying"]
        if opens and not people and last.form in ("PERSON", "NNP") and fitting([last.about]):
            is_person = last.form == "PERSON"
            others = last.actors if is_person else last.people
            near = fitting(others) | {last.about}
            known = {name for name in near if self._gender(name) == gender}
            if is_person and is_saying and known <= {last.about}:
                near = {last.about}
        else:
            beside = people | (last.actors if opens else last.people)
            outer = told.places.get(_subject_around(tree, place), "")
            again = {
                who for i, who in told.places.items() if i in found and self._is(tree, i, gender)
            }
            is_owner = tree.tokens[place].tag == "PRP$" and (subject or place) < place
            is_owner &= tree.tokens[subject or 0].tag in ("NN", "NNP")  # `A furious Orr broke his`
            is_free = not (opens or people or is_owner)
            if is_free and self._gender(last.about) == gender:
                beside = last.actors | {last.about}
            if len(again) == 1 and fitting(again):
                beside = again
            elif about in people and fitting(people) == {about} and not is_saying:
                beside = people
            elif outer and fitting([outer]):
                beside = {outer}
            near = fitting(beside) - {f"?{gender}?"}
            named = () if self._speaker and not opens else self._genders
            near = near or fitting(n for n in named if self._gender(n) == gender)
        who = next(iter(near)) if len(near) == 1 else "?"
        if who[0] == "?" and self._gender(self._hero) == gender and fitting([self._hero]):
            beside = people | {last.about}
            rivals = {n for n in near if n in beside or self._gender(n)} - {self._hero}
            who = who if rivals else self._hero
        is_doubtful = who in self._teams or who in self._doubtful - self._genders.keys()
        is_explained = bool(tree.of(place, BRACKET))  # `He (the child) was crying`
        is_spoken = bool(self._speaker) and _is_nameless(who)  # who else is there is not told
        if is_spoken or is_doubtful or is_explained or who[0] == "?":
            return "" if fitting(people) else f"?{gender}?"
        self._know(who, gender)
        found[place] = f"{who}'s" if tree.tokens[place].tag == "PRP$" else who
        return who

    def _is(self, tree: Tree, place: int, gender: str) -> bool:
        return _GENDERS.get(tree.low[place]) == gender and tree.tokens[place].tag[:3] == "PRP"

    def introduce(self, name: str) -> None:
        """Keep somebody who says `I`, and so is a person."""
        self._know(name, self._gender(name))

    def _know(self, name: str, gender: str) -> None:
        if name not in self._genders:
            for word in {*name.split()}:
                self._by_word.setdefault(word, []).append(name)
        self._genders[name] = gender

    def _gender(self, name: str) -> str:
        if name.startswith("?"):
            return name[1:2]
        if _is_nameless(name):
            return self._genders.get(name) or _gender_of(name.rpartition(" ")[2])
        words = name.lower().split(" ")
        known = [_GENDERS.get(word, "") for word in words[:2]] + [_gender_of(w) for w in words]
        return self._genders.get(name) or next(filter(None, known), "")

    def _read_thing(self, tree: Tree, subject: int, found: dict[int, str], told: _Told) -> _Told:
        """Put the last subject in place of `it`, `they`, `its` and `their`; return the next one."""
        last, about, form = self._last, told.about, told.form
        openers = [i for i in [subject, *tree.of(subject, "poss")] if tree.low[i] in THINGS]
        word = tree.low[openers[0]] if openers else ""
        before = [i for i in range(subject) if tree.tokens[i].relation in SUBJECTS]
        is_first = all(tree.low[i] == word for i in before)  # `When they came, they found`
        if not openers and not about:
            about, form = thing_of(tree, subject)
        elif openers and is_first and not (openers[0] == subject and _is_idle(tree)):
            place = openers[0]
            if last.form in THINGS[tree.low[place]]:
                found[place] = _own(last.about) if place != subject else last.about
                found.update(dict.fromkeys(before, last.about))
                if place == subject:
                    about, form = last.about, last.form
                elif told.form != "PERSON":
                    about, form = "", ""
        is_named = " " in about or not about.islower()
        if is_named and form != "PERSON":
            for place in _beside(tree, form):
                is_owner = tree.tokens[place].tag == "PRP$"
                found[place] = _own(about) if is_owner else about
        if has_rival(tree, form):
            form = "PERSON" if form == "NNP" else ""
        return told._replace(about=about, form=form)

    def _names(self, tree: Tree, subject: int | None) -> Iterator[_Name]:
        """The names of people, by the fullest that is known: `Kern` is `Anna Kern`."""
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
            is_firm = self._is_firm(tree.low[start:end])
            if name[0] in '"\u201c' or is_addressed or is_other or is_firm:
                continue
            full = self._by_word.get(last.text, [])
            is_person = any(token.entity == "PERSON" for token in tree.tokens[start:end])
            is_person &= not _is_place(tree, start, end)
            is_person &= all(tree.tokens[i].tag != "PRP$" for i in tree.of(end - 1, "poss"))
            is_bare = not tree.of(end - 1, "det") and last.entity in ("", "PERSON")
            is_bare &= not _is_word(tree, end - 1)
            if end - 1 == subject and _is_team(tree, subject):
                self._teams.add(name)
            if is_person or full or _is_born(tree, end):
                same = [each for each in full if _may_be(name, each)]
                yield _Name(same[0] if len(same) == 1 else name, start, end, True)
            elif end - 1 == subject and is_bare:
                is_saying = tree.low[tree.root] in WORDS["saying"]
                if end == 1 and not (is_saying and _GENDERS.keys() & {*tree.low}):
                    self._doubtful.add(name)
                yield _Name(name, start, end, False)

    def _is_firm(self, words: Sequence[str]) -> bool:
        """Tell whether a name is one of a company or a club, as told before: `Velm Ltd`, `Velm`."""
        is_full = len(words) > 1 and words[-1].rstrip(".") in WORDS["firms"]
        if is_full:
            self._firms.add(words[0])
        return is_full or (len(words) == 1 and words[0] in self._firms)


def _is_word(tree: Tree, place: int) -> bool:
    """Tell whether the first word of a sentence may be a common noun: `Arthritis`."""
    is_common = not place and tree.low[0] in english_words() - _FIRST_NAMES
    return is_common and tree.tokens[0].entity == ""


def _doer_of(tree: Tree, pronoun: int) -> int:
    """Return the subject of the verb that has a pronoun as its object; -1 if there is none."""
    verb = tree.tokens[pronoun].head
    if tree.tokens[pronoun].relation == "pobj":
        verb = tree.tokens[verb].head
    is_object = tree.tokens[pronoun].relation in ("dobj", "dative", "pobj")
    while is_object and tree.subject(verb) is None and tree.tokens[verb].relation == "conj":
        verb = tree.tokens[verb].head
    subject = tree.subject(verb) if is_object else None
    return -1 if subject is None else subject


def _subject_around(tree: Tree, pronoun: int) -> int:
    """Return the subject of the clause around that of a pronoun; -1 if there is none."""
    if tree.tokens[pronoun].relation == "poss":
        pronoun = tree.tokens[pronoun].head  # `while his brother stayed`
    verb = tree.tokens[pronoun].head
    is_inner = tree.tokens[pronoun].relation in SUBJECTS and tree.tokens[verb].relation == "advcl"
    subject = tree.subject(tree.tokens[verb].head) if is_inner else None
    return -1 if subject is None else subject


def _topic(tree: Tree) -> int | None:
    """Return the subject of a sentence, or of what is said: `The mill closed, police said`."""
    said = [i for i in tree.of(tree.root, "ccomp") if i < tree.root]
    is_saying = bool(said) and tree.low[tree.root] in WORDS["saying"]
    topic = tree.subject(said[0]) if is_saying else None
    is_noun = topic is not None and tree.tokens[topic].tag in NOUNS
    return topic if is_noun else tree.subject(tree.root)


def _may_be(name: str, full: str) -> bool:
    """Tell whether `Kern` or `Mr Kern` may be `Anna Kern`, as `Eva Kern` may not."""
    first, *rest = name.split()
    is_title = bool(rest) and first.lower() in _GENDERS and first.lower() not in _FIRST_NAMES
    return {*(rest if is_title else [first, *rest])} <= {*full.split()}


def _is_nameless(name: str) -> bool:
    return name.startswith(("?", "the "))


def _is_place(tree: Tree, start: int, end: int) -> bool:
    """Tell whether a name is one of a place or a club: `at St Etienne`, `the club Real Ulm`."""
    last, before = tree.tokens[end - 1], tree.tokens[max(0, start - 1)]
    is_region = "_".join(tree.low[start:end]) in WORDS["regions"]
    is_at = last.relation == "pobj" and tree.low[last.head] == "at"
    is_kind = before.text in _KINDS and before.head == end - 1
    return is_at or is_kind or is_region


def _is_team(tree: Tree, subject: int) -> bool:
    """Whether a name in the singular goes with a plural verb: `Ajax have won`."""
    verb = tree.finite(tree.tokens[subject].head)
    is_plural = verb is not None and (tree.tokens[verb].tag == "VBP" or tree.low[verb] == "were")
    return is_plural and not tree.of(subject, "conj")


def _is_born(tree: Tree, end: int) -> bool:
    """Whether a subject is introduced as a person: `Orr is a writer`, `Orr was born`."""
    if tree.subject(tree.root) != end - 1:
        return False
    roles = [tree.low[i] for i, token in enumerate(tree.tokens)
             if token.relation in ("attr", "appos", "conj")]  # fmt: skip
    is_role = any(is_person(role) for role in roles)
    return is_role or tree.low[tree.root] == "born"


def _beside(tree: Tree, form: str) -> Iterator[int]:
    """Yield what means the subject in the clauses behind it: `Ajax fell after it had ...`."""
    others = NOUNS - PLURAL if form == "NN" else PLURAL | {"NNP"} if form == "NNS" else NOUNS
    for clause in tree.of(tree.root, "advcl", "conj"):
        inner = tree.subject(clause)
        if inner is None or inner < tree.root:
            continue
        between = tree.tokens[tree.root : tree.start(clause)]
        if any(token.tag in others and token.entity not in AMOUNTS for token in between):
            continue
        for place in [inner, *tree.of(inner, "poss")]:
            if form in THINGS.get(tree.low[place], ()):
                yield place


def _own(name: str) -> str:
    """Return whose something is: `the mills'`."""
    return name + ("'" if name.endswith("s") else "'s")


def has_rival(tree: Tree, form: str) -> bool:
    """Whether the object of a sentence may be meant by the next pronoun as well as its subject.

    So may what a phrase introduces: `CBS answered with a musical. It was shown in May.`
    """
    objects = tree.of(tree.root, "dobj")
    if any(
        tree.tokens[i].tag in (form, "NNP") and tree.of(i, "det", "poss", "nummod") for i in objects
    ):
        return True
    phrases = [k for k in tree.of(tree.root, "prep") if not tree.is_time(k)]
    new = [i for phrase in phrases for i in tree.of(phrase, "pobj") if tree.tokens[i].tag == "NN"]
    articles = {tree.low[k] for i in new if not is_person(tree.low[i]) for k in tree.of(i, "det")}
    return form in ("NN", "NNP") and not articles.isdisjoint({"a", "an"})


def thing_of(tree: Tree, subject: int) -> tuple[str, str]:
    """A thing or several that a sentence is about, and the form; both empty for one person."""
    token = tree.tokens[subject]
    if tree.of(subject, "conj"):
        return _names_of(tree, subject)
    form = {"NN": "NN", "NNP": "NN", "NNS": "NNS", "NNPS": "NNS"}.get(token.tag, "")
    words = [i for i in tree.under(subject) if i <= subject]
    is_plain = not tree.of(subject, "appos") and words == [*range(words[0], subject + 1)]
    may_be_person = token.entity == "PERSON" or is_person(tree.low[subject])
    if form and is_plain and not may_be_person and _is_definite(tree, subject):
        start, end = tree.tokens[words[0]].start, token.start + len(token.text)
        text = tree.text[start:end]
        is_name = tree.tokens[words[0]].tag in NAMES
        if words[0] == 0 and not is_name:
            text = text[0].lower() + text[1:]
        is_counted = form == "NNS" and tree.of(subject, "nummod") and not tree.of(subject, "det")
        return "the " * bool(is_counted) + text, form
    return "", ""


def _names_of(tree: Tree, subject: int) -> tuple[str, str]:
    """Return the names in a list, `Anna Kern and Tom Orr`, as several; empty if not all are."""
    names = []
    for member in tree.listed(subject):
        words = tree.name(member)
        is_name = all(tree.tokens[i].tag in NAMES for i in words) and not tree.of(member, "det")
        if not is_name or words != [*range(words[0], member + 1)]:
            return "", ""
        start, last = tree.tokens[words[0]].start, tree.tokens[member]
        names.append(tree.text[start : last.start + len(last.text)])
    links = [tree.low[i] for member in tree.listed(subject) for i in tree.of(member, "cc")]
    return (", ".join(names[:-1]) + f" and {names[-1]}", "NNS") if links == ["and"] else ("", "")


def _is_definite(tree: Tree, noun: int) -> bool:
    """Tell whether it is clear what a noun means: a name, `the mill`, `her memoir`, `artists`."""
    articles = {tree.low[i] for i in tree.of(noun, "det", "poss")}
    is_some = any(tree.low[i] in _SOME for i in tree.of(noun, "amod"))
    is_bare = tree.tokens[noun].tag in PLURAL and not (articles or is_some)
    is_known = bool(articles - {"a", "an", "no", "any", "some"})
    return tree.tokens[noun].tag in NAMES or is_known or is_bare


def _is_idle(tree: Tree) -> bool:
    """Whether `it` stands for a clause or for nothing: `It follows that`, `It took years to`."""
    kids = [i for kid in [tree.root, *tree.kids[tree.root]] for i in [kid, *tree.kids[kid]]]
    is_said = tree.low[tree.root] in _BE or tree.of(tree.root, "auxpass")
    is_clause = any(tree.tokens[i].relation in ("ccomp", "csubj", "relcl", "xcomp") for i in kids)
    return tree.low[tree.root] in WORDS["idle"] or (bool(is_said) and is_clause)


def _stand(tree: Tree, place: int) -> int:
    """The noun that a name stands beside: `the mayor, Anna Kern`, `a man named Tom Orr`."""
    head = tree.tokens[place].head
    if tree.tokens[place].relation == "oprd" and tree.low[head] in ("named", "called"):
        return tree.tokens[head].head
    is_beside = tree.tokens[place].relation == "appos" and tree.tokens[head].tag == "NN"
    return head if is_beside else place


def _nameless(tree: Tree) -> Iterator[int]:
    """The words for persons without a name: `the mayor`, `A farmer brought it`."""
    for place, (word, token) in enumerate(zip(tree.low, tree.tokens, strict=True)):
        is_subject = token.tag == "NN" and token.relation in ("nsubj", "nsubjpass")
        clauses = [i for kid in tree.of(place, "relcl") for i in tree.kids[kid]]
        is_who = any(tree.low[i] == "who" for i in clauses) or is_person(word)
        relation = tree.tokens[tree.first(place)].relation
        is_part = relation in ("compound", "nmod", "amod", "appos", "attr", "oprd")
        is_bare = token.relation == "nsubj" and token.tag in NAMES
        is_subject |= is_bare
        is_saying = token.relation == "nsubj" and tree.low[token.head] in WORDS["saying"]
        is_who |= is_saying or word == "old"  # `the 26-year-old`
        is_name = not (_is_word(tree, place) or tree.of(place, "det"))
        is_who |= is_bare and token.entity in ("", "PERSON") and is_name
        if not is_part and (word in WORDS["people"] or (is_subject and is_who)):
            yield place


def _called(tree: Tree, place: int) -> str:
    """Return what to call a person without a name: `the guard`; only the gender if it is unsure."""
    articles = [tree.low[i] for i in tree.of(place, "det")]
    is_one = articles in (["a"], ["an"], ["the"]) and not tree.of(place, "conj")
    if tree.tokens[place].tag in ("NN", "NNP") and is_one:
        words = tree.name(place)
        return "the " + " ".join(tree.tokens[i].text for i in words)
    return "?" + _gender_of(tree.low[place])


def _gender_of(role: str) -> str:
    return next((gender for gender in "mf" if role in WORDS[f"people {gender}"]), "")
