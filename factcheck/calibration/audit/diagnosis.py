"""From broken rules to what is wrong with a judge, in sentences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from factcheck.calibration.audit.mutations import MUTATIONS
from factcheck.calibration.audit.report import RuleResult
from factcheck.calibration.audit.trials import (
    AGAIN,
    BULLETS,
    FACTS,
    INSERTED,
    PARAPHRASED,
    REMOVED,
    TOLD_NO,
    TOLD_YES,
    UNRELATED,
)

ALWAYS = 0.98
"""Share of answers from which a judge says always the same."""
OFTEN = 0.05
"""Rate from which a broken rule is a fault of the judge, and not a slip."""
_FEWEST_ERRORS = 2


def faults_of(rules: Sequence[RuleResult], share_entailed: float | None) -> tuple[str, ...]:
    """What is wrong with a judge; the most telling fault first.

    A judge that always says the same keeps every rule that compares two answers, and one that
    answers at random breaks them all: those are named first, and what follows from them is left
    out.
    """
    if share_entailed is None:
        return ()
    if share_entailed >= ALWAYS:
        return (f"it says yes to {share_entailed:.0%} of its questions, whatever the text says",)
    if share_entailed <= 1 - ALWAYS:
        return (f"it says no to {1 - share_entailed:.0%} of its questions, whatever the text says",)
    return tuple(_faults({rule.rule: rule for rule in rules}))


def _faults(rules: Mapping[str, RuleResult]) -> Iterator[str]:
    noise = rules[AGAIN].rate or 0.0
    if _is_fault(rules[AGAIN], 0.0):
        yield f"it answers at random: asked again, {_rate(rules[AGAIN])} of its verdicts change"
    for rule, sentence in _COMPARED.items():
        if _is_fault(rules[rule], 2 * noise):
            yield sentence.format(_rate(rules[rule]))
    if _is_fault(rules[INSERTED], 0.0):
        yield f"it misses {_rate(rules[INSERTED])} of facts that stand in the text word for word"
    copied = [kind for kind in MUTATIONS if _is_fault(rules[kind], 0.0)]
    if copied:
        kinds = ", ".join(f"{kind} {_rate(rules[kind])}" for kind in copied)
        yield f"it goes by the words, not by what they say: still entailed after {kinds}"
    if _is_fault(rules[PARAPHRASED], 0.0):
        yield f"it loses {_rate(rules[PARAPHRASED])} of sentences that are only written another way"


_COMPARED = {
    FACTS: "its answers depend on the order in which facts are asked: {} change",
    BULLETS: "its answers depend on where a bullet stands: {} change with the order",
    REMOVED: "it finds facts in a part of a text that it does not find in the whole: {}",
    UNRELATED: "a sentence about something else changes {} of its answers",
    TOLD_YES: "it can be told what to say: an order in the text turns {} of its answers",
    TOLD_NO: "it can be told to say no: an order in the text turns {} of its answers",
}


def _is_fault(rule: RuleResult, noise: float) -> bool:
    rate = rule.rate or 0.0
    return len(rule.errors) >= _FEWEST_ERRORS and rate >= OFTEN and rate > noise


def _rate(rule: RuleResult) -> str:
    return f"{rule.rate:.0%}"
