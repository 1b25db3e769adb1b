"""Evaluation of a dataset of cards, case by case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from factcheck.errors import Failure, InputError
from factcheck.keywords.calling import Call, call_each, check_concurrency, failure_of
from factcheck.keywords.card_runs import DatasetResult
from factcheck.keywords.cards import CardCase, CardDataset
from factcheck.keywords.matching import CardMatcher
from factcheck.keywords.results import CaseResult
from factcheck.keywords.similarity import THRESHOLD, TYPE_WEIGHT, Assignment, MatchSettings
from factcheck.runtime.loop import background

Outputs = Mapping[str, Any] | Sequence[Any] | Callable[[CardCase], Any]
"""The generated cards: by case id, in the order of the cases, or a function that makes them."""
_MISSING: Failure[str] = Failure("", "input", "there is no output for this case")
_MOST_SHOWN = 5


def evaluate_dataset(
    dataset: CardDataset,
    outputs: Outputs,
    threshold: float = THRESHOLD,
    *,
    weights: Mapping[str, float] | None = None,
    type_weight: float = TYPE_WEIGHT,
    assignment: Assignment = "greedy",
    concurrency: int = 8,
    progress: bool = False,
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
        progress: Whether to show a progress bar for the calls.

    Raises:
        InputError: An invalid setting, or outputs that are invalid as a whole: of another type, for
            an unknown case, or not one for each case.
    """
    settings = MatchSettings(threshold, weights or {}, type_weight, assignment)
    if callable(outputs):
        work = aevaluate_dataset(
            dataset, outputs, settings, concurrency=concurrency, progress=progress
        )
        return background.run(work)
    check_concurrency(concurrency)
    return _result(dataset, settings, _given(dataset, outputs))


async def aevaluate_dataset(
    dataset: CardDataset,
    outputs: Outputs,
    settings: MatchSettings | None = None,
    *,
    concurrency: int = 8,
    progress: bool = False,
) -> DatasetResult:
    """Asynchronous form of `evaluate_dataset`; an asynchronous callable runs in this event loop."""
    check_concurrency(concurrency)
    found = None
    if callable(outputs):
        calls = [Call(outputs, (case,)) for case in _cases(dataset)]
        found = await call_each(calls, concurrency=concurrency, progress=progress)
    return _result(dataset, settings or MatchSettings(), found or _given(dataset, outputs))


def _cases(dataset: Any) -> tuple[CardCase, ...]:
    if not isinstance(dataset, CardDataset):
        kind = type(dataset).__name__
        raise InputError(f"expected a CardDataset, as from load_dataset, got {kind}")
    return dataset.cases


def _given(dataset: CardDataset, outputs: Any) -> list[Any]:
    """The output of each case, a `Failure` where there is none."""
    cases = _cases(dataset)
    if isinstance(outputs, Mapping):
        known = {case.id for case in cases}
        if unknown := [name for name in outputs if name not in known]:
            names = ", ".join(f"{name!r:.80}" for name in unknown[:_MOST_SHOWN])
            raise InputError(f"{len(unknown)} outputs for cases not in the dataset: {names}")
        return [outputs.get(case.id, _MISSING) for case in cases]
    if isinstance(outputs, (str, bytes)) or not isinstance(outputs, Sequence):
        raise InputError(
            "outputs must be a mapping from case id to cards, a list of them, or a callable, "
            f"got {type(outputs).__name__}"
        )
    if len(outputs) != len(cases):
        raise InputError(
            f"{len(outputs)} outputs for {len(cases)} cases; give one for each, "
            "or a mapping from case id to cards"
        )
    return list(outputs)


def _result(dataset: CardDataset, settings: MatchSettings, outputs: Sequence[Any]) -> DatasetResult:
    results: list[CaseResult | Failure[str]] = []
    for case, output in zip(dataset.cases, outputs, strict=True):
        try:
            matcher = CardMatcher(case.expected_cards, settings)
        except InputError as error:
            raise InputError(f"case {case.id!r}: {error}") from error
        try:
            failed = output if isinstance(output, Failure) else None
            results.append(
                replace(failed, subject=case.id) if failed else matcher.match(output, case.id)
            )
        except Exception as error:  # noqa: BLE001 - raised by the user's objects
            results.append(replace(failure_of(error), subject=case.id))
    digests = {case.id: case.digest for case in dataset.cases}
    return DatasetResult(
        dataset.name, dataset.version, tuple(results), settings, digests, dataset.warnings
    )
