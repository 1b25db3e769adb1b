"""Who `he` or `she` is and what `it` or `they` are, where only one can be meant.

Reads the sentences of a text one after the other. A pronoun that opens a sentence as its subject
means the subject of the sentence before, unless another person of the same gender does something in
that one, or it is done to her; if that sentence is about a thing, whom it names with it; and of who
speaks again, it means whoever spoke. Any other pronoun means whom the same pronoun meant before in
its sentence; else the subject of the clause around its own; else it is replaced if one person alone
can be meant among those of its sentence and the one before, or, if these name nobody, among all
that the text has named. It never means who does something to it. `It` and `they` mean the subject
of the sentence before, unless its object may be meant as well, or that subject is new to the text
and may be part of a thing; done something to by a joined verb, they mean the object of the verb
before. In all other cases a pronoun stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from factcheck.judges.local.people import (
    GENDERS,
    Name,
    People,
    gender_of,
    is_nameless,
    is_several,
    stand,
)
from factcheck.judges.local.tree import (
    AMOUNTS,
    BRACKET,
    NAMES,
    NOUNS,
    PLURAL,
    SUBJECTS,
    WORDS,
    Tree,
    is_person,
)
from factcheck.text.words import word_set

_SOME = word_set("many several few more other such certain various most some different")
_BE = frozenset({"is", "was", "'s", "be", "been"})
_ONE, _SEVERAL = ("NN", "NNP", "GROUP"), ("NNS", "GROUP")
_THINGS = {"it": _ONE, "its": _ONE, "they": _SEVERAL, "their": _SEVERAL}
"""What may be meant, by its form."""
_OBJECTS = {"it": _ONE, "them": _SEVERAL}
_INNER = frozenset({"advcl", "relcl", "acl", "pcomp"})
"""Clauses within a clause, of whose people the next sentence speaks less."""
_NO_THINGS = AMOUNTS | {"PERSON"}
_GROUPS = word_set("couple pair duo trio family team side club crew band group council party gang")
"""`It` or `they`."""


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
    """`PERSON`, `NN`, `NNS` or `GROUP`; `NNP` if `about` is a name of either."""
    says: bool = False
    """Whether `about` says something."""
    hears: bool = False
    """Whether it is said to somebody."""
    places: Mapping[int, str] = {}
    """Its people by place."""


class _Pronoun(NamedTuple):
    place: int
    gender: str
    opens: bool
    """Whether it is the subject of its sentence, or whose it is."""
    doer: str
    """Who does something to it, and so is somebody else."""


class Mentions:
    """The people that a text has named so far, and what its last sentence is about."""

    def __init__(self) -> None:
        self._people = People()
        self._last = _Told(set(), set())
        self._said: _Told | None = None
        """What the last sentence of the quotation leaves, if it goes on."""
        self._speaker = ""
        self._hero = ""
        """Whom the text introduced; empty if nobody, or several."""
        self._met: set[str] = set()
        """People whom the text does not only name in a phrase: `a letter from Tom Orr`."""
        self._nouns: set[str] = set()
        """Nouns of the text so far."""

    @property
    def subject(self) -> str:
        """Return whom or what the last sentence is about; empty if that is not certain."""
        return self._last.about

    def introduce(self, name: str) -> None:
        """Keep somebody who says `I`, and so is a person."""
        self._people.know(name)

    def next_paragraph(self) -> None:
        """Forget the thing that the last paragraph was about."""
        if self._last.form != "PERSON":
            self._last = self._last._replace(about="", form="")

    def read(self, tree: Tree, speaker: str = "") -> dict[int, str]:
        """Return what to say in place of words of the next sentence of the text, by place.

        Args:
            tree: The sentence.
            speaker: Who says it, if it is a quotation; never meant by `he` or `she`.
        """
        if not any(token.text[0].isalnum() for token in tree.tokens):
            return {}
        self._speaker, narrated = speaker, self._last
        if self._said and (speaker or not narrated.about):
            self._last = self._said
        subject = _topic(tree)
        names = {name.start: name for name in self._people.names(tree, subject)}
        found: dict[int, str] = {}
        told = self._by_name(self._read_people(tree, subject, names, found))
        if told.form == "PERSON":
            self._meet(tree, told.about)
        if subject is not None:
            told = self._read_thing(tree, subject, found, told)
        found.update(_objects_again(tree))
        self._nouns |= {tree.low[i] for i, token in enumerate(tree.tokens) if token.tag in NOUNS}
        self._last, self._said = (narrated, told) if speaker else (told, None)
        beside = {n.text for n in names.values() if stand(tree, n.end - 1) == subject != n.end - 1}
        return {i: n for i, n in found.items() if n.removesuffix("'s") not in beside}

    def _read_people(
        self, tree: Tree, subject: int | None, names: Mapping[int, Name], found: dict[int, str]
    ) -> _Told:
        """Put people in place of pronouns, and return those of the sentence."""
        heads = {stand(tree, name.end - 1) for name in names.values()}
        nameless = {i: who for i, who in self._people.nameless(tree).items() if i not in heads}
        begin = (subject or 0) if subject in heads else 0
        """Where pronouns no longer look ahead: `In her youth, Anna ...`."""
        places: dict[int, str] = {}
        told = _Told(set(), set(), places=places)
        inner: set[str] = set()
        for place, word in enumerate(tree.low):
            name, who, at = names.get(place), nameless.get(place, ""), place
            if name is not None:
                who, at = name.text, stand(tree, name.end - 1)
                if name.is_person:
                    gender = self._people.gender(who) or GENDERS.get(word, "")
                    self._people.know(who, gender or gender_of(tree.low[at]))
            elif _means_person(tree, place):
                is_known = place >= begin or tree.tokens[place].head == subject
                who = self._put(tree, place, subject, told, found) if is_known else ""
            if not who:
                continue
            places[at] = who
            told.people.add(who)
            is_kin = any(tree.tokens[i].tag == "PRP$" for i in tree.of(at, "poss"))
            first = tree.tokens[tree.first(at)]
            relation = first.relation
            if relation in ("nsubj", "nsubjpass") or (relation == "dobj" and not is_kin):
                is_inner = any(tree.tokens[i].relation in _INNER for i in tree.above(first.head))
                (inner if is_inner else told.actors).add(who)
            if relation not in ("pobj", "poss", "compound", "nmod"):
                self._met.add(who)
            if at == subject and who[0] != "?" and not tree.of(at, "conj"):
                form = "PERSON" if self._people.is_known(who) else "NNP"
                told = told._replace(about=who, form=form)
        unknown = told.people & {"?m?", "?f?"}
        return told._replace(
            actors=told.actors or (inner | unknown) - {"?"},
            says=tree.is_saying,
            hears=bool(tree.of(tree.root, "dobj", "dative")),
        )

    def _by_name(self, told: _Told) -> _Told:
        """Return a sentence about `the 62-year-old` as one about whom the last one was about."""
        name = self._last.about
        is_known = self._last.form == "PERSON" and not is_nameless(name)
        if not (is_known and told.about.endswith("-old")):
            return told
        people, actors = (each - {told.about} | {name} for each in (told.people, told.actors))
        return told._replace(about=name, people=people, actors=actors)

    def _meet(self, tree: Tree, who: str) -> None:
        """Keep whom the text introduces."""
        if is_nameless(who):
            return
        if tree.low[tree.root] == "born" or tree.of(tree.root, "attr"):
            self._hero = who if self._hero in ("", who) else ""

    def _put(
        self, tree: Tree, place: int, subject: int | None, told: _Told, found: dict[int, str]
    ) -> str:
        """Put a person in place of a pronoun if that is certain, and return who it is."""
        pronoun = _Pronoun(
            place,
            GENDERS[tree.low[place]],
            place == subject or tree.tokens[place].head == subject,
            told.places.get(_doer_of(tree, place), ""),
        )
        near = self._spoken_of(tree, pronoun, told) or self._near(
            tree, pronoun, subject, told, found
        )
        who = next(iter(near)) if len(near) == 1 else "?"
        who = self._or_hero(who, pronoun, near, told)
        is_explained = bool(tree.of(place, BRACKET))  # `He (the child) was crying`
        is_new = bool(self._speaker) and is_nameless(who)  # a quotation may mean anybody
        if who[0] == "?" or is_new or is_explained or self._people.is_doubtful(who):
            unknown = f"?{pronoun.gender}?"
            return "" if self._fitting(pronoun, told.people) - {unknown} else unknown
        self._people.know(who, pronoun.gender)
        found[place] = f"{who}'s" if tree.tokens[place].tag == "PRP$" else who
        return who

    def _fitting(self, pronoun: _Pronoun, names: Iterable[str]) -> set[str]:
        """Return those people whom a pronoun may mean."""
        speaking = {*self._speaker.lower().split()}
        fitting = {
            name
            for name in names
            if self._people.gender(name) in ("", pronoun.gender)
            and name != pronoun.doer
            and speaking.isdisjoint(name.lower().split())
        }
        words = [{*name.split()} for name in fitting]
        return {name for name in fitting if not any({*name.split()} < full for full in words)}

    def _spoken_of(self, tree: Tree, pronoun: _Pronoun, told: _Told) -> set[str]:
        """Return whom a pronoun that opens a sentence may mean if the last was about a person."""
        last = self._last
        is_person = last.form == "PERSON"
        is_about = last.form in ("PERSON", "NNP") and bool(self._fitting(pronoun, [last.about]))
        if not (pronoun.opens and is_about) or told.people:
            return set()
        near = self._fitting(pronoun, last.actors if is_person else last.people) | {last.about}
        known = {name for name in near if self._people.gender(name) == pronoun.gender}
        says = is_person and tree.is_saying
        if last.says and is_nameless(last.about) and not says:
            return near | {"?"}  # `The spokesman said that Orr was ill. He died.`
        is_clear = (last.says and not last.hears) or known <= {last.about}
        return {last.about} if says and is_clear else near

    def _near(
        self,
        tree: Tree,
        pronoun: _Pronoun,
        subject: int | None,
        told: _Told,
        found: Mapping[int, str],
    ) -> set[str]:
        """Return whom a pronoun may mean, of its sentence, of the last one, or of the text."""
        last, place = self._last, pronoun.place
        beside = told.people | (last.actors if pronoun.opens else last.people)
        is_owner = tree.tokens[place].tag == "PRP$" and (subject or place) < place
        is_owner &= tree.tokens[subject or 0].tag in ("NN", "NNP")  # `A furious Orr broke his`
        is_free = not (pronoun.opens or told.people or is_owner)
        is_about = last.form == "PERSON" and self._people.gender(last.about) == pronoun.gender
        if is_free and is_about:
            beside = last.actors | {last.about}
        again = {
            who
            for i, who in told.places.items()
            if i in found and GENDERS.get(tree.low[i]) == pronoun.gender
        }
        outer = told.places.get(_subject_around(tree, place), "")
        owner = told.places.get(_whose(tree, place), "")
        if owner and self._fitting(pronoun, [owner]):
            beside = {owner}
        elif len(again) == 1 and self._fitting(pronoun, again):
            beside = again
        elif self._fitting(pronoun, told.people) == {told.about} and not tree.is_saying:
            beside = told.people
        elif outer and self._fitting(pronoun, [outer]):
            beside = {outer}
        near = self._fitting(pronoun, beside)
        is_of_thing = not (last.about[:1].isupper() or self._people.is_known(last.about))
        if pronoun.opens and is_of_thing and not near:
            near = self._fitting(pronoun, last.people & self._met)
        is_local = bool(self._speaker) and not pronoun.opens
        if near or is_local:
            return near
        named = self._fitting(pronoun, self._people.of(pronoun.gender))
        return named if named <= self._met else set()

    def _or_hero(self, who: str, pronoun: _Pronoun, near: set[str], told: _Told) -> str:
        """Return who is meant; whom the text introduced, if nobody else is known to fit."""
        hero = self._hero
        if who[0] != "?" or self._people.gender(hero) != pronoun.gender:
            return who
        beside = told.people | {self._last.about}
        rivals = near & beside - {hero}
        return hero if self._fitting(pronoun, [hero]) and not rivals else who

    def _read_thing(self, tree: Tree, subject: int, found: dict[int, str], told: _Told) -> _Told:
        """Put the last subject in place of `it`, `they`, `its` and `their`; return the next one."""
        last, about, form = self._last, told.about, told.form
        openers = [i for i in [subject, *tree.of(subject, "poss")] if tree.low[i] in _THINGS]
        word = tree.low[openers[0]] if openers else ""
        before = [i for i in range(subject) if tree.tokens[i].relation in SUBJECTS]
        is_first = all(tree.low[i] == word for i in before)  # `When they came, they found`
        if not openers and not about:
            about, form = _thing_of(tree, subject)
            if self._is_part(tree, subject):
                form = ""
        elif openers and is_first and not (tree.low[subject] == "it" and _is_idle(tree)):
            place = openers[0]
            if last.form in _THINGS[tree.low[place]]:
                found[place] = _own(last.about) if place != subject else last.about
                found.update(dict.fromkeys(before, last.about))
                if place == subject:
                    is_they = last.form == "GROUP" and word == "they"
                    about, form = last.about, "NNS" if is_they else last.form
                elif told.form != "PERSON":
                    about, form = "", ""
        is_named = " " in about or not about.islower()
        if is_named and form != "PERSON":
            for place in _beside(tree, form):
                is_owner = tree.tokens[place].tag == "PRP$"
                found[place] = _own(about) if is_owner else about
        if _has_rival(tree, form):
            form = "PERSON" if form == "NNP" else ""
        return told._replace(about=about, form=form)

    def _is_part(self, tree: Tree, subject: int) -> bool:
        """Tell whether a new noun may be part of what a text is about: `The handle stays cool`."""
        is_new = self._last.form in _ONE + _SEVERAL and tree.low[subject] not in self._nouns
        is_led = any(tree.low[i] == "the" for i in tree.of(subject, "det"))
        return is_new and is_led and tree.tokens[subject].tag not in NAMES


def _means_person(tree: Tree, place: int) -> bool:
    """Tell whether a word is `he`, `her` or the like, but not in `Her Majesty`."""
    is_pronoun = tree.tokens[place].tag in ("PRP", "PRP$") and tree.low[place] in GENDERS
    return is_pronoun and tree.low[place + 1 : place + 2] not in (["majesty"], ["highness"])


def _objects_again(tree: Tree) -> Iterator[tuple[int, str]]:
    """Yield what a verb does to the object of the one before: `took the car and sold it`."""
    for place, word in enumerate(tree.low):
        if word not in _OBJECTS or tree.tokens[place].relation != "dobj":
            continue
        verb = tree.tokens[place].head
        if tree.tokens[verb].relation != "conj" or tree.subject(verb) is not None:
            continue
        for noun in tree.of(tree.tokens[verb].head, "dobj"):
            token, articles = tree.tokens[noun], tree.of(noun, "det", "poss", "nummod")
            is_known = all(tree.low[i] in ("the", "a", "an") for i in articles)
            if token.tag in _OBJECTS[word] and is_known and not tree.of(noun, "conj"):
                name = " ".join(tree.tokens[i].text for i in tree.name(noun))
                yield place, name if token.tag == "NNP" and not articles else f"the {name}"


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


def _whose(tree: Tree, pronoun: int) -> int:
    """Return the noun of the relative clause that has something of it; -1 if there is none.

    `His friend Anna, who sold her mill`.
    """
    if tree.tokens[pronoun].tag != "PRP$":
        return -1
    for word in tree.above(pronoun):
        subject = tree.subject(word)
        if subject is not None:
            is_who = tree.tokens[word].relation == "relcl" and tree.low[subject] == "who"
            return tree.tokens[word].head if is_who else -1
    return -1


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
    topic = tree.subject(said[0]) if said and tree.is_saying else None
    is_noun = topic is not None and tree.tokens[topic].tag in NOUNS
    return topic if is_noun else tree.subject(tree.root)


def _beside(tree: Tree, form: str) -> Iterator[int]:
    """Yield what means the subject in the clauses behind it: `Ajax fell after it had ...`."""
    others = {"NN": NOUNS - PLURAL, "NNS": PLURAL | {"NNP"}}.get(form, NOUNS)
    for clause in tree.of(tree.root, "advcl", "conj"):
        inner = tree.subject(clause)
        if inner is None or inner < tree.root:
            continue
        between = tree.tokens[tree.root : tree.start(clause)]
        rivals = [token for token in between if token.relation != "compound"]
        if any(token.tag in others and token.entity not in _NO_THINGS for token in rivals):
            continue
        for place in [inner, *tree.of(inner, "poss")]:
            if form in _THINGS.get(tree.low[place], ()):
                yield place


def _own(name: str) -> str:
    """Return whose something is: `the mills'`."""
    return name + ("'" if name.endswith("s") else "'s")


def _has_rival(tree: Tree, form: str) -> bool:
    """Tell whether the next pronoun may mean the object of a sentence as well as its subject.

    So may what a phrase introduces: `CBS answered with a musical. It was shown in May.`
    """
    objects = tree.of(tree.root, "dobj", "dative")
    phrases = [k for k in tree.of(tree.root, "prep") if not tree.is_time(k)]
    goals = [i for phrase in phrases for i in tree.of(phrase, "pobj")]
    tags = {"GROUP": _ONE + _SEVERAL}.get(form, (form, "NNP"))
    if any(form in _OBJECTS.get(tree.low[i], ()) for i in [*objects, *goals]) or any(
        tree.tokens[i].tag in tags and tree.of(i, "det", "poss", "nummod") for i in objects
    ):
        return True
    new = [i for i in goals if tree.tokens[i].tag == "NN" and not is_person(tree.low[i])]
    articles = {tree.low[k] for i in new for k in tree.of(i, "det")}
    return form in _ONE and not articles.isdisjoint({"a", "an"})


def _thing_of(tree: Tree, subject: int) -> tuple[str, str]:
    """Return a thing or several that a sentence is about, and the form; empty for one person."""
    token = tree.tokens[subject]
    if tree.of(subject, "conj"):
        return _names_of(tree, subject)
    form = {"NN": "NN", "NNP": "NN", "NNS": "NNS", "NNPS": "NNS"}.get(token.tag, "")
    if form == "NN" and is_several(tree, subject):
        form = "NNS"  # `Ajax have lost`
    elif form == "NN" and (token.entity == "ORG" or tree.low[subject] in _GROUPS):
        form = "GROUP"
    words = [i for i in tree.under(subject) if i <= subject]
    is_plain = words == [*range(words[0], subject + 1)]
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
    """Tell whether `it` stands for a clause or for nothing: `It follows that`, `It took years`."""
    kids = [i for kid in [tree.root, *tree.kids[tree.root]] for i in [kid, *tree.kids[kid]]]
    is_said = tree.low[tree.root] in _BE or tree.of(tree.root, "auxpass")
    is_clause = any(tree.tokens[i].relation in ("ccomp", "csubj", "relcl", "xcomp") for i in kids)
    return tree.low[tree.root] in WORDS["idle"] or (bool(is_said) and is_clause)
