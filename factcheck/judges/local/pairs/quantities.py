"""Numbers with their units, exactly, so that `1,200 m` is `1.2 km` and `$5` is `5 USD`."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import NamedTuple

from factcheck.judges.local.pairs.numbers import read_number
from factcheck.judges.local.pairs.units import (
    CURRENCY_MARKS,
    LONGEST_PHRASE,
    Unit,
    currencies,
    units,
)
from factcheck.judges.local.tokens import Token


class Measure(NamedTuple):
    """One number with its unit, if it has one."""

    numbers: tuple[Fraction, ...]
    """What the number may mean; the likelier reading first."""
    units: tuple[Unit, ...]
    """What the unit may mean; empty if there is none."""
    start: int
    end: int
    n_tokens: int
    digits: str = ""
    """The number as it is written, if in digits."""
    is_stuck_m: bool = False
    """Whether it is written like `5m`, which may be five million as well."""

    @property
    def values(self) -> frozenset[tuple[str, Fraction]]:
        """Each dimension it may have, with the value in its base unit."""
        values = frozenset(
            (unit.dimension, number * unit.factor + unit.offset)
            for number in self.numbers
            for unit in self.units or (Unit("", Fraction(1)),)
        )
        if not self.is_stuck_m:
            return values
        return values | frozenset(("", number * _MILLION) for number in self.numbers)


_MILLION = 1_000_000
_JOINTS = frozenset({"", "-", "."})
_LONGEST_JOINT = 2
_ALSO_WORDS = frozenset({"in", "a", "an", "as", "s", "y", "rs", "grad", "c", "f"})
"""Short units that are words where more follows: `5 in stock`."""
_CAPITAL_UNITS = frozenset("VAWJLBCF")
_NEVER_ALONE = frozenset({"a", "an", "y"})
_PER = frozenset({"per", "pro", "par", "a", "an"})


def read_measure(tokens: Sequence[Token], at: int, language: str, text: str) -> Measure | None:
    """The number with its unit that starts at a token, if one does."""
    before, n_before = _unit_before(tokens, at, text)
    start = at + n_before
    number = None
    if start < len(tokens):
        number = read_number(tokens, start, language, text, is_money=bool(before))
    if number is None:
        return None
    behind, n_behind = _unit_behind(tokens, start + number.n_tokens, text, number.tail)
    if number.tail and not behind:
        return None
    if behind and _is_money(behind) and not before:
        number = read_number(tokens, start, language, text, is_money=True) or number
    meant = behind or before
    if before and behind and not _is_money(behind):
        meant, n_behind = before, 0
    elif before and behind and before[0].dimension != "money:usd":
        meant = before
    n_tokens = n_before + number.n_tokens + n_behind
    last = tokens[at + n_tokens - 1]
    digits = tokens[start].form if tokens[start].sort == "digits" else ""
    is_stuck_m = number.tail == "m" and n_tokens == 1
    return Measure(number.values, meant, tokens[at].start, last.end, n_tokens, digits, is_stuck_m)


def _is_money(meant: Sequence[Unit]) -> bool:
    return any(unit.dimension.startswith("money:") for unit in meant)


def _unit_before(tokens: Sequence[Token], at: int, text: str) -> tuple[tuple[Unit, ...], int]:
    """A currency before a number: `$5`, `US$ 5`, `EUR 5`."""
    for n_tokens in (2, 1):
        part = tokens[at : at + n_tokens]
        written = text[part[0].start : part[-1].end]
        if len(part) < n_tokens or at + n_tokens >= len(tokens) or " " in written:
            continue
        name = "".join(token.form for token in part)
        if name in currencies() and (written.isupper() or written[-1] in CURRENCY_MARKS):
            return units()[name], n_tokens
    return (), 0


def _unit_behind(
    tokens: Sequence[Token], at: int, text: str, stuck: str
) -> tuple[tuple[Unit, ...], int]:
    """The unit stuck to the digits before a token, or the longest one that starts there."""
    if stuck:
        is_decade = stuck == "s" and tokens[at - 1].form[-1] == "0"
        found = () if is_decade else units().get(stuck, ())
        return _per(found, tokens, at, text, 0) if found else ((), 0)
    if at >= len(tokens):
        return (), 0
    joint = text[tokens[at - 1].end : tokens[at].start]
    if joint.strip() not in _JOINTS or len(joint) > _LONGEST_JOINT:
        return (), 0
    for n_tokens in range(LONGEST_PHRASE, 0, -1):
        part = tokens[at : at + n_tokens]
        found = units().get(" ".join(token.form + token.tail for token in part), ())
        if len(part) < n_tokens or not found or not _is_in_case(tokens[at], text):
            continue
        if not _is_word(tokens, at, n_tokens, text):
            return _per(found, tokens, at + n_tokens, text, n_tokens)
    return (), 0


def _is_in_case(token: Token, text: str) -> bool:
    """False for letters that are units in the other case only: `48.1 S`."""
    written = text[token.start : token.end]
    return len(written) > 1 or not written.isupper() or written in _CAPITAL_UNITS


def _is_word(tokens: Sequence[Token], at: int, n_tokens: int, text: str) -> bool:
    """Whether a short unit is more likely a word: `5 in stock`, `3 a day`."""
    form = tokens[at].form
    if n_tokens > 1 or form not in _ALSO_WORDS:
        return False
    is_last = at + 1 == len(tokens)
    return not is_last or form in _NEVER_ALONE or (form == "in" and text[tokens[at].start] == "I")


def _per(
    upper: tuple[Unit, ...], tokens: Sequence[Token], at: int, text: str, used: int
) -> tuple[tuple[Unit, ...], int]:
    """A unit divided by the one that follows: `mg/dl`, `euros per month`."""
    if at >= len(tokens):
        return upper, used
    joint = text[tokens[at - 1].end : tokens[at].start].strip()
    step = 1 if tokens[at].form in _PER else 0
    if at + step >= len(tokens) or (joint != "/" and not step):
        return upper, used
    lower = units().get(tokens[at + step].form, ())
    if step and lower and lower[0].dimension not in {"time", "months", "mass", "volume", "area"}:
        return upper, used
    rates = tuple(
        Unit(f"{one.dimension}/{other.dimension}", one.factor / other.factor)
        for one in upper
        for other in lower
    )
    return (rates, used + step + 1) if rates else (upper, used)
