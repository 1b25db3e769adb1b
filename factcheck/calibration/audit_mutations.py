"""Edits of an English sentence after which it must not entail what it said.

Only certain edits are made: a sentence with a hedge or a bound (`about`, `at least`, `until`, `for
3 days`) keeps its numbers, quantities, units and dates, and so does a negated one or a condition; a
number in a code stays; a negated sentence is not negated again, nor turned into its opposite.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

_BOUNDED = re.compile(
    r"\b(?:about|around|roughly|nearly|almost|approximately|some|circa|ca|least|most|up to|to|over"
    r"|more than|less than|fewer|under|above|below|between|from|until|till|since|before|after|by"
    r"|or more|within|minimum|maximum|half|twice)\b",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?<![\w.,:/\-\u2013])\d{1,3}(?:,\d{3})+(?![\w/:\-\u2013])(?![.,]\d)"
                     r"|(?<![\w.,:/\-\u2013])\d{1,6}(?![\w/:\-\u2013])(?![.,]\d)")  # fmt: skip
_LASTING = re.compile(r"\b(?:for|first|ahead) ?\d|\bahead\b", re.IGNORECASE)
"""What lasts longer also lasts that long."""
MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
)  # fmt: skip
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_DATE = re.compile(rf"\b(?:{'|'.join(MONTHS)})\b")
_BEFORE_MONTH = re.compile(r"\d\s*\.?\s*$|\bin\s+$", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d.,])(?:1[5-9]|20)\d{2}(?![\d.,]\d|\d)")
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]{2,}\b")
_NO_NAMES = frozenset((*MONTHS, *_DAYS, "English", "German", "French", "Mr", "Mrs", "Dr"))
_NEW_NAMES = ("Zorvath", "Quillmere", "Brondack", "Yestrell", "Vopnik", "Halquist")
_AUXILIARY = re.compile(r"\b(?:is|was|are|were|will)\b(?! not)")
_NEGATED = re.compile(
    r"\b(?:not|no|never|nobody|none|nothing|neither|nor|without|only|unless|except|\w+n't|cannot)\b",
    re.IGNORECASE,
)


NUMBER_WORDS = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve",
)  # fmt: skip
_CONDITION = re.compile(
    r"\b(?:if|unless|when|whenever|whether|where|once|while|who|which|that|may|might|could|should"
    r"|would|than|every|each|sometimes|often|usually|rarely)\b",
    re.IGNORECASE,
)
"""Words around which a weaker sentence may say more."""
_UNITS = {
    "years": "months", "months": "weeks", "weeks": "days", "days": "hours", "hours": "minutes",
    "minutes": "seconds", "kilometres": "metres", "kilometers": "meters", "km": "metres",
    "metres": "centimetres", "meters": "centimeters", "tonnes": "kilograms", "kilograms": "grams",
    "kg": "grams", "grams": "milligrams", "litres": "millilitres", "liters": "milliliters",
    "billion": "million", "million": "thousand", "euros": "dollars", "dollars": "euros",
    "crowns": "euros", "Celsius": "Fahrenheit",
}  # fmt: skip
_UNIT = re.compile(rf"(?<![\w.,])[1-9][\d,.]* (?:degrees )?({'|'.join(_UNITS)})\b")
_COUNT = re.compile(
    rf"(?<![\w-])({'|'.join(NUMBER_WORDS[1:])}) "
    r"(?!hundred|thousand|million|times|thirds|more|and|or)[a-z]{3,}",
    re.IGNORECASE,
)
_OTHER_COUNT = re.compile(
    rf"\d|\b(?:for|first|last|the|all|or|and|to) (?:{'|'.join(NUMBER_WORDS[1:])})\b", re.IGNORECASE
)
_QUANTIFIERS = {
    r"^All the (?=[a-z])": "Some of the ",
    r"^All (?!in |but |of |that |the )(?=[a-z])": "Some ",
    r"^(?:Every|Each) (?=[a-z])": "Not every ",
    r"^Most (?=of |[a-z]+s )": "Few ",
}
_PAIRS = (
    ("rose", "fell"), ("rises", "falls"), ("increased", "decreased"), ("increases", "decreases"),
    ("opened", "closed"), ("starts", "ends"), ("started", "ended"),
    ("begins", "ends"), ("began", "ended"), ("accepted", "rejected"), ("approved", "rejected"),
    ("arrived", "departed"), ("higher", "lower"), ("highest", "lowest"), ("larger", "smaller"),
    ("largest", "smallest"), ("longer", "shorter"), ("longest", "shortest"), ("faster", "slower"),
    ("heavier", "lighter"), ("cheaper", "dearer"), ("older", "younger"), ("oldest", "newest"),
    ("north", "south"), ("northern", "southern"), ("east", "west"),
    ("eastern", "western"), ("inside", "outside"), ("late", "early"), ("cold", "hot"),
    ("upper", "lower"), ("the first", "the last"), ("The first", "The last"),
)  # fmt: skip
_OPPOSITES = {b: a for a, b in reversed(_PAIRS)} | dict(reversed(_PAIRS))
_OPPOSITE = re.compile(rf"\b({'|'.join(_OPPOSITES)})\b")
_HEDGED = re.compile(r"\b(?:nearly|almost|both|years? old|or|as)\b")
_ORDER = re.compile(r"\b(?:before|after|since|until|till|least|most)\b")
"""What lies before the end may lie before the start, too."""
_NO_NOUN = (
    r"(?!(?:a|an|the|is|are|was|were|be|been|has|have|had|will|would|can|could|may|might|must|should|do|does|did|and|or|of|by|to|for|from|with|in"
    r"|on|at|as|into|over|under|up|down|back|now|also|before|after|than|he|she|it|they|his|her|its"
    r"|their|\w+ly|\w+sel(?:f|ves))\b)"
)
_NAME_OF_PARTY = (
    r"(?:[Tt]he )?(?!(?:He|She|It|They|We|You|I|This|These|Those|There)\b)"
    r"[A-Z][\w-]+(?: [A-Z\d][\w-]*)*"
)
_PARTY = rf"(?:(?:[Tt]he|[Aa]n?)(?: {_NO_NOUN}[a-z-]+){{1,3}}?|{_NAME_OF_PARTY})"
_SHORT_PARTY = rf"(?:(?:[Tt]he|[Aa]n?) [a-z-]+|{_NAME_OF_PARTY})"
_AFTER_PARTY = r"(?=\.$| (?:in|on|at|as|by|for|from|after|under|with|without|within|free)\b| \d)"
_BE = r"(?:was|were|is|are|(?:is|are|was|were|has|have) to be|must be)"
_DIRECTED = (
    rf"(?:{_BE} (?!accompanied|joined|matched|separated|followed|met)"
    r"(?:\w+ed|made|built|written|drawn|sent|bought|sold|taken|led|beaten|paid|caught|run) by"
    r"|(?:is|was) (?:[a-z]+er|more [a-z]+) than"
    rf"|{_BE} \w+ed (?:before|after)"
    rf"|(?:{_BE} (?:put|poured|plugged|inserted)|goes|go|went) into"
    r"|thanked|sued|beat|defeated|hired|dismissed|withdrew|leaves|enters|entered"
    r"|suspected|acquired|bought|replaced|succeeds|succeeded|overtook|accused|praised|criticised"
    r"|criticized|arrested|rescued|founded|inspected|audited|owns|owned|leases|insures|installs"
    rf"|services|(?:pays|paid|owes|lent|grants|gives|gave|sends|sent|showed)(?= {_SHORT_PARTY}"
    rf"{_AFTER_PARTY}))"
)
_HANDED = (
    r"(?:leases|leased|sells|sold|lends|lent|sends|sent|gives|gave|pays|paid|grants|granted|hands"
    r"|handed|donates|donated|ships|shipped) (?:(?! to )[^,.;])+ to"
)
_ROLES = re.compile(rf"({_PARTY}) ({_DIRECTED}|{_HANDED}) ({_PARTY}){_AFTER_PARTY}")
_PLURAL = re.compile(r"[a-z-]*[a-hj-rtv-z]s")
_PLURAL_FORMS = {"is": "are", "was": "were", "has": "have", "goes": "go"}
_ONLY = re.compile(
    rf"(?<!\bthe )(?<!\ban )(?<!\bnot )\bonly (?!\d|an? |{' |'.join(NUMBER_WORDS)} |one |after )",
    re.IGNORECASE,
)
_OPEN_TO_OTHERS = re.compile(
    rf"(?!An? )(?:{_PARTY} (?:costs?|weigh(?:s|ed)|has|had|holds|needs|employs|contains|serves)"
    rf" (?:about |up to )?(?:\d|a single |(?:{'|'.join(NUMBER_WORDS)})\b)"
    rf"|{_NAME_OF_PARTY} (?:is|was) an? )"
)
"""A price, a weight, a number or a profession, which is nobody's alone."""
_UNIQUE = re.compile(
    r"%|\b(?:per ?cent|of|majority|monopoly|more|less|than|as|same|other|own|its|his|her|their)\b"
)
_EXCEPT = re.compile(r"\b(?:except(?: for)?|with the exception of) ")
_ANY_ONLY = re.compile(r"\bonly\b", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|no)\b|n't\b", re.IGNORECASE)


def replaced(sentence: str, match: re.Match[str], new: str, group: int = 0) -> str:
    return sentence[: match.start(group)] + new + sentence[match.end(group) :]


def _only(
    pattern: re.Pattern[str], sentence: str, *uncertain: re.Pattern[str]
) -> re.Match[str] | None:
    """The only match of a pattern; `None` where an uncertain one occurs, too."""
    found = list(pattern.finditer(sentence))
    if len(found) != 1 or any(other.search(sentence) for other in uncertain):
        return None
    return found[0]


def _changed_number(sentence: str) -> str | None:
    match = _only(_NUMBER, sentence, _BOUNDED, _DATE, _NEGATED, _LASTING)
    if match is None or _YEAR.fullmatch(match.group()):
        return None
    if re.search(r"\b(?:No|Nr)\.? ?$", sentence[: match.start()]):
        return None
    value = int(match.group().replace(",", ""))
    changed = value + max(2, value // 2)
    return replaced(sentence, match, f"{changed:,}" if "," in match.group() else str(changed))


def _changed_date(sentence: str) -> str | None:
    """Another month, or another year if it names no month."""
    month, year = _only(_DATE, sentence, _BOUNDED), _only(_YEAR, sentence, _BOUNDED, _DATE)
    if month is not None and _BEFORE_MONTH.search(sentence[: month.start()]):
        return replaced(sentence, month, MONTHS[(MONTHS.index(month.group()) + 5) % 12])
    if year is not None and re.search(r"\b[Ii]n\s+$", sentence[: year.start()]):
        return replaced(sentence, year, str(int(year.group()) - 7))
    return None


def _changed_name(sentence: str) -> str | None:
    """An invented name for the last one."""
    found = [match for match in _NAME.finditer(sentence) if match.group() not in _NO_NAMES]
    name = next((new for new in _NEW_NAMES if new not in sentence), None)
    if not found or name is None or sentence.count(found[-1].group()) > 1:
        return None
    return replaced(sentence, found[-1], name)


def _negated(sentence: str) -> str | None:
    match = _only(_AUXILIARY, sentence, _NEGATED)
    return match and replaced(sentence, match, f"{match.group()} not")


def _changed_unit(sentence: str) -> str | None:
    """A smaller unit, or another currency."""
    match = _only(_UNIT, sentence, _BOUNDED, _NEGATED, _LASTING, _CONDITION)
    return match and replaced(sentence, match, _UNITS[match.group(1)], 1)


def _changed_quantity(sentence: str) -> str | None:
    """`Some` for `all`, or a smaller number word."""
    for pattern, weaker in _QUANTIFIERS.items():
        changed = re.sub(pattern, weaker, sentence)
        rest = sentence.partition(" ")[2]
        if changed != sentence and not _CONDITION.search(rest) and not _NEGATED.search(sentence):
            return changed
    match = _only(_COUNT, sentence, _NEGATED, _BOUNDED, _CONDITION, _OTHER_COUNT)
    if match is None:
        return None
    word = match.group(1)
    smaller = NUMBER_WORDS[max(0, (NUMBER_WORDS.index(word.lower()) + 2) // 2 - 2)]
    return replaced(sentence, match, smaller.capitalize() if word[0].isupper() else smaller, 1)


def _opposite(sentence: str) -> str | None:
    match = _only(_OPPOSITE, sentence, _NEGATED, _CONDITION, _HEDGED, _ORDER)
    return match and replaced(sentence, match, _OPPOSITES[match.group()])


def _swapped_roles(sentence: str) -> str | None:
    """Both parties of a directed verb swapped."""
    if _NEGATED.search(sentence) or _CONDITION.search(sentence.replace(" than ", " ")):
        return None
    match = _ROLES.match(sentence)
    if match is None or match.group(1).casefold() == match.group(3).casefold():
        return None
    one, verb, other = match.groups()
    first, space, rest = verb.partition(" ")
    singular = next((verb for verb, many in _PLURAL_FORMS.items() if many == first), first)
    first = singular
    if _PLURAL.fullmatch(other.split()[-1]):
        first = _PLURAL_FORMS.get(singular, singular.removesuffix("s"))
    swapped = f"{other[0].upper()}{other[1:]} {first}{space}{rest} {_lower_article(one)}"
    return swapped + sentence[match.end() :]


def _lower_article(words: str) -> str:
    return re.sub(r"^(?:The|An?) ", lambda found: found.group().lower(), words)


def _lifted_limit(sentence: str) -> str | None:
    """`Not only` for `only`, or `including` for `except`."""
    if match := _only(_EXCEPT, sentence):
        return None if "only" in sentence.lower() else replaced(sentence, match, "including ")
    match = _only(_ONLY, sentence, _DENIED)
    if match is None or _only(_ANY_ONLY, sentence) is None:
        return None
    return replaced(sentence, match, "Not only " if match.group()[0] == "O" else "not only ")


def limited(sentence: str) -> str | None:
    """The sentence with `Only` before its subject, where others can always do the same."""
    if not _OPEN_TO_OTHERS.match(sentence) or _NEGATED.search(sentence) or _UNIQUE.search(sentence):
        return None
    return f"Only {_lower_article(sentence)}"


MUTATIONS: Mapping[str, tuple[str, Callable[[str], str | None]]] = {
    "changed number": ("another number", _changed_number),
    "changed date": ("another date", _changed_date),
    "changed name": ("another name", _changed_name),
    "added negation": ("a negation", _negated),
    "changed unit": ("another unit", _changed_unit),
    "changed quantity": ("another quantity", _changed_quantity),
    "opposite word": ("an opposite word", _opposite),
    "swapped roles": ("swapped roles", _swapped_roles),
    "lifted limit": ("'only' or 'except' lifted", _lifted_limit),
}
"""By the name of their rule: what the sentence is made with, and the function that makes an English
sentence one that must not entail it, or `None` where the effect is uncertain."""
