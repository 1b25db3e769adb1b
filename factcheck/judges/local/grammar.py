"""What depends on what in a sentence: what the parser reads, with its known mistakes mended."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from factcheck.judges.local.tree import (
    BRACKET,
    FINITE,
    NAMES,
    NOUNS,
    REGION,
    SUBJECTS,
    TIMES,
    WORDS,
    is_person,
)
from factcheck.text.syntax import Token


def mend(tokens: Sequence[Token]) -> list[Token]:
    """Return words with what the parser is known to do wrong put right.

    They stay as they are if they would no longer be a tree.
    """
    mended = [_mended(place, tokens) for place in range(len(tokens))]
    for each in _MENDS:
        mended = each(mended)
    return mended if _is_tree(mended) else list(tokens)


def _mended(place: int, tokens: Sequence[Token]) -> Token:
    """Return a word under the participle or noun before it, where the parser looks too far."""
    token = tokens[place]
    for i in range(token.head + 1, place if token.relation == "prep" else 0):
        noun = tokens[i].head
        beside = (tokens[noun].relation, tokens[noun].head) == ("attr", token.head)
        is_participle = tokens[i].relation == "acl" and tokens[i].tag == "VBN"
        if is_participle and (token.head == noun or beside):
            return token._replace(head=i)  # `is an actor born in May, in Bonn`
    is_title = token.relation == "punct" and " " in token.text
    if is_title and place and tokens[place - 1].tag in NOUNS:
        return token._replace(head=place - 1, relation="appos")  # `the film "The Long Road"`
    if token.relation == "conj" and token.tag in ("IN", "TO"):
        for i in range(place - 1, token.head, -1):  # `moved to Ulm in May and to Bonn in June`
            if tokens[i].text == token.text and tokens[i].relation == "prep":
                return token._replace(head=tokens[i].head)
    is_later = token.text in ("ago", "before", "earlier", "later") and token.tag in ("RB", "RBR")
    noun = place - 1 if is_later else place
    if noun > 1 and tokens[noun].relation == "npadvmod":
        goal = tokens[noun - 2]  # `from 6 million the year before`
        if goal.relation == "pobj" and tokens[goal.head].text == "from":
            return token._replace(head=noun - 2)
    after = tokens[place + 1] if place + 1 < len(tokens) else token
    is_helper = token.text in ("had", "has", "have") and token.relation == "conj"
    if is_helper and (after.tag, after.relation, after.head) == ("VBN", "conj", token.head):
        return token._replace(head=place + 1, relation="aux")  # `was 80 and had worked in Ulm`
    return token


_YEAR = 4
"""Digits."""
_COUNTED = frozenset({"votes", "goals", "points", "seats", "games", "sets"})


def _is_tree(tokens: Sequence[Token]) -> bool:
    """Tell whether each word depends, by way of others, on one that depends on none."""
    heads = [token.head for token in tokens]
    for _ in range(len(tokens).bit_length()):
        heads = [heads[head] for head in heads]
    return all(tokens[head].head == head for head in heads)


def _with_numbers(tokens: list[Token]) -> list[Token]:
    """Return words with a number under the word before it: `ticket #4821`, `25 votes to 17`."""
    for place, (before, token) in enumerate(pairwise(tokens), 1):
        if token.text == "to" and before.text in _COUNTED:
            tokens[place] = token._replace(head=place - 1)
        is_year = token.tag == "CD" and token.entity == "DATE" and len(token.text) == _YEAR
        is_led = is_year and before.tag in ("IN", "TO") and tokens[token.head].tag in NAMES
        if is_led and all(each.head != place - 1 for each in tokens):  # `to 1990 Croatia was`
            tokens[place] = token._replace(head=place - 1, relation="pobj")
        if token.text[0] == "#" and before.tag in NOUNS and before.head != place:
            tokens[place] = token._replace(head=place - 1, relation="nummod", tag="CD")
    return tokens


def _with_phrases(tokens: list[Token]) -> list[Token]:
    """Return words with phrases where they go: `oil instead of coal`, `It leaks: in May, it`."""
    for place, token in enumerate(tokens[1:], 1):
        before, above = tokens[place - 1], tokens[token.head]
        if (before.text, token.text) == ("instead", "of"):
            noun = _end_of_noun(tokens, place + 1) - 1
            if noun > place:
                tokens[place - 1] = before._replace(head=token.head)
                tokens[place] = token._replace(head=place - 1, relation="prep")
                tokens[noun] = tokens[noun]._replace(head=place, relation="pobj")
        is_led = before.text == ":" and token.relation == "prep" and above.relation == "ccomp"
        if is_led and token.head < place < above.head:
            tokens[place] = token._replace(head=above.head)
    return tokens


def _with_joined_verbs(tokens: list[Token]) -> list[Token]:
    """Return words with those between `and` and a joined verb under that verb: `and in May left`.

    The noun among them is its subject if it has none.
    """
    links = {token.head: place for place, token in enumerate(tokens) if token.relation == "cc"}
    for verb, token in enumerate(tokens):
        link = links.get(token.head, verb)
        if token.relation != "conj" or link > verb:
            continue
        if token.text == "been":
            tokens[verb] = token._replace(tag="VBN")
        is_helped = any(each.head == verb and each.tag in FINITE for each in tokens[:verb])
        if not is_helped and tokens[verb].tag not in FINITE:
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
    """Make the noun before a joined verb its subject: `met with Ann and Tom Orr was elected`."""
    last = verb - 1
    while last > 0 and (tokens[last].tag == "RB" or tokens[last].relation in ("aux", "auxpass")):
        last -= 1
    if tokens[last].tag not in NOUNS or _has_subject(tokens, verb):
        return
    at, below = last, verb
    while tokens[at].relation != "conj" and at < below:
        at, below = tokens[at].head, at
    if at < verb and tokens[at].relation == "conj" and tokens[at].tag in NOUNS | {"CD", "PRP"}:
        tokens[at] = tokens[at]._replace(head=verb, relation="nsubj")


_MOVABLE = frozenset({"advcl", "prep", "npadvmod", "advmod", "mark", "aux", "auxpass", "neg"})


_LEGAL_FORMS = frozenset({"inc", "ltd", "llc", "llp", "plc", "corp", "gmbh", "ag"})


def _with_firms(tokens: list[Token]) -> list[Token]:
    """Return words with what a firm is in its name: `Velm, Inc. said`."""
    for place in range(2, len(tokens)):
        token, name = tokens[place], tokens[place - 2]
        is_form = token.text.lower().rstrip(".") in _LEGAL_FORMS and name.tag in NAMES
        if not is_form or tokens[place - 1].text != ",":
            continue
        if token.head != place - 2:
            tokens[place - 2] = name._replace(head=token.head, relation=token.relation)
        for i, each in enumerate(tokens):
            if each.head == place:
                tokens[i] = each._replace(head=place - 2)
        tokens[place] = token._replace(head=place - 2, relation="nmod")
    return tokens


def _with_lists(tokens: list[Token]) -> list[Token]:
    """Return words with members of a list that the parser took for appositions: `a, b and c`."""
    for place, token in enumerate(tokens):
        if _is_listed_name(tokens, place) or _is_last(tokens, place):
            tokens[place] = token._replace(relation="conj")
            continue
        if token.relation != "cc" or tokens[token.head].relation != "appos":
            continue
        noun = tokens[token.head].head
        kids = [(i, t) for i, t in enumerate(tokens) if t.head == noun]
        if _is_bare(tokens, noun) and _is_bare(tokens, token.head):
            tokens[token.head] = tokens[token.head]._replace(relation="conj")
            continue
        is_odd = not any(t.head == token.head and t.relation == "conj" for t in tokens)
        if not any(t.relation == "conj" and i > place for i, t in kids):
            continue
        tokens[place] = token._replace(head=noun if is_odd else token.head)
        for i, kid in kids if is_odd else ():
            if kid.relation == "appos":
                tokens[i] = kid._replace(relation="conj")
    return tokens


def _with_roles(tokens: list[Token]) -> list[Token]:
    """Return words with what somebody is as a list: `a teacher of French, author and singer`."""
    for place, token in enumerate(tokens):
        phrase = tokens[token.head]
        role = tokens[phrase.head]
        is_role = role.relation == "attr" and is_person(role.text.lower())
        is_thing = token.relation == "pobj" and not is_person(token.text.lower())
        if not (is_role and is_thing and phrase.relation == "prep"):
            continue
        joined = [i for i, t in enumerate(tokens) if (t.head, t.relation) == (place, "conj")]
        if joined and all(is_person(tokens[i].text.lower()) for i in joined):
            for i, each in enumerate(tokens):
                if each.head == place and each.relation in ("conj", "cc"):
                    tokens[i] = each._replace(head=phrase.head)
    return tokens


def _is_last(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a common noun is the last of a list without an `and`: `wheat, rye, oats`."""
    token = tokens[place]
    if token.relation != "appos" or not _is_bare(tokens, place):
        return False
    before = [t for t in tokens[:place] if t.head == token.head]
    return any(t.relation == "conj" for t in before) and not any(t.relation == "cc" for t in before)


def _is_listed_name(tokens: Sequence[Token], place: int) -> bool:
    """Tell whether a name is listed, not another name of the one before: `Ulm, Bonn and Kiel`."""
    token = tokens[place]
    if token.relation != "appos" or not {token.tag, tokens[token.head].tag} <= NAMES:
        return False
    later = [i for i, t in enumerate(tokens) if i > place and t.head == token.head]
    members = [i for i in later if tokens[i].relation == "conj" and tokens[i].tag in NAMES]
    is_linked = any(t.relation == "cc" and t.head in (token.head, *members) for t in tokens)
    return bool(members) and is_linked


def _with_one_each(tokens: list[Token]) -> list[Token]:
    """Return words with one noun in each role, with the next ones under it.

    Behind a comma they are listed, `in Ulm, Bonn`; right behind it a name is its own, `the film M`.
    """
    first: dict[tuple[int, str], int] = {}
    for place, token in enumerate(tokens):
        if token.tag not in NOUNS or token.relation not in _ROLES_OF_ONE:
            continue
        at = first.setdefault((token.head, token.relation), place)
        between = [word.text for word in tokens[at + 1 : place]]
        is_beside = all(word.head == place for word in tokens[at + 1 : place])
        if at != place and "," in between and token.relation == "pobj":
            tokens[place] = token._replace(head=at, relation="conj")
        elif at != place and is_beside and token.tag in NAMES and tokens[at].tag == "NN":
            tokens[place] = token._replace(head=at, relation="appos")
    return tokens


_ROLES_OF_ONE = frozenset({"pobj", "dobj", "nsubj", "nsubjpass"})


class Pair(NamedTuple):
    """A noun and a phrase that go together: `silver in Rome` in `gold in Paris and silver in`."""

    lead: int | None
    """A preposition before the noun: `for Ajax in May and for Porto in June`."""
    noun: int
    phrase: int
    """The preposition behind it."""


def pairs_behind(tokens: Sequence[Token], phrase: int, noun: int) -> list[Pair]:
    """Return the pairs listed behind a noun with a phrase; empty if they are of another kind."""
    goal = next((i for i, t in enumerate(tokens) if (t.head, t.relation) == (phrase, "pobj")), 0)
    at, is_last = goal + 1, False
    found: list[Pair] = []
    while goal and not is_last:
        start, at = at, _end_of(tokens, at, _SEPARATING)
        is_last = any(token.text == "and" for token in tokens[start:at])
        leads = tokens[at : at + 1] if tokens[noun].relation == "pobj" else []
        is_led = [lead.text for lead in leads] == [tokens[tokens[noun].head].text]
        begin, at = at, _end_of_noun(tokens, at + is_led)
        end = _end_of_noun(tokens, at + 1)
        is_pair = start < begin < at - is_led and at + 1 < end
        if not is_pair or tokens[at].text != tokens[phrase].text:
            return []
        found.append(Pair(begin if is_led else None, at - 1, at))
        at = end
    if any(token.tag[0] in "VM" for token in tokens[at : at + 1]):
        return []  # `for three days in May and two houses in Ulm were flooded`
    nouns = [noun, *(pair.noun for pair in found)]
    kinds = {_kind_of(tokens, each) for each in nouns}
    if kinds == {"name"} == {_kind_of(tokens, goal)}:  # `Anna was born in Ulm and Tom in Bonn`
        kinds = {tokens[each].entity for each in nouns}
        return found if len(kinds) == 1 and tokens[goal].entity not in kinds else []
    return found if len(kinds) == 1 and _kind_of(tokens, goal) not in kinds else []


def _end_of(tokens: Sequence[Token], start: int, tags: frozenset[str]) -> int:
    """Return where words with some tags end."""
    end = start
    while end < len(tokens) and tokens[end].tag in tags:
        end += 1
    return end


def _end_of_noun(tokens: Sequence[Token], start: int) -> int:
    """Return where a noun with an article and adjectives ends."""
    is_led = any(token.tag in _ARTICLES for token in tokens[start : start + 1])
    return _end_of(tokens, start + is_led, _IN_NOUN_PHRASES)


_SEPARATING = frozenset({",", "CC"})
_ARTICLES = frozenset({"DT", "PRP$"})
_IN_NOUN_PHRASES = NOUNS | {"CD", "JJ", "JJR", "JJS", "AFX", "HYPH", "POS", "$", "-LRB-"}


def _with_pairs(tokens: list[Token]) -> list[Token]:
    """Return words with what goes together in pairs: `gold in Paris and silver in Rome`."""
    for phrase, token in enumerate(tokens):
        noun = token.head if tokens[token.head].tag in NOUNS else phrase - 1
        is_object = tokens[noun].relation in ("dobj", "oprd", "attr", "pobj")
        if token.relation != "prep" or noun < 0 or not is_object:
            continue
        pairs = pairs_behind(tokens, phrase, noun)
        for lead, other, second in pairs:
            first = noun if lead is None else tokens[noun].head
            joined = other if lead is None else lead
            if lead is not None:
                tokens[other] = tokens[other]._replace(head=lead, relation="pobj")
            tokens[second] = tokens[second]._replace(head=other, relation="prep")
            tokens[phrase] = tokens[phrase]._replace(head=noun)
            _join(tokens, phrase, joined, first)
    return tokens


def _join(tokens: list[Token], start: int, place: int, first: int) -> None:
    """Join a word to the first of its list, with the `and` between a place and the word."""
    for i in range(start, place):
        if tokens[i].relation == "cc":
            tokens[i] = tokens[i]._replace(head=first)
    tokens[place] = tokens[place]._replace(head=first, relation="conj")


def _kind_of(tokens: Sequence[Token], noun: int) -> str:
    """Return what a noun begins with: an article, a number, or nothing; `name` for a name."""
    if tokens[noun].tag in NAMES:
        return "name"
    kids = [t for t in tokens[:noun] if t.head == noun and t.relation in ("det", "poss", "nummod")]
    is_counted = tokens[noun].tag == "CD" or any(kid.relation == "nummod" for kid in kids)
    if is_counted:
        return "number"
    return "".join("a" if kid.text == "an" else kid.text.lower() for kid in kids)


def _is_bare(tokens: Sequence[Token], noun: int) -> bool:
    """Tell whether a common noun has no article or number: `old data`."""
    articles = ("det", "poss", "nummod")
    is_led = any(token.head == noun and token.relation in articles for token in tokens)
    return tokens[noun].tag in NOUNS - NAMES and not is_led


def _with_goals(tokens: list[Token]) -> list[Token]:
    """Return words with a noun under the preposition before it: `The top four after 18 matches`."""
    for phrase, token in enumerate(tokens):
        noun = _end_of_noun(tokens, phrase + 1) - 1
        verb = tokens[noun].head
        is_bare = token.relation == "prep" and all(each.head != phrase for each in tokens)
        if not is_bare or noun <= phrase or tokens[noun].relation not in SUBJECTS:
            continue
        if _has_subject([each for each in tokens[:phrase] if each.head == verb], verb):
            tokens[noun] = tokens[noun]._replace(head=phrase, relation="pobj")
    return tokens


def _with_equals(tokens: list[Token]) -> list[Token]:
    """Return words with nouns under a noun, not under its verb: `is a nurse in Ulm, and a poet`."""
    for place, token in enumerate(tokens):
        verb = token.head
        if token.relation != "conj" or token.tag not in NOUNS or tokens[verb].tag[0] != "V":
            continue
        objects = [
            i
            for i, t in enumerate(tokens[:place])
            if t.head == verb and t.relation in ("attr", "dobj") and t.tag in NOUNS
        ]
        links = [i for i, t in enumerate(tokens[:place]) if (t.head, t.relation) == (verb, "cc")]
        if objects and links:
            tokens[place] = token._replace(head=objects[-1])
            tokens[links[-1]] = tokens[links[-1]]._replace(head=objects[-1])
    return tokens


def _with_objects(tokens: list[Token]) -> list[Token]:
    """Return words with an object under the one before a phrase: `a cup in May and a medal`."""
    for place, token in enumerate(tokens):
        goal = tokens[token.head]
        phrase = tokens[goal.head]
        if token.relation != "conj" or goal.relation != "pobj" or phrase.relation != "prep":
            continue
        is_part = phrase.text == "with" and not is_person(token.text)
        if is_part or phrase.text == "between":  # `a can with a lid and a handle`
            continue
        objects = [
            i
            for i, t in enumerate(tokens[: goal.head])
            if t.relation in ("dobj", "attr") and i in (phrase.head, goal.head - 1)
        ]
        kinds = {_kind_of(tokens, i) for i in [place, *objects]}
        is_like = len(kinds) == 1 and kinds <= {"a", "number"} and bool(objects)
        if is_like and token.entity not in TIMES:
            _join(tokens, token.head, place, objects[0])
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
        elif any(word.tag == "CD" for word in between) and token.entity == "PERSON":
            # `Anna Kern, 21, of Ulm, Mill Road, left`
            tokens[later] = tokens[later]._replace(head=place, relation="meta")
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
        if token.relation != "relcl" or not is_date:
            continue
        if tokens[above].tag in NOUNS:
            tokens[place] = token._replace(head=above)
        objects = [
            i for i, t in enumerate(tokens[:place]) if (t.head, t.relation) == (above, "dobj")
        ]
        is_thing = any(t.head == place and t.tag == "WDT" for t in tokens)
        if tokens[above].tag[0] == "V" and objects and is_thing:
            tokens[place] = token._replace(head=objects[0])
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


def _with_reasons(tokens: list[Token]) -> list[Token]:
    """Return words with a noun as the subject behind it: `after a man, Tom Orr, reported it`.

    So is the noun before a clause that has neither a subject nor what opens it: `as rain fell`.
    """
    for verb, token in enumerate(tokens):
        is_lost = token.tag == "VBD" and token.relation in ("conj", "advcl")
        if not is_lost or _has_subject(tokens, verb):
            continue
        between = range(token.head + 1, verb)
        beside = [i for i in between if tokens[i].head == token.head]
        openers = [i for i in beside if tokens[i].text in _OPENERS]
        nouns = [i for i in between if tokens[i].relation == "pobj" and tokens[i].head in openers]
        if len(nouns) != 1 or any(tokens[i].relation == "cc" for i in beside):
            continue
        if token.relation == "conj":
            is_clause = [each.text for each in tokens[nouns[0] : verb]].count(",") > 1
        else:
            own = [each for each in tokens if each.head == verb]
            is_clause = not any(t.relation in ("mark", "aux") or t.tag == "WRB" for t in own)
        if is_clause:
            opener = tokens[nouns[0]].head
            tokens[verb] = token._replace(relation="advcl")
            tokens[opener] = tokens[opener]._replace(head=verb, relation="mark")
            tokens[nouns[0]] = tokens[nouns[0]]._replace(head=verb, relation="nsubj")
    return tokens


def _with_measures(tokens: list[Token]) -> list[Token]:
    """Return words with a time under the clause that it measures: `ten days before it closed`."""
    for place, (token, after) in enumerate(pairwise(tokens)):
        is_time = token.entity in TIMES and token.relation in ("npadvmod", "dobj")
        is_before = after.relation == "mark" and after.text in _OPENERS
        if is_time and is_before and tokens[after.head].head == token.head:
            tokens[place] = token._replace(head=after.head, relation="npadvmod")
    return tokens


_OPENERS = frozenset({"after", "as", "before", "since", "until"})


def _with_heads(tokens: list[Token]) -> list[Token]:
    """Return words with a person beside a role: `the president of the union, Tom Orr`."""
    for place, token in enumerate(tokens):
        body = tokens[token.head]
        role = tokens[tokens[body.head].head]
        is_body = body.relation == "pobj" and tokens[body.head].text == "of"
        is_other = token.entity == "PERSON" != body.entity and not is_person(body.text.lower())
        if token.relation == "appos" and is_body and is_other and is_person(role.text.lower()):
            tokens[place] = token._replace(head=tokens[body.head].head)
    return tokens


def _with_periods(tokens: list[Token]) -> list[Token]:
    """Return words with when a period ended under it: `for the quarter ended 30 June`."""
    for place, token in enumerate(tokens[1:], 1):
        before = tokens[place - 1]
        is_period = before.entity in TIMES and before.relation == "pobj"
        if token.text == "ended" and is_period and token.relation in ("advcl", "acl"):
            tokens[place] = token._replace(tag="VBN", head=place - 1, relation="acl")
    return tokens


def _with_shares(tokens: list[Token]) -> list[Token]:
    """Return words with a phrase under its share: `210 rooms, 30 of them with a view`."""
    for place in range(3, len(tokens)):
        share = tokens[place - 3]
        words = [token.text for token in tokens[place - 2 : place]]
        if words == ["of", "them"] and share.tag == "CD" and tokens[place].relation == "prep":
            tokens[place] = tokens[place]._replace(head=place - 3)
    return tokens


def _with_examples(tokens: list[Token]) -> list[Token]:
    """Return words with examples under the noun before them: `sold toys, including a train`."""
    for place, token in enumerate(tokens):
        noun = place - 2
        is_under_verb = token.relation == "prep" and tokens[token.head].tag[0] == "V"
        if token.text != "including" or not is_under_verb or noun <= token.head:
            continue
        is_full = any((t.head, t.relation) == (place, "pobj") for t in tokens)
        if is_full and tokens[place - 1].text == "," and tokens[noun].tag in NOUNS:
            tokens[place] = token._replace(head=noun)
    return tokens


def _with_adjectives(tokens: list[Token]) -> list[Token]:
    """Return words with all adjectives of a list in it: `a dry, rather dark cellar`."""
    for place, token in enumerate(tokens[2:], 2):
        start = max(2, place - (tokens[place - 1].head == place))  # with its adverb
        first = tokens[start - 2]
        head = tokens[first.head].head if first.relation == "conj" else first.head
        is_pair = token.relation == "amod" and head == token.head and tokens[start - 1].text == ","
        if not is_pair:
            continue
        is_listed = any((t.head, t.relation) == (place, "conj") for t in tokens)
        if is_listed or first.tag == token.tag == "JJ":
            tokens[place] = token._replace(head=start - 2, relation="conj")
    return tokens


def _with_regions(tokens: list[Token]) -> list[Token]:
    """Return words with larger places under smaller ones: `in Chennai, Tamil Nadu, India`."""
    for place, token in enumerate(tokens):
        if token.tag not in NAMES or _name_at(tokens, place) not in WORDS["regions"]:
            continue
        chain = [place]
        while tokens[chain[-1]].relation in ("conj", "appos", REGION) and len(chain) < len(tokens):
            chain.append(tokens[chain[-1]].head)
        *larger, smallest = chain
        phrase = tokens[tokens[smallest].head]
        is_place = tokens[smallest].entity == "GPE" or phrase.text in ("in", "near", "at")
        is_place &= tokens[smallest].relation == "pobj"
        is_place &= _name_at(tokens, smallest) not in WORDS["regions"]
        is_linked = any(
            each.head in chain and each.relation in ("cc", "conj") and i not in larger
            for i, each in enumerate(tokens)
        )
        if not larger or is_linked or not is_place:
            continue
        for each in larger:
            tokens[each] = tokens[each]._replace(relation=REGION)
    return tokens


def _name_at(tokens: Sequence[Token], place: int) -> str:
    """Return a name of several words as lists of words have it: `new_york`."""
    first = place
    while first and tokens[first - 1].head == place and tokens[first - 1].relation == "compound":
        first -= 1
    return "_".join(token.text.lower() for token in tokens[first : place + 1])


_MENDS = (
    _with_numbers,
    _with_firms,
    _with_regions,
    _with_one_each,
    _with_examples,
    _with_shares,
    _with_adjectives,
    _with_pairs,
    _with_goals,
    _with_clauses,
    _with_links,
    _with_ages,
    _with_reasons,
    _with_measures,
    _with_heads,
    _with_periods,
    _with_phrases,
    _with_one_subject,
    _with_equals,
    _with_objects,
    _with_lists,
    _with_roles,
    _with_joined_verbs,
)
"""In this order."""
