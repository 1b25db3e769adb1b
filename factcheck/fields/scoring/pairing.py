"""Pairing array elements by position or by key."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

_log = logging.getLogger("factcheck.fields")

MISSING: Any = object()
"""Stands for a missing value, or a missing key."""


class Pairing(NamedTuple):
    """Which elements belong together, by position."""

    pairs: Sequence[tuple[int, int]]
    """Gold and extracted position, in the order of the results."""
    gold_only: Sequence[int]
    extracted_only: Sequence[int]
    in_gold_order: bool = False
    """Whether pairs and `gold_only` are reported together, in gold order."""


Align = Callable[[Sequence[Any], Sequence[Any], str], Pairing]
"""Pairs gold with extracted elements; the third argument is the path, for warnings."""


def by_position(gold: Sequence[Any], extracted: Sequence[Any], _path: str = "") -> Pairing:
    """The first with the first, and so on."""
    n = min(len(gold), len(extracted))
    return Pairing([(i, i) for i in range(n)], range(n, len(gold)), range(n, len(extracted)))


class KeyMatch:
    """Pairs elements with equal keys; of several with the same key, the first.

    Args:
        key_of: The key of an element; `MISSING` if it has none that can be matched.
    """

    def __init__(self, key_of: Callable[[Any], Any]) -> None:
        self._key_of = key_of
        self._has_warned = False

    def __call__(self, gold: Sequence[Any], extracted: Sequence[Any], path: str) -> Pairing:
        """The pairing, to be reported in gold order."""
        free: dict[Any, int] = {}
        unkeyed = []
        for place, element in enumerate(extracted):
            key = self._key_of(element)
            if key is MISSING or key in free:
                unkeyed.append(place)
            else:
                free[key] = place
        n_unkeyed = len(unkeyed)
        pairs, gold_only = [], []
        for place, element in enumerate(gold):
            key = self._key_of(element)
            n_unkeyed += key is MISSING
            if key is not MISSING and key in free:
                pairs.append((place, free.pop(key)))
            else:
                gold_only.append(place)
        if n_unkeyed and not self._has_warned:
            self._has_warned = True
            _log.warning(
                "%s: %d elements have no unique key and stay unmatched, here and in later records",
                path,
                n_unkeyed,
            )
        return Pairing(pairs, gold_only, [*free.values(), *unkeyed], in_gold_order=True)


def is_key(value: Any) -> bool:
    """Whether elements can be matched by this value: a string or a number other than NaN."""
    if isinstance(value, float):
        return not math.isnan(value)
    return isinstance(value, (str, int)) and not isinstance(value, bool)
