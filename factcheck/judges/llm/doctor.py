"""Diagnosis of a model: its dialect, accuracy, latency and cost in a small trial."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, NamedTuple

from factcheck.facts import AtomicFact, CheckFailure, Verdict
from factcheck.judges.llm.judges import LLMChecker
from factcheck.judges.llm.language_model import LONGER
from factcheck.judges.ports import Ledger

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel

_TEXT = (
    "The museum in Bergen reopened on 3 May after two years of repairs. The works cost 4.2 million "
    "euros, and 12,000 people came in the first week."
)
_FACTS = {
    "The museum in Bergen reopened on 3 May.": "entailed",
    "The repairs cost 2.4 million euros.": "contradicted",
    "The director resigned in June.": "neutral",
    "More than ten thousand people came in the first week.": "entailed",
}
_LAST = "The tower clock stopped at noon."
_LONG_TEXT = (
    f"{' '.join(f'In year {n} the harbour was open to ships.' for n in range(1, 601))} {_LAST}"
)
"""About 6,600 tokens: more than servers read that cut prompts by default."""
_NOT_SAMPLING = frozenset({"dspy", "endpoint", "form"})
"""Entries of a model's identity that are no settings of its sampling."""
_FORMS = {"schema": "JSON schema", "json_object": "JSON object", "text": "words alone"}


class Diagnosis(NamedTuple):
    """Findings about a model."""

    rows: tuple[tuple[str, str], ...]
    """Names and values, to be shown one a line."""
    n_decided: int
    """Number of facts with a verdict."""
    problem: str
    """Message of the first failed verdict; empty if there is none."""

    def __str__(self) -> str:
        return "\n".join(f"{name:<12} {value}" for name, value in self.rows)


async def examine(model: LanguageModel) -> Diagnosis:
    """Check four facts with a model, twice, and one with a long text, and report the findings.

    Tokens, seconds and cost are those of the second trial, once the dialect is known.

    Raises:
        JudgeError: The first check failed.
    """
    ledger, checker = Ledger(), LLMChecker(model, batch_size=len(_FACTS))
    facts = [AtomicFact(f"f{n}", text) for n, text in enumerate(_FACTS, 1)]
    await checker.check(facts, _TEXT, ledger)
    trial = Ledger(ledger)
    started = time.perf_counter()
    results = await checker.check(facts, f"{_TEXT}\n", trial)
    seconds = time.perf_counter() - started
    n_decided = sum(isinstance(result, Verdict) for result in results)
    if n_decided:
        await checker.check([AtomicFact("last", _LAST)], _LONG_TEXT, ledger)
    n_right = sum(result.label == _FACTS[result.fact.text] for result in results)
    problem = next((each.message for each in results if isinstance(each, CheckFailure)), "")
    usage, calls = trial.usage, max(1, trial.usage.calls)
    prompt, completion = usage.prompt_tokens // calls, usage.completion_tokens // calls
    cost = "price not known" if usage.cost_usd is None else f"${usage.cost_usd / calls:.6f}"
    dialect, identity = model.dialect, model.identity
    address = identity.get("endpoint", "the provider's own address")
    decided = f"{n_decided} of {len(facts)} facts decided, {n_right} right"
    rows = [
        ("model", f"{model.name} at {address}"),
        ("asked for", _FORMS[dialect.form]),
        ("sent", ", ".join(f"{k} {v}" for k, v in identity.items() if k not in _NOT_SAMPLING)),
        ("limit", dialect.limit or "none"),
    ]
    if n_decided:
        rows += [
            ("reads", f"{dialect.context:,} tokens" if dialect.context else "a long text whole"),
            ("thought", f"up to {dialect.room:,} tokens" if dialect.room else "none seen"),
            ("learned", "; ".join(model.learned) or "nothing: it takes everything"),
        ]
    rows += [
        ("trial", f"{decided}, {ledger.usage.attempts} requests"),
        ("a call", f"{seconds / calls:.1f} s, {prompt:,} + {completion:,} tokens, {cost}"),
    ]
    notes = _advice(model, n_decided, n_right, problem)
    rows += [("to do", note) for note in notes or [f"nothing; use it as --judge {model.name}"]]
    return Diagnosis(tuple(rows), n_decided, problem)


def _advice(model: LanguageModel, n_decided: int, n_right: int, problem: str) -> list[str]:
    dialect, identity, notes = model.dialect, model.identity, []
    if problem:
        notes.append(f"facts are undecided: {problem}")
    if dialect.context:
        notes.append(f"longer texts are checked in sections; to change that, {LONGER}")
    if identity.get("temp") == "default":
        notes.append("no temperature is sent: the same question may get another answer")
    if dialect.form != "schema":
        notes.append("replies are not held to a schema: look for undecided facts in a first run")
    if dialect.room and "effort" not in identity:
        notes.append("the model thinks: reasoning_effort may make it cheaper")
    if n_right < n_decided:
        notes.append("not all verdicts are right: run `factcheck calibrate` before trusting it")
    return notes
