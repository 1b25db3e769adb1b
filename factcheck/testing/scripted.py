"""Judges that answer from a script and remember what they were asked."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from factcheck.errors import InputError
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
    PairFailure,
    PairResult,
    PairVerdict,
    ValuePair,
)

Scripted = EntailmentLabel | Verdict | CheckFailure | Exception
"""What a script says about a fact; an exception is raised instead of any result of that call."""
CheckScript = Mapping[str, Scripted] | Callable[[str, str], Scripted]
"""By statement, or a function of statement and text."""
ScriptedFacts = Sequence[str | AtomicFact] | Exception
"""The facts a script gives for a source; an exception is raised."""
ExtractScript = Mapping[str, ScriptedFacts] | Callable[[str], ScriptedFacts]
"""By source, or a function of the source."""
ScriptedPair = bool | float | PairVerdict | PairFailure | Exception
"""What a script says about a pair: whether it is equivalent, or the probability that it is (at
least one half is), or a result; an exception is raised instead of any result of that call."""
PairScript = Mapping[tuple[str, str], ScriptedPair] | Callable[[ValuePair], ScriptedPair]
"""By gold and extracted value, or a function of the pair."""

_EVEN = 0.5


@dataclass(frozen=True, slots=True)
class CheckCall:
    """One call of `ScriptedChecker.check`."""

    facts: tuple[str, ...]
    """The statements, in the order asked."""
    text: str


@dataclass(frozen=True, slots=True)
class ExtractCall:
    """One call of `ScriptedExtractor.extract`."""

    source: str


@dataclass(frozen=True, slots=True)
class CompareCall:
    """One call of `ScriptedPairJudge.compare`."""

    pairs: tuple[ValuePair, ...]
    """The pairs, in the order asked."""


class ScriptedChecker:
    """A `Checker` that says what its script says, for each fact by itself.

    Args:
        script: What to say about a statement. A scripted `Verdict` or `CheckFailure` is given for
            the fact that was asked, whatever fact it was made with.
        name: The judge's name in verdicts and in the score signature.
        usage: Booked for each call.

    Example:
        >>> import asyncio
        >>> checker = ScriptedChecker({"Ants are insects.": "entailed"})
        >>> facts = FactSet.of(["Ants are insects."])
        >>> asyncio.run(checker.check(facts, "About ants.", Ledger()))[0].label
        'entailed'
        >>> checker.calls
        (CheckCall(facts=('Ants are insects.',), text='About ants.'),)
    """

    def __init__(
        self, script: CheckScript, *, name: str = "scripted", usage: Usage | None = None
    ) -> None:
        self._script = script
        self._name = name
        self._usage = usage
        self._calls: list[CheckCall] = []

    @property
    def identity(self) -> Mapping[str, str]:
        """The name, as the entry `judge`."""
        return {"judge": self._name}

    @property
    def calls(self) -> tuple[CheckCall, ...]:
        """Everything that was asked, in order."""
        return tuple(self._calls)

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        """One result per fact, in fact order.

        Raises:
            InputError: A fact is not in the script.
            Exception: What the script has instead of a result.
        """
        self._calls.append(CheckCall(tuple(fact.text for fact in facts), text))
        if self._usage is not None:
            ledger.book(self._usage)
        return tuple(self._result(fact, text) for fact in facts)

    def _result(self, fact: AtomicFact, text: str) -> CheckResult:
        scripted = self._look_up(fact.text, text)
        if isinstance(scripted, Exception):
            raise scripted
        if isinstance(scripted, (Verdict, CheckFailure)):
            return replace(scripted, fact=fact)
        return Verdict(fact, scripted, judge=self._name)

    def _look_up(self, fact: str, text: str) -> Scripted:
        if callable(self._script):
            return self._script(fact, text)
        if fact not in self._script:
            raise InputError(f"the script of {self._name!r} has no result for the fact {fact!r}")
        return self._script[fact]


class ScriptedExtractor:
    """An `Extractor` that gives the facts its script gives.

    Args:
        script: The facts of a source.
        name: The extractor's name in the score signature.
        usage: Booked for each call.
    """

    def __init__(
        self, script: ExtractScript, *, name: str = "scripted", usage: Usage | None = None
    ) -> None:
        self._script = script
        self._name = name
        self._usage = usage
        self._calls: list[ExtractCall] = []

    @property
    def identity(self) -> Mapping[str, str]:
        """The name, as the entry `extractor`."""
        return {"extractor": self._name}

    @property
    def calls(self) -> tuple[ExtractCall, ...]:
        """Everything that was asked, in order."""
        return tuple(self._calls)

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        """The scripted facts; plain strings are numbered `f1`, `f2`, ...

        Raises:
            InputError: The source is not in the script.
            Exception: What the script has instead of facts.
        """
        self._calls.append(ExtractCall(source))
        if self._usage is not None:
            ledger.book(self._usage)
        scripted = self._look_up(source)
        if isinstance(scripted, Exception):
            raise scripted
        made_by = tuple(self.identity.items())
        return replace(FactSet.of(scripted), source_digest=digest(source), made_by=made_by)

    def _look_up(self, source: str) -> ScriptedFacts:
        if callable(self._script):
            return self._script(source)
        if source not in self._script:
            raise InputError(f"the script of {self._name!r} has no facts for the source {source!r}")
        return self._script[source]


class ScriptedPairJudge:
    """A `PairJudge` that says what its script says, for each pair by itself.

    Args:
        script: What to say about a pair. In a mapping, a pair whose order says nothing is also
            found under its mirror image.
        name: The judge's name in verdicts and in the score signature.
        usage: Booked for each call.
    """

    def __init__(
        self, script: PairScript, *, name: str = "scripted", usage: Usage | None = None
    ) -> None:
        self._script = script
        self._name = name
        self._usage = usage
        self._calls: list[CompareCall] = []

    @property
    def identity(self) -> Mapping[str, str]:
        """The name, as the entry `judge`."""
        return {"judge": self._name}

    @property
    def calls(self) -> tuple[CompareCall, ...]:
        """Everything that was asked, in order."""
        return tuple(self._calls)

    async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> Sequence[PairResult]:
        """One result per pair, in their order.

        Raises:
            InputError: A pair is not in the script.
            Exception: What the script has instead of a result.
        """
        self._calls.append(CompareCall(tuple(pairs)))
        if self._usage is not None:
            ledger.book(self._usage)
        return tuple(self._result(pair) for pair in pairs)

    def _result(self, pair: ValuePair) -> PairResult:
        scripted = self._look_up(pair)
        if isinstance(scripted, Exception):
            raise scripted
        if isinstance(scripted, (PairVerdict, PairFailure)):
            return scripted
        probability = None if isinstance(scripted, bool) else scripted
        return PairVerdict(scripted >= _EVEN, probability, "scripted", self._name)

    def _look_up(self, pair: ValuePair) -> ScriptedPair:
        if callable(self._script):
            return self._script(pair)
        places = [(pair.gold, pair.extracted)]
        if pair.specificity == "exact":
            places.append((pair.extracted, pair.gold))
        for place in places:
            if place in self._script:
                return self._script[place]
        raise InputError(f"the script of {self._name!r} has no result for the pair {places[0]!r}")
