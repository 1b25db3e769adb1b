"""The embedded checker: whether a text entails a fact, by two small networks and by its words.

Candidate passages come from `evidence`, those that match best first. Each is read until one entails
the fact or none that is left could; the probability is the best that any passage gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from factcheck.facts import AtomicFact, CheckFailure, CheckResult, Evidence, Verdict
from factcheck.facts.spans import fold_text, locate
from factcheck.judges.local.cancellation import checkpoint, run_in_thread
from factcheck.judges.local.evidence import (
    LANGUAGE,
    Sentence,
    Text,
    passages,
    read_text,
    split_fact,
)
from factcheck.judges.local.model import Features, load_model
from factcheck.judges.local.quality import quality_of
from factcheck.judges.ports import Ledger
from factcheck.text.language import guess_language

JUDGE = "local"
"""Name of this judge in verdicts."""
DECISION = 0.5
"""The probability from which a fact counts as entailed."""
UNSURE = 0.05
"""How near to `DECISION` a probability may be before nothing is said: there, a third to a half of
the answers are wrong."""
CERTAIN = 0.99
"""The probability of a fact that stands in the text word for word."""
_WORTH_READING = 0.3
"""A passage is read if it could reach this probability."""
_ALIKE = 0.7
"""The mean match from which the reader may call a passage a contradiction."""
_CONTRADICTED_FROM = 1.5
"""The reader's log odds from which a fact that is not entailed counts as contradicted."""


def check_facts(facts: Sequence[AtomicFact], text: str) -> tuple[CheckResult, ...]:
    """One result per fact, in fact order; each fact is judged by itself.

    A fact is undecided where the judge is not sure, and where the fact or the text is in a language
    that it was not measured on, unless the fact stands in the text word for word.

    Args:
        facts: What to look for.
        text: The text that may entail them.
    """
    read = read_text(text)
    return tuple(_check(fact, text, read) for fact in facts)


class LocalChecker:
    """Labels facts offline, by `check_facts`."""

    @property
    def identity(self) -> Mapping[str, str]:
        """The judge and the version of its model."""
        return {"judge": f"local/5@{load_model().version}"}

    @property
    def quality(self) -> str:
        """Balanced accuracy on sets with human labels."""
        return quality_of(self.identity["judge"])

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        """One result per fact, in fact order; costs nothing."""
        del ledger
        return await run_in_thread(check_facts, facts, text)


def _check(fact: AtomicFact, text: str, read: Text) -> CheckResult:
    checkpoint()
    if not text.strip():
        return Verdict(fact, "neutral", 0.0, reason="the text is empty", judge=JUDGE)
    statements = split_fact(fact.text)
    stated = [_verbatim(statement.text, text, read) for statement in statements]
    languages = (("fact", fact.text), ("text", text)) if None in stated else ()
    for what, language in ((what, guess_language(each)) for what, each in languages):
        if language != LANGUAGE:
            message = (
                f"the embedded judge reads English, and the {what} seems to be in {language!r}; "
                "use a model, or local-fast, which compares words"
            )
            return CheckFailure(fact, "language", message)
    verdicts = [
        _judge(fact, statement, read)
        if evidence is None
        else Verdict(fact, "entailed", CERTAIN, evidence, "stands in the text", JUDGE)
        for statement, evidence in zip(statements, stated, strict=True)
    ]
    worst = min(verdicts, key=lambda verdict: verdict.probability or 0.0)
    probability = worst.probability or 0.0
    if abs(probability - DECISION) < UNSURE:
        message = f"the embedded judge is not sure ({probability:.2f} that it is said)"
        return CheckFailure(fact, "unsure", message)
    return worst


def _verbatim(fact: str, text: str, read: Text) -> Evidence | None:
    """Where a text states a fact word for word."""
    stated = read.stated.get(fold_text(fact).strip())
    if stated is not None:
        return stated.evidence
    return None if any(character.isalnum() for character in fact) else locate(fact, text)


def _judge(fact: AtomicFact, statement: Sentence, read: Text) -> Verdict:
    """What a text says about a fact, or one sentence of it.

    A passage is read only if it could change the answer, so that a fact is entailed exactly if any
    passage entails it.
    """
    model = load_model()
    best, closest, stating, against = 0.0, None, None, None
    for passage in passages(statement, read):
        closest = closest or passage
        if model.probability(passage.at_best) < max(_WORTH_READING, best):
            best = max(best, model.probability(passage.unread))
            continue
        features, conflict = passage.read(), passage.conflict()
        probability = model.probability(features, is_denied=conflict is not None)
        if probability >= DECISION and probability > best:
            stating = passage
        best = max(best, probability)
        if best >= DECISION + UNSURE:
            break
        conflict = conflict or _denial(features)
        if against is None and conflict is not None:
            against = passage.sentences[0].evidence, conflict
    if stating is not None:
        missing = ", ".join(stating.missing)
        reason = f"said in other words: {missing}" if missing else "all of it is said"
        evidence = stating.sentences[0].evidence
        return Verdict(fact, "entailed", round(best, 6), evidence, reason, JUDGE)
    if against is not None:
        return Verdict(fact, "contradicted", round(best, 6), *against, JUDGE)
    reason = "the words are there, but do not say it"
    if closest is None:
        reason = "there is nothing to compare"
    elif closest.missing:
        reason = f"missing: {', '.join(closest.missing)}"
    return Verdict(fact, "neutral", round(best, 6), None, reason, JUDGE)


def _denial(features: Features) -> str | None:
    """What the reader says against a statement, if it is sure."""
    if (
        features.passage_mean >= _ALIKE
        and features.contradicted >= _CONTRADICTED_FROM
        and features.entailed < 0.0
    ):
        return "the closest passage says otherwise"
    return None
