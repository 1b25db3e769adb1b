"""Reference match: embedding similarity of an output to reference texts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from factcheck.errors import (
    ConfigError,
    FactcheckError,
    Failure,
    InputError,
    JudgeError,
    JudgeOutputError,
    describe,
)
from factcheck.facts import ScoreSignature, Usage
from factcheck.judges.embedders.vectors import Direction, direction_of, similarity
from factcheck.judges.factory import build_embedder
from factcheck.judges.ports import Embedder, EmbedderSpec, Ledger
from factcheck.metrics.ports import EvalCase, MetricResult, check_threshold, text_list
from factcheck.references.results import Aggregation, ReferenceMatchResult
from factcheck.runtime.loop import blocking
from factcheck.runtime.session import Session, SessionOptions, SessionUser

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

_VERSION = version("factcheck")
_PER_CASE: Any = object()
Output = str | EvalCase | Mapping[str, Any]
"""An output, alone or in a case."""
_PAIRS_AT_ONCE = 8_192
"""Some 130 MB of vectors at most sizes."""
_CACHED_DIRECTIONS = 1024
"""References recur from pair to pair."""


class Pair(NamedTuple):
    """An output and its references."""

    actual_output: str
    references: tuple[str, ...]

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.actual_output, *self.references)


Similarities = tuple[float, ...] | Failure[str]
"""Similarity of an output to each reference, or why there is none; the subject is the output."""


class ReferenceMatch(SessionUser):
    """Scores outputs by their similarity to references; a `factcheck.metrics.Metric`.

    The similarity of two texts is the cosine of their embeddings, with negative values counted as
    0, so every score is in [0, 1]. What a score means, and so the right threshold, depends on the
    embedder. The built-in lexical one compares words and letters: it scores paraphrases far below
    embedding models, and separates right from wrong short answers best at .3 to .4 (see
    `benchmarks/references`).

    Methods come in a synchronous and an asynchronous form (`match`, `amatch`), which work inside a
    running event loop and from any thread. Use it as a context manager, or call `close`, to close
    connections to a server.

    Args:
        references: Texts to compare with; at least one, none of them blank.
        aggregation: `"max"`: similar to one reference is enough; `"mean"`: to all of them.
        threshold: Score from which an output passes, in [0, 1].
        embedding_provider: Embedder: `"local"` (lexical, offline), `"openai"` or `"openai/MODEL"`
            (OpenAI, or the server at `OPENAI_BASE_URL`), an object with the `Embedder` port or with
            `encode(texts)`, such as a `SentenceTransformer`, or a function of texts.
        name: Name of the metric in reports.
        session: Cache, budget, limits and connections shared with other evaluators.
        options: Keyword arguments of `Session`, for a session of its own.

    Raises:
        InputError: No references, a blank one, another aggregation, or a threshold outside [0, 1].
        ConfigError: Unknown embedder, or a missing key.
    """

    def __init__(
        self,
        references: Sequence[str],
        aggregation: Aggregation = "max",
        threshold: float = 0.7,
        embedding_provider: EmbedderSpec = "local",
        *,
        name: str = "reference_match",
        session: Session | None = None,
        **options: Unpack[SessionOptions],
    ) -> None:
        super().__init__(session, options)
        self.references = () if references is _PER_CASE else text_list(references, "references")
        if not self.references and references is not _PER_CASE:
            raise InputError(
                "references is empty; give at least one, "
                "or use ReferenceMatch.per_case if every case has its own"
            )
        if aggregation not in get_args(Aggregation):
            raise InputError(f"aggregation must be 'max' or 'mean', got {aggregation!r}")
        self.aggregation = aggregation
        self.threshold = check_threshold(threshold)
        self.name = name
        self._embedder = build_embedder(embedding_provider, self.session)
        self.ledger = Ledger()
        """Cost over the lifetime of the metric."""

    @classmethod
    def per_case(cls, **settings: Any) -> Self:
        """A metric without references: every case has its own.

        Args:
            settings: The other arguments of `ReferenceMatch`, by name.
        """
        return cls(_PER_CASE, **settings)

    async def amatch(self, actual_output: Output) -> ReferenceMatchResult:
        """The similarity of one output to the references.

        Raises:
            InputError: The output is blank or not a string.
            JudgeError: The embedder could not be reached, or returned no usable vector.
        """
        ledger = Ledger(self.ledger)
        (result,) = await self._results([actual_output], ledger)
        if result.error is not None:
            raise _error_of(result.error)
        return replace(result, usage=ledger.usage)

    match = blocking(amatch)

    async def amatch_many(self, cases: Iterable[Output]) -> tuple[ReferenceMatchResult, ...]:
        """One result per case, in order, each as if the case were the only one.

        Every text is embedded once, however many cases it occurs in.

        Args:
            cases: Outputs, `EvalCase`s, or mappings with `actual_output` and optionally
                `references`.

        Returns:
            Results; one with an `error` for a case that is invalid or has no vector.
        """
        if isinstance(cases, (str, EvalCase, Mapping)) or not isinstance(cases, Iterable):
            raise InputError(f"cases must be a list, got {type(cases).__name__}; see match")
        return await self._results(list(cases), Ledger(self.ledger))

    match_many = blocking(amatch_many)

    @property
    def required_fields(self) -> tuple[str, ...]:
        """The output, and references where the metric has none."""
        return ("actual_output",) if self.references else ("actual_output", "references")

    @property
    def identity(self) -> Mapping[str, str]:
        """Embedder and aggregation."""
        return {**self._embedder.identity, "aggregation": self.aggregation}

    @property
    def signature(self) -> ScoreSignature:
        return ScoreSignature.of({**self.identity, "version": _VERSION})

    @property
    def usage(self) -> Usage:
        return self.ledger.usage

    async def measure_many(
        self, cases: Sequence[EvalCase], ledger: Ledger
    ) -> Sequence[MetricResult]:
        booked = Ledger(self.ledger)
        results = await self._results(cases, booked)
        for (model, stage), usage in booked.by_model_and_stage.items():
            ledger.book(usage, model=model, stage=stage)
        return [result.as_metric_result() for result in results]

    async def _results(
        self, items: Sequence[Any], ledger: Ledger
    ) -> tuple[ReferenceMatchResult, ...]:
        read = [self._pair(item) for item in items]
        pairs = dict.fromkeys(one for one in read if isinstance(one, Pair))
        found = await compare(list(pairs), self._embedder, ledger)
        results = []
        for item, one in zip(items, read, strict=True):
            output, references = one if isinstance(one, Pair) else (item, self.references)
            outcome = found[one] if isinstance(one, Pair) else one
            results.append(
                ReferenceMatchResult(
                    actual_output=output,
                    references=references,
                    similarities=() if isinstance(outcome, Failure) else outcome,
                    aggregation=self.aggregation,
                    threshold=self.threshold,
                    signature=self.signature,
                    error=outcome if isinstance(outcome, Failure) else None,
                )
            )
        return tuple(results)

    def _pair(self, item: Any) -> Pair | Failure[str]:
        output, references, wrong = item, self.references, ""
        if isinstance(item, (EvalCase, Mapping)):
            try:
                case = EvalCase.of(item)
            except InputError as error:
                return Failure.of("", error)
            output, references = case.actual_output, case.references or references
        if not isinstance(output, str):
            wrong = f"the output must be a string, got {type(output).__name__}"
        elif not output.strip():
            wrong = "the output is blank; there is nothing to compare"
        elif not references:
            wrong = "the case has no references; give it some"
        return Failure("", InputError.code, wrong) if wrong else Pair(output, references)


def _error_of(failure: Failure[str]) -> FactcheckError:
    """The error with the code of a failure."""
    if failure.code in {"missing", "duplicate", "invalid"}:
        return JudgeOutputError(failure.message)
    kinds: list[type[FactcheckError]] = [InputError, ConfigError, *JudgeError.__subclasses__()]
    by_code = {kind.code: kind for kind in kinds}
    return by_code.get(failure.code, JudgeError)(failure.message)


async def compare(
    pairs: Sequence[Pair], embedder: Embedder, ledger: Ledger, *, at_once: int = _PAIRS_AT_ONCE
) -> dict[Pair, Similarities]:
    """The similarities of every pair.

    A text without a usable vector spoils the pairs with it, and no others.

    Args:
        pairs: Distinct pairs.
        embedder: Turns texts into vectors; gets every text of the pairs at once one time.
        ledger: Books the cost.
        at_once: Number of pairs whose vectors are held in memory together.
    """
    found: dict[Pair, Similarities] = {}
    for start in range(0, len(pairs), at_once):
        part = pairs[start : start + at_once]
        texts = list(dict.fromkeys(text for pair in part for text in pair.texts))
        vectors = dict(zip(texts, await _embedded(texts, embedder, ledger), strict=True))
        found.update(await asyncio.to_thread(_similarities, part, vectors))
    return found


async def _embedded(texts: Sequence[str], embedder: Embedder, ledger: Ledger) -> Sequence[Any]:
    """One result per text; where the embedder fails as a whole, a failure for each."""
    try:
        vectors = list(await embedder.embed(texts, ledger))
        if len(vectors) == len(texts):
            return vectors
        message = f"the embedder returned {len(vectors)} vectors for {len(texts)} texts"
        failure = Failure(None, JudgeOutputError.code, message)
    except FactcheckError as error:
        failure = Failure.of(None, error)
    except Exception as error:  # noqa: BLE001 - a foreign embedder
        failure = Failure(None, "raised", f"the embedder: {describe(error)}")
    return [failure] * len(texts)


def _similarities(pairs: Sequence[Pair], vectors: Mapping[str, Any]) -> dict[Pair, Similarities]:
    @lru_cache(maxsize=_CACHED_DIRECTIONS)
    def direction(text: str) -> Direction:
        return direction_of(vectors[text])

    found: dict[Pair, Similarities] = {}
    for pair in pairs:
        missing = (vectors[text] for text in pair.texts)
        failed = next((one for one in missing if isinstance(one, Failure)), None)
        if failed is not None:
            found[pair] = Failure(pair.actual_output, failed.code, failed.message)
            continue
        try:
            output = direction(pair.actual_output)
            found[pair] = tuple(similarity(output, direction(text)) for text in pair.references)
        except JudgeOutputError as error:
            found[pair] = Failure.of(pair.actual_output, error)
    return found
