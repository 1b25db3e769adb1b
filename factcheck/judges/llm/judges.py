"""LLM judges of facts, value pairs and summaries: the DSPy modules behind the ports."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from factcheck.errors import Failure, InputError, JudgeError, JudgeQueued
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
    Request,
    code_of,
    even_batches,
    require_one_not_rejected,
)
from factcheck.judges.llm.fences import field_of, order_of, sections, shown_values
from factcheck.judges.llm.modules import (
    FactChecker,
    LLMJudge,
    SemanticEquivalence,
    TextsChecker,
)
from factcheck.judges.ports import PairResult, PairVerdict, Rating, RatingResult, ValuePair

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.judges.ports import Ledger
    from factcheck.runtime.cache import JSON

_OVERLAP = 10
"""Maximum overlap of neighbouring sections, as a divisor of their size."""
_LONG_PAIR = 4_000
"""Minimum number of characters, of both values together, for a pair to be sent by itself.

Values are never truncated, so a pair that exceeds the context window must not fail its batch.
"""
_SPLIT_CODES = ("output", "truncated", "refused")
"""Request failures that a single value may have caused: the pairs are retried one by one."""
_RETRY_ALONE_CODES = {"missing", "duplicate", "invalid", "rejected", *_SPLIT_CODES}
"""Failures in a request about several texts that are retried for each text by itself."""
FLIPPED = "flipped"
"""Flag of a majority verdict with dissent, and failure code where there is no majority."""

_LABELS = get_args(EntailmentLabel)


class _Section(NamedTuple):
    """A part of a text that fits into a request; mostly all of it."""

    text: str
    whole: str
    """The text it is a part of."""
    start: int
    digest: str

    @classmethod
    def all_of(cls, text: str, size: int) -> list[_Section]:
        spans = sections(text, size, size // _OVERLAP)
        parts = [text[slice(*span)] for span in spans]
        return [
            cls(part, text, span.start, digest(part))
            for part, span in zip(parts, spans, strict=True)
        ]


class _FactQuestion(NamedTuple):
    fact: AtomicFact
    section: _Section
    repeat: int
    """0 for the first time that the fact is checked."""


class LLMChecker(BatchedJudge[_FactQuestion, CheckResult]):
    """Checks facts with a language model in batches; implements `Checker`."""

    stage = "check"
    section = 120_000
    """Maximum characters of text in one request (about 30,000 tokens)."""

    def __init__(self, model: LanguageModel, *, batch_size: int) -> None:
        settings = model.settings
        module = FactChecker(settings.verdict)
        super().__init__(model, module, batch_size=batch_size, parts={"truncated": 2})
        self.summaries_per_call = n = settings.summaries_per_call
        """Maximum number of summaries in one request."""
        self._repeats_per_fact = settings.repeats
        self._shared: dict[str, JSON] = {"facts_per_call": batch_size}
        if n > 1:
            self._shared["summaries_per_call"] = n
            self._for_texts = TextsChecker(settings.verdict)
            self._prompt += f"+{self._for_texts.fingerprint}"

    @property
    def identity(self) -> dict[str, str]:
        numbers = {
            "summaries_per_call": self.summaries_per_call,
            "repeats": self._repeats_per_fact,
        }
        return {**super().identity, **{name: str(n) for name, n in numbers.items() if n > 1}}

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> tuple[CheckResult, ...]:
        """Check facts against a text; see `check_summaries`."""
        (results,) = await self.check_summaries(facts, [text], ledger)
        return results

    async def check_summaries(
        self, facts: Sequence[AtomicFact], summaries: Sequence[str], ledger: Ledger
    ) -> list[tuple[CheckResult, ...]]:
        """Return one result per fact, in fact order, for each summary.

        A summary that is too long for one request is checked section by section; facts that a
        section entails are not checked against later ones. With `repeats`, facts are checked that
        many times, in different orders, and the majority verdict counts.

        Raises:
            JudgeRejected: Every request was rejected.
        """
        seeds = map(random.Random, range(1, self._repeats_per_fact))
        orders = [facts, *(seed.sample(facts, len(facts)) for seed in seeds)]
        parts = {text: _Section.all_of(text, self.section) for text in summaries}
        found: dict[tuple[str, int, str], CheckResult] = {}
        for number in range(max(map(len, parts.values()))):
            questions = [
                _FactQuestion(fact, part, repeat)
                for of_text in parts.values()
                for part in of_text[number : number + 1]
                for repeat, order in enumerate(orders)
                for fact in order
                if not _is_settled(found.get((part.whole, repeat, fact.id)))
            ]
            results = await self._results(questions, ledger, **self._shared)
            for (fact, part, repeat), result in zip(questions, results, strict=True):
                placed, key = _placed(result, fact, part.start), (part.whole, repeat, fact.id)
                earlier = found.get(key)
                found[key] = placed if earlier is None else strongest([placed, earlier])
        require_one_not_rejected(list(found.values()))
        times = range(len(orders))
        return [
            tuple(_majority([found[text, n, fact.id] for n in times]) for fact in facts)
            for text in summaries
        ]

    def _batches(self, questions: Mapping[str, _FactQuestion]) -> list[list[str]]:
        """Group texts that are checked against the same facts; long texts are sent alone."""
        keys_of: dict[tuple[int, str], list[str]] = {}
        for key, question in questions.items():
            keys_of.setdefault((question.repeat, question.section.text), []).append(key)
        groups: dict[tuple[Any, ...], list[list[str]]] = {}
        for (repeat, text), keys in keys_of.items():
            facts = tuple(questions[key].fact.text for key in keys)
            alone = text if len(text) > self.section // self.summaries_per_call else ""
            groups.setdefault((repeat, alone, facts), []).append(keys)
        return [
            [keys[n] for keys in some for n in numbers]
            for (*_, facts), group in groups.items()
            for some in even_batches(group, self.summaries_per_call)
            for numbers in even_batches(range(len(facts)), self._batch_size)
        ]

    def _request(self, questions: Sequence[_FactQuestion]) -> Request:
        facts = FactSet(
            tuple({question.fact.text: question.fact for question in questions}.values())
        )
        texts = list(dict.fromkeys(question.section.text for question in questions))
        if len(texts) > 1:
            return self._for_texts.request(facts=facts, texts=texts)
        return self._module.request(facts=facts, text=texts[0])  # type: ignore[no-any-return]

    def _outcome(self, reply: Any, questions: Sequence[_FactQuestion]) -> Sequence[CheckResult]:
        """Pick the results for the questions from those for every fact with every text."""
        facts = dict.fromkeys(question.fact.text for question in questions)
        texts = dict.fromkeys(question.section.text for question in questions)
        found = dict(zip(product(texts, facts), reply.values(), strict=True))
        return [found[question.section.text, question.fact.text] for question in questions]

    def _repeats(
        self, questions: Sequence[_FactQuestion], results: Sequence[CheckResult]
    ) -> tuple[list[list[int]], bool]:
        """Repeat each text by itself."""
        by_text: dict[str, list[int]] = {}
        for n, (question, result) in enumerate(zip(questions, results, strict=True)):
            failed = by_text.setdefault(question.section.text, [])
            if code_of(result) in _RETRY_ALONE_CODES:
                failed.append(n)
        if len(by_text) == 1:
            return super()._repeats(questions, results)
        return [failed for failed in by_text.values() if failed], False

    def _key_parts(self, question: _FactQuestion) -> tuple[JSON, ...]:
        return question.section.digest, question.repeat

    def _name(self, question: _FactQuestion) -> str:
        return question.fact.text

    def _failure(self, question: _FactQuestion, error: JudgeError) -> CheckResult:
        return CheckFailure.of(question.fact, error)

    def _to_json(self, result: CheckResult) -> JSON:
        if isinstance(result, CheckFailure):
            return None
        place = (result.evidence.start, result.evidence.end) if result.evidence else None
        return [result.label, result.probability, place, result.reason, result.flags]

    def _from_json(self, data: Any, question: _FactQuestion) -> CheckResult:
        label, probability, place, reason, flags = data
        text = question.section.text
        is_valid = (
            label in _LABELS
            and (
                probability is None or (type(probability) in {int, float} and 0 <= probability <= 1)
            )
            and (place is None or _is_within(place, text))
            and type(reason) is str
            and type(flags) is list
            and all(type(flag) is str for flag in flags)
        )
        if not is_valid:
            raise InputError("the verdict is not one that this version writes")
        evidence = None if place is None else Evidence(text[slice(*place)], *place)
        content = (label, probability, evidence, reason, self._model.name)
        return Verdict(question.fact, *content, cached=True, flags=tuple(flags))


def _is_within(place: Any, text: str) -> bool:
    start, end = place
    return type(start) is type(end) is int and 0 <= start < end <= len(text)


def _majority(results: Sequence[CheckResult]) -> CheckResult:
    """Return the verdict whose label more than half of the results share, or a failure."""
    if len(results) == 1:
        return results[0]
    verdicts = [result for result in results if isinstance(result, Verdict)]
    labels = Counter(verdict.label for verdict in verdicts)
    for chosen in verdicts:
        if 2 * labels[chosen.label] > len(results):
            known = [one.probability for one in verdicts if one.probability is not None]
            mean = sum(known) / len(known) if len(known) == len(verdicts) else None
            flags = (*chosen.flags, FLIPPED) if len(labels) > 1 else chosen.flags
            return replace(chosen, probability=mean, flags=flags)
    if failures := [result for result in results if isinstance(result, CheckFailure)]:
        return failures[0]
    tally = ", ".join(f"{n} {label}" for label, n in labels.items())
    return CheckFailure(results[0].fact, FLIPPED, f"{len(results)} checks disagree: {tally}")


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
    evidence = result.evidence and result.evidence.shifted(offset)
    return Verdict(
        *(fact, result.label, result.probability, evidence, result.reason, result.judge),
        cached=result.cached,
        flags=result.flags,
    )


class LLMPairJudge(BatchedJudge[ValuePair, PairResult]):
    """Compares values with a language model in batches; implements `PairJudge`.

    The cache key of a verdict covers everything sent about its pair, and nothing about the other
    pairs of the batch.
    """

    stage = "compare"
    result = PairVerdict

    def __init__(self, model: LanguageModel, *, batch_size: int) -> None:
        parts = dict.fromkeys(_SPLIT_CODES, batch_size)
        super().__init__(model, SemanticEquivalence(), batch_size=batch_size, parts=parts)

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
        return field_of(question), shown_values(question)

    def _request(self, questions: Sequence[ValuePair]) -> Request:
        return self._module.request(pairs=questions)  # type: ignore[no-any-return]


class _RatingQuestion(NamedTuple):
    source_text: str
    summary: str


class LLMRater(BatchedJudge[_RatingQuestion, RatingResult]):
    """Rates summaries with a language model, one per request; implements `Rater`.

    An invalid reply is retried once. Texts are never truncated: one that exceeds the context window
    is a failure (`rejected`).
    """

    stage = "rate"
    result = Rating

    def __init__(self, model: LanguageModel) -> None:
        super().__init__(model, LLMJudge())

    async def rate(self, source: str, summary: str, ledger: Ledger) -> RatingResult:
        """Return a rating or a failure.

        Raises:
            InputError: A text is not a string, or the source is blank. A blank summary is valid.
        """
        for what, text in (("source", source), ("summary", summary)):
            if not isinstance(text, str):
                raise InputError(f"the {what} must be a string, not {type(text).__name__}")
        if not source.strip():
            raise InputError("the source is empty; there is nothing to rate a summary by")
        (result,) = await self._results([_RatingQuestion(source, summary)], ledger)
        return result

    def _key_parts(self, question: _RatingQuestion) -> tuple[JSON, ...]:
        return digest(question.source_text), digest(question.summary)

    def _request(self, questions: Sequence[_RatingQuestion]) -> Request:
        return self._module.request(**questions[0]._asdict())  # type: ignore[no-any-return]

    def _outcome(
        self,
        reply: Any,
        questions: Sequence[_RatingQuestion],  # noqa: ARG002
    ) -> Sequence[RatingResult]:
        return [Rating(reply["faithfulness"], reply["reason"], self._model.name)]

    def _failure(self, question: _RatingQuestion, error: JudgeError) -> RatingResult:
        return Failure.of(question.summary, error)
