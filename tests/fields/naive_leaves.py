"""What the naive evaluation does with two values: transforms and comparators by the letter."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

DEFAULTS = {"string": "exact", "number": "numeric", "integer": "numeric", "boolean": "exact"}


def comparator_name(node: Mapping[str, Any]) -> str:
    """The comparator of a node, or the default of its type (section 4.3)."""
    return entry(node)[0]


def entry(node: Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """The comparator of a node and its parameters."""
    declared = node["type"]
    types = [declared] if isinstance(declared, str) else [t for t in declared if t != "null"]
    default = DEFAULTS.get(types[0], "exact") if len(types) == 1 else "exact"
    return named(node.get("x-eval-compare", default))


def named(given: str | Mapping[str, Any]) -> tuple[str, Mapping[str, Any]]:
    """Name and parameters of `"name"` or `{"name": {...}}`."""
    if isinstance(given, str):
        return given, {}
    [(name, params)] = given.items()
    return name, params


def compare_leaf(node: Mapping[str, Any], gold: Any, extracted: Any) -> tuple[str, float, str]:
    """Status, score and comparator of two values (sections 5 and 20.1)."""
    name, params = entry(node)
    try:
        wanted = transformed(node, gold)
    except Exception:  # noqa: BLE001 - whatever it is, it is an error of this field
        return "error", 0.0, name
    try:
        same = COMPARATORS[name](wanted, transformed(node, extracted), params)
    except Exception:  # noqa: BLE001 - whatever it is, the extraction did not get it
        return "mismatch", 0.0, name
    return ("match", 1.0, name) if same else ("mismatch", 0.0, name)


def transformed(node: Mapping[str, Any], value: Any) -> Any:
    """A value after the transforms of its node (section 11)."""
    for given in node.get("x-eval-transform", []):
        name, params = named(given)
        if value is not None:
            value = TRANSFORMS[name](value, params)
    return value


def exact(gold: Any, extracted: Any, params: Mapping[str, Any]) -> bool:
    """Same type and equal; inside, as Python compares. NaN equals NaN."""
    return type(gold) is type(extracted) and alike(gold, extracted)


def alike(gold: Any, extracted: Any) -> bool:
    """Equal as Python compares, but for NaN."""
    if isinstance(gold, float) and isinstance(extracted, float):
        return gold == extracted or (math.isnan(gold) and math.isnan(extracted))
    if isinstance(gold, dict) and isinstance(extracted, dict):
        return gold.keys() == extracted.keys() and all(
            alike(gold[name], extracted[name]) for name in gold
        )
    if isinstance(gold, list) and isinstance(extracted, list):
        return len(gold) == len(extracted) and all(map(alike, gold, extracted))
    return bool(gold == extracted)


def numeric(gold: Any, extracted: Any, params: Mapping[str, Any]) -> bool:
    """Both null, or both numbers that are near enough."""
    if gold is None or extracted is None:
        return gold is None and extracted is None
    try:
        wanted, found = float(gold), float(extracted)
    except (TypeError, ValueError):
        return False
    if math.isnan(wanted) or math.isnan(found):
        return math.isnan(wanted) and math.isnan(found)
    tolerance = params.get("tolerance")
    if wanted == found or not tolerance:
        return wanted == found
    error = abs(wanted - found)
    if "rel" in tolerance and not error / (abs(wanted) or 1.0) <= tolerance["rel"]:
        return False
    return not ("abs" in tolerance and not error <= tolerance["abs"])


def oneof(gold: Any, extracted: Any, params: Mapping[str, Any]) -> bool:
    """The extracted value is one of those that are allowed."""
    return extracted in params["values"]


COMPARATORS = {"exact": exact, "numeric": numeric, "oneof": oneof}


def needs(value: Any, *types: type) -> None:
    """Raise unless the value has one of the types."""
    if not isinstance(value, types):
        raise TypeError(f"{value!r} is of the wrong type")


def lowercase(value: Any, params: Mapping[str, Any]) -> Any:
    """Small letters."""
    needs(value, str)
    return value.lower()


def strip(value: Any, params: Mapping[str, Any]) -> Any:
    """No white space around."""
    needs(value, str)
    return value.strip()


def normalize_whitespace(value: Any, params: Mapping[str, Any]) -> Any:
    """One space for any white space, and none around."""
    needs(value, str)
    return re.sub(r"\s+", " ", value).strip()


def sort_tokens(value: Any, params: Mapping[str, Any]) -> Any:
    """The words in alphabetical order."""
    needs(value, str)
    return " ".join(sorted(value.split()))


def round_digits(value: Any, params: Mapping[str, Any]) -> Any:
    """Rounded to so many digits."""
    needs(value, int, float)
    return round(value, int(params["digits"]))


def type_convert(value: Any, params: Mapping[str, Any]) -> Any:
    """As a value of another type."""
    if params["to"] != "bool":
        return {"float": float, "int": int, "str": str}[params["to"]](value)
    word = str(value).strip().casefold()
    if isinstance(value, (bool, int, str)) and word in ("0", "false", "1", "true"):
        return word in ("1", "true")
    raise TypeError(f"{value!r} is not a yes or a no")


TRANSFORMS = {
    "lowercase": lowercase, "strip": strip, "normalize_whitespace": normalize_whitespace,
    "sort_tokens": sort_tokens, "round_digits": round_digits, "type_convert": type_convert,
}  # fmt: skip
