"""The LLM pair judge: `SemanticEquivalence` behind the port, for any number of pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from factcheck.documents import Reader
from factcheck.errors import Failure, InputError, JudgeError
from factcheck.judges.llm.batched import BatchedRequests, require_one_not_rejected
from factcheck.judges.llm.modules import SemanticEquivalence, fingerprint
from factcheck.judges.llm.values import field_of, order_of, shown_values
from factcheck.judges.ports import PairResult, PairVerdict, ValuePair
from factcheck.runtime.cache import JSON, answer_key
from factcheck.runtime.result_cache import ResultCache

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.judges.ports import Ledger

_LONG = 4_000
"""Characters of the two values of a pair from which on it gets a request of its own.

The others of a request then fit into it together, and a pair that is too long for the model, which
is never cut, takes none of them along.
"""
_FAILED_AS_A_WHOLE = ("output", "truncated", "refused")
"""Failures of a request that one value may have caused: its pairs are asked about one by one."""
_STAGE = "compare"


class LLMPairJudge:
    """Compares values with a language model, many pairs in one request; fulfils `PairJudge`.

    A verdict is cached under a key of all that was said about its pair, and of nothing else: what
    else a later request asks does not change it.
    """

    def __init__(self, model: LanguageModel, *, batch_size: int) -> None:
        self._model = model
        self._module = SemanticEquivalence()
        self._batch_size = batch_size
        self._prompt = fingerprint(SemanticEquivalence, self._module.prompt)
        labels = {"task": _STAGE, "judge": model.name}
        self._requests = BatchedRequests[ValuePair, PairResult](
            model,
            _STAGE,
            ResultCache(model.cache, labels, _to_json, _from_json),
            batch_size=batch_size,
            parts=dict.fromkeys(_FAILED_AS_A_WHOLE, batch_size),
            is_alone=_is_long,
        )

    @property
    def identity(self) -> dict[str, str]:
        return {"judge": self._model.name, "compare": self._prompt, **self._model.identity}

    async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> tuple[PairResult, ...]:
        """One result per pair, in their order. Pairs that are the same question are asked once."""
        keys = self._keys(pairs)
        questions = dict(sorted(zip(keys, pairs, strict=True), key=lambda item: order_of(item[1])))
        results = await self._requests.results(questions, self._ask, ledger)
        require_one_not_rejected(list(results.values()))
        return tuple(results[key] for key in keys)

    def _keys(self, pairs: Sequence[ValuePair]) -> list[str]:
        shared: dict[str, JSON] = {
            "task": _STAGE,
            "prompt": self._prompt,
            "model": dict(self._model.shape),
            "pairs_per_call": self._batch_size,
        }
        return [
            answer_key(**shared, field=field_of(pair)._asdict(), values=shown_values(pair))
            for pair in pairs
        ]

    async def _ask(self, pairs: Sequence[ValuePair]) -> Sequence[PairResult]:
        try:
            with self._model.context():
                prediction = await self._module.acall(pairs=pairs)
        except JudgeError as error:
            return [Failure.of(pair, error) for pair in pairs]
        results: tuple[PairResult, ...] = prediction.results
        return results


def _is_long(pair: ValuePair) -> bool:
    return len(pair.gold) + len(pair.extracted) >= _LONG


def _to_json(result: PairResult) -> Mapping[str, Any] | None:
    """A verdict without its pair, which is in the key; failures are not cached."""
    if isinstance(result, Failure):
        return None
    return {"equivalent": result.equivalent, "reason": result.reason, "judge": result.judge}


def _from_json(data: Mapping[str, Any]) -> PairResult:
    read = Reader(data, "cached verdict")
    equivalent = data.get("equivalent")
    if not isinstance(equivalent, bool):
        raise InputError("cached verdict: 'equivalent' must be true or false")
    return PairVerdict(equivalent, None, read.text("reason"), read.text("judge"), cached=True)
