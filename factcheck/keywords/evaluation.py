"""Evaluation of a dataset of cards or a suite of behaviors, case by case."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from factcheck.errors import Failure, InputError
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

_MAX_IDS = 5


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

    A case whose output is missing or invalid, or for which a callable raises, is a `Failure`. It is
    excluded from all scores and does not affect the other cases.

    Args:
        dataset: The expected cards.
        outputs: A mapping from case id to cards, a list of cards for each case in order, or a
            callable, sync or async, that takes a `CardCase` and returns its cards. Cards are
            mappings or objects with attributes, such as pydantic models.
        threshold: As in `match_cards`, like the next three.
        weights: Weight of each field.
        type_weight: Weight of the correct type in the score.
        assignment: `"greedy"` or `"optimal"`.
        concurrency: Maximum number of concurrent calls of a callable.

    Raises:
        InputError: A setting is invalid, or the outputs are of an invalid type, name an unknown
            case, or differ in number from the cases.
    """
    settings = MatchSettings(threshold, weights or {}, type_weight, assignment)
    if not isinstance(dataset, CardDataset):
        kind = type(dataset).__name__
        raise InputError(f"expected a CardDataset, as from load_dataset, got {kind}")
    for case in dataset.cases:
        try:
            for card in case.expected_cards:
                settings.weights_of(card)
        except InputError as error:  # noqa: PERF203 - the message names the case
            raise InputError(f"case {case.id!r}: {error}") from error
    if callable(outputs):
        generated = await _call_each(outputs, [(case,) for case in dataset.cases], concurrency)
    else:
        by_case = _by_case([case.id for case in dataset.cases], outputs, "outputs")
        missing = Failure("", "input", "there is no output for this case")
        generated = [by_case.get(case.id, missing) for case in dataset.cases]
    results: list[CaseResult] = []
    failures: list[Failure[str]] = []
    for case, output in zip(dataset.cases, generated, strict=True):
        result = output
        if not isinstance(output, Failure):
            try:
                result = match(case.expected_cards, output, settings, case.id)
            except Exception as error:  # noqa: BLE001 - raised by the user's objects
                result = Failure.of("", error)
        if isinstance(result, Failure):
            failures.append(replace(result, subject=case.id))
        else:
            results.append(result)
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
    """Check for each case whether every variant shows its expected behavior.

    A case passes if all of them do. A case with a missing or invalid response is errored: it
    neither passes nor fails, and does not affect the other cases.

    Args:
        cases: `BehaviorCase`s, or mappings with `instruction`, `input`, `output`,
            `evaluation_guide`, and optionally `id` and `expected`.
        responses: A callable, sync or async, that takes a case and the name of a variant; or a
            mapping from variant to its responses: a list in the order of the cases, or a mapping
            from case id.
        expected: Expected behavior of each variant in every case, by name or label; by default,
            that of the cases.
        concurrency: Maximum number of concurrent calls.

    Raises:
        InputError: A case is invalid, or the responses are of an invalid type or name unknown
            variants or cases.
    """
    suite = as_cases(cases, expected)
    pairs = [(case, variant) for case in suite for variant in case.expected]
    if callable(responses):
        received = await _call_each(responses, pairs, concurrency)
    else:
        if not isinstance(responses, Mapping):
            kind = type(responses).__name__
            raise InputError(f"responses: expected a mapping or a callable, got {kind}")
        variants = dict.fromkeys(variant for _, variant in pairs)
        if unknown := [name for name in responses if name not in variants]:
            known = ", ".join(map(repr, variants))
            raise InputError(f"responses: unknown variant {unknown[0]!r}; variants are {known}")
        ids = [case.id for case in suite]
        given = {name: _by_case(ids, own, f"variant {name!r}") for name, own in responses.items()}
        received = [given.get(variant, {}).get(case.id) for case, variant in pairs]
    outcomes: dict[str, list[Outcome]] = {case.id: [] for case in suite}
    for (case, variant), response in zip(pairs, received, strict=True):
        outcomes[case.id].append(_outcome(case, variant, response))
    return BehaviorRun(
        tuple(BehaviorCaseResult(id_, tuple(of_case)) for id_, of_case in outcomes.items()),
        {case.id: case.digest for case in suite},
        case_warnings(suite),
    )


evaluate_behaviors = blocking(aevaluate_behaviors)


def _by_case(ids: Sequence[str], data: Any, what: str) -> Mapping[str, Any]:
    """Key data by case id, given as such a mapping or as a list in the order of the cases."""
    if isinstance(data, Mapping):
        known = set(ids)
        if unknown := [name for name in data if name not in known]:
            names = ", ".join(f"{name!r:.80}" for name in unknown[:_MAX_IDS])
            raise InputError(f"{what}: {len(unknown)} for unknown cases: {names}")
        return data
    if isinstance(data, (str, bytes)) or not isinstance(data, Sequence):
        kind = type(data).__name__
        raise InputError(f"{what}: expected a mapping from case id, or a list, got {kind}")
    if len(data) != len(ids):
        raise InputError(f"{what}: {len(data)} for {len(ids)} cases; give one for each")
    return dict(zip(ids, data, strict=True))


def _outcome(case: BehaviorCase, variant: str, response: Any) -> Outcome:
    expected = case.expected[variant]
    if isinstance(response, str):
        label, hits = case.guide.label(response), case.guide.hits(response)
        found = {name: tuple(map(str, words)) for name, words in hits.items()}
        return Outcome(variant, expected, label, response, {} if label == expected else found)
    if isinstance(response, Failure):
        return Outcome(variant, expected, None, code=response.code, message=response.message)
    why = f"expected a string as response, got {type(response).__name__}"
    why = "there is no response" if response is None else why
    return Outcome(variant, expected, None, code="input", message=why)


async def _call_each(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], concurrency: int
) -> list[Any]:
    """Call the function concurrently; returns one result, or a `Failure` if it raised, per call."""
    if not isinstance(concurrency, int) or isinstance(concurrency, bool) or concurrency < 1:
        raise InputError(f"concurrency must be an integer of at least 1, got {concurrency!r}")
    failed = partial(Failure.of, "")
    return await each(lambda one: call(function, *one, failed=failed), calls, concurrency)
