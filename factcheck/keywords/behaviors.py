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
from factcheck.errors import InputError
from factcheck.facts import short_digest
from factcheck.keywords.forms import SUFFIX, Keyword, as_keywords, found_in, is_forbidden
from factcheck.keywords.nodes import Node, require_id, require_unique_ids

AMBIGUOUS = "AMBIGUOUS"
"""Label of a response that shows several behaviors."""
NO_MATCH = "NO_MATCH"
"""Label of a response that shows no behavior."""
LABEL_SUFFIX = "_BEHAVIOR"


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
        found = {name: found_in(words, response) for name, words in self.keywords.items()}
        return {
            self.labels[name]: [word for word in self.keywords[name] if word in hits]
            for name, hits in found.items()
            if hits
        }

    def label(self, response: str) -> str:
        hits = self.hits(response).items()
        labels = [label for label, words in hits if not any(map(is_forbidden, words))]
        return AMBIGUOUS if len(labels) > 1 else [*labels, NO_MATCH][0]


def as_guide(guide: Any) -> Guide:
    if isinstance(guide, Guide):
        return guide
    if not isinstance(guide, Mapping):
        raise InputError(f"a guide must be a mapping with <behavior>{SUFFIX}, got {guide!r:.60}")
    return _guide(Node.plain(guide, "guide"))


def _guide(node: Node) -> Guide:
    node.require_keys(keywords=True)
    keywords = node.keywords()
    return node.build(lambda: Guide(keywords))


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
    return as_guide(guide).label(response)


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
        guide = as_guide(self.guide)
        try:
            labels = {name: guide.label_of(label) for name, label in self.expected.items()}
        except InputError as error:
            raise InputError(f"case {self.id!r}: expected: {error}") from error
        object.__setattr__(self, "guide", guide)
        object.__setattr__(self, "expected", labels or dict(guide.labels))

    @property
    def digest(self) -> str:
        """Digest of guide and expectations: 8 hexadecimal digits."""
        return short_digest(repr((self.guide, self.expected)))


def _case(node: Node, number: int) -> BehaviorCase:
    node.require_keys("id", "instruction", "input", "output", "evaluation_guide", "expected")
    instruction = node.member("instruction").text()
    guide = _guide(node.member("evaluation_guide"))
    by_variant, name = node.member("expected", None), node.member("id", None)
    variants = () if by_variant.value is None else by_variant.mapping()
    expected = {variant: by_variant.member(variant).text() for variant in variants}
    id_ = str(number) if name.value is None else name.id()
    texts = (node.member("input", "").text(), node.member("output", "").text())
    return node.build(lambda: BehaviorCase(id_, instruction, guide, *texts, expected))


def as_cases(cases: Any, expected: Mapping[str, str] | None = None) -> tuple[BehaviorCase, ...]:
    """Convert mappings to cases; raises `InputError` if there are none or one is invalid."""
    if isinstance(cases, (str, bytes, Mapping)) or not isinstance(cases, Iterable):
        raise InputError(f"expected a list of cases, got {type(cases).__name__}")
    suite = []
    for number, case in enumerate(cases, 1):
        is_data = isinstance(case, Mapping)
        suite.append(_case(Node.plain(case, f"case {number}"), number) if is_data else case)
        if not isinstance(suite[-1], BehaviorCase):
            kind = type(case).__name__
            raise InputError(f"case {number}: expected a BehaviorCase or a mapping, got {kind}")
    if not suite:
        raise InputError("the suite has no cases")
    require_unique_ids([case.id for case in suite])
    return tuple(suite if expected is None else (replace(c, expected=expected) for c in suite))


def case_warnings(cases: Iterable[BehaviorCase]) -> tuple[str, ...]:
    """Warn about valid but probably unintended parts of guides: empty lists of keywords."""
    return tuple(
        f"case {case.id!r}: {name}{SUFFIX} is empty, so {name} never shows"
        for case in cases
        for name, words in case.guide.keywords.items()
        if not words
    )


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
            duplicate id; names the file and line.
    """
    node = Node.read(path)
    if not isinstance(node.value, list):
        node.require_keys("name", "version", "cases")
        node = node.member("cases")
    nodes = node.cases("suite")
    cases = tuple(_case(one, number) for number, one in enumerate(nodes, 1))
    require_unique_ids([case.id for case in cases], nodes)
    return cases


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
    node = Node.read(path)
    if isinstance(node.value, dict):
        return dict(node.value)
    responses: dict[str, dict[str, Any]] = {}
    for id_, variant, response in node.rows("id", "variant", "response"):
        by_case = responses.setdefault(variant.text(), {})
        name = id_.id()
        if name in by_case:
            where = f"of variant {variant.value!r} to case {name!r}"
            raise id_.error(f"duplicate response {where}")
        by_case[name] = response.value
    return responses
