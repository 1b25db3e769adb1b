"""Ports: protocols of extractors, checkers, pair judges and embedders.

Any object with these methods qualifies.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias, runtime_checkable

from factcheck.errors import Failure
from factcheck.facts import AtomicFact, CheckResult, FactSet, Usage

if TYPE_CHECKING:
    import dspy

    from factcheck.settings import Model


class Ledger:
    """Accumulates usage, and books it to its parent, too, if it has one; thread-safe."""

    def __init__(self, parent: Ledger | None = None) -> None:
        self._parent = parent
        self._lock = threading.Lock()
        self.usage = Usage()
        """Total usage so far."""

    def book(self, usage: Usage) -> None:
        """Add usage; called before a reply is parsed, so that invalid replies count, too."""
        with self._lock:
            self.usage += usage
        if self._parent is not None:
            self._parent.book(usage)


class _Named(Protocol):
    @property
    def identity(self) -> Mapping[str, str]:
        """Names and versions that affect the answers, as entries of the score signature."""
        ...


@runtime_checkable
class Extractor(_Named, Protocol):
    """Extracts the atomic facts of a text."""

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        """Return the facts of `source`, in source order; empty if it states none.

        Raises:
            JudgeError: The extraction failed; a partial list is never returned.
        """
        ...


@runtime_checkable
class Checker(_Named, Protocol):
    """Labels facts as entailed by a text, contradicted or neutral."""

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        """Return one verdict or failure per fact, in fact order."""
        ...


Specificity = Literal["exact", "allow_more_specific", "allow_less_specific"]
"""Whether an equivalent extracted value may be more, or less, specific than the gold value."""


@dataclass(frozen=True, slots=True)
class ValuePair:
    """A gold and an extracted value of a field, and the field's description."""

    gold: str
    """The reference value; as JSON if it is not a string."""
    extracted: str
    """The value under evaluation, in the same form."""
    path: str = ""
    """Schema path of the field, without indices: `items[].name`."""
    description: str = ""
    """The field's description in the schema."""
    instructions: str = ""
    """The user's instructions for comparing this field."""
    specificity: Specificity = "exact"


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """A judgement on the equivalence of two values."""

    equivalent: bool
    probability: float | None
    """Probability of equivalence, in [0, 1]; `None` if the judge gives none."""
    reason: str
    judge: str
    """Name of the judge."""
    cached: bool = False
    """Whether the verdict comes from the cache."""


PairResult = PairVerdict | Failure[Any]


@runtime_checkable
class PairJudge(_Named, Protocol):
    """Judges whether two values of a field are equivalent.

    Symmetric if `specificity` is `"exact"`: swapping gold and extracted changes nothing.
    """

    async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> Sequence[PairResult]:
        """Return one verdict or failure per pair, in pair order.

        Raises:
            JudgeRejected: Every request was rejected.
        """
        ...


LOWEST, HIGHEST = 1, 5
"""Range of ratings."""


EmbeddingResult = Sequence[float] | Failure[Any]
"""A non-empty vector of finite numbers that are not all zero, or a failure."""


@runtime_checkable
class Embedder(_Named, Protocol):
    """Maps texts to vectors whose cosine measures their similarity."""

    async def embed(self, texts: Sequence[str], ledger: Ledger) -> Sequence[EmbeddingResult]:
        """Return one vector or failure per text, in text order.

        All vectors have the same length and are independent of the other texts.
        """
        ...


LOW = 0.05
"""Default lower threshold of a cascade. The embedded pair judge goes below it only for values that
differ in a number, date, negation or the like."""
HIGH = 0.9
"""Default upper threshold of a cascade. `benchmarks/pairs` measures the cost and errors of both
thresholds for values, and `benchmarks/cascade` for facts."""


@dataclass(frozen=True, slots=True)
class Cascade:
    """Two judges in sequence: the second decides the cases in which the first is unsure.

    Wherever a judge is named, `"cascade(local, openai/gpt-5-nano, low=0.1, high=0.8)"` is
    equivalent. Facts are extracted by the second judge, unless an extractor is given. Verdicts of
    the first judge without a probability are final.
    """

    first: JudgeSpec | PairJudgeSpec
    """Judges everything: a name, an object, a language model, or another cascade."""
    second: JudgeSpec | PairJudgeSpec
    """Judges the cases in which the probability of the first lies between the thresholds, or which
    it failed to decide."""
    low: float = LOW
    """Verdicts of the first judge up to this probability are final; in [0, 1]."""
    high: float = HIGH
    """Verdicts of the first judge from this probability are final; in [low, 1]."""


JudgeSpec: TypeAlias = "str | Model | Checker | Cascade | dspy.BaseLM | dspy.Module"
"""A judge: a name, a model with settings, an object with the port, a cascade, or a model or
program of DSPy."""
ModelSpec: TypeAlias = "str | Model | dspy.BaseLM"
"""A language model."""
ExtractorSpec: TypeAlias = "str | Model | Extractor | dspy.BaseLM | dspy.Module"
PairJudgeSpec: TypeAlias = "str | Model | PairJudge | Cascade | dspy.BaseLM | dspy.Module"
EmbedderSpec: TypeAlias = "str | Embedder | Callable[[list[str]], Any] | SupportsEncode"
"""An embedder: a name, an object with the port or with `encode`, or a function of texts."""


class SupportsEncode(Protocol):
    """An object like a `SentenceTransformer`."""

    @property
    def encode(self) -> Callable[..., Any]:
        """Maps a list of texts to vectors."""
        ...
