"""Dates and times of day: `14 July`, `July 14th, 2021`, `2021-07-14`, `the 1980s`, `2:30 pm`.

A text is split into tokens of one class each, and notations are patterns over the string of
classes: `d`, `D`, `y` are one, two, four digits, `s`, `b` six and eight, `n` others; `M` is a
month, `P` a prefix of one, `W`, `A` a weekday and its abbreviation, `o` an ordinal suffix, `f` of,
`l` a link, `h` am or pm, `E` BC, `Z` a zone, `N` noon, `X` a decade; marks are their own class.
Values allow more notations than running text, in which only unambiguous ones count.
"""

from __future__ import annotations

import datetime as dt
import re
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import regex  # type: ignore[import-untyped]

from factcheck.text.words import TABLES, Word, fold_word, word_set


class Moment(NamedTuple):
    """A date or time as written; `None` for parts that are not given."""

    year: int | None = None
    """Negative for BC."""
    month: int | None = None
    day: int | None = None
    clock: dt.time | None = None
    """Time of day without time zone; before noon if am or pm is unknown."""
    zone: dt.timedelta | None = None
    """Offset from UTC."""
    weekday: int | None = None
    """0 (Monday) to 6."""
    last_year: int | None = None
    """1989 for the 1980s, 2008 for 2007-08; `None` for a single year."""
    half_known: bool = True
    order: str = ""
    """Assumed order of an ambiguous numeric date: `day` or `month` first; else empty."""
    first: int = 0
    """Word positions `[first, last)` in running text."""
    last: int = 0

    @property
    def keys(self) -> tuple[str, ...]:
        """Canonical spelling of each part given: `2021`, `month:7`, `day:14`, `time:14:30`."""
        year = f"{self.year}s" if self.last_year else f"{self.year}"
        kind = "time" if self.half_known else "clock"
        parts = (
            year if self.year is not None else "",
            f"month:{self.month}" if self.month else "",
            f"day:{self.day}" if self.day else "",
            f"weekday:{self.weekday}" if self.weekday is not None else "",
            f"{kind}:{self.clock.hour}:{self.clock.minute:02}" if self.clock else "",
        )
        return tuple(part for part in parts if part)


class Notation(NamedTuple):
    """Interpretation of ambiguous dates."""

    day_first: bool | None = None
    """Whether 03/04/2024 is in April; `None`: it is ambiguous, but 03.04.2024 is in April."""
    pivot: int | None = None
    """Earliest year that two digits can mean; `None`: two-digit years are not read."""


def _numbered(rows: Sequence[str], first: int) -> dict[str, int]:
    return {form: n for names in rows for n, form in enumerate(names.split(), first)}


_FULL_MONTH, _WEEKDAY = _numbered(TABLES["months"], 1), _numbered(TABLES["weekdays"], 0)
_MONTH = {name[:3]: n for name, n in _numbered(TABLES["months"][:1], 1).items()}
_MONTH |= {"sept": 9} | _FULL_MONTH
_ANY_WEEKDAY = _numbered(TABLES["short weekdays"], 0) | _WEEKDAY
_DECADE = {form: 1920 + 10 * n for n, form in enumerate(TABLES["decades"].split())}
_HOUR_OF = {"noon": 12, "midday": 12, "mittag": 12, "midnight": 0, "mitternacht": 0}
_NAMES = frozenset((*_MONTH, *_WEEKDAY, *_DECADE, *_HOUR_OF))
_AMBIGUOUS = word_set("march may mars mai mei marco august")
"""Month names that are also other words: a month only beside a day, a year or a lead."""
_LEADS = word_set(
    "in on of since until till by from last next early late mid this during before after im seit "
    "bis ab en desde hasta depuis de du le"
)
_COUNTING = word_set("over than nearly almost least most")
"""Words before a number that is not a year."""
FILLERS = word_set("the of de del at t r \u0433 \u0440 . , ( ) '")
"""Words and marks that may surround the parts of a date in a value."""
_PERIOD = word_set("to until till bis through au al hasta -")
"""Words between the two ends of a period."""
_CENTURIES = frozenset(map(str, range(10, 21)))
"""First two digits of years in running text."""
_NOON, _MONTHS_IN_YEAR, _CENTURY = 12, 12, 100

_TOKEN = re.compile(
    r"(?P<half>(?<![^\W\d])[ap](?:m\b|\.\s?m\b\.?))|(?P<digits>\d+)|(?P<space>\s+)"
    r"|(?P<era>\b(?:b\.?c\b\.?(?:e\b\.?)?|bce\b|v\.?\s?chr\b\.?|av\.?\s?j\.?-?\s?c\b\.?))"
    r"|(?P<mark>[\u2010-\u2015\u2212])|(?P<sign>[年月日])|(?P<word>[^\W\d_年月日]+)|.",
    re.IGNORECASE | re.DOTALL,
)
_OF_KIND = {"half": "h", "era": "E", "space": " ", "mark": "-"}
_OF_DIGITS = {1: "d", 2: "D", 4: "y", 6: "s", 8: "b"}
"""Class of a run of digits by length; others are `n`."""
_OF_WORDS = {
    **dict.fromkeys(_ANY_WEEKDAY, "A"),
    **dict.fromkeys(_WEEKDAY, "W"),
    **dict.fromkeys(_MONTH, "M"),
    **dict.fromkeys(("st", "nd", "rd", "th", "er", "º", "ª"), "o"),
    **dict.fromkeys(("of", "de", "del"), "f"),
    **dict.fromkeys(("and", "to", "bis", "et", "y"), "l"),
    **dict.fromkeys(("z", "utc", "gmt"), "Z"),
    **dict.fromkeys(_HOUR_OF, "N"),
    **dict.fromkeys(_DECADE, "X"),
    **dict(zip(("the", "t", "h", "s", "uhr"), "eTHSU", strict=True)),
}
"""Prefixes of months are `P`, other words `w`."""
_DAY, _GAP, _OF = r"(?P<day>[dD])o?", r"[ ,./-]{0,3}", r"(?: ?f)?"
_CLOCK = (
    r"(?P<hour>[dD])(?:[:H](?P<minute>D){}"
    r"(?: ?(?:(?P<half>h)|(?P<uhr>U)))?|(?:\.(?P<minute>D))? ?(?:(?P<half>h)|(?P<uhr>U)))"
)
_SECOND = r"(?::(?P<second>D)(?:[.,](?P<part>[dDynsb]))?)?"
_ZONE = r"(?: ?(?P<zone>Z|\+D(?::?D)?|[+-]y|(?(T)-D(?::?D)?|(?(second)-D(?::?D)?|(?!)))))?"


def _grammar(months: str, year: str, *notations: str) -> Any:
    """Compile patterns over classes; a match must not be adjacent to other digits."""
    named = rf"(?P<month>{months})"
    either = (
        r"(?P<year>y)-(?P<number>[dD])-(?P<day>[dD])",
        r"(?P<one>[dD])(?P<mark>[./-]) ?(?P<two>[dD])(?P=mark) ?(?P<year>y)",
        rf"(?P<day>[dD])(?=\.? ?[l-] ?[dD]o?{_OF}{_GAP}{named})",
        rf"{_DAY}{_OF}{_GAP}{named}(?:{_OF}{_GAP}{year})?",
        rf"{named}{_GAP}(?:e )?{_DAY}(?:{_GAP}{year})?",
        rf"{named}{_OF}{_GAP}(?P<year>y)",
    )
    return regex.compile(
        r"(?=[dDynbsMPWAXNT])(?:(?![dDynbs])|(?<![dDyn][.,:/]|[dDynbs]))"
        rf"(?:{'|'.join((*either, *notations))})(?:(?<![dDyn])|(?![.,:/]?[dDyn]))"
    )


_IN_TEXT = _grammar(
    "M",
    r"(?P<year>y)",
    _CLOCK.format(""),
    r"(?P<noon>N)",
    r"(?P<weekday>W)",
    r"(?P<decade>X|y(?=S))S?",
    r"(?P<year>y)(?:[/-]| - )(?P<season>D)(?! ?M)",
    r"(?P<year>y)",
    r"(?P<month>M)",
)
_IN_VALUE = _grammar(
    "[MP]",
    r"(?P<year>y|'?D(?! ?h))",
    r"(?P<one>[dD])(?P<mark>[./]) ?(?P<two>[dD])(?P=mark) ?(?P<year>D)",
    r"(?P<year>y)(?P<mark>[/.]) ?(?P<number>[dD])(?P=mark) ?(?P<day>[dD])",
    r"(?P<year>y)[/-](?P<number>[dD])",
    r"(?P<number>[dD])[./-](?P<year>y)",
    r"(?P<year>y)年(?P<number>[dD])月(?:(?P<day>[dD])日)?",
    rf"(?P<year>y){_GAP}(?P<month>[MP])(?:{_GAP}{_DAY})?",
    rf"(?P<T>T)?{_CLOCK.format(_SECOND)}{_ZONE}",
    r"(?<=T)(?P<basic>[ys])(?: ?(?P<zone>Z|[+-]y))?",
    r"(?P<noon>N)",
    r"(?P<weekday>[WA])",
    r"(?P<year>[dDyn]) ?(?P<era>E)",
    r"(?P<full>b)",
    r"(?P<year>y)",
    r"(?P<month>[MP])",
)


def _prefixes() -> dict[str, int]:
    """Map prefixes of month names, of at least three letters, to months; 0 if ambiguous."""
    found: dict[str, int] = {}
    for name, number in _FULL_MONTH.items():
        for length in range(len("jan"), len(name)):
            prefix = name[:length]
            found[prefix] = number if found.get(prefix, number) == number else 0
    return found | dict.fromkeys(_WEEKDAY, 0) | _MONTH


_BEGINNING = _prefixes()


def month_of(form: str) -> int:
    """Return the month that a folded word names or unambiguously abbreviates, or 0."""
    return _BEGINNING.get(form, 0)


@lru_cache(maxsize=8192)
def _class_of(word: str) -> str:
    form = word.lower() if word in "ºª" else fold_word(word)
    return _OF_WORDS.get(form) or ("P" if month_of(form) else "w")


def _tokens(text: str) -> tuple[list[Any], str]:
    """Return the tokens of a text and their classes, one letter each."""
    tokens = list(_TOKEN.finditer(text))
    classes = ""
    for token in tokens:
        if token.lastgroup == "digits":
            classes += _OF_DIGITS.get(len(token[0]), "n")
        elif token.lastgroup == "word":
            classes += _class_of(token[0])
        else:
            classes += _OF_KIND.get(token.lastgroup or "", token[0])
    return tokens, classes


@lru_cache(maxsize=8192)
def read_moments(
    text: str,
    notation: Notation = Notation(),  # noqa: B008 - immutable
    fillers: frozenset[str] = FILLERS,
) -> tuple[tuple[Moment, ...], ...]:
    """Read a value that is a date or time: one moment, two for a period, none for other text.

    Args:
        text: A value.
        notation: Interpretation of two-digit years and ambiguous numeric dates.
        fillers: Folded words and marks to skip.

    Returns:
        Readings of each moment; two if day and month may be swapped.

    Raises:
        ValueError: The day or time does not exist.
    """
    tokens, classes = _tokens(text)

    def said(first: int, last: int) -> list[str]:
        places = [at for at in range(first, last) if classes[at] != " "]
        return ["-" if classes[at] == "-" else fold_word(tokens[at][0]) for at in places]

    ends: list[list[Moment]] = []
    at = 0
    for found in _IN_VALUE.finditer(classes):
        between = said(at, found.start())
        is_end = len(ends) == 1 and len(between) == 1 and between[0] in _PERIOD
        if not (is_end or fillers.issuperset(between)):
            return ()
        ways = _readings(found, tokens, notation)
        if is_end or not ends:
            ends.append(ways)
        else:
            ends[-1] = [both for pair in product(ends[-1], ways) if (both := _merged(*pair))]
        at = found.end()
    if not all(ends) or not fillers.issuperset(said(at, len(tokens))):
        return ()
    if len(ends) > 1:
        year, month = ends[1][0].year, ends[1][0].month
        ends[0] = [
            start._replace(year=start.year or year, month=start.month or (start.day and month))
            for start in ends[0]
        ]
    return tuple(map(tuple, ends))


def find_moments(found: Sequence[Word], text: str) -> list[Moment]:
    """Find the dates and times in running text, of which `found` are the words, in order."""
    if not any(word.kind == "number" or word.form in _NAMES for word in found):
        return []
    tokens, classes = _tokens(text)
    starts = [word.start for word in found]
    letters = list(classes)
    for at, token in enumerate(tokens):
        place = bisect_left(starts, token.start()) if letters[at] == "y" else len(starts)
        is_word = place < len(starts) and starts[place] == token.start()
        follows_letter = at > 0 and token.lastgroup == "digits" and letters[at - 1].isalpha()
        if follows_letter or (is_word and not _may_be_year(found, place, text)):
            letters[at] = "n"
    moments = []
    for match in _IN_TEXT.finditer("".join(letters)):
        first = bisect_left(starts, tokens[match.start()].start())
        last = bisect_left(starts, tokens[match.end() - 1].end())
        try:
            ways = _readings(match, tokens, Notation())
        except ValueError:
            continue
        if ways and first < last and _is_sure(ways[0], found, first, last):
            moment = ways[0] if len(ways) == 1 else Moment(ways[0].year)
            moments.append(moment._replace(first=first, last=last))
    return moments


def _may_be_year(found: Sequence[Word], at: int, text: str) -> bool:
    """Whether a four-digit number may be a year, and not an amount or a count."""
    word = found[at]
    counts = at and (found[at - 1].kind == "symbol" or found[at - 1].form in _COUNTING)
    if counts or word.form[:2] not in _CENTURIES:
        return False
    following = found[at + 1] if at + 1 < len(found) else None
    if following is None:
        return True
    if following.start == word.end:
        return following.form == "s" and word.form.endswith("0")
    if text[word.end : following.start] != " ":
        return True
    is_plural = following.form.endswith("s") or following.form == "people"
    is_counted = following.kind == "content" and following.text.islower() and is_plural
    return not is_counted and following.kind != "symbol"


def _is_sure(moment: Moment, found: Sequence[Word], first: int, last: int) -> bool:
    """Whether a match is unambiguous; a lone word must clearly be a month or weekday."""
    word, form = found[first].text, found[first].form
    if last - first > 1 or not word[0].isalpha():
        return True
    if moment.weekday is not None:
        return word[0].isupper() or form.endswith("s")
    is_led = first > 0 and found[first - 1].form in _LEADS and word[0].isupper()
    return not moment.month or (form in _FULL_MONTH and (is_led or form not in _AMBIGUOUS))


def _merged(one: Moment, other: Moment) -> Moment | None:
    """Combine two moments; `None` if they have a part in common."""
    pairs = zip(one[:6], other[:6], strict=True)
    if any(a is not None and b is not None for a, b in pairs):
        return None
    half_known = one.half_known and other.half_known
    parts: dict[str, Any] = {k: v for k, v in other._asdict().items() if v is not None}
    parts |= {"half_known": half_known, "order": one.order or other.order}
    return one._replace(**parts)


def _readings(found: Any, tokens: Sequence[Any], notation: Notation) -> list[Moment]:
    """Return the readings of a match; raises `ValueError` if the day or time does not exist."""
    said = {}
    for name in found.groupdict():
        first, last = found.span(name)
        if first < last:
            said[name] = "".join(token[0] for token in tokens[first:last])
    if said.keys() & {"hour", "basic", "noon"}:
        return [_time(said)]
    if "weekday" in said:
        return [Moment(weekday=_ANY_WEEKDAY[fold_word(said["weekday"])])]
    if "decade" in said:
        year = _DECADE.get(fold_word(said["decade"])) or int(said["decade"])
        return [Moment(year, last_year=year + 9)]
    return _dates(said, notation)


def _dates(said: Mapping[str, str], notation: Notation) -> list[Moment]:
    digits = said.get("year", "").strip("'")
    year = int(digits) if digits else None
    if year is not None and "era" in said:
        return [Moment(-year)]
    if year is not None and len(digits) == 2:  # noqa: PLR2004 - without the century
        if notation.pivot is None:
            return []
        year = notation.pivot + (year - notation.pivot) % _CENTURY
    if "one" in said:
        return _in_figures(int(said["one"]), int(said["two"]), year, said["mark"], notation)
    if year is not None and "season" in said:
        after = (int(said["season"]) - year) % _CENTURY
        return [Moment(year, last_year=year + after if after < _CENTURY / 2 else None)]
    if full := said.get("full"):
        return [_date(int(full[:4]), int(full[4:6]), int(full[6:]))]
    month = month_of(fold_word(said["month"])) if "month" in said else None
    month = int(said["number"]) if "number" in said else month
    return [_date(year, month, int(said["day"]) if "day" in said else None)]


def _date(year: int | None, month: int | None, day: int | None, order: str = "") -> Moment:
    parts = zip((year, month, day), (2000, 1, 1), strict=True)
    dt.date(*(instead if part is None else part for part, instead in parts))
    return Moment(year, month, day, order=order)


def _in_figures(
    one: int, two: int, year: int | None, mark: str, notation: Notation
) -> list[Moment]:
    if max(one, two) > _MONTHS_IN_YEAR or one == two:
        return [_date(year, min(one, two), max(one, two))]
    is_clear = mark == "." or notation.day_first is not None
    by_day = _date(year, two, one, "" if is_clear else "day")
    by_month = _date(year, one, two, "" if is_clear else "month")
    if is_clear:
        return [by_month if notation.day_first is False else by_day]
    return [by_day, by_month]


def _time(said: Mapping[str, str]) -> Moment:
    if "noon" in said:
        return Moment(clock=dt.time(_HOUR_OF[fold_word(said["noon"])]))
    digits = said.get("basic", "")
    hour = int(digits[:2] or said["hour"])
    minute, second = (
        int(digits[2:4] or said.get("minute", "0")),
        int(digits[4:] or said.get("second", "0")),
    )
    half = said.get("half", "")[:1].lower()
    is_known = "uhr" in said or not 1 <= hour < _NOON or (digits or said["hour"])[0] == "0"
    if half:
        if not 1 <= hour <= _NOON:
            raise ValueError("there is no such hour")
        hour = hour % _NOON + (_NOON if half == "p" else 0)
    micro = int(said.get("part", "").ljust(6, "0")[:6])
    clock = dt.time(hour, minute, second, micro)
    return Moment(clock=clock, zone=_zone(said.get("zone", "")), half_known=is_known or bool(half))


def _zone(written: str) -> dt.timedelta | None:
    if not written:
        return None
    offset = "Z" if written[0].isalpha() else written.replace(":", "").ljust(5, "0")
    return dt.datetime.strptime(offset, "%z").utcoffset()


def shared(one: Moment, other: Moment) -> list[bool]:
    """Return, for each part given by both moments, whether it may be the same."""
    found = [a == b for a, b in zip(one[1:3], other[1:3], strict=True) if a and b]
    if one.year is not None and other.year is not None:
        last_years = one.last_year or one.year, other.last_year or other.year
        found.append(one.year <= last_years[1] and other.year <= last_years[0])
    if one.weekday is not None and other.weekday is not None:
        found.append(one.weekday == other.weekday)
    if one.clock is not None and other.clock is not None:
        both = one.half_known and other.half_known
        gap = _minutes(one.clock) - _minutes(other.clock)
        found.append(not gap % ((2 if both else 1) * _NOON * 60))
    return found


def _minutes(clock: dt.time) -> float:
    return clock.hour * 60 + clock.minute + clock.second / 60


def differ(one: Moment, other: Moment) -> bool:
    """Whether two moments contradict each other in a part given by both."""
    return not all(shared(one, other))


def meet(one: Moment, other: Moment) -> bool:
    """Whether two moments have a part in common and do not contradict each other."""
    return bool(parts := shared(one, other)) and all(parts)
