"""One case under evaluation, and how plain data becomes one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from factcheck.errors import InputError
from factcheck.facts import AtomicFact, FactSet
from factcheck.metrics.results import MetricFailure


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalCase:
    """What a system gave, and what is known about it. A metric reads the fields it needs.

    Raises:
        InputError: A field is of another type.
    """

    actual_output: Any
    """What the system under evaluation gave: a text, for most metrics."""
    input: str | None = None
    """What the system was given."""
    expected_output: Any = None
    """What it should have given, in the form of `actual_output`."""
    source: str | None = None
    """The text whose facts the output should keep."""
    references: tuple[str, ...] = ()
    """Texts the output may be like; they take the place of those a metric was made with."""
    facts: FactSet | tuple[str | AtomicFact, ...] | None = None
    """Facts of the source; `None`: they are extracted, where a metric needs them."""
    id: str | None = None
    """Unique within an evaluation; `None`: its position, counted from 1."""
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """Anything else, for metrics of your own."""

    def __post_init__(self) -> None:
        for name in ("input", "source", "id"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise InputError(f"a case: {name!r} must be a text, not {type(value).__name__}")
        if self.id is not None and not self.id.strip():
            raise InputError("a case: 'id' is blank; fill it in, or leave it out")
        object.__setattr__(self, "references", text_list(self.references, "a case: 'references'"))
        if self.facts is not None and not isinstance(self.facts, FactSet):
            object.__setattr__(self, "facts", tuple(FactSet.of(self.facts)))


CASE_FIELDS = tuple(one.name for one in fields(EvalCase))
"""Names of what a case may hold."""


class ReadCase(NamedTuple):
    """A case and its id, or why there is none."""

    id: str
    case: EvalCase | MetricFailure


def read_cases(items: Iterable[EvalCase | Mapping[str, Any]]) -> tuple[ReadCase, ...]:
    """Cases from `EvalCase`s and mappings with its fields, in their order.

    Raises:
        InputError: `items` is a single case or no collection, or two cases have one id.
    """
    if isinstance(items, (EvalCase, Mapping, str)) or not isinstance(items, Iterable):
        kind = type(items).__name__
        raise InputError(f"cases must be a list of EvalCase or mappings, not one {kind}")
    read = tuple(_read_case(item, number) for number, item in enumerate(items, 1))
    seen: set[str] = set()
    for one in read:
        if one.id in seen:
            raise InputError(f"two cases have the id {one.id!r}; ids must be unique")
        seen.add(one.id)
    return read


def _read_case(item: EvalCase | Mapping[str, Any], number: int) -> ReadCase:
    try:
        case = as_case(item)
    except InputError as error:
        return ReadCase(str(number), MetricFailure(error.code, str(error)))
    return ReadCase(case.id or str(number), case)


def as_case(item: EvalCase | Mapping[str, Any]) -> EvalCase:
    """A case from a mapping; one that is a case already is itself.

    Raises:
        InputError: It is neither, a key is not known, or `actual_output` is missing.
    """
    if isinstance(item, EvalCase):
        return item
    if not isinstance(item, Mapping):
        kind = type(item).__name__
        raise InputError(f"a case must be an EvalCase or a mapping with its fields, not {kind}")
    unknown = sorted(str(key) for key in item if key not in CASE_FIELDS)
    if unknown:
        raise InputError(f"a case: unknown keys {unknown}; known are {list(CASE_FIELDS)}")
    if "actual_output" not in item:
        raise InputError(f"a case: 'actual_output' is missing; found {sorted(item)}")
    return EvalCase(**item)


def text_list(value: Any, what: str) -> tuple[str, ...]:
    """Several texts, none of them blank.

    Raises:
        InputError: It is one text, or holds something else.
    """
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise InputError(f"{what} must be a list of texts, not {type(value).__name__}")
    texts = tuple(value)
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"{what}: number {number} is no text but {type(text).__name__}")
        if not text.strip():
            raise InputError(f"{what}: number {number} is blank")
    return texts
