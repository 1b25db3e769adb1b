"""The LLM checker: `FactChecker` behind the port, for texts and fact lists of any length."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from factcheck.errors import JudgeError
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, Verdict, digest
from factcheck.judges.llm.batched import BatchedRequests, failed_with, require_one_not_rejected
from factcheck.judges.llm.fences import sections
from factcheck.judges.llm.modules import FactChecker, fingerprint
from factcheck.judges.llm.replies import QUOTE_NOT_FOUND
from factcheck.runtime.cache import JSON, answer_key
from factcheck.runtime.result_cache import ResultCache

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.judges.ports import Ledger

SECTION = 120_000
"""Characters of text that facts are checked against in one request (about 30,000 tokens)."""
_OVERLAP = 10
"""Neighbouring sections share up to one tenth of their size."""
_STAGE = "check"
_SOME_FACT = AtomicFact("kept", "kept").to_dict()
"""Stands for the fact of a cached verdict until it gets the one that was asked about."""


class LLMChecker:
    """Checks facts with a language model, many in one request; fulfils the `Checker` port."""

    def __init__(self, model: LanguageModel, *, batch_size: int, section: int = SECTION) -> None:
        self._model = model
        self._module = FactChecker()
        self._batch_size = batch_size
        self._section = section
        self._prompt = fingerprint(FactChecker, self._module.prompt)
        labels = {"task": _STAGE, "judge": model.name}
        self._requests = BatchedRequests[AtomicFact, CheckResult](
            model,
            _STAGE,
            ResultCache(model.cache, labels, _to_json, _from_json),
            batch_size=batch_size,
            parts={"truncated": 2},
            is_doubtful=_lacks_evidence,
        )

    @property
    def identity(self) -> dict[str, str]:
        return {"judge": self._model.name, "check": self._prompt, **self._model.identity}

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> tuple[CheckResult, ...]:
        """One result per fact, in fact order.

        A text that is too long for one call is read section by section, and a fact entailed by
        one is not looked for in the next.
        """
        results: dict[str, CheckResult] = {}
        for span in sections(text, self._section, self._section // _OVERLAP):
            section = text[slice(*span)]
            facts_left = [fact for fact in facts if not _is_settled(results.get(fact.id))]
            keys = self._keys(facts_left, section)
            found = await self._requests.results(
                dict(zip(keys, facts_left, strict=True)),
                lambda batch, section=section: self._ask(batch, section),  # type: ignore[misc]
                ledger,
            )
            for fact, key in zip(facts_left, keys, strict=True):
                result = _placed(found[key], fact, span.start)
                earlier = results.get(fact.id, result)
                results[fact.id] = max(result, earlier, key=_weight_in_merge)
        in_order = tuple(results[fact.id] for fact in facts)
        require_one_not_rejected(in_order)
        return in_order

    def _keys(self, facts: Sequence[AtomicFact], section: str) -> list[str]:
        shared: dict[str, JSON] = {
            "task": _STAGE,
            "prompt": self._prompt,
            "model": dict(self._model.shape),
            "facts_per_call": self._batch_size,
            "text": digest(section),
        }
        return [answer_key(**shared, fact=fact.text) for fact in facts]

    async def _ask(self, facts: Sequence[AtomicFact], text: str) -> Sequence[CheckResult]:
        try:
            with self._model.context():
                prediction = await self._module.acall(facts=facts, text=text)
        except JudgeError as error:
            return [CheckFailure(fact, error.code, str(error)) for fact in facts]
        results: tuple[CheckResult, ...] = prediction.results
        return results


def _to_json(result: CheckResult) -> Mapping[str, Any] | None:
    """A verdict without its fact, which is in the key; failures are not cached."""
    if isinstance(result, CheckFailure):
        return None
    return {name: value for name, value in result.to_dict().items() if name != "fact"}


def _from_json(data: Mapping[str, Any]) -> CheckResult:
    return Verdict.from_dict({**data, "fact": _SOME_FACT, "cached": True})


def _weight_in_merge(result: CheckResult) -> int:
    """Entailed by any section is entailed; what one left undecided stays undecided."""
    if isinstance(result, CheckFailure):
        return 2
    return {"neutral": 0, "contradicted": 1, "entailed": 3}[result.label]


def _is_settled(result: CheckResult | None) -> bool:
    """Whether no other section is asked: entailed, or waiting for the answer about this one."""
    if isinstance(result, Verdict):
        return result.supported
    return result is not None and failed_with(result, {"queued"})


def _lacks_evidence(result: CheckResult) -> bool:
    return isinstance(result, Verdict) and result.supported and QUOTE_NOT_FOUND in result.flags


def _placed(result: CheckResult, fact: AtomicFact, offset: int) -> CheckResult:
    """The result for a fact of the same text, its evidence counted from the whole text's start."""
    if isinstance(result, CheckFailure):
        return CheckFailure(fact, result.code, result.message)
    evidence = result.evidence
    if offset and evidence is not None:
        evidence = evidence.shifted(offset)
    if result.fact is fact and evidence is result.evidence:
        return result
    return replace(result, fact=fact, evidence=evidence)
