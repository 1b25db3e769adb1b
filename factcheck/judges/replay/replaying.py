"""Judges that answer from a cassette: offline, for nothing, and never with a guess.

Where a question was answered more than once, the first answer counts; how many later ones differ
is logged.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

from factcheck.errors import ConfigError, JudgeRejected
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    FactSet,
    Usage,
    Verdict,
    digest,
)
from factcheck.judges.ports import Ledger
from factcheck.judges.replay.cassette import CassetteReader, describe
from factcheck.judges.replay.lines import Identity, RecordedFacts, RecordedVerdict

logger = logging.getLogger(__name__)

PREFIX = "replay:"
"""How a judge that replays is named: `replay:FILE`, or `replay:FILE#JUDGE`."""
CassettePath = str | os.PathLike[str]


def parse_spec(spec: str) -> tuple[str, str | None]:
    """The file and the judge that `replay:FILE` or `replay:FILE#JUDGE` names.

    File names may hold `#`: the shortest reading that names a file counts, the whole one first.
    """
    rest = spec.removeprefix(PREFIX)
    ends = [len(rest), *(at for at, character in enumerate(rest) if character == "#")]
    for end in ends:
        if os.path.isfile(rest[:end]):  # noqa: PTH113 - pathlib raises for names that are too long
            return rest[:end], rest[end + 1 :] if end < len(rest) else None
    return rest, None


class ReplayExtractor:
    """An `Extractor` that gives the facts a cassette has.

    That it is not clear whose facts are meant is told by `extract` and not earlier: where the
    facts are given, no extractor is needed.

    Args:
        path: The cassette.
        extractor: Whose facts; needed where several extractors are recorded.

    Raises:
        InputError: The cassette cannot be read.
    """

    def __init__(self, path: CassettePath, extractor: str | None = None) -> None:
        self._path = path
        facts: dict[Identity, dict[str, tuple[AtomicFact, ...]]] = {}
        reader = CassetteReader(path)
        conflicts = 0
        for answer in reader:
            if isinstance(answer, RecordedFacts):
                known = facts.setdefault(answer.by, {})
                conflicts += known.setdefault(answer.source, answer.facts) != answer.facts
        _log_conflicts(path, conflicts)
        self._digest = reader.digest
        self._by: Identity = ()
        self._facts: dict[str, tuple[AtomicFact, ...]] = {}
        self._problem: str | None = None
        try:
            self._by = _choose(list(facts), "extractor", extractor, path)
            self._facts = facts[self._by]
        except ConfigError as error:
            self._problem = str(error)

    @property
    def identity(self) -> Mapping[str, str]:
        """What the extractor said of itself, if it is clear, and the digest of the cassette."""
        return {**dict(self._by), "replay": self._digest}

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        """The facts that were recorded for this source.

        Raises:
            ConfigError: It is not clear which extractor is meant.
            JudgeRejected: The cassette has no facts for this source.
        """
        if self._problem is not None:
            raise ConfigError(self._problem)
        name = digest(source)
        facts = self._facts.get(name)
        if facts is None:
            raise JudgeRejected(
                f"{self._path} has no facts for the source {_beginning(source)}; record it too"
            )
        ledger.book(Usage(cache_hits=1))
        return FactSet(facts, name, tuple(self.identity.items()))


class ReplayChecker:
    """A `Checker` that gives the verdicts a cassette has, marked as `cached`.

    Args:
        path: The cassette.
        judge: Whose verdicts; needed where several judges are recorded.
        missing: What becomes of a fact without a recorded verdict. `"undecided"` is for
            cassettes that are known to be incomplete, such as replies of which a part could not
            be read.

    Raises:
        InputError: The cassette cannot be read.
        ConfigError: It has no verdicts, or it is not clear whose are meant.
    """

    def __init__(
        self,
        path: CassettePath,
        judge: str | None = None,
        *,
        missing: Literal["raise", "undecided"] = "raise",
    ) -> None:
        self._path = path
        self._missing = missing
        self._verdicts: dict[str, dict[str, Verdict]] = {}
        identities: dict[Identity, None] = {}
        reader = CassetteReader(path)
        conflicts = 0
        for answer in reader:
            if isinstance(answer, RecordedVerdict):
                identities[answer.by] = None
                if judge is None or dict(answer.by).get("judge") == judge:
                    conflicts += self._differs(answer)
        self._identity = _choose(list(identities), "judge", judge, path)
        self._digest = reader.digest
        _log_conflicts(path, conflicts)

    def _differs(self, answer: RecordedVerdict) -> bool:
        """Remember an answer; whether another one is remembered already."""
        known = self._verdicts.setdefault(answer.text, {})
        verdict = replace(answer.verdict, cached=True)
        return known.setdefault(verdict.fact.text, verdict) != verdict

    @property
    def identity(self) -> Mapping[str, str]:
        """What the judge said of itself, and the digest of the cassette."""
        return {**dict(self._identity), "replay": self._digest}

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> tuple[CheckResult, ...]:
        """The recorded verdict on each fact, in fact order.

        Raises:
            JudgeRejected: The cassette has no verdict on one of them, unless `missing` is
                `"undecided"`.
        """
        known = self._verdicts.get(digest(text), {})
        missed = [fact for fact in facts if fact.text not in known]
        if missed and self._missing == "raise":
            more = f" and {len(missed) - 1} more facts" if len(missed) > 1 else ""
            raise JudgeRejected(
                f"{self._path} has no verdict on {missed[0].text!r}{more} for the text "
                f"{_beginning(text)}; record this run again"
            )
        ledger.book(Usage(cache_hits=len(facts) - len(missed)))
        return tuple(
            replace(known[fact.text], fact=fact)
            if fact.text in known
            else CheckFailure(fact, "missing", f"{self._path} has no verdict on this fact")
            for fact in facts
        )


def _choose(
    identities: Sequence[Identity], role: str, name: str | None, path: CassettePath
) -> Identity:
    """The one identity that is meant; `role` is the entry that holds its name."""
    meant = [by for by in identities if name is None or dict(by).get(role) == name]
    if len(meant) == 1:
        return meant[0]
    names = sorted({dict(by).get(role, "") for by in identities})
    if not identities:
        problem = f"no {role} was recorded in it; record this run again"
    elif not meant:
        problem = f"it has no {role} {name!r}, but {', '.join(map(repr, names))}"
    elif len(names) > 1 and name is None:
        problem = f"it has several, choose one of: {', '.join(f'{path}#{n}' for n in names)}"
    else:
        versions = " / ".join(describe(by) for by in meant)
        problem = f"it has several versions ({versions}); record each to a file of its own"
    raise ConfigError(f"cannot replay {path} as {role}: {problem}")


def _beginning(text: str) -> str:
    """The first words of a text, for a message."""
    words = " ".join(text.split())
    return repr(words if len(words) <= 60 else f"{words[:57]}...")  # noqa: PLR2004 - one line


def _log_conflicts(path: CassettePath, conflicts: int) -> None:
    if conflicts:
        logger.warning(
            "%s answers %d questions again and differently; the first answer counts",
            path,
            conflicts,
        )
