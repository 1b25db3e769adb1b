"""Facts, verdicts, usage and signatures: frozen values; digests of texts.

Every class converts to JSON-ready data with `to_dict` and back with `from_dict`, losslessly.
"""

from __future__ import annotations

import hashlib
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Literal, NamedTuple
from urllib.parse import quote, unquote

from factcheck.documents import PlainData, Reader, from_plain, shown, to_plain
from factcheck.errors import FactcheckError, InputError

EntailmentLabel = Literal["entailed", "contradicted", "neutral"]
"""Whether a text entails a fact, contradicts it, or does neither."""
LABELS: tuple[EntailmentLabel, ...] = ("entailed", "contradicted", "neutral")
_STATUSES = {"entailed": "kept", "contradicted": "distorted", "neutral": "dropped"}
COUNTS = ("facts", *_STATUSES.values(), "undecided")
"""What is counted of a report: all facts, and those by outcome."""
_NUMBERED = re.compile(r"f([1-9][0-9]{0,9})")
_N_SHOWN = 3
"""Number of facts in the `repr` of a set."""
_READABLE = "/@,()+ "
_CORE = "name another fact as 'core', or leave it out: the fact then stands alone"
FOREIGN = "foreign"
"""Tag of a fact that a model listed, with few words of the source."""
_NO_SETTINGS = {"facts", "undecided"}
"""Entries of a signature that are counts rather than settings."""


class Span(NamedTuple):
    """Half-open range of characters: `text[start:end]`."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class AtomicFact(PlainData):
    """A minimal self-contained statement extracted from a text."""

    id: str
    """Unique within its `FactSet`."""
    text: str
    """Statement; never blank."""
    span: Span | None = None
    """Character range in the source, or in its first document; `None` if unknown."""
    weight: float = 1.0
    """Weight in the score; finite and non-negative."""
    must: bool = False
    """Whether losing this fact fails a gate regardless of the score; also set by the tag `must`."""
    tags: tuple[str, ...] = ()
    documents: tuple[str, ...] = ()
    """Ids of the source documents that state the fact; empty for a single-text source. For a
    claim: the documents that its verdict is based on."""
    core: str | None = None
    """Id of the fact to which this one adds a detail; a text that entails this fact entails that
    one, too. `None` for a fact that stands alone."""

    def __post_init__(self) -> None:
        if not isinstance(self.text, str) or not self.text.strip():
            raise InputError(f"fact {shown(self.id)} has no text; every fact needs a statement")
        if not isinstance(self.id, str) or not self.id:
            raise InputError(f"fact {shown(self.text)} has no id")
        is_number = isinstance(self.weight, Real) and not isinstance(self.weight, bool)
        if not (is_number and 0 <= self.weight <= sys.float_info.max):
            raise InputError(
                f"fact {shown(self.id)}: weight must be a finite number of at least 0, "
                f"not {shown(self.weight)}"
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
    """Passage of the checked text that supports a verdict; `text[start:end] == quote`."""

    quote: str
    start: int
    end: int

    def shifted(self, offset: int) -> Evidence:
        """Return the passage with `offset` added to its position."""
        return Evidence(self.quote, self.start + offset, self.end + offset)


@dataclass(frozen=True, slots=True)
class Verdict(PlainData):
    """A judge's decision on one fact."""

    fact: AtomicFact
    label: EntailmentLabel
    probability: float | None = None
    """Probability that the text entails the fact, in [0, 1]; `None` if the judge gives none."""
    evidence: Evidence | None = None
    """Deciding passage, located in the text by string search."""
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

    @property
    def status(self) -> str:
        """`kept`, `distorted` or `dropped`."""
        return _STATUSES[self.label]


@dataclass(frozen=True, slots=True)
class CheckFailure(PlainData):
    """Reason why a fact has no verdict; the fact counts as undecided."""

    fact: AtomicFact
    code: str
    """Stable reason: `missing`, `duplicate`, `invalid`, `unsure`, `language`, or a code of
    `factcheck.errors`."""
    message: str
    label: ClassVar[Literal[""]] = ""
    evidence: ClassVar[None] = None
    supported: ClassVar[bool] = False
    status: ClassVar[str] = "undecided"
    judge: ClassVar[str] = ""

    @classmethod
    def of(cls, fact: AtomicFact, error: FactcheckError) -> CheckFailure:
        """Make the failure of a fact from an error."""
        return cls(fact, error.code, str(error))


CheckResult = Verdict | CheckFailure
"""Result of a checker for one fact."""


def strongest(results: Iterable[CheckResult]) -> CheckResult:
    """Return the result on parts of a text that counts for the whole, of equal ones the first.

    A fact is entailed if any part entails it, else undecided if any result is undecided, else
    contradicted if any part contradicts it.
    """
    order = ("entailed", "", "contradicted", "neutral")
    return min(results, key=lambda result: order.index(result.label))


def combined(names: Sequence[str], results: Sequence[CheckResult]) -> CheckResult:
    """Combine the results of several documents on one claim: the strongest counts.

    The claim gets the ids of the documents with its label and the evidence of the first.
    """
    result = strongest(results)
    agreeing = [name for name, one in zip(names, results, strict=True) if one.label == result.label]
    documents = tuple(agreeing) if result.label in {"entailed", "contradicted"} else ()
    return replace(result, fact=replace(result.fact, documents=documents))


def with_true_evidence(result: CheckResult, text: str) -> CheckResult:
    """Remove evidence that does not match `text` at its offsets."""
    if isinstance(result, CheckFailure) or (evidence := result.evidence) is None:
        return result
    if evidence.quote and text[evidence.start : evidence.end] == evidence.quote:
        return result
    return replace(result, evidence=None, flags=(*result.flags, "quote_not_found"))


def match_results(facts: Iterable[AtomicFact], results: Iterable[Any]) -> list[CheckResult]:
    """Reduce the results of a judge to exactly one per fact, in fact order.

    Results for unknown facts are ignored; a fact without a result, or with several, is undecided.
    """
    by_fact: dict[AtomicFact, list[CheckResult]] = {fact: [] for fact in facts}
    for result in results:
        if isinstance(result, (Verdict, CheckFailure)) and result.fact in by_fact:
            by_fact[result.fact].append(result)
    matched: list[CheckResult] = []
    for fact, found in by_fact.items():
        if len(found) == 1:
            matched += found
        else:
            code = "duplicate" if found else "missing"
            message = f"the judge gave {len(found)} verdicts for this fact"
            matched.append(CheckFailure(fact, code, message))
    return matched


@dataclass(frozen=True, slots=True)
class Usage(PlainData):
    """Requests, tokens, cost and time of one or more replies."""

    calls: int = 0
    """Provider calls, not counting retries."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float | None = 0.0
    """In US dollars; `None` if the price of any call is unknown."""
    cache_hits: int = 0
    """Replies taken from the response cache."""
    seconds: float = 0.0
    """Latency in seconds, summed over attempts, which may overlap."""
    attempts: int = 0
    """Requests sent, including retries."""
    cached_tokens: int = 0
    """Prompt tokens billed at the provider's prompt-cache rate."""
    kept_in_front: int = 0
    """Facts or pairs decided by the first judge of a cascade."""

    def __add__(self, other: Usage) -> Usage:
        sums = {name: getattr(self, name) + getattr(other, name) for name in _COUNTERS}
        cost_usd = None
        if self.cost_usd is not None and other.cost_usd is not None:
            cost_usd = self.cost_usd + other.cost_usd
        return Usage(cost_usd=cost_usd, **sums)


_COUNTERS = tuple(name for name in Usage.__slots__ if name != "cost_usd")


class InvalidFact(InputError):
    """A fact of a list is invalid."""

    def __init__(self, position: int, message: str) -> None:
        super().__init__(f"fact {position + 1}: {message.removeprefix('atomic fact: ')}")
        self.position = position
        """0-based."""


def root_ids(facts: Iterable[AtomicFact]) -> dict[str, str]:
    """Return for each fact, by id, the fact that it adds to in the end; itself if it is a core.

    Raises `InvalidFact` if cores lead in a circle.
    """
    cores = {fact.id: fact.core for fact in facts}
    roots: dict[str, str] = {}
    for position, id_ in enumerate(cores):
        root, passed = id_, [id_]
        while root not in roots and (core := cores[root]) in cores:
            root = core
            if root in passed:
                circle = " → ".join([*passed, root])
                raise InvalidFact(position, f"its core leads in a circle, {circle:.200}; {_CORE}")
            passed.append(root)
        roots |= dict.fromkeys(passed, roots.get(root, root))
    return roots


@dataclass(frozen=True, slots=True, repr=False)
class FactSet(Sequence[AtomicFact]):
    """Atomic facts of one source, in order, with unique ids."""

    facts: tuple[AtomicFact, ...]
    source_digest: str | None = None
    """`digest` of the `source_key` of the source; `None` for facts that were not extracted."""
    made_by: tuple[tuple[str, str], ...] = ()
    """Extractor and its version, as entries of the score signature."""
    documents: tuple[str, ...] = ()
    """Ids of the source documents, in order; empty for a single-text source."""
    extracted: tuple[str, ...] = ()
    """In a lock file: short digests of the facts last extracted from the source, with the id of the
    fact made from each, as in `fa0fb061=f1`; a merge detects from them what was reworded or removed
    by hand."""

    def __post_init__(self) -> None:
        for id_, count in Counter(fact.id for fact in self.facts).items():
            if count > 1:
                raise InputError(f"two facts have the id {id_!r}; ids must be unique")
        root_ids(self.facts)

    @classmethod
    def of(cls, facts: FactSet | Iterable[AtomicFact | str | Mapping[str, Any]]) -> FactSet:
        """Convert facts from any accepted form, numbering those without an id (see `free_ids`).

        Args:
            facts: Facts, statements, or mappings with the fields of a fact.

        Raises:
            InvalidFact: A fact is blank or malformed.
            InputError: Not a sequence of facts, or a duplicate id.
        """
        if isinstance(facts, FactSet):
            return facts
        if isinstance(facts, (str, bytes, Mapping)) or not isinstance(facts, Iterable):
            raise InputError(
                f"expected a list of facts, or 'facts:' with a list under it, got {shown(facts)}"
            )
        items, converted = list(facts), []
        ids = free_ids(list(map(_id_of, items)))
        for position, (item, id_) in enumerate(zip(items, ids, strict=True)):
            try:
                converted.append(_as_fact(item, id_))
            except InputError as problem:  # noqa: PERF203 - the message names the fact
                raise InvalidFact(position, str(problem)) from problem
        return cls(tuple(converted))

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
        """Convert to JSON-ready data."""
        data = {**to_plain(self), "made_by": dict(self.made_by)}
        return {key: value for key, value in data.items() if value or key != "extracted"}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> FactSet:
        """Inverse of `to_dict`; raises `InputError` for data of another shape."""
        made_by = Reader(data, "fact set").get("made_by", dict[str, Any] | None, None) or {}
        pairs = [(key, str(value)) for key, value in made_by.items()]
        return from_plain(cls, {**data, "made_by": pairs}, "fact set")


def _id_of(item: Any) -> str | None:
    known = item.get("id") if isinstance(item, Mapping) else getattr(item, "id", None)
    if isinstance(known, str):
        return known
    return None


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
    """Raise `InputError` if an object has a key that is not in `known`."""
    for key in value:
        if key not in known:
            raise InputError(
                f"{shown(key)} is not one of {', '.join(known)}; "
                "put a string in quotes if it holds ': '"
            )


def free_ids(given: Sequence[str | None]) -> list[str]:
    """Fill in missing ids (`None`) with `f` and the 1-based position.

    If any id already has this form, numbering continues after the highest.
    """
    matches = [_NUMBERED.fullmatch(id_) for id_ in given if id_ is not None]
    numbers = [int(match[1]) for match in matches if match]
    highest = max(numbers, default=0)
    ids = []
    for position, id_ in enumerate(given, 1):
        if id_ is not None:
            ids.append(id_)
        elif highest:
            highest += 1
            ids.append(f"f{highest}")
        else:
            ids.append(f"f{position}")
    return ids


def _as_span(pair: Any) -> Span | None:
    if pair is None:
        return None
    with suppress(TypeError, ValueError):
        start, end = pair
        if type(start) is int and type(end) is int and 0 <= start <= end:
            return Span(start, end)
    raise InputError(f"'span': expected [start, end] with 0 <= start <= end, got {shown(pair)}")


@dataclass(frozen=True, slots=True)
class ScoreSignature:
    """Ordered names and values of the settings behind a score, as one readable line.

        facts:12|undecided:1|judge:openai%2Fgpt-x|check:check_facts%2Fv1@7841ba02|version:0.1.0

    Values are percent-encoded, as names may contain `:` and `|`. Modelled on sacreBLEU's.
    """

    entries: tuple[tuple[str, str], ...]

    def __post_init__(self) -> None:
        names = [name for name, _ in self.entries]
        if len(set(names)) != len(names):
            raise InputError(f"a score signature names {sorted(names)} more than once")

    @classmethod
    def of(cls, entries: Mapping[str, str] | Iterable[tuple[str, str]]) -> ScoreSignature:
        """Make a signature from names and values, in order."""
        pairs = entries.items() if isinstance(entries, Mapping) else entries
        return cls(tuple((name, value) for name, value in pairs))

    def __str__(self) -> str:
        return "|".join(f"{_encode(name)}:{_encode(value)}" for name, value in self.entries)

    def as_plain(self) -> str:
        return str(self)

    def __getitem__(self, name: str) -> str:
        return dict(self.entries)[name]

    @property
    def never_flips(self) -> bool:
        """Whether the judge is deterministic, as the embedded ones are."""
        return dict(self.entries).get("judge", "").startswith(("local", "containment"))

    def changes(self, other: ScoreSignature) -> dict[str, tuple[str, str]]:
        """Settings that differ in another signature, with both values; counts are ignored.

        A missing setting has the value `default`.
        """
        old, new = dict(self.entries), dict(other.entries)
        found = {}
        for name in {**old, **new}:
            values = old.get(name, "default"), new.get(name, "default")
            if name not in _NO_SETTINGS and old.get(name) != new.get(name):
                found[name] = values
        return found

    @classmethod
    def parse(cls, line: str) -> ScoreSignature:
        """Inverse of `str`.

        Raises:
            InputError: An entry without a colon, a duplicate name, or a wrapped line.
        """
        if any(character.isspace() and character != " " for character in line):
            raise InputError("score signature: it is one line without tabs; was it wrapped?")
        entries = []
        for part in line.split("|") if line else []:
            name, colon, value = part.partition(":")
            if not colon:
                raise InputError(f"score signature: {part!r} is not of the form name:value")
            entries.append((_decode(name), _decode(value)))
        return cls(tuple(entries))


def digest(text: str) -> str:
    """Return the SHA-256 of a text's UTF-8 bytes as 64 hexadecimal digits.

    Any `str` has a digest: lone surrogates are encoded, not rejected.
    """
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def short_digest(text: str) -> str:
    """Return the first 8 hexadecimal digits of `digest`."""
    return digest(text)[:8]


def _encode(value: str) -> str:
    return quote(value, safe=_READABLE, errors="surrogatepass")


def _decode(value: str) -> str:
    try:
        return unquote(value, errors="surrogatepass")
    except UnicodeDecodeError:
        raise InputError(f"score signature: {value!r} is not percent-encoded UTF-8") from None
