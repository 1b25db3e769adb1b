"""Evaluation of a dataset of cards or a suite of behaviors, case by case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from factcheck.errors import FactcheckError, Failure, InputError, describe
from factcheck.keywords.behavior_runs import BehaviorCaseResult, BehaviorRun, Outcome
from factcheck.keywords.behaviors import BehaviorCase, as_cases, case_warnings
from factcheck.keywords.card_runs import DatasetResult
from factcheck.keywords.cards import CardCase, CardDataset
from factcheck.keywords.matching import (
    THRESHOLD,
    TYPE_WEIGHT,
    Assignment,
    MatchSettings,
    match,
)
from factcheck.keywords.results import CaseResult
from factcheck.runtime.loop import blocking, call, each

_MOST_SHOWN = 5


async def aevaluate_dataset(
    dataset: CardDataset,
    outputs: Mapping[str, Any] | Sequence[Any] | Callable[[CardCase], Any],
    threshold: float = THRESHOLD,
    *,
    weights: Mapping[str, float] | None = None,
    type_weight: float = TYPE_WEIGHT,
    assignment: Assignment = "greedy",
    concurrency: int = 8,
) -> DatasetResult:
    """Match the generated cards of every case with the expected ones.

    A case whose output is missing or invalid, or for which a callable raises, is a `Failure`: it
    counts in no score, and the others are scored as usual.

    Args:
        dataset: The expected cards.
        outputs: A mapping from case id to cards, a list of cards for each case in order, or a
            callable, asynchronous or not, that takes a `CardCase` and returns its cards. Cards are
            mappings or objects with attributes, such as pydantic models.
        threshold: As in `match_cards`, like the next three.
        weights: Weight of each field.
        type_weight: Share of the score that the right type makes.
        assignment: `"greedy"` or `"optimal"`.
        concurrency: Maximum number of concurrent calls of a callable.

    Raises:
        InputError: An invalid setting, or outputs that are invalid as a whole: of another type, for
            an unknown case, or not one for each case.
    """
    settings = MatchSettings(threshold, weights or {}, type_weight, assignment)
    if not isinstance(dataset, CardDataset):
        kind = type(dataset).__name__
        raise InputError(f"expected a CardDataset, as from load_dataset, got {kind}")
    for case in dataset.cases:
        try:
            for card in case.expected_cards:
                settings.weights_of(card)
        except InputError as error:  # noqa: PERF203 - it names the case
            raise InputError(f"case {case.id!r}: {error}") from error
    if callable(outputs):
        given = await _called(outputs, [(case,) for case in dataset.cases], concurrency)
    else:
        by_case = _by_case([case.id for case in dataset.cases], outputs, "outputs")
        missing = Failure("", "input", "there is no output for this case")
        given = [by_case.get(case.id, missing) for case in dataset.cases]
    results: list[CaseResult] = []
    failures: list[Failure[str]] = []
    for case, output in zip(dataset.cases, given, strict=True):
        found = output
        if not isinstance(output, Failure):
            try:
                found = match(case.expected_cards, output, settings, case.id)
            except Exception as error:  # noqa: BLE001 - raised by the user's objects
                found = _failure(error)
        if isinstance(found, Failure):
            failures.append(replace(found, subject=case.id))
        else:
            results.append(found)
    return DatasetResult(
        dataset.name,
        dataset.version,
        tuple(results),
        tuple(failures),
        settings,
        {case.id: case.digest for case in dataset.cases},
        dataset.warnings,
    )


evaluate_dataset = blocking(aevaluate_dataset)


async def aevaluate_behaviors(
    cases: Iterable[BehaviorCase | Mapping[str, Any]],
    responses: Mapping[str, Any] | Callable[[BehaviorCase, str], Any],
    *,
    expected: Mapping[str, str] | None = None,
    concurrency: int = 8,
) -> BehaviorRun:
    """Check for each case whether every variant shows the behavior expected of it.

    A case passes if all of them do. One with a response that is missing, not a string, or failed is
    errored: it neither passes nor fails, and the others are evaluated as usual.

    Args:
        cases: `BehaviorCase`s, or mappings with `instruction`, `input`, `output`,
            `evaluation_guide`, and optionally `id` and `expected`.
        responses: A callable, asynchronous or not, that takes a case and the name of a variant; or
            a mapping from variant to its responses: a list in the order of the cases, or a mapping
            from case id.
        expected: The expected behavior of each variant in every case, by name or label; default: as
            the cases say.
        concurrency: Maximum number of concurrent calls.

    Raises:
        InputError: An invalid case, or responses that are invalid as a whole: of another type, or
            for unknown variants or cases.
    """
    suite = as_cases(cases, expected)
    asked = [(case, variant) for case in suite for variant in case.expected]
    if callable(responses):
        given = await _called(responses, asked, concurrency)
    else:
        by_variant = _by_variant(suite, responses)
        given = [by_variant.get(variant, {}).get(case.id) for case, variant in asked]
    outcomes: dict[str, list[Outcome]] = {case.id: [] for case in suite}
    for (case, variant), response in zip(asked, given, strict=True):
        outcomes[case.id].append(_outcome(case, variant, response))
    return BehaviorRun(
        tuple(BehaviorCaseResult(name, tuple(own)) for name, own in outcomes.items()),
        {case.id: case.digest for case in suite},
        case_warnings(suite),
    )


evaluate_behaviors = blocking(aevaluate_behaviors)


def _by_variant(cases: Sequence[BehaviorCase], responses: Any) -> dict[str, Mapping[str, Any]]:
    if not isinstance(responses, Mapping):
        kind = type(responses).__name__
        raise InputError(f"responses: expected a mapping or a callable, got {kind}")
    variants = dict.fromkeys(variant for case in cases for variant in case.expected)
    if unknown := [name for name in responses if name not in variants]:
        known = ", ".join(map(repr, variants))
        raise InputError(f"responses: unknown variant {unknown[0]!r}; variants are {known}")
    ids = [case.id for case in cases]
    return {name: _by_case(ids, own, f"variant {name!r}") for name, own in responses.items()}


def _by_case(ids: Sequence[str], given: Any, what: str) -> Mapping[str, Any]:
    """What is given for each case, by its id: a mapping, or a list in the order of the cases."""
    if isinstance(given, Mapping):
        known = set(ids)
        if unknown := [name for name in given if name not in known]:
            names = ", ".join(f"{name!r:.80}" for name in unknown[:_MOST_SHOWN])
            raise InputError(f"{what}: {len(unknown)} for unknown cases: {names}")
        return given
    if isinstance(given, (str, bytes)) or not isinstance(given, Sequence):
        kind = type(given).__name__
        raise InputError(f"{what}: expected a mapping from case id, or a list, got {kind}")
    if len(given) != len(ids):
        raise InputError(f"{what}: {len(given)} for {len(ids)} cases; give one for each")
    return dict(zip(ids, given, strict=True))


def _outcome(case: BehaviorCase, variant: str, response: Any) -> Outcome:
    expected = case.expected[variant]
    if isinstance(response, str):
        label, hits = case.guide.label(response), case.guide.hits(response)
        words = {name: tuple(map(str, own)) for name, own in hits.items()}
        return Outcome(variant, expected, label, response, {} if label == expected else words)
    if isinstance(response, Failure):
        return Outcome(variant, expected, None, code=response.code, message=response.message)
    why = f"expected a string as response, got {type(response).__name__}"
    why = "there is no response" if response is None else why
    return Outcome(variant, expected, None, code="input", message=why)


async def _called(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], concurrency: int
) -> list[Any]:
    """One result per call, in order; a `Failure` where the function raised an error."""
    if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
        raise InputError(f"concurrency must be an integer of at least 1, got {concurrency!r}")
    return await each(lambda one: call(function, *one, failed=_failure), calls, concurrency)


def _failure(error: BaseException) -> Failure[str]:
    code = error.code if isinstance(error, FactcheckError) else "callable"
    return Failure("", code, describe(error))
