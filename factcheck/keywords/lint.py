"""Linting of guides: faults that would spoil their labels, found before a model is called.

- `shared`: a keyword of two behaviors; a response with it is always ambiguous.
- `inside`: a keyword that is part of one of another behavior; so is a response with the longer.
- `short`: a keyword so short that it occurs inside many words.
- `in_prompt`: a keyword that the prompt contains; a response that repeats the question shows it.
- `duplicate`: a keyword that a behavior has twice.
- `empty`: a behavior without keywords, or a pattern that matches the empty text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Literal

from factcheck.documents import to_plain
from factcheck.keywords.forms import (
    AnyOf,
    Folded,
    Keyword,
    KeywordSearch,
    Not,
    Word,
    is_unspaced,
    occurs,
)
from factcheck.keywords.guides import Behavior, BehaviorCase, Guide, as_cases
from factcheck.reports.page import Case, Item, Page, filled, listed
from factcheck.reports.text import name_text, plural, quote_text

Kind = Literal["shared", "inside", "short", "in_prompt", "duplicate", "empty"]
_SHORTEST = 3
"""Minimum length of a keyword in characters; one less with a character of an unspaced script."""
_KINDS: Mapping[Kind, tuple[str, str]] = {
    "shared": (
        "Shared",
        "is also a keyword of {other}: every response with it is ambiguous",
    ),
    "inside": (
        "Inside another",
        "is part of {other}: every response with the longer one is ambiguous",
    ),
    "short": (
        "Short",
        "is so short that it occurs inside other words; use a longer one, or {{word: ...}}",
    ),
    "in_prompt": (
        "In the prompt",
        "occurs in the prompt: a response that repeats the question shows it",
    ),
    "duplicate": ("Duplicate", "is a duplicate; keep one"),
    "empty": ("Empty", "has nothing to find"),
}
"""Title and message of each kind, in the order of the report."""
_MOST_IDS = 5


@dataclass(frozen=True, slots=True)
class LintFinding:
    """A fault, and the cases that have it."""

    kind: Kind
    behavior: str
    """Name of the behavior with the keyword."""
    keyword: str
    """The keyword in words; empty for a behavior without keywords."""
    other: str = ""
    """The keyword that it clashes with, as `<behavior>: <keyword>`; else empty."""
    case_ids: tuple[str, ...] = ()

    @property
    def message(self) -> str:
        """The fault in one line, without the cases."""
        what = f"{self.behavior}: {self.keyword!r}" if self.keyword else self.behavior
        return f"{what} {_KINDS[self.kind][1].format(other=self.other)}"

    def to_dict(self) -> dict[str, Any]:
        return {**to_plain(self), "message": self.message}


def lint_guides(cases: Iterable[BehaviorCase | Mapping[str, Any]]) -> tuple[LintFinding, ...]:
    """Find faults in the guides of a suite.

    Args:
        cases: `BehaviorCase`s, or mappings as in `evaluate_behaviors`.

    Returns:
        One finding for each fault, with all cases that have it; by kind, then in order of
        appearance.

    Raises:
        InputError: An invalid case.
    """
    suite = as_cases(cases)
    found: dict[LintFinding, list[str]] = {}
    faults_of: dict[Guide, list[LintFinding]] = {}
    for case in suite:
        if case.guide not in faults_of:
            faults_of[case.guide] = list(_guide_faults(case.guide))
        for fault in dict.fromkeys([*faults_of[case.guide], *_prompt_faults(case)]):
            found.setdefault(fault, []).append(case.id)
    ordered = sorted(found.items(), key=lambda item: [*_KINDS].index(item[0].kind))
    return tuple(replace(fault, case_ids=tuple(ids)) for fault, ids in ordered)


def lint_page(findings: Sequence[LintFinding], n_cases: int) -> Page:
    """The report on the guides of so many cases."""
    sections = [
        listed(
            title,
            "warn",
            "",
            [finding for finding in findings if finding.kind == kind],
            lambda one: Item("", quote_text(one.message, 240), (_cases_text(one.case_ids),)),
            "finding",
        )
        for kind, (title, _) in _KINDS.items()
    ]
    return Page(
        "Findings",
        f"{len(findings):,}" if findings else "none",
        f"in the guides of {plural(n_cases, 'case')}",
        sections=filled(*sections),
        suite="keywords.lint",
        cases=tuple(
            Case(finding.message, "failed", _cases_text(finding.case_ids), finding.kind)
            for finding in findings
        ),
        columns=("kind", "behavior", "keyword", "other", "case_ids", "message"),
        rows=lambda: (finding.to_dict() for finding in findings),
    )


def _cases_text(ids: Sequence[str]) -> str:
    shown = ", ".join(map(name_text, ids[:_MOST_IDS]))
    dots = ", …" if len(ids) > _MOST_IDS else ""
    return f"{plural(len(ids), 'case')}: {shown}{dots}"


def _guide_faults(guide: Guide) -> Iterator[LintFinding]:
    for behavior in guide.behaviors:
        if not behavior.keywords:
            yield LintFinding("empty", behavior.name, "")
        for word, count in Counter(behavior.keywords).items():
            if count > 1:
                yield LintFinding("duplicate", behavior.name, str(word))
            if _is_empty(word):
                yield LintFinding("empty", behavior.name, str(word))
            elif any(_is_short(text) for text in _plain_texts(word)):
                yield LintFinding("short", behavior.name, str(word))
    order = {behavior.name: number for number, behavior in enumerate(guide.behaviors)}
    for one, other in permutations(guide.behaviors, 2):
        yield from _clashes(one, other, with_shared=order[one.name] < order[other.name])


def _clashes(one: Behavior, other: Behavior, *, with_shared: bool) -> Iterator[LintFinding]:
    """Keywords of one behavior that are keywords of another, or parts of them."""
    words = [word for word in one.keywords if not isinstance(word, Not) and not _is_empty(word)]
    longer = [word for word in other.keywords if not isinstance(word, Not)]
    texts = [(text, number) for number, word in enumerate(longer) for text in _plain_texts(word)]
    found = KeywordSearch(dict.fromkeys(words)).found_in_each([text for text, _ in texts])
    clashes: dict[Keyword, set[int]] = {word: {n} for n, word in enumerate(longer)}
    for (_, number), inside in zip(texts, found, strict=True):
        for word in inside:
            clashes.setdefault(word, set()).add(number)
    for word in words:
        for number in sorted(clashes.get(word, ())):
            clash = f"{other.name}: {str(longer[number])!r}"
            if word != longer[number]:
                yield LintFinding("inside", one.name, str(word), clash)
            elif with_shared:
                yield LintFinding("shared", one.name, str(word), clash)


def _prompt_faults(case: BehaviorCase) -> Iterator[LintFinding]:
    for behavior in case.guide.behaviors:
        for word in behavior.keywords:
            if not isinstance(word, Not) and not _is_empty(word) and occurs(word, case.prompt):
                yield LintFinding("in_prompt", behavior.name, str(word))


def _plain_texts(word: Keyword) -> Iterator[str]:
    """The texts that a keyword stands for, except whole words and patterns."""
    if isinstance(word, str):
        yield word
    elif isinstance(word, Folded):
        yield from _plain_texts(word.keyword)
    elif isinstance(word, AnyOf):
        for alternative in word.keywords:
            yield from _plain_texts(alternative)


def _is_short(text: str) -> bool:
    return len(text) < _SHORTEST - any(map(is_unspaced, text))


def _is_empty(word: Keyword) -> bool:
    """Whether a keyword occurs in the empty text, and so in every text."""
    return not isinstance(word, (Not, Word)) and occurs(word, "")
