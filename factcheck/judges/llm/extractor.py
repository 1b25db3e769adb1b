"""LLM extractor: `KeyFactExtraction` behind the port, for sources of any length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

from factcheck.documents import Reader
from factcheck.errors import (
    ContextExceeded,
    JudgeError,
    JudgeNotAsked,
    JudgeOutputError,
    JudgeTruncated,
)
from factcheck.facts import AtomicFact, FactSet, digest
from factcheck.judges.llm.batched import BatchedJudge, code_of
from factcheck.judges.llm.fences import sections
from factcheck.judges.llm.modules import KeyFactExtraction
from factcheck.judges.llm.replies import statements
from factcheck.judges.local.sentences import split_passages
from factcheck.runtime.loop import together
from factcheck.text.words import content_stems, guess_language

if TYPE_CHECKING:
    from factcheck.judges.llm.engine import Account
    from factcheck.judges.ports import Ledger
    from factcheck.runtime.cache import JSON

_MIN_SECTION = 1_000
"""Minimum section size in characters when a section is split in two."""
_SPLIT_CODES = {JudgeTruncated.code, ContextExceeded.code}
"""Failures of a section that are retried for its halves."""
_Facts: TypeAlias = "tuple[str, ...] | JudgeError"
_MIN_SHARED = 0.6
"""Minimum share of a fact's content words for a source sentence to be its span."""


class LLMExtractor(BatchedJudge[str, _Facts]):
    """Extracts facts with a language model, one section per request; implements `Extractor`."""

    asks = KeyFactExtraction
    stage = "extract"
    role = "extractor"
    repeated: ClassVar = {JudgeOutputError.code: 1}
    section = 16_000
    """Maximum characters of source in one request (about 4,000 tokens)."""

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        most_read = self._model.most_characters(partial(self._module.request, source=""))
        # half, because a list of facts may be as long as the text
        size = max(_MIN_SECTION, min(self.section, most_read // 2))
        found = await self._results(_parts(source, size), ledger)
        return _fact_set(_joined(found), source, tuple(self.identity.items()))

    def _inputs(self, questions: Sequence[str]) -> Mapping[str, Any]:
        return {"source": questions[0]}

    def _key_parts(self, question: str) -> tuple[JSON, ...]:
        return (digest(question),)

    async def _ask(
        self, questions: Sequence[str], account: Account, *, is_last: bool = False
    ) -> list[_Facts]:
        (section,) = questions
        (facts,) = await super()._ask(questions, account, is_last=is_last)
        if code_of(facts) not in _SPLIT_CODES or len(section) < 2 * _MIN_SECTION:
            return [facts]
        halves = _parts(section, len(section) * 6 // 10)
        found = await together(self._ask([half], account) for half in halves)
        try:
            return [_joined([facts for (facts,) in found])]
        except JudgeError as error:
            return [error]

    def _outcome(self, reply: Any) -> Sequence[_Facts]:
        return [tuple(reply["facts"])]

    def _failure(self, question: str, error: JudgeError) -> _Facts:  # noqa: ARG002
        return error

    def _to_json(self, result: _Facts) -> JSON:
        """Serialise a list of facts; an empty one is not cached, because it may be a bad reply."""
        return {"facts": list(result)} if isinstance(result, tuple) and result else None

    def _from_json(self, data: Mapping[str, Any], question: str) -> _Facts:  # noqa: ARG002
        return tuple(Reader(data, "cached list of facts").get("facts", list[str]))


def _parts(text: str, size: int) -> list[str]:
    """Split a text into parts without overlap, so that nothing is listed twice."""
    ends = [span.end for span in sections(text, size)]
    return [text[start:end] for start, end in pairwise([0, *ends])]


def _joined(lists: Sequence[_Facts]) -> tuple[str, ...]:
    """Concatenate lists of facts; raises if any of them is an error."""
    errors = [error for error in lists if isinstance(error, JudgeError)]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, JudgeNotAsked))
    return tuple(text for facts in lists if isinstance(facts, tuple) for text in facts)


@lru_cache(maxsize=64)
def _fact_set(texts: tuple[str, ...], source: str, made_by: tuple[tuple[str, str], ...]) -> FactSet:
    """Number facts and set their spans to the source sentence that shares most of their words.

    Spans reported by a model would prove nothing.
    """
    language = guess_language(source)
    sentences = [(each, content_stems(each.text, language)) for each in split_passages(source)]
    located = []
    for fact in _written_out(texts):
        stems = content_stems(fact.text, language)
        shared = [len(stems & others) for _, others in sentences]
        most = max(shared, default=0)
        span = None
        if most >= _MIN_SHARED * len(stems) > 0:
            span = sentences[shared.index(most)][0].span
        located.append(replace(fact, span=span))
    return FactSet(tuple(located), digest(source), made_by)


def _written_out(entries: Sequence[str]) -> list[AtomicFact]:
    """Return each statement once, with the id of its core."""
    cores: dict[str, str | None] = {}
    for statement in statements(entries):
        cores.setdefault(statement.text, statement.core)
    ids: dict[str | None, str] = {text: f"f{number}" for number, text in enumerate(cores, 1)}
    return [AtomicFact(ids[text], text, core=ids.get(core)) for text, core in cores.items()]
