"""A second `evaluate`, for one record: as plain as can be, and written from the specification.

Nothing is shared with `factcheck.fields`, so what both say is not one mistake made twice, but for
comparators and transforms, which have tests of their own. It knows property names without `.` and
`[`, and no batch comparators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from scipy.optimize import linear_sum_assignment

from factcheck.fields.comparators.builtin import COMPARATORS
from factcheck.fields.comparators.transforms import TRANSFORMS

Schema = Mapping[str, Any]
Pair = tuple[int, int]
COUNTED = ("match", "mismatch", "omission", "hallucination")
NO_KEY = object()
"""Stands for the key of an element that has none."""
SUPPOSED_EQUAL = 1e-9
"""Two sums of F1 that differ by less are one and the same, summed in another order."""


class Row(NamedTuple):
    """What became of one field."""

    path: str
    status: str
    score: float
    comparator: str


class Outcome(NamedTuple):
    """What became of one record."""

    rows: list[Row]
    precision: float
    recall: float
    f1: float
    ties: set[str]
    """Of Hungarian arrays with several pairings that are equally good: `leaf` if all of them give
    the same rows but for positions, `other` if they may give other rows."""


def evaluate(schema: Schema, gold: Any, extracted: Any) -> Outcome:
    ties: set[str] = set()
    is_object = not is_leaf(schema) and expected_type(schema) is dict
    if is_object and isinstance(extracted, str):  # none of the strings here is an object
        rows = both(schema, gold, None, "", ties) or [Row("", "hallucination", 0.0, "")]
        rows = [Row("", "parse_failure", 0.0, ""), *rows]
    else:
        rows = both(schema, gold, extracted, "", ties)
    return Outcome(rows, *metrics(rows), ties)


def metrics(rows: Sequence[Row]) -> tuple[float, float, float]:
    said = [row for row in rows if row.status in ("match", "mismatch", "hallucination")]
    asked = [row for row in rows if row.status in ("match", "mismatch", "omission")]
    earned = sum(row.score for row in rows if row.status in ("match", "mismatch"))
    precision = earned / len(said) if said else 1.0
    recall = earned / len(asked) if asked else 1.0
    if precision + recall == 0:
        return precision, recall, 0.0
    return precision, recall, 2 * precision * recall / (precision + recall)


def both(node: Schema, gold: Any, extracted: Any, path: str, ties: set[str]) -> list[Row]:
    if node.get("x-eval-skip"):
        return [Row(path, "skipped", 0.0, "")]
    if is_leaf(node):
        return [Row(path, *compare_leaf(node, gold, extracted))]
    if gold is None or extracted is None:
        return one_is_null(node, gold, extracted, path)
    expected = expected_type(node)
    if not isinstance(gold, expected) or not isinstance(extracted, expected):
        same = gold == extracted
        return [Row(path, "match", 1.0, "") if same else Row(path, "mismatch", 0.0, "")]
    if not gold and not extracted:
        return [Row(path, "match", 1.0, "")]
    compare = both_objects if expected is dict else both_arrays
    return compare(node, gold, extracted, path, ties)


def one_is_null(node: Schema, gold: Any, extracted: Any, path: str) -> list[Row]:
    if gold is None and extracted is None:
        return []
    value, status = (extracted, "hallucination") if gold is None else (gold, "omission")
    if isinstance(value, expected_type(node)):
        return alone(node, value, path, status)
    return [Row(path, status, 0.0, "")]


def both_objects(node: Schema, gold: Any, extracted: Any, path: str, ties: set[str]) -> list[Row]:
    rows = []
    for name, child in node["properties"].items():
        place = joined(path, name)
        if child.get("x-eval-skip"):
            rows.append(Row(place, "skipped", 0.0, ""))
        elif name in gold and name in extracted:
            rows += both(child, gold[name], extracted[name], place, ties)
        elif name in gold:
            rows += alone(child, gold[name], place, "omission")
        elif name in extracted:
            rows += alone(child, extracted[name], place, "hallucination")
    others = [name for name in dict.fromkeys((*gold, *extracted)) if name not in node["properties"]]
    rest = node.get("additionalProperties")
    if not rest:
        unknown = sorted(name for name in others if name in extracted)
        return rows + [Row(joined(path, name), "hallucination", 0.0, "") for name in unknown]
    for name in others:
        place = f"{path}[{name}]"
        if name in gold and name in extracted:
            rows += both(rest, gold[name], extracted[name], place, ties)
        else:
            status = "omission" if name in gold else "hallucination"
            rows += alone(rest, {**gold, **extracted}[name], place, status)
    return rows


def alone(node: Schema, value: Any, path: str, status: str) -> list[Row]:
    if node.get("x-eval-skip"):
        return []
    if is_leaf(node):
        return [Row(path, status, 0.0, comparator_of(node)[0])]
    if kind(node) == "object":
        if isinstance(value, dict):
            return alone_object(node, value, path, status)
        is_junk = value is not None and status == "hallucination"  # no error is free
        return [Row(path, status, 0.0, "")] if is_junk else []
    if not isinstance(value, list) or not value:
        return [Row(path, status, 0.0, "")]
    rows: list[Row] = []
    for index, element in enumerate(value):
        if status == "omission":
            rows += alone(node["items"], element, f"{path}[{index}]", status)
        else:
            rows += alone_element(node["items"], element, f"{path}[{-1 - index}]", 1)
    return rows


def alone_object(node: Schema, value: Any, path: str, status: str) -> list[Row]:
    rows: list[Row] = []
    known = [name for name in node["properties"] if name in value]
    others = [name for name in value if name not in node["properties"]]
    rest = node.get("additionalProperties")
    for name in known:
        rows += alone(node["properties"][name], value[name], joined(path, name), status)
    if rest:
        for name in others:
            rows += alone(rest, value[name], f"{path}[{name}]", status)
    elif status == "hallucination" and not known:
        rows += [Row(joined(path, name), status, 0.0, "") for name in sorted(others)]
    return rows


def both_arrays(node: Schema, gold: Any, extracted: Any, path: str, ties: set[str]) -> list[Row]:
    items = node["items"]
    align = node.get("x-eval-align") or {}
    gold_order = list(range(len(gold)))
    extracted_order = list(range(len(extracted)))
    if align.get("ordered") or not align:
        partner = dict(zip(gold_order, extracted_order))  # noqa: B905 - the rest has no partner
    elif align["match_by"] == "hungarian":
        partner = best_partners(node, gold, extracted, path, ties)
        gold_order = sorted(partner) + [i for i in gold_order if i not in partner]
    else:
        keys = [key_of(items, element, align["key"]) for element in gold]
        other_keys = [key_of(items, element, align["key"]) for element in extracted]
        partner = same_keys(keys, other_keys)
        first = [other_keys.index(key) for key in dict.fromkeys(other_keys) if key is not NO_KEY]
        extracted_order = first + [j for j in extracted_order if j not in first]
    rows = []
    for i in gold_order:
        if i in partner:
            rows += both(items, gold[i], extracted[partner[i]], f"{path}[{i}]", ties)
        else:
            rows += alone(items, gold[i], f"{path}[{i}]", "omission")
    surplus = [j for j in extracted_order if j not in partner.values()]
    n_nulls = sum(one is None for one in extracted) - sum(one is None for one in gold)
    for number, j in enumerate(surplus, 1):
        rows += alone_element(items, extracted[j], f"{path}[{-number}]", n_nulls)
        n_nulls -= extracted[j] is None
    return rows


def alone_element(items: Schema, element: Any, path: str, n_nulls: int) -> list[Row]:
    """The rows of a surplus element; a null that gold has not is no free error."""
    rows = alone(items, element, path, "hallucination")
    if element is None and not rows and n_nulls > 0 and not items.get("x-eval-skip"):
        return [Row(path, "hallucination", 0.0, "")]
    return rows


def best_partners(
    node: Schema, gold: Sequence[Any], extracted: Sequence[Any], path: str, ties: set[str]
) -> dict[int, int]:
    """The pairing with the greatest sum of F1, among pairs that are good enough.

    Pairs in which nothing can be scored, or nothing matches and something cannot be compared, come
    last, from the elements that are left over.
    """
    threshold = node["x-eval-align"].get("threshold", 0.0)
    worth: dict[Pair, float] = {}
    unscored: dict[Pair, float] = {}
    inner: set[str] = set()
    for i, element in enumerate(gold):
        for j, other in enumerate(extracted):
            rows = both(node["items"], element, other, f"{path}[{i}]", inner)
            f1 = metrics(rows)[2]
            if not any(row.status in COUNTED for row in rows):
                unscored[i, j] = 1.0
            elif f1 > 0 and f1 >= threshold:
                worth[i, j] = f1
            elif f1 == 0 and any(row.status == "error" for row in rows):
                unscored[i, j] = 1.0
    chosen = assigned(worth)
    taken = {i for i, _ in chosen}, {j for _, j in chosen}
    left = {(i, j): 1.0 for i, j in unscored if i not in taken[0] and j not in taken[1]}
    fillers = assigned(left)
    ties |= inner
    if tied(worth, chosen) or tied(left, fillers):
        ties.add("leaf" if is_leaf(node["items"]) else "other")
    return dict(chosen + fillers)


def tied(worth: Mapping[Pair, float], chosen: Sequence[Pair]) -> bool:
    """Whether one of the chosen pairs can be done without."""
    total = sum(worth[pair] for pair in chosen)
    for pair in chosen:
        others = {other: f1 for other, f1 in worth.items() if other != pair}
        if sum(others[other] for other in assigned(others)) > total - SUPPOSED_EQUAL:
            return True
    return False


def assigned(worth: Mapping[Pair, float]) -> list[Pair]:
    """Pairs that are worth something and make the greatest sum."""
    if not worth:
        return []
    height, width = (1 + max(pair[side] for pair in worth) for side in (0, 1))
    matrix = [[worth.get((i, j), 0.0) for j in range(width)] for i in range(height)]
    found = zip(*linear_sum_assignment(matrix, maximize=True), strict=True)
    return [(int(i), int(j)) for i, j in found if (int(i), int(j)) in worth]


def key_of(items: Schema, element: Any, key: str | Sequence[str]) -> Any:
    """What an element is matched by: null and booleans by type, too."""
    if not isinstance(key, str):
        parts = tuple(key_of(items, element, name) for name in key)
        return NO_KEY if any(part is NO_KEY for part in parts) else parts
    node: Any = items
    for name in key.split("."):
        if not isinstance(element, dict) or name not in element:
            return NO_KEY
        element = element[name]
        node = node["properties"][name]
    try:
        value = transformed(node, element)
    except Exception:  # noqa: BLE001 - whatever it is, there is no key
        return NO_KEY
    if value is None or isinstance(value, bool):
        return str(type(value)), value
    return value if isinstance(value, (str, int, float)) else NO_KEY


def same_keys(keys: Sequence[Any], other_keys: Sequence[Any]) -> dict[int, int]:
    """The first of each key on one side with the first on the other."""
    return {
        i: other_keys.index(key)
        for i, key in enumerate(keys)
        if key is not NO_KEY and keys.index(key) == i and key in other_keys
    }


def kind(node: Schema) -> str:
    declared = node["type"]
    if isinstance(declared, str):
        return declared
    types = [name for name in declared if isinstance(name, str) and name != "null"]
    return types[0] if len(types) == 1 else "multi"


def expected_type(node: Schema) -> type:
    return dict if kind(node) == "object" else list


def is_leaf(node: Schema) -> bool:
    """Whether a value is compared as a whole."""
    has_parts = node.get("properties") or "items" in node
    return "x-eval-compare" in node or kind(node) == "multi" or not has_parts


def joined(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


DEFAULTS = {"string": "exact", "number": "numeric", "integer": "numeric", "boolean": "exact"}


def comparator_of(node: Schema) -> tuple[str, Mapping[str, Any]]:
    """The comparator of a node, or the default of its type (section 4.3), and its parameters."""
    return named(node.get("x-eval-compare", DEFAULTS.get(kind(node), "exact")))


def named(given: str | Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Name and parameters of `"name"` or `{"name": {...}}`."""
    if isinstance(given, str):
        return given, {}
    [(name, params)] = given.items()
    return name, params


def compare_leaf(node: Schema, gold: Any, extracted: Any) -> tuple[str, float, str]:
    name, params = comparator_of(node)
    try:
        wanted = transformed(node, gold)
    except Exception:  # noqa: BLE001 - whatever it is, it is an error of this field
        return "error", 0.0, name
    try:
        score = COMPARATORS[name](wanted, transformed(node, extracted), params).score
    except Exception:  # noqa: BLE001 - whatever it is, the extraction did not get it
        score = 0.0
    return "match" if score == 1.0 else "mismatch", score, name


def transformed(node: Schema, value: Any) -> Any:
    for given in node.get("x-eval-transform", []):
        name, params = named(given)
        if value is not None:
            value = TRANSFORMS[name](value, params)
    return value
