"""The embedded checker: two small networks and a few rules decide whether a text entails a fact.

`evidence` yields candidate passages, best match first. They are read until one entails the fact or
none of the rest could; the best probability of any passage is the result. A fact that adds a detail
to another one is checked only if the text does not refuse that one, since it states it, too.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from factcheck.facts import AtomicFact, CheckFailure, CheckResult, Evidence, Verdict
from factcheck.facts.model import root_ids
from factcheck.facts.sources import fold_text, locate
from factcheck.judges.local.conflicts import Listed, Sentence, find_conflict, name_difference
from factcheck.judges.local.encoder import load_reader
from factcheck.judges.local.evidence import (
    LANGUAGE,
    Passage,
    Text,
    passages,
    read_text,
    split_fact,
)
from factcheck.judges.local.model import load_model, quality_of
from factcheck.judges.ports import Ledger
from factcheck.runtime.deadline import checkpoint, decide_each, run_in_thread
from factcheck.runtime.loop import together
from factcheck.text.words import guess_language

JUDGE = "local"
"""Judge name in verdicts."""
DECISION = 0.5
"""Probability threshold for `entailed`."""
UNSURE = 0.05
"""Half-width of the undecided band around `DECISION`, where a third to a half of the answers
would be wrong."""
CERTAIN = 0.99
"""Probability of a fact that the text states verbatim."""
_MOST_THREADS = 4
"""Maximum number of threads for one text; each takes about 15 MB."""


def check_facts(
    facts: Sequence[AtomicFact],
    text: str,
    cores: Mapping[str, AtomicFact] | None = None,
    listed: Listed | None = None,
) -> tuple[CheckResult, ...]:
    """Check each fact independently against a text.

    A fact is undecided if the judge is unsure, or if the fact or the text is in a language it was
    not measured on; a fact that the text states verbatim is entailed in any language. A detail is
    not entailed if the passage has none of the words that it adds to its core.

    Args:
        facts: The facts.
        text: The text.
        cores: What some of the facts add a detail to, by their id.
        listed: All facts of the source; a passage that says one of them contradicts no other.

    Returns:
        One result per fact, in fact order.
    """
    read = read_text(text)
    known, others = cores or {}, listed or Listed(())
    return decide_each(
        lambda fact: _check(fact, text, read, known.get(fact.id), others), facts, CheckFailure.of
    )


class LocalChecker:
    """Checks facts offline with `check_facts`."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Judge name and model version."""
        return {"judge": f"local/19@{load_model().version}"}

    @property
    def quality(self) -> str:
        """Balanced accuracy on human-labelled data sets."""
        return quality_of(self.identity["judge"])

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        """One result per fact, in fact order; free of charge.

        Facts are checked in several threads, as the networks leave the interpreter free. The reader
        is loaded while the first facts are encoded.
        """
        del ledger
        await run_in_thread(read_text, text)
        listed = Listed([fact.text for fact in facts])
        roots = root_ids(facts)
        cores = [fact for fact in facts if roots[fact.id] == fact.id]
        results = {result.fact.id: result for result in await _in_threads(cores, text, {}, listed)}
        known = {}
        for fact in facts:
            core = results[roots[fact.id]]
            if isinstance(core, Verdict) and not core.supported:
                results.setdefault(fact.id, _refuse(fact, core))
            elif fact.id not in results:
                known[fact.id] = core.fact
        open_ = [fact for fact in facts if fact.id in known]
        found = await _in_threads(open_, text, known, listed)
        results |= {result.fact.id: result for result in found}
        return tuple(results[fact.id] for fact in facts)


async def _in_threads(
    facts: Sequence[AtomicFact], text: str, cores: Mapping[str, AtomicFact], listed: Listed
) -> Sequence[CheckResult]:
    n = min(os.cpu_count() or 1, _MOST_THREADS)
    works = [run_in_thread(check_facts, facts[at::n], text, cores, listed) for at in range(n)]
    _, *found = await together([run_in_thread(_load), *works])
    return [result for part in found for result in part]


def _refuse(fact: AtomicFact, core: Verdict) -> Verdict:
    """Return the verdict on a detail of a fact that the text does not state."""
    does = "contradicts" if core.label == "contradicted" else "does not state"
    reason = f"says more of {core.fact.id}, which the text {does}"
    return Verdict(fact, "neutral", core.probability, None, reason, JUDGE)


def _load() -> tuple[CheckResult, ...]:
    load_reader()
    return ()


def _check(
    fact: AtomicFact, text: str, read: Text, core: AtomicFact | None, listed: Listed
) -> CheckResult:
    checkpoint()
    if not text.strip():
        return Verdict(fact, "neutral", 0.0, reason="the text is empty", judge=JUDGE)
    statements = split_fact(fact.text)
    stated = [find_verbatim(statement.text, text, read) for statement in statements]
    read_in_full = (("fact", fact.text), ("text", text)) if None in stated else ()
    for what, said in read_in_full:
        language = guess_language(said)
        if language != LANGUAGE:
            message = (
                f"the embedded judge reads English, and the {what} seems to be in {language!r}; "
                "use a model, or local-fast, which compares words"
            )
            return CheckFailure(fact, "language", message)
    verdicts = [
        _judge(fact, statement, read, core, listed)
        if evidence is None
        else Verdict(fact, "entailed", CERTAIN, evidence, "stated verbatim", JUDGE)
        for statement, evidence in zip(statements, stated, strict=True)
    ]
    worst = min(verdicts, key=lambda verdict: verdict.probability or 0.0)
    probability = worst.probability or 0.0
    if abs(probability - DECISION) < UNSURE:
        message = f"the probability of {probability:.2f} is too close to {DECISION:g}"
        return CheckFailure(fact, "unsure", message)
    return worst


def find_verbatim(fact: str, text: str, read: Text) -> Evidence | None:
    """Locate a verbatim statement of a fact."""
    stated = read.stated.get(fold_text(fact).strip())
    if stated is not None:
        return stated.evidence
    return None if any(character.isalnum() for character in fact) else locate(fact, text)


def _judge(
    fact: AtomicFact, statement: Sentence, read: Text, core: AtomicFact | None, listed: Listed
) -> Verdict:
    """Judge a sentence of a fact by its best passage; those that cannot change it are not read."""
    model = load_model()
    best, closest, stating, against = 0.0, None, None, None
    for passage in passages(statement, read):
        closest = closest or passage
        if model.probability(passage.at_best) < DECISION:
            best = max(best, model.probability(passage.unread))
            break  # the passages that follow match less
        nearest = passage.sentences[0]
        features, conflict = passage.read(), find_conflict(statement, nearest)
        probability = model.probability(
            features, features.penalty(is_conflict=conflict is not None)
        )
        if probability >= DECISION and probability > best:
            stating = passage
        best = max(best, probability)
        if best >= DECISION + UNSURE:
            break
        if against is not None:
            continue
        if conflict is None and passage.is_contrary:
            conflict = name_difference(statement, nearest)
        if conflict and not listed.explain(conflict, statement, nearest):
            against = nearest.evidence, conflict.reason
    if stating is not None:
        return _stated(fact, stating, best, core)
    if against is not None:
        return Verdict(fact, "contradicted", round(best, 6), *against, JUDGE)
    return Verdict(fact, "neutral", round(best, 6), None, _lacking(closest), JUDGE)


def _lacking(closest: Passage | None) -> str:
    """Say what is missing in the passage that matches best."""
    if closest is None:
        return "there is nothing to compare"
    missing = ", ".join(closest.missing)
    return f"not found: {missing}" if missing else "no passage says this"


def _stated(
    fact: AtomicFact, passage: Passage, probability: float, core: AtomicFact | None
) -> Verdict:
    missing = passage.missing
    lacking = f"not found: {', '.join(missing)}"
    if core is not None and passage.lacks(core.text, missing):
        return Verdict(fact, "neutral", round(1 - probability, 6), None, lacking, JUDGE)
    reason = f"paraphrased; {lacking}" if missing else "paraphrased"
    evidence = passage.sentences[0].evidence
    return Verdict(fact, "entailed", round(probability, 6), evidence, reason, JUDGE)
