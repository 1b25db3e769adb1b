"""Whether variants of a model behave as they are to, over a suite of cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from factcheck.errors import InputError
from factcheck.keywords.behaviors import classify_behaviors
from factcheck.keywords.calling import CallFailure, Calling, answers
from factcheck.keywords.guides import Guide
from factcheck.keywords.suite_model import BehaviorCase, as_cases, case_warnings
from factcheck.keywords.suite_results import BehaviorCaseResult, BehaviorRun, Outcome
from factcheck.runtime.loop import background

Responses = Callable[[BehaviorCase, str], Any] | Mapping[str, Any] | Sequence[Any]
"""What the variants respond: given, or asked for; see `evaluate_behaviors`."""
_NOTHING = CallFailure("input", "there is no response")


def evaluate_behaviors(
    cases: Iterable[BehaviorCase | Mapping[str, Any]],
    responses: Responses,
    *,
    expected: Mapping[str, str] | None = None,
    concurrency: int = 8,
    progress: bool = False,
) -> BehaviorRun:
    """Say for each case whether every variant shows the behaviour expected of it.

    A case passes if all of them do. One in which a response is missing, is no text, or could not be
    had is errored: it neither passes nor fails, and the others are judged as usual.

    Args:
        cases: `BehaviorCase`s, or mappings with `instruction`, `input`, `output`,
            `evaluation_guide`, and perhaps `id` and `expected`.
        responses: A callable, asynchronous or not, that is given a case and the name of a variant;
            or a mapping from variant to its responses: a list in the order of the cases, a mapping
            from case id, or a callable that is given a case. Or the other way round: a list with a
            mapping from variant to response for each case, or a mapping from case id to such.
        expected: The behaviour that each variant is to show in every case, by name or label;
            without, what the cases say.
        concurrency: Calls of a callable under way at most.
        progress: Whether to show how many calls are done.

    Raises:
        InputError: A case cannot be used, or the responses as a whole: they are of another type,
            or of variants or cases that are not there.
    """
    calling = Calling(concurrency, progress).checked()
    made = as_cases(cases, expected)
    return _run(made, background.run(_responses(made, responses, calling)))


async def aevaluate_behaviors(
    cases: Iterable[BehaviorCase | Mapping[str, Any]],
    responses: Responses,
    *,
    expected: Mapping[str, str] | None = None,
    concurrency: int = 8,
    progress: bool = False,
) -> BehaviorRun:
    """`evaluate_behaviors`, with asynchronous callables running in this event loop."""
    calling = Calling(concurrency, progress).checked()
    made = as_cases(cases, expected)
    return _run(made, await _responses(made, responses, calling))


async def _responses(
    cases: Sequence[BehaviorCase], responses: Any, calling: Calling
) -> list[dict[str, Any]]:
    """For each case, by variant: a response, or a `CallFailure`."""
    given: list[dict[str, Any]] = [dict.fromkeys(case.expected, _NOTHING) for case in cases]
    if callable(responses):
        await _ask(responses, cases, given, [*_variants(cases)], calling, with_variant=True)
        return given
    for variant, own in _by_variant(cases, responses).items():
        if callable(own):
            await _ask(own, cases, given, [variant], calling, with_variant=False)
            continue
        for case, mine in zip(cases, given, strict=True):
            if variant in mine and own.get(case.id) is not None:
                mine[variant] = own[case.id]
    return given


async def _ask(
    function: Callable[..., Any],
    cases: Sequence[BehaviorCase],
    given: Sequence[dict[str, Any]],
    variants: Sequence[str],
    calling: Calling,
    *,
    with_variant: bool,
) -> None:
    places = [
        (case, mine, variant)
        for case, mine in zip(cases, given, strict=True)
        for variant in variants
        if variant in mine
    ]
    questions = [(case, variant) if with_variant else (case,) for case, _, variant in places]
    answered = await answers(function, questions, calling)
    for (_, mine, variant), answer in zip(places, answered, strict=True):
        mine[variant] = answer


def _variants(cases: Iterable[BehaviorCase]) -> dict[str, None]:
    return {variant: None for case in cases for variant in case.expected}


def _by_variant(cases: Sequence[BehaviorCase], responses: Any) -> dict[str, Any]:
    """For each variant a mapping from case id to response, or a callable.

    Raises:
        InputError: The responses have another shape, or are of unknown variants or cases.
    """
    variants = _variants(cases)
    ids = [case.id for case in cases]
    if isinstance(responses, Mapping) and variants.keys() >= responses.keys():
        return {v: _by_case(ids, own, f"variant {v!r}") for v, own in responses.items()}
    turned: dict[str, dict[str, Any]] = {}
    by_case = _by_case(ids, responses, "responses")
    for name, own in by_case.items():
        if not isinstance(own, Mapping):
            known = ", ".join(map(repr, variants))
            raise InputError(
                f"responses to case {name!r}: expected a mapping from variant ({known}) to "
                f"response, not {type(own).__name__}"
            )
        for variant, response in own.items():
            turned.setdefault(variant, {})[name] = response
    if unknown := [variant for variant in turned if variant not in variants]:
        raise InputError(
            f"there is a response of the variant {unknown[0]!r}, of which nothing is expected; "
            f"variants are {', '.join(map(repr, variants))}"
        )
    return turned


def _by_case(ids: Sequence[str], responses: Any, what: str) -> Any:
    """A mapping from case id, or a callable."""
    if callable(responses):
        return responses
    if isinstance(responses, Mapping):
        known = set(ids)
        if unknown := [name for name in responses if name not in known]:
            raise InputError(f"{what}: {unknown[0]!r} is no case and no variant of the suite")
        return responses
    if isinstance(responses, (str, bytes)) or not isinstance(responses, Sequence):
        raise InputError(
            f"{what}: expected a list, a mapping or a callable, not {type(responses).__name__}"
        )
    if len(responses) != len(ids):
        raise InputError(f"{what}: there are {len(responses)} entries for {len(ids)} cases")
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
    """The label of each response that is a text, by case and variant; equal guides at once."""
    by_guide: dict[Guide, list[tuple[str, str, str]]] = {}
    for case, own in zip(cases, given, strict=True):
        entries = by_guide.setdefault(case.guide, [])
        for variant, response in own.items():
            if isinstance(response, str):
                entries.append((case.id, variant, response))
    labels = {}
    for guide, entries in by_guide.items():
        found = classify_behaviors([response for _, _, response in entries], guide)
        for (name, variant, _), label in zip(entries, found, strict=True):
            labels[name, variant] = label
    return labels


def _outcome(case: BehaviorCase, variant: str, response: Any, label: str | None) -> Outcome:
    expected = case.expected[variant]
    if label is not None:
        hits = {} if label == expected else case.guide.hits(response)
        return Outcome(variant, expected, label, response, hits)
    if not isinstance(response, CallFailure):
        kind = type(response).__name__
        response = CallFailure("input", f"a response must be a text, not {kind}")
    return Outcome(variant, expected, None, "", {}, *response)
