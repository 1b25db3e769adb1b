"""Facts and the verdicts on them: plain, frozen values.

Every class turns into JSON-ready data with `to_dict` and back with `from_dict`, without loss.
"""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from factcheck.documents import PlainData, Reader, shown
from factcheck.errors import InputError

EntailmentLabel = Literal["entailed", "contradicted", "neutral"]
"""Whether a text says a fact, says something incompatible with it, or neither."""
LABELS: tuple[EntailmentLabel, ...] = ("entailed", "contradicted", "neutral")
_NUMBERED = re.compile(r"f([1-9][0-9]{0,9})")
_N_SHOWN = 3
"""Facts in the `repr` of a set."""


class Span(NamedTuple):
    """Half-open range of characters: `text[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AtomicFact(PlainData):
    """The shortest self-contained statement taken from a text."""

    id: str
    """Unique within its `FactSet`."""
    text: str
    """The statement itself; never blank."""
    span: Span | None = None
    """Its range in the source (in its document), in characters; `None` if unknown."""
    weight: float = 1.0
    """Share in the score; finite and not negative."""
    must: bool = False
    """Whether losing this fact fails a gate, whatever the score; the tag `must` says so, too."""
    tags: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    """Ids of the documents of the source that state it; `span` is that in the first. Empty for a
    source of one text. Of a claim: the documents that its verdict rests on."""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise InputError(f"fact {shown(self.id)} has no text; every fact needs a statement")
        if not isinstance(self.id, str) or not self.id:
            raise InputError(f"fact {shown(self.text)} has no id")
        if not _is_weight(self.weight):
            raise InputError(
                f"fact {shown(self.id)}: 'weight': expected a finite number >= 0, "
                f"got {shown(self.weight)}"
            )
        object.__setattr__(self, "weight", float(self.weight))
        for name in ("tags", "documents"):
            value = getattr(self, name)
            if isinstance(value, str) or not all(isinstance(item, str) for item in value):
                raise InputError(f"fact {shown(self.id)}: {name!r}: expected a list of strings")
            object.__setattr__(self, name, tuple(value))
        object.__setattr__(self, "must", self.must or "must" in self.tags)
        object.__setattr__(self, "span", _as_span(self.span))


@dataclass(frozen=True, slots=True)
class Evidence(PlainData):
    """A passage of the checked text that a verdict rests on; `text[start:end] == quote` holds."""

    quote: str
    start: int
    end: int

    def shifted(self, offset: int) -> Evidence:
        """The same passage, counted from `offset` characters further left."""
        return Evidence(self.quote, self.start + offset, self.end + offset)


@dataclass(frozen=True, slots=True)
class Verdict(PlainData):
    """The answer of a judge on one fact."""

    fact: AtomicFact
    label: EntailmentLabel
    probability: float | None = None
    """That the text entails the fact, in [0, 1]; `None` if the judge gives none."""
    evidence: Evidence | None = None
    """The passage it rests on, located in the text by string search."""
    reason: str = ""
    judge: str = ""
    """Name of the judge."""
    cached: bool = False
    """Whether the verdict comes from the cache."""
    flags: tuple[str, ...] = ()
    """Warnings, such as `"quote_not_found"`."""

    def __post_init__(self) -> None:
        if self.label not in LABELS:
            raise InputError(f"label {shown(self.label)} is not one of {', '.join(LABELS)}")
        if self.probability is not None and not 0.0 <= self.probability <= 1.0:
            raise InputError(f"probability {self.probability!r} is outside [0, 1]")

    @property
    def supported(self) -> bool:
        """Whether the text entails the fact."""
        return self.label == "entailed"


@dataclass(frozen=True, slots=True)
class CheckFailure(PlainData):
    """Why a fact has no verdict; it counts as undecided."""

    fact: AtomicFact
    code: str
    """Stable reason: `missing`, `duplicate`, `invalid`, `unsure`, `language`, or a code of
    `factcheck.errors`."""
    message: str


CheckResult = Verdict | CheckFailure
"""What a checker returns for each fact, in fact order."""


def match_results(facts: Iterable[AtomicFact], results: Iterable[Any]) -> list[CheckResult]:
    """Exactly one result per fact, in fact order, whatever a judge returned.

    Results for other facts are dropped; a fact without a result, or with more than one, is
    undecided.
    """
    given: dict[AtomicFact, list[CheckResult]] = {fact: [] for fact in facts}
    for result in results:
        if isinstance(result, (Verdict, CheckFailure)) and result.fact in given:
            given[result.fact].append(result)
    return [
        got[0]
        if len(got) == 1
        else CheckFailure(
            fact,
            "duplicate" if got else "missing",
            f"the judge gave {len(got)} verdicts for this fact",
        )
        for fact, got in given.items()
    ]


@dataclass(frozen=True, slots=True)
class Usage(PlainData):
    """Requests, tokens, cost and time of one or more responses."""

    calls: int = 0
    """Calls to a provider."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    """US dollars; `None` if the price of any call is unknown."""
    cache_hits: int = 0
    """Responses taken from the cache."""
    seconds: float = 0.0
    """Time spent waiting for responses, summed over attempts, which may overlap."""
    attempts: int = 0
    """Requests sent: calls and their retries."""
    cached_tokens: int = 0
    """Prompt tokens from the provider's own prompt cache, which it charges less for."""
    kept_in_front: int = 0
    """Questions that the first judge of a cascade decided, so that the second was not asked."""
    calls_saved: int = 0
    """Requests that these would have filled, by the batch size of the second judge."""

    def __add__(self, other: Usage) -> Usage:
        pairs = ((getattr(self, name), getattr(other, name)) for name in self.__slots__)
        sums: list[Any] = [None if None in pair else sum(pair) for pair in pairs]
        return Usage(*sums)


@dataclass(frozen=True, slots=True, repr=False)
class FactSet(Sequence[AtomicFact]):
    """The atomic facts of one source, in order, with unique ids."""

    facts: tuple[AtomicFact, ...]
    source_digest: str | None = None
    """`digest` of the text the facts were extracted from, of documents that of their `source_key`;
    `None` for given facts."""
    made_by: tuple[tuple[str, str], ...] = ()
    """How the facts were obtained, as entries for the score signature."""
    documents: tuple[str, ...] = ()
    """Ids of the documents of the source, in order; empty for a source of one text."""
    extracted: tuple[str, ...] = ()
    """In a lock file: short digests of the facts last found in the source, by which it is known
    which of them were reworded or removed by hand since."""

    def __post_init__(self) -> None:
        for id_, count in Counter(fact.id for fact in self.facts).items():
            if count > 1:
                raise InputError(f"two facts have the id {id_!r}; ids must be unique")

    @classmethod
    def of(
        cls,
        facts: FactSet | Iterable[AtomicFact | str | Mapping[str, Any]],
        error: Callable[[int, str], InputError] | None = None,
    ) -> FactSet:
        """Facts in any accepted form; those without an id are numbered (see `free_ids`).

        Args:
            facts: Facts, statements, or mappings from the fields of a fact to their values.
            error: Makes the error about the fact at a position, counted from 0; `None`: without
                place.

        Raises:
            InputError: Not a sequence of facts, a blank fact, or an id used twice.
        """
        if isinstance(facts, FactSet):
            return facts
        if isinstance(facts, (str, bytes, Mapping)) or not isinstance(facts, Iterable):
            raise InputError(
                f"expected a list of facts, or 'facts:' with a list under it, got {shown(facts)}"
            )
        given, made = list(facts), []
        ids = free_ids([_id_of(item) for item in given])
        for position, (item, id_) in enumerate(zip(given, ids, strict=True)):
            try:
                made.append(_as_fact(item, id_))
            except InputError as problem:  # noqa: PERF203 - it names the fact
                why = str(problem).removeprefix("atomic fact: ")
                unplaced = InputError(f"fact {position + 1}: {why}")
                raise error(position, why) if error else unplaced from problem
        return cls(tuple(made))

    def __len__(self) -> int:
        return len(self.facts)

    def __repr__(self) -> str:
        texts = [repr(fact.text) for fact in self.facts[:_N_SHOWN]]
        more = ", ..." if len(self.facts) > _N_SHOWN else ""
        return f"<FactSet of {len(self.facts)}: {', '.join(texts)}{more}>"

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
            "documents": list(self.documents),
            **({"extracted": list(self.extracted)} if self.extracted else {}),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FactSet:
        """Inverse of `to_dict`; raises `InputError` for data of another shape."""
        read = Reader(data, "fact set")
        made_by = read.get("made_by", dict[str, Any] | None, None) or {}
        return cls(
            facts=tuple(read.get("facts", list[AtomicFact])),
            source_digest=read.get("source_digest", str | None, None),
            made_by=tuple((str(key), str(value)) for key, value in made_by.items()),
            documents=tuple(read.get("documents", list[str], [])),
            extracted=tuple(read.get("extracted", list[str], [])),
        )


def _id_of(item: Any) -> str | None:
    id_ = item.get("id") if isinstance(item, Mapping) else getattr(item, "id", None)
    return id_ if isinstance(id_, str) else None


def _as_fact(item: Any, free_id: str) -> AtomicFact:
    if isinstance(item, AtomicFact):
        return item
    if isinstance(item, str):
        return AtomicFact(free_id, " ".join(item.split()))
    if not isinstance(item, Mapping):
        raise InputError(f"expected a string, got {shown(item)}; put it in quotes")
    refuse_unknown_keys(item, AtomicFact.__slots__)
    return AtomicFact.from_dict({"id": free_id, **item})


def refuse_unknown_keys(value: Mapping[Any, Any], known: Sequence[str]) -> None:
    """Raise `InputError` if an object has a key that is not one of these."""
    for key in value:
        if key not in known:
            raise InputError(
                f"{shown(key)} is not one of {', '.join(known)}; "
                "put a string in quotes if it holds ': '"
            )


def free_ids(given: Sequence[str | None]) -> list[str]:
    """The ids given; for a fact without one (`None`), `f` and its position, counted from 1.

    Where other facts have ids of this form, the next number that is free.
    """
    matches = [_NUMBERED.fullmatch(id_) for id_ in given if id_ is not None]
    numbers = [int(match[1]) for match in matches if match]
    free = itertools.count(max(numbers) + 1) if numbers else None
    return [
        id_ if id_ is not None else f"f{next(free) if free else position}"
        for position, id_ in enumerate(given, 1)
    ]


def _is_weight(weight: Any) -> bool:
    try:
        return not isinstance(weight, bool) and math.isfinite(weight) and bool(weight >= 0)
    except (TypeError, OverflowError):
        return False


def _as_span(pair: Any) -> Span | None:
    if pair is None:
        return None
    with suppress(TypeError, ValueError):
        start, end = pair
        if type(start) is int and type(end) is int and 0 <= start <= end:
            return Span(start, end)
    raise InputError(f"'span': expected [start, end] with 0 <= start <= end, got {shown(pair)}")
