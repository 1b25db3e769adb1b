"""The LLM extractor: `KeyFactExtraction` behind the port, for sources of any length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from factcheck.documents import Reader
from factcheck.errors import JudgeError, JudgeNotAsked, JudgeOutputError, JudgeTruncated
from factcheck.facts import AtomicFact, FactSet, digest
from factcheck.judges.llm.batched import BatchedJudge, Request, code_of
from factcheck.judges.llm.fences import one_line, sections
from factcheck.judges.llm.modules import KeyFactExtraction
from factcheck.judges.local.duplicates import drop_near_duplicates
from factcheck.judges.local.sentences import split_passages
from factcheck.runtime.loop import together
from factcheck.text.language import guess_language
from factcheck.text.words import content_stems

if TYPE_CHECKING:
    from factcheck.judges.llm.engine import Account
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.judges.ports import Ledger
    from factcheck.runtime.cache import JSON

_OVERLAP = 10
"""Neighbouring sections share up to one tenth of their size."""
_SMALLEST_SECTION = 1_000
"""A section whose list of facts was cut off is halved, down to this many characters."""
_Facts: TypeAlias = "tuple[str, ...] | JudgeError"
_LOCATED = 0.6
"""Share of a fact's content words from which a sentence of the source counts as its place."""


class LLMExtractor(BatchedJudge[str, _Facts]):
    """Lists facts with a language model, a section of text a request; fulfils `Extractor`."""

    stage = "extract"
    role = "extractor"
    section = 16_000
    """Characters of source whose facts a model lists in one request (about 4,000 tokens)."""

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model, KeyFactExtraction())

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        spans = sections(source, self.section, self.section // _OVERLAP)
        found = await self._results([source[slice(*span)] for span in spans], ledger)
        texts = dict.fromkeys(one_line(text) for text in _joined(found))
        facts: Sequence[AtomicFact] = FactSet.of(list(texts)).facts
        if len(spans) > 1:
            facts = drop_near_duplicates(facts)
        return FactSet(_located(tuple(facts), source), digest(source), tuple(self.identity.items()))

    def _request(self, questions: Sequence[str]) -> Request:
        return self._module.request(source=questions[0])  # type: ignore[no-any-return]

    def _key_parts(self, question: str) -> Mapping[str, JSON]:
        return {"text": digest(question)}

    async def _ask(self, questions: Sequence[str], account: Account) -> Sequence[_Facts]:
        (section,) = questions
        (facts,) = await super()._ask(questions, account)
        if code_of(facts) == JudgeOutputError.code:
            return await super()._ask(questions, account)
        if code_of(facts) == JudgeTruncated.code and len(section) >= 2 * _SMALLEST_SECTION:
            halves = sections(section, len(section) * 6 // 10, len(section) // _OVERLAP)
            asked = (self._ask([section[slice(*span)]], account) for span in halves)
            found = [facts for (facts,) in await together(asked)]
            try:
                return [_joined(found)]
            except JudgeError as error:
                return [error]
        return [facts]

    async def _repeat(self, *_: Any) -> None:
        """What can be mended is asked again section by section, in `_ask`."""

    def _outcome(self, reply: Any, questions: Sequence[str]) -> Sequence[_Facts]:  # noqa: ARG002
        return [tuple(reply["facts"])]

    def _failure(self, question: str, error: JudgeError) -> _Facts:  # noqa: ARG002
        return error

    def _to_json(self, result: _Facts) -> Mapping[str, Any] | None:
        """A list of facts; an empty one is not cached, because it may be a bad reply."""
        return {"facts": list(result)} if isinstance(result, tuple) and result else None

    def _from_json(self, data: Mapping[str, Any]) -> _Facts:
        return tuple(Reader(data, "cached list of facts").get("facts", list[str]))


def _joined(lists: Sequence[_Facts]) -> tuple[str, ...]:
    """The facts of all lists; raises an error if there is one in place of a list."""
    errors = [error for error in lists if isinstance(error, JudgeError)]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, JudgeNotAsked))
    return tuple(text for facts in lists if isinstance(facts, tuple) for text in facts)


@lru_cache(maxsize=64)
def _located(facts: tuple[AtomicFact, ...], source: str) -> tuple[AtomicFact, ...]:
    """The facts, numbered, each with the sentence of the source that has most of its words.

    A model's word for where it read something proves nothing.
    """
    language = guess_language(source)
    sentences = [(each, content_stems(each.text, language)) for each in split_passages(source)]
    located = []
    for number, fact in enumerate(facts, 1):
        stems = content_stems(fact.text, language)
        shared = [len(stems & held) for _, held in sentences]
        most = max(shared, default=0)
        span = None
        if most >= _LOCATED * len(stems) > 0:
            span = sentences[shared.index(most)][0].span
        located.append(AtomicFact(id=f"f{number}", text=fact.text, span=span))
    return tuple(located)
