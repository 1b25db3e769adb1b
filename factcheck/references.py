"""Reference match: similarity of outputs to reference texts, by embeddings."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

from factcheck.documents import to_plain
from factcheck.errors import (
    FactcheckError,
    Failure,
    InputError,
    JudgeOutputError,
    describe,
    error_kinds,
)
from factcheck.facts import ScoreSignature, Usage
from factcheck.facts.page import usage_text
from factcheck.judges.embedders.vectors import direction_of, similarity
from factcheck.judges.factory import build_embedder
from factcheck.judges.ports import EmbedderSpec, Ledger
from factcheck.metrics.ports import EvalCase, MetricResult, text_list
from factcheck.reports import Report
from factcheck.reports.page import Case, Item, Page, Section, Status, entries, filled
from factcheck.reports.text import name_text, plural, quote_text
from factcheck.runtime.loop import blocking
from factcheck.runtime.session import Session, SessionOptions, SessionUser
from factcheck.settings import require_number

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Aggregation", "ReferenceMatch", "ReferenceMatchResult"]

Aggregation = Literal["max", "mean"]
"""Aggregation of the similarities to several references."""
Output = str | EvalCase | Mapping[str, Any]
"""An output, alone or in a case."""
_DIGITS = 6
_DETAILS = ("similarities", "best_index", "best_reference")
_METHODS = {"max": "the largest similarity", "mean": "the mean similarity"}


class ReferenceMatch(SessionUser):
    """Scores outputs by their similarity to references; a `factcheck.metrics.Metric`.

    The similarity of two texts is the cosine of their embeddings, clipped to [0, 1]. The right
    threshold depends on the embedder: the built-in lexical one compares words and letters, scores
    paraphrases far below embedding models, and separates correct from wrong short answers best at
    .3 to .4 (see `benchmarks/references`).

    Methods come in a synchronous and an asynchronous form (`match`, `amatch`), which work inside a
    running event loop and from any thread. Use it as a context manager, or call `close`, to close
    connections to a server.

    Args:
        references: Non-blank texts to compare with; `None` if every case has its own.
        aggregation: `"max"` for the best reference, `"mean"` for the average over all.
        threshold: Score from which an output passes, in [0, 1].
        embedding_provider: Embedder: `"local"` (lexical, offline), `"openai"` or `"openai/MODEL"`
            (OpenAI, or the server at `OPENAI_BASE_URL`), an object with the `Embedder` port or with
            `encode(texts)`, such as a `SentenceTransformer`, or a function of texts.
        name: Name of the metric in reports.
        session: Cache, budget, limits and connections shared with other evaluators.
        options: Keyword arguments of `Session`, if no session is given.

    Raises:
        InputError: References are empty or blank, the aggregation is unknown, or the threshold is
            outside [0, 1].
        ConfigError: The embedder is unknown, or a key is missing.
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
        self.threshold = require_number("threshold", threshold, 0, high=1)
        self.name = name
        self._embedder = build_embedder(embedding_provider, self.session)
        self.ledger = Ledger()
        """Usage over the lifetime of the metric."""

    async def amatch(self, actual_output: Output) -> ReferenceMatchResult:
        """Compare one output with the references.

        Raises:
            InputError: The output is blank or not a string.
            JudgeError: The embedder cannot be reached, or returned no valid vector.
        """
        ledger = Ledger(self.ledger)
        (result,) = await self._results([actual_output], ledger)
        if result.error is not None:
            raise error_kinds().get(result.error.code, JudgeOutputError)(result.error.message)
        return replace(result, usage=ledger.usage)

    match = blocking(amatch)

    async def amatch_many(self, cases: Iterable[Output]) -> tuple[ReferenceMatchResult, ...]:
        """Return one result per case, in order, independent of the other cases.

        Each distinct text is embedded once.

        Args:
            cases: Outputs, `EvalCase`s, or mappings with `actual_output` and optionally
                `references`.

        Returns:
            Results; an invalid case, or one without a vector, has an `error`.
        """
        if isinstance(cases, (str, EvalCase, Mapping)) or not isinstance(cases, Iterable):
            raise InputError(f"cases must be a list, got {type(cases).__name__}; see match")
        return await self._results(list(cases), Ledger(self.ledger))

    match_many = blocking(amatch_many)

    @property
    def required_fields(self) -> tuple[str, ...]:
        """The output, and the references if the metric has none."""
        return ("actual_output",) if self.references else ("actual_output", "references")

    @property
    def identity(self) -> Mapping[str, str]:
        """Embedder and aggregation."""
        return {**self._embedder.identity, "aggregation": self.aggregation}

    @property
    def signature(self) -> ScoreSignature:
        return ScoreSignature.of({**self.identity, "version": version("factcheck")})

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
        texts = list(
            dict.fromkeys(
                text for one in read if not one.error for text in (one.output, *one.references)
            )
        )
        vectors = await self._embedded(texts, ledger)
        found = await asyncio.to_thread(_compared, read, dict(zip(texts, vectors, strict=True)))
        signature = self.signature
        return tuple(
            ReferenceMatchResult(
                actual_output=case.output,
                references=case.references,
                similarities=() if isinstance(one, Failure) else one,
                aggregation=self.aggregation,
                threshold=self.threshold,
                signature=signature,
                error=replace(one, subject=case.output) if isinstance(one, Failure) else None,
            )
            for case, one in zip(read, found, strict=True)
        )

    def _read(self, item: Any) -> _Case:
        output, references, problem = item, self.references, ""
        if isinstance(item, (EvalCase, Mapping)):
            try:
                case = EvalCase.of(item)
            except InputError as error:
                return _Case(item, references, Failure.of("", error))
            output, references = case.actual_output, case.references or references
        if not isinstance(output, str):
            problem = f"the output must be a string, got {type(output).__name__}"
        elif not output.strip():
            problem = "the output is blank; there is nothing to compare"
        elif not references:
            problem = "the case has no references; give it some"
        return _Case(output, references, Failure("", InputError.code, problem) if problem else None)

    async def _embedded(self, texts: Sequence[str], ledger: Ledger) -> Sequence[Any]:
        """Embed texts; returns one vector or failure per text, also if the embedder raises."""
        try:
            vectors = list(await self._embedder.embed(texts, ledger)) if texts else []
        except FactcheckError as error:
            return [Failure.of("", error)] * len(texts)
        except Exception as error:  # noqa: BLE001 - a foreign embedder
            return [Failure("", "raised", f"the embedder: {describe(error)}")] * len(texts)
        if len(vectors) != len(texts):
            message = f"the embedder returned {len(vectors)} vectors for {len(texts)} texts"
            return [Failure("", JudgeOutputError.code, message)] * len(texts)
        return vectors


class _Case(NamedTuple):
    """An output with its references, or the reason why they cannot be compared."""

    output: Any
    references: tuple[str, ...]
    error: Failure[str] | None


def _compared(
    cases: Sequence[_Case], vectors: Mapping[str, Any]
) -> list[tuple[float, ...] | Failure[str]]:
    """Compare each output with its references; returns similarities or a failure."""
    direction = cache(lambda text: direction_of(vectors[text]))

    def compared(case: _Case) -> tuple[float, ...] | Failure[str]:
        texts = (case.output, *case.references)
        failures = (vectors[text] for text in texts if isinstance(vectors[text], Failure))
        if failure := case.error or next(failures, None):
            return failure
        try:
            own, *others = map(direction, texts)
            return tuple(similarity(own, other) for other in others)
        except JudgeOutputError as error:
            return Failure.of("", error)

    return [compared(case) for case in cases]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ReferenceMatchResult(Report):
    """Similarity of one output to its references."""

    DERIVED = ("score", "passed", "best_index", "best_reference", "reason")
    actual_output: Any
    """The output, even if it is invalid."""
    references: tuple[str, ...]
    similarities: tuple[float, ...]
    """One per reference, in order, in [0, 1]; empty on error."""
    aggregation: Aggregation
    threshold: float
    """Score from which an output passes, in [0, 1]."""
    signature: ScoreSignature
    """Signature of the score."""
    usage: Usage = field(default_factory=Usage)
    """Usage; zero for results of `match_many`, whose texts are embedded together."""
    error: Failure[str] | None = None
    """Reason for a missing score."""

    @property
    def score(self) -> float | None:
        """Maximum or mean similarity, in [0, 1], rounded to six decimals; `None` on error."""
        if not self.similarities or self.aggregation == "max":
            return max(self.similarities, default=None)
        return round(math.fsum(self.similarities) / len(self.similarities), _DIGITS)

    @property
    def passed(self) -> bool | None:
        """Whether the score reaches the threshold; `None` on error."""
        return None if self.score is None else self.score >= self.threshold

    @property
    def best_index(self) -> int | None:
        """Index of the most similar reference, the first of equals; `None` on error."""
        return self.similarities.index(max(self.similarities)) if self.similarities else None

    @property
    def best_reference(self) -> str | None:
        """The most similar reference, the first of equals; `None` on error."""
        return None if self.best_index is None else self.references[self.best_index]

    @property
    def reason(self) -> str:
        score, best = self.score, self.best_index
        if score is None or best is None:
            return self.error.message if self.error else ""
        highest = f"{self.similarities[best]:.3f} to reference {best + 1} of {len(self.references)}"
        against = f"{'reaches' if self.passed else 'is below'} {self.threshold:g}"
        if self.aggregation == "max":
            return f"{highest} {against}"
        return f"a mean of {score:.3f} {against}; highest: {highest}"

    def as_metric_result(self) -> MetricResult:
        """Return the result for a report of several metrics."""
        details = {} if self.error else {name: to_plain(getattr(self, name)) for name in _DETAILS}
        return MetricResult(
            score=self.score,
            passed=self.passed,
            reason=self.reason,
            error=self.error,
            details=details,
        )

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one JSON-ready dict per reference; none on error."""
        rows = zip(self.references, self.similarities, strict=False)
        return [
            {"reference": text, "similarity": similarity, "best": place == self.best_index}
            for place, (text, similarity) in enumerate(rows)
        ]

    def page(self, names: Sequence[str] = ()) -> Page:
        """Return the report.

        Args:
            names: Names of the references; numbered by default.
        """
        score, sign = self.score, "≥" if self.passed else "<"
        status: Status = "error" if score is None else "passed" if self.passed else "failed"
        verdict = "not passed" if self.passed is False else status
        value = "unknown" if score is None else f"{score:.3f}"
        items = []
        for place, row in enumerate(self.to_rows()):
            name = name_text(names[place]) if names else f"reference {place + 1}"
            mark = "*" if row["best"] else " "
            quote = f"“{quote_text(row['reference'])}”"
            items.append(Item(f"{row['similarity']:.3f} {mark}", name, (quote,)))
        return Page(
            "Reference match",
            value,
            self.reason if score is None else f"{verdict} ({sign} {self.threshold:g})",
            lines=(f"{_METHODS[self.aggregation]} to {plural(len(self.references), 'reference')}",),
            sections=filled(Section("References", meaning="* most similar", items=tuple(items))),
            footer=entries(("Usage", usage_text(self.usage)), ("Signature", str(self.signature))),
            suite="references",
            cases=(Case("reference match", status, "" if self.passed else self.reason),),
            columns=("reference", "similarity", "best"),
            rows=self.to_rows,
        )
