"""Questions of one kind to one model: cached results first, the rest in batches.

Missing, duplicate and invalid results are retried once, in a separate request.
"""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

from factcheck.documents import from_plain, to_plain
from factcheck.errors import Failure, JudgeError, JudgeRejected
from factcheck.facts import Usage
from factcheck.judges.llm.engine import Account
from factcheck.judges.llm.modules import programmed
from factcheck.runtime.cache import JSON, answer_key
from factcheck.runtime.deadline import within_deadline
from factcheck.runtime.loop import background, together
from factcheck.runtime.result_cache import ResultCache

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.judges.ports import Ledger

_CACHED_VALUES = {"probability": None, "cached": True}
"""Fields not stored in the cache, with their values in cached results."""


T = TypeVar("T")
Q = TypeVar("Q")
R = TypeVar("R")


class BatchedJudge(Generic[Q, R]):
    """Asks one model questions of one kind.

    `module` renders the requests: one of the kind `asks`, or the file of a saved one. `None`: that
    of the model's settings, or a new one.
    """

    asks: ClassVar[type]
    """Kind of module that renders requests and parses replies."""

    stage: ClassVar[str]
    """Key of usage records, cached results and, in the signature, the prompt."""
    role: ClassVar[str] = "judge"
    """Key of the model in the signature."""
    result: type[R]
    """Type of a successful result."""
    repeated: ClassVar[Mapping[str, int]] = dict.fromkeys(
        ("missing", "duplicate", "invalid", "output", "truncated"), 1
    )
    """Number of requests in which failures with a code are asked again; the engine has retried all
    others."""

    def __init__(self, model: LanguageModel, *, batch_size: int = 1, module: Any = None) -> None:
        self._model = model
        self._module = programmed(self.asks(), module or model.settings.program)
        self._prompt: str = self._module.fingerprint
        self._batch_size = batch_size
        self._cache = ResultCache[Q, R](model.cache, self._to_json, self._from_json)

    @property
    def identity(self) -> dict[str, str]:
        """Model, prompt and settings that affect the results."""
        return {self.role: self._model.name, self.stage: self._prompt, **self._model.identity}

    def _inputs(self, questions: Sequence[Q]) -> Mapping[str, Any]:
        """Inputs of the module for several questions."""
        raise NotImplementedError

    def _key_parts(self, question: Q) -> tuple[JSON, ...]:
        """Hashable parts of the cache key that identify a question within its batch."""
        raise NotImplementedError

    def _name(self, question: Q) -> str:  # noqa: ARG002
        """What tells apart the questions with the same key parts, which are cached together."""
        return ""

    def _outcome(self, reply: Any) -> Sequence[R]:
        """Results in a reply, in question order."""
        return tuple(reply.values())

    def _failure(self, question: Q, error: JudgeError) -> R:
        failure: Any = Failure.of(question, error)
        return failure  # type: ignore[no-any-return]

    def _to_json(self, result: R) -> JSON:
        """Serialise a result without its question, which is in the key; `None` for a failure."""
        if code_of(result):
            return None
        plain: dict[str, Any] = to_plain(result)
        return {name: value for name, value in plain.items() if name not in _CACHED_VALUES}

    def _from_json(self, data: Mapping[str, Any], question: Q) -> R:  # noqa: ARG002
        return from_plain(self.result, {**_CACHED_VALUES, **data}, "cached result")

    def _results(
        self, questions: Sequence[Q], ledger: Ledger, **shared: JSON
    ) -> Awaitable[Sequence[R]]:
        """Return one result per question, in question order; equal questions are sent once.

        `shared` is the part of the cache keys that all questions have in common.
        """
        dialect = self._model.dialect

        def make_keys() -> list[str]:
            of_all = answer_key(
                task=self.stage, prompt=self._prompt, model=self._model.shape, **shared
            )
            parts = [self._key_parts(question) for question in questions]
            key_of = {some: answer_key(of_all=of_all, parts=some) for some in {*parts}}
            return [key_of[some] + self._name(q) for some, q in zip(parts, questions, strict=True)]

        def keys_now() -> dict[str, str]:
            # the first answers may change the dialect, and with it the keys
            is_known = self._model.dialect is dialect
            return {} if is_known else dict(zip(keys, make_keys(), strict=True))

        keys = make_keys()
        by_key = dict(zip(keys, questions, strict=True))
        account = Account(ledger, self.stage)
        return self._cache.results(
            keys,
            by_key,
            self._batches,
            lambda some: self._ask(some, account),
            lambda count: ledger.book(
                Usage(cache_hits=count), model=self._model.name, stage=self.stage
            ),
            keys_now=keys_now,
        )

    def _batches(self, questions: Mapping[str, Q]) -> list[list[str]]:
        """Split the keys of questions into batches."""
        return even_batches(list(questions), self._batch_size)

    async def _ask(
        self, questions: Sequence[Q], account: Account, *, is_last: bool = False
    ) -> list[R]:
        """Send one request and return one result per question, in question order.

        Unless this is the last request, failed questions are sent again.
        """
        messages, question = self._module.request(**self._inputs(questions))
        try:
            async with within_deadline():
                reply = await background.hop(self._model.ask(messages, question, account))
        except JudgeError as error:
            results = [self._failure(question, error) for question in questions]
        else:
            results = list(self._outcome(reply))
        if is_last:
            return results

        parts = [self.repeated.get(code_of(result), 0) for result in results]
        failed = [n for n, count in enumerate(parts) if count]

        async def ask_again(numbers: Sequence[int]) -> None:
            repeated = await self._ask([questions[n] for n in numbers], account, is_last=True)
            for n, result in zip(numbers, repeated, strict=True):
                results[n] = result

        size = max(1, -(-len(failed) // max([1, *parts])))
        await together(map(ask_again, even_batches(failed, size)))
        return results


def even_batches(items: Sequence[T], size: int) -> list[list[T]]:
    """Split items into the fewest batches of at most `size`, as even as possible."""
    n, count = len(items), -(-len(items) // size)
    return [list(items[n * i // count : n * (i + 1) // count]) for i in range(count)]


def require_one_not_rejected(results: Sequence[Any]) -> None:
    if results and all(code_of(result) == JudgeRejected.code for result in results):
        raise JudgeRejected(results[0].message)


def code_of(result: Any) -> str:
    """Return the code of a failure; empty for a successful result."""
    code: str = getattr(result, "code", "")
    return code
