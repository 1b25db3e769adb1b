"""The LLM checker: `FactChecker` made to fill the port, for texts and fact lists of any length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from factcheck.errors import JudgeError
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, Span, Verdict, digest
from factcheck.judges.llm.asking import Asker, failed_with, require_one_not_rejected
from factcheck.judges.llm.modules import FactChecker, fingerprint, results_of
from factcheck.judges.llm.replies import QUOTE_NOT_FOUND
from factcheck.judges.llm.sections import sections
from factcheck.runtime.answers import Answers
from factcheck.runtime.cache import JSON, answer_key

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.judges.ports import Ledger

SECTION = 120_000
"""Characters of text that facts are checked against in one call (about 30,000 tokens)."""
_OVERLAP = 10
"""Neighbouring sections share up to one tenth of their size."""
_STAGE = "check"
_SOME_FACT = AtomicFact("kept", "kept").to_dict()
"""Stands for the fact of a kept verdict until it is given the one that was asked."""


class LLMChecker:
    """Checks facts with a language model, many in one call; fulfils the `Checker` port."""

    def __init__(self, model: LanguageModel, *, batch_size: int, section: int = SECTION) -> None:
        self._model = model
        self._module = FactChecker()
        self._batch_size = batch_size
        self._section = section
        self._prompt = fingerprint(FactChecker, self._module.prompt)
        labels = {"task": _STAGE, "judge": model.name}
        self._asker = Asker[AtomicFact, CheckResult](
            model,
            _STAGE,
            Answers(model.cache, labels, _to_json, _from_json),
            per_call=batch_size,
            parts={"truncated": 2},
            doubtful=_without_evidence,
        )

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
        require_one_not_rejected(in_order)
        return in_order

    async def _check_section(
        self, facts: Sequence[AtomicFact], text: str, span: Span, ledger: Ledger
    ) -> list[CheckResult]:
        section = text[slice(*span)]
        keys = self._keys(facts, section)
        results = await self._asker.results(
            {keys[fact.id]: fact for fact in facts},
            lambda call: self._ask(call, section, ledger),
            ledger,
        )
        return [_about(fact, _shifted(results[keys[fact.id]], span.start)) for fact in facts]

    def _keys(self, facts: Sequence[AtomicFact], section: str) -> dict[str, str]:
        """The keys of the questions, by the ids of their facts."""
        shared: dict[str, JSON] = {
            "task": _STAGE,
            "prompt": self._prompt,
            "model": dict(self._model.shape),
            "facts_per_call": self._batch_size,
            "text": digest(section),
        }
        return {fact.id: answer_key(**shared, fact=fact.text) for fact in facts}

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
    return Verdict.from_dict({**data, "fact": _SOME_FACT, "cached": True})


def _merge(earlier: CheckResult | None, result: CheckResult) -> CheckResult:
    """Of two sections: entailed anywhere is entailed; what one left open stays open."""
    if earlier is None:
        return result
    return max(result, earlier, key=_weight_in_merge)


def _weight_in_merge(result: CheckResult) -> int:
    if isinstance(result, CheckFailure):
        return 2
    return {"neutral": 0, "contradicted": 1, "entailed": 3}[result.label]


def _settled(result: CheckResult | None) -> bool:
    """Whether the next section is not asked: entailed, or waiting for the answer about this one."""
    return _entailed(result) or (result is not None and failed_with(result, {"queued"}))


def _entailed(result: CheckResult | None) -> bool:
    return isinstance(result, Verdict) and result.supported


def _without_evidence(result: CheckResult) -> bool:
    return isinstance(result, Verdict) and result.supported and QUOTE_NOT_FOUND in result.flags


def _about(fact: AtomicFact, result: CheckResult) -> CheckResult:
    """The same result for a fact that says the same under another id."""
    return result if result.fact == fact else replace(result, fact=fact)


def _shifted(result: CheckResult, offset: int) -> CheckResult:
    """The same result, with its evidence counted from the start of the whole text."""
    if isinstance(result, CheckFailure) or result.evidence is None or offset == 0:
        return result
    return replace(result, evidence=result.evidence.shifted(offset))
