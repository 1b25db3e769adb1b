"""Judges that record the answers of another judge, and judges that replay a cassette.

Replay is offline and free, and never guesses.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Generic, Literal, TypeVar

from factcheck.errors import ConfigError, JudgeRejected
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    FactSet,
    Usage,
    Verdict,
    digest,
    match_results,
)
from factcheck.judges.ports import Checker, Extractor, Ledger
from factcheck.judges.replay.cassette import (
    CassetteWriter,
    Identity,
    RecordedFacts,
    RecordedVerdict,
    describe_identity,
    identity_of,
    is_same_judge,
    read_cassette,
)

J = TypeVar("J", bound=Extractor | Checker)

CassettePath = str | os.PathLike[str]
_EXCERPT = 60


class _Recording(Generic[J]):
    kind: ClassVar[type[RecordedFacts | RecordedVerdict]]

    def __init__(self, inner: J, cassette: CassetteWriter) -> None:
        self._inner: J = inner
        self._cassette = cassette
        cassette.admit(self.kind, identity_of(inner.identity))

    @property
    def identity(self) -> Mapping[str, str]:
        return self._inner.identity


class RecordingExtractor(_Recording[Extractor]):
    """Records the facts extracted by another `Extractor`."""

    kind = RecordedFacts

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        facts = await self._inner.extract(source, ledger)
        by = identity_of(self._inner.identity)
        self._cassette.append([RecordedFacts(digest(source), by, tuple(facts))])
        return facts


class RecordingChecker(_Recording[Checker]):
    """Records the verdicts of another `Checker`.

    Failed checks are not recorded, so that a replay cannot turn them into verdicts.
    """

    kind = RecordedVerdict

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        results = await self._inner.check(facts, text, ledger)
        by, name = identity_of(self._inner.identity), digest(text)
        verdicts = [each for each in match_results(facts, results) if isinstance(each, Verdict)]
        self._cassette.append([RecordedVerdict(name, by, verdict) for verdict in verdicts])
        return results


class ReplayExtractor:
    """An `Extractor` that returns the facts in a cassette.

    If the cassette has no extractor, or several, only `extract` raises: a run with given facts
    needs none.

    Args:
        path: The cassette.

    Raises:
        InputError: The cassette cannot be read.
    """

    def __init__(self, path: CassettePath) -> None:
        self._path = path
        recorded, self._digest = read_cassette(path)
        answers = [answer for answer in recorded if isinstance(answer, RecordedFacts)]
        self._facts = {answer.source: answer.facts for answer in answers}
        self._by: Identity = ()
        self._problem: ConfigError | None = None
        try:
            self._by = _only([answer.by for answer in answers], "extractor", path)
        except ConfigError as error:
            self._problem = error

    @property
    def identity(self) -> Mapping[str, str]:
        """Identity of the recorded extractor, if unique, and digest of the cassette."""
        return {**dict(self._by), "replay": self._digest}

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        if self._problem is not None:
            raise self._problem
        name = digest(source)
        facts = self._facts.get(name)
        if facts is None:
            raise JudgeRejected(
                f"{self._path} has no facts for the source {_excerpt(source)}; record it too"
            )
        ledger.book(Usage(cache_hits=1))
        return FactSet(facts, name, tuple(self.identity.items()))


class ReplayChecker:
    """A `Checker` that returns the verdicts in a cassette, marked as `cached`.

    Args:
        path: The cassette.
        missing: Handling of facts without a recorded verdict. `"undecided"` is for cassettes known
            to be incomplete, for example because some replies were invalid.

    Raises:
        InputError: The cassette cannot be read.
        ConfigError: It has no verdicts, or those of several judges.
    """

    def __init__(
        self,
        path: CassettePath,
        *,
        missing: Literal["raise", "undecided"] = "raise",
    ) -> None:
        self._path = path
        self._missing = missing
        self._verdicts: dict[str, dict[str, Verdict]] = {}
        identities: dict[Identity, None] = {}
        recorded, self._digest = read_cassette(path)
        for answer in recorded:
            if isinstance(answer, RecordedVerdict):
                identities[answer.by] = None
                known = self._verdicts.setdefault(answer.text, {})
                known[answer.verdict.fact.text] = answer.verdict
        self._by = _only(list(identities), "judge", path)

    @property
    def identity(self) -> Mapping[str, str]:
        """Identity of the recorded judge, and digest of the cassette."""
        return {**dict(self._by), "replay": self._digest}

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> tuple[CheckResult, ...]:
        known = self._verdicts.get(digest(text), {})
        missed = [fact for fact in facts if fact.text not in known]
        if missed and self._missing == "raise":
            more = f" and {len(missed) - 1} more facts" if len(missed) > 1 else ""
            raise JudgeRejected(
                f"{self._path} has no verdict on {missed[0].text!r}{more} for the text "
                f"{_excerpt(text)}; record this run again"
            )
        ledger.book(Usage(cache_hits=len(facts) - len(missed)))
        return tuple(
            replace(known[fact.text], fact=fact, cached=True)
            if fact.text in known
            else CheckFailure(fact, "missing", f"{self._path} has no verdict on this fact")
            for fact in facts
        )


def _only(identities: Sequence[Identity], role: str, path: CassettePath) -> Identity:
    """Return the last identity of the only judge in a cassette; raises `ConfigError` otherwise."""
    if identities and all(is_same_judge(identities[0], other) for other in identities):
        return identities[-1]
    problem = f"no {role} was recorded in it; record this run again"
    if identities:
        several = " / ".join(map(describe_identity, dict.fromkeys(identities)))
        problem = f"it has several ({several}); record each to a separate file"
    raise ConfigError(f"cannot replay {path} as {role}: {problem}")


def _excerpt(text: str) -> str:
    words = " ".join(text.split())
    return repr(words if len(words) <= _EXCERPT else f"{words[: _EXCERPT - 3]}...")
