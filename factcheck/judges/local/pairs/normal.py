"""Normalization of values, and comparison of those that have one form each.

Removes insignificant differences: case, accents, punctuation, articles, legal forms, dots of
initials. Significant signs are kept: `A+` is not `A-`, `1.5` is not `1-5`. Answers, absent values,
places, addresses, phone numbers and identifiers are compared by their forms.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from factcheck.judges.local.pairs.model import OTHER, SAME, SIMILAR, Finding, against
from factcheck.text.words import fold_word, word_set

TABLES: Mapping[str, Any] = json.loads((files(__package__) / "words.json").read_text("utf-8"))
"""Word lists in normal form."""
_FOREIGN_ARTICLES = word_set(TABLES["articles"])
"""Articles dropped only at the start of a value in lower case: `die Brücke`, not `Die Hard`."""
_LEGAL_FORMS = {form: short for short, long in TABLES["legal"].items() for form in (short, long)}
_DASHES = "\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d"
_QUOTES = "\u2018\u2019\u201a\u201b\u2032\u00b4`\u02bc\uff07"
_UNIFIED = str.maketrans(
    {
        **dict.fromkeys(_DASHES, "-"),
        **dict.fromkeys(_QUOTES, "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '"'),
        **dict.fromkeys("\u2122\u00ae\u00a9\u2120\u00ad\u200b\u200c\u200d\u200e\u200f\ufeff\ufe0f"),
    }
)
_BASE_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "\u0131": "i"}
)
_DIGRAPHS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
_POWER = re.compile(r"(?<=[\d)])[\u2070\u00b9\u00b2\u00b3\u2074-\u2079]")
_FRACTION = re.compile(r"(?<=\d)(?=[\u00bc-\u00be\u2150-\u215e])")
_UNPRINTABLE = re.compile(r"[^\S ]|[\x00-\x1f\x7f-\x9f]")
_IN_NUMBERS = (
    (re.compile(r"(?<![\w.])\.(?=\d)"), "0."),
    (re.compile(r"(?<![\d.,x\u00d7*^])(?<![x\u00d7*] )10\s*\^\s*(\d{1,2})(?!\d)"), r"1e\1"),
    (re.compile(r"(?<=\d)\s*[x\u00d7*]\s*10\s*\^\s*(\d{1,2})(?!\d)"), r"e\1"),
)
_SPACED_INITIALS = re.compile(r"(?<![\w.'])[A-Z](?:\.?\ (?:[A-Z]\b)(?!'))+\.?(?![\w'])")
_MINUS = re.compile(r"(?<![\w)\]])-(?=[$£€¥]?\s?\.?\d)")
_SIGN = "\u2212"
_TOKEN = re.compile(
    rf"{_SIGN}?\d+(?:[.,:/^-]\d+)*[^\W\d_]*|{_SIGN}|[^\W_]+(?:'[^\W_]+)*|(?<=\w)#"
    r"|[^\w\s#.,:;!?*|\\'\"`^-]"
)
_BLANKS = {ord(mark): None for mark in "°()[]{}/&\u00b7\u2022\u2039\u203a¿¡§¶_"}
LONG = 4_000
"""Length in characters above which texts are compared as a whole and not cached."""


class Plain(NamedTuple):
    """A value in its normal form."""

    tokens: tuple[str, ...]
    legal_form: str
    """Legal form of a company, abbreviated; may be empty."""

    @property
    def text(self) -> str:
        return " ".join(self.tokens)

    @property
    def joined(self) -> str:
        """Text without spaces; empty if it contains digits, which could run together."""
        joined = "".join(self.tokens)
        return "" if any(c.isdigit() for c in joined) else joined


def tidy(text: str) -> str:
    """Put a text on one line, unify marks and letters, and join spaced initials."""
    if not text.isascii():
        text = text.encode("utf-8", "replace").decode("utf-8").translate(_UNIFIED)
        text = _POWER.sub(lambda match: "^" + unicodedata.normalize("NFKC", match[0]), text)
        text = unicodedata.normalize("NFKC", _FRACTION.sub(" ", text)).translate(_UNIFIED)
    text = " ".join(_UNPRINTABLE.sub(" ", text).split())
    for pattern, replacement in _IN_NUMBERS if any(c.isdigit() for c in text) else ():
        text = pattern.sub(replacement, text)
    return _SPACED_INITIALS.sub(lambda match: re.sub(r"[. ]", "", match[0]), text)


def fold(text: str) -> str:
    """Fold to lower case without accents, with base letters for `ø`, `ł` and the like."""
    if text.isascii():
        return text.lower().replace("`", "'")
    return " ".join(fold_word(word) for word in text.split(" ")).translate(_BASE_LETTERS)


def with_digraphs(text: str) -> str:
    """Replace umlauts by digraphs: `ä` by `ae`."""
    return text if text.isascii() else text.translate(_DIGRAPHS)


def plain(text: str) -> Plain:
    """Normalize a tidy text."""
    return _remembered(text) if len(text) <= LONG else _plain(text)


def _plain(text: str) -> Plain:
    marked = _MINUS.sub(_SIGN, text).replace("&", " and ")
    tokens = [_token(match) for match in _TOKEN.findall(fold(marked))]
    tokens = _without_articles([token for token in tokens if token], text)
    kept = len(tokens)
    while kept > 1 and (tokens[kept - 1] in _LEGAL_FORMS or tokens[kept - 1] == "and"):
        kept -= 1
    forms = [_LEGAL_FORMS[form] for form in tokens[kept:] if form != "and"]
    if kept == 1 and not text[:1].isupper():
        kept, forms = len(tokens), []
    return Plain(tuple(tokens[:kept]), " ".join(forms))


_remembered = lru_cache(maxsize=8192)(_plain)


def _token(written: str) -> str:
    if written[-1].isalnum() or written == "#":
        return written.replace("'", "")
    return written.translate(_BLANKS)


def _without_articles(tokens: list[str], text: str) -> list[str]:
    """Drop `the`, and `a` before another word, but not in `vitamin A`."""
    if tokens and tokens[0] in _FOREIGN_ARTICLES and text[:1].islower():
        tokens = tokens[1:] or tokens
    followed = [*(token[0].isalnum() for token in tokens[1:]), False][: len(tokens)]
    kept = [
        word
        for word, is_followed in zip(tokens, followed, strict=True)
        if word != "the" and not (word in {"a", "an"} and is_followed)
    ]
    return kept or tokens


_YES, _NO = word_set(TABLES["yes"]), word_set(TABLES["no"])
_ABSENT = frozenset(TABLES["absent"].split(","))
_ADDRESS = re.compile(
    r"(?:mailto:|https?://|doi:\s*)*(?:www\.|(?:dx\.)?doi\.org/)?"
    r"([\w.+%-]+@[\w-]+(?:\.[\w-]+)+|10\.\d{4,9}/\S+|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?)\.?",
    re.IGNORECASE,
)
_PHONE = re.compile(r"(?:tel\.?:?\s*)?\+?[\d\s()./-]{7,25}", re.IGNORECASE)
_NO_PHONE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}|\d{4}\s*-\s*\d{4}|\d{1,3}(?:\.\d{1,3}){3}")
"""Dates, periods and network addresses."""
_CODE = re.compile(r"[^\W_]+(?:[-\s_/.][^\W_]+)*")
_LABEL = re.compile(
    rf"\A(?!no \w+ than )(?:(?:{'|'.join(TABLES['labels'].split())})[.:#]*\s+(?=\S))*"
    r"(?:#|v(?:ersion)?\.?\s?(?=\d+\.\d+\.\d))?",
    re.IGNORECASE,
)
"""Label before a number, version or code."""
_BORDER = re.compile(r"[^\W\d_][-\s]?\d|\d[-\s]?[^\W\d_]")
_SEPARATORS = re.compile(r"(?<=\d)[\s()./_-]+(?=\d)|([\s()./_-]+)")
_NO_CODE = re.compile(
    r"\d+\s?[-/_]\s?\d+|(?!\d+(?:\.\d+){2})[\d.,\s]{1,8}[^\W\d_]{0,3}|(?=.* )[^.]*\d\.\d[^.]*"
)
"""Ranges, short measures, and decimals with words."""
_LONGEST_PLACE_CODE, _LONGEST_COUNTRY_CODE, _FEWEST_DIGITS = 3, 3, 7
_LONGEST_CODE, _SHORTEST_CODE = 64, 5


def compare_closed(first: str, second: str, plains: tuple[Plain, Plain]) -> Finding | None:
    """Compare two tidy texts as answers, absent values or places; `None` if they are neither."""
    one, other = _answer(*plains), _answer(*plains[::-1])
    if one is not None and other is not None:
        return _equal("answer", (first, second), is_equal=one == other)
    if (absent := compare_absence(*plains)) is not None:
        return absent
    named = [
        places().get(form.text, frozenset())
        if len(form.text) > _LONGEST_PLACE_CODE or text.isupper()
        else frozenset()
        for text, form in zip((first, second), plains, strict=True)
    ]
    are_equal = bool(named[0] & named[1])
    return _equal("place", (first, second), is_equal=are_equal) if all(named) else None


def _equal(what: str, texts: tuple[str, str], *, is_equal: bool) -> Finding:
    return Finding(SAME, f"same {what}") if is_equal else Finding(OTHER, against(*texts))


def compare_absence(first: Plain, second: Plain) -> Finding | None:
    """Compare values of which at least one is absent; `None` if both are present."""
    is_first, is_second = is_absent(first), is_absent(second)
    if is_first and is_second:
        return Finding(SAME, "no value on either side")
    if is_first or is_second:
        return Finding(OTHER, f"no value in {'gold' if is_first else 'extracted'}")
    return None


def is_absent(value: Plain) -> bool:
    """Whether a value is empty or a phrase such as `n/a`."""
    return not value.tokens or value.text in _ABSENT


def _answer(value: Plain, other: Plain) -> bool | None:
    """Return an answer as a boolean; 1 and 0 count only beside a word."""
    if value.text in {"1", "0"} and other.text in _YES | _NO:
        return value.text == "1"
    return True if value.text in _YES else False if value.text in _NO else None


@lru_cache(maxsize=1)
def places() -> dict[str, frozenset[str]]:
    """Map codes and names of countries and US states, in normal form, to the places they mean.

    A code may mean two places (`de`, `ca`); names are equivalent if they have one in common.
    """
    meant: dict[str, set[str]] = {}
    for kind in ("countries", "states"):
        for code, names in TABLES[kind].items():
            for name in (code, *names.split(",")):
                meant.setdefault(name, set()).add(f"{kind} {code}")
    return {name: frozenset(codes) for name, codes in meant.items()}


def compare_codes(first: str, second: str) -> Finding | None:
    """Return the finding on addresses, or on equal phone numbers or identifiers, or `None`."""
    one, other = _net_address(first), _net_address(second)
    if one and other:
        return _equal("address", (first, second), is_equal=one == other)
    one, other = sorted((_phone(first), _phone(second)), key=len)
    if one and _same_line(one, other):
        same = one.removeprefix("+") == other.removeprefix("+")
        return Finding(SAME if same else SIMILAR, "same digits")
    one, other = _code(first), _code(second)
    bare = one.replace("-", "")
    if ("-" in one) != ("-" in other):  # digits may be grouped, but not in two ways
        other = one if bare == other.replace("-", "") else other
    is_sure = len(one) >= _SHORTEST_CODE or (_BORDER.search(first) and _BORDER.search(second))
    return Finding(SAME, "same characters") if one and one == other and is_sure else None


def _net_address(text: str) -> str:
    """Return the canonical form of an e-mail address, URL or DOI; empty for other text."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return ""
    host, _, path = found[1].rstrip("/.").partition("/")
    return host.lower() + "/" + (path.lower() if host.startswith("10.") else path)


def _phone(text: str) -> str:
    """Return the digits of a phone number, with `+` if international; empty for other text."""
    if not _PHONE.fullmatch(text) or _NO_PHONE.fullmatch(text.strip()):
        return ""
    digits = "".join(c for c in text.replace("(0)", "") if c.isdigit())
    if len(digits) < _FEWEST_DIGITS:
        return ""
    is_international = "+" in text or digits.startswith("00")
    return "+" + digits.removeprefix("00") if is_international else digits


def _same_line(short: str, long: str) -> bool:
    """Whether two phone numbers are equal, except for the country code of one."""
    line = short.removeprefix("0")
    with_code = long.startswith("+") and not short.startswith("+")
    n_code = len(long) - 1 - len(line)
    return short == long or (with_code and long.endswith(line) and n_code <= _LONGEST_COUNTRY_CODE)


def _code(text: str) -> str:
    """Return an identifier without label (`ISBN 978-...`); empty for other text.

    A hyphen is left of separators between digits, and nothing of others.
    """
    bare = _LABEL.sub("", text.strip("#. ")) if len(text) <= _LONGEST_CODE else ""
    is_code = any(map(str.isdigit, bare)) and _CODE.fullmatch(bare) and not _NO_CODE.fullmatch(bare)
    return _SEPARATORS.sub(lambda found: "" if found[1] else "-", bare).upper() if is_code else ""
