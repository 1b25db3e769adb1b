"""Guides, which tell behaviors apart by keywords, and suites of cases with a guide.

A behavior shows if any of its keywords occurs and no forbidden one does. A response that shows one
behavior gets its label, such as `STRICT_BEHAVIOR`; with several it is `AMBIGUOUS`, with none
`NO_MATCH`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from factcheck.documents import PathOrDash, shown
from factcheck.documents.reading import read_document
from factcheck.errors import InputError
from factcheck.facts import short_digest
from factcheck.keywords.cards import require_id
from factcheck.keywords.forms import SUFFIX, Keyword, Not, as_keywords, found_in, to_data
from factcheck.keywords.nodes import Node, require_unique_ids

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


@dataclass(frozen=True, slots=True)
class BehaviorCase:
    """A prompt, and how responses to it are classified."""

    id: str
    """Unique within its suite."""
    instruction: str
    guide: Guide
    input: str = ""
    output: str = ""
    """A reference response; for readers only."""
    expected: Mapping[str, str] = field(default_factory=dict)
    """By variant, the label that it should show. May be given as names of behaviors; empty: each
    behavior of the guide is a variant that should show it."""

    def __post_init__(self) -> None:
        require_id(self.id)
        guide = as_guide(self.guide)
        named = self.expected or {behavior.name: behavior.label for behavior in guide.behaviors}
        try:
            labels = {variant: guide.label_of(name) for variant, name in named.items()}
        except InputError as error:
            raise InputError(f"case {self.id!r}: expected: {error}") from error
        object.__setattr__(self, "guide", guide)
        object.__setattr__(self, "expected", labels)

    @property
    def prompt(self) -> str:
        """Instruction and input, as one text."""
        return f"{self.instruction}\n{self.input}" if self.input else self.instruction

    @property
    def digest(self) -> str:
        """Digest of guide and expectations: 8 hexadecimal digits."""
        data = [self.guide.to_dict(), dict(self.expected)]
        return short_digest(json.dumps(data, ensure_ascii=False))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], number: int = 1) -> BehaviorCase:
        """A case from `instruction`, `input`, `output`, `evaluation_guide`, `id` and `expected`.

        Args:
            data: All but the instruction and the guide are optional.
            number: Position of the case, from 1: its default id.

        Raises:
            InputError: Invalid; names the key.
        """
        return _case(Node.plain(dict(data), f"case {number}"), number)


def _case(node: Node, number: int) -> BehaviorCase:
    node.require_keys("id", "instruction", "input", "output", "evaluation_guide", "expected")
    instruction = node.text("instruction")
    guide = Guide.of(node.member("evaluation_guide"))
    expected: dict[str, str] = {}
    if node.has("expected"):
        own = node.member("expected")
        own.require_keys(*own.value)
        expected = {variant: own.text(variant) for variant in own.value}
    name = node.id(str(number))
    texts = (node.text("input", ""), node.text("output", ""))
    return node.made(lambda: BehaviorCase(name, instruction, guide, *texts, expected))


def as_cases(cases: Any, expected: Mapping[str, str] | None = None) -> tuple[BehaviorCase, ...]:
    """Cases from `BehaviorCase`s and mappings; raises `InputError` for none or an invalid one."""
    if isinstance(cases, (str, bytes, Mapping)) or not isinstance(cases, Iterable):
        raise InputError(f"expected a list of cases, got {type(cases).__name__}")
    suite = []
    for number, case in enumerate(cases, 1):
        made = BehaviorCase.from_dict(case, number) if isinstance(case, Mapping) else case
        if not isinstance(made, BehaviorCase):
            kind = type(case).__name__
            raise InputError(f"case {number}: expected a BehaviorCase or a mapping, got {kind}")
        suite.append(made)
    if not suite:
        raise InputError("the suite has no cases")
    require_unique_ids([case.id for case in suite])
    return tuple(suite if expected is None else (replace(c, expected=expected) for c in suite))


def case_warnings(cases: Iterable[BehaviorCase]) -> tuple[str, ...]:
    """Valid but probably unintended parts of guides, such as an empty list of keywords."""
    return tuple(
        f"case {case.id!r}: {warning}" for case in cases for warning in case.guide.warnings()
    )


def load_cases(path: PathOrDash) -> tuple[BehaviorCase, ...]:
    """Load the cases of a suite of behaviors.

    Args:
        path: `.json`, `.jsonl`, `.yaml` or `.yml`: a list of cases, or an object with `cases` and
            optionally `name` and `version`. A case has `instruction` and `evaluation_guide`, with
            lists of keywords, `<behavior>_keywords`; and optionally `id` (default: its position,
            from 1), `input`, `output` and `expected`: the behavior expected of each variant
            (default: each behavior is a variant that should show it).

    Raises:
        InputError: Not readable, an unknown key, an invalid keyword or a duplicate id; names the
            file and line.
    """
    node = Node.of(read_document(path))
    if not isinstance(node.value, list):
        node.require_keys("name", "version", "cases")
        node = node.member("cases")
    nodes = node.items()
    if not nodes:
        raise node.error("the suite has no cases")
    cases = tuple(_case(one, number) for number, one in enumerate(nodes, 1))
    require_unique_ids([case.id for case in cases], nodes)
    return cases


def load_responses(path: PathOrDash) -> dict[str, Any]:
    """Load responses, for `evaluate_behaviors`.

    Args:
        path: `.json` or `.yaml`: a mapping from variant to a list of responses, or to a mapping
            from case id to response. Or a list (in `.jsonl`, one a line) of objects with `id`,
            `variant` and `response`.

    Raises:
        InputError: Not readable, another shape, or two responses of one variant to one case; names
            the file and line.
    """
    node = Node.of(read_document(path))
    if isinstance(node.value, dict):
        for name in node.value:
            _check_members(node.member(name))
        return dict(node.value)
    responses: dict[str, dict[str, str | None]] = {}
    for row in node.items():
        row.require_keys("id", "variant", "response")
        name, variant = row.id(), row.text("variant")
        own = responses.setdefault(variant, {})
        if name in own:
            raise row.error(f"duplicate response of variant {variant!r} to case {name!r}")
        has_response = row.has("response") or "response" not in row.value
        own[name] = row.text("response") if has_response else None
    return responses


def _check_members(node: Node) -> None:
    if not isinstance(node.value, (list, dict)):
        raise node.error(f"expected a list or mapping of responses, got {shown(node.value)}")
    keys = node.value if isinstance(node.value, dict) else range(len(node.value))
    for response in map(node.member, keys):
        if response.value is not None and not isinstance(response.value, str):
            raise response.error(f"expected a string, got {shown(response.value)}; quote it")
