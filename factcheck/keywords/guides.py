"""Guides: behaviors told apart by keywords, and the labels they give to responses.

A behavior shows if any of its keywords occurs and no forbidden one does. A response that shows one
behavior gets its label, such as `STRICT_BEHAVIOR`; with several it is `AMBIGUOUS`, with none
`NO_MATCH`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from factcheck.documents import shown
from factcheck.errors import InputError
from factcheck.keywords.forms import SUFFIX, Keyword, Not, as_keywords, found_in, to_data
from factcheck.keywords.nodes import Node

AMBIGUOUS = "AMBIGUOUS"
"""Several behaviors show."""
NO_MATCH = "NO_MATCH"
"""No behavior shows."""


@dataclass(frozen=True, slots=True)
class Behavior:
    """A behavior and the keywords that show it."""

    name: str
    """Such as `strict`."""
    keywords: tuple[Keyword, ...]
    """Any form; a behavior without keywords never shows."""
    label: str = field(init=False, repr=False, compare=False)
    """Label of a response that shows it, such as `STRICT_BEHAVIOR`."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InputError(
                f"the name of a behavior must be a string that is not blank, got {self.name!r}"
            )
        words = as_keywords(self.keywords, f"{self.name}{SUFFIX}")
        label = f"{self.name.strip().upper().replace(' ', '_')}_BEHAVIOR"
        object.__setattr__(self, "keywords", words)
        object.__setattr__(self, "label", label)
        if words and all(isinstance(word, Not) for word in words):
            raise InputError(f"{self.name}{SUFFIX} has forbidden keywords only; add another one")


@dataclass(frozen=True, slots=True)
class Guide:
    """The behaviors that responses are classified by."""

    behaviors: tuple[Behavior, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "behaviors", tuple(self.behaviors))
        if not self.behaviors:
            raise InputError(f"a guide needs behaviors, as <behavior>{SUFFIX}")
        labels = [behavior.label for behavior in self.behaviors]
        if duplicates := [label for label in labels if labels.count(label) > 1]:
            raise InputError(f"two behaviors of a guide have the label {duplicates[0]}; rename one")

    def label_of(self, name: str) -> str:
        """The label for the name of a behavior or for a label; raises `InputError` if unknown."""
        for behavior in self.behaviors:
            if name in {behavior.name, behavior.label}:
                return behavior.label
        if name in {AMBIGUOUS, NO_MATCH}:
            return name
        known = ", ".join(behavior.name for behavior in self.behaviors)
        raise InputError(f"unknown behavior {name!r}; the guide has {known}")

    def label(self, response: str) -> str:
        labels = []
        for behavior in self.behaviors:
            found = found_in(behavior.keywords, response)
            if found and not any(isinstance(word, Not) for word in found):
                labels.append(behavior.label)
        return AMBIGUOUS if len(labels) > 1 else [*labels, NO_MATCH][0]

    def hits(self, response: str) -> dict[str, tuple[str, ...]]:
        """The keywords that occur in a response, in words, by the label of their behavior."""
        hits = {}
        for behavior in self.behaviors:
            if found := found_in(behavior.keywords, response):
                hits[behavior.label] = tuple(str(w) for w in behavior.keywords if w in found)
        return hits

    def to_dict(self) -> dict[str, Any]:
        """The guide as in a file: `<name>_keywords` for each behavior."""
        return {f"{one.name}{SUFFIX}": [*map(to_data, one.keywords)] for one in self.behaviors}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Guide:
        """Inverse of `to_dict`.

        Raises:
            InputError: An unknown key, or invalid keywords.
        """
        return cls.of(Node.plain(data, "guide"))

    @classmethod
    def of(cls, node: Node) -> Guide:
        """The guide in a part of a document; raises `InputError` with its place."""
        node.require_keys(keywords=True)
        behaviors = (Behavior(name, words) for name, words in node.keywords().items())
        return node.made(lambda: cls(tuple(behaviors)))

    def warnings(self) -> list[str]:
        """Valid but probably unintended."""
        empty = (behavior.name for behavior in self.behaviors if not behavior.keywords)
        return [f"{name}{SUFFIX} is empty, so {name} never shows" for name in empty]


GuideLike = Guide | Mapping[str, Any]
"""A guide, or a mapping from `<name>_keywords` to lists of keywords."""


def as_guide(guide: Any) -> Guide:
    if isinstance(guide, Guide):
        return guide
    if not isinstance(guide, Mapping):
        raise InputError(f"a guide must be a mapping with <behavior>{SUFFIX}, got {guide!r:.60}")
    return Guide.from_dict(guide)


def classify_behavior(response: str, guide: GuideLike) -> str:
    """Classify a response by the behavior that it shows.

    Args:
        response: Any text; the empty one shows nothing.
        guide: A guide, or a mapping with `strict_keywords`, `service_keywords` and the like.

    Returns:
        `<NAME>_BEHAVIOR`, `AMBIGUOUS` or `NO_MATCH`.

    Raises:
        InputError: The response is not a string, or the guide is invalid.
    """
    if not isinstance(response, str):
        raise InputError(f"response: expected a string, got {shown(response)}")
    return as_guide(guide).label(response)
