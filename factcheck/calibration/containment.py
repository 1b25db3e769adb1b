"""Word containment, the baseline beside every judge."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from factcheck.errors import InputError
from factcheck.facts import AtomicFact, CheckResult, Verdict
from factcheck.judges.ports import Ledger

BASELINE = "containment"
"""Name of the baseline in verdicts and tables."""
THRESHOLD = 0.6
"""Default threshold; the best one on REALSumm's development documents, where it reaches a balanced
accuracy of .80."""
_WORD = re.compile(r"\w+")


class WordContainment:
    """Judge that calls a fact entailed if enough of its words occur anywhere in the text.

    It knows no word forms, no order and no negation, and never calls a fact contradicted: a judge
    worth its price is clearly better than this one.

    Args:
        threshold: Share of the fact's words from which it is entailed, in (0, 1].

    Raises:
        InputError: The threshold is out of range.
    """

    def __init__(self, threshold: float = THRESHOLD) -> None:
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

    def _verdict(self, fact: AtomicFact, present: frozenset[str]) -> Verdict:
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


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
