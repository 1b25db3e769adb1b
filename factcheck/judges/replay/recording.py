"""Judges that are another judge and write down what it answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from factcheck.facts import AtomicFact, CheckResult, FactSet, Verdict, digest
from factcheck.judges.ports import Checker, Extractor, Ledger
from factcheck.judges.replay.cassette import CassetteWriter
from factcheck.judges.replay.lines import RecordedFacts, RecordedVerdict, identity_of


class RecordingExtractor:
    """An `Extractor` that records the facts another one lists.

    Raises:
        ConfigError: The cassette has answers of another version of this extractor.
    """

    def __init__(self, inner: Extractor, cassette: CassetteWriter) -> None:
        self._inner = inner
        self._cassette = cassette
        cassette.admit(RecordedFacts, identity_of(inner.identity))

    @property
    def identity(self) -> Mapping[str, str]:
        """That of the extractor inside."""
        return self._inner.identity

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        """What the extractor inside answers; an error is passed on and not recorded."""
        facts = await self._inner.extract(source, ledger)
        by = identity_of(self._inner.identity)
        self._cassette.append([RecordedFacts(digest(source), by, tuple(facts))])
        return facts


class RecordingChecker:
    """A `Checker` that records the verdicts another one gives.

    A fact that it gives no verdict or more than one verdict for is not recorded: that is no
    answer, and a replay must not make one of it.

    Raises:
        ConfigError: The cassette has answers of another version of this judge.
    """

    def __init__(self, inner: Checker, cassette: CassetteWriter) -> None:
        self._inner = inner
        self._cassette = cassette
        cassette.admit(RecordedVerdict, identity_of(inner.identity))

    @property
    def identity(self) -> Mapping[str, str]:
        """That of the checker inside."""
        return self._inner.identity

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        """What the checker inside answers; failures and errors are passed on and not recorded."""
        results = await self._inner.check(facts, text, ledger)
        by = identity_of(self._inner.identity)
        name = digest(text)
        verdicts = _sole_verdicts(facts, results)
        self._cassette.append([RecordedVerdict(name, by, verdict) for verdict in verdicts])
        return results


def _sole_verdicts(
    facts: Sequence[AtomicFact], results: Sequence[CheckResult]
) -> Sequence[Verdict]:
    """The verdicts for facts that were asked and have exactly one result."""
    asked = {fact.id: fact for fact in facts}
    counts = Counter(result.fact.id for result in results)
    return [
        result
        for result in results
        if isinstance(result, Verdict)
        and counts[result.fact.id] == 1
        and asked.get(result.fact.id) == result.fact
    ]
