"""Diagnosis of a model: its dialect, accuracy, latency and price in a small trial."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from factcheck.documents import PlainData
from factcheck.errors import JudgeError
from factcheck.facts import AtomicFact, Verdict
from factcheck.judges.llm.judges import LLMChecker
from factcheck.judges.ports import Ledger

if TYPE_CHECKING:
    from factcheck.judges.llm.language_model import LanguageModel
    from factcheck.runtime.budget import Price

_TEXT = (
    "The museum in Bergen reopened on 3 May after two years of repairs. The works cost 4.2 million "
    "euros, and 12,000 people came in the first week."
)
_FACTS = (
    ("The museum in Bergen reopened on 3 May.", "entailed"),
    ("The repairs cost 2.4 million euros.", "contradicted"),
    ("The director resigned in June.", "neutral"),
    ("More than ten thousand people came in the first week.", "entailed"),
)
_PAIRS = 1_000
_FACTS_OF_A_PAIR = 15
_TOKENS_OF_A_PAIR = 600
"""Prompt tokens of the assumed pair: 15 facts and a summary of 150 words."""
_FORMS = {
    "schema": "JSON schema",
    "json_object": "JSON object",
    "text": "words alone",
}


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
    learned: tuple[str, ...]
    verdicts: tuple[str, ...]
    """Labels in the trial, one per fact; `undecided` where there is no verdict."""
    expected: tuple[str, ...]
    requests: int
    seconds: float
    prompt_tokens: int
    completion_tokens: int
    """Mean per request of the second trial, once the dialect is known; so are `seconds` and
    `prompt_tokens`."""
    usd_per_1000_pairs: float | None
    """List price for pairs of 15 given facts and a summary of 150 words; `None` if unknown."""
    problem: str = ""
    """Message of the first failed verdict; empty if there is none."""

    @property
    def n_decided(self) -> int:
        return sum(verdict != "undecided" for verdict in self.verdicts)

    @property
    def n_right(self) -> int:
        return sum(a == b for a, b in zip(self.verdicts, self.expected, strict=True))

    @property
    def advice(self) -> tuple[str, ...]:
        notes = []
        if self.sampling.get("temp") == "default":
            notes.append("no temperature is sent: the same question may get another answer")
        if self.form != _FORMS["schema"]:
            notes.append(
                "replies are not held to a schema: look for undecided facts in a first run"
            )
        if self.room and "effort" not in self.sampling:
            notes.append("the model thinks: reasoning_effort may make it cheaper")
        if self.n_decided and self.n_right < len(self.expected):
            notes.append("not all verdicts are right: run `factcheck calibrate` before trusting it")
        if not notes:
            notes.append(f"nothing; use it as --judge {self.model}")
        return tuple(notes)

    def __str__(self) -> str:
        price = self.usd_per_1000_pairs
        decided = f"{self.n_decided} of {len(self.expected)} facts decided"
        rows = [
            ("model", f"{self.model} at {self.endpoint}"),
            ("asked for", self.form),
            ("sent", ", ".join(f"{k} {v}" for k, v in self.sampling.items())),
            ("limit", self.limit or "none"),
            ("thought", f"up to {self.room:,} tokens" if self.room else "none seen"),
            ("learned", "; ".join(self.learned) or "nothing: it takes everything"),
            ("trial", f"{decided}, {self.n_right} right, {self.requests} requests"),
            (
                "a call",
                f"{self.seconds:.1f} s, {self.prompt_tokens:,} + {self.completion_tokens:,} tokens",
            ),
            (
                "1,000 pairs",
                "price not known" if price is None else f"about ${price:.2f} at list price",
            ),
            *(("to do", advice) for advice in self.advice),
        ]
        return "\n".join(f"{name:<12} {value}" for name, value in rows)


async def examine(model: LanguageModel) -> Diagnosis:
    """Check four facts with a model, twice, and report the findings.

    Raises:
        JudgeError: The first check failed; the message lists the dialects tried.
    """
    ledger, checker = Ledger(), LLMChecker(model, batch_size=len(_FACTS))
    facts = [AtomicFact(f"f{n}", text) for n, (text, _) in enumerate(_FACTS, 1)]
    try:
        await checker.check(facts, _TEXT, ledger)
    except JudgeError as error:
        tried = "; ".join(model.learned)
        raise JudgeError(f"{error}; already tried: {tried}") if tried else error from error
    first = ledger.usage
    started = time.perf_counter()
    results = await checker.check(facts, f"{_TEXT}\n", ledger)
    seconds = time.perf_counter() - started
    calls = max(1, ledger.usage.calls - first.calls)
    prompt = (ledger.usage.prompt_tokens - first.prompt_tokens) // calls
    completion = (ledger.usage.completion_tokens - first.completion_tokens) // calls
    dialect = model.dialect
    sampling = {k: v for k, v in model.identity.items() if k not in {"dspy", "endpoint", "form"}}
    problems = [r.message for r in results if not isinstance(r, Verdict)]
    return Diagnosis(
        model=model.name,
        endpoint=model.identity.get("endpoint", "the provider's own address"),
        form=_FORMS[dialect.form],
        sampling=sampling,
        limit=dialect.limit,
        room=dialect.room,
        learned=tuple(model.learned),
        verdicts=tuple(r.label if isinstance(r, Verdict) else "undecided" for r in results),
        expected=tuple(label for _, label in _FACTS),
        requests=ledger.usage.attempts,
        seconds=seconds / calls,
        prompt_tokens=prompt,
        completion_tokens=completion,
        usd_per_1000_pairs=_usd_per_1000_pairs(model.price, completion),
        problem=problems[0] if problems else "",
    )


def _usd_per_1000_pairs(price: Price | None, completion_tokens: int) -> float | None:
    """Extrapolate the list price from the reply length in the trial."""
    if price is None:
        return None
    reply = completion_tokens * _FACTS_OF_A_PAIR // len(_FACTS)
    return _PAIRS * price.cost_usd(_TOKENS_OF_A_PAIR, 0, reply)
