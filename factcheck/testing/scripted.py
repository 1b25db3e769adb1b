"""Judges and extractors that answer from a script and record their calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Generic, NamedTuple, TypeVar

from factcheck.errors import Failure, InputError
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    EntailmentLabel,
    FactSet,
    Usage,
    Verdict,
    digest,
)
from factcheck.judges.ports import (
    Ledger,
    PairResult,
    PairVerdict,
    ValuePair,
)

KeyT = TypeVar("KeyT")
ResultT = TypeVar("ResultT")
Script = Mapping[KeyT, ResultT | Exception] | Callable[..., ResultT | Exception]
"""Results by key, or a function that returns them; exceptions are raised by the call."""

_THRESHOLD = 0.5


class Call(NamedTuple):
    """Arguments of a call; those that the port does not have are empty."""

    facts: tuple[str, ...] = ()
    """Statements, in call order."""
    text: str = ""
    source: str = ""
    pairs: tuple[ValuePair, ...] = ()


class Scripted(Generic[KeyT, ResultT]):
    """Base of scripted judges.

    Args:
        script: Results by key, or a function of the arguments.
        name: Name in results and in the signature.
        usage: Usage booked for each call.
    """

    role = "judge"

    def __init__(
        self, script: Script[KeyT, ResultT], *, name: str = "scripted", usage: Usage | None = None
    ) -> None:
        self._script = script
        self._name = name
        self._usage = usage
        self._calls: list[Call] = []

    @property
    def identity(self) -> Mapping[str, str]:
        return {self.role: self._name}

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(self._calls)

    def start(self, call: Call, ledger: Ledger) -> None:
        self._calls.append(call)
        if self._usage is not None:
            ledger.book(self._usage)

    def look_up(self, what: str, arguments: Sequence[Any], *keys: KeyT) -> ResultT:
        """Call the function with the arguments, or return the entry of the first known key."""
        script = self._script
        if callable(script):
            result = script(*arguments)
        else:
            known = [script[key] for key in keys if key in script]
            if not known:
                raise InputError(f"the script of {self._name!r} has no {what} {keys[0]!r}")
            result = known[0]
        if isinstance(result, Exception):
            raise result
        return result


class ScriptedChecker(Scripted[str, EntailmentLabel | Verdict | CheckFailure]):
    """A `Checker` with a script by statement, or a function of statement and text.

    The fact of a scripted `Verdict` or `CheckFailure` is replaced by the one in the call.
    """

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        self.start(Call(facts=tuple(fact.text for fact in facts), text=text), ledger)
        return tuple(self._result(fact, text) for fact in facts)

    def _result(self, fact: AtomicFact, text: str) -> CheckResult:
        scripted = self.look_up("result for the fact", (fact.text, text), fact.text)
        if isinstance(scripted, (Verdict, CheckFailure)):
            return replace(scripted, fact=fact)
        return Verdict(fact, scripted, judge=self._name)


class ScriptedExtractor(Scripted[str, Sequence[str | AtomicFact]]):
    """An `Extractor` with a script by source; plain strings are numbered `f1`, `f2`, ..."""

    role = "extractor"

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        self.start(Call(source=source), ledger)
        facts = FactSet.of(self.look_up("facts for the source", (source,), source))
        made_by = tuple(self.identity.items())
        return replace(facts, source_digest=digest(source), made_by=made_by)


class ScriptedPairJudge(Scripted[tuple[str, str], bool | float | PairVerdict | Failure[Any]]):
    """A `PairJudge` with a script by gold and extracted value, or a function of the pair.

    A number is the probability of equivalence. In a mapping, a pair whose order is irrelevant is
    also found under its mirror image.
    """

    async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> Sequence[PairResult]:
        self.start(Call(pairs=tuple(pairs)), ledger)
        return tuple(self._result(pair) for pair in pairs)

    def _result(self, pair: ValuePair) -> PairResult:
        keys = [(pair.gold, pair.extracted)]
        if pair.specificity == "exact":
            keys.append((pair.extracted, pair.gold))
        scripted = self.look_up("result for the pair", (pair,), *keys)
        if isinstance(scripted, (PairVerdict, Failure)):
            return scripted
        probability = None if isinstance(scripted, bool) else scripted
        return PairVerdict(scripted >= _THRESHOLD, probability, "scripted", self._name)
