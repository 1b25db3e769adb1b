"""Numbers in digits or words: `1,200`, `1.5 million`, `twenty-one`, `half`.

Number words are a grammar over classes, one letter a word: `u` is 1 to 9, `t` to 99, `c` 13 to 19,
`T` a multiple of ten and `C` twenty, `0` zero, `a` an article, `h` hundred, `p` a larger power of
ten, `z` dozen, `o` an ordinal, `f` half or parts in the plural, `&` and, `.` point. English is
supported fully; German, French, Spanish and Italian with decimal commas and simple number words;
other languages with digits only.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Literal, NamedTuple

from factcheck.text.words import TABLES, Word, word_set

NumberKind = Literal["count", "ordinal", "share"]


class Number(NamedTuple):
    """A number that starts at a word of a text."""

    value: float
    kind: NumberKind
    """`share` for fractions of a whole such as `half` and `two thirds`."""
    last: int
    """Position of the word behind it."""


_UNITS, _TENS, _POWERS = TABLES["ones"], TABLES["tens"], TABLES["powers of ten"]
_ORDINALS = {form: n for n, form in enumerate(TABLES["ordinals"].split(), 1)}
_ORDINALS |= {form + "th": n for n, form in enumerate(_UNITS["en"].split()[13:], 13)}
_ORDINALS |= {form[:-1] + "ieth": 10 * n for n, form in enumerate(_TENS["en"].split(), 2)}
_PARTS = {"half": 2, "halves": 2, "quarter": 4, "quarters": 4} | {
    form + ending: n for form, n in list(_ORDINALS.items())[2:12] for ending in ("", "s")
}
_NO_COUNT = word_set("no any every each this that the another")
"""Before `one`."""
DECIMAL_COMMA = word_set("de fr es it pt nl sv da nb no fi pl cs sk ru uk tr el hu ro bg")
"""Languages that write 1,5 for one and a half."""
_GROUPED = re.compile(r"[1-9]\d{0,2}([.,'_ ])\d{3}(?:\1\d{3})*|[1-9]\d?(?:,\d\d)+,\d{3}")
"""Groups of three digits, or Indian ones, "12,34,567"."""
_AMBIGUOUS = re.compile(r"[1-9]\d{0,2}[.,]\d{3}")
_DIGITS_ONLY = re.compile(r"\d+")
_SPACES = dict.fromkeys(map(ord, "\u00a0\u202f\u2009"), " ")
_LONGEST = 16
"""Maximum number of digits of a number; longer ones are codes."""
_JOINT = re.compile(r"[\s-]*|\s*[\u2010-\u2013]\s*")
_MINUS = re.compile(r"(?:\A|[ (\n])[-\u2212]\Z")
_LENGTH_HEADS = word_set("high tall long wide deep away from race sprint freestyle dash")
"""After these, `100m` is a length and not a million."""
_CURRENCIES = frozenset(
    form
    for dimension, entry in TABLES["units"].items()
    if dimension.startswith("money")
    for form in entry.split()
    if form.isalpha()
)
_DIGITS, _CENTURIES = range(10), range(13, 21)
"""Centuries begin a year of two number words."""
_BELOW_21 = "0" + "u" * 9 + "ttt" + "c" * 7 + "C"
_HUNDRED = 2
"""Power of ten."""
_MOST_WORDS = 64
_X = "(?:[CT](?: [1u])?|[ctu1])"
_H = f"(?: h(?: &(?= {_X}))?(?: {_X})?| z)?"
_GRAMMAR = re.compile(
    f"(?:{_X}|a) (?P<share>f|q(?=.O))|{_X} & (?:{_X}|a) f(?: p)*|(?P<ordinal>[oq])"
    f"|(?:[Cc] (?:[CT](?: [1u])?|[ct])|0"
    f"|(?:{_X}|a(?= [hpz])){_H}(?: p(?:(?:[ ,]| & ){_X}{_H} p)*(?:(?:[ ,]| & ){_X}{_H})?)?)"
    r"(?:.\.(?:.[01u])+)?"
)


@lru_cache(maxsize=8192)
def read_digits(digits: str, language: str = "en") -> float | None:
    """Return the value of `1,200.50` or, in languages with a decimal comma, of `1.200,50`.

    `None` for a code, a version or a date.
    """
    if sum(map(str.isdecimal, digits)) > _LONGEST:
        return None
    grouping, decimal = (".", ",") if language in DECIMAL_COMMA else (",", ".")
    if digits.endswith("0") and decimal in digits:  # nobody writes 1.500 for 1.5
        grouping = decimal
    figure = digits.translate(_SPACES)
    mark = decimal_mark(figure, grouping)
    value = read_figure(figure, decimal if mark is None else mark)
    return None if value is None else float(value)


def decimal_mark(figure: str, grouping: str | None = None) -> str | None:
    """Return the decimal mark of a figure, `.` or `,`; empty if there is none, `None` if unknown.

    If both point and comma occur, the last is the decimal mark; one that occurs twice groups
    digits. One that occurs once, as in `1,240`, is either.

    Args:
        figure: Digits with marks.
        grouping: The mark that groups where it is either; empty if none does.
    """
    marks = [letter for letter in figure if letter in ".,"]
    if not marks:
        return ""
    last = marks[-1]
    if len(marks) > 1:
        return last if marks[0] != last else ""
    if grouping == "" or not _AMBIGUOUS.fullmatch(figure):
        return last
    return "" if last == grouping else None


def read_figure(figure: str, mark: str, power: int = 0) -> Decimal | None:
    """Return the value of a figure, or `None` if its groups are not well-formed.

    Args:
        figure: Digits, of which spaces, apostrophes, underscores or the other mark may form groups.
        mark: The decimal mark; empty if there is none.
        power: Power of ten that it is multiplied by.
    """
    whole, _, fraction = figure.partition(mark) if mark else (figure, "", "0")
    is_whole = not whole or _DIGITS_ONLY.fullmatch(whole) or _GROUPED.fullmatch(whole)
    if not is_whole or not _DIGITS_ONLY.fullmatch(fraction):
        return None
    digits = "".join(filter(str.isdecimal, whole)) or "0"
    return Decimal(f"{digits}.{fraction}E{power}")


def read_number(found: Sequence[Word], at: int, text: str, language: str = "en") -> Number | None:
    """Read the number that starts at a word of a text, or return `None`."""
    word = found[at]
    if word.kind == "number":
        return _in_digits(found, at, text, language)
    classes = _number_words(language)
    if word.form not in classes:
        return None
    if word.form == "half":
        is_whole = at + 1 == len(found) or found[at + 1].kind in {"function", "symbol"}
        return Number(0.5, "share", at + 1) if is_whole else None
    said = ""
    values = []
    for k in range(at, min(at + _MOST_WORDS, len(found))):
        if found[k].form not in classes:
            break
        letter, value = classes[found[k].form]
        values.append(value)
        said += (_gap(found, k, text, language) if said else "") + letter
    match = _GRAMMAR.match(said)
    n = len(match[0]) // 2 + 1 if match else 0
    is_pronoun = n == 1 and word.form == "one" and at > 0 and found[at - 1].form in _NO_COUNT
    if match is None or is_pronoun:
        return None
    if match["ordinal"]:
        return Number(float(values[0]), "ordinal", at + n)
    kind: NumberKind = "share" if match["share"] else "count"
    return Number(_worth(match[0][::2], values), kind, at + n)


def _worth(letters: str, values: Sequence[int]) -> float:
    """Return the value of a number from the classes and values of its words."""
    total = group = whole = 0.0
    for place, (letter, n) in enumerate(zip(letters, values, strict=False), 1):
        if letter in "hz":
            group *= n
        elif letter == "p":
            total, group = total + group * n, 0
        elif letter == "&":
            whole = group
        elif letter in "fq":
            group = whole + (group - whole) / n
        elif letter == ".":
            return total + group + float("0." + "".join(map(str, values[place : len(letters)])))
        else:  # `nineteen eighty-four`
            group = group * 100 + n if group in _CENTURIES and n > max(_DIGITS) else group + n
    return total + group


def _gap(found: Sequence[Word], at: int, text: str, language: str) -> str:
    """Return a space if only a space or hyphen precedes a word, `,` for an English comma."""
    start, end = found[at - 1].end, found[at].start
    if _JOINT.fullmatch(text, start, end):
        return " "
    if language == "en" and text[start:end] == ", ":
        return ","
    return "|"


def _in_digits(found: Sequence[Word], at: int, text: str, language: str) -> Number | None:
    value = read_digits(found[at].form, language)
    if value is None:
        return None
    start, last = found[at].start, at + 1
    if _MINUS.search(text[max(start - 2, 0) : start]):
        value = -value
    tail = found[last] if last < len(found) else None
    if tail is not None and tail.start == found[at].end and tail.kind != "symbol":
        if tail.form in {"st", "nd", "rd", "th"}:
            return Number(value, "ordinal", at + 2)
        power = _powers("en").get(tail.form) or 9 * (tail.form == "b")
        power = power or 6 * (tail.form == "m" and _is_million(found, at, text))
        return Number(value * 10**power, "count", at + 2 if power else last)
    powers = _powers(language)
    while last < len(found) and found[last].form in powers and _gap(found, last, text, "") == " ":
        value *= 10 ** powers[found[last].form]
        last += 1
    return Number(value, "count", last)


def _is_million(found: Sequence[Word], at: int, text: str) -> bool:
    """Whether an `m` at a number means million: `£3m`, `EUR 3m`, `3m people`, not `3m high`."""
    before = found[at - 1] if at else None
    is_sign = before is not None and before.kind == "symbol" and before.end == found[at].start
    if is_sign or (before is not None and before.form in _CURRENCIES):
        return True
    if at + 2 >= len(found):
        return False
    following = found[at + 2]
    between = text[found[at + 1].end : following.start]
    return between == " " and following.form not in _LENGTH_HEADS and following.kind == "content"


@lru_cache(maxsize=32)
def _number_words(language: str) -> Mapping[str, tuple[str, int]]:
    """Return class and value of each word that may be part of a number."""
    found = dict.fromkeys(("a", "an", "ein", "eine", "un", "une", "una"), ("a", 1))
    for form, n in cardinals(language).items():
        found[form] = _class_of(n), n
    for form, power in _powers(language).items():
        found[form] = "h" if power == _HUNDRED else "p", 10**power
    if language == "en":
        found |= {form: ("o", n) for form, n in _ORDINALS.items()}
        found |= {form: ("q" if form in _ORDINALS else "f", n) for form, n in _PARTS.items()}
        found |= {"and": ("&", 0), "point": (".", 0), "of": ("O", 0)}
    return found | {"one": ("1", 1), "dozen": ("z", 12)}


def _class_of(number: int) -> str:
    if number < len(_BELOW_21):
        return _BELOW_21[number]
    return "T" if number % 10 == 0 else "t"


@lru_cache(maxsize=32)
def cardinals(language: str) -> Mapping[str, int]:
    """Return the number words up to 99."""
    units = _UNITS.get(language, "").split()
    tens = list(zip(range(20, 100, 10), _TENS.get(language, "").split(), strict=False))
    table = {form: value for value, form in [*enumerate(units), *tens] if form != "."}
    if language == "de":
        ones = ["ein", *units[2:10]]
        table |= {f"{one}und{form}": v + k for v, form in tens for k, one in enumerate(ones, 1)}
    return table


@lru_cache(maxsize=32)
def _powers(language: str) -> Mapping[str, int]:
    entries = _POWERS.get(language, "").split()
    return {form: int(power) for form, power in zip(entries[::2], entries[1::2], strict=True)}


def power_of_ten(form: str) -> int:
    """Return the power of ten of a folded magnitude word, 6 for `million`, or 0.

    English takes precedence: a `billion` is ten to the ninth.
    """
    return next((powers[form] for powers in map(_powers, _POWERS) if form in powers), 0)
