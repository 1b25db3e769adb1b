"""The embedded checker: whether a text entails a fact, by the words they share.

A text entails a fact if one of its sentences does. The probability of a sentence rests on that
sentence alone and on how much of the fact the whole text holds, so that deleting a sentence never
raises it. Statements of a fact with several sentences must all be entailed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from factcheck.facts import AtomicFact, CheckResult, EntailmentLabel, Evidence, Verdict
from factcheck.facts.spans import fold_text, locate
from factcheck.judges.local import analysis
from factcheck.judges.local.analysis import Analysed
from factcheck.judges.local.cancellation import checkpoint, run_in_thread
from factcheck.judges.local.conflicts import Conflict, find_conflicts
from factcheck.judges.local.features import statement
from factcheck.judges.local.language import DEFAULT, LATIN, guess_language
from factcheck.judges.local.model import Model, load_model
from factcheck.judges.local.passages import (
    AnalysedText,
    Passage,
    analyse,
    statements,
)
from factcheck.judges.local.readings import CONTRADICTED, VERBATIM, Reading, readings
from factcheck.judges.local.words import english_knows_as_many, words
from factcheck.judges.ports import Ledger

JUDGE = "local"
"""Name of this judge in verdicts."""
DECISION = 0.5
"""The probability from which a fact counts as entailed."""
_SPEAKS_FROM = 0.5
"""Share of a statement that must be aligned before a mismatch speaks about it."""


class Finding(NamedTuple):
    """What a text says about one statement, and the sentence that shows it."""

    label: EntailmentLabel
    probability: float
    reason: str
    evidence: Evidence | None = None


def check_facts(facts: Sequence[AtomicFact], text: str) -> tuple[Verdict, ...]:
    """One verdict per fact, in fact order; each fact is judged by itself.

    Args:
        facts: What to look for.
        text: The text that may entail them, in any language.
    """
    return tuple(_verdict(fact, text) for fact in facts)


class LocalChecker:
    """Labels facts offline, by `check_facts`."""

    @property
    def identity(self) -> Mapping[str, str]:
        """The judge and the version of its model."""
        return {"judge": f"local/2@{load_model().version}"}

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        """One verdict per fact, in fact order; costs nothing and never fails."""
        del ledger
        return await run_in_thread(check_facts, facts, text)


def _verdict(fact: AtomicFact, text: str) -> Verdict:
    finding = judge_fact(fact.text, text, load_model())
    return Verdict(
        fact,
        finding.label,
        round(finding.probability, 6),
        evidence=finding.evidence,
        reason=finding.reason,
        judge=JUDGE,
    )


def judge_fact(fact: str, text: str, model: Model) -> Finding:
    """What a text says about a fact: as much as about the worst covered of its sentences."""
    checkpoint()
    if not text.strip():
        return Finding("neutral", 0.0, "the text is empty")
    language = _language(fact)
    analysed = analyse(text, language)
    stated = analysed.stated.get(fold_text(fact).strip())
    if stated is not None:
        return Finding("entailed", VERBATIM, "stands in the text", _evidence(stated))
    if not words(fact, language) and set(fact.split()) <= set(text.split()):
        return Finding("entailed", VERBATIM, "stands in the text", locate(fact, text))
    findings = [_find(part, analysed, language, model) for part in statements(fact, language)]
    weakest = min(findings, key=lambda finding: finding.probability)
    against = [finding for finding in findings if finding.label == "contradicted"]
    if against and weakest.label != "entailed":
        return against[0]._replace(probability=weakest.probability)
    return weakest


def _language(fact: str) -> str:
    """The language a fact and the text are read in.

    It is not taken from the text: deleting a sentence could change it, and so raise a score.
    """
    guess = guess_language(fact)
    if guess != DEFAULT and guess in LATIN and english_knows_as_many(fact, guess):
        return DEFAULT
    return guess


def _find(part: Passage, text: AnalysedText, language: str, model: Model) -> Finding:
    """What a text says about one sentence of a fact."""
    found = [(reading.probability(model), reading) for reading in readings(statement(part), text)]
    if not found:
        return Finding("neutral", 0.0, "no content word found")
    ranked = sorted(found, key=lambda pair: (-pair[0], -pair[1].aligned))
    denied: Finding | None = None
    for chance, reading in ranked:
        if chance < DECISION:
            break
        conflict = _first_conflict(part, reading, text, language)
        if conflict is None:
            return Finding("entailed", chance, _support(reading), _evidence(reading.passage))
        reason = _wording(conflict)
        denied = denied or Finding("contradicted", CONTRADICTED, reason, _evidence(reading.passage))
    if denied is not None:
        return denied
    probability = ranked[0][0]
    against = [reading for _, reading in found if _contradicts(reading)]
    if against:
        clearest = max(against, key=lambda reading: reading.aligned)
        return Finding(
            "contradicted", probability, _conflict(clearest), _evidence(clearest.passage)
        )
    closest = max((reading for _, reading in found), key=lambda reading: sum(reading.found))
    return Finding("neutral", probability, _lack(closest))


def _first_conflict(
    part: Passage, reading: Reading, text: AnalysedText, language: str
) -> Conflict | None:
    """What speaks against a sentence that has enough words of a fact, if anything does."""
    if reading.lowest == VERBATIM:
        return None
    analysed = _conflict_view(part.text, language), _conflict_view(reading.passage.text, language)
    conflicts = find_conflicts(*analysed, known=text.holders.keys())
    return next((conflict for conflict in conflicts if conflict.contradicts), None)


@lru_cache(maxsize=4096)
def _conflict_view(text: str, language: str) -> Analysed:
    return analysis.analyse(text, language)


def _wording(conflict: Conflict) -> str:
    if conflict.kind == "role":
        return f"turns round who {conflict.text_word} whom"
    return f"says {conflict.text_word}, the fact says {conflict.fact_word}"


def _evidence(passage: Passage) -> Evidence:
    return Evidence(passage.text, passage.start, passage.start + len(passage.text))


def _contradicts(reading: Reading) -> bool:
    mismatch = reading.mismatch
    return mismatch is not None and mismatch.contradicts and reading.aligned >= _SPEAKS_FROM


def _support(reading: Reading) -> str:
    n_found = reading.n_units - len(reading.missing)
    if not reading.missing:
        return f"all {n_found} content words found" if n_found > 1 else "its content word is found"
    return f"{n_found} of {reading.n_units} content words found, not: {', '.join(reading.missing)}"


def _conflict(reading: Reading) -> str:
    mismatch = reading.mismatch
    if mismatch is None:
        return ""
    if mismatch.kind == "negation":
        in_text = mismatch.said.startswith("not ")
        where = "the text" if in_text else "the fact only"
        return f"negated in {where}: {mismatch.wanted if in_text else mismatch.said}"
    if mismatch.kind == "order":
        return f"has {mismatch.said} where the fact has {mismatch.wanted}"
    return f"says {mismatch.said}, the fact says {mismatch.wanted}"


def _lack(reading: Reading) -> str:
    """What keeps the sentence with the most words of a fact from entailing it."""
    mismatch = reading.mismatch
    if mismatch is not None and reading.aligned >= _SPEAKS_FROM:
        if mismatch.kind == "hedge":
            return f"not said as a fact, only as {mismatch.said}: {mismatch.wanted}"
        if mismatch.kind == "sense":
            return f"says {mismatch.said}, the fact says {mismatch.wanted}"
    parts = []
    if reading.nowhere:
        parts.append(f"missing: {', '.join(reading.nowhere)}")
    if reading.elsewhere:
        parts.append(f"only in other sentences: {', '.join(reading.elsewhere)}")
    return "; ".join(parts) or "all words found, but not as one statement"
