"""Reference match: similarity of outputs to reference texts, by embeddings."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from factcheck.errors import Failure, InputError, JudgeOutputError
from factcheck.judges.embedders import direction_of, similarity
from factcheck.judges.factory import build_embedder
from factcheck.judges.ports import EmbedderSpec, Ledger
from factcheck.metrics import EvalCase, Metric, MetricResult, measure, text_list
from factcheck.runtime.loop import blocking
from factcheck.runtime.session import Session, SessionOptions, SessionUser
from factcheck.settings import require_choice

if TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ["Aggregation", "ReferenceMatch", "ReferenceMatchMetric"]

Aggregation = Literal["max", "mean"]
"""Aggregation of the similarities to several references."""
_DIGITS = 6


class ReferenceMatch(Metric, SessionUser):
    """Scores outputs by their similarity to references; a metric of `factcheck.metrics.evaluate`.

    The similarity of two texts is the cosine of their embeddings, clipped to [0, 1]. The right
    threshold depends on the embedder: the built-in lexical one compares words and letters, scores
    paraphrases far below embedding models, and separates correct from wrong short answers best at
    .3 to .4 (see `benchmarks/references`).

    The `details` of a result are `similarities` (one per reference, in order), `best_index` and
    `best_reference` (the most similar reference, the first of equals). Use it as a context manager,
    or call `close`, to close connections to a server.

    Args:
        references: Non-blank texts to compare with; `None` if every case has its own.
        aggregation: `"max"` for the best reference, `"mean"` for the average over all.
        threshold: Score from which an output passes, in [0, 1].
        embedding_provider: Embedder: `"local"` (lexical, offline), `"openai"` or `"openai/MODEL"`
            (OpenAI, or the server at `OPENAI_BASE_URL`), an object with the `Embedder` port or with
            `encode(texts)`, such as a `SentenceTransformer`, or a function of texts.
        model_name: Model of the provider: `"openai"` and `"text-embedding-3-small"` are
            `"openai/text-embedding-3-small"`.
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
        model_name: str | None = None,
        *,
        name: str = "reference_match",
        session: Session | None = None,
        **options: Unpack[SessionOptions],
    ) -> None:
        SessionUser.__init__(self, session, options)
        self.references = () if references is None else text_list(references, "references")
        if not self.references and references is not None:
            raise InputError("references is empty; give one, or None if every case has its own")
        require_choice("aggregation", aggregation, Aggregation)
        self.aggregation = aggregation
        required = ("actual_output",) if self.references else ("actual_output", "references")
        Metric.__init__(self, name, threshold, required)
        if model_name is not None:
            embedding_provider = f"{embedding_provider}/{model_name}"
        self._embedder = build_embedder(embedding_provider, self.session)
        self.identity = {**self._embedder.identity, "aggregation": aggregation}

    async def amatch(self, actual_output: str | EvalCase | Mapping[str, Any]) -> MetricResult:
        """Compare one output, alone or in a case, with the references."""
        given = actual_output
        if not isinstance(given, (EvalCase, Mapping)):
            given = EvalCase(actual_output=given)
        return (await measure(self, {"": EvalCase.of(given, 1)})).results[""]

    match = blocking(amatch)

    async def measure_many(
        self, cases: Sequence[EvalCase], ledger: Ledger
    ) -> Sequence[MetricResult]:
        """Compare the output of each case with its references, or those of the metric."""
        usable = [case for case in cases if not _problem(case.actual_output)]
        texts = dict.fromkeys(text for case in usable for text in self._texts(case))
        vectors = await self._vectors([*texts], ledger)
        return await asyncio.to_thread(lambda: [self._compared(one, vectors) for one in cases])

    def _texts(self, case: EvalCase) -> tuple[str, ...]:
        return (case.actual_output, *(case.references or self.references))

    async def _vectors(self, texts: Sequence[str], ledger: Ledger) -> Mapping[str, Any]:
        """Embed texts; return the vector of each, or the failure to embed it."""
        try:
            vectors = list(await self._embedder.embed(texts, ledger)) if texts else []
        except Exception as error:  # noqa: BLE001 - a foreign embedder
            return dict.fromkeys(texts, Failure.of("", error))
        if len(vectors) != len(texts):
            message = f"the embedder returned {len(vectors)} vectors for {len(texts)} texts"
            return dict.fromkeys(texts, Failure("", JudgeOutputError.code, message))
        return dict(zip(texts, vectors, strict=True))

    def _compared(self, case: EvalCase, vectors: Mapping[str, Any]) -> MetricResult:
        if problem := _problem(case.actual_output):
            return MetricResult.failed(InputError.code, problem)
        texts = self._texts(case)
        found = [vectors[text] for text in texts]
        for one in found:
            if isinstance(one, Failure):
                return MetricResult.failed(one.code, one.message)
        try:
            first, *others = map(direction_of, found)
            similarities = [similarity(first, other) for other in others]
        except JudgeOutputError as error:
            return MetricResult.of_error(error)
        return self._scored(texts[1:], similarities)

    def _scored(self, references: Sequence[str], similarities: Sequence[float]) -> MetricResult:
        best = similarities.index(max(similarities))
        score = similarities[best]
        if self.aggregation == "mean":
            score = round(math.fsum(similarities) / len(similarities), _DIGITS)
        passed = score >= self.threshold
        highest = f"{similarities[best]:.3f} to reference {best + 1} of {len(references)}"
        against = f"{'reaches' if passed else 'is below'} {self.threshold:g}"
        reason = f"{highest} {against}"
        if self.aggregation == "mean":
            reason = f"a mean of {score:.3f} {against}; highest: {highest}"
        details = {
            "similarities": similarities,
            "best_index": best,
            "best_reference": references[best],
        }
        pairs = enumerate(zip(references, similarities, strict=True), 1)
        lines = [f"{one:.3f} to reference {n}: “{text}”" for n, (text, one) in pairs]
        return MetricResult.scored(
            score, passed=passed, reason=reason, lines=lines, details=details
        )


def _problem(output: Any) -> str:
    if not isinstance(output, str):
        return f"the output must be a string, got {type(output).__name__}"
    if not output.strip():
        return "the output is blank; there is nothing to compare"
    return ""


ReferenceMatchMetric = ReferenceMatch
"""Another name of `ReferenceMatch`."""
