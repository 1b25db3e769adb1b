"""What judges are called in tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from factcheck.errors import InputError
from factcheck.scoring import FactCoverage

Judges = Sequence[Any] | Mapping[str, Any]
"""Judges in any form that `FactCoverage` takes; a mapping gives them names."""


def named(judges: Judges) -> list[tuple[str, Any]]:
    """The judges with their names.

    Raises:
        InputError: Neither a list nor a mapping.
    """
    if isinstance(judges, Mapping):
        return list(judges.items())
    if isinstance(judges, str) or not isinstance(judges, Sequence):
        raise InputError(f"judges must be a list or a mapping by name, not {judges!r}")
    return [(_name(judge), judge) for judge in judges]


def _name(judge: Any) -> str:
    if isinstance(judge, str):
        return judge
    if isinstance(judge, FactCoverage):
        return str(dict(judge.signature.entries).get("judge", "judge"))
    return str(getattr(judge, "model", type(judge).__name__))


def refuse_doubles(what: str, names: Iterable[str]) -> None:
    """Raise if two have one name.

    Raises:
        InputError: They do.
    """
    doubled = [name for name, count in Counter(names).items() if count > 1]
    if doubled:
        raise InputError(f"two {what}s are called {doubled[0]!r}; give each a name of its own")
