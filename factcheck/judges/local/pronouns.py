"""Who `he` or `she` is, in the one case that is plain: the sentence before is about one person."""

from __future__ import annotations

import re

from factcheck.judges.local import verbs

_PRONOUN = re.compile(r"(?:He|She)(?=\s+(\w+))")
_TITLE = r"(?:(?:Mr|Mrs|Ms|Dr|Prof|Sir|Dame|President|Professor|Chancellor|Senator)\.?\s+)?"
_NAME_WORD = r"[A-Z][\w'\u2019-]+"
_NAME = re.compile(rf"{_TITLE}{_NAME_WORD}(?:\s+(?:[A-Z]\.|{_NAME_WORD})){{1,2}}(?=\s+([a-z]+))")
_OTHER_NAME = re.compile(rf"(?<![.!?\s])\s+{_NAME_WORD}\s+{_NAME_WORD}")
_OTHER_PERSON = re.compile(
    r"\b(?:he|she|him|her|his|and|who|man|woman|men|women|boy|girl|wife|husband|son|daughter|mother|"
    r"father|brother|sister|president|minister|mayor|colleague|friend|doctor|officer|judge|lawyer|"
    r"king|queen|prince|princess|coach|manager|teacher|partner|mr|mrs|ms)\b",
    re.IGNORECASE,
)
_DESCRIPTION = re.compile(r"^\s+(?:is|was)\s+(?:an?|the)\s+\S+(?:\s+\S+)?")
"""`was a Dutch lawyer`: a role that is the person's own."""
_NOT_A_PERSON = verbs.word_set("The This That These Those In On At For And But If When After")


def with_name(statement: str, previous: str) -> str:
    """`statement` with its opening `He` or `She` replaced by the person that is meant.

    Args:
        statement: English statement.
        previous: The sentence before it, in the same paragraph.

    Returns:
        The statement unchanged, unless `previous` opens with a full name, goes on with a verb, and
        mentions nobody else who could be meant.
    """
    pronoun = _PRONOUN.match(statement)
    name = _NAME.match(previous)
    if not pronoun or not name or name.group().split()[0] in _NOT_A_PERSON:
        return statement
    verb = name.group(1)
    if verb not in verbs.AUXILIARIES | verbs.IRREGULAR_PAST and not verb.endswith("ed"):
        return statement
    rest = previous[name.end() :]
    tail = _DESCRIPTION.sub("", rest)
    if _OTHER_NAME.search(rest) or _OTHER_PERSON.search(tail):
        return statement
    return name.group() + statement[pronoun.end() :]
