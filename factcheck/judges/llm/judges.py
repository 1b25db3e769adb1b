"""LLM judges of facts, value pairs and summaries, and the extractor: DSPy modules behind the ports.

A judge answers from the cache first and asks the rest in batches. Missing, duplicate and invalid
results are retried once, in a separate request.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, TypeAlias, TypeVar, get_args

from factcheck.documents import Reader, from_plain, to_plain
from factcheck.errors import (
    ContextExceeded,
    Failure,
    InputError,
    JudgeError,
    JudgeNotAsked,
    JudgeOutputError,
    JudgeQueued,
    JudgeRejected,
    JudgeTruncated,
)
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    EntailmentLabel,
    Evidence,
    FactSet,
    Span,
    Usage,
    Verdict,
    digest,
    strongest,
)
from factcheck.facts.groups import added_words
from factcheck.facts.model import FOREIGN
from factcheck.judges.llm.fences import order_of, sections
from factcheck.judges.llm.modules import (
    FactChecker,
    KeyFactExtraction,
    LLMJudge,
    SemanticEquivalence,
    programmed,
)
from factcheck.judges.llm.replies import statements
from factcheck.judges.local.sentences import split_passages
from factcheck.judges.ports import PairResult, PairVerdict, ValuePair
from factcheck.runtime.cache import JSON, answer_key
from factcheck.runtime.deadline import within_deadline
from factcheck.runtime.loop import background, together
from factcheck.runtime.result_cache import ResultCache
from factcheck.text.words import content_stems, guess_language, words

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.judges.ports import Ledger

_LEAST_SECTION = 1_000
"""Minimum size of a section in characters, for a model that reads little."""
_MIN_SHARED = 0.6
"""Minimum share of a fact's content words for a source sentence to be its span."""
_MIN_KNOWN = 0.5
"""Minimum share of a fact's content words in the source; below it, the fact is `FOREIGN`."""
_LEAST_CHARS = 4
"""Minimum number of characters of a text for each fact listed of it, from `_FEW_FACTS` on."""
_FEW_FACTS = 20
_ALONE = 1_000
"""More requests than there are questions in one, so that each is asked alone."""
_CACHED_VALUES = {"probability": None, "cached": True}
"""Fields not stored in the cache, with their values in cached results."""
_LABELS = get_args(EntailmentLabel)

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
    """Key of cached results and, in the signature, of the prompt."""
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

        def keys_of(some: Sequence[Q]) -> list[str]:
            model: JSON = {"name": self._model.name, **self._model.sent}
            of_all = answer_key(task=self.stage, prompt=self._prompt, model=model, **shared)
            parts = [self._key_parts(question) for question in some]
            key_of = {one: answer_key(of_all=of_all, parts=one) for one in {*parts}}
            return [key_of[one] + self._name(q) for one, q in zip(parts, some, strict=True)]

        return self._cache.results(
            questions,
            keys_of,
            self._batches,
            partial(self._ask, ledger),
            lambda count: ledger.book(Usage(cache_hits=count)),
        )

    def _batches(self, questions: Mapping[str, Q]) -> list[list[str]]:
        """Split the keys of questions into batches."""
        return _even_batches(list(questions), self._batch_size)

    async def _ask(
        self, ledger: Ledger, questions: Sequence[Q], *, is_last: bool = False
    ) -> list[R]:
        """Send one request and return one result per question, in question order.

        Unless this is the last request, failed questions are sent again.
        """
        messages, question = self._module.request(**self._inputs(questions))
        try:
            async with within_deadline():
                reply = await background.hop(self._model.ask(messages, question, ledger))
        except JudgeError as error:
            results = [self._failure(question, error) for question in questions]
        else:
            results = list(self._outcome(reply))
        if is_last:
            return results

        parts = [self.repeated.get(code_of(result), 0) for result in results]
        failed = [n for n, count in enumerate(parts) if count]

        async def ask_again(numbers: Sequence[int]) -> None:
            repeated = await self._ask(ledger, [questions[n] for n in numbers], is_last=True)
            for n, result in zip(numbers, repeated, strict=True):
                results[n] = result

        size = max(1, -(-len(failed) // max([1, *parts])))
        await together(map(ask_again, _even_batches(failed, size)))
        return results


def _even_batches(items: Sequence[T], size: int) -> list[list[T]]:
    """Split items into the fewest batches of at most `size`, as even as possible."""
    n, count = len(items), -(-len(items) // size)
    return [list(items[n * i // count : n * (i + 1) // count]) for i in range(count)]


def _require_one_not_rejected(results: Sequence[Any]) -> None:
    if results and all(code_of(result) == JudgeRejected.code for result in results):
        raise JudgeRejected(results[0].message)


def code_of(result: Any) -> str:
    """Return the code of a failure; empty for a successful result."""
    code: str = getattr(result, "code", "")
    return code


class _FactQuestion(NamedTuple):
    fact: AtomicFact
    text: str
    """A section of the text that fits into a request; mostly all of it."""
    digest: str


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
        left = deque(sections(text, min(self.section, self._most_read(facts))))
        while left:
            start, end = left.popleft()
            section = text[start:end]
            name = digest(section)
            open_facts = [fact for fact in facts if not _is_settled(found.get(fact.id))]
            questions = [_FactQuestion(fact, section, name) for fact in open_facts]
            results = await self._results(questions, ledger, facts_per_call=self._batch_size)
            parts = self._parts_of(section, facts, results)
            left.extendleft(Span(start + one.start, start + one.end) for one in reversed(parts))
            for fact, result in zip(open_facts, results, strict=True):
                if not (parts and code_of(result) == ContextExceeded.code):
                    placed, earlier = _placed(result, fact, start), found.get(fact.id)
                    found[fact.id] = placed if earlier is None else strongest([placed, earlier])
        _require_one_not_rejected(list(found.values()))
        return tuple(found[fact.id] for fact in facts)

    def _parts_of(
        self, section: str, facts: Sequence[AtomicFact], results: Sequence[CheckResult]
    ) -> Sequence[Span]:
        """Split a section that the model did not read whole, so that the facts are asked again."""
        size = min(self._most_read(facts), len(section) * 6 // 10)
        is_cut = any(code_of(result) == ContextExceeded.code for result in results)
        if not is_cut or size < _LEAST_SECTION:
            return ()
        return sections(section, size)

    def _most_read(self, facts: Sequence[AtomicFact]) -> int:
        """Maximum number of characters of a text that the model reads beside a batch of facts."""
        batch = FactSet(tuple(facts[: self._batch_size]))
        empty = partial(self._module.request, facts=batch, text="")
        return max(_LEAST_SECTION, self._model.most_characters(empty))

    def _inputs(self, questions: Sequence[_FactQuestion]) -> Mapping[str, Any]:
        facts = FactSet(tuple(question.fact for question in questions))
        return {"facts": facts, "text": questions[0].text}

    def _key_parts(self, question: _FactQuestion) -> tuple[JSON, ...]:
        return (question.digest,)

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
        text = question.text
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
    repeated: ClassVar = {
        **BatchedJudge.repeated,
        # a single value may have caused them
        **dict.fromkeys(("output", "truncated", "refused", "context"), _ALONE),
    }

    async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> tuple[PairResult, ...]:
        """Return one result per pair, in pair order; equal pairs are sent once."""
        results = await self._results(pairs, ledger, pairs_per_call=self._batch_size)
        _require_one_not_rejected(results)
        return tuple(results)

    def _batches(self, questions: Mapping[str, ValuePair]) -> list[list[str]]:
        in_order = sorted(questions, key=lambda key: order_of(questions[key]))
        return _even_batches(in_order, self._batch_size)

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


_Facts: TypeAlias = "tuple[str, ...] | JudgeError"


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
        size = max(_LEAST_SECTION, min(self.section, most_read // 2))
        found = await self._results(_parts(source, size), ledger)
        return _fact_set(_joined(found), source, tuple(self.identity.items()))

    def _inputs(self, questions: Sequence[str]) -> Mapping[str, Any]:
        return {"source": questions[0]}

    def _key_parts(self, question: str) -> tuple[JSON, ...]:
        return (digest(question),)

    async def _ask(
        self, ledger: Ledger, questions: Sequence[str], *, is_last: bool = False
    ) -> list[_Facts]:
        (section,) = questions
        (facts,) = await super()._ask(ledger, questions, is_last=is_last)
        most = max(_FEW_FACTS, len(section) // _LEAST_CHARS)
        if isinstance(facts, tuple) and len({*facts}) > most:
            listed = f"{len(facts):,} facts of {len(section):,} characters"
            problem = (
                f"{self._model.name} listed {listed}; use another extractor, or give the facts"
            )
            return [JudgeOutputError(problem)]
        is_too_long = code_of(facts) in {JudgeTruncated.code, ContextExceeded.code}
        if not is_too_long or len(section) < 2 * _LEAST_SECTION:
            return [facts]
        halves = _parts(section, len(section) * 6 // 10)
        found = await together(self._ask(ledger, [half]) for half in halves)
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

    Spans reported by a model would prove nothing. A fact is tagged if few of its words, or of those
    that it adds to its core, are in the source.
    """
    language = guess_language(source)
    known = {word.stem for word in words(source, language)}
    sentences = [(each, content_stems(each.text, language)) for each in split_passages(source)]
    located: dict[str | None, AtomicFact] = {}
    for fact in _written_out(texts):
        stems = content_stems(fact.text, language)
        shared = [len(stems & others) for _, others in sentences]
        most = max(shared, default=0)
        span = None
        if most >= _MIN_SHARED * len(stems) > 0:
            span = sentences[shared.index(most)][0].span
        core = located.get(fact.core)
        own = content_stems(added_words(core.text, fact.text), language) if core else stems
        is_foreign = len(own & known) < _MIN_KNOWN * len(own)
        located[fact.id] = replace(fact, span=span, tags=(FOREIGN,) if is_foreign else ())
    return FactSet(tuple(located.values()), digest(source), made_by)


def _written_out(entries: Sequence[str]) -> list[AtomicFact]:
    """Return each statement once, with the id of its core."""
    cores: dict[str, str | None] = {}
    for statement in statements(entries):
        cores.setdefault(statement.text, statement.core)
    ids: dict[str | None, str] = {text: f"f{number}" for number, text in enumerate(cores, 1)}
    return [AtomicFact(ids[text], text, core=ids.get(core)) for text, core in cores.items()]
