"""The ports: the four questions a judge answers, and the embedder.

Any object with these methods is a judge or an embedder.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from factcheck.errors import Failure, InputError
from factcheck.facts import AtomicFact, CheckResult, FactSet, Usage

if TYPE_CHECKING:
    import dspy

    from factcheck.settings import Model


class Ledger:
    """Collects what answers cost, as they come in; safe to use from several threads.

    Args:
        parent: A ledger that everything is booked on, too.
    """

    def __init__(self, parent: Ledger | None = None) -> None:
        self._parent = parent
        self._lock = threading.Lock()
        self._usage: dict[tuple[str, str], Usage] = {}

    def book(self, usage: Usage, *, model: str = "", stage: str = "") -> None:
        """Add one cost; called before the reply is looked at, so that bad replies count too."""
        with self._lock:
            self._usage[model, stage] = self._usage.get((model, stage), Usage()) + usage
        if self._parent is not None:
            self._parent.book(usage, model=model, stage=stage)

    @property
    def usage(self) -> Usage:
        """The sum of everything booked so far."""
        return sum(self.by_model_and_stage.values(), Usage())

    @property
    def by_model_and_stage(self) -> dict[tuple[str, str], Usage]:
        """The sums for each model and stage (`"extract"`, `"check"`)."""
        with self._lock:
            return dict(self._usage)


class _Named(Protocol):
    @property
    def identity(self) -> Mapping[str, str]:
        """Names and versions that shape its answers, as entries for the score signature."""
        ...


@runtime_checkable
class Extractor(_Named, Protocol):
    """Lists the atomic facts of a text."""

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        """The facts of `source`, in its order; empty if it states none.

        Raises:
            JudgeError: The extraction failed; a partial list is never returned.
        """
        ...


@runtime_checkable
class Checker(_Named, Protocol):
    """Labels facts by what a text says about them."""

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        """One result per fact, in fact order: a verdict, or a failure."""
        ...


@runtime_checkable
class SummariesChecker(Checker, Protocol):
    """A checker that can look at several summaries at once, which costs less."""

    summaries_per_call: int
    """Most summaries to be given at once; at least 1."""

    async def check_summaries(
        self, facts: Sequence[AtomicFact], summaries: Sequence[str], ledger: Ledger
    ) -> Sequence[Sequence[CheckResult]]:
        """For each summary, one result per fact, in fact order."""
        ...


@runtime_checkable
class MeasuredChecker(Checker, Protocol):
    """A checker that costs nothing, and whose agreement with human labels is known."""

    @property
    def quality(self) -> str:
        """The agreement in one line, with the sets it was measured on."""
        ...


Specificity = Literal["exact", "allow_more_specific", "allow_less_specific"]
"""Whether an extracted value may say more, or less, than the gold one and still be equivalent."""


@dataclass(frozen=True, slots=True)
class ValuePair:
    """Two values of one field, and what is known about the field."""

    gold: str
    """The right value; one that is not a string is written as JSON."""
    extracted: str
    """The value under evaluation, in the same form."""
    path: str = ""
    """Schema path of the field, without positions: `items[].name`."""
    description: str = ""
    """The field's description in the schema."""
    instructions: str = ""
    """Instructions of the user for comparing this field."""
    specificity: Specificity = "exact"


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """Whether two values mean the same."""

    equivalent: bool
    probability: float | None
    """That they do, in [0, 1], or `None` if the judge gives none."""
    reason: str
    judge: str
    """Name of the judge that spoke."""
    cached: bool = False
    """Whether the answer was given before."""


PairResult = PairVerdict | Failure[Any]


@runtime_checkable
class PairJudge(_Named, Protocol):
    """Says whether two values of a field mean the same.

    Symmetrical where `specificity` is `"exact"`: swapping gold and extracted changes nothing.
    """

    async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> Sequence[PairResult]:
        """One result per pair, in their order: a verdict, or a failure.

        Raises:
            JudgeRejected: Every request was turned down.
        """
        ...


LOWEST, HIGHEST = 1, 5
"""The ends of the scale that a summary is rated on."""


@dataclass(frozen=True, slots=True)
class Rating:
    """Faithfulness of a summary to its source, as one number.

    Raises:
        InputError: The number is not a whole one from 1 to 5.
    """

    value: int
    """From 1 (hardly anything is kept) to 5 (everything is)."""
    reason: str
    judge: str
    """Name of the judge that spoke."""
    cached: bool = False
    """Whether the answer was given before."""

    def __post_init__(self) -> None:
        if type(self.value) is not int or not LOWEST <= self.value <= HIGHEST:
            raise InputError(f"a rating must be a whole number from 1 to 5, not {self.value!r}")


RatingResult = Rating | Failure[Any]


@runtime_checkable
class Rater(_Named, Protocol):
    """Rates a summary as a whole, in one number, without looking at its facts one by one."""

    async def rate(self, source: str, summary: str, ledger: Ledger) -> RatingResult:
        """A rating, or a failure. Both texts count whole: neither is cut."""
        ...


EmbeddingResult = Sequence[float] | Failure[Any]
"""A vector of finite numbers that are not all zero, of any length but 0, or why there is none."""


@runtime_checkable
class Embedder(_Named, Protocol):
    """Turns texts into vectors, which point the same way where the texts are alike."""

    async def embed(self, texts: Sequence[str], ledger: Ledger) -> Sequence[EmbeddingResult]:
        """One result per text, in their order: a vector, or a failure.

        The vector of a text does not depend on the other texts, and all have the same length.
        """
        ...


LOW = 0.05
"""Probability up to which the first judge of a cascade is taken to be sure of a no. The embedded
judge of values goes so low only for a number, date, negation or the like that differs."""
HIGH = 0.9
"""Probability from which on it is taken to be sure of a yes. `benchmarks/pairs` shows what both
thresholds cost and miss for values, and `benchmarks/cascade` for facts."""


@dataclass(frozen=True, slots=True)
class Cascade:
    """Two judges as one: the second is asked only what the first is not sure of.

    Wherever a judge is named, `"cascade(local, openai/gpt-5-nano, low=0.1, high=0.8)"` means the
    same. Facts are extracted by the second judge, unless an extractor is given. Of a first judge
    that gives no probabilities every verdict stands.
    """

    first: JudgeSpec | PairJudgeSpec
    """Asked about everything: a name, an object, a language model, or another cascade."""
    second: JudgeSpec | PairJudgeSpec
    """Asked where the probability of the first lies between the thresholds, or is missing because
    it has no verdict."""
    low: float = LOW
    """Up to this probability, in [0, 1], a verdict of the first stands."""
    high: float = HIGH
    """From this probability on, in [low, 1], a verdict of the first stands."""


JudgeSpec: TypeAlias = "str | Model | Checker | Cascade | dspy.BaseLM"
"""A judge by name, a model with settings, an object with the port, a cascade, a model of DSPy."""
ExtractorSpec: TypeAlias = "str | Model | Extractor | dspy.BaseLM"
PairJudgeSpec: TypeAlias = "str | Model | PairJudge | Cascade | dspy.BaseLM"
RaterSpec: TypeAlias = "str | Model | Rater | dspy.BaseLM"
EmbedderSpec: TypeAlias = "str | Embedder | Callable[[list[str]], Any] | SupportsEncode"
"""An embedder by name, as an object with the port or with `encode`, or as a function of texts."""


class SupportsEncode(Protocol):
    """An object such as a `SentenceTransformer`."""

    @property
    def encode(self) -> Callable[..., Any]:
        """Turns a list of texts into vectors."""
        ...
