"""The semantic comparator: whether two values mean the same, asked in as few calls as can be.

It follows the protocol of batch comparators and nothing else of this package's evaluator, so the
same object works in every evaluator with that protocol.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, get_args

from factcheck.errors import JudgeError, ParameterError
from factcheck.facts import Usage
from factcheck.fields.comparators.builtin import exact_key
from factcheck.fields.comparators.judged import as_text
from factcheck.fields.schemas.structure import schema_path
from factcheck.fields.types import BatchItem, ComparatorResult
from factcheck.judges.factory import BATCH_SIZE, build_pair_judge
from factcheck.judges.ports import (
    Ledger,
    PairFailure,
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

    Equal values, and null against a value, need no judge. Every other pair of values of a field is
    asked once, wherever in however many records it stands, and what a language model said is kept
    in the cache. `None` for a field means that the judge could not decide: a `batch_error`.

    A field may say more in the schema: `{"semantic": {"instructions": "...", "specificity":
    "allow_more_specific"}}`; its description is shown to the judge, too.

    Args:
        judge: `"local"`, `"PROVIDER/MODEL"`, `"cascade(local, PROVIDER/MODEL)"`, a `dspy.BaseLM`,
            or an object with the `PairJudge` port. `None`: `FACTCHECK_JUDGE`, or else `"local"`.
        name: What results call the comparator.
        batch_size: Pairs a language model judges in one request, from 1 to 100.
        across_records: Whether the evaluator may ask about many records at once.
        specificity: Whether an extracted value may say more or less than the gold one, where the
            schema does not say it.
        instructions: What the judge should know about comparing values, likewise.
        session: Cache, budget, limits and connections shared with other evaluators.
        options: Keyword arguments of `Session`, for a session of its own.

    Raises:
        ConfigError: A judge or cache is not known, or a key is missing.
        ParameterError: `specificity` or `instructions` cannot be used.
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
        """What was spent over the comparator's life."""
        self.n_judged = 0
        """Pairs that the judge gave a verdict on."""
        self.n_undecided = 0
        """Pairs that it gave none on."""
        self.last_failure = ""
        """Why it gave none, the last time."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Names and versions that shape the verdicts."""
        return self._judge.identity

    @property
    def usage(self) -> Usage:
        """What was spent over the comparator's life."""
        return self.ledger.usage

    def check_params(self, params: Mapping[str, Any]) -> None:
        """Refuse parameters of a field that cannot be used.

        Raises:
            ParameterError: A name or value that is not known.
        """
        for key, value in params.items():
            if key not in _PARAMS:
                raise ParameterError(f"{self.name!r} knows no {key!r}; known are {list(_PARAMS)}")
            if key == "instructions" and not isinstance(value, str):
                raise ParameterError(f"'instructions' must be a text, not {value!r}")
            if key == "specificity" and value not in get_args(Specificity):
                raise ParameterError(
                    f"'specificity' must be one of {list(get_args(Specificity))}, not {value!r}"
                )

    def __call__(self, items: list[BatchItem]) -> list[ComparatorResult | None]:
        """One result per item, in their order; `None` where there is no verdict."""
        result = _result_type(items)
        answers: list[Any] = []
        open_pairs: dict[ValuePair, None] = {}
        for item in items:
            known = _without_judge(item)
            if known is not None:
                answers.append(result(known[0], self.name, known[1]))
                continue
            try:
                pair = self._pair(item)
            except (ValueError, RecursionError) as error:
                _log.warning("%s: %s cannot be asked: %s", item.path, self.name, error)
                answers.append(None)
                continue
            open_pairs[pair] = None
            answers.append(pair)
        verdicts = self._verdicts(list(open_pairs))
        return [
            self._judged(verdicts.get(answer), result) if isinstance(answer, ValuePair) else answer
            for answer in answers
        ]

    def _pair(self, item: BatchItem) -> ValuePair:
        params = {**self._defaults, **(item.params or {})}
        self.check_params(params)
        return ValuePair(
            as_text(item.gold_compared),
            as_text(item.extracted_compared),
            path=getattr(item, "schema_path", "") or schema_path(item.path),
            description=getattr(item, "description", ""),
            instructions=params["instructions"],
            specificity=params["specificity"],
        )

    def _verdicts(self, pairs: Sequence[ValuePair]) -> dict[ValuePair, PairResult]:
        if not pairs:
            return {}
        results: Sequence[PairResult]
        try:
            results = background.run(self._judge.compare(pairs, self.ledger))
        except JudgeError as error:
            results = [PairFailure(error.code, str(error))] * len(pairs)
        failures = [result for result in results if isinstance(result, PairFailure)]
        self.n_judged += len(results) - len(failures)
        self.n_undecided += len(failures)
        if failures:
            self.last_failure = failures[0].message
            _log.warning(
                "%s: no verdict on %d of %d pairs: %s",
                self.name,
                len(failures),
                len(pairs),
                self.last_failure,
            )
        return dict(zip(pairs, results, strict=True))

    def _judged(self, verdict: PairResult | None, result: Any) -> Any:
        if not isinstance(verdict, PairVerdict):
            return None
        reason = f"{verdict.judge}: {verdict.reason}" if verdict.reason else verdict.judge
        return result(float(verdict.equivalent), self.name, reason)


def _without_judge(item: BatchItem) -> tuple[float, str] | None:
    """Score and reason of a pair that is clear without a judge."""
    gold, extracted = item.gold_compared, item.extracted_compared
    if gold is None and extracted is None:
        return 1.0, "exact"
    if gold is None or extracted is None:
        return 0.0, f"null against a value ({'gold' if gold is None else 'extracted'} is null)"
    return (1.0, "exact") if exact_key(gold) == exact_key(extracted) else None


def _result_type(items: Sequence[Any]) -> Any:
    """The class of results that the caller knows: that of the package its items come from."""
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
