"""Guides, which distinguish behaviors by keywords, and suites of cases with guides.

A response shows a behavior if it contains any of its keywords and none of its forbidden ones. The
label of a response is that of its only behavior, such as `STRICT_BEHAVIOR`, or else `AMBIGUOUS` for
several and `NO_MATCH` for none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from factcheck.documents import PathOrDash, shown
from factcheck.documents.reading import read_document
from factcheck.errors import InputError
from factcheck.facts import short_digest
from factcheck.keywords.cards import (
    add_unique,
    as_id,
    as_list,
    read_cases,
    require_id,
    require_keys,
)
from factcheck.keywords.forms import SUFFIX, Keyword, as_keywords, field_of, found_in, is_forbidden

AMBIGUOUS = "AMBIGUOUS"
"""Label of a response that shows several behaviors."""
NO_MATCH = "NO_MATCH"
"""Label of a response that shows no behavior."""
LABEL_SUFFIX = "_BEHAVIOR"
_TEXTS = ("instruction", "input", "output")


@dataclass(frozen=True, slots=True)
class Guide:
    """Behaviors and their keywords, for classifying responses."""

    keywords: Mapping[str, tuple[Keyword, ...]]
    """Keywords by behavior, such as `strict`; a behavior without keywords is never shown."""
    labels: Mapping[str, str] = field(init=False, repr=False, compare=False)
    """Labels by behavior, such as `STRICT_BEHAVIOR`."""

    def __post_init__(self) -> None:
        if not self.keywords:
            raise InputError(f"a guide needs behaviors, as <behavior>{SUFFIX}")
        found: dict[str, tuple[Keyword, ...]] = {}
        labels: dict[str, str] = {}
        for name, data in self.keywords.items():
            if not isinstance(name, str) or not name.strip():
                raise InputError(
                    f"the name of a behavior must be a string that is not blank, got {name!r}"
                )
            words = as_keywords(data, f"{name}{SUFFIX}")
            if words and all(map(is_forbidden, words)):
                raise InputError(f"{name}{SUFFIX} has forbidden keywords only; add another one")
            label = f"{name.strip().upper().replace(' ', '_')}{LABEL_SUFFIX}"
            if label in labels.values():
                raise InputError(f"two behaviors of a guide have the label {label}; rename one")
            found[name], labels[name] = words, label
        object.__setattr__(self, "keywords", found)
        object.__setattr__(self, "labels", labels)

    @classmethod
    def of(cls, data: Any) -> Guide:
        """Convert a mapping from `<behavior>_keywords` to lists of keywords."""
        if isinstance(data, Guide):
            return data
        if not isinstance(data, Mapping):
            raise InputError(
                f"a guide must be a mapping with <behavior>{SUFFIX}, got {shown(data)}"
            )
        if unknown := [key for key in data if not field_of(key)]:
            raise InputError(f"a guide: unknown key {unknown[0]!r}; use <behavior>{SUFFIX}")
        return cls({key.removesuffix(SUFFIX): words for key, words in data.items()})

    def label_of(self, name: str) -> str:
        """Resolve the name of a behavior, or a label; raises `InputError` if unknown."""
        if name in {AMBIGUOUS, NO_MATCH, *self.labels.values()}:
            return name
        if name not in self.labels:
            known = ", ".join(self.labels)
            raise InputError(f"unknown behavior {name!r}; the guide has {known}")
        return self.labels[name]

    def hits(self, response: str) -> dict[str, list[Keyword]]:
        """Find the keywords, including forbidden ones, that occur in a response, by label."""
        found = {}
        for name, words in self.keywords.items():
            hits = found_in(words, response)
            if hits:
                found[self.labels[name]] = [word for word in words if word in hits]
        return found

    def label(self, response: str) -> str:
        hits = self.hits(response).items()
        labels = [label for label, words in hits if not any(map(is_forbidden, words))]
        if len(labels) > 1:
            return AMBIGUOUS
        return [*labels, NO_MATCH][0]


def classify_behavior(response: str, guide: Guide | Mapping[str, Any]) -> str:
    """Classify a response by the behavior that it shows.

    Args:
        response: Any text; an empty one shows no behavior.
        guide: A guide, or a mapping with keys such as `strict_keywords` and `service_keywords`.

    Returns:
        `<NAME>_BEHAVIOR`, `AMBIGUOUS` or `NO_MATCH`.

    Raises:
        InputError: The response is not a string, or the guide is invalid.
    """
    if not isinstance(response, str):
        raise InputError(f"response: expected a string, got {shown(response)}")
    return Guide.of(guide).label(response)


def evaluate_conflict_behavior(response: str, evaluation_guide: Guide | Mapping[str, Any]) -> str:
    """Do as `classify_behavior`."""
    return classify_behavior(response, evaluation_guide)


@dataclass(frozen=True, slots=True)
class BehaviorCase:
    """A prompt, and the guide for classifying responses to it."""

    id: str
    """Unique within its suite."""
    instruction: str
    guide: Guide
    input: str = ""
    output: str = ""
    """A reference response; informational."""
    expected: Mapping[str, str] = field(default_factory=dict)
    """Expected label by variant; names of behaviors are accepted. If empty, each behavior of the
    guide is a variant that is expected to show it."""

    def __post_init__(self) -> None:
        require_id(self.id)
        for name in _TEXTS:
            if not isinstance(value := getattr(self, name), str):
                raise InputError(f"{name!r}: expected a string, got {shown(value)}")
        if not isinstance(self.expected, Mapping):
            raise InputError(f"'expected': expected an object, got {shown(self.expected)}")
        guide = Guide.of(self.guide)
        try:
            labels = {name: guide.label_of(label) for name, label in self.expected.items()}
        except InputError as error:
            raise InputError(f"case {self.id!r}: expected: {error}") from error
        object.__setattr__(self, "guide", guide)
        object.__setattr__(self, "expected", labels or dict(guide.labels))

    @classmethod
    def of(cls, data: Any, number: int) -> BehaviorCase:
        """Convert a mapping; without an `id`, it gets its number."""
        if isinstance(data, BehaviorCase):
            return data
        keys = ("id", *_TEXTS, "evaluation_guide", "expected")
        require_keys(data, *keys, required=("instruction", "evaluation_guide"))
        id_, expected = data.get("id"), data.get("expected")
        return cls(
            str(number) if id_ is None else as_id(id_),
            data["instruction"],
            data["evaluation_guide"],
            data.get("input", ""),
            data.get("output", ""),
            {} if expected is None else expected,
        )

    @property
    def digest(self) -> str:
        """Digest of guide and expectations: 8 hexadecimal digits."""
        return short_digest(repr((self.guide, self.expected)))

    @property
    def warnings(self) -> list[str]:
        """Descriptions of valid but probably unintended parts: empty lists of keywords."""
        return [
            f"case {self.id!r}: {name}{SUFFIX} is empty, so {name} never shows"
            for name, words in self.guide.keywords.items()
            if not words
        ]


def as_cases(cases: Any, expected: Mapping[str, str] | None = None) -> tuple[BehaviorCase, ...]:
    """Convert mappings to cases; raises `InputError` if there are none or one is invalid."""
    if isinstance(cases, (str, bytes, Mapping)) or not isinstance(cases, Iterable):
        raise InputError(f"expected a list of cases, got {type(cases).__name__}")
    suite: dict[str, BehaviorCase] = {}
    for number, data in enumerate(cases, 1):
        try:
            case = BehaviorCase.of(data, number)
        except InputError as error:
            raise InputError(f"case {number}: {error}") from error
        add_unique(suite, case.id, case if expected is None else replace(case, expected=expected))
    if not suite:
        raise InputError("the suite has no cases")
    return tuple(suite.values())


def load_cases(path: PathOrDash) -> tuple[BehaviorCase, ...]:
    """Load the cases of a suite of behaviors.

    Args:
        path: `.json`, `.jsonl`, `.yaml` or `.yml`: a list of cases, or an object with `cases` and
            optionally `name` and `version`. A case has `instruction` and `evaluation_guide`, with
            lists of keywords, `<behavior>_keywords`; and optionally `id` (default: its position,
            from 1), `input`, `output` and `expected`: the expected behavior by variant (default:
            each behavior is a variant that is expected to show it).

    Raises:
        InputError: The file cannot be read, or has an unknown key, an invalid keyword or a
            duplicate id; names the file and the line of the case.
    """
    document = read_document(path)
    if isinstance(document.value, list):
        return tuple(read_cases(document, document.value, (), BehaviorCase.of))
    with document.at(()):
        require_keys(document.value, "name", "version", "cases", required=("cases",))
    return tuple(read_cases(document, document.value["cases"], ("cases",), BehaviorCase.of))


def load_responses(path: PathOrDash) -> dict[str, Any]:
    """Load responses, for `evaluate_behaviors`.

    Args:
        path: `.json` or `.yaml`: a mapping from variant to a list of responses, or to a mapping
            from case id to response; or a list (in `.jsonl`, one per line) of objects with `id`,
            `variant` and `response`. A response that is not a string makes its case errored.

    Raises:
        InputError: The file cannot be read, has an unexpected structure, or has two responses of
            one variant to one case; names the file and line.
    """
    document = read_document(path)
    if isinstance(document.value, dict):
        return dict(document.value)
    keys = ("id", "variant", "response")
    responses: dict[str, dict[str, Any]] = {}
    with document.at(()):
        rows = as_list(document.value)
    for place, row in enumerate(rows):
        with document.at((place,)):
            require_keys(row, *keys, required=keys)
            by_case = responses.setdefault(as_id(row["variant"]), {})
            add_unique(by_case, as_id(row["id"]), row["response"])
    return responses
