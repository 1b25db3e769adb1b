"""Stemmed word containment: the judge `local-fast`, and the baseline that judges stand beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from factcheck.errors import InputError
from factcheck.facts import AtomicFact, CheckResult, Verdict
from factcheck.judges.local.cancellation import checkpoint, run_in_thread
from factcheck.judges.local.model import logistic
from factcheck.judges.local.quality import quality_of
from factcheck.judges.ports import Ledger
from factcheck.text.language import guess_language
from factcheck.text.words import content_stems, words

BASELINE = "containment"
"""Name of this judge in verdicts and tables."""
_SLOPE = 7.0
"""Log odds for all of a fact's words more, fitted where the threshold was."""


class WordContainment:
    """Judge that calls a fact entailed if enough of its content words occur anywhere in the text.

    Words are compared by their stems, and grammar words do not count. It knows no order, no
    negation and no synonyms, and never calls a fact contradicted: a judge worth its price is
    clearly better than this one.

    Args:
        threshold: Share of the fact's content words from which it is entailed, in (0, 1]. The
            default is the best one on REALSumm's development documents: a balanced accuracy of
            .82 there, and of .81 where each document gets the threshold that is best on the
            others.

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
        """The judge and its threshold."""
        return {"judge": f"{BASELINE}/3@{self.threshold:g}"}

    @property
    def quality(self) -> str:
        """Balanced accuracy on sets with human labels."""
        return quality_of(self.identity["judge"])

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        """One verdict per fact, in fact order."""
        del ledger
        return await run_in_thread(self._check, facts, text)

    def _check(self, facts: Sequence[AtomicFact], text: str) -> tuple[Verdict, ...]:
        languages = [guess_language(fact.text) for fact in facts]
        present = {language: content_stems(text, language) for language in set(languages)}
        return tuple(
            self._verdict(fact, language, present[language])
            for fact, language in zip(facts, languages, strict=True)
        )

    def _verdict(self, fact: AtomicFact, language: str, present: frozenset[str]) -> Verdict:
        checkpoint()
        wanted = content_stems(fact.text, language)
        share = len(wanted & present) / len(wanted) if wanted else 0.0
        absent = wanted - present
        missing = {word.text: None for word in words(fact.text, language) if word.stem in absent}
        return Verdict(
            fact,
            "entailed" if share >= self.threshold else "neutral",
            logistic(_SLOPE * (share - self.threshold)),
            reason=f"missing: {', '.join(missing)}" if missing else "every content word is there",
            judge=BASELINE,
        )
