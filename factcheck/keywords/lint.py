"""Faults of guides that would spoil their labels: found before a model is asked.

- `shared`: a keyword of two behaviours; a response with it is always ambiguous.
- `inside`: a keyword that is part of one of another behaviour; so is a response with the longer.
- `short`: a keyword so short that it stands inside many words.
- `in_prompt`: a keyword that the prompt has; a response that repeats the question shows it.
- `doubled`: a keyword that a behaviour has twice.
- `empty`: a behaviour without keywords, or a pattern that matches the empty text.
- `never_fires`: a keyword that occurs in none of the given responses to its cases.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, NamedTuple, get_args

from factcheck.errors import InputError
from factcheck.keywords.forms import AnyOf, Folded, Keyword, Not, SearchedText, Word, occurs
from factcheck.keywords.guides import Behavior, Guide
from factcheck.keywords.search import KeywordSearch
from factcheck.keywords.suite_model import BehaviorCase, as_cases
from factcheck.keywords.word_edges import is_unspaced

Kind = Literal["shared", "inside", "short", "in_prompt", "doubled", "empty", "never_fires"]
KINDS: tuple[Kind, ...] = get_args(Kind)
SHORTEST = 3
"""Characters that a keyword should have, unless one is of a script without spaces."""
SHORTEST_UNSPACED = 2


class Fault(NamedTuple):
    """What is wrong with a keyword, wherever it is so."""

    kind: Kind
    behavior: str
    """Name of the behaviour whose keyword it is."""
    keyword: str
    """As it is shown; empty for a behaviour without keywords."""
    other: str
    """What it clashes with: `<behaviour>: <keyword>`; else empty."""


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A fault, and the cases that have it."""

    kind: Kind
    behavior: str
    keyword: str
    other: str
    case_ids: tuple[str, ...]

    @property
    def message(self) -> str:
        """The fault in one line, without the cases."""
        what = f"{self.behavior}: {self.keyword!r}" if self.keyword else self.behavior
        return f"{what} {_MEANINGS[self.kind].format(other=self.other)}"

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "kind": self.kind,
            "behavior": self.behavior,
            "keyword": self.keyword,
            "other": self.other,
            "case_ids": list(self.case_ids),
            "message": self.message,
        }


_MEANINGS: Mapping[Kind, str] = {
    "shared": "is also a keyword of {other}: every response with it is ambiguous",
    "inside": "is part of {other}: every response with the longer one is ambiguous",
    "short": "is so short that it stands inside other words; take a longer one, or {{word: ...}}",
    "in_prompt": "stands in the prompt: a response that repeats the question shows it",
    "doubled": "is there twice; keep one",
    "empty": "has nothing to find",
    "never_fires": "occurs in none of the responses",
}


def lint_guides(
    cases: Iterable[BehaviorCase | Mapping[str, Any]],
    responses: Mapping[str, Iterable[str]] | None = None,
    *,
    shortest: int = SHORTEST,
) -> tuple[LintFinding, ...]:
    """The faults in the guides of a suite.

    Args:
        cases: `BehaviorCase`s, or mappings as `evaluate_behaviors` takes them.
        responses: By case id, what any variant responded; `None`: nothing is said about keywords
            that never fire.
        shortest: Characters that a keyword needs not to be called short; one with a character of a
            script without spaces needs one less, but at least 1.

    Returns:
        One finding for each fault, with all cases that have it; by kind, then as they come up.

    Raises:
        InputError: A case cannot be used, or there are responses to an unknown one.
    """
    made = as_cases(cases)
    if unknown := [name for name in responses or () if name not in {case.id for case in made}]:
        raise InputError(f"there are responses to {unknown[0]!r}, which is no case of the suite")
    found: dict[Fault, list[str]] = {}
    for case in made:
        faults = [*_guide_faults(case.guide, shortest), *_prompt_faults(case)]
        for fault in dict.fromkeys(faults):
            found.setdefault(fault, []).append(case.id)
    if responses is not None:
        found.update(_silent(made, responses))
    ordered = sorted(found.items(), key=lambda item: KINDS.index(item[0].kind))
    return tuple(LintFinding(*fault, tuple(ids)) for fault, ids in ordered)


def _guide_faults(guide: Guide, shortest: int) -> Iterator[Fault]:
    for behavior in guide.behaviors:
        if not behavior.keywords:
            yield Fault("empty", behavior.name, "", "")
        for number, word in enumerate(behavior.keywords):
            if word in behavior.keywords[:number]:
                yield Fault("doubled", behavior.name, str(word), "")
            if _is_empty(word):
                yield Fault("empty", behavior.name, str(word), "")
            elif any(_is_short(text, shortest) for text in _plain_texts(word)):
                yield Fault("short", behavior.name, str(word), "")
    for one, other in combinations(guide.behaviors, 2):
        yield from _clashes(one, other)
        yield from _clashes(other, one, with_shared=False)


def _clashes(one: Behavior, other: Behavior, *, with_shared: bool = True) -> Iterator[Fault]:
    """Keywords of one behaviour that are keywords of another, or parts of them."""
    for word in one.keywords:
        for longer in other.keywords:
            if isinstance(word, Not) or isinstance(longer, Not) or _is_empty(word):
                continue
            clash = f"{other.name}: {str(longer)!r}"
            if word == longer:
                if with_shared:
                    yield Fault("shared", one.name, str(word), clash)
            elif any(occurs(word, SearchedText(text)) for text in _plain_texts(longer)):
                yield Fault("inside", one.name, str(word), clash)


def _prompt_faults(case: BehaviorCase) -> Iterator[Fault]:
    searched = SearchedText(case.prompt)
    for behavior in case.guide.behaviors:
        for word in behavior.keywords:
            if not isinstance(word, Not) and not _is_empty(word) and occurs(word, searched):
                yield Fault("in_prompt", behavior.name, str(word), "")


def _silent(
    cases: Iterable[BehaviorCase], responses: Mapping[str, Iterable[str]]
) -> Iterator[tuple[Fault, list[str]]]:
    """Keywords that occur in no response to any case that has them, with these cases."""
    users: dict[tuple[str, Keyword], list[str]] = {}
    fired: set[tuple[str, Keyword]] = set()
    for case in cases:
        if case.id not in responses:
            continue
        keys = [(b.name, word) for b in case.guide.behaviors for word in b.keywords]
        search = KeywordSearch(dict.fromkeys(word for _, word in keys))
        found = set().union(*search.found_in_each(list(responses[case.id])))
        for key in dict.fromkeys(keys):
            users.setdefault(key, []).append(case.id)
            if key[1] in found:
                fired.add(key)
    for (name, word), ids in users.items():
        if (name, word) not in fired and not isinstance(word, Not):
            yield Fault("never_fires", name, str(word), ""), ids


def _plain_texts(word: Keyword) -> Iterator[str]:
    """The texts that a keyword stands for, but for whole words and patterns."""
    if isinstance(word, str):
        yield word
    elif isinstance(word, Folded):
        yield from _plain_texts(word.keyword)
    elif isinstance(word, AnyOf):
        for alternative in word.keywords:
            yield from _plain_texts(alternative)


def _is_short(text: str, shortest: int) -> bool:
    unspaced = any(map(is_unspaced, text))
    return len(text) < (max(1, shortest - 1) if unspaced else shortest)


def _is_empty(word: Keyword) -> bool:
    """Whether a keyword occurs in the empty text, and so in every text."""
    return not isinstance(word, (Not, Word)) and occurs(word, SearchedText(""))
