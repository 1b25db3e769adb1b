"""Sentences parsed without what a parser stumbles over: brackets, doses, titles with years."""

from __future__ import annotations

import re
from collections.abc import Sequence

from factcheck.judges.local.grammar import mend
from factcheck.judges.local.tree import BRACKET, IS_WORD
from factcheck.text.syntax import Token, parse
from factcheck.text.words import english_ranks, word_set

_INNER = r"[^()\[\]]|\([^()\[\]]{0,80}\)|\[[^()\[\]]{0,80}\]"
_ASIDES = re.compile(
    rf"\s*(?:\((?:{_INNER}){{1,300}}\)|\[(?:{_INNER}){{1,300}}\])(?=[\s,.;:!?]|\Z)"
    r"|(?<=[a-z]{3}) (?P<dose>\d[\d.,]*(?:[\u2013-]\d[\d.,]*)? ?"
    r"(?:[\u00b5\u03bcmnk]?(?:g|l|mol)|mcg|units?|IU)\b(?:/\w+)?(?: (?:IV|orally))?"
    r"(?: (?:(?:once|twice|\w+ times) )?(?:daily|weekly|(?:a|per|every|at) (?:day|week|night)))?)"
)
_DOSED = word_set("insulin morphine sodium glucose cholesterol sugar flour butter salt")
"""Common words that an amount may stand behind."""
_MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)"
_SMALL = rf"(?:&|(?:of|the|an?|to|for|at|with)\b|(?:in|on|from|by)\b(?! (?:{_MONTH}|\d{{4}})\b))"
_WORD = r"[A-Z0-9][^\s,;()\"\u201c\u201d]*"
_NAME = rf"{_WORD}(?: (?:{_SMALL}|{_WORD})){{0,9}}"
_TITLE = rf"{_WORD}(?: (?:{_SMALL}|and\b|{_WORD})){{0,9}}"
_QUOTED = r"[\"\u201c][A-Z0-9][^\"\u201c\u201d()]{0,80}[\"\u201d]"
_YEAR = r" \((?:19|20)\d\d(?:[\u2013-](?:(?:19|20)?\d\d|present))?\)"
_WORK = "WORK_OF_ART"
_LINK = r"(?:,? (?:and|or) |, )"
_LEAD = r"\b(?!(?:the|an?|his|her|its|their) )[a-z]+ "
_WORKS = re.compile(
    r"(?:\A(?!(?:In|On|At|For|From|With|By|To) )|, |\b(?:and|or|as|in|like|includ\w+) "
    rf"|{_LEAD}(?![^,;()]{{0,80}} (?:in|to|for|on|at|with|from|by) ))"
    rf"(?P<title>{_TITLE})(?={_YEAR})"
    rf"(?P<others>(?:{_YEAR}{_LINK}(?:{_TITLE}, )?{_TITLE}(?={_YEAR})){{0,40}})"
)
"""Works with their years, `Lost in Velm (2003) and Candy (2006)`; some may lack one."""
_SHOWN = re.compile(
    r"\b(?:such as|includ(?:e|es|ed|ing)),? "
    rf"(?P<title>{_NAME}|{_QUOTED})(?={_YEAR}|,|(?<=[\"\u201d]) )"
    rf"(?P<others>(?:(?:{_YEAR})?,? (?:{_NAME}(?=,| and | or |{_YEAR})|{_QUOTED})){{1,40}}"
    rf"(?:{_YEAR})?,? (?:and|or) (?:{_QUOTED}|{_NAME}(?<![.:])(?=[.,;:)\s]|\Z)))"
)
"""Three names or more that are shown: `such as The Long Road, Candy and Lost in Velm`."""
_BETWEEN = rf"(?:{_YEAR})?(?P<comma>,)? (?:(?P<link>and|or) )?"
_MEMBERS = {
    _WORKS: re.compile(rf"{_BETWEEN}(?P<title>{_TITLE})"),
    _SHOWN: re.compile(rf"{_BETWEEN}(?P<title>{_QUOTED}|{_NAME})"),
}
_OF_WORKS = re.compile(rf"(?:, |and )(?:The|A|An) |[A-Z]\S* {_SMALL} ")
"""In names that nobody has."""
_DATE = r"(?:\d{1,2} [A-Z][a-z]{2,8}|[A-Z][a-z]{2,8} \d{1,2},?) \d{4}"
_LIFE = re.compile(rf"({_DATE}) ?[\u2013-] ?({_DATE})")
_YEARS = re.compile(r"(1\d{3}|20\d\d) ?[\u2013-] ?(1\d{3}|20\d\d)")
_AGES = range(20, 110)
"""Years that somebody who is written about lived; few are in an office for as long."""
_EVENT = re.compile(
    rf"(?:born|died|founded|established) (?:(?:on )?{_DATE}(?= in )|.+)", re.IGNORECASE
)


def read_tokens(text: str) -> list[Token]:
    """Parse a sentence, and mend its tree.

    What stands in brackets is one token under the word before it; so is a dose, `aspirin 100 mg`.
    The title of a work before its year is one token, too; several of them, and names that are
    shown, are a list.
    """
    asides = [match for match in _ASIDES.finditer(text) if match.start()]
    spans = [
        match.span() for match in asides if not match["dose"] or _is_dosed(text, match.start())
    ]
    works = [work for work in _works(text) if not _is_within(work.start(), spans)]
    titles = {m.start("title"): m["title"] for m in works if _is_title(m["title"])}
    lists = [work for work in works if work["others"]]
    changes = [(*span, " ") for span in spans]  # `the mill of Velm Ltd (Ulm).`
    changes += [(at, at + len(title), f'"{title}"') for at, title in titles.items()]
    changes += [(*each.span("others"), "") for each in lists]
    bare, offsets = _changed(text, sorted(changes, key=lambda change: (change[0], -change[1])))
    tokens = [token._replace(start=offsets[token.start]) for token in parse(bare)]
    if not tokens:
        return []
    tokens = [
        token._replace(text=titles[token.start], tag="NNP", entity=_WORK)
        if token.start in titles and token.text[0] == '"'
        else token
        for token in tokens
    ]
    for each in lists:
        tokens = _with_others(tokens, each)
    for start, end in spans:
        tokens = _with_aside(tokens, text, start, end)
    return mend(tokens)


def _works(text: str) -> list[re.Match[str]]:
    """Return works and lists of names, in order."""
    found = list(_WORKS.finditer(text))
    for shown in _SHOWN.finditer(text):
        if all(work.end() <= shown.start() or shown.end() <= work.start() for work in found):
            found.append(shown)
    return sorted(found, key=lambda each: each.start())


def _is_within(place: int, spans: Sequence[tuple[int, int]]) -> bool:
    return any(start <= place < end for start, end in spans)


def _is_title(name: str) -> bool:
    """Tell whether a name has words that a parser may take apart, and is nobody's."""
    tokens = parse(name) if name[0].isalnum() and " " in name else ()
    return bool(tokens) and tokens[-1].entity != "PERSON"


def _is_dosed(text: str, end: int) -> bool:
    """Tell whether the word before an amount is what there is so much of, and no verb."""
    word = text[text.rfind(" ", 0, end) + 1 : end].lower()
    is_rare = word not in english_ranks() and not word.endswith(("ed", "ing", "s"))
    return word in _DOSED or (is_rare and word.isalpha())


def _changed(text: str, changes: Sequence[tuple[int, int, str]]) -> tuple[str, list[int]]:
    """Return a text with parts replaced, and where its characters stood."""
    changed, offsets, at = "", list[int](), 0
    for start, end, shown in changes:
        if start < at:
            continue  # in what is gone
        changed += text[at:start] + shown
        offsets += range(at, start)
        offsets += [max(start, min(start + i - 1, end - 1)) for i in range(len(shown))]
        at = end
    return changed + text[at:], [*offsets, *range(at, len(text))]


def _with_others(tokens: Sequence[Token], works: re.Match[str]) -> list[Token]:
    """Return words with the other members of a list behind the first."""
    start, end = works.span("others")
    found = list(tokens)
    place = sum(token.start < start for token in tokens)
    head = place - 1
    entity = tokens[head].entity
    if entity == "PERSON" and _OF_WORKS.search(works["others"]):
        entity = _WORK
        found[head] = found[head]._replace(entity=entity)
    for member in _MEMBERS[works.re].finditer(works.string, start, end):
        if member["comma"]:
            found = _put(found, place, Token(",", member.start("comma"), ",", head, "punct", ""))
            place += 1
        if member["link"]:
            link = Token(member["link"], member.start("link"), "CC", head, "cc", "")
            found = _put(found, place, link)
            place += 1
        title = Token(member["title"], member.start("title"), "NNP", head, "conj", entity)
        found = _put(found, place, title)
        head, place = place, place + 1
    return found


def _put(tokens: Sequence[Token], place: int, token: Token) -> list[Token]:
    """Return words with one more, whose head stands before it."""
    moved = [each._replace(head=each.head + (each.head >= place)) for each in tokens]
    return [*moved[:place], token, *moved[place:]]


def _with_aside(tokens: Sequence[Token], text: str, start: int, end: int) -> list[Token]:
    """Return words with what stands in brackets as one token under the word before it."""
    place = sum(token.start < start for token in tokens)
    head = next((i for i in range(place - 1, -1, -1) if IS_WORD.search(tokens[i].text)), None)
    if head is None or not IS_WORD.search(text, start, end):
        return list(tokens)
    inner = text[start:end].lstrip()
    if inner[0].isdigit():
        named = [*tokens[:head], tokens[head]._replace(tag="NN"), *tokens[head + 1 :]]
        return _put(named, place, Token(inner, end - len(inner), "CD", head, "nmod", ""))
    return _put(tokens, place, Token(inner, end - len(inner), "-LRB-", head, BRACKET, ""))


def told_of(aside: str, entity: str | None, *, is_late: bool = False) -> list[str]:
    """Return what brackets say of the noun before them: `was born in 1990`, `is from 1997`.

    Args:
        aside: Text in brackets.
        entity: Kind of the name: `PERSON`; may be empty. `None` for a noun that is no name.
        is_late: Whether the name is of somebody who `was` something.
    """
    inner = aside[1:-1]
    life = _LIFE.fullmatch(inner)
    if life and entity == "PERSON":
        return [f"was born {life[1]}", f"died {life[2]}"]
    years = _YEARS.fullmatch(inner)
    if years and is_late and entity == "PERSON" and int(years[2]) - int(years[1]) in _AGES:
        return [f"was born in {years[1]}", f"died in {years[2]}"]
    if entity in ("", _WORK) and re.fullmatch(r"(?:1[5-9]|20)\d\d", inner):
        return [f"is from {inner}"]
    told = []
    for part in map(str.strip, inner.split(";")):
        event = _EVENT.match(part)
        if event is None:
            continue
        verb = part.split()[0]
        be = "" if verb.lower() == "died" else "was "
        told.append(be + event.group())
        if event.end() < len(part):
            told.append(f"{be}{verb} {part[event.end() :].strip()}")
    return told
