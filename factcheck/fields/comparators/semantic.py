"""Batch comparators: sibling fields scored as one, and values compared by meaning.

They rely only on the batch comparator protocol, so they work in any evaluator that implements it.
"""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, get_args

from factcheck.errors import Failure, JudgeError, ParameterError, describe
from factcheck.facts import Usage
from factcheck.fields.schemas import parent_and_name, schema_path
from factcheck.fields.types import (
    THRESHOLD,
    Answer,
    BatchItem,
    Checks,
    ComparatorResult,
    check_params,
    is_of_extraction,
    one_of,
)
from factcheck.fields.values import as_json_scalar, exact_key
from factcheck.judges.factory import build_pair_judge
from factcheck.judges.local.pairs.normal import is_absent, tidy
from factcheck.judges.ports import Ledger, PairJudgeSpec, PairResult, Specificity, ValuePair
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session, SessionOptions, SessionUser

if TYPE_CHECKING:
    from typing_extensions import Unpack


class CompoundComparator:
    """Scores sibling fields, such as given and family name, as one; subclasses define `compare`.

    Register an instance and name it in `x-eval-compare` of every field of the group. The primary
    field gets the score and the others are skipped, so that the group counts once. If a field of
    the group is missing, its other fields are mismatches. If `compare` raises, but not with gold on
    both sides, the group is a mismatch.

    Args:
        fields: Names of the fields in the group.
        primary: Field that gets the score.
        name: Name of the comparator in results.

    Raises:
        ValueError: `primary` is not one of `fields`.
    """

    is_batch: ClassVar[bool] = True

    def __init__(self, fields: Sequence[str], primary: str, name: str = "compound") -> None:
        if primary not in fields:
            raise ValueError(f"the primary field {primary!r} is not one of {list(fields)}")
        self.fields = list(fields)
        self.primary = primary
        self.name = name

    def compare(self, gold: dict[str, Any], extracted: dict[str, Any]) -> float:
        """Score a group, in [0, 1].

        Args:
            gold: Gold values by field name, after transforms.
            extracted: Extracted values by field name, after transforms.
        """
        raise NotImplementedError(f"{type(self).__name__} must define compare(gold, extracted)")

    def __call__(self, items: list[BatchItem]) -> list[Answer]:
        """Return one result per item; items with the same parent form a group."""
        groups: dict[str, dict[str, int]] = {}
        for place, item in enumerate(items):
            parent, name = parent_and_name(item.path)
            groups.setdefault(parent, {})[name] = place
        part = ComparatorResult(0.0, self.name, f"part of {self.primary}", skip=True)
        results: list[Answer] = [part] * len(items)
        for group in groups.values():
            if missing := [name for name in self.fields if name not in group]:
                reason = f"incomplete: {', '.join(missing)} not on both sides"
                for place in group.values():
                    results[place] = ComparatorResult(0.0, self.name, reason)
                continue
            gold = {name: items[group[name]].gold_compared for name in self.fields}
            extracted = {name: items[group[name]].extracted_compared for name in self.fields}
            results[group[self.primary]] = self._compared(gold, extracted)
        return results

    def _compared(self, gold: dict[str, Any], extracted: dict[str, Any]) -> Answer:
        try:
            return ComparatorResult(self.compare(gold, extracted), self.name)
        except Exception as error:  # noqa: BLE001 - the user's code
            if is_of_extraction(error, lambda: self.compare(gold, gold)):
                return ComparatorResult(0.0, self.name, describe(error))
            return Failure.of(None, error)


@dataclass(frozen=True)
class JudgeItem:
    """A pair of values to judge."""

    path: str
    gold: Any
    extracted: Any


class Judge(Protocol):
    """Decides which pairs of values mean the same."""

    def judge_batch(self, items: list[JudgeItem]) -> list[float | None]:
        """Return one score per item, in order; `None` for an undecided item."""
        ...


class SemanticBatchComparator:
    """Sends all unequal pairs of a record to a judge in one call.

    Args:
        judge: Judge that scores the pairs.
        name: Name of the comparator in results.
    """

    is_batch: ClassVar[bool] = True

    def __init__(self, judge: Judge, name: str = "semantic") -> None:
        self.judge = judge
        self.name = name

    def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
        """Return one result per item; `None` for an item that the judge left undecided."""
        pairs = [
            JudgeItem(item.path, item.gold_compared, item.extracted_compared)
            for item in items
            if not _are_equal(item)
        ]
        scores: Any = None
        try:
            scores = self.judge.judge_batch(pairs) if pairs else None
        except Exception as error:  # noqa: BLE001 - the user's code
            _log.warning("the judge failed on %d pairs: %s", len(pairs), describe(error))
        answers = iter(scores if isinstance(scores, list) else ())
        exact = ComparatorResult(1.0, self.name, "exact")
        return [exact if _are_equal(item) else self._result(next(answers, None)) for item in items]

    def _result(self, score: float | None) -> ComparatorResult | None:
        if score is None:
            return None
        reason = "judge match" if score >= 1.0 else "judge mismatch"
        return ComparatorResult(score, self.name, reason)


def _are_equal(item: BatchItem) -> bool:
    return exact_key(item.gold_compared) == exact_key(item.extracted_compared)


class FakeJudge:
    """Judge for tests: returns scores from a table and records its calls.

    Args:
        responses: Scores by `(gold, extracted)`; strings as they are, other values as JSON.
        default_score: Score of any other pair; `None`: 1 if they are equal ignoring case and white
            space, else 0.
    """

    def __init__(
        self,
        responses: Mapping[tuple[str, str], float | None] | None = None,
        default_score: float | None = None,
    ) -> None:
        self.responses = dict(responses or {})
        self.default_score = default_score
        self.calls: list[list[JudgeItem]] = []
        """Items of each call."""

    def judge_batch(self, items: list[JudgeItem]) -> list[float | None]:
        """Return one score per item."""
        self.calls.append(items)
        scores: list[float | None] = []
        for item in items:
            gold, extracted = as_text(item.gold), as_text(item.extracted)
            default = self.default_score
            if default is None:
                default = float(gold.casefold().split() == extracted.casefold().split())
            scores.append(self.responses.get((gold, extracted), default))
        return scores


def as_text(value: Any) -> str:
    """Format a value for a judge: strings unchanged, anything else as JSON."""
    value = as_json_scalar(value)
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


_SEMANTIC = "semantic"
_CONTAINERS = (list, dict)
_DOUBT = 0.07
"""Probability from which a mismatch is doubtful."""
_CHECKS: Checks = {
    "instructions": ("a string", lambda value: isinstance(value, str)),
    "specificity": one_of(*get_args(Specificity)),
    "threshold": THRESHOLD,
}
_log = logging.getLogger("factcheck.fields")


class SemanticComparator(SessionUser):
    """Scores values by meaning: 1 if they are equivalent, 0 if not.

    Equal values, null against a value (or `"n/a"`, which is none), and a list or object against a
    string or number need no judge. Each other distinct pair of values of a field is judged once,
    and responses of language models are cached. A field without a verdict is a `batch_error`.

    A mismatch whose probability is at least 0.07 is `doubtful`.

    A field may set parameters in the schema, as in `{"semantic": {"instructions": "..."}}`:
    `instructions` for the judge, which also sees the description of the field; `specificity`,
    `"exact"` unless an extracted value may be more or less specific than the gold value; and
    `threshold`, the minimum probability of a match, for judges that give one (otherwise the judge
    decides, the embedded one at 0.5).

    Args:
        judge: `"local"`, `"PROVIDER/MODEL"`, `"cascade(local, PROVIDER/MODEL)"`, a `dspy.BaseLM`,
            or an object with the `PairJudge` port. `None`: `FACTCHECK_JUDGE`, or else `"local"`.
        session: Shared cache, budget, limits and connections; `None`: a new session.
        options: Keyword arguments of the new `Session`.

    Raises:
        ConfigError: The judge or cache is unknown, or an API key is missing.
    """

    is_batch: ClassVar[bool] = True
    across_records: ClassVar[bool] = True

    def __init__(
        self,
        judge: PairJudgeSpec | None = None,
        *,
        session: Session | None = None,
        **options: Unpack[SessionOptions],
    ) -> None:
        super().__init__(session, options)
        self._judge = build_pair_judge(judge, self.session)
        self.ledger = Ledger()
        """Usage over the lifetime of the comparator."""
        self.n_judged = 0
        """Number of pairs with a verdict."""
        self.n_undecided = 0
        """Number of pairs without a verdict."""
        self.last_failure = ""
        """Reason for the most recent missing verdict."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Names and versions that determine the verdicts."""
        return self._judge.identity

    @property
    def usage(self) -> Usage:
        """Usage over the lifetime of the comparator."""
        return self.ledger.usage

    def check_params(self, params: Mapping[str, Any]) -> None:
        """Validate the parameters of a field; raise `ParameterError` if one is invalid."""
        check_params(_SEMANTIC, params, _CHECKS)

    def __call__(self, items: list[BatchItem]) -> list[Answer]:
        """Return one result per item, in order; a failure for an item without a verdict.

        Items of another package get results of that package's type.
        """
        return background.run(self._results(items))

    async def _results(self, items: Sequence[BatchItem]) -> list[Answer]:
        make = _result_type(items)
        outcomes = [self._without_judge(item, make) for item in items]
        pairs = list(dict.fromkeys(one for one in outcomes if isinstance(one, ValuePair)))
        verdicts = await self._verdicts(pairs) if pairs else {}
        for place, (item, outcome) in enumerate(zip(items, outcomes, strict=True)):
            if isinstance(outcome, ValuePair):
                outcomes[place] = _judged(verdicts[outcome], item.params or {}, make)
        return outcomes

    def _without_judge(self, item: BatchItem, make: Any) -> Any:
        """Return the result or a failure, or else the pair of values to judge."""
        gold, extracted = item.gold_compared, item.extracted_compared
        params = item.params or {}
        if _are_equal(item):
            return make(1.0, _SEMANTIC, "exact")
        if gold is None or extracted is None:
            return make(*_with_null(gold, extracted))
        try:
            texts = self._texts(gold, extracted, params)
        except (ValueError, RecursionError) as error:
            if is_of_extraction(error, lambda: self._texts(gold, gold, params)):
                reason = f"the extracted value cannot be written as JSON: {describe(error)}"
                return make(0.0, _SEMANTIC, reason)
            _log.warning("%s: %s cannot judge the value: %s", item.path, _SEMANTIC, error)
            return Failure(None, ParameterError.code, describe(error))
        if isinstance(gold, _CONTAINERS) != isinstance(extracted, _CONTAINERS):
            types = f"gold is {type(gold).__name__}, extracted is {type(extracted).__name__}"
            return make(0.0, _SEMANTIC, f"type mismatch: {types}")
        return ValuePair(
            *texts,
            path=getattr(item, "schema_path", "") or schema_path(item.path),
            description=getattr(item, "description", ""),
            instructions=params.get("instructions", ""),
            specificity=params.get("specificity", "exact"),
        )

    def _texts(self, gold: Any, extracted: Any, params: Mapping[str, Any]) -> tuple[str, str]:
        self.check_params(params)
        return as_text(gold), as_text(extracted)

    async def _verdicts(self, pairs: Sequence[ValuePair]) -> dict[ValuePair, PairResult]:
        results: Sequence[PairResult]
        try:
            results = await self._judge.compare(pairs, self.ledger)
        except JudgeError as error:
            results = [Failure(None, error.code, str(error))] * len(pairs)
        failures = [result.message for result in results if isinstance(result, Failure)]
        self.n_judged += len(results) - len(failures)
        self.n_undecided += len(failures)
        if failures:
            self.last_failure = failures[0]
            counts = (len(failures), len(pairs))
            _log.warning("%s: no verdict on %d of %d pairs: %s", _SEMANTIC, *counts, failures[0])
        return dict(zip(pairs, results, strict=True))


def _judged(verdict: PairResult, params: Mapping[str, Any], make: Any) -> Any:
    """Return the result of a verdict; a failure stays one."""
    if isinstance(verdict, Failure):
        return verdict
    is_match, threshold = verdict.equivalent, params.get("threshold")
    if threshold is not None and verdict.probability is not None:
        is_match = verdict.probability >= threshold
    reason = f"{verdict.judge}: {verdict.reason}" if verdict.reason else verdict.judge
    result = make(float(is_match), _SEMANTIC, reason)
    if isinstance(result, ComparatorResult) and not is_match:
        return replace(result, doubtful=(verdict.probability or 0.0) >= _DOUBT)
    return result


def _with_null(gold: Any, extracted: Any) -> tuple[float, str, str]:
    """Compare null with a value, which may say that there is none, such as `n/a`."""
    side, value = ("gold", extracted) if gold is None else ("extracted", gold)
    if isinstance(value, str) and is_absent(tidy(value)):
        return 1.0, _SEMANTIC, "no value on either side"
    return 0.0, _SEMANTIC, f"null against a value ({side} is null)"


def _result_type(items: Sequence[Any]) -> Any:
    """Return the `ComparatorResult` class of the package that defines the items."""
    if not items or isinstance(items[0], BatchItem):
        return ComparatorResult
    home = type(items[0]).__module__
    package = home.partition(".")[0]
    names = [home, *(name for name in sorted(sys.modules) if name.startswith(f"{package}."))]
    found = (getattr(sys.modules.get(name), "ComparatorResult", None) for name in names)
    return next((one for one in found if isinstance(one, type)), ComparatorResult)
