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
    settings = MatchSettings.of(threshold, weights, type_weight, assignment)
    evaluator = CardEvaluator(dataset, settings, keep=False)
    return evaluator.evaluate(outputs, concurrency=concurrency, progress=progress)


class CardEvaluator:
    """Evaluates any number of runs over one dataset; the expected cards are prepared once.

    Args:
        dataset: The expected cards.
        settings: How cards are scored and matched.
        keep: Whether to keep, in memory, what was prepared for a case.

    Raises:
        InputError: Not a dataset.
    """

    def __init__(
        self, dataset: CardDataset, settings: MatchSettings | None = None, *, keep: bool = True
    ) -> None:
        if not isinstance(dataset, CardDataset):
            raise InputError(
                f"expected a CardDataset, as from load_dataset, got {type(dataset).__name__}"
            )
        self.dataset = dataset
        self.settings = settings or MatchSettings()
        self._digests = {case.id: case.digest for case in dataset.cases}
        self._keep = keep
        self._matchers: dict[str, CardMatcher] = {}

    def evaluate(
        self, outputs: Outputs, *, concurrency: int = 8, progress: bool = False
    ) -> DatasetResult:
        """Evaluate one run; see `evaluate_dataset`."""
        check_concurrency(concurrency)
        if callable(outputs):
            return self._run(background.run(self._called(outputs, concurrency, progress=progress)))
        return self._run(self._given(outputs))

    async def aevaluate(
        self, outputs: Outputs, *, concurrency: int = 8, progress: bool = False
    ) -> DatasetResult:
        """Asynchronous form of `evaluate`; an asynchronous callable runs in this event loop."""
        check_concurrency(concurrency)
        if callable(outputs):
            return self._run(await self._called(outputs, concurrency, progress=progress))
        return self._run(self._given(outputs))

    async def _called(
        self, function: Callable[[CardCase], Any], concurrency: int, *, progress: bool
    ) -> list[Any]:
        calls = [Call(function, (case,)) for case in self.dataset.cases]
        return await call_each(calls, concurrency=concurrency, progress=progress)

    def _given(self, outputs: Any) -> list[Any]:
        """The output of each case, a `Failure` where there is none."""
        cases = self.dataset.cases
        if isinstance(outputs, Mapping):
            known = {case.id for case in cases}
            if unknown := [name for name in outputs if name not in known]:
                shown = ", ".join(f"{name!r:.80}" for name in unknown[:_MOST_SHOWN])
                raise InputError(f"{len(unknown)} outputs for cases not in the dataset: {shown}")
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

    def _run(self, outputs: Sequence[Any]) -> DatasetResult:
        return DatasetResult(
            self.dataset.name,
            self.dataset.version,
            tuple(map(self._result, self.dataset.cases, outputs)),
            self.settings,
            self._digests,
            self.dataset.warnings,
        )

    def _result(self, case: CardCase, output: Any) -> CaseResult | Failure[str]:
        matcher = self._matcher(case)
        if isinstance(output, Failure):
            return replace(output, subject=case.id)
        try:
            return matcher.match(output, case.id)
        except Exception as error:  # noqa: BLE001 - raised by the user's objects
            return replace(failure_of(error), subject=case.id)

    def _matcher(self, case: CardCase) -> CardMatcher:
        matcher = self._matchers.get(case.id)
        if matcher is None:
            try:
                matcher = CardMatcher(case.expected_cards, self.settings)
            except InputError as error:
                raise InputError(f"case {case.id!r}: {error}") from error
            if self._keep:
                self._matchers[case.id] = matcher
        return matcher
