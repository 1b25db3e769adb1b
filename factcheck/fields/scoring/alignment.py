"""Which gold element of an array is compared with which extracted one: what the schema says."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

from factcheck.errors import SchemaError
from factcheck.fields.schemas.structure import ALIGN, declared_types, effective_type

Strategy = Literal["ordered", "key_field", "hungarian"]
_KEYS = ("ordered", "match_by", "key", "threshold")
_STRATEGIES = ("key_field", "hungarian")
_log = logging.getLogger("factcheck.fields")

MISSING: Any = object()
"""Stands for a value that is not there."""


def strategy_of(align: Mapping[str, Any] | None) -> Strategy:
    """How the elements of an array find each other."""
    if not align or align.get("ordered") is True:
        return "ordered"
    chosen = align.get("match_by")
    return chosen if chosen in _STRATEGIES else "ordered"


def check_align(schema: Mapping[str, Any], kind: str, path: str) -> dict[str, Any] | None:
    """What `x-eval-align` of a schema says, or `None` where it says nothing.

    Raises:
        SchemaError: It cannot be used.
    """
    if ALIGN not in schema:
        return None
    align = schema[ALIGN]
    if kind != "array":
        raise SchemaError(f"{ALIGN} belongs to type 'array', but the type is {kind!r}", path)
    if not isinstance(align, dict):
        raise SchemaError(
            f"{ALIGN} must be a dict with 'ordered' or 'match_by', not {align!r}", path
        )
    _check_strategy(align, path)
    for key in align:
        if key not in _KEYS:
            _log.warning("%s: %s knows no %r; known are %s", path, ALIGN, key, ", ".join(_KEYS))
    strategy = strategy_of(align)
    if strategy == "key_field":
        _check_key(align.get("key"), schema.get("items"), path)
    if "threshold" in align and (strategy != "hungarian" or not _is_share(align["threshold"])):
        raise SchemaError(
            f"{ALIGN}: 'threshold' must be a number from 0 to 1, with match_by 'hungarian'; "
            f"found {align['threshold']!r}",
            path,
        )
    return dict(align)


def _check_strategy(align: Mapping[str, Any], path: str) -> None:
    if "ordered" not in align and "match_by" not in align:
        raise SchemaError(f"{ALIGN} needs 'ordered' or 'match_by'; found {list(align)!r}", path)
    ordered = align.get("ordered", False)
    if not isinstance(ordered, bool):
        raise SchemaError(f"{ALIGN}: 'ordered' must be true or false, not {ordered!r}", path)
    if "match_by" not in align:
        if not ordered:
            raise SchemaError(
                f"{ALIGN}: with ordered false, 'match_by' must be one of {_STRATEGIES}", path
            )
    elif align["match_by"] is None:
        _log.warning("%s: %s has no match_by; elements are compared by position", path, ALIGN)
    elif align["match_by"] not in _STRATEGIES:
        raise SchemaError(
            f"{ALIGN}: 'match_by' must be one of {_STRATEGIES}, not {align['match_by']!r}", path
        )


def _is_share(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1


def _check_key(key: Any, items: Any, path: str) -> None:
    names = key if isinstance(key, list) and key else [key]
    if not all(isinstance(name, str) and name for name in names):
        raise SchemaError(
            f"{ALIGN}: match_by 'key_field' requires a 'key', the name of a field of the "
            f"elements or a list of names; found {key!r}",
            path,
        )
    if not isinstance(items, dict):
        raise SchemaError(f"{ALIGN}: match_by 'key_field' requires 'items' with a schema", path)
    if declared_types(items.get("type")) and effective_type(items.get("type")) != "object":
        raise SchemaError(
            f"{ALIGN}: match_by 'key_field' requires items type 'object', not {items['type']!r}",
            path,
        )
    properties = items.get("properties")
    if not isinstance(properties, dict) or not properties:
        _log.warning("%s: the items have no 'properties', so no key to match by", path)
        return
    for name in names:
        if key_steps(name, properties) is None:
            _log.warning("%s: key %r not found among %s", path, name, sorted(properties))


def key_steps(name: str, properties: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The names that lead to a key: `id.value` is one, or two where no field has that name."""
    if name in properties:
        return (name,)
    head, dot, rest = name.partition(".")
    below = properties.get(head)
    inner = below.get("properties") if isinstance(below, dict) else None
    if not dot or not isinstance(inner, dict):
        return None
    steps = key_steps(rest, inner)
    return steps and (head, *steps)


class Pairing(NamedTuple):
    """Which elements belong together, by position."""

    pairs: Sequence[tuple[int, int]]
    """Gold and extracted position, in the order of the results."""
    gold_only: Sequence[int]
    extracted_only: Sequence[int]
    in_gold_order: bool = False
    """Whether pairs and `gold_only` are reported as one list in gold order."""


def by_position(n_gold: int, n_extracted: int) -> Pairing:
    """The first with the first, and so on."""
    n = min(n_gold, n_extracted)
    return Pairing([(i, i) for i in range(n)], range(n, n_gold), range(n, n_extracted))


def in_order(gold: Sequence[Any], extracted: Sequence[Any], _path: str) -> Pairing:
    """`by_position`, for an array."""
    return by_position(len(gold), len(extracted))


class KeyMatch:
    """Pairs elements with equal keys; of several with the same key, the first.

    Args:
        key_of: The key of an element, or `MISSING` where it has none that can be matched.
    """

    def __init__(self, key_of: Callable[[Any], Any]) -> None:
        self._key_of = key_of
        self._has_warned = False

    def __call__(self, gold: Sequence[Any], extracted: Sequence[Any], path: str) -> Pairing:
        """Which elements belong together; results come in gold order."""
        free: dict[Any, int] = {}
        keyless = []
        for place, element in enumerate(extracted):
            key = self._key_of(element)
            if key is MISSING or key in free:
                keyless.append(place)
            else:
                free[key] = place
        n_keyless = len(keyless)
        pairs, gold_only = [], []
        for place, element in enumerate(gold):
            key = self._key_of(element)
            n_keyless += key is MISSING
            if key is not MISSING and key in free:
                pairs.append((place, free.pop(key)))
            else:
                gold_only.append(place)
        if n_keyless and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "%s: %d elements have no key of their own to be matched by; they stay alone, here "
                "and in further records",
                path,
                n_keyless,
            )
        return Pairing(pairs, gold_only, [*free.values(), *keyless], in_gold_order=True)
