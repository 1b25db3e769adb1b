"""LLM judges of facts, value pairs and summaries: the DSPy modules behind the ports."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, get_args

from factcheck.errors import ContextExceeded, Failure, InputError, JudgeError, JudgeQueued
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    EntailmentLabel,
    Evidence,
    FactSet,
    Verdict,
    digest,
    strongest,
)
from factcheck.judges.llm.batched import (
    BatchedJudge,
    code_of,
    even_batches,
    require_one_not_rejected,
)
from factcheck.judges.llm.fences import order_of, sections
from factcheck.judges.llm.modules import FactChecker, LLMJudge, SemanticEquivalence
from factcheck.judges.ports import PairResult, PairVerdict, ValuePair

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger
    from factcheck.runtime.cache import JSON

_LEAST_SECTION = 1_000
"""Minimum size of a section, for a model that reads little."""
_LONG_PAIR = 4_000
"""Minimum number of characters, of both values together, for a pair to be sent by itself.

Values are never truncated, so a pair that exceeds the context window must not fail its batch.
"""
_ONE_BY_ONE = dict.fromkeys(("output", "truncated", "refused", "context"), 1_000)
"""Request failures that a single value may have caused, in more parts than there are pairs."""

_LABELS = get_args(EntailmentLabel)


class _Section(NamedTuple):
    """A part of a text that fits into a request; mostly all of it."""

    text: str
    start: int
    digest: str

    @classmethod
    def all_of(cls, text: str, size: int) -> list[_Section]:
        spans = sections(text, size)
        parts = [text[slice(*span)] for span in spans]
        return [
            cls(part, span.start, digest(part)) for part, span in zip(parts, spans, strict=True)
        ]


class _FactQuestion(NamedTuple):
    fact: AtomicFact
    section: _Section


class LLMChecker(BatchedJudge[_FactQuestion, CheckResult]):
    """Checks facts with a language model in batches; implements `Checker`."""

    asks = FactChecker
    stage = "check"
    repeated: ClassVar = {**BatchedJudge.repeated, "truncated": 2}
    section = 120_000
    """Maximum characters of text in one request (about 30,000 tokens)."""

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> tuple[CheckResult, ...]:
        """Return one result per fact, in fact order.

        A text that is too long for one request is checked section by section; facts that a section
        entails are not checked against later ones.

        Raises:
            JudgeRejected: Every request was rejected.
        """
        found: dict[str, CheckResult] = {}
        sections = deque(_Section.all_of(text, min(self.section, self._most_read(facts))))
        while sections:
            section = sections.popleft()
            open_facts = [fact for fact in facts if not _is_settled(found.get(fact.id))]
            questions = [_FactQuestion(fact, section) for fact in open_facts]
            results = await self._results(questions, ledger, facts_per_call=self._batch_size)
            parts = self._parts_of(section, facts, results)
            sections.extendleft(reversed(parts))
            for fact, result in zip(open_facts, results, strict=True):
                if not (parts and code_of(result) == ContextExceeded.code):
                    placed, earlier = _placed(result, fact, section.start), found.get(fact.id)
                    found[fact.id] = placed if earlier is None else strongest([placed, earlier])
        require_one_not_rejected(list(found.values()))
        return tuple(found[fact.id] for fact in facts)

    def _parts_of(
        self, section: _Section, facts: Sequence[AtomicFact], results: Sequence[CheckResult]
    ) -> list[_Section]:
        """Split a section that the model did not read whole, so that the facts are asked again."""
        size = min(self._most_read(facts), len(section.text) * 6 // 10)
        is_cut = any(code_of(result) == ContextExceeded.code for result in results)
        if not is_cut or size < _LEAST_SECTION:
            return []
        return [
            part._replace(start=section.start + part.start)
            for part in _Section.all_of(section.text, size)
        ]

    def _most_read(self, facts: Sequence[AtomicFact]) -> int:
        """Maximum number of characters of a text that the model reads beside a batch of facts."""
        batch = FactSet(tuple(facts[: self._batch_size]))
        empty = partial(self._module.request, facts=batch, text="")
        return max(_LEAST_SECTION, self._model.most_characters(empty))

    def _inputs(self, questions: Sequence[_FactQuestion]) -> Mapping[str, Any]:
        facts = FactSet(tuple(question.fact for question in questions))
        return {"facts": facts, "text": questions[0].section.text}

    def _key_parts(self, question: _FactQuestion) -> tuple[JSON, ...]:
        return (question.section.digest,)

    def _name(self, question: _FactQuestion) -> str:
        return question.fact.text

    def _failure(self, question: _FactQuestion, error: JudgeError) -> CheckResult:
        return CheckFailure.of(question.fact, error)

    def _to_json(self, result: CheckResult) -> JSON:
        if isinstance(result, CheckFailure):
            return None
        place = (result.evidence.start, result.evidence.end) if result.evidence else None
        return [result.label, place]

    def _from_json(self, data: Any, question: _FactQuestion) -> CheckResult:
        label, place = data
        text = question.section.text
        if label not in _LABELS or not (place is None or _is_within(place, text)):
            raise InputError("the verdict is not one that this version writes")
        evidence = None if place is None else Evidence(text[slice(*place)], *place)
        content = (label, None, evidence, "", self._model.name)
        return Verdict(question.fact, *content, cached=True)


def _is_within(place: Any, text: str) -> bool:
    start, end = place
    return type(start) is type(end) is int and 0 <= start < end <= len(text)


def _is_settled(result: CheckResult | None) -> bool:
    """Whether to skip further sections: the fact is entailed, or its request is queued."""
    if isinstance(result, Verdict):
        return result.supported
    return code_of(result) == JudgeQueued.code


def _placed(result: CheckResult, fact: AtomicFact, offset: int) -> CheckResult:
    """Set the fact of a result and shift its evidence by the offset of the section."""
    if isinstance(result, CheckFailure):
        return CheckFailure(fact, result.code, result.message)
    if result.fact is fact and not offset:
        return result
    return replace(result, fact=fact, evidence=result.evidence and result.evidence.shifted(offset))


class LLMPairJudge(BatchedJudge[ValuePair, PairResult]):
    """Compares values with a language model in batches; implements `PairJudge`.

    The cache key of a verdict covers everything sent about its pair, and nothing about the other
    pairs of the batch.
    """

    asks = SemanticEquivalence
    stage = "compare"
    result = PairVerdict
    repeated: ClassVar = {**BatchedJudge.repeated, **_ONE_BY_ONE}

    async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> tuple[PairResult, ...]:
        """Return one result per pair, in pair order; equal pairs are sent once.

        Raises:
            JudgeRejected: Every request was rejected.
        """
        results = await self._results(pairs, ledger, pairs_per_call=self._batch_size)
        require_one_not_rejected(results)
        return tuple(results)

    def _batches(self, questions: Mapping[str, ValuePair]) -> list[list[str]]:
        in_order = sorted(questions, key=lambda key: order_of(questions[key]))
        size = {key: len(questions[key].gold + questions[key].extracted) for key in in_order}
        return [
            *([key] for key in in_order if size[key] >= _LONG_PAIR),
            *even_batches([key for key in in_order if size[key] < _LONG_PAIR], self._batch_size),
        ]

    def _key_parts(self, question: ValuePair) -> tuple[JSON, ...]:
        return order_of(question)

    def _inputs(self, questions: Sequence[ValuePair]) -> Mapping[str, Any]:
        return {"pairs": questions}


@dataclass(frozen=True, slots=True)
class Rating:
    """Faithfulness of a summary to its source, as one number."""

    value: int
    """From 1 (hardly anything is kept) to 5 (everything is)."""
    reason: str


RatingResult = Rating | Failure[Any]


class LLMRater(BatchedJudge[tuple[str, str], RatingResult]):
    """Rates whole summaries with a language model, one per request.

    An invalid reply is retried once. Texts are never truncated: one that exceeds the context window
    is a failure.
    """

    asks = LLMJudge
    stage = "rate"
    result = Rating

    async def rate(self, source: str, summary: str, ledger: Ledger) -> RatingResult:
        (result,) = await self._results([(source, summary)], ledger)
        return result

    def _key_parts(self, question: tuple[str, str]) -> tuple[JSON, ...]:
        return tuple(map(digest, question))

    def _inputs(self, questions: Sequence[tuple[str, str]]) -> Mapping[str, Any]:
        return dict(zip(("source_text", "summary"), questions[0], strict=True))

    def _outcome(self, reply: Any) -> Sequence[RatingResult]:
        return [Rating(reply["faithfulness"], reply["reason"])]
