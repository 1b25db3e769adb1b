"""Responses labelled with the behaviour that they show."""

from __future__ import annotations

from collections.abc import Iterable

from factcheck.errors import InputError
from factcheck.keywords.guides import GuideLike, as_guide
from factcheck.keywords.label_search import LabelSearch
from factcheck.keywords.search import KeywordSearch

_WORTHWHILE = 100
"""Responses for which a search for labels is prepared."""


def classify_behavior(response: str, guide: GuideLike) -> str:
    """Say which behaviour a response shows.

    Args:
        response: Any text; the empty one shows nothing.
        guide: A guide, or a mapping with `strict_keywords`, `service_keywords` and the like.

    Returns:
        `<NAME>_BEHAVIOR`, `AMBIGUOUS` or `NO_MATCH`.

    Raises:
        InputError: The response is no text, or the guide cannot be used.
    """
    if not isinstance(response, str):
        raise InputError(f"a response must be a text, not {type(response).__name__}")
    return as_guide(guide).label(response)


def classify_behaviors(responses: Iterable[str], guide: GuideLike) -> list[str]:
    """Say which behaviour each response shows; many at once cost less than one by one.

    Raises:
        InputError: A response is no text, or the guide cannot be used.
    """
    guide = as_guide(guide)
    texts = list(responses)
    for number, text in enumerate(texts, 1) if not {*map(type, texts)} <= {str} else ():
        if not isinstance(text, str):
            raise InputError(f"response {number} must be a text, not {type(text).__name__}")
    are_many = len(texts) >= _WORTHWHILE
    if are_many and LabelSearch.can_search(guide):
        return LabelSearch(guide).labels(texts)
    if not are_many and all(behavior.is_plain for behavior in guide.behaviors):
        return [guide.label(text) for text in texts]
    words = dict.fromkeys(word for behavior in guide.behaviors for word in behavior.keywords)
    return [guide.label_of_found(found) for found in KeywordSearch(words).found_in_each(texts)]
