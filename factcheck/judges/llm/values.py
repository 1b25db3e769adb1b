"""Renders pairs of values for a prompt: below their field, which is described once.

    field "items[].name"
    description "Name of the product"
    417: ["Fuji X-T5", "Fujifilm X-T5"]

Everything foreign is a JSON string on one line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import NamedTuple

from factcheck.errors import InputError
from factcheck.judges.llm.fences import quoted
from factcheck.judges.ports import Specificity, ValuePair

_ALLOWED: Mapping[Specificity, str] = {
    "exact": "",
    "allow_more_specific": "second value may be more specific",
    "allow_less_specific": "second value may be less specific",
}


class FieldNotes(NamedTuple):
    """Description of a field."""

    path: str
    description: str
    instructions: str
    specificity: Specificity


def field_of(pair: ValuePair) -> FieldNotes:
    if pair.specificity not in _ALLOWED:
        raise InputError(f"specificity must be one of {list(_ALLOWED)}, not {pair.specificity!r}")
    return FieldNotes(pair.path, pair.description, pair.instructions, pair.specificity)


def shown_values(pair: ValuePair) -> tuple[str, str]:
    """The two values in the order in which they are shown.

    The gold value comes first where the order matters. Where it does not, the pair and its mirror
    image are one question.
    """
    if pair.specificity == "exact" and pair.extracted < pair.gold:
        return pair.extracted, pair.gold
    return pair.gold, pair.extracted


def order_of(pair: ValuePair) -> tuple[FieldNotes, tuple[str, str]]:
    """Sorts pairs so that those of one field are neighbours."""
    return field_of(pair), shown_values(pair)


def render(asked: Mapping[str, ValuePair]) -> str:
    """Pairs by their ids, as lines; a field is described once for all its pairs."""
    in_order = sorted(asked.items(), key=lambda item: field_of(item[1]))
    by_field = groupby(in_order, key=lambda item: field_of(item[1]))
    return "\n".join(line for field, pairs in by_field for line in _lines(field, dict(pairs)))


def _lines(field: FieldNotes, pairs: Mapping[str, ValuePair]) -> Iterator[str]:
    yield f"field {quoted(field.path)}"
    if field.description:
        yield f"description {quoted(field.description)}"
    if field.instructions:
        yield f"instructions {quoted(field.instructions)}"
    if _ALLOWED[field.specificity]:
        yield _ALLOWED[field.specificity]
    for call_id, pair in pairs.items():
        first, second = shown_values(pair)
        yield f"{call_id}: [{quoted(first)}, {quoted(second)}]"
