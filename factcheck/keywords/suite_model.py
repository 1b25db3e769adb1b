"""Cases of behaviours: a prompt, a guide, and which behaviour each variant is to show."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from factcheck.errors import InputError
from factcheck.facts.fingerprint import short_digest
from factcheck.keywords.guides import Guide, as_guide
from factcheck.keywords.model import doubled


@dataclass(frozen=True, slots=True)
class BehaviorCase:
    """A prompt, and how responses to it are told apart."""

    id: str
    """Unique within its suite."""
    instruction: str
    guide: Guide
    input: str = ""
    output: str = ""
    """A response for reference; nothing is compared with it."""
    expected: Mapping[str, str] = field(default_factory=dict)
    """By variant, the label it is to show. As given, it may name behaviours; empty: each behaviour
    of the guide is a variant, which is to show it."""

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id.strip():
            raise InputError(f"a case has the id {self.id!r}; give each a text of its own")
        guide = as_guide(self.guide)
        named = self.expected or {behavior.name: behavior.label for behavior in guide.behaviors}
        try:
            labels = {variant: guide.label_of(name) for variant, name in named.items()}
        except InputError as error:
            raise InputError(f"case {self.id!r}: expected: {error}") from error
        object.__setattr__(self, "guide", guide)
        object.__setattr__(self, "expected", labels)

    @property
    def prompt(self) -> str:
        """Instruction and input, as one text."""
        return f"{self.instruction}\n{self.input}" if self.input else self.instruction

    @property
    def digest(self) -> str:
        """Guide and expectations, as 8 hexadecimal digits."""
        data = [self.guide.to_dict(), dict(self.expected)]
        return short_digest(json.dumps(data, ensure_ascii=False))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], number: int = 1) -> BehaviorCase:
        """A case from `instruction`, `input`, `output`, `evaluation_guide`, `id` and `expected`.

        Args:
            data: The first and the guide are needed, the others not.
            number: Position of the case, from 1: its id if it has none.

        Raises:
            InputError: The data is no case.
        """
        from factcheck.keywords.suite_files import case_from_data

        return case_from_data(data, number)

    def to_dict(self) -> dict[str, Any]:
        """The case as it is written in a file."""
        return {
            "id": self.id,
            "instruction": self.instruction,
            "input": self.input,
            "output": self.output,
            "evaluation_guide": self.guide.to_dict(),
            "expected": dict(self.expected),
        }


def as_cases(cases: Any, expected: Mapping[str, str] | None = None) -> tuple[BehaviorCase, ...]:
    """Cases from themselves, or from mappings.

    Args:
        cases: `BehaviorCase`s, or mappings as `BehaviorCase.from_dict` takes them.
        expected: What variants are to show in every case; `None`: what the cases say.

    Raises:
        InputError: There are none, one cannot be used, or an id is doubled; says which.
    """
    if isinstance(cases, (str, bytes, Mapping)) or not isinstance(cases, Iterable):
        raise InputError(f"expected a list of cases, not {type(cases).__name__}")
    made = tuple(_as_case(case, number) for number, case in enumerate(cases, 1))
    if not made:
        raise InputError("the suite has no cases")
    if twice := doubled(case.id for case in made):
        raise InputError(f"the id {twice!r} is there twice; ids must be unique")
    return made if expected is None else tuple(replace(c, expected=expected) for c in made)


def case_warnings(cases: Iterable[BehaviorCase]) -> tuple[str, ...]:
    """What is allowed in guides but hardly meant, such as an empty list of keywords."""
    return tuple(
        f"case {case.id!r}: {warning}" for case in cases for warning in case.guide.warnings()
    )


def _as_case(case: Any, number: int) -> BehaviorCase:
    if isinstance(case, BehaviorCase):
        return case
    if not isinstance(case, Mapping):
        raise InputError(
            f"case {number} is {type(case).__name__}; expected a BehaviorCase or a mapping"
        )
    return BehaviorCase.from_dict(case, number)
