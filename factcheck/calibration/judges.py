"""Judges under test: their names and their scorers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, TypeAlias, TypeVar

from factcheck.errors import InputError, JudgeError
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, FactSet
from factcheck.judges.ports import JudgeSpec
from factcheck.runtime.budget import Budget
from factcheck.scoring import FactCoverage

T = TypeVar("T")
Named: TypeAlias = Sequence[T] | Mapping[str, T]
"""A list, or a mapping that gives names."""
Judge: TypeAlias = "JudgeSpec | FactCoverage"
"""Anything that `FactCoverage` takes as a judge, or a scorer, which stays open."""


def named_judges(judges: Named[T]) -> list[tuple[str, T]]:
    """The judges with their names; `InputError` for neither a list nor a mapping."""
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


def require_unique(noun: str, names: Iterable[str]) -> None:
    """Refuse a name that occurs twice by an `InputError`."""
    for name, count in Counter(names).items():
        if count > 1:
            raise InputError(f"two {noun}s are called {name!r}; names must be unique")


async def open_scorer(judge: Judge, budget: Budget | None, stack: AsyncExitStack) -> FactCoverage:
    """The scorer of a judge, closed by `stack`; a `FactCoverage` is used, and left open."""
    if isinstance(judge, FactCoverage):
        return judge
    return await stack.enter_async_context(FactCoverage(judge, budget=budget))


async def check_texts(
    scorer: FactCoverage, facts: Sequence[str], text: str
) -> tuple[CheckResult, ...]:
    """One result per fact; an error of the judge becomes a failure of every fact."""
    given = FactSet(tuple(AtomicFact(f"f{n}", fact) for n, fact in enumerate(facts, 1)))
    try:
        return await scorer.acheck(given, text)
    except JudgeError as error:
        return tuple(CheckFailure(fact, error.code, str(error)) for fact in given)
