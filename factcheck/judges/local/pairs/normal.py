"""Normal forms of values, and comparison of those of one kind.

Normal forms lack insignificant differences: case, accents, punctuation, articles, dots of initials.
Significant signs are kept: `A+` is not `A-`, `1.5` is not `1-5`, `5e-3` is 0.005. Kinds are
answers, places, units, codes and dates.
"""

from __future__ import annotations

import datetime as dt
import json
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from itertools import product
from typing import Any, Literal, NamedTuple

from factcheck.judges.ports import Specificity
from factcheck.text.dates import FILLERS, Moment, Notation, read_moments
from factcheck.text.units import named_units
from factcheck.text.words import PLAIN_MARKS, without_accents, word_set


class Finding(NamedTuple):
    """Probability that two values are equivalent, and the reason."""

    probability: float
    reason: str


Relation = Literal["same", "more", "less", "other"]
"""Relation of the second value to the first: the same, more specific, less specific, different."""

DECISION = 0.5
"""Probability threshold of equivalence."""
SAME, VAGUE, OTHER = 0.98, 0.3, 0.02
"""Probabilities of values that differ in notation, of one that says more, and of different ones."""
LONGEST_QUOTE = 60
TABLES: Mapping[str, Any] = json.loads((files(__package__) / "words.json").read_text("utf-8"))
"""Word lists in normal form."""
TERMS: Mapping[str, str] = {
    form: row.split(",")[0] for row in TABLES["terms"] for form in row.split(",")
}
"""Technical terms and their synonyms, by the one that stands for all."""
_SAME: Mapping[str, str] = TABLES["same"] | TERMS
"""Normal forms of whole values that mean the same, by the one that stands for all."""
LONG = 4_000
"""Length in characters above which texts are compared as a whole and not cached."""
_UNIFIED = PLAIN_MARKS | dict.fromkeys(map(ord, "\u2122\u00ae\u00a9\u2120\ufe0f"))
_BASE_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\u0131": "i"}
)
_POWER = re.compile(r"(?<=[\d)])\u207b?[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]+")
_FRACTION = re.compile(r"(?<=\d)(?=[\u00bc-\u00be\u2150-\u215e])")
_TOKEN = re.compile(
    r"[^\W_]+(?:'[^\W_]+)*|(?<=[A-Z])-(?![^\s,;)])"
    r"|[^\w\s#.,:;!?*|\\'\"`^°()\[\]{}/&\u00b7\u2022\u2039\u203a¿¡§¶-]"
)
_PLAIN = re.compile(r"[^\W_]+")
_WORD = re.compile(r"(?<!\d)(?<!\d )\b[^\W\d_]+")
_ANSWERS = word_set(f"{TABLES['yes']} {TABLES['no']}")
_SYMBOLIZED = frozenset(TABLES["symbols"].values())
_SHORT_WORDS = _ANSWERS | word_set(TABLES["grammar"]) | {"ok"}
_ABSENT = frozenset(("", *TABLES["absent"].split(",")))
_ADDRESS = re.compile(
    r"(?:mailto:|https?://|doi:\s*)*(?:www\.|(?:dx\.)?doi\.org/)?"
    r"([\w.+%-]+@[\w-]+(?:\.[\w-]+)+|10\.\d{4,9}/\S+|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?)\.?",
    re.IGNORECASE,
)
_POWERS = {"thousand": 3, "K": 3, "million": 6, "mio": 6, "G": 9, "Gpt": 9, "T": 12, "Tpt": 12}
_COUNTS = re.compile(
    rf"(?:(?:[x\u00d7]\s?)?10[\^*eE](\d\d?)|({'|'.join(_POWERS)}))?\s?"
    r"(?:cells\s?)?(?:/|per )\s?(.+)"
)
"""Counts of cells: `10^9/L`."""
_PER_DAY = re.compile(r"(?:/| per )\s?24[ -]?h(?:ours?|rs?)?\b")
_CODE = re.compile(
    r"(?=.*\d)(?!(?:\d+\s?[-/_.:]\s?\d+|(?!\d+(?:\.\d+){2})(?:[\d.,\s]{1,8}|[\d.,\s]+[^\W\d_]{1,3})"
    r"|(?=.* )[^.]*\d\.\d[^.]*|[\d.]+E-?\d{1,3}(?: \w+)?)\Z)[^\W_]+(?:[-\s_/.:][^\W_]+)*"
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
_SYMBOL = re.compile(r"(?<=\d)\s?([^\W\d_]+)")
_PREFIXED = re.compile(
    r"([mMpP])(?:Ω|[Oo]hms?|Wh|eV|N|T|F|J|H|Bq|Gy|Sv|VA)|[kKmMgGtT]([bB])ps|[mµμun]([sS])"
)
_MARKS = re.compile(r"[\s()/:_.-]+")
_LONGEST_PLACE_CODE, _LONGEST_CODE, _LONGEST_MOMENT = 3, 64, 80
_FEWEST_GROUPED = 8
"""Minimum number of digits that may be grouped at will, as in `DE89 3704 0044`."""
_MOMENT_FILLERS = FILLERS | word_set(TABLES["moment_fillers"])
_NOTATION = Notation(pivot=1950)


def settle(relation: Relation, specificity: Specificity, reason: str) -> Finding:
    """Return the finding for a relation of the extracted value to gold."""
    allowed = {"allow_more_specific": "more", "allow_less_specific": "less"}.get(specificity)
    if relation in {"same", allowed}:
        return Finding(SAME, reason)
    return Finding(OTHER if relation == "other" else VAGUE, reason)


def against(first: str, second: str) -> str:
    """Format the reason of a contradiction: `28 against 82`."""
    return f"{quoted(first)} against {quoted(second)}"


def quoted(text: str) -> str:
    """Format a value in one line, shortened if long."""
    printable = [letter if letter.isprintable() else " " for letter in text[:200]]
    line = " ".join("".join(printable).split())
    line = line.encode("utf-8", "replace").decode("utf-8")
    return line if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1].rstrip() + "…"


def tidy(text: str) -> str:
    """Put a text on one line and unify its marks, letters and digits."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8").translate(_UNIFIED)
        text = _POWER.sub(lambda match: "^" + unicodedata.normalize("NFKC", match[0]), text)
        text = unicodedata.normalize("NFKC", _FRACTION.sub(" ", text)).translate(_UNIFIED)
    return re.sub(r"(?<=[A-Za-z])#", "\u266f", " ".join(text.split()))


def fold(text: str) -> str:
    r"""Fold to lower case without accents, with base letters for `ø`, `ł` and the like.

    Look-alikes of other scripts stay: `p\u0430ypal` with a Cyrillic letter is not `paypal`.
    """
    if text.isascii():
        return text.lower().replace("`", "'")
    return without_accents(unicodedata.normalize("NFKC", text).casefold()).translate(_BASE_LETTERS)


def normal(text: str) -> str:
    """Return the normal form of a tidy text; with digits, it keeps marks, and case behind them."""
    if any(map(str.isdigit, text)):
        return _WORD.sub(lambda found: fold(found[0]), text)
    return _normal(text) if len(text) <= LONG else _normal.__wrapped__(text)


@lru_cache(maxsize=8192)
def _normal(text: str) -> str:
    units, others = named_units(text), named_units(text.lower())
    is_symbol = units and others and units != others  # `mW`, but not `MW` or `KG`
    is_short = len(text) == len("Co") and text.istitle() and text.lower() not in _SHORT_WORDS
    if is_symbol or is_short:
        return text
    form = " ".join(fold(token).replace("'", "") for token in _TOKEN.findall(text))
    return _SAME.get(form, form)


def is_absent(text: str) -> bool:
    """Whether a value is empty or a phrase such as `n/a`."""
    return normal(text) in _ABSENT


def compare_closed(first: str, second: str) -> Finding | None:
    """Compare answers, places, units, addresses, and values of which at least one is absent."""
    if _are_other_units(first, second):
        return Finding(OTHER, against(first, second))
    ones, others = (meanings(text) or _term(text) for text in (first, second))
    if ones and others:
        are_same = not ones.isdisjoint(others)
        return Finding(SAME, "same meaning") if are_same else Finding(OTHER, against(first, second))
    are_absent = is_absent(first), is_absent(second)
    if all(are_absent):
        return Finding(SAME, "no value on either side")
    side = "gold" if are_absent[0] else "extracted"
    return Finding(OTHER, f"no value in {side}") if any(are_absent) else None


def _term(text: str) -> frozenset[object]:
    term = TERMS.get(" ".join(_PLAIN.findall(fold(text))))
    return frozenset({term} if term else ())


def meanings(text: str) -> frozenset[object]:
    """Return what an answer, place, unit or address may mean."""
    if found := _ADDRESS.fullmatch(text):
        host, _, path = found[1].rstrip("/.").partition("/")
        return frozenset({f"{fold(host)}/{fold(path) if host.startswith('10.') else path}"})
    if symbol := TABLES["symbols"].get(text):
        return frozenset({symbol}) | named_units(text)
    text = _PER_DAY.sub("/day", text)
    if found := _COUNTS.fullmatch(text):
        sizes = {size for kind, size, _ in named_units(found[3]) if kind == "volume"}
        if sizes:
            power = int(found[1]) if found[1] else _POWERS.get(found[2], 0)
            return frozenset(f"{10**power / size:.9g} a volume" for size in sizes)
    form = normal(text)
    if form in _SYMBOLIZED:
        return frozenset({form})
    is_place = len(form) > _LONGEST_PLACE_CODE or text.isupper() or form in _ANSWERS
    return (_meant().get(form, frozenset()) if is_place else frozenset()) | named_units(text)


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


def _are_other_units(first: str, second: str) -> bool:
    """Whether the case of a symbol behind a number makes it another unit.

    `mΩ` is not `MΩ`, `Mbps` not `MBps` and `mS` not `ms`; `MBPS` may be any of them.
    """
    for one, other in zip(_SYMBOL.findall(first), _SYMBOL.findall(second), strict=False):
        if one == other or one.casefold() != other.casefold() or (one + other).isupper():
            continue
        kinds = _PREFIXED.fullmatch(one), _PREFIXED.fullmatch(other)
        if kinds[0] and kinds[1] and kinds[0].groups() != kinds[1].groups():
            return True
    return False


def is_like_name(text: str) -> bool:
    """Whether a word of two letters is written like a name, `Ma` or `Sá`, and no abbreviation."""
    return len(text) == len("Ma") and text.istitle() and text not in {"Co", "Oy", "Dr", "Mr", "Ms"}


def compare_codes(first: str, second: str) -> Finding | None:
    """Find equal identifiers and phone numbers."""
    if max(len(first), len(second)) > _LONGEST_CODE:
        return None
    codes = [_LABEL.sub("", text.strip("#. ")).upper() for text in (first, second)]
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
            parts = {(k, *part) for k, each in enumerate(way) for part in _parts(each).items()}
            ways["".join(orders)] = frozenset(parts)
    return tuple(ways.items()) if ends else ()


def _parts(moment: Moment) -> dict[str, object]:
    """Return the parts of a moment; a time on a date with a zone in UTC."""
    year, month, day, clock, zone, *_ = moment
    if year and month and day and clock and zone is not None and 1 < year < dt.MAXYEAR:
        then = dt.datetime.combine(dt.date(year, month, day), clock) - zone
        zone, clock = dt.timedelta(), then.time()
        moment = Moment(then.year, then.month, then.day)
    elif day and clock == dt.time(0):
        clock = None
    parts = {
        "year": moment.year,
        "until": moment.last_year,
        "month": moment.month,
        "day": moment.day,
        "weekday": None if day else moment.weekday,
        "time": clock,
        "zone": zone,
        "era": "BC" if moment.year and moment.year < 0 else None,
    }
    return {name: value for name, value in parts.items() if value is not None}


def compare_moments(first: str, second: str, specificity: Specificity) -> Finding | None:
    """Compare two tidy texts as dates or times; `None` unless both are.

    Equal dates are equal however an ambiguous one is read: 03/05/2021 is not surely 3 May.
    """
    ones, others = read_dates(first), read_dates(second)
    names = {name for _, way in ones + others for _, name, _ in way}
    if not (ones and others) or names <= {"year", "until"}:
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
    if _is_period(one) != _is_period(other):
        return "other"
    if one < other:
        return "more"
    return "less" if other < one else "other"


def _is_period(parts: Parts) -> bool:
    return any(end for end, *_ in parts)
