"""Comparison of absent values, yes and no, places, addresses, phone numbers and identifiers."""

from __future__ import annotations

import re
from functools import lru_cache

from factcheck.judges.local.pairs.model import OTHER, SAME, SIMILAR, Finding, against
from factcheck.judges.local.pairs.normal import TABLES, Plain
from factcheck.text.words import word_set

_YES, _NO = word_set(TABLES["yes"]), word_set(TABLES["no"])
_ABSENT = frozenset(TABLES["absent"].split(","))
_ADDRESS = re.compile(
    r"(?:mailto:|https?://|doi:\s*)*(?:www\.|(?:dx\.)?doi\.org/)?"
    r"([\w.+%-]+@[\w-]+(?:\.[\w-]+)+|10\.\d{4,9}/\S+|(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#]\S*)?)\.?",
    re.IGNORECASE,
)
_PHONE = re.compile(r"(?:tel\.?:?\s*)?\+?[\d\s()./-]{7,25}", re.IGNORECASE)
_DATE_LIKE = re.compile(r"\d{1,4}([./-])\d{1,2}\1\d{1,4}|\d{4}\s*-\s*\d{4}")
_VERSION = re.compile(r"(?:v|version)?\.?\s?(\d+(?:\.\d+){2,})", re.IGNORECASE)
_CODE = re.compile(r"[^\W_]+(?:[-\s_/.][^\W_]+)*")
_LABEL = re.compile(
    rf"\A(?:(?:{'|'.join(TABLES['labels'].split())})[.:#]*\s+(?=\S))*#?",
    re.IGNORECASE,
)
"""Label before a number or code."""
_BORDER = re.compile(r"[^\W\d_][-\s]?\d|\d[-\s]?[^\W\d_]")
_SEPARATORS = re.compile(r"[\s()./_-]+")
_RANGE = re.compile(r"\d+\s?[-/_]\s?\d+|[\d.,\s]{1,8}[^\W\d_]{0,3}")
_LONGEST_PLACE_CODE = 3
_FEWEST_DIGITS = 7
_LONGEST_COUNTRY_CODE = 3
_LONGEST_CODE, _SHORTEST_CODE = 64, 5


def compare_closed(first: str, second: str, plains: tuple[Plain, Plain]) -> Finding | None:
    """Compare two tidy texts as answers, absent values or places; `None` if they are neither."""
    return _compare_answers(*plains) or compare_absence(*plains) or _places(first, second, plains)


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


def _compare_answers(first: Plain, second: Plain) -> Finding | None:
    one, other = _answer(first, second), _answer(second, first)
    if one is None or other is None:
        return None
    if one == other:
        return Finding(SAME, "same answer")
    return Finding(OTHER, against(first.text, second.text))


def _answer(value: Plain, other: Plain) -> bool | None:
    """Return an answer as a boolean; 1 and 0 count only beside a word."""
    if value.text in {"1", "0"} and other.text in _YES | _NO:
        return value.text == "1"
    if value.text in _YES:
        return True
    return False if value.text in _NO else None


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


def _places(first: str, second: str, plains: tuple[Plain, Plain]) -> Finding | None:
    """Compare two texts as places; codes count only in capitals."""
    one, other = (
        places().get(form.text, frozenset())
        if len(form.text) > _LONGEST_PLACE_CODE or text.isupper()
        else frozenset()
        for text, form in zip((first, second), plains, strict=True)
    )
    if not one or not other:
        return None
    return Finding(SAME, "same place") if one & other else Finding(OTHER, against(first, second))


def compare_codes(first: str, second: str) -> Finding | None:
    """Return the finding on equal addresses, phone numbers or identifiers, or `None`."""
    one, other = _net_address(first), _net_address(second)
    if one and other:
        return (
            Finding(SAME, "same address")
            if one == other
            else Finding(OTHER, against(first, second))
        )
    one, other = sorted((_phone(first), _phone(second)), key=len)
    if one and _same_line(one, other):
        same = one.removeprefix("+") == other.removeprefix("+")
        return Finding(SAME if same else SIMILAR, "same digits")
    versions = _VERSION.fullmatch(first), _VERSION.fullmatch(second)
    if versions[0] and versions[1] and versions[0][1] == versions[1][1]:
        return Finding(SAME, "same version")
    one, other = _code(first), _code(second)
    is_sure = len(one) >= _SHORTEST_CODE or (_BORDER.search(first) and _BORDER.search(second))
    return Finding(SAME, "same characters") if one and one == other and is_sure else None


@lru_cache(maxsize=8192)
def _net_address(text: str) -> str:
    """Return the canonical form of an e-mail address, URL or DOI; empty for other text."""
    found = _ADDRESS.fullmatch(text)
    if found is None:
        return ""
    host, _, path = found[1].rstrip("/.").partition("/")
    return host.lower() + "/" + (path.lower() if host.startswith("10.") else path)


@lru_cache(maxsize=8192)
def _phone(text: str) -> str:
    """Return the digits of a phone number, with `+` if international; empty for other text."""
    if not _PHONE.fullmatch(text) or _DATE_LIKE.fullmatch(text.strip()):
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


@lru_cache(maxsize=8192)
def _code(text: str) -> str:
    """Return an identifier without label (`ISBN 978-...`) and separators; empty for other text."""
    if len(text) > _LONGEST_CODE or not any(c.isdigit() for c in text):
        return ""
    bare = _LABEL.sub("", text.strip("#. "))
    is_decimal = len(re.findall(r"\d\.\d", bare)) == 1 and " " in bare  # 1.2 million is not 12
    is_code = _CODE.fullmatch(bare) and not _RANGE.fullmatch(bare) and not is_decimal
    return _SEPARATORS.sub("", bare).upper() if is_code else ""
