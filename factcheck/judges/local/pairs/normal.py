"""Normal forms of values, and comparison of those of one kind.

Normal forms lack insignificant differences: case, accents, punctuation, articles, dots of initials.
Significant signs are kept: `A+` is not `A-`, `1.5` is not `1-5`, `5e-3` is 0.005. Kinds are
answers, places, units, addresses, codes and dates.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import unicodedata
from collections.abc import Mapping
from decimal import Decimal
from functools import lru_cache
from importlib.resources import files
from itertools import product, takewhile
from typing import Any

from factcheck.judges.local.pairs.model import (
    OTHER,
    SAME,
    VAGUE,
    Finding,
    Relation,
    against,
    settle,
)
from factcheck.judges.ports import Specificity
from factcheck.text.dates import FILLERS, Moment, Notation, read_moments
from factcheck.text.language import DEFAULT, guess_language
from factcheck.text.numbers import cardinals
from factcheck.text.units import named_units
from factcheck.text.words import without_accents, word_set, words

TABLES: Mapping[str, Any] = json.loads((files(__package__) / "words.json").read_text("utf-8"))
"""Word lists in normal form."""
LONG = 4_000
"""Length in characters above which texts are compared as a whole and not cached."""
_UNIFIED = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`\u02bc\uff07", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '"'),
        **dict.fromkeys("\u2122\u00ae\u00a9\u2120\u00ad\u200b\u200c\u200d\u200e\u200f\ufeff\ufe0f"),
    }
)
_BASE_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\u0131": "i"}
)
_POWER = re.compile(r"(?<=[\d)])\u207b?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+")
_POWER_OF_TEN = re.compile(
    r"(?<![\w.,^])(?:(\d+(?:\.\d+)?)(?:\s*[x*\u00d7]\s*10\s*\^|e)|10\s*\^)\s*"
    r"([+-]?\d{1,3})(?![\w^]|[.,]\d)",
    re.IGNORECASE,
)
_ARROW = re.compile(r"(?<=\S) ?(?:[-=]{1,3}>|[\u2192\u21d2\u27f6\u2794\u279c]) ?(?=\S)")
_FEET = re.compile(r"\A([^'\"]*\d)'(?!')\s?(?!\d{3}|[^\W\d])")
_INCHES = re.compile(r"\A([^'\"]*\d)(?:\"|'')")
_FRACTION = re.compile(r"(?<=\d)(?=[\u00bc-\u00be\u2150-\u215e])")
_INITIALS = re.compile(
    r"(?<![\w.'])(?:(?:[^\W\d_]\.)+[^\W\d_](?:\.|\Z)|[A-Z](?:\.?\ [A-Z]\b(?!'))+\.?)(?![\w'])"
)
_POINT_FIRST = re.compile(r"(?<![\w.,)\]])\.(?=\d)")
_MINUS = re.compile(r"(?<![\w)\]])-(?=[$£€¥]?\s?\.?\d)")
_GRADE = re.compile(r"(?<=[A-Za-z])#|(?<=[A-Z])-(?![^\s,;)])")
_TOKEN = re.compile(
    r"\u2212?\d+(?:[.,:/^-]\d+)*[^\W_]*|\u2212|[^\W_]+(?:'[^\W_]+)*|(?<=\w)#"
    r"|[^\w\s#.,:;!?*|\\'\"`^°()\[\]{}/&\u00b7\u2022\u2039\u203a¿¡§¶-]"
)
_SHORT_WORDS = word_set(" ".join(TABLES[name] for name in ("yes", "no", "grammar"))) | {"ok"}
_FOREIGN_ARTICLES = word_set(TABLES["articles"])
"""Articles dropped only at the start of a value in lower case: `die Brücke`, not `Die Hard`."""
_ABSENT = frozenset(TABLES["absent"].split(","))
_ADDRESS = re.compile(
    r"(?:mailto:|https?://|doi:\s*)*(?:www\.|(?:dx\.)?doi\.org/)?"
    r"([\w.+%-]+@[\w-]+(?:\.[\w-]+)+|10\.\d{4,9}/\S+|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?)\.?",
    re.IGNORECASE,
)
_PHONE = re.compile(r"(\+|00)?(?=(?:\D*\d){7})[\d\s()./-]{7,25}", re.IGNORECASE)
_CODE = re.compile(
    r"(?=.*\d)(?!(?:\d+\s?[-/_.:]\s?\d+|(?!\d+(?:\.\d+){2})(?:[\d.,\s]{1,8}|[\d.,\s]+[^\W\d_]{1,3})"
    r"|(?=.* )[^.]*\d\.\d[^.]*)\Z)[^\W_]+(?:[-\s_/.:][^\W_]+)*"
)
"""Identifiers; no ranges, short measures, and decimals with words."""
_NUMBER_SIGN = r"(?<=\s)no|no(?=[.:#]*\s+(?:\d\S*|[\d\s./-]+)\Z|[.:#]+\s+\S*\d\S*\Z)"
"""The label `no`, behind another one or before a code of one word; else it is a negation."""
_LABEL = re.compile(
    rf"\A(?:(?:{_NUMBER_SIGN}|{'|'.join(TABLES['labels'].split())})[.:#]*\s+(?=\S))*"
    r"(?:#|v(?:ersion)?\.?\s?(?=\d+\.\d+\.\d))?",
    re.IGNORECASE,
)
"""Label before a number, version or code."""
_MARKS = re.compile(r"[\s()/:_.-]+")
_LONGEST_PLACE_CODE, _LONGEST_CODE, _LONGEST_MOMENT = 3, 64, 80
_FEWEST_GROUPED = 8
"""Minimum number of digits that may be grouped at will, as in `DE89 3704 0044`."""
_LONGEST_COUNTRY_CODE = 4
_MOMENT_FILLERS = FILLERS | word_set(TABLES["moment_fillers"])
_NOTATION = Notation(pivot=1950)


def tidy(text: str) -> str:
    """Put a text on one line, unify marks, letters and decimals, and join spaced initials."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8").translate(_UNIFIED)
        text = _POWER.sub(lambda match: "^" + unicodedata.normalize("NFKC", match[0]), text)
        text = unicodedata.normalize("NFKC", _FRACTION.sub(" ", text)).translate(_UNIFIED)
    text = " ".join(text.split())
    text = _INCHES.sub(r"\1 in ", _FEET.sub(r"\1 ft ", text)).rstrip()
    text = _ARROW.sub(" to ", _POINT_FIRST.sub("0.", text))
    text = _POWER_OF_TEN.sub(lambda found: f"{Decimal(f'{found[1] or 1}e{found[2]}'):f}", text)
    text = _INITIALS.sub(lambda found: re.sub(r"[. ]", "", found[0]).upper(), text)
    return _GRADE.sub(lambda match: "\u266f" if match[0] == "#" else "\u2212", text)


def fold(text: str) -> str:
    r"""Fold to lower case without accents, with base letters for `ø`, `ł` and the like.

    Look-alikes of other scripts stay: `p\u0430ypal` with a Cyrillic letter is not `paypal`.
    """
    if text.isascii():
        return text.lower().replace("`", "'")
    return without_accents(unicodedata.normalize("NFKC", text).casefold()).translate(_BASE_LETTERS)


def normal(text: str) -> tuple[str, ...]:
    """Return the normal form of a tidy text as tokens; case counts in `mW` and behind a number."""
    return _remembered(text) if len(text) <= LONG else _normal(text)


def _normal(text: str) -> tuple[str, ...]:
    units, others = named_units(text), named_units(text.lower())
    if units and others and units != others:  # `mW`, but not `MW` or `KG`
        return (text,)
    if len(text) == len("Co") and text.istitle() and text.lower() not in _SHORT_WORDS:  # not `CO`
        return (text,)
    found = _TOKEN.findall(_MINUS.sub("\u2212", text).replace("&", " and "))
    tokens = []
    for before, token, after in zip(["", *found], found, [*found[1:], "."], strict=False):
        is_measure = token[0].isdigit() or before[-1:].isdigit()
        folded = (token if is_measure else fold(token)).replace("'", "")
        is_article = folded in {"a", "an"} and after[0].isalnum()  # but `vitamin A`, `John A.`
        is_article = is_article and (token.islower() or not before)
        if folded and folded != "the" and not is_article:
            tokens.append(folded)
    if tokens and tokens[0] in _FOREIGN_ARTICLES and text[:1].islower():
        tokens = tokens[1:] or tokens
    known = TABLES["same"].get(" ".join(tokens))
    return (known,) if known else tuple(tokens or filter(None, map(fold, found)))


_remembered = lru_cache(maxsize=8192)(_normal)


def n_shared(one: str, other: str) -> int:
    """Return the length of the common prefix of two texts."""
    return len([*takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))])


@lru_cache(maxsize=8192)
def language_of(first: str, second: str) -> str:
    """Guess the common language of two values."""
    both = f"{min(first, second)} {max(first, second)}"
    guess = guess_language(both)
    numbers = {word.form for word in words(both)} - cardinals(DEFAULT).keys() - {"once", "elf"}
    others = [each for each in ("de", "fr", "es") if numbers & cardinals(each).keys()]
    return others[0] if guess == DEFAULT and others else guess


def is_absent(text: str) -> bool:
    """Whether a value is empty or a phrase such as `n/a`."""
    tokens = normal(text)
    return not tokens or " ".join(tokens) in _ABSENT


def compare_closed(first: str, second: str) -> Finding | None:
    """Compare answers, places, units, addresses, and values of which at least one is absent."""
    ones, others = _meanings(first, second), _meanings(second, first)
    if ones and others:
        are_same = not ones.isdisjoint(others)
        return Finding(SAME, "same meaning") if are_same else Finding(OTHER, against(first, second))
    are_absent = is_absent(first), is_absent(second)
    if all(are_absent):
        return Finding(SAME, "no value on either side")
    side = "gold" if are_absent[0] else "extracted"
    return Finding(OTHER, f"no value in {side}") if any(are_absent) else None


def _meanings(text: str, beside: str) -> frozenset[str]:
    """Return what an answer, place, unit or address may mean; 1 is a yes only beside a word."""
    if found := _ADDRESS.fullmatch(text):
        host, _, path = found[1].rstrip("/.").partition("/")
        return frozenset({host.lower() + "/" + (path.lower() if host.startswith("10.") else path)})
    form, answers = " ".join(normal(text)), frozenset(("yes", "no"))
    meanings = _meant().get(form, frozenset())
    if form in {"1", "0"} and _meant().get(" ".join(normal(beside)), frozenset()) & answers:
        return frozenset(("yes" if form == "1" else "no",))
    may_be_place = len(form) > _LONGEST_PLACE_CODE or text.isupper()
    units = frozenset(f"unit {unit}" for unit in named_units(text))
    return (meanings if may_be_place else meanings & answers) | units


@lru_cache(maxsize=1)
def _meant() -> dict[str, frozenset[str]]:
    """Map answers, and codes and names of countries and US states; `de` and `ca` mean two."""
    meant: dict[str, frozenset[str]] = {}
    entries = [(answer, TABLES[answer].split()) for answer in ("yes", "no")]
    for kind in ("countries", "states"):
        entries += [(f"{kind} {c}", [c, *names.split(",")]) for c, names in TABLES[kind].items()]
    for meaning, names in entries:
        for name in names:
            meant[name] = meant.get(name, frozenset()) | {meaning}
    return meant


def compare_codes(first: str, second: str) -> Finding | None:
    """Find equal phone numbers and identifiers."""
    if max(len(first), len(second)) > _LONGEST_CODE:
        return None
    codes = [_LABEL.sub("", text.strip("#. ")).upper() for text in (first, second)]
    line, other = sorted(map(_line, codes), key=lambda digits: (digits[:1] == "+", digits))
    line = line.removeprefix("0")
    is_abroad = other[:1] == "+" and len(other) - len(line) <= _LONGEST_COUNTRY_CODE
    if line and is_abroad and other.endswith(line):
        return Finding(SAME, "same characters")
    whole, *others = {_MARKS.sub("", code) for code in codes}
    if others or not all(map(_CODE.fullmatch, codes)):
        return None
    marks, more = sorted(map(_marks, codes), key=len)
    is_grouped = not marks and sum(map(str.isdigit, whole)) >= _FEWEST_GROUPED
    extra = more.keys() - marks.keys()
    is_loose = is_grouped or not any(
        whole[at - 1 : at + 1].isdigit() or more[at] == "." for at in extra
    )
    are_same = is_loose and marks.items() <= more.items()
    return Finding(SAME, "same characters") if are_same else None


def _line(code: str) -> str:
    """Return the digits of a phone number, behind a plus where they begin with the country."""
    digits = re.sub(r"\(0\)|\A00|\D", "", code) if _PHONE.fullmatch(code) else ""
    return "+" * (digits != "" and code.startswith(("+", "00"))) + digits


def _marks(code: str) -> dict[int, str]:
    """Return the marks between the characters of a code by position; a space is a hyphen."""
    found, n_before = {}, 0
    for gap in _MARKS.finditer(code):
        n_before += len(gap[0])
        found[gap.end() - n_before] = next((mark for mark in ":/." if mark in gap[0]), "-")
    return found


Parts = frozenset[tuple[int, str, object]]
"""Parts of a date, time or period: 0 for the start or 1 for the end, name and value."""


@lru_cache(maxsize=8192)
def read_dates(text: str) -> tuple[tuple[str, Parts], ...]:
    """Return the readings of a date, time or period by the order of day and month they assume.

    Times without a.m. or p.m. are read on the 24-hour clock.
    """
    try:
        is_short = len(text) <= _LONGEST_MOMENT
        ends = read_moments(text, _NOTATION, _MOMENT_FILLERS) if is_short else ()
    except ValueError:
        return ()
    ways = {}
    for way in product(*ends):
        orders = {moment.order for moment in way} - {""}
        if len(orders) <= 1:
            ways["".join(orders)] = frozenset(
                (k, *part) for k, moment in enumerate(way) for part in _parts(moment).items()
            )
    return tuple(ways.items()) if ends else ()


def _parts(moment: Moment) -> dict[str, object]:
    """Return the parts of a moment; a time on a date with a zone in UTC."""
    year, month, day, clock, zone, weekday, *_ = moment
    if year and month and day and clock and zone is not None and 1 < year < dt.MAXYEAR:
        then = dt.datetime.combine(dt.date(year, month, day), clock) - zone
        year, month, day, clock, zone = then.year, then.month, then.day, then.time(), dt.timedelta()
    elif day and clock == dt.time(0):
        clock = None
    parts = {
        "year": year,
        "until": moment.last_year,
        "month": month,
        "day": day,
        "weekday": None if day else weekday,
        "time": clock,
        "zone": zone,
        "era": "BC" if year and year < 0 else None,
    }
    return {name: value for name, value in parts.items() if value is not None}


def compare_moments(first: str, second: str, specificity: Specificity) -> Finding | None:
    """Compare two tidy texts as dates or times; `None` unless both are.

    Equal dates are equal however an ambiguous one is read: 03/05/2021 is not surely 3 May.
    """
    ones, others = read_dates(first), read_dates(second)
    names = {name for _, parts in ones + others for _, name, _ in parts}
    ends = [{k for _, parts in ways for k, *_ in parts} for ways in (ones, others)]
    if names.isdisjoint({"month", "time", "weekday", "era"}) or not ends[0] or ends[0] != ends[1]:
        return None
    pairs = [
        (one, other)
        for (order, one), (another, other) in product(ones, others)
        if order == another or not (order and another)
    ]
    relations = {_relation(*pair) for pair in pairs}
    if len(relations) > 1:
        return Finding(VAGUE, f"{against(first, second)}: which is day and which is month is open")
    relation = relations.pop()
    if relation == "other":
        return Finding(OTHER, against(first, second))
    if relation == "same":
        return Finding(SAME, "same date or time")
    own = " and the ".join(sorted({name for _, name, _ in pairs[0][0] ^ pairs[0][1]}))
    side = "extracted" if relation == "more" else "gold"
    return settle(relation, specificity, f"only {side} has the {own}")


def _relation(one: Parts, other: Parts) -> Relation:
    if one == other:
        return "same"
    return "more" if one < other else "less" if other < one else "other"
