"""The LLM judges: DSPy modules made to fill the ports, for texts and fact lists of any length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from factcheck.errors import JudgeError, JudgeOutputError, JudgeRejected, JudgeTruncated
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, FactSet, Span, Verdict, digest
from factcheck.judges.llm.fences import one_line
from factcheck.judges.llm.modules import FactChecker, KeyFactExtraction, fingerprint, results_of
from factcheck.judges.llm.replies import QUOTE_NOT_FOUND
from factcheck.judges.llm.sections import sections
from factcheck.judges.local.checker import check_facts
from factcheck.judges.local.duplicates import drop_near_duplicates
from factcheck.runtime.loop import together

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.judges.ports import Ledger

EXTRACT_SECTION = 16_000
"""Characters of source whose facts a model lists in one call (about 4,000 tokens)."""
CHECK_SECTION = 120_000
"""Characters of text that facts are checked against in one call (about 30,000 tokens)."""
_OVERLAP = 10
"""Neighbouring sections share up to one tenth of their size."""
_SMALLEST_SECTION = 1_000
"""A section whose list of facts was cut off is halved, down to this many characters."""
_ASK_AGAIN = frozenset({"missing", "duplicate", "invalid", "output", "truncated"})
"""Failures that a fresh call may mend; the others have had their retries."""


class LLMExtractor:
    """Lists facts with a language model; fulfils the `Extractor` port."""

    def __init__(self, model: LanguageModel, *, section: int = EXTRACT_SECTION) -> None:
        self._model = model
        self._module = KeyFactExtraction()
        self._section = section

    @property
    def identity(self) -> dict[str, str]:
        """Model, prompt and what else shapes the list."""
        prompt = fingerprint(KeyFactExtraction, self._module.prompt)
        return {"extractor": self._model.name, "extract": prompt, **self._model.identity}

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        """The facts of all sections, without those that say the same.

        Raises:
            JudgeError: One section could not be had; a partial list is never returned.
        """
        spans = sections(source, self._section, self._section // _OVERLAP)
        lists = await together(self._list_facts(source[slice(*span)], ledger) for span in spans)
        texts = dict.fromkeys(one_line(text) for texts in lists for text in texts)
        facts: Sequence[AtomicFact] = FactSet.of(list(texts)).facts
        if len(spans) > 1:
            facts = drop_near_duplicates(facts)
        return FactSet(_located(facts, source), digest(source), tuple(self.identity.items()))

    async def _list_facts(self, section: str, ledger: Ledger) -> list[str]:
        try:
            return await self._ask(section, ledger)
        except JudgeTruncated:
            if len(section) < 2 * _SMALLEST_SECTION:
                raise
            half = len(section) * 6 // 10
            halves = sections(section, half, len(section) // _OVERLAP)
            lists = await together(self._list_facts(section[slice(*s)], ledger) for s in halves)
            return [text for texts in lists for text in texts]
        except JudgeOutputError:
            return await self._ask(section, ledger)

    async def _ask(self, section: str, ledger: Ledger) -> list[str]:
        prediction = await self._model.ask(self._module, ledger, source=section)
        facts: list[str] = prediction.facts
        return facts


class LLMChecker:
    """Checks facts with a language model, many in one call; fulfils the `Checker` port."""

    def __init__(
        self, model: LanguageModel, *, facts_per_call: int, section: int = CHECK_SECTION
    ) -> None:
        self._model = model
        self._module = FactChecker()
        self._facts_per_call = facts_per_call
        self._section = section

    @property
    def identity(self) -> dict[str, str]:
        """Model, prompt and what else shapes the verdicts."""
        prompt = fingerprint(FactChecker, self._module.prompt)
        return {"judge": self._model.name, "check": prompt, **self._model.identity}

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> tuple[CheckResult, ...]:
        """One result per fact, in fact order.

        A text that is too long for one call is read section by section, and a fact entailed by
        one is not looked for in the next.

        Raises:
            JudgeRejected: Every single call was turned down: nothing can be had from this judge.
        """
        results: dict[str, CheckResult] = {}
        for span in sections(text, self._section, self._section // _OVERLAP):
            open_facts = [fact for fact in facts if not _entailed(results.get(fact.id))]
            for result in await self._check_section(open_facts, text, span, ledger):
                results[result.fact.id] = _merge(results.get(result.fact.id), result)
        in_order = tuple(results[fact.id] for fact in facts)
        if in_order and all(_failed_with(result, {"rejected"}) for result in in_order):
            raise JudgeRejected(_message(in_order[0]))
        return in_order

    async def _check_section(
        self, facts: Sequence[AtomicFact], text: str, span: Span, ledger: Ledger
    ) -> list[CheckResult]:
        section = text[slice(*span)]
        batches = await together(
            self._check_batch(batch, section, ledger)
            for batch in _batches(facts, self._facts_per_call)
        )
        return [_shifted(result, span.start) for batch in batches for result in batch]

    async def _check_batch(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> list[CheckResult]:
        """Ask once, then once more for what did not come back as it should."""
        first = await self._ask(facts, text, ledger)
        again = [result.fact for result in first if _worth_asking_again(result)]
        cut_off = any(_failed_with(result, {"truncated"}) for result in first)
        size = (len(again) + 1) // 2 if cut_off else len(again)
        lists = await together(
            self._ask(batch, text, ledger) for batch in _batches(again, max(1, size))
        )
        second = {result.fact.id: result for results in lists for result in results}
        return [_better(result, second.get(result.fact.id)) for result in first]

    async def _ask(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        try:
            prediction = await self._model.ask(self._module, ledger, facts=facts, text=text)
        except JudgeError as error:
            return [CheckFailure(fact, error.code, str(error)) for fact in facts]
        return results_of(prediction)


def _located(facts: Sequence[AtomicFact], source: str) -> tuple[AtomicFact, ...]:
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


def _batches(facts: Sequence[AtomicFact], size: int) -> list[Sequence[AtomicFact]]:
    """The facts in as few batches of at most `size` as there can be, of nearly equal length."""
    count = -(-len(facts) // size)
    return [facts[len(facts) * i // count : len(facts) * (i + 1) // count] for i in range(count)]


def _merge(earlier: CheckResult | None, result: CheckResult) -> CheckResult:
    """Of two sections: entailed anywhere is entailed; what one left open stays open."""
    if earlier is None:
        return result
    return max(result, earlier, key=_weight_in_merge)


def _weight_in_merge(result: CheckResult) -> int:
    if isinstance(result, CheckFailure):
        return 2
    return {"neutral": 0, "contradicted": 1, "entailed": 3}[result.label]


def _better(first: CheckResult, second: CheckResult | None) -> CheckResult:
    """The later verdict; a failure never replaces a verdict."""
    if second is None or (isinstance(second, CheckFailure) and isinstance(first, Verdict)):
        return first
    return second


def _entailed(result: CheckResult | None) -> bool:
    return isinstance(result, Verdict) and result.supported


def _failed_with(result: CheckResult, codes: set[str] | frozenset[str]) -> bool:
    return isinstance(result, CheckFailure) and result.code in codes


def _worth_asking_again(result: CheckResult) -> bool:
    if isinstance(result, Verdict):
        return result.supported and QUOTE_NOT_FOUND in result.flags
    return result.code in _ASK_AGAIN


def _message(result: CheckResult) -> str:
    return result.message if isinstance(result, CheckFailure) else ""


def _shifted(result: CheckResult, offset: int) -> CheckResult:
    """The same result, with its evidence counted from the start of the whole text."""
    if isinstance(result, CheckFailure) or result.evidence is None or offset == 0:
        return result
    return replace(result, evidence=result.evidence.shifted(offset))
