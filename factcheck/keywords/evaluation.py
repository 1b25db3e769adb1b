"""The cards of a whole dataset scored, case by case."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from factcheck.errors import InputError
from factcheck.keywords.calling import CallFailure, Calling, answers, failure_of
from factcheck.keywords.matching import CardMatcher
from factcheck.keywords.model import EvalCase, EvalDataset
from factcheck.keywords.results import CaseFailure, CaseResult, DatasetResult
from factcheck.keywords.settings import THRESHOLD, Assignment, MatchSettings
from factcheck.keywords.similarity import TYPE_WEIGHT
from factcheck.runtime.loop import background

Outputs = Mapping[str, Any] | Sequence[Any] | Callable[[EvalCase], Any]
"""The generated cards of the cases: by id, in the order of the cases, or what makes them."""
_MOST_SHOWN = 5


def evaluate_dataset(
    dataset: EvalDataset,
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

    A case whose output is missing or cannot be used, or for which a callable raises, is a
    `CaseFailure`: it counts in no score, and the others are scored as usual.

    Args:
        dataset: What is expected.
        outputs: A mapping from case id to cards, a list of cards for each case in order, or a
            callable, asynchronous or not, that is given each `EvalCase` and makes its cards. Cards
            are mappings or objects with attributes, such as pydantic models.
        threshold: As in `match_cards`, like the next three.
        weights: How much each field counts.
        type_weight: Share of the score that a right type makes.
        assignment: `"greedy"` or `"optimal"`.
        concurrency: Calls of a callable under way at most.
        progress: Whether to show how many calls are done.

    Raises:
        InputError: A setting cannot be used, or the outputs as a whole: they are of another type,
            name a case that the dataset has not, or are not as many as there are cases.
    """
    settings = MatchSettings.of(threshold, weights, type_weight, assignment)
    evaluator = CardEvaluator(dataset, settings, keep=False)
    return evaluator.evaluate(outputs, concurrency=concurrency, progress=progress)


class CardEvaluator:
    """Scores any number of runs over one dataset; what is expected is prepared once.

    Args:
        dataset: What is expected.
        settings: How cards are scored and matched.
        keep: Whether to keep what was prepared for a case, which takes memory, for the next run.

    Raises:
        InputError: The settings do not fit the dataset: a field has no weight.
    """

    def __init__(
        self, dataset: EvalDataset, settings: MatchSettings | None = None, *, keep: bool = True
    ) -> None:
        if not isinstance(dataset, EvalDataset):
            raise InputError(
                f"expected an EvalDataset, as load_dataset gives, not {type(dataset).__name__}"
            )
        self.dataset = dataset
        self.settings = settings or MatchSettings()
        self._digests = {case.id: case.digest for case in dataset.cases}
        self._keep = keep
        self._kept: dict[str, CardMatcher] = {}

    def evaluate(
        self, outputs: Outputs, *, concurrency: int = 8, progress: bool = False
    ) -> DatasetResult:
        """Score one run; see `evaluate_dataset`."""
        calling = Calling(concurrency, progress).checked()
        if callable(outputs):
            return self._result(background.run(self._called(outputs, calling)))
        return self._result(self._given(outputs))

    async def aevaluate(
        self, outputs: Outputs, *, concurrency: int = 8, progress: bool = False
    ) -> DatasetResult:
        """The same, with an asynchronous callable running in this event loop."""
        calling = Calling(concurrency, progress).checked()
        if callable(outputs):
            return self._result(await self._called(outputs, calling))
        return self._result(self._given(outputs))

    async def _called(self, function: Callable[[EvalCase], Any], calling: Calling) -> list[Any]:
        return await answers(function, [(case,) for case in self.dataset.cases], calling)

    def _given(self, outputs: Any) -> list[Any]:
        """The output of each case, a `CallFailure` where there is none."""
        cases = self.dataset.cases
        if isinstance(outputs, Mapping):
            known = {case.id for case in cases}
            if unknown := [name for name in outputs if name not in known]:
                shown = ", ".join(f"{name!r:.80}" for name in unknown[:_MOST_SHOWN])
                raise InputError(f"{len(unknown)} outputs are of cases not in the dataset: {shown}")
            nothing = CallFailure("input", "there is no output for this case")
            return [outputs.get(case.id, nothing) for case in cases]
        if isinstance(outputs, (str, bytes)) or not isinstance(outputs, Sequence):
            raise InputError(
                "outputs are a mapping from case id to cards, a list of them, or a callable, "
                f"not {type(outputs).__name__}"
            )
        if len(outputs) != len(cases):
            raise InputError(
                f"there are {len(outputs)} outputs for {len(cases)} cases; give one for each, "
                "or a mapping from case id to cards"
            )
        return list(outputs)

    def _result(self, outputs: Sequence[Any]) -> DatasetResult:
        return DatasetResult(
            self.dataset.name,
            self.dataset.version,
            tuple(map(self._scored, self.dataset.cases, outputs)),
            self.settings,
            self._digests,
            self.dataset.warnings,
        )

    def _scored(self, case: EvalCase, output: Any) -> CaseResult | CaseFailure:
        matcher = self._matcher(case)
        if isinstance(output, CallFailure):
            return CaseFailure(case.id, *output)
        try:
            return matcher.match(output, case.id)
        except Exception as error:  # noqa: BLE001 - the caller's objects are read
            return CaseFailure(case.id, *failure_of(error))

    def _matcher(self, case: EvalCase) -> CardMatcher:
        if (kept := self._kept.get(case.id)) is not None:
            return kept
        try:
            matcher = CardMatcher(case.expected_cards, self.settings)
        except InputError as error:
            raise InputError(f"case {case.id!r}: {error}") from error
        if self._keep:
            self._kept[case.id] = matcher
        return matcher
