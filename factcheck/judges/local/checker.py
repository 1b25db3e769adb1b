"""The embedded checker: whether a text entails a fact, by two small networks and by its words.

Candidate passages come from `evidence`, those that match best first. Each is read until one entails
the fact or none that is left could; the probability is the best that any passage gives.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from factcheck.facts import AtomicFact, CheckFailure, CheckResult, Evidence, Verdict
from factcheck.facts.spans import fold_text, locate
from factcheck.judges.local.cancellation import checkpoint, run_in_thread
from factcheck.judges.local.conflicts import Conflict
from factcheck.judges.local.evidence import (
    LANGUAGE,
    Passage,
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
        return {"judge": f"local/4@{load_model().version}"}

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
    if (evidence := _verbatim(fact.text, text, read)) is not None:
        return Verdict(fact, "entailed", CERTAIN, evidence, "stands in the text", JUDGE)
    for what, language in (("fact", guess_language(fact.text)), ("text", guess_language(text))):
        if language != LANGUAGE:
            message = (
                f"the embedded judge reads English, and the {what} seems to be in {language!r}; "
                "use a model, or local-fast, which compares words"
            )
            return CheckFailure(fact, "language", message)
    verdicts = [_judge(fact, statement, text, read) for statement in split_fact(fact.text)]
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


def _judge(fact: AtomicFact, statement: Sentence, text: str, read: Text) -> Verdict:
    """What a text says about a fact, or one sentence of it.

    A passage is read only if it could change the answer, so that a fact is entailed exactly if any
    passage entails it.
    """
    if (evidence := _verbatim(statement.text, text, read)) is not None:
        return Verdict(fact, "entailed", CERTAIN, evidence, "stands in the text", JUDGE)
    model = load_model()
    best, closest, stating, against = 0.0, None, None, None
    for passage in passages(statement, read):
        closest = closest or passage
        if model.probability(passage.at_best) < max(_WORTH_READING, best):
            best = max(best, model.probability(passage.unread))
            continue
        features, conflicts = passage.read(), passage.conflicts()
        is_denied = any(conflict.decides for conflict in conflicts)
        probability = model.probability(features, is_denied=is_denied)
        if probability >= DECISION and probability > best:
            stating = passage
        best = max(best, probability)
        if best >= DECISION + UNSURE:
            break
        if against is None and (reason := _contradiction(features, conflicts)) is not None:
            against = passage.sentences[0].evidence, reason
    if stating is not None:
        evidence = stating.sentences[0].evidence
        return Verdict(fact, "entailed", round(best, 6), evidence, _support(stating), JUDGE)
    if against is not None:
        return Verdict(fact, "contradicted", round(best, 6), *against, JUDGE)
    return Verdict(fact, "neutral", round(best, 6), None, _lack(closest), JUDGE)


def _support(passage: Passage) -> str:
    if passage.missing:
        return f"said in other words: {', '.join(passage.missing)}"
    return "all of it is said"


def _contradiction(features: Features, conflicts: Sequence[Conflict]) -> str | None:
    """How a passage contradicts a statement, if it does."""
    for conflict in conflicts:
        if conflict.kind == "role":
            return f"turns round who {conflict.text_word} whom"
        if conflict.contradicts:
            return f"says {conflict.text_word}, the fact says {conflict.fact_word}"
    if (
        features.passage_mean >= _ALIKE
        and features.contradicted >= _CONTRADICTED_FROM
        and features.entailed < 0.0
    ):
        return "the closest passage says otherwise"
    return None


def _lack(passage: Passage | None) -> str:
    """What keeps the closest passage from entailing a statement."""
    if passage is None:
        return "there is nothing to compare"
    for conflict in passage.conflicts():
        if not conflict.contradicts:
            return f"not said as a fact, only as {conflict.text_word}: {conflict.fact_word}"
    if passage.missing:
        return f"missing: {', '.join(passage.missing)}"
    return "the words are there, but do not say it"
