"""Stemmed word containment: the judge `local-fast`, and the baseline for all other judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from factcheck.errors import InputError
from factcheck.facts import AtomicFact, CheckFailure, CheckResult, Verdict
from factcheck.judges.local.model import logistic, quality_of
from factcheck.judges.ports import Ledger
from factcheck.runtime.deadline import checkpoint, decide_each, run_in_thread
from factcheck.text.words import content_stems, guess_language, words

BASELINE = "containment"
"""Name of this judge in verdicts and tables."""
_SLOPE = 7.0
"""Log odds per unit of containment, fitted together with the default threshold."""


class WordContainment:
    """Judge that calls a fact entailed if enough of its content words occur anywhere in the text.

    Words are compared by stem; stop words are ignored. It is blind to order, negation and synonyms
    and never reports a contradiction, so any judge worth its price beats it clearly.

    Args:
        threshold: Minimum share of the fact's content words, in (0, 1]. The default is the best
            one on REALSumm's development documents (balanced accuracy .82; .81 cross-validated by
            document).

    Raises:
        InputError: The threshold is out of range.
    """

    def __init__(self, threshold: float = 0.65) -> None:
        if not 0.0 < threshold <= 1.0:
            raise InputError(
                f"the threshold of word containment must be in (0, 1], not {threshold!r}"
            )
        self.threshold = threshold

    @property
    def identity(self) -> Mapping[str, str]:
        """Judge name and threshold."""
        return {"judge": f"{BASELINE}/4@{self.threshold:g}"}

    @property
    def quality(self) -> str:
        """Balanced accuracy on human-labelled data sets."""
        return quality_of(self.identity["judge"])

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        """One verdict per fact, in fact order."""
        del ledger
        return await run_in_thread(self._check, facts, text)

    def _check(self, facts: Sequence[AtomicFact], text: str) -> tuple[CheckResult, ...]:
        language_of = {fact: guess_language(fact.text) for fact in facts}
        present = {one: content_stems(text, one) for one in set(language_of.values())}
        return decide_each(
            lambda fact: self._verdict(fact, language_of[fact], present[language_of[fact]]),
            facts,
            CheckFailure.of,
        )

    def _verdict(self, fact: AtomicFact, language: str, present: frozenset[str]) -> Verdict:
        checkpoint()
        stems = content_stems(fact.text, language)
        absent = stems - present
        share = len(stems & present) / len(stems) if stems else 0.0
        missing = {word.text: None for word in words(fact.text, language) if word.stem in absent}
        return Verdict(
            fact,
            "entailed" if share >= self.threshold else "neutral",
            logistic(_SLOPE * (share - self.threshold)),
            reason=f"not found: {', '.join(missing)}" if missing else "every content word is there",
            judge=BASELINE,
        )
