"""Suggested settings of an evaluation schema, each with its reason.

Suggestions are based on field names, the JSON schema (including `format`, as pydantic sets it) and
gold values. If these disagree, the stricter comparison is suggested.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

from factcheck.documents import shown
from factcheck.fields import schemas as keys
from factcheck.fields.comparators.dates import order_of, read_date
from factcheck.fields.comparators.transforms import read_bool, read_number
from factcheck.fields.schemas.references import infer_schema, resolved
from factcheck.fields.types import UnreadableError
from factcheck.fields.values import as_json_scalar, as_record, json_type
from factcheck.reports.text import plural
from factcheck.settings import require_list
from factcheck.text.dates import Notation
from factcheck.text.units import Quantity, read_quantity
from factcheck.text.words import word_set, words

SEMANTIC = "semantic"
_LAYOUT = ("plain_marks", "normalize_whitespace")
_AS_TEXT: dict[str, Any] = {"type_convert": {"to": "str"}}
_WORDS = {
    kind: word_set(forms)
    for kind, forms in json.loads((files(__package__) / "names.json").read_text("utf-8")).items()
}
"""Words in names of fields by what they tell about the field, and legal forms of companies."""
_PARTICLES = "al da de del della den der di do dos du el la las los te ten ter van von zu zum zur"
_NAME_WORD = rf"(?:(?:{'|'.join(_PARTICLES.split())}) )*(?:[dl]['\u2019])?[^\W\d_a-z][\w.'\u2019-]*"
_PROPER_NAME = re.compile(rf"{_NAME_WORD}(?:,?\s+{_NAME_WORD}){{0,4}}\s*")
_CODE = re.compile(r"(?=.*\d)[A-Za-z0-9]+(?:[-_./#:][A-Za-z0-9]+)*")
_PLAIN_NUMBER = re.compile(r"[-+(]?[.,'_ ]*\d[\d.,'_ ]*\)?")
_RANGE = re.compile(
    r"\s*(?:(?:[<>\u2264\u2265]=?|up to|under|over|at (?:least|most))\s*\d+(?:[.,]\d+)?"
    r"|\d+(?:[.,]\d+)?\s*(?:-|\u2013|to)\s*\d+(?:[.,]\d+)?)(?:\s*[^\W\d]\S*)?\s*",
    re.IGNORECASE,
)
_ZEROS = re.compile(r"\s*0\d+\s*")
_DIGITS = re.compile(r"\d{2,}")
_MAX_VALUES = 2_000
"""Maximum number of gold values examined per field."""
_MIN_WORDS_OF_PROSE = 8
"""Minimum mean number of words of prose."""
_CENTURY_START = 1950
_MONEY_DECIMALS = 2
_FLOAT_DIGITS = 15
"""Decimal digits that every float holds; only a computed one has more."""
_ROUNDING = 1e-13
_MAX_ROUNDED = 1e9
"""Largest number of which the rounding stays far below a cent."""
_NAME = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


class _Field(NamedTuple):
    """Name, schema and gold values of a field."""

    name: str
    schema: dict[str, Any]
    values: list[Any]
    """Gold values without null."""

    def is_named(self, kind: str) -> bool:
        return not _WORDS[kind].isdisjoint(_name_words(self.name))

    @property
    def has_id_name(self) -> bool:
        """Whether the last word means an identifier: `zip_code`, but not `reference_range`."""
        *_, before, last = "", "", *_name_words(self.name)
        if last.isdigit() or last in _WORDS["after an identifier"]:
            return before in _WORDS["identifier"]
        return last in _WORDS["identifier"] or last in _WORDS["code"]


class _Suggestion(NamedTuple):
    compare: str | dict[str, Any]
    transforms: Sequence[str | dict[str, Any]]
    reason: str


_Deeper = dict[str, tuple[str, list[Any]]]
"""Field names and gold values of recursive references, by definition."""
_Suggestions = Iterator[_Suggestion]
"""Suggestions of a group of rules; the first one counts."""
_YES_OR_NO = _Suggestion("exact", ("parse_bool",), "true or false, yes or no")


def suggest_schema(gold: Any, schema: Any = None) -> Any:
    """Suggest comparators, transforms and alignments, and return the evaluation schema.

    They are chosen from names, types, formats and gold values; `x-eval-reason` holds the reason.
    Fields that have a comparator are not changed. Identifiers are compared letter by letter, names
    of persons and companies by `name`; other texts and strings with a measure or amount are
    `semantic`, which needs a judge. Numbers have no tolerance but for the rounding of computed
    floats. Lists of objects with an `id` are aligned by it, others optimally, unless their name
    implies that the order counts.

    Args:
        gold: Gold records; may be empty if there is a schema.
        schema: A JSON schema, which is not changed, or a pydantic model class; `None`: infer it.

    Raises:
        InputError: There are neither records nor a schema.
        SchemaError: The schema is invalid.
    """
    records = [as_record(record) for record in require_list("gold", gold)]
    suggested = infer_schema(records) if schema is None else resolved(schema)
    deeper: _Deeper = {}
    _suggest(suggested, "", [record for record in records if record is not None], deeper)
    definitions = suggested.get("$defs", {})
    while ref := next((one for one in definitions if deeper.get(one, ("", []))[1]), None):
        name, values = deeper[ref]
        deeper[ref] = name, []
        _suggest(definitions[ref], name, values, deeper)
    return keys.annotate(suggested)


def _suggest(schema: dict[str, Any], name: str, values: list[Any], deeper: _Deeper) -> None:
    if keys.is_recursive(schema):
        deeper.setdefault(schema["$ref"].removeprefix("#/$defs/"), (name, []))[1].extend(values)
        return
    if keys.COMPARE in schema or schema.get(keys.SKIP) is True:
        return
    parts = keys.sub_schemas(schema)
    if not parts:
        looked_at = [*map(as_json_scalar, values[:_MAX_VALUES])]
        suggestion = next(_of_leaf(_Field(name, schema, looked_at)))
        schema[keys.COMPARE] = suggestion.compare
        if suggestion.transforms and keys.TRANSFORM not in schema:
            schema[keys.TRANSFORM] = list(suggestion.transforms)
        schema.setdefault(keys.REASON, suggestion.reason)
        return
    columns: dict[str | None, list[Any]] = {own: [] for own in parts}
    for value in values:
        for key, member in keys.members(value):
            column = columns.get(key, columns.get(None))
            if member is not None and column is not None:
                column.append(member)
    for own, part in parts.items():
        inner = f"{name} name".strip() if own == "name" else own or name
        _suggest(part, inner, columns[own], deeper)
    is_array = keys.effective_type(schema) == "array"
    if is_array and keys.ALIGN not in schema and isinstance(schema.get("items"), dict):
        lists = [value for value in values[:_MAX_VALUES] if isinstance(value, list)]
        schema[keys.ALIGN], reason = _alignment(name, schema["items"], lists)
        schema.setdefault(keys.REASON, reason)


def _of_leaf(field: _Field) -> _Suggestions:
    form = field.schema.get("format")
    types = {*keys.declared_types(field.schema.get("type"))}
    kinds = {json_type(value) or "other" for value in field.values} or types
    if "number" in kinds:
        kinds.discard("integer")
    if kinds == {"string"}:
        ending = f" (format {form!r})" if form else ""
        for one in _of_text(field):
            yield one._replace(reason=one.reason + ending)
    if kinds and kinds <= {"integer", "number"}:
        yield _of_number(field)
    if kinds == {"boolean"} or ("boolean" in kinds and _are_booleans(field.values)):
        yield _YES_OR_NO
    if len(kinds) < 2:  # noqa: PLR2004 - one type or none
        yield _Suggestion("exact", (), "compared as a whole")
    reason = f"values are {' and '.join(sorted(kinds))}"
    are_scalars = kinds <= {"integer", "number", "string"}
    has_zeros = any(_ZEROS.fullmatch(one) for one in field.values if isinstance(one, str))
    if are_scalars and (field.has_id_name or has_zeros):
        yield _Suggestion("exact", (_AS_TEXT, *_LAYOUT), f"{reason}: an identifier, as text")
    if form == "decimal" or (field.values and _are_numbers(field.values)):
        yield _Suggestion("numeric", ("parse_number",), "numbers, some of them written as text")
    if are_scalars:
        yield _Suggestion(SEMANTIC, (), f"{reason}: compared by meaning")
    yield _Suggestion("exact", (), f"{reason}: only equal ones of equal types match")


def _of_number(field: _Field) -> _Suggestion:
    if field.has_id_name:
        reason = f"an identifier by its name {field.name!r}"
        return _Suggestion("exact", (_AS_TEXT, *_LAYOUT), reason)
    largest = max((abs(value) for value in field.values), default=0)
    broken = (value for value in field.values if isinstance(value, float) and value % 1)
    decimals = max((len(repr(value).partition(".")[2]) for value in broken), default=0)
    params = {}
    if field.values and decimals <= _MONEY_DECIMALS:
        params = {"grouping": ","}
    elif field.values:
        params = {"grouping": ""}
    reason = "a number"
    if field.is_named("share") and field.values and largest <= 1:
        params = {"percent": "fraction"}
        reason = "a share by its name and its values up to 1, so that 19 % is 0.19"
    read = {"parse_number": params} if params else "parse_number"
    if largest <= _MAX_ROUNDED and any(map(_is_computed, field.values)):
        limit = {"numeric": {"tolerance": {"rel": _ROUNDING}}}
        return _Suggestion(limit, (read,), f"{reason}; tolerance for the rounding of floats")
    return _Suggestion("numeric", (read,), f"{reason}; no tolerance")


def _is_computed(value: float) -> bool:
    mantissa = repr(value).lower().partition("e")[0]
    return isinstance(value, float) and len(mantissa.strip("-0.").replace(".", "")) > _FLOAT_DIGITS


def _are_booleans(values: Sequence[Any]) -> bool:
    try:
        found = {read_bool(value) for value in values}
    except UnreadableError:
        return False
    words = {str(value).strip().casefold() for value in values}
    return bool(words & {"yes", "no", "true", "false"}) or (len(found) > 1 and words == {"y", "n"})


def _of_text(field: _Field) -> _Suggestions:
    n_values = len(field.values)
    yield from _by_schema(field)
    if field.values and 2 * sum(map(bool, map(_RANGE.fullmatch, field.values))) >= n_values:
        yield _Suggestion(SEMANTIC, (), "ranges and bounds, compared by meaning")
    if field.is_named("address of a page"):
        yield _Suggestion(SEMANTIC, (), f"an address by its name {field.name!r}")
    if field.has_id_name:
        yield _identifier(field)
    yield from _dates(field)
    yield from _numbers(field)
    if field.values and all(_CODE.fullmatch(value.strip()) for value in field.values):
        yield _Suggestion("exact", _LAYOUT, "codes of letters and digits, compared exactly")
    n_words = sum(len(value.split()) for value in field.values) / (n_values or 1)
    if n_words >= _MIN_WORDS_OF_PROSE:
        reason = f"prose: {n_words:.0f} words on average, and an extraction may say more"
        yield _Suggestion({SEMANTIC: {"specificity": "allow_more_specific"}}, (), reason)
    yield from _names(field)
    yield _Suggestion(SEMANTIC, (), "a text, compared by meaning")


def _identifier(field: _Field) -> _Suggestion:
    reason = f"an identifier by its name {field.name!r}"
    if field.is_named("phone"):
        return _Suggestion("phone", (), f"a telephone number by its name {field.name!r}")
    if field.is_named("identifier in groups"):
        reason += ", of which only letters and digits count"
        return _Suggestion("exact", (_AS_TEXT, "letters_and_digits"), reason)
    case = ("casefold",) if field.is_named("identifier in any case") else ()
    return _Suggestion("exact", (_AS_TEXT, *_LAYOUT, *case), reason)


def _by_schema(field: _Field) -> _Suggestions:
    form, schema = field.schema.get("format"), field.schema
    allowed: Any = schema.get("enum", [schema["const"]] if "const" in schema else None)
    is_choice = isinstance(allowed, list) and all(isinstance(one, str) for one in allowed)
    if _are_booleans(allowed if is_choice else field.values):
        yield _YES_OR_NO
    if is_choice:
        forms = {" ".join(one.casefold().split()) for one in allowed}
        steps = (*_LAYOUT, "casefold") if len(forms) == len({*allowed}) else _LAYOUT
        case = "" if len(steps) > len(_LAYOUT) else ", of which some differ in case only"
        yield _Suggestion("exact", steps, f"one of {plural(len(allowed), 'value')}{case}")
    if form in ("date", "date-time"):
        yield _as_date(field, with_time=form == "date-time", reason="a date by its format")
    if form == "decimal":
        yield _Suggestion("numeric", ("parse_number",), "a number by its format")
    if form in ("email", "uuid", "idn-email", "hostname"):
        yield _Suggestion("exact", (*_LAYOUT, "casefold"), "an identifier by its format")
    if form:
        yield _Suggestion("exact", _LAYOUT, "compared exactly")


def _names(field: _Field) -> _Suggestions:
    n_forms = sum(bool({*_name_words(v)[-1:]} & _WORDS["legal form"]) for v in field.values)
    *_, role = "", *(w for w in _name_words(field.name) if w != "name" and len(w) > 1)  # `party_a`
    roles = {role, role.removesuffix("s")}
    if not roles.isdisjoint(_WORDS["company"]) or (n_forms and 2 * n_forms >= len(field.values)):
        yield _Suggestion("name", (), "a name of a company, with or without its legal form")
    roles |= {"person"} if role == "by" else set()
    if not roles.isdisjoint(_WORDS["person"]) or (
        "name" in _name_words(field.name) and all(map(_PROPER_NAME.fullmatch, field.values))
    ):
        yield _Suggestion("name", (), "a name: notation, order of words and titles do not count")


def _dates(field: _Field) -> _Suggestions:
    readings = [read_date(value, Notation(day_first=True)).only for value in field.values]
    dates = [one for one in readings if one and one.month]
    by_name = field.is_named("date")
    if len(dates) == len(readings) and (dates or by_name):
        with_time = any(one.clock for one in dates)
        reason = f"dates in {plural(len(dates), 'gold value')}" if dates else "a date by its name"
        yield _as_date(field, with_time=with_time, reason=reason)
    if dates and by_name:
        odd = next(v for v, one in zip(field.values, readings, strict=True) if one not in dates)
        yield _Suggestion(
            "exact", _LAYOUT,
            f"a date by its name, but only {len(dates)} of {len(readings)} gold values are "
            f"dates: {shown(odd)}; compared exactly",
        )  # fmt: skip


def _as_date(field: _Field, *, with_time: bool, reason: str) -> _Suggestion:
    params: dict[str, Any] = {}
    texts = [value for value in field.values if isinstance(value, str)]
    orders = {order for value in texts if (order := order_of(value)) is not None}
    doubtful = [value for value in texts if len(read_date(value).ways) > 1]
    if len(orders) == 1:
        params["day_first"] = orders.pop()
        reason += ", the day first" if params["day_first"] else ", the month first"
    elif doubtful:
        why = "gold has both orders" if orders else "nothing in gold says which"
        reason += f"; {shown(doubtful[0])} can be two dates and {why}: set 'day_first'"
    if with_time:
        params["with_time"] = True
    years = [one.year or 0 for value in texts if (one := read_date(value).only)]
    if years and all(_CENTURY_START <= year < _CENTURY_START + 100 for year in years):
        params["pivot"] = _CENTURY_START
        reason += f"; all years are from {_CENTURY_START} to {_CENTURY_START + 99}"
    return _Suggestion({"date": params} if params else "date", (), reason)


def _are_numbers(values: Sequence[Any], decimal: str | None = None) -> bool:
    try:
        return all(read_number(value, decimal) is not None for value in values)
    except UnreadableError:
        return False


def _numbers(field: _Field) -> _Suggestions:
    """Suggest settings for numbers written as text, and for numbers of which some have a unit."""
    values = field.values
    if values and all(_PLAIN_NUMBER.fullmatch(value.strip()) for value in values):
        fitting = [mark for mark in ".," if _are_numbers(values, mark)]
        plain = _are_numbers(values)
        has_zeros = any(_ZEROS.fullmatch(value) for value in values)
        is_amount = field.is_named("amount") or field.is_named("share")
        are_digits = all(_DIGITS.fullmatch(value.strip()) for value in values)
        is_even = are_digits and len({len(value.strip()) for value in values}) == 1
        if (has_zeros and (plain or len(fitting) == 1)) or (is_even and not is_amount):
            reason = "digits with leading zeros or of equal length, as in an identifier"
            yield _Suggestion("exact", (_AS_TEXT, *_LAYOUT), reason)
        if plain:
            yield _Suggestion("numeric", ("parse_number",), "numbers written as text")
        if len(fitting) == 1:
            only = f"in some of them only {fitting[0]!r} can be the decimal mark"
            read = {"parse_number": {"decimal": fitting[0]}}
            yield _Suggestion("numeric", (read,), f"numbers written as text; {only}")
    quantities = [_quantity(value) for value in values]
    if all(quantities) and any(quantity.units for quantity in quantities if quantity):
        reason = "numbers with a unit or currency, which count: 5 km are 5000 m and not 5 mi"
        yield _Suggestion(SEMANTIC, (), reason)


def _quantity(text: str) -> Quantity | None:
    found = words(text)
    quantity = read_quantity(found, 0, text) if found else None
    if quantity and quantity.last == len(found):
        return quantity
    return None


@lru_cache(maxsize=1024)
def _name_words(name: str) -> list[str]:
    return [word.lower() for word in _NAME.findall(name)]


def _alignment(
    name: str, items: dict[str, Any], lists: list[list[Any]]
) -> tuple[dict[str, Any], str]:
    ordered: dict[str, Any] = {"ordered": True}
    if not _WORDS["sequence"].isdisjoint(_name_words(name)):
        return ordered, f"the order counts by the name {name!r}"
    kind = keys.effective_type(items)
    if kind in ("integer", "number", "array"):
        return ordered, f"the order of a list of type {kind} counts"
    names = (name for name in keys.sub_schemas(items) if name is not None)
    ids = (one for one in names if one.casefold() in _WORDS["key of an element"])
    key = next((one for one in ids if _is_key(one, lists)), None)
    if key is not None:
        return {"match_by": "key_field", "key": key}, f"{key!r} is unique in every gold list"
    return {"match_by": "hungarian"}, "nothing says that the order counts, and there is no key"


def id_key(records: Sequence[dict[str, Any]]) -> str | None:
    """Return the first key that identifies records by its name and distinct values, if any."""
    named = [name for name in records[0] if _Field(name, {}, []).has_id_name]
    named.sort(key=lambda name: name.casefold() not in _WORDS["key of an element"])
    for name in named:
        if are_ids([one.get(name) for one in records]):
            return name
    return None


def are_ids(values: Sequence[Any]) -> bool:
    """Whether values can identify records or elements: distinct strings and integers."""
    is_typed = all(isinstance(one, (str, int)) and not isinstance(one, bool) for one in values)
    return is_typed and len({*values}) == len(values)


def _is_key(name: str, lists: list[list[Any]]) -> bool:
    """Whether a key is present and unique in each list, and not a running number."""
    longer = [elements for elements in lists if len(elements) > 1]
    return bool(longer) and all(_has_keys(name, elements) for elements in longer)


def _has_keys(name: str, elements: list[Any]) -> bool:
    if not all(isinstance(one, dict) for one in elements):
        return False
    values = [one.get(name) for one in elements]
    first = values[0]
    is_running = isinstance(first, int) and values == [*range(first, first + len(values))]
    return are_ids(values) and not is_running
