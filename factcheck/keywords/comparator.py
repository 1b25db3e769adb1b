"""Field comparator `keywords`: the share of keywords that an extracted text contains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from factcheck.errors import InputError, ParameterError
from factcheck.keywords.forms import Not, as_keywords, found_in, share_found, unmet_keywords

if TYPE_CHECKING:
    from factcheck.fields.types import ComparatorResult

_PARAM = "keywords"


class KeywordComparator:
    """Scores a field by the share of keywords that occur in the extracted value.

    The schema gives the keywords, in any form of `factcheck.keywords`:
    `{"keywords": {"keywords": ["waterproof", {"not": "leather"}]}}`. Without them, the gold value
    does: a list of strings, or one string with commas. `x-eval-threshold` sets the share that makes
    a match; by default all must occur.

    Register it under the name that schemas use: `register("keywords", KeywordComparator())`.

    Args:
        name: Name of the comparator in results.
    """

    def __init__(self, name: str = "keywords") -> None:
        self.name = name

    def check_params(self, params: Mapping[str, Any]) -> None:
        """Refuse invalid parameters of a field.

        Raises:
            ParameterError: An unknown name, or invalid keywords.
        """
        for key in params:
            if key != _PARAM:
                raise ParameterError(f"{self.name!r}: unknown parameter {key!r}; use {_PARAM!r}")
        if _PARAM in params:
            try:
                words = as_keywords(params[_PARAM], _PARAM)
            except InputError as error:
                raise ParameterError(str(error)) from error
            if not words:
                raise ParameterError(f"{self.name!r}: 'keywords' is empty; add one")

    def __call__(self, gold: Any, extracted: Any, params: Mapping[str, Any]) -> ComparatorResult:
        """The share of keywords that occur, with the missing ones as the reason.

        Raises:
            InputError: No keywords, or a value that is not text.
        """
        from factcheck.fields.types import ComparatorResult

        if extracted is None and (gold is None or _PARAM not in params):
            score, reason = (1.0, "both are null") if gold is None else (0.0, "extracted is null")
            return ComparatorResult(score, self.name, reason)
        words = as_keywords(params[_PARAM] if _PARAM in params else _of_gold(gold), _PARAM)
        if not words:
            raise InputError("no keywords, neither in the schema nor in the gold value")
        found = found_in(words, _text_of(extracted))
        unmet = unmet_keywords(words, found)
        missing = [str(word) for word in unmet if not isinstance(word, Not)]
        forbidden = [str(word.keyword) for word in unmet if isinstance(word, Not)]
        n_required = sum(not isinstance(word, Not) for word in words)
        reason = f"{n_required - len(missing)} of {n_required} keywords"
        for what, own in (("missing", missing), ("must not occur", forbidden)):
            reason += f"; {what}: {', '.join(own)}" if own else ""
        return ComparatorResult(share_found(words, found), self.name, reason)


def _of_gold(gold: Any) -> Iterable[Any]:
    if isinstance(gold, str):
        return [word for part in gold.split(",") if (word := part.strip())]
    if isinstance(gold, (list, tuple)):
        return gold
    raise InputError(f"expected keywords as a string or a list, got {type(gold).__name__}")


def _text_of(extracted: Any) -> str:
    if extracted is None:
        return ""
    if isinstance(extracted, (list, tuple)):
        return "\n".join(map(_text_of, extracted))
    if isinstance(extracted, (str, int, float)):
        return str(extracted)
    raise InputError(f"keywords are searched in text, got {type(extracted).__name__}")
