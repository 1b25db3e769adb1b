"""Which of several behaviours a response shows, by the keywords of a guide.

A behaviour shows if any of its keywords occurs, and none that must not. A response that shows one
is labelled with it, such as `STRICT_BEHAVIOR`; with several it is `AMBIGUOUS`, and with none
`NO_MATCH`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from factcheck.errors import InputError
from factcheck.keywords.cards import SUFFIX, field_of
from factcheck.keywords.forms import Keyword, Not, SearchedText, as_keywords, occurs, to_data

AMBIGUOUS = "AMBIGUOUS"
"""Several behaviours show."""
NO_MATCH = "NO_MATCH"
"""No behaviour shows."""


@dataclass(frozen=True, slots=True)
class Behavior:
    """A way to behave, and the keywords that give it away."""

    name: str
    """Such as `strict`."""
    keywords: tuple[Keyword, ...]
    """Any form; a behaviour without keywords never shows."""
    label: str = field(init=False, repr=False, compare=False)
    """What a response that shows it is called, such as `STRICT_BEHAVIOR`."""
    is_plain: bool = field(init=False, repr=False, compare=False)
    """Whether all keywords are plain texts."""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name.strip():
            raise InputError(f"a behaviour has the name {self.name!r}; give it a text")
        words = as_keywords(self.keywords, f"{self.name}{SUFFIX}")
        label = f"{self.name.strip().upper().replace(' ', '_')}_BEHAVIOR"
        object.__setattr__(self, "keywords", words)
        object.__setattr__(self, "label", label)
        object.__setattr__(self, "is_plain", all(isinstance(word, str) for word in words))
        if words and all(isinstance(word, Not) for word in words):
            raise InputError(
                f"{self.name}{SUFFIX} only says what must not occur; add a keyword that does"
            )

    def shows(self, found: AbstractSet[Keyword]) -> bool:
        """Whether it shows, given the keywords that occur."""
        if found.isdisjoint(self.keywords):
            return False
        return self.is_plain or not any(
            isinstance(word, Not) for word in self.keywords if word in found
        )

    def shows_in(self, searched: SearchedText) -> bool:
        """Whether it shows in a text."""
        if self.is_plain:
            return any(map(searched.text.__contains__, self.keywords))  # type: ignore[arg-type]
        return self.shows({word for word in self.keywords if occurs(word, searched)})


@dataclass(frozen=True, slots=True)
class Guide:
    """The behaviours that responses are told apart by."""

    behaviors: tuple[Behavior, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "behaviors", tuple(self.behaviors))
        if not self.behaviors:
            raise InputError(f"a guide has no behaviours; name some, as in strict{SUFFIX}")
        labels = self.labels
        for label in labels:
            if labels.count(label) > 1:
                raise InputError(f"two behaviours of a guide are called {label}; rename one")

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels of the behaviours, in order."""
        return tuple(behavior.label for behavior in self.behaviors)

    def label_of(self, name: str) -> str:
        """The label that a name stands for: that of a behaviour, or a label itself.

        Raises:
            InputError: It is neither.
        """
        for behavior in self.behaviors:
            if name in {behavior.name, behavior.label}:
                return behavior.label
        if name in {AMBIGUOUS, NO_MATCH}:
            return name
        known = ", ".join(behavior.name for behavior in self.behaviors)
        raise InputError(f"{name!r} is no behaviour of the guide, which has {known}")

    def label(self, response: str) -> str:
        """The label of a response."""
        searched = SearchedText(response)
        return label_of_shown([b for b in self.behaviors if b.shows_in(searched)])

    def label_of_found(self, found: AbstractSet[Keyword]) -> str:
        """The label of a response, given the keywords that occur in it."""
        return label_of_shown([b for b in self.behaviors if b.shows(found)])

    def hits(self, response: str) -> dict[str, tuple[Keyword, ...]]:
        """The keywords that occur in a response, by the label of their behaviour, where any do."""
        searched = SearchedText(response)
        found = {
            behavior.label: tuple(word for word in behavior.keywords if occurs(word, searched))
            for behavior in self.behaviors
        }
        return {label: words for label, words in found.items() if words}

    def to_dict(self) -> dict[str, Any]:
        """The guide as it is written in a file: `<name>_keywords` for each behaviour."""
        return {
            f"{behavior.name}{SUFFIX}": [to_data(word) for word in behavior.keywords]
            for behavior in self.behaviors
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Guide:
        """Inverse of `to_dict`.

        Raises:
            InputError: Another key, or keywords that cannot be used.
        """
        behaviors = []
        for key, words in data.items():
            name = field_of(key)
            if name is None:
                raise InputError(f"a guide has {key!r}; its keys are <behaviour>{SUFFIX}")
            behaviors.append(Behavior(name, as_keywords(words, key)))
        return cls(tuple(behaviors))

    def warnings(self) -> list[str]:
        """What is allowed but hardly meant."""
        empty = (behavior.name for behavior in self.behaviors if not behavior.keywords)
        return [f"{name}{SUFFIX} is empty, so that {name} never shows" for name in empty]


GuideLike = Guide | Mapping[str, Any]
"""A guide, or a mapping from `<name>_keywords` to lists of keywords."""


def as_guide(guide: Any) -> Guide:
    """A guide from itself, or from a mapping.

    Raises:
        InputError: It is neither, or cannot be used.
    """
    if isinstance(guide, Guide):
        return guide
    if not isinstance(guide, Mapping):
        raise InputError(
            f"a guide is a mapping with <behaviour>{SUFFIX}, not {type(guide).__name__}"
        )
    return Guide.from_dict(guide)


def label_of_shown(shown: Sequence[Behavior]) -> str:
    """The label of a response, given the behaviours that show in it."""
    if not shown:
        return NO_MATCH
    return shown[0].label if len(shown) == 1 else AMBIGUOUS
