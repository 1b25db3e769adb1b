"""Facts and what was found out about them: plain, frozen values without behaviour of their own.

Every class turns into JSON-ready data with `to_dict` and back with `from_dict`, without loss.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple

from factcheck.errors import InputError
from factcheck.facts.reading import Reader

EntailmentLabel = Literal["entailed", "contradicted", "neutral"]
"""Whether a text says a fact, says something incompatible with it, or neither."""
LABELS: tuple[EntailmentLabel, ...] = ("entailed", "contradicted", "neutral")
_N_SHOWN = 3
"""Facts in the `repr` of a set."""


class Span(NamedTuple):
    """Half-open range of characters: `text[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AtomicFact:
    """The shortest self-contained statement taken from a text."""

    id: str
    """Unique within its `FactSet`."""
    text: str
    """The statement itself; never blank."""
    span: Span | None = None
    """Where in the source it comes from, in characters, or `None` if that is not known."""
    weight: float = 1.0
    """Share in the score; finite and not negative."""
    must: bool = False
    """Whether losing this fact fails a gate, whatever the score."""
    tags: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise InputError(f"fact {self.id!r} has no text; give every fact a statement to check")
        if not isinstance(self.id, str) or not self.id:
            raise InputError(f"fact {self.text!r} has no id")
        if not is_share(self.weight):
            raise InputError(f"fact {self.id!r} has a weight that is no finite number >= 0")
        if isinstance(self.tags, str) or not all(isinstance(tag, str) for tag in self.tags):
            raise InputError(f"fact {self.id!r}: tags must be a list of strings")
        object.__setattr__(self, "weight", float(self.weight))
        object.__setattr__(self, "tags", tuple(self.tags))
        object.__setattr__(self, "span", _as_span(self.span))

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "id": self.id,
            "text": self.text,
            "span": list(self.span) if self.span else None,
            "weight": self.weight,
            "must": self.must,
            "tags": list(self.tags),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AtomicFact:
        """Inverse of `to_dict`; everything but `id` and `text` may be left out.

        Raises:
            InputError: A value is missing or of the wrong type.
        """
        read = Reader(data, "fact")
        return cls(
            id=read.text("id"),
            text=read.text("text"),
            span=_as_span(read.integers("span")),
            weight=read.number("weight", 1.0),
            must=read.flag("must", default=False),
            tags=tuple(read.texts("tags")),
        )


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage of the checked text that a verdict rests on; `text[start:end] == quote` holds."""

    quote: str
    start: int
    end: int

    def shifted(self, offset: int) -> Evidence:
        """The same passage, counted from `offset` characters further left."""
        return Evidence(self.quote, self.start + offset, self.end + offset)

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {"quote": self.quote, "start": self.start, "end": self.end}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Evidence:
        """Inverse of `to_dict`; raises `InputError` for data of another shape."""
        read = Reader(data, "evidence")
        return cls(read.text("quote"), read.integer("start"), read.integer("end"))


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a judge found for one fact."""

    fact: AtomicFact
    label: EntailmentLabel
    probability: float | None = None
    """That the text entails the fact, in [0, 1]; `None` if the judge gives none."""
    evidence: Evidence | None = None
    """The passage it rests on, found in the text by string search; never the judge's word alone."""
    reason: str = ""
    judge: str = ""
    """Name of the judge that spoke."""
    cached: bool = False
    """Whether the verdict was paid for earlier."""
    flags: tuple[str, ...] = ()
    """Doubts worth showing, such as `"quote_not_found"`."""

    def __post_init__(self) -> None:
        if self.label not in LABELS:
            raise InputError(f"label {self.label!r} is not one of {', '.join(LABELS)}")
        if self.probability is not None and not 0.0 <= self.probability <= 1.0:
            raise InputError(f"probability {self.probability!r} is outside [0, 1]")

    @property
    def supported(self) -> bool:
        """Whether the text entails the fact."""
        return self.label == "entailed"

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "fact": self.fact.to_dict(),
            "label": self.label,
            "probability": self.probability,
            "evidence": self.evidence.to_dict() if self.evidence else None,
            "reason": self.reason,
            "judge": self.judge,
            "cached": self.cached,
            "flags": list(self.flags),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], fact: AtomicFact | None = None) -> Verdict:
        """Inverse of `to_dict`; raises `InputError` for data of another shape.

        Args:
            data: The verdict.
            fact: The fact it is about, where the data does not hold it.
        """
        read = Reader(data, "verdict")
        evidence = read.mapping("evidence")
        return cls(
            fact=fact or AtomicFact.from_dict(read.mapping_required("fact")),
            label=read.choice("label", LABELS),
            probability=read.optional_number("probability"),
            evidence=Evidence.from_dict(evidence) if evidence is not None else None,
            reason=read.text("reason", ""),
            judge=read.text("judge", ""),
            cached=read.flag("cached", default=False),
            flags=tuple(read.texts("flags")),
        )


@dataclass(frozen=True, slots=True)
class CheckFailure:
    """No verdict could be had for a fact. Counted as undecided, never as a verdict."""

    fact: AtomicFact
    code: str
    """Stable reason: `missing`, `duplicate`, `invalid`, or a code of `factcheck.errors`."""
    message: str

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {"fact": self.fact.to_dict(), "code": self.code, "message": self.message}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> CheckFailure:
        """Inverse of `to_dict`; raises `InputError` for data of another shape."""
        read = Reader(data, "failure")
        fact = AtomicFact.from_dict(read.mapping_required("fact"))
        return cls(fact, read.text("code"), read.text("message", ""))


CheckResult = Verdict | CheckFailure
"""What a checker returns for each fact, in fact order."""


@dataclass(frozen=True, slots=True)
class Usage:
    """What an answer cost."""

    calls: int = 0
    """Questions put to a provider."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    """US dollars, or `None` as soon as the price of one call is not known."""
    cache_hits: int = 0
    """Answers that were already paid for."""
    seconds: float = 0.0
    """Time spent waiting for replies, summed over attempts, which may overlap."""
    attempts: int = 0
    """Requests sent: calls and their retries."""
    cached_tokens: int = 0
    """Prompt tokens the provider had read before and charges less for."""

    def __add__(self, other: Usage) -> Usage:
        costs = (self.cost_usd, other.cost_usd)
        return Usage(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
            cost_usd=None if costs[0] is None or costs[1] is None else costs[0] + costs[1],
            cache_hits=self.cache_hits + other.cache_hits,
            seconds=self.seconds + other.seconds,
            attempts=self.attempts + other.attempts,
            cached_tokens=self.cached_tokens + other.cached_tokens,
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Usage:
        """Inverse of `to_dict`; raises `InputError` for data of another shape."""
        read = Reader(data, "usage")
        return cls(
            calls=read.integer("calls"),
            prompt_tokens=read.integer("prompt_tokens"),
            completion_tokens=read.integer("completion_tokens"),
            cost_usd=read.optional_number("cost_usd"),
            cache_hits=read.integer("cache_hits"),
            seconds=read.number("seconds"),
            attempts=read.integer("attempts"),
            cached_tokens=read.integer("cached_tokens"),
        )


@dataclass(frozen=True, slots=True, repr=False)
class FactSet(Sequence[AtomicFact]):
    """The atomic facts of one source, in order, with unique ids."""

    facts: tuple[AtomicFact, ...]
    source_digest: str | None = None
    """`fingerprint.digest` of the text the facts were extracted from; `None` for given facts."""
    made_by: tuple[tuple[str, str], ...] = ()
    """How the facts were obtained, as entries for the score signature."""

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for fact in self.facts:
            if fact.id in seen:
                raise InputError(f"two facts have the id {fact.id!r}; ids must be unique")
            seen.add(fact.id)

    @classmethod
    def of(cls, facts: FactSet | Iterable[AtomicFact | str]) -> FactSet:
        """Facts in any accepted form as a `FactSet`; plain strings are numbered `f1`, `f2`, ...

        Raises:
            InputError: Not a sequence of facts, a blank fact, or an id used twice.
        """
        if isinstance(facts, FactSet):
            return facts
        if isinstance(facts, (str, bytes, Mapping)) or not isinstance(facts, Iterable):
            raise InputError(
                f"facts must be a sequence of strings or AtomicFacts, not {type(facts).__name__}"
            )
        made = []
        for number, fact in enumerate(facts, 1):
            if isinstance(fact, str):
                made.append(AtomicFact(f"f{number}", " ".join(fact.split())))
            elif isinstance(fact, AtomicFact):
                made.append(fact)
            else:
                raise InputError(
                    f"fact {number} is a {type(fact).__name__}; use a string or an AtomicFact"
                )
        return cls(tuple(made))

    def __len__(self) -> int:
        return len(self.facts)

    def __repr__(self) -> str:
        shown = [repr(fact.text) for fact in self.facts[:_N_SHOWN]]
        if len(self.facts) > _N_SHOWN:
            shown.append("...")
        return f"<FactSet of {len(self.facts)}: {', '.join(shown)}>"

    def __iter__(self) -> Iterator[AtomicFact]:
        return iter(self.facts)

    def __getitem__(self, index: Any) -> Any:
        return self.facts[index]

    def to_dict(self) -> dict[str, Any]:
        """Everything as JSON-ready data."""
        return {
            "facts": [fact.to_dict() for fact in self.facts],
            "source_digest": self.source_digest,
            "made_by": dict(self.made_by),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FactSet:
        """Inverse of `to_dict`; raises `InputError` for data of another shape."""
        read = Reader(data, "fact set")
        return cls(
            facts=tuple(AtomicFact.from_dict(item) for item in read.mappings("facts")),
            source_digest=read.text("source_digest", None),
            made_by=tuple(
                (str(key), str(value)) for key, value in (read.mapping("made_by") or {}).items()
            ),
        )


def is_share(weight: Any) -> bool:
    """Whether a value can be a weight: a finite number that is not negative."""
    try:
        return not isinstance(weight, (bool, str)) and math.isfinite(weight) and weight >= 0
    except (TypeError, OverflowError):
        return False


def _as_span(pair: Any) -> Span | None:
    if pair is None:
        return None
    try:
        start, end = pair
    except (TypeError, ValueError):
        start, end = None, None
    if type(start) is not int or type(end) is not int or not 0 <= start <= end:
        raise InputError(f"span of a fact must be [start, end] with 0 <= start <= end, not {pair}")
    return Span(start, end)
