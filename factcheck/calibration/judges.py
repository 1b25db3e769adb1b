"""Judges under test: their names and scorers, and word containment, the baseline beside them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from typing import Any, TypeAlias, TypeVar

from factcheck.errors import InputError, JudgeError
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, FactSet, Verdict
from factcheck.judges.ports import JudgeSpec, Ledger
from factcheck.runtime.budget import Budget
from factcheck.scoring import FactCoverage

T = TypeVar("T")
Named: TypeAlias = Sequence[T] | Mapping[str, T]
"""A list, or a mapping that gives names."""
Judge: TypeAlias = "JudgeSpec | FactCoverage"
"""Anything that `FactCoverage` takes as a judge, or a scorer, which stays open."""
BASELINE = "containment"
"""Name of the baseline in verdicts and tables."""


class WordContainment:
    """Judge that calls a fact entailed if enough of its words occur anywhere in the text.

    It knows no word forms, no order and no negation, and never calls a fact contradicted: a judge
    worth its price is clearly better than this one.

    Args:
        threshold: Share of the fact's words from which it is entailed, in (0, 1]. The default is
            the best one on REALSumm's development documents, with a balanced accuracy of .80.

    Raises:
        InputError: The threshold is out of range.
    """

    def __init__(self, threshold: float = 0.6) -> None:
        if not 0.0 < threshold <= 1.0:
            raise InputError(
                f"the threshold of word containment must be in (0, 1], not {threshold!r}"
            )
        self.threshold = threshold

    @property
    def identity(self) -> Mapping[str, str]:
        """The baseline and its threshold."""
        return {"judge": f"{BASELINE}/1@{self.threshold:g}"}

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        """One verdict per fact, in fact order; its probability is the share of words found."""
        del ledger
        present = _words(text)
        return [self._verdict(fact, present) for fact in facts]

    def _verdict(self, fact: AtomicFact, present: set[str]) -> Verdict:
        words = _words(fact.text)
        share = len(words & present) / len(words) if words else 0.0
        missing = ", ".join(sorted(words - present))
        return Verdict(
            fact,
            "entailed" if share >= self.threshold else "neutral",
            share,
            reason=f"words missing: {missing}" if missing else "every word is there",
            judge=BASELINE,
        )


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


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
