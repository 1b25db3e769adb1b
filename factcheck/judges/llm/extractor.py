"""The LLM extractor: `KeyFactExtraction` behind the port, for sources of any length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from factcheck.documents import Reader
from factcheck.errors import JudgeNotAsked, JudgeOutputError, JudgeTruncated
from factcheck.facts import AtomicFact, FactSet, Span, digest
from factcheck.judges.llm.engine import record_usage
from factcheck.judges.llm.fences import one_line, sections
from factcheck.judges.llm.modules import KeyFactExtraction, fingerprint
from factcheck.judges.local.checker import check_facts
from factcheck.judges.local.duplicates import drop_near_duplicates
from factcheck.runtime.cache import answer_key
from factcheck.runtime.loop import together
from factcheck.runtime.result_cache import ResultCache, Settle

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.judges.ports import Ledger

SECTION = 16_000
"""Characters of source whose facts a model lists in one request (about 4,000 tokens)."""
_OVERLAP = 10
"""Neighbouring sections share up to one tenth of their size."""
_SMALLEST_SECTION = 1_000
"""A section whose list of facts was cut off is halved, down to this many characters."""
_STAGE = "extract"


class LLMExtractor:
    """Lists facts with a language model; fulfils the `Extractor` port."""

    def __init__(self, model: LanguageModel, *, section: int = SECTION) -> None:
        self._model = model
        self._module = KeyFactExtraction()
        self._section = section
        self._prompt = fingerprint(KeyFactExtraction)
        labels = {"task": _STAGE, "judge": model.name}
        self._cache = ResultCache[tuple[str, ...]](model.cache, labels, _to_json, _from_json)

    @property
    def identity(self) -> dict[str, str]:
        return {"extractor": self._model.name, "extract": self._prompt, **self._model.identity}

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        spans = sections(source, self._section, self._section // _OVERLAP)
        asked = await together(self._section_if_asked(source[slice(*s)], ledger) for s in spans)
        lists = [_require_asked(facts) for facts in asked]
        texts = dict.fromkeys(one_line(text) for texts in lists for text in texts)
        facts: Sequence[AtomicFact] = FactSet.of(list(texts)).facts
        if len(spans) > 1:
            facts = drop_near_duplicates(facts)
        return FactSet(_located(tuple(facts), source), digest(source), tuple(self.identity.items()))

    def _key(self, section: str) -> str:
        return answer_key(
            task=_STAGE, prompt=self._prompt, model=self._model.shape, text=digest(section)
        )

    async def _section_facts(self, section: str, ledger: Ledger) -> tuple[str, ...]:
        key = self._key(section)

        async def is_cached() -> bool:
            return key in await self._cache.known([key])

        async def ask(keys: Sequence[str], settle: Settle[tuple[str, ...]]) -> None:
            try:
                with record_usage(ledger, _STAGE, is_cached):
                    facts = tuple(await self._list_facts(section))
            except JudgeNotAsked:
                found = await self._cache.known(keys)
                if not found:
                    raise
                facts = found[key]
            await settle(dict.fromkeys(keys, facts))

        resolved = await self._cache.resolve([key], ask, now=lambda _: self._key(section))
        self._model.record_cache_hits(len(resolved.cached), ledger, _STAGE)
        return resolved.results[key]

    async def _section_if_asked(
        self, section: str, ledger: Ledger
    ) -> tuple[str, ...] | JudgeNotAsked:
        """A section that is queued must not keep the others from being queued, too."""
        try:
            return await self._section_facts(section, ledger)
        except JudgeNotAsked as error:
            return error

    async def _list_facts(self, section: str) -> list[str]:
        try:
            return await self._ask(section)
        except JudgeTruncated:
            if len(section) < 2 * _SMALLEST_SECTION:
                raise
            half = len(section) * 6 // 10
            halves = sections(section, half, len(section) // _OVERLAP)
            lists = await together(self._list_facts(section[slice(*span)]) for span in halves)
            return [text for texts in lists for text in texts]
        except JudgeOutputError:
            return await self._ask(section)

    async def _ask(self, section: str) -> list[str]:
        reply = await self._model.ask(self._module.request(self._model.name, source=section))
        facts: list[str] = reply["facts"]
        return facts


def _require_asked(facts: tuple[str, ...] | JudgeNotAsked) -> tuple[str, ...]:
    if isinstance(facts, JudgeNotAsked):
        raise facts
    return facts


def _to_json(facts: tuple[str, ...]) -> Mapping[str, Any] | None:
    """A list of facts; an empty one is not cached, because it may be a bad reply."""
    return {"facts": list(facts)} if facts else None


def _from_json(data: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(Reader(data, "cached list of facts").get("facts", list[str]))


@lru_cache(maxsize=64)
def _located(facts: tuple[AtomicFact, ...], source: str) -> tuple[AtomicFact, ...]:
    """The facts, numbered, each with the passage of the source that states it if one is found.

    Found by the embedded checker: a model's word for where it read something proves nothing.
    """
    verdicts = check_facts(facts, source)
    return tuple(
        AtomicFact(
            id=f"f{number}",
            text=verdict.fact.text,
            span=Span(verdict.evidence.start, verdict.evidence.end)
            if verdict.supported and verdict.evidence
            else None,
        )
        for number, verdict in enumerate(verdicts, 1)
    )
