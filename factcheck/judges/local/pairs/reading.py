"""Units of values: words, numbers and measures, bounds and signs.

Units are what two values may have in common: a number with its unit and all readings of its
digits, `at least`, a word with its abbreviations. Some are optional, as a title before a name is.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from itertools import pairwise, product, takewhile
from typing import NamedTuple

from factcheck.judges.local.pairs.normal import LONGEST_QUOTE, TABLES, fold, is_like_name
from factcheck.reports.text import n_shared
from factcheck.text.numbers import DECIMAL_COMMA
from factcheck.text.units import BOUNDS, Quantity, read_quantity, sizes
from factcheck.text.units import Unit as Measure
from factcheck.text.words import DIGRAPHS, Word, irregular_forms, word_set, words
from factcheck.text.words import TABLES as WORD_TABLES


class Unit(NamedTuple):
    """One word, number or measure, bound or sign of a value."""

    text: str
    start: int
    end: int
    keys: frozenset[str]
    """Units with a common key are equal."""
    is_typed: bool = False
    """Whether it is a number, measure, bound or sign, and no word."""
    is_optional: bool = False
    """Whether it counts only if the other value has other optional units."""
    form: str = ""
    """Folded word."""
    number: float | None = None
    """Value in the unit as written."""
    measures: tuple[Measure, ...] = ()
    """Possible units of measure."""
    is_cut: bool = False
    """Whether a point follows, as behind an abbreviation."""

    @property
    def is_capital(self) -> bool:
        """Whether the text starts with a capital letter."""
        return self.text[0].isupper()


class Reading(NamedTuple):
    """Units of a value, with its negations and function words."""

    text: str
    """Text with unified notations of numbers."""
    units: tuple[Unit, ...]
    is_denied: bool
    grammar: frozenset[str]
    """Folded function words."""
    is_sentence: bool
    written: str = ""
    """Text as written; empty if long."""


def _as_decimal(match: re.Match[str]) -> str:
    """Convert a proper fraction or mixed number to a decimal; keep anything else."""
    whole, upper, lower = match[1] or "0", int(match[2]), int(match[3])
    return match[0] if upper >= lower else f"{int(whole) + upper / lower:.10g}"


_MONTHS = WORD_TABLES["months"][0].title().split()
_SHORT_MONTHS = "|".join(month[:3] for month in _MONTHS)


def _date_text(day: str | None, month: str, year: str) -> str:
    """Format a date as in a text: `12 June 2024`, `June 2024`."""
    date = f"{_MONTHS[int(month) - 1]} {year}"
    return f"{int(day)} {date}" if day else date


_PERIODS = {
    "daily": "day", "weekly": "week", "monthly": "month", "yearly": "year", "annually": "year"
}  # fmt: skip
_ROMAN = ["0", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX"]
_RANKS = {"B": "Bachelor", "M": "Master"}
_SUBJECTS = {
    "Sc": "Science", "Eng": "Engineering", "Com": "Commerce", "Ed": "Education", "Mus": "Music",
    "Phil": "Philosophy", "Arch": "Architecture", "Pharm": "Pharmacy", "Tech": "Technology",
}  # fmt: skip
_INITIALS = r"(?:[^\W\d_]\.)+[^\W\d_](?:\.|\Z)|[A-Z](?:\.? [A-Z]\b(?!'))+\.?"
_TIMES_TEN = r"\s*[x*\u00d7]\s*10\s*\^"
_NOTATIONS: tuple[tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), replacement)
    for pattern, replacement in (
        (r"(?<![\d:.])0(\d:\d\d)(?!\d)", r"\1"),
        (r"(?<![\d.,])(?<!\d )(\d{3}) (\d\d)(?![\d.,]| \d)", r"\1\2"),
        (
            r"(?<![\d./-])((?:19|20)\d\d)[-/](0[1-9]|1[0-2])(?:[-/]([0-3]\d))?(?![\d./-])",
            lambda found: _date_text(found[3], found[2], found[1]),
        ),
        (
            r"(?<![\d./-])(?:([0-3]?\d)\.)?(0?[1-9]|1[0-2])[./-]((?:19|20)\d\d)(?![\d./-])",
            lambda found: _date_text(found[1], found[2], found[3]),
        ),
        (
            rf"\b(?-i:({_SHORT_MONTHS})t?)\b\.?(?= '?\d|-\d\d\b|\Z)",
            lambda found: next(month for month in _MONTHS if month.startswith(found[1])),
        ),
        (rf"({'|'.join(_MONTHS)})(?:-| ')(?=\d\d\b)", r"\1 20"),
        (
            rf"(?<=\w) (?:for|on|in|of) (?=(?:\d\d? )?(?:{'|'.join(_MONTHS)})\b|(?:19|20)\d\d\b)",
            " ",
        ),
        (r"(?:\u2300|(?<!\w)\u00d8)\s?(?=\d)", "diameter "),
        (r"\b(?:(?:no|nr|num)\.|n\s?[°º]\.?)\s?(?=\d|of\b)", "number "),
        (r"\bFY\s?(?=\d)", "fiscal year "),
        (r"\b(\d+)\s?x\s?(?=/|per\b|an?\b|daily|weekly|monthly)", r"\1 times "),
        (r"\bs\.?\s?p\.\s?a\b\.?", "spa"),
        (r"\bp\.\s?a\.|\bper annum\b", "per year"),
        (r"(?<![\w-])(?-i:[A-Z]{1,2})-(?=\d{3,5}(?: \d\d)? [^\W\d])", ""),
        (r"\b(?-i:IT)(?= (?-i:[A-Z][a-z]))", "information technology"),
        (r"\bsp\.?\s?z\.?\s?o\.?\s?o\b\.?", "spzoo"),
        (
            r"\AL\.?\s?L\.?\s?([BM])\b\.?",
            lambda found: f"{_RANKS[found[1].upper()]} of Laws",
        ),
        (
            rf"\A(?-i:([BM]))\.?\s?(?-i:({'|'.join(_SUBJECTS)}))\b\.?",
            lambda found: f"{_RANKS[found[1]]} of {_SUBJECTS[found[2]]}",
        ),
        (r"\A(PhD|MBA|(?:bachelor|master) of [^\W\d_]+)(?:,| in|:)\s", r"\1 "),
        (
            rf"\b({'|'.join(TABLES['numbered'].split())}) (?-i:(VI{{0,3}}|I[VX]|I{{1,3}}))(?!\w)",
            lambda found: f"{found[1]} {_ROMAN.index(found[2])}",
        ),
        (r"\A([^'\"]*\d)'(?!')\s?(?!\d{3}|[^\W\d])", r"\1 ft "),
        (r"\A([^'\"]*\d)(?:\"|'')(?: |\Z)", r"\1 in "),
        (r"(?<![\w.,)\]])\.(?=\d)", "0."),
        (r"(?<=\S) ?(?:[-=]{1,3}>|[\u2192\u21d2\u27f6\u2794\u279c]) ?(?=\S)", " to "),
        (
            rf"(?<![\w.,^])(?:(\d+(?:\.\d+)?)(?:{_TIMES_TEN}|e)|10\s*\^)\s*([+-]?\d{{1,3}})(?![\w^]|[.,]\d)",
            lambda found: f"{Decimal(f'{found[1] or 1}e{found[2]}'):f}",
        ),
        (
            rf"(?<![\w.'])(?-i:{_INITIALS})(?![\w'])",
            lambda found: re.sub(r"[. ]", "", found[0]).upper(),
        ),
        (r"(?<=(?-i:[A-Z]))-(?![^\s,;)])", "\u2212"),
        (r"(?<!\S)(?:\+\s?/\s?-|\+-)\s?(?=\d)", "\u00b1"),
        (r"(?<!\S)\+(?=\d)", ""),
        (r"(?<=\d)\s?x\s?(?=\d)", " \u00d7 "),
        (r"\b([^\W\d_]+)-(?:free|exempt)\b", r"no \1"),
        (r"\b(?:free|exempt) (?:of|from) (?=[^\W\d_])", "no "),
        (r"\b(?:minus|negative)\s+(?=\d)", "-"),
        (r"\A\(\s*([$£€¥]?\s?\d[\d.,]*[.,]\d\d)\s*\)\Z", r"-\1"),
        (r"\A([$£€¥]?\s?\d[\d.,]*)\s?-\Z", r"-\1"),
        (r"(?<![\w.,+])(\d[\d.,]*)\s?\+\s(?=[^\W\d])", r"at least \1 "),
        (r"-\s?([$£€¥])\s?(\d[\d.,]*)", r"-\2 \1"),
        (r"\b(us|ca?|au?|nz|r)\$", lambda found: f" {TABLES['dollars'][found[1].lower()]} "),
        (
            r"(?<![\d/.,])(?:(\d{1,6})\s+)?(\d{1,3})\s?[/\u2044]\s?(\d{1,3})(?![\d/\u2044])",
            _as_decimal,
        ),
        (r"(?<!\d)([1-9]\d{0,2}) (\d{3})(?: (\d{3}))?(?: (\d{3}))?(?!\d| \d)", r"\1\2\3\4"),
        (
            r"\b(?:between|from|zwischen|von|entre)\s(\S*\d\S*)\s(?:and|to|und|bis|et|y)\s(?=\S*\d)",
            r"\1 - ",
        ),
        (r"(?<=\d) (?-i:NM)\b", " nautical miles"),
        (r"(?<=\d) (?-i:K)\b", " kelvin"),
        (r"(?<=[^\W\d])\^(?=\d)", ""),
        (r"\bv(?:er|ersion)?\.?\s?(?=\d)", "version "),
        (r"\bQ([1-4])\b", r"\1th quarter"),
        (r"\bnet (\d+)(?: days?)?\b", r"\1 days net"),
        (r"\A(\D{0,40}\d.{0,40} )?bid\Z", r"\1 2 times daily"),
        (r"\A(\D{0,40}\d.{0,40} )?tid\Z", r"\1 3 times daily"),
        (
            r"(\d+(?:\s?[^\W\d]+)?) (?:once )?(daily|weekly|monthly|yearly|annually)\b",
            lambda found: f"{found[1]} per {_PERIODS[found[2].lower()]}",
        ),
        (r"\bpounds? sterling\b", "GBP"),
        (r"((?:\b(?:EUR|USD|GBP|CHF|JPY)|[$€£¥]) ?\d[\d.,]*) ?m\b", r"\1 million"),
        (r"\b(utc|gmt)\s?([+-])0?(\d{1,2})(?::?00)?\b(?!:)", r"\1\2\3"),
        (r"\btwice\b(?! as\b)", "2 times"),
        (r"\btimes an? (?=\w)", "times per "),
    )
)
"""Notations of numbers, measures, routes, initials and terms, with replacements."""
CLASS_NOUNS = word_set(TABLES["class_nouns"])
_TITLES, _DEGREES = word_set(TABLES["titles"]), word_set(TABLES["degrees"])
_FORMS_OF_ADDRESS = word_set(TABLES["forms_of_address"])
"""Titles that are no first names."""
_LEGAL_FORMS = {form for pair in TABLES["legal"].items() for form in pair if form}
_ABBREVIATIONS = {
    short: word_set(long) for short, long in (TABLES["legal"] | TABLES["abbreviations"]).items()
}
_LABELS = word_set(TABLES["labels"])
_VARIANTS = {
    form: row.split()[-1] for row in TABLES["spellings"] + TABLES["cities"] for form in row.split()
}
"""Spellings, and names of cities in other languages, by the one that stands for all."""
_GRAMMAR = word_set(TABLES["grammar"])
"""Function words in any case; others may be names when capitalized: `Will`, `The Who`."""
_BOUNDS = {fold(phrase): bound for phrase, bound in BOUNDS.items()} | TABLES["bounds"]
_BOUNDS_BEHIND: dict[str, str] = TABLES["bounds_behind"]
_LINK = re.compile(r"\s*(?:([-/:])|(to|bis|through)\b|(x|by|\u00d7))\s*-?", re.IGNORECASE)
"""Link of two numbers: a sign, the words of a range, of an area."""
_PLUS = re.compile(r"[\s,+-]*(?:and |und |et )?", re.IGNORECASE)
_NO_SIGNS = frozenset("|\u00d7^`\u00b4\u00a8")
"""Symbols that are not significant."""
_AUXILIARIES = word_set("is was are were has have had will can did does do ist war hat est fue es")
_NO_VERBS = word_set("left felt ground wound saw")
_NO_PAST = ("eed", "s", "ice", "en", "dren", "eet")
_ENDINGS = word_set("s es d ed ing n en e em ns x ies ied y") | {""}
_SPELLINGS = [
    (re.compile(british), american)
    for british, american in (
        (r"(?<=..)our(?=\Z|[aeils])", "or"),
        (r"[ao](?=e[acdmostu]\w{2})", ""),
        (r"(?<=[aeiouy])([a-z]*[ae]l)l(?=ed|ing|er)", r"\1"),
        (r"(?<=[tb])re\Z", "er"),
        (r"(?<=og)ue\Z", ""),
        (r"\Agrey", "gray"),
        (r"(?<=en|ti)ce(?=s?\Z)", "se"),
        (r"(?<=[a-z]{3}[iy])s(?=e|ing|ation)", "z"),
        (r"(?<=amm)e\Z|(?<=min)i(?=um\Z)", ""),
    )
]
_SHORTEST_SENTENCE, _SHORTEST_PAST, _FIRST_YEAR, _CENTURY = 5, 4, 1000, 100
_LONGEST = 12
"""Maximum length of a number without separators; longer ones are codes."""
_THREE_DECIMALS = re.compile(r"[1-9]\d{0,2}\.\d\d0")
_POINT_GROUPS = tuple(f"money {code}" for code in ("eur", "chf", "dkk", "nok", "sek", "pln", "brl"))
"""Currencies of countries where a point groups digits."""
_NESTED = re.compile(r"[(\[{][^()\[\]{}]*[)\]}]")
_QUOTED = re.compile(r"\"[^\"]+\"|(?<![\w'])'[^']+'(?!\w)")
LABEL = re.compile(r"\s*[^\s:][^:\n]{0,118}:\s+")


@lru_cache(maxsize=8192)
def read(text: str, language: str) -> Reading:
    """Read a tidy text."""
    written = text if len(text) <= LONGEST_QUOTE else ""
    return _Reader(text, language).read()._replace(written=written)


class _Reader:
    def __init__(self, text: str, language: str) -> None:
        for pattern, replacement in _NOTATIONS:
            text = pattern.sub(replacement, text)
        self.text, self.language = text.strip(), language
        self.found = words(self.text, language)
        self.units: list[Unit] = []

    def read(self) -> Reading:
        found, units = self.found, self.units
        has_content = any(map(self._is_content, range(len(found))))
        grammar: set[str] = set()
        is_denied, at = False, 0
        while at < len(found):
            word = found[at]
            last = self._bound(at) or self._number(at)
            if last:
                at = last
                continue
            if word.kind == "negation":
                is_denied = True
            elif word.kind == "symbol":
                if word.text not in _NO_SIGNS:
                    self._add(at, at + 1, word.text)
            elif has_content and not self._is_content(at):
                grammar.add(word.form)
            else:
                units.append(self._word(word))
            at += 1
        inner = found[1:] if found and found[0].kind == "function" else found[1:-1]
        ends = self.text.rstrip("\"'").endswith((".", "!")) and len(found) >= _SHORTEST_SENTENCE
        is_sentence = any(map(_is_verb, inner)) or (
            ends and sum(word.text.islower() for word in found) > 1
        )
        optional = self._optional(is_sentence=is_sentence)
        for k in optional if len(optional) < len(units) else ():
            units[k] = units[k]._replace(is_optional=True)
        return Reading(self.text, tuple(units), is_denied, frozenset(grammar), is_sentence)

    def _add(self, at: int, last: int, *keys: str) -> int:
        """Add the words `[at, last)` as one unit that is no word; return `last`."""
        start, end = self.found[at].start, self.found[last - 1].end
        self.units.append(Unit(self.text[start:end], start, end, frozenset(keys), is_typed=True))
        return last

    def _word(self, word: Word) -> Unit:
        forms = [fold(each).replace("'", "") for each in (word.text, word.text.translate(DIGRAPHS))]
        form = forms[0] or word.stem
        is_acronym = word.text.isupper() and len(form) > 1
        base = form if is_acronym else irregular_forms().get(form, form)
        mark = "*" if self.language == "en" else "~"
        keys = {form, *forms[1:], *_ABBREVIATIONS.get(form, ())}
        keys |= {key + mark for key in (base, *_ABBREVIATIONS.get(form, ()))}
        if variant := _VARIANTS.get(form):
            keys.add(f"{variant}~")
        k = n_shared(base, word.stem)
        if word.text.islower() and base[k + (base[k : k + 1] == word.stem[-1:]) :] in _ENDINGS:
            keys.add(word.stem + mark)  # not of `universal`, which would equal `university`
        if word.text.islower() or not word.start:  # not of `Jane Grey`
            american = base if word.text.islower() else form
            for british, replacement in _SPELLINGS:
                american = british.sub(replacement, american)
            keys.add(f"{american}~")
        is_cut = self.text.startswith(".", word.end)
        return Unit(word.text, word.start, word.end, frozenset(keys), form=form, is_cut=is_cut)

    def _is_content(self, at: int) -> bool:
        """Whether a word carries content, also in `Will Smith`, `The Who` and `vitamin A`."""
        word = self.found[at]
        if word.kind != "function":
            return word.kind in {"content", "number"}
        follows = at + 1 < len(self.found) and self.found[at + 1].kind != "function"
        if word.form == "a" and not follows:  # `a to b`
            return True
        if not word.text[0].isupper():
            return False
        if len(word.text) == 1 and word.text.isascii():
            is_cut = self.text.startswith(".", word.end)
            is_name = len(self.found) > 1 and not self.found[1].text.islower()
            return at > 0 or is_cut or is_name
        return word.form not in _GRAMMAR

    def _bound(self, at: int) -> int:
        """Add the bound that starts at a word beside a number, if any: `at least`, `or more`."""
        for last in range(min(at + 3, len(self.found)), at, -1):
            phrase = " ".join(word.form for word in self.found[at:last])
            bound = _BOUNDS.get(phrase) if last < len(self.found) else None
            if bound and not self._quantity(last):
                bound = None
            if bound is None and self.units and self.units[-1].number is not None:
                bound = _BOUNDS_BEHIND.get(phrase)
            if bound:
                self._add(at, last, f"bound {bound}")
                self.units[-1] = self.units[-1]._replace(is_optional=bound == "about")
                return last
        return 0

    def _quantity(self, at: int) -> Quantity | None:
        return read_quantity(self.found, at, self.text, self.language)

    def _number(self, at: int) -> int:
        """Add the number, measure or code that starts at a word, if any."""
        quantity, before = self._quantity(at), self.units[-1] if self.units else None
        if quantity is None and not any(map(str.isdigit, self.found[at].form)):
            return 0
        end = last = quantity.last if quantity else at + 1
        while last < len(self.found) and self.found[last].start == self.found[last - 1].end:
            if self.found[last].kind == "symbol" or (quantity and quantity.units):
                break
            last += 1
        written = self.text[self.found[at].start : self.found[last - 1].end]
        is_named = before is not None and (before.is_capital or before.form in _LABELS)
        is_version = written.endswith("0") and "." in written and is_named
        is_code = is_version or (written[0] == "0" and written[1:2].isdigit())
        is_long = written.isdigit() and len(written) > _LONGEST
        if quantity is None or last != end or is_code or is_long:
            return self._add(at, last, fold(written))
        if quantity.kind == "ordinal":
            return self._add(at, last, quantity.key)
        self._add(at, last)
        unit = _measured(self.units.pop(), quantity.value, quantity.units)
        if _is_open(self.found[at].text, unit, self.language):
            unit = unit._replace(keys=frozenset(f"open {key}" for key in unit.keys))
        gap = self.text[before.end : unit.start + (unit.text[0] == "-")] if before else ""
        if before and before.number is not None and (link := _LINK.fullmatch(gap)):
            sign = link[1] or ("-" if link[2] else "x")
            self.units[-1], unit = _completed(before, unit, sign)
            key = frozenset((f"link {sign}",))
            self.units.append(Unit(sign, before.end, unit.start, key, is_typed=True))
        elif before and _PLUS.fullmatch(gap) and (total := _sum(before, unit)):
            self.units.pop()
            unit = total._replace(text=self.text[before.start : unit.end], end=unit.end)
        self.units.append(unit)
        return last

    def _optional(self, *, is_sentence: bool) -> set[int]:
        """Return the positions of additions: in brackets, titles, labels, around a quotation."""
        units, last = self.units, len(self.units) - 1
        inner = [found.span() for found in _NESTED.finditer(self.text)]
        quoted = [found.span() for found in _QUOTED.finditer(self.text)]
        low, high = quoted[0] if len(quoted) == 1 else (0, len(self.text))
        if label := LABEL.match(self.text):
            low, high = label.end(), len(self.text)
        inner += [(-1, low), (high - 1, len(self.text))]
        found = {k for k, u in enumerate(units) if any(a < u.start < b for a, b in inner)}
        plain = {unit.form for unit in units if not (unit.is_capital or unit.is_typed)}
        kinds = _LEGAL_FORMS | CLASS_NOUNS if plain <= CLASS_NOUNS else _LEGAL_FORMS
        found |= {
            k
            for k, unit in enumerate(units)
            if unit.form in kinds and not is_like_name(unit.text)
            if unit.is_capital or not is_sentence  # `limited` is no legal form there
        }
        found |= {
            k
            for k, (unit, behind) in enumerate(pairwise(units))
            if unit.form in _LABELS and behind.is_typed and behind.text[-1].isalnum()
        }
        points = [unit.text.istitle() or self.text.startswith(".", unit.end) for unit in units]
        titled = [unit.form if each else "" for unit, each in zip(units, points, strict=True)]
        titles = {*takewhile(lambda k: titled[k] in _TITLES, range(last))}
        if len(units) - len(titles | found) == 1:  # `Duke Ellington`
            titles = {k for k in titles if titled[k] in _FORMS_OF_ADDRESS}
        degrees = takewhile(lambda k: units[k].form in _DEGREES, range(last, 0, -1))
        return found | titles | {k for k in degrees if not is_like_name(units[k].text)}


def _is_verb(word: Word) -> bool:
    """Whether a word is an auxiliary or an unambiguous past form in lower case."""
    form = word.form
    is_irregular = irregular_forms().get(form, "")[:1] == form[0] and form not in _NO_VERBS
    is_past = (is_irregular or form.endswith("ed")) and not form.endswith(_NO_PAST)
    is_verb = form in _AUXILIARIES or (is_past and len(form) >= _SHORTEST_PAST)
    return word.text.islower() and is_verb


def _measured(unit: Unit, number: float, measures: tuple[Measure, ...]) -> Unit:
    """Return a unit with a number and its measures, and the keys that follow from them."""
    keys = sizes(number, measures)
    keys |= {key.removeprefix("share") for key in keys}
    return unit._replace(keys=keys, number=number, measures=measures)


def _is_open(figure: str, unit: Unit, language: str) -> bool:
    """Whether a point may be decimal or group digits, as in `2.500 kg` and `$2.500`."""
    does_group = any(m.dimension.startswith(_POINT_GROUPS) for m in unit.measures)
    is_plain = language in DECIMAL_COMMA or does_group
    return not is_plain and bool(_THREE_DECIMALS.fullmatch(figure))


def _completed(one: Unit, other: Unit, sign: str) -> tuple[Unit, Unit]:
    """Complete a range: `5-10 kg` with the unit for both, `1939-45` with full years."""
    first, end = one.number or 0.0, other.number or 0.0
    if sign == "-" and first >= _FIRST_YEAR and first % _CENTURY < end < _CENTURY:
        return one, _measured(other, first - first % _CENTURY + end, other.measures)
    if sign in {"-", "x", "/"} and not one.measures:
        one = _measured(one, first, other.measures)
    return one, other


def _sum(one: Unit, other: Unit) -> Unit | None:
    """Add a quantity in a smaller unit, `1 h 30 min`; `None` if it is none."""
    for large, small in product(one.measures, other.measures):
        ratio = large.factor / small.factor
        if large.dimension == small.dimension and ratio > 1:
            return _measured(one, (one.number or 0.0) * ratio + (other.number or 0.0), (small,))
    return None
