"""Keywords as a comparator of `factcheck.fields`: how many of them an extracted text holds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from factcheck.errors import InputError, ParameterError
from factcheck.keywords.forms import Keyword, Not, SearchedText, as_keywords, occurs
from factcheck.keywords.similarity import share_found

if TYPE_CHECKING:
    from factcheck.fields.types import ComparatorResult

_PARAM = "keywords"


class KeywordComparator:
    """Scores a field by the share of keywords that occur in the extracted value.

    The schema gives the keywords, in any form that `factcheck.keywords` knows:
    `{"keywords": {"keywords": ["waterproof", {"not": "leather"}]}}`. Where it gives none, the gold
    value does: a list of texts, or one text with commas between them. Nothing else of the gold
    value is looked at. Set `x-eval-threshold` for the share that makes a match; without, all must
    occur.

    Register it under the name that schemas use: `register("keywords", KeywordComparator())`.

    Args:
        name: What results call the comparator.
    """

    def __init__(self, name: str = "keywords") -> None:
        self.name = name

    def check_params(self, params: Mapping[str, Any]) -> None:
        """Refuse parameters of a field that cannot be used.

        Raises:
            ParameterError: A name that is not known, or keywords that cannot be used.
        """
        for key in params:
            if key != _PARAM:
                raise ParameterError(f"{self.name!r} knows no {key!r}; known is {_PARAM!r}")
        if _PARAM in params:
            try:
                words = as_keywords(params[_PARAM], _PARAM)
            except InputError as error:
                raise ParameterError(str(error)) from error
            if not words:
                raise ParameterError(f"{self.name!r}: 'keywords' is empty; every text would miss")

    def __call__(self, gold: Any, extracted: Any, params: Mapping[str, Any]) -> ComparatorResult:
        """The share of keywords that occur, and those that do not.

        Raises:
            InputError: There are no keywords, or a value is no text; the field is an `error`.
        """
        from factcheck.fields.types import ComparatorResult

        if extracted is None and (gold is None or _PARAM not in params):
            score, reason = (1.0, "both are null") if gold is None else (0.0, "extracted is null")
            return ComparatorResult(score, self.name, reason)
        words = as_keywords(params[_PARAM] if _PARAM in params else _of_gold(gold), _PARAM)
        if not words:
            raise InputError("the gold value has no keywords, and the schema gives none")
        searched = SearchedText(_text_of(extracted))
        found = {word for word in words if occurs(word, searched)}
        return ComparatorResult(share_found(words, found), self.name, _reason(words, found))


def _of_gold(gold: Any) -> Iterable[Any]:
    if isinstance(gold, str):
        return [word for part in gold.split(",") if (word := part.strip())]
    if isinstance(gold, (list, tuple)):
        return gold
    raise InputError(f"keywords are a text or a list of texts, not {type(gold).__name__}")


def _text_of(extracted: Any) -> str:
    if extracted is None:
        return ""
    if isinstance(extracted, (list, tuple)):
        return "\n".join(map(_text_of, extracted))
    if isinstance(extracted, (str, int, float)):
        return str(extracted)
    raise InputError(f"keywords are looked for in a text, not in {type(extracted).__name__}")


def _reason(words: Sequence[Keyword], found: set[Keyword]) -> str:
    missing = [word for word in words if word not in found and type(word) is not Not]
    broken = [word for word in found if isinstance(word, Not)]
    n_wanted = sum(type(word) is not Not for word in words)
    parts = [f"{n_wanted - len(missing)} of {n_wanted} keywords"]
    if missing:
        parts.append("missing: " + ", ".join(map(str, missing)))
    if broken:
        parts.append("must not occur: " + ", ".join(str(word.keyword) for word in broken))
    return "; ".join(parts)
