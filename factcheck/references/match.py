"""Reference match: how alike an output is to texts that are known to be good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, get_args

from factcheck.errors import InputError
from factcheck.facts import ScoreSignature, Usage
from factcheck.judges.factory import build_embedder
from factcheck.judges.ports import EmbedderSpec, Ledger
from factcheck.metrics.cases import EvalCase, text_list
from factcheck.metrics.results import MetricFailure, MetricResult, check_threshold
from factcheck.references.comparing import Similarities, compare
from factcheck.references.failures import as_error
from factcheck.references.questions import Question, question_of
from factcheck.references.results import Aggregation, ReferenceMatchResult
from factcheck.runtime.loop import background
from factcheck.runtime.session import Session, SessionOptions, SessionUser

if TYPE_CHECKING:
    from typing_extensions import Self, Unpack

_VERSION = version("factcheck")
_MOST_TEXTS = 16_384
"""Texts whose vectors are in memory at the same time: some 130 MB of them at most sizes."""
_PER_CASE: Any = object()


class ReferenceMatch(SessionUser):
    """Scores outputs by their similarity to references; fulfils `BatchMetric`.

    The similarity of two texts is the cosine of the angle between their vectors; a negative one
    counts as 0, so that every score is in [0, 1]. What a score means depends on who makes the
    vectors, and so does a sensible threshold. The embedded embedder compares words and letters: its
    scores for a paraphrase are far below those of a model that was trained on meaning, and right
    short answers are told from wrong ones best at .3 to .4 (see `benchmarks/references`).

    Every method has a synchronous and an asynchronous form (`match`, `amatch`). Both work inside a
    running event loop and from any thread. Use it as a context manager, or call `close`, to close
    connections to a server.

    Args:
        references: Texts to compare with; at least one, none of them blank.
        aggregation: `"max"`: like one of the references is enough; `"mean"`: like all of them.
        threshold: The score from which an output passes, in [0, 1].
        embedding_provider: Who turns texts into vectors: `"local"` (words and letters, offline),
            `"openai"` or `"openai/MODEL"` (OpenAI, or the server at `OPENAI_BASE_URL`),
            `"sentence-transformers/MODEL"` (a name or path; needs the extra `embeddings`), an
            object with the `Embedder` port or with `encode(texts)`, or a function of texts.
        model_name: The model of a provider that is named without one; `None`: its default. With
            `"local"` that of sentence-transformers.
        name: What reports call the metric.
        session: Cache, budget, limits and connections shared with other evaluators.
        options: Keyword arguments of `Session`, for a session of its own.

    Raises:
        InputError: No references, a blank one, another aggregation, a threshold outside [0, 1].
        ConfigError: The provider is not known, or its key or package is missing.
    """

    def __init__(
        self,
        references: Sequence[str],
        aggregation: Aggregation = "max",
        threshold: float = 0.7,
        embedding_provider: EmbedderSpec = "local",
        model_name: str | None = None,
        *,
        name: str = "reference_match",
        session: Session | None = None,
        **options: Unpack[SessionOptions],
    ) -> None:
        super().__init__(session, options)
        self.references = () if references is _PER_CASE else _checked_references(references)
        if aggregation not in get_args(Aggregation):
            raise InputError(f"aggregation must be 'max' or 'mean', not {aggregation!r}")
        self.aggregation = aggregation
        self.threshold = check_threshold(threshold)
        self.name = name
        self._embedder = build_embedder(embedding_provider, self.session, model_name=model_name)
        self.ledger = Ledger()
        """What was spent over the metric's life."""

    @classmethod
    def per_case(cls, **settings: Any) -> Self:
        """A metric without references of its own: every case brings its `references`.

        Args:
            settings: Everything else that `ReferenceMatch` takes, by name.
        """
        return cls(_PER_CASE, **settings)

    def match(self, actual_output: str | EvalCase | Mapping[str, Any]) -> ReferenceMatchResult:
        """How alike one output is to the references.

        All texts go to the provider together.

        Raises:
            InputError: The output is blank or no text.
            JudgeError: The provider could not be asked, or gave no vector that can be used.
        """
        return background.run(self.amatch(actual_output))

    async def amatch(
        self, actual_output: str | EvalCase | Mapping[str, Any]
    ) -> ReferenceMatchResult:
        """Asynchronous form of `match`."""
        ledger = Ledger(self.ledger)
        (result,) = await self._results([actual_output], ledger)
        if result.error is not None:
            raise as_error(result.error)
        return replace(result, usage=ledger.usage)

    def match_many(
        self, cases: Iterable[str | EvalCase | Mapping[str, Any]]
    ) -> tuple[ReferenceMatchResult, ...]:
        """One result per case, in their order, each as if the case were the only one.

        Every text is embedded once, wherever in however many cases it stands.

        Args:
            cases: Outputs, `EvalCase`s, or mappings with `actual_output` and, if the case has its
                own, `references`.

        Returns:
            Results; one with an `error` where a case cannot be used or has no vector.
        """
        return background.run(self.amatch_many(cases))

    async def amatch_many(
        self, cases: Iterable[str | EvalCase | Mapping[str, Any]]
    ) -> tuple[ReferenceMatchResult, ...]:
        """Asynchronous form of `match_many`."""
        if isinstance(cases, (str, EvalCase, Mapping)) or not isinstance(cases, Iterable):
            raise InputError(f"cases must be a list, not one {type(cases).__name__}; see match")
        return await self._results(list(cases), Ledger(self.ledger))

    @property
    def required_fields(self) -> tuple[str, ...]:
        """The output, and references where the metric has none."""
        return ("actual_output",) if self.references else ("actual_output", "references")

    @property
    def identity(self) -> Mapping[str, str]:
        """Who makes the vectors, and how similarities become a score."""
        return {**self._embedder.identity, "aggregation": self.aggregation}

    @property
    def signature(self) -> ScoreSignature:
        """How this metric makes scores."""
        return ScoreSignature.of({**self.identity, "version": _VERSION})

    @property
    def usage(self) -> Usage:
        """What was spent over the metric's life."""
        return self.ledger.usage

    async def measure(self, case: EvalCase) -> MetricResult:
        """The result of one case, for `factcheck.metrics.evaluate`."""
        return (await self.measure_many([case], Ledger()))[0]

    async def measure_many(
        self, cases: Sequence[EvalCase], ledger: Ledger
    ) -> Sequence[MetricResult]:
        """One result per case, in their order, for `factcheck.metrics.evaluate`."""
        booked = Ledger(self.ledger)
        results = await self._results(cases, booked)
        for (model, stage), usage in booked.by_model_and_stage.items():
            ledger.book(usage, model=model, stage=stage)
        return [result.as_metric_result() for result in results]

    async def _results(
        self, items: Sequence[Any], ledger: Ledger
    ) -> tuple[ReferenceMatchResult, ...]:
        read = [self._read(item) for item in items]
        questions = dict.fromkeys(one for one in read if isinstance(one, Question))
        answers = await compare(list(questions), self._embedder, ledger, most_texts=_MOST_TEXTS)
        signature = self.signature
        return tuple(
            self._result(item, one, answers[one] if isinstance(one, Question) else one, signature)
            for item, one in zip(items, read, strict=True)
        )

    def _read(self, item: Any) -> Question | MetricFailure:
        try:
            return question_of(item, self.references)
        except InputError as error:
            return MetricFailure(error.code, str(error))

    def _result(
        self,
        item: Any,
        read: Question | MetricFailure,
        answer: Similarities | MetricFailure,
        signature: ScoreSignature,
    ) -> ReferenceMatchResult:
        return ReferenceMatchResult(
            actual_output=read.actual_output if isinstance(read, Question) else item,
            references=read.references if isinstance(read, Question) else self.references,
            similarities=() if isinstance(answer, MetricFailure) else answer,
            aggregation=self.aggregation,
            threshold=self.threshold,
            signature=signature,
            error=answer if isinstance(answer, MetricFailure) else None,
        )


def _checked_references(references: Any) -> tuple[str, ...]:
    texts = text_list(references, "references")
    if not texts:
        raise InputError(
            "references is empty; give at least one text to compare with, "
            "or use ReferenceMatch.per_case where every case has its own"
        )
    return texts
