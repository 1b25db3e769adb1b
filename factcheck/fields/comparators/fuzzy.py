"""The comparator `fuzzy`: how alike two texts are, letter by letter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from factcheck.errors import ParameterError
from factcheck.fields.comparators.parameters import finite_number, refuse_unknown
from factcheck.fields.types import BoundComparator, BuiltinComparator

_Outcome = tuple[float, "str | None"]
_BOTH_NULL: Final[_Outcome] = (1.0, None)
_SAME: Final[_Outcome] = (1.0, "ratio 1")


def _bind(params: Mapping[str, Any]) -> BoundComparator:
    from rapidfuzz.distance.Indel import similarity

    refuse_unknown("fuzzy", params, "threshold")
    threshold = _threshold(params)

    def compare(gold: Any, extracted: Any) -> _Outcome:
        if not (isinstance(gold, str) and isinstance(extracted, str)):
            return _without_texts(gold, extracted)
        if gold == extracted:
            return _SAME
        ratio = similarity(gold, extracted) / (len(gold) + len(extracted))
        if threshold is None:
            return ratio, f"ratio {ratio:.6g}"
        if ratio >= threshold:
            return 1.0, f"ratio {ratio:.6g}, {threshold:.6g} is enough"
        return 0.0, f"ratio {ratio:.6g} is below {threshold:.6g}"

    def scores(gold: Sequence[Any], extracted: Sequence[Any]) -> Any:
        ratios = _ratios(gold, extracted)
        return ratios if threshold is None else (ratios >= threshold).astype(float)

    return BoundComparator(compare, scores=scores)


def _threshold(params: Mapping[str, Any]) -> float | None:
    if "threshold" not in params:
        return None
    allowed = "a number above 0 and up to 1"
    threshold = finite_number("fuzzy", "threshold", params["threshold"], allowed)
    if not 0 < threshold <= 1:
        raise ParameterError(f"fuzzy: 'threshold' must be {allowed}, not {threshold!r}")
    return threshold


def _without_texts(gold: Any, extracted: Any) -> _Outcome:
    if gold is None and extracted is None:
        return _BOTH_NULL
    side, value = ("extracted", extracted) if isinstance(gold, str) else ("gold", gold)
    return 0.0, f"fuzzy compares strings, and the {side} value is of type {type(value).__name__}"


def _ratios(gold: Sequence[Any], extracted: Sequence[Any]) -> Any:
    import numpy as np

    ratios = np.zeros((len(gold), len(extracted)))
    rows, columns = _places_of_texts(gold), _places_of_texts(extracted)
    if rows and columns:
        texts, other_texts = [gold[i] for i in rows], [extracted[j] for j in columns]
        ratios[np.ix_(rows, columns)] = _ratios_of_texts(texts, other_texts)
    ratios[np.ix_(_places_of_null(gold), _places_of_null(extracted))] = 1.0
    return ratios


def _ratios_of_texts(gold: Sequence[str], extracted: Sequence[str]) -> Any:
    import numpy as np
    from rapidfuzz.distance.Indel import similarity
    from rapidfuzz.process import cdist

    alike = cdist(gold, extracted, scorer=similarity, dtype=np.int64)
    lengths = np.add.outer([len(text) for text in gold], [len(text) for text in extracted])
    return np.where(lengths == 0, 1.0, alike / np.maximum(lengths, 1))


def _places_of_texts(values: Sequence[Any]) -> list[int]:
    return [place for place, value in enumerate(values) if isinstance(value, str)]


def _places_of_null(values: Sequence[Any]) -> list[int]:
    return [place for place, value in enumerate(values) if value is None]


fuzzy = BuiltinComparator("fuzzy", _bind)
"""The share of letters that two texts have in common, in order.

Parameters:
    threshold: The ratio from which on two texts match; without it the score is the ratio.

Source:
    `rapidfuzz.fuzz.ratio`, from 0 to 1: the normalised Indel similarity.
"""
