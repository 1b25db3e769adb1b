"""The LLM checker: `FactChecker` made to fill the port, for texts and fact lists of any length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from factcheck.errors import JudgeError, JudgeRejected
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, Span, Verdict, digest
from factcheck.judges.llm.engine import looking_again
from factcheck.judges.llm.modules import FactChecker, fingerprint, results_of
from factcheck.judges.llm.replies import QUOTE_NOT_FOUND
from factcheck.judges.llm.sections import sections
from factcheck.runtime.answers import Answers
from factcheck.runtime.cache import JSON, answer_key
from factcheck.runtime.flight import Settle
from factcheck.runtime.loop import together

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.judges.ports import Ledger

SECTION = 120_000
"""Characters of text that facts are checked against in one call (about 30,000 tokens)."""
_OVERLAP = 10
"""Neighbouring sections share up to one tenth of their size."""
_ASK_AGAIN = frozenset({"missing", "duplicate", "invalid", "output", "truncated"})
"""Failures that a fresh call may mend; the others have had their retries."""
_STAGE = "check"
_SOME_FACT = AtomicFact("kept", "kept")
"""Stands for the fact of a kept verdict until it is given the one that was asked."""

T = TypeVar("T")


class LLMChecker:
    """Checks facts with a language model, many in one call; fulfils the `Checker` port."""

    def __init__(
        self, model: LanguageModel, *, facts_per_call: int, section: int = SECTION
    ) -> None:
        self._model = model
        self._module = FactChecker()
        self._facts_per_call = facts_per_call
        self._section = section
        self._prompt = fingerprint(FactChecker, self._module.prompt)
        labels = {"task": _STAGE, "judge": model.name}
        self._answers = Answers[CheckResult](model.cache, labels, _to_json, _from_json)

    @property
    def identity(self) -> dict[str, str]:
        """Model, prompt and what else shapes the verdicts."""
        return {"judge": self._model.name, "check": self._prompt, **self._model.identity}

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
            open_facts = [fact for fact in facts if not _settled(results.get(fact.id))]
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
        keys = self._keys(facts, section)
        by_key = {keys[fact.id]: fact for fact in facts}

        async def ask(wanted: Sequence[str], settle: Settle[CheckResult]) -> None:
            async def ask_batch(batch: Sequence[str]) -> None:
                with looking_again(lambda: self._answers.all_known(batch)):
                    results = await self._check_batch([by_key[k] for k in batch], section, ledger)
                answers = dict(zip(batch, results, strict=True))
                if all(_failed_with(result, {"not_asked"}) for result in results):
                    found = await self._answers.known(batch)
                    self._model.book_cache_hits(len(found), ledger, _STAGE)
                    answers.update(found)
                await settle(answers)

            await together(ask_batch(batch) for batch in _batches(wanted, self._facts_per_call))

        resolved = await self._answers.resolve(list(by_key), ask)
        self._model.book_cache_hits(len(resolved.known), ledger, _STAGE)
        return [
            _about(fact, _shifted(resolved.answers[key], span.start))
            for fact, key in ((fact, keys[fact.id]) for fact in facts)
        ]

    def _keys(self, facts: Sequence[AtomicFact], section: str) -> dict[str, str]:
        """The keys of the questions, by the ids of their facts."""
        shared: dict[str, JSON] = {
            "task": _STAGE,
            "prompt": self._prompt,
            "model": dict(self._model.shape),
            "facts_per_call": self._facts_per_call,
            "text": digest(section),
        }
        return {fact.id: answer_key(**shared, fact=fact.text) for fact in facts}

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
            prediction = await self._model.ask(self._module, ledger, _STAGE, facts=facts, text=text)
        except JudgeError as error:
            return [CheckFailure(fact, error.code, str(error)) for fact in facts]
        return results_of(prediction)


def _to_json(result: CheckResult) -> Mapping[str, Any] | None:
    """A verdict without its fact, which is in the key; what could not be decided is not kept."""
    if isinstance(result, CheckFailure):
        return None
    return {name: value for name, value in result.to_dict().items() if name != "fact"}


def _from_json(data: Mapping[str, Any]) -> CheckResult:
    return Verdict.from_dict({**data, "cached": True}, _SOME_FACT)


def _batches(items: Sequence[T], size: int) -> list[Sequence[T]]:
    """The items in as few batches of at most `size` as there can be, of nearly equal length."""
    n, count = len(items), -(-len(items) // size)
    return [items[n * i // count : n * (i + 1) // count] for i in range(count)]


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


def _settled(result: CheckResult | None) -> bool:
    """Whether the next section is not asked: entailed, or waiting for the answer about this one."""
    return _entailed(result) or (result is not None and _failed_with(result, {"queued"}))


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


def _about(fact: AtomicFact, result: CheckResult) -> CheckResult:
    """The same result for a fact that says the same under another id."""
    return result if result.fact == fact else replace(result, fact=fact)


def _shifted(result: CheckResult, offset: int) -> CheckResult:
    """The same result, with its evidence counted from the start of the whole text."""
    if isinstance(result, CheckFailure) or result.evidence is None or offset == 0:
        return result
    return replace(result, evidence=result.evidence.shifted(offset))
