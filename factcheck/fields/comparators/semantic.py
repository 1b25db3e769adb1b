"""The semantic comparator: whether two values mean the same, in as few judge calls as possible.

It depends on the protocol of batch comparators only, so the same object works in every evaluator
with that protocol.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from factcheck.errors import Failure, JudgeError, ParameterError
from factcheck.facts import Usage
from factcheck.fields.comparators.batch import as_text
from factcheck.fields.comparators.parameters import quoted
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import BatchItem, ComparatorResult
from factcheck.fields.values import exact_key
from factcheck.judges.factory import BATCH_SIZE, build_pair_judge
from factcheck.judges.ports import (
    Ledger,
    PairJudgeSpec,
    PairResult,
    PairVerdict,
    Specificity,
    ValuePair,
)
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session, SessionOptions, SessionUser

if TYPE_CHECKING:
    from typing_extensions import Unpack

_PARAMS = ("instructions", "specificity")
_log = logging.getLogger("factcheck.fields")


class SemanticComparator(SessionUser):
    """Scores fields by whether their values mean the same: 1 if they do, 0 if not.

    Equal values, and null against a value, need no judge. Any other pair of values of a field is
    judged once, in however many records it occurs, and responses of language models are cached.
    `None` for a field means that the judge could not decide: a `batch_error`.

    A field may set parameters in the schema: `{"semantic": {"instructions": "...", "specificity":
    "allow_more_specific"}}`. Its description is shown to the judge, too.

    Args:
        judge: `"local"`, `"PROVIDER/MODEL"`, `"cascade(local, PROVIDER/MODEL)"`, a `dspy.BaseLM`,
            or an object with the `PairJudge` port. `None`: `FACTCHECK_JUDGE`, or else `"local"`.
        name: Name of the comparator in results.
        batch_size: Pairs in one request to a language model, from 1 to 100.
        across_records: Whether one call may hold the fields of many records.
        specificity: Whether an extracted value may be more or less specific than the gold value;
            the schema takes precedence.
        instructions: Guidance for the judge on comparing values; the schema takes precedence.
        session: Cache, budget, limits and connections shared with other evaluators.
        options: Keyword arguments of `Session`, for a session of its own.

    Raises:
        ConfigError: The judge or cache is unknown, or an API key is missing.
        ParameterError: `specificity` or `instructions` is invalid.
    """

    is_batch: ClassVar[bool] = True

    def __init__(
        self,
        judge: PairJudgeSpec | None = None,
        *,
        name: str = "semantic",
        batch_size: int = BATCH_SIZE,
        across_records: bool = True,
        specificity: Specificity = "exact",
        instructions: str = "",
        session: Session | None = None,
        **options: Unpack[SessionOptions],
    ) -> None:
        super().__init__(session, options)
        self.name = name
        self.across_records = across_records
        self._defaults = {"specificity": specificity, "instructions": instructions}
        self.check_params(self._defaults)
        self._judge = build_pair_judge(judge, self.session, batch_size=batch_size)
        self.ledger = Ledger()
        """Usage over the lifetime of the comparator."""
        self.n_judged = 0
        """Pairs with a verdict."""
        self.n_undecided = 0
        """Pairs without a verdict."""
        self.last_failure = ""
        """Reason of the last missing verdict."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Names and versions that determine the verdicts."""
        return self._judge.identity

    @property
    def usage(self) -> Usage:
        """Usage over the lifetime of the comparator."""
        return self.ledger.usage

    def check_params(self, params: Mapping[str, Any]) -> None:
        """Check the parameters of a field.

        Raises:
            ParameterError: A parameter is unknown, or its value is invalid.
        """
        for key, value in params.items():
            if key not in _PARAMS:
                raise ParameterError(
                    f"{self.name}: unknown parameter {key!r}; it takes {quoted(_PARAMS)}"
                )
            if key == "instructions" and not isinstance(value, str):
                raise ParameterError(f"'instructions' must be a string, not {value!r}")
            if key == "specificity" and value not in get_args(Specificity):
                raise ParameterError(
                    f"'specificity' must be one of {list(get_args(Specificity))}, not {value!r}"
                )

    def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
        """One result per item, in order; `None` for an item without a verdict."""
        pairs, results = self._prepared(items)
        verdicts = background.run(self._verdicts(pairs)) if pairs else {}
        kind = _result_type(items)
        return [self._result(one, verdicts, kind) for one in results]

    async def acall(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
        """Asynchronous form of calling the comparator."""
        pairs, results = self._prepared(items)
        verdicts = await background.hop(self._verdicts(pairs)) if pairs else {}
        kind = _result_type(items)
        return [self._result(one, verdicts, kind) for one in results]

    def _prepared(self, items: Sequence[BatchItem]) -> tuple[list[ValuePair], list[Any]]:
        """The distinct pairs to judge; and for each item a pair, a score with reason, or `None`."""
        results = [self._without_judge(item) or self._pair(item) for item in items]
        pairs = dict.fromkeys(one for one in results if isinstance(one, ValuePair))
        return list(pairs), results

    def _without_judge(self, item: BatchItem) -> tuple[float, str] | None:
        """Score and reason of a pair that needs no judge."""
        gold, extracted = item.gold_compared, item.extracted_compared
        if gold is None and extracted is None:
            return 1.0, "exact"
        if gold is None or extracted is None:
            side = "gold" if gold is None else "extracted"
            return 0.0, f"null against a value ({side} is null)"
        return (1.0, "exact") if exact_key(gold) == exact_key(extracted) else None

    def _pair(self, item: BatchItem) -> ValuePair | None:
        params = {**self._defaults, **(item.params or {})}
        try:
            self.check_params(params)
            return ValuePair(
                as_text(item.gold_compared),
                as_text(item.extracted_compared),
                path=getattr(item, "schema_path", "") or schema_path(item.path),
                description=getattr(item, "description", ""),
                instructions=params["instructions"],
                specificity=params["specificity"],
            )
        except (ValueError, RecursionError) as error:
            _log.warning("%s: %s cannot judge it: %s", item.path, self.name, error)
            return None

    async def _verdicts(self, pairs: Sequence[ValuePair]) -> dict[ValuePair, PairResult]:
        results: Sequence[PairResult]
        try:
            results = await self._judge.compare(pairs, self.ledger)
        except JudgeError as error:
            results = [Failure(None, error.code, str(error))] * len(pairs)
        failures = [result for result in results if isinstance(result, Failure)]
        self.n_judged += len(results) - len(failures)
        self.n_undecided += len(failures)
        if failures:
            self.last_failure = failures[0].message
            counts = (len(failures), len(pairs))
            _log.warning(
                "%s: no verdict on %d of %d pairs: %s", self.name, *counts, self.last_failure
            )
        return dict(zip(pairs, results, strict=True))

    def _result(self, one: Any, verdicts: Mapping[ValuePair, PairResult], kind: Any) -> Any:
        if isinstance(one, ValuePair):
            verdict = verdicts[one]
            if not isinstance(verdict, PairVerdict):
                return None
            reason = f"{verdict.judge}: {verdict.reason}" if verdict.reason else verdict.judge
            one = float(verdict.equivalent), reason
        if one is None:
            return None
        score, reason = one
        return kind(score, self.name, reason)


def _result_type(items: Sequence[Any]) -> Any:
    """The `ComparatorResult` of the package that the items come from."""
    if not items or isinstance(items[0], BatchItem):
        return ComparatorResult
    home = type(items[0]).__module__
    package = home.partition(".")[0]
    names = [home, *(name for name in sorted(sys.modules) if name.startswith(f"{package}."))]
    for name in names:
        found = getattr(sys.modules.get(name), "ComparatorResult", None)
        if isinstance(found, type):
            return found
    return ComparatorResult
