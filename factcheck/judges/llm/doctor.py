"""Diagnosis of a model: its dialect, accuracy, latency and price in a small trial."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from factcheck.documents import PlainData
from factcheck.facts import AtomicFact, CheckFailure, Verdict
from factcheck.judges.llm.judges import LLMChecker
from factcheck.judges.ports import Ledger
from factcheck.runtime.budget import Tokens

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
_PAIRS = 1_000
_FACTS_OF_A_PAIR = 15
_TOKENS_OF_A_PAIR = 600
"""Prompt tokens of the assumed pair: 15 facts and a summary of 150 words."""
_FORMS = {"schema": "JSON schema", "json_object": "JSON object", "text": "words alone"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis(PlainData):
    """Findings about a model."""

    model: str
    endpoint: str
    """Host, port and path of the server, or `the provider's own`."""
    form: str
    sampling: dict[str, str]
    limit: str
    """Parameter for the reply's token limit; empty if there is none."""
    room: int
    context: int
    """Tokens of a prompt that the server reads; 0 if it read a text of 6,600 tokens whole."""
    learned: tuple[str, ...]
    n_facts: int
    n_decided: int
    n_right: int
    requests: int
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    """Mean per request of the second trial, once the dialect is known; so are `seconds` and
    `prompt_tokens`."""
    usd_per_1000_pairs: float | None
    """List price for pairs of 15 given facts and a summary of 150 words, extrapolated from the
    replies in the trial; `None` if unknown."""
    longer: str = ""
    """How to have longer prompts read."""
    problem: str = ""
    """Message of the first failed verdict; empty if there is none."""

    @property
    def advice(self) -> tuple[str, ...]:
        notes = []
        if self.problem:
            notes.append(f"{self.n_facts - self.n_decided} facts are undecided: {self.problem}")
        if self.context:
            notes.append(f"longer texts are checked in sections; to change that, {self.longer}")
        if self.sampling.get("temp") == "default":
            notes.append("no temperature is sent: the same question may get another answer")
        if self.form != _FORMS["schema"]:
            notes.append(
                "replies are not held to a schema: look for undecided facts in a first run"
            )
        if self.room and "effort" not in self.sampling:
            notes.append("the model thinks: reasoning_effort may make it cheaper")
        if self.n_decided and self.n_right < self.n_facts:
            notes.append("not all verdicts are right: run `factcheck calibrate` before trusting it")
        return tuple(notes or [f"nothing; use it as --judge {self.model}"])

    def __str__(self) -> str:
        price, tokens = (
            self.usd_per_1000_pairs,
            f"{self.prompt_tokens:,} + {self.completion_tokens:,}",
        )
        decided = f"{self.n_decided} of {self.n_facts} facts decided, {self.n_right} right"
        rows = [
            ("model", f"{self.model} at {self.endpoint}"),
            ("asked for", self.form),
            ("sent", ", ".join(f"{k} {v}" for k, v in self.sampling.items())),
            ("limit", self.limit or "none"),
            ("reads", f"{self.context:,} tokens" if self.context else "a long text whole"),
            ("thought", f"up to {self.room:,} tokens" if self.room else "none seen"),
            ("learned", "; ".join(self.learned) or "nothing: it takes everything"),
            ("trial", f"{decided}, {self.requests} requests"),
            ("a call", f"{self.seconds:.1f} s, {tokens} tokens"),
            (
                "1,000 pairs",
                "price not known" if price is None else f"about ${price:.2f} at list price",
            ),
            *(("to do", advice) for advice in self.advice),
        ]
        return "\n".join(f"{name:<12} {value}" for name, value in rows)


async def examine(model: LanguageModel) -> Diagnosis:
    """Check four facts with a model, twice, and one with a long text, and report the findings.

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
    if any(isinstance(result, Verdict) for result in results):
        await checker.check([AtomicFact("last", _LAST)], _LONG_TEXT, ledger)
    calls = max(1, trial.usage.calls)
    prompt, completion = trial.usage.prompt_tokens // calls, trial.usage.completion_tokens // calls
    dialect, price, identity = model.dialect, model.price, model.identity
    labels = [result.label for result in results if isinstance(result, Verdict)]
    problems = [result.message for result in results if isinstance(result, CheckFailure)]
    reply = completion * _FACTS_OF_A_PAIR // len(_FACTS)
    return Diagnosis(
        model=model.name,
        endpoint=identity.get("endpoint", "the provider's own address"),
        form=_FORMS[dialect.form],
        sampling={k: v for k, v in identity.items() if k not in {"dspy", "endpoint", "form"}},
        limit=dialect.limit,
        room=dialect.room,
        context=dialect.context,
        learned=tuple(model.learned),
        n_facts=len(facts),
        n_decided=len(labels),
        n_right=sum(getattr(r, "label", "") == _FACTS[r.fact.text] for r in results),
        requests=ledger.usage.attempts,
        seconds=seconds / calls,
        prompt_tokens=prompt,
        completion_tokens=completion,
        usd_per_1000_pairs=price and _PAIRS * price.cost_usd(Tokens(_TOKENS_OF_A_PAIR, reply)),
        longer=model.longer,
        problem=next(iter(problems), ""),
    )
