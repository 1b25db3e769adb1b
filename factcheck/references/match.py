"""Reference match: embedding similarity of an output to reference texts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
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
from factcheck.judges.ports import EmbedderSpec, Ledger
from factcheck.metrics.ports import EvalCase, MetricResult, check_threshold, text_list
from factcheck.references.results import Aggregation, ReferenceMatchResult
from factcheck.runtime.loop import blocking
from factcheck.runtime.session import Session, SessionOptions, SessionUser

if TYPE_CHECKING:
    from typing_extensions import Unpack

_VERSION = version("factcheck")
Output = str | EvalCase | Mapping[str, Any]
"""An output, alone or in a case."""


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
        references: Texts to compare with, none of them blank; `None`: every case has its own.
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
        references: Sequence[str] | None = None,
        aggregation: Aggregation = "max",
        threshold: float = 0.7,
        embedding_provider: EmbedderSpec = "local",
        *,
        name: str = "reference_match",
        session: Session | None = None,
        **options: Unpack[SessionOptions],
    ) -> None:
        super().__init__(session, options)
        self.references = () if references is None else text_list(references, "references")
        if not self.references and references is not None:
            raise InputError("references is empty; give one, or None if every case has its own")
        if aggregation not in get_args(Aggregation):
            raise InputError(f"aggregation must be 'max' or 'mean', got {aggregation!r}")
        self.aggregation = aggregation
        self.threshold = check_threshold(threshold)
        self.name = name
        self._embedder = build_embedder(embedding_provider, self.session)
        self.ledger = Ledger()
        """Cost over the lifetime of the metric."""

    async def amatch(self, actual_output: Output) -> ReferenceMatchResult:
        """The similarity of one output to the references.

        Raises:
            InputError: The output is blank or not a string.
            JudgeError: The embedder could not be reached, or returned no usable vector.
        """
        ledger = Ledger(self.ledger)
        (result,) = await self._results([actual_output], ledger)
        if result.error is not None:
            kinds: list[type[JudgeError]] = [JudgeError]
            for kind in kinds:  # which grows, general kinds first
                kinds += kind.__subclasses__()
            by_code: dict[str, type[FactcheckError]] = {kind.code: kind for kind in reversed(kinds)}
            by_code |= {kind.code: kind for kind in (InputError, ConfigError)}
            raise by_code.get(result.error.code, JudgeOutputError)(result.error.message)
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
        read = [self._read(item) for item in items]
        texts = dict.fromkeys(text for one in read if not one.failure for text in one.texts)
        vectors = dict(zip(texts, await self._embedded(list(texts), ledger), strict=True))
        found = await asyncio.to_thread(_similarities, read, vectors)
        return tuple(
            ReferenceMatchResult(
                actual_output=one.output,
                references=one.references,
                similarities=() if isinstance(outcome, Failure) else outcome,
                aggregation=self.aggregation,
                threshold=self.threshold,
                signature=self.signature,
                error=outcome if isinstance(outcome, Failure) else None,
            )
            for one, outcome in zip(read, found, strict=True)
        )

    def _read(self, item: Any) -> _Case:
        output, references, wrong = item, self.references, ""
        if isinstance(item, (EvalCase, Mapping)):
            try:
                case = EvalCase.of(item)
            except InputError as error:
                return _Case(item, references, Failure.of("", error))
            output, references = case.actual_output, case.references or references
        if not isinstance(output, str):
            wrong = f"the output must be a string, got {type(output).__name__}"
        elif not output.strip():
            wrong = "the output is blank; there is nothing to compare"
        elif not references:
            wrong = "the case has no references; give it some"
        return _Case(output, references, Failure("", InputError.code, wrong) if wrong else None)

    async def _embedded(self, texts: Sequence[str], ledger: Ledger) -> Sequence[Any]:
        """One result per text; where the embedder fails as a whole, a failure for each."""
        try:
            vectors = list(await self._embedder.embed(texts, ledger)) if texts else []
            if len(vectors) == len(texts):
                return vectors
            message = f"the embedder returned {len(vectors)} vectors for {len(texts)} texts"
            failure = Failure(None, JudgeOutputError.code, message)
        except FactcheckError as error:
            failure = Failure.of(None, error)
        except Exception as error:  # noqa: BLE001 - a foreign embedder
            failure = Failure(None, "raised", f"the embedder: {describe(error)}")
        return [failure] * len(texts)


class _Case(NamedTuple):
    """An output with its references, or why it cannot be compared."""

    output: Any
    references: tuple[str, ...]
    failure: Failure[str] | None

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.output, *self.references)


def _similarities(
    cases: Sequence[_Case], vectors: Mapping[str, Any]
) -> list[tuple[float, ...] | Failure[str]]:
    """The similarities of each output to its references, or why there are none."""
    directions: dict[str, Direction | Failure[Any]] = {}
    for text, vector in vectors.items():
        try:
            directions[text] = vector if isinstance(vector, Failure) else direction_of(vector)
        except JudgeOutputError as error:  # noqa: PERF203 - it concerns one text
            directions[text] = Failure.of(text, error)
    found: list[tuple[float, ...] | Failure[str]] = []
    for case in cases:
        if case.failure:
            found.append(case.failure)
            continue
        of = [directions[text] for text in case.texts]
        if failed := [one for one in of if isinstance(one, Failure)]:
            found.append(replace(failed[0], subject=case.output))
            continue
        output, *references = (one for one in of if isinstance(one, Direction))
        try:
            found.append(tuple(similarity(output, one) for one in references))
        except JudgeOutputError as error:
            found.append(Failure.of(case.output, error))
    return found
