"""The LLM rater: `LLMJudge` behind the `Rater` port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import dspy

from factcheck.documents import Reader
from factcheck.errors import Failure, InputError, JudgeError
from factcheck.facts import digest
from factcheck.judges.llm.batched import BatchedRequests
from factcheck.judges.llm.modules import LLMJudge, fingerprint
from factcheck.judges.ports import Rating, RatingResult
from factcheck.runtime.cache import answer_key
from factcheck.runtime.result_cache import ResultCache

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.judges.ports import Ledger

_STAGE = "rate"


class _Question(NamedTuple):
    source: str
    summary: str


class LLMRater:
    """Rates summaries with a language model, one per request; fulfils the `Rater` port.

    A reply that is not a whole number from 1 to 5 is asked for once more; then it is a failure.
    Both texts are sent whole: one that is too long for the model is a failure, too (`rejected`).
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._module = LLMJudge()
        self._prompt = fingerprint(LLMJudge, self._module.prompt)
        labels = {"task": _STAGE, "judge": model.name}
        self._requests = BatchedRequests[_Question, RatingResult](
            model,
            _STAGE,
            ResultCache(model.cache, labels, _to_json, _from_json),
            batch_size=1,
            parts={},
        )

    @property
    def identity(self) -> dict[str, str]:
        return {"judge": self._model.name, "rate": self._prompt, **self._model.identity}

    async def rate(self, source: str, summary: str, ledger: Ledger) -> RatingResult:
        _require_texts(source, summary)
        question = _Question(source, summary)
        key = self._key(question)
        results = await self._requests.results({key: question}, self._ask, ledger)
        return results[key]

    def _key(self, question: _Question) -> str:
        return answer_key(
            task=_STAGE,
            prompt=self._prompt,
            model=dict(self._model.shape),
            source=digest(question.source),
            summary=digest(question.summary),
        )

    async def _ask(self, questions: Sequence[_Question]) -> Sequence[RatingResult]:
        ((source, summary),) = questions
        try:
            with self._model.context(), dspy.context(trace=None):
                reply = await self._module.acall(source_text=source, summary=summary)
        except JudgeError as error:
            return [Failure.of(summary, error)]
        return [Rating(reply.faithfulness, reply.reason, self._model.name)]


def _require_texts(source: object, summary: object) -> None:
    for what, text in (("source", source), ("summary", summary)):
        if not isinstance(text, str):
            raise InputError(f"the {what} must be a string, not {type(text).__name__}")
    if not str(source).strip():
        raise InputError("the source is empty; there is nothing to rate a summary by")


def _to_json(result: RatingResult) -> Mapping[str, Any] | None:
    """A rating without its texts, which are in the key; failures are not cached."""
    if isinstance(result, Failure):
        return None
    return {"value": result.value, "reason": result.reason, "judge": result.judge}


def _from_json(data: Mapping[str, Any]) -> RatingResult:
    read = Reader(data, "cached rating")
    return Rating(read.integer("value"), read.text("reason"), read.text("judge"), cached=True)
