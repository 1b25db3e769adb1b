"""The LLM rater: `LLMJudge` made to fill the `Rater` port."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import dspy

from factcheck.documents import Reader
from factcheck.errors import InputError, JudgeError
from factcheck.facts import digest
from factcheck.judges.llm.asking import Asker
from factcheck.judges.llm.modules import fingerprint
from factcheck.judges.llm.modules_summaries import LLMJudge
from factcheck.judges.ports import Rating, RatingFailure, RatingResult
from factcheck.runtime.answers import Answers
from factcheck.runtime.cache import answer_key

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.judges.ports import Ledger

_STAGE = "rate"


class _Question(NamedTuple):
    source: str
    summary: str


class LLMRater:
    """Rates summaries with a language model, one in a call; fulfils the `Rater` port.

    A reply that is not a whole number from 1 to 5 is asked for once more, and is a failure then.
    Both texts are sent whole: what is too long for the model is a failure, too (`rejected`).
    """

    def __init__(self, model: LanguageModel) -> None:
        self._model = model
        self._module = LLMJudge()
        self._prompt = fingerprint(LLMJudge, self._module.prompt)
        labels = {"task": _STAGE, "judge": model.name}
        self._asker = Asker[_Question, RatingResult](
            model,
            _STAGE,
            Answers(model.cache, labels, _to_json, _from_json),
            per_call=1,
            parts={},
        )

    @property
    def identity(self) -> dict[str, str]:
        """Model, prompt and what else shapes the ratings."""
        return {"judge": self._model.name, "rate": self._prompt, **self._model.identity}

    async def rate(self, source: str, summary: str, ledger: Ledger) -> RatingResult:
        """A rating, or a failure where none could be had.

        Raises:
            InputError: A text is not a string, or the source is blank. A blank summary is legal.
        """
        _require_texts(source, summary)
        question = _Question(source, summary)
        key = self._key(question)

        async def ask(questions: Sequence[_Question]) -> Sequence[RatingResult]:
            return [await self._ask(each, ledger) for each in questions]

        results = await self._asker.results({key: question}, ask, ledger)
        return results[key]

    def _key(self, question: _Question) -> str:
        return answer_key(
            task=_STAGE,
            prompt=self._prompt,
            model=dict(self._model.shape),
            source=digest(question.source),
            summary=digest(question.summary),
        )

    async def _ask(self, question: _Question, ledger: Ledger) -> RatingResult:
        try:
            with dspy.context(trace=None):
                reply = await self._model.ask(
                    self._module,
                    ledger,
                    _STAGE,
                    source_text=question.source,
                    summary=question.summary,
                )
        except JudgeError as error:
            return RatingFailure(error.code, str(error))
        return Rating(reply.faithfulness, reply.reason, self._model.name)


def _require_texts(source: object, summary: object) -> None:
    for what, text in (("source", source), ("summary", summary)):
        if not isinstance(text, str):
            raise InputError(f"the {what} must be a string, not {type(text).__name__}")
    if not str(source).strip():
        raise InputError("the source is empty; there is nothing to rate a summary by")


def _to_json(result: RatingResult) -> Mapping[str, Any] | None:
    """A rating without its texts, which are in the key; what could not be had is not kept."""
    if isinstance(result, RatingFailure):
        return None
    return {"value": result.value, "reason": result.reason, "judge": result.judge}


def _from_json(data: Mapping[str, Any]) -> RatingResult:
    kept = Reader(data, "kept rating")
    return Rating(kept.integer("value"), kept.text("reason"), kept.text("judge"), cached=True)
