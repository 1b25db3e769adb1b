"""Suites of behaviors: cases, and the evaluation of responses by variants of a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from factcheck.errors import Failure, InputError
from factcheck.facts import short_digest
from factcheck.keywords.behavior_runs import BehaviorRun
from factcheck.keywords.calling import Call, call_each, check_concurrency
from factcheck.keywords.cards import require_id, require_unique
from factcheck.keywords.guides import Behavior, Guide, as_guide, classify_behaviors
from factcheck.keywords.nodes import Node
from factcheck.keywords.outcomes import BehaviorCaseResult, Outcome
from factcheck.runtime.loop import background

_MISSING: Failure[str] = Failure("", "input", "there is no response")


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
        return cls.from_node(Node.plain(dict(data), f"case {number}"), number)

    @classmethod
    def from_node(cls, node: Node, number: int) -> BehaviorCase:
        """The same from a part of a document; errors name the line."""
        node.require_keys("id", "instruction", "input", "output", "evaluation_guide", "expected")
        instruction = node.text("instruction")
        if "evaluation_guide" not in node.value:
            raise node.error("'evaluation_guide' is missing")
        keywords = node.member("evaluation_guide")
        keywords.require_keys(keywords=True)
        behaviors = keywords.keywords()
        expected: dict[str, str] = {}
        if node.has("expected"):
            own = node.member("expected")
            own.require_keys(*own.value)
            expected = {variant: own.text(variant) for variant in own.value}
        name = node.id(str(number))
        texts = (node.text("input", ""), node.text("output", ""))
        try:
            guide = Guide(tuple(Behavior(behavior, words) for behavior, words in behaviors.items()))
            return cls(name, instruction, guide, *texts, expected)
        except InputError as error:
            raise node.document.error(node.path, str(error)) from error

    def to_dict(self) -> dict[str, Any]:
        """The case as in a file."""
        return {
            "id": self.id,
            "instruction": self.instruction,
            "input": self.input,
            "output": self.output,
            "evaluation_guide": self.guide.to_dict(),
            "expected": dict(self.expected),
        }


Cases = Iterable[BehaviorCase | Mapping[str, Any]]
"""`BehaviorCase`s, or mappings with `instruction`, `input`, `output`, `evaluation_guide`, and
optionally `id` and `expected`."""
Responses = Callable[[BehaviorCase, str], Any] | Mapping[str, Any] | Sequence[Any]
"""Responses of the variants, or functions that make them; see `evaluate_behaviors`."""


def evaluate_behaviors(
    cases: Cases,
    responses: Responses,
    *,
    expected: Mapping[str, str] | None = None,
    concurrency: int = 8,
    progress: bool = False,
) -> BehaviorRun:
    """Check for each case whether every variant shows the behavior expected of it.

    A case passes if all of them do. One with a response that is missing, not a string, or failed is
    errored: it neither passes nor fails, and the others are evaluated as usual.

    Args:
        cases: `BehaviorCase`s, or mappings with `instruction`, `input`, `output`,
            `evaluation_guide`, and optionally `id` and `expected`.
        responses: A callable, asynchronous or not, that takes a case and the name of a variant; or
            a mapping from variant to its responses: a list in the order of the cases, a mapping
            from case id, or a callable that takes a case. Or transposed: a list with a mapping from
            variant to response for each case, or a mapping from case id to such mappings.
        expected: The expected behavior of each variant in every case, by name or label; default: as
            the cases say.
        concurrency: Maximum number of concurrent calls.
        progress: Whether to show a progress bar for the calls.

    Raises:
        InputError: An invalid case, or responses that are invalid as a whole: of another type, or
            for unknown variants or cases.
    """
    check_concurrency(concurrency)
    suite = as_cases(cases, expected)
    work = _responses(suite, responses, concurrency=concurrency, progress=progress)
    return _run(suite, background.run(work))


async def aevaluate_behaviors(
    cases: Cases,
    responses: Responses,
    *,
    expected: Mapping[str, str] | None = None,
    concurrency: int = 8,
    progress: bool = False,
) -> BehaviorRun:
    """Asynchronous form of `evaluate_behaviors`; asynchronous callables run in this event loop."""
    check_concurrency(concurrency)
    suite = as_cases(cases, expected)
    work = _responses(suite, responses, concurrency=concurrency, progress=progress)
    return _run(suite, await work)


def as_cases(cases: Any, expected: Mapping[str, str] | None = None) -> tuple[BehaviorCase, ...]:
    """Cases from `BehaviorCase`s and mappings; raises `InputError` for none or an invalid one."""
    if isinstance(cases, (str, bytes, Mapping)) or not isinstance(cases, Iterable):
        raise InputError(f"expected a list of cases, got {type(cases).__name__}")
    suite = []
    for number, case in enumerate(cases, 1):
        if isinstance(case, Mapping):
            suite.append(BehaviorCase.from_dict(case, number))
        elif isinstance(case, BehaviorCase):
            suite.append(case)
        else:
            kind = type(case).__name__
            raise InputError(f"case {number}: expected a BehaviorCase or a mapping, got {kind}")
    if not suite:
        raise InputError("the suite has no cases")
    require_unique(case.id for case in suite)
    return tuple(suite if expected is None else (replace(c, expected=expected) for c in suite))


def case_warnings(cases: Iterable[BehaviorCase]) -> tuple[str, ...]:
    """Valid but probably unintended parts of guides, such as an empty list of keywords."""
    return tuple(
        f"case {case.id!r}: {warning}" for case in cases for warning in case.guide.warnings()
    )


async def _responses(
    cases: Sequence[BehaviorCase], responses: Any, *, concurrency: int, progress: bool
) -> list[dict[str, Any]]:
    """For each case, by variant: a response, or a `Failure`."""
    given: list[dict[str, Any]] = [dict.fromkeys(case.expected, _MISSING) for case in cases]
    variants = dict.fromkeys(variant for case in cases for variant in case.expected)
    if callable(responses):
        sources: dict[str, Any] = dict.fromkeys(variants, responses)
    else:
        sources = _by_variant([case.id for case in cases], [*variants], responses)
    calls = []
    places = []
    for case, own in zip(cases, given, strict=True):
        for variant in own:
            source = sources.get(variant, {})
            if callable(source):
                arguments = (case, variant) if source is responses else (case,)
                calls.append(Call(source, arguments))
                places.append((own, variant))
            elif source.get(case.id) is not None:
                own[variant] = source[case.id]
    results = await call_each(calls, concurrency=concurrency, progress=progress)
    for (own, variant), result in zip(places, results, strict=True):
        own[variant] = result
    return given


def _by_variant(ids: Sequence[str], variants: Sequence[str], responses: Any) -> dict[str, Any]:
    """For each variant a mapping from case id to response, or a callable."""
    known = ", ".join(map(repr, variants))
    if isinstance(responses, Mapping):
        unknown = [name for name in responses if name not in variants]
        if not unknown:
            return {v: _by_case(ids, own, f"variant {v!r}") for v, own in responses.items()}
        if neither := [name for name in unknown if name not in ids]:
            raise InputError(
                f"responses: {neither[0]!r} is neither a variant ({known}) nor the id of a case"
            )
    transposed: dict[str, dict[str, Any]] = {}
    for name, own in _by_case(ids, responses, "responses").items():
        if not isinstance(own, Mapping):
            raise InputError(
                f"responses to case {name!r}: expected a mapping from variant ({known}) to "
                f"response, got {type(own).__name__}"
            )
        for variant, response in own.items():
            if variant not in variants:
                raise InputError(
                    f"responses to case {name!r}: unknown variant {variant!r}; variants are {known}"
                )
            transposed.setdefault(variant, {})[name] = response
    return transposed


def _by_case(ids: Sequence[str], responses: Any, what: str) -> Any:
    """A mapping from case id, or a callable."""
    if callable(responses):
        return responses
    if isinstance(responses, Mapping):
        known = set(ids)
        if unknown := [name for name in responses if name not in known]:
            raise InputError(f"{what}: unknown case {unknown[0]!r}")
        return responses
    if isinstance(responses, (str, bytes)) or not isinstance(responses, Sequence):
        raise InputError(
            f"{what}: expected a list, a mapping or a callable, got {type(responses).__name__}"
        )
    if len(responses) != len(ids):
        raise InputError(f"{what}: {len(responses)} entries for {len(ids)} cases")
    return dict(zip(ids, responses, strict=True))


def _run(cases: Sequence[BehaviorCase], given: Sequence[Mapping[str, Any]]) -> BehaviorRun:
    labels = _labels(cases, given)
    results = []
    for case, own in zip(cases, given, strict=True):
        outcomes = [
            _outcome(case, variant, response, labels.get((case.id, variant)))
            for variant, response in own.items()
        ]
        results.append(BehaviorCaseResult(case.id, tuple(outcomes)))
    digests = {case.id: case.digest for case in cases}
    return BehaviorRun(tuple(results), digests, case_warnings(cases))


def _labels(
    cases: Sequence[BehaviorCase], given: Sequence[Mapping[str, Any]]
) -> dict[tuple[str, str], str]:
    """The label of each response that is a string, by case and variant; one pass for each guide."""
    by_guide: dict[Guide, dict[tuple[str, str], str]] = {}
    for case, own in zip(cases, given, strict=True):
        responses = by_guide.setdefault(case.guide, {})
        for variant, response in own.items():
            if isinstance(response, str):
                responses[case.id, variant] = response
    labels: dict[tuple[str, str], str] = {}
    for guide, responses in by_guide.items():
        labels |= zip(responses, classify_behaviors(responses.values(), guide), strict=True)
    return labels


def _outcome(case: BehaviorCase, variant: str, response: Any, label: str | None) -> Outcome:
    expected = case.expected[variant]
    if label is not None:
        hits = {} if label == expected else case.guide.hits(response)
        return Outcome(variant, expected, label, response, hits)
    if not isinstance(response, Failure):
        message = f"expected a string as response, got {type(response).__name__}"
        response = Failure("", "input", message)
    return Outcome(variant, expected, None, code=response.code, message=response.message)
