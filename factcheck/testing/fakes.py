"""Fakes: a model that answers prompts of this package by rules, and judges with a script."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Generic, Literal, NamedTuple, TypeVar

from factcheck.errors import Failure, InputError
from factcheck.facts import (
    AtomicFact,
    CheckFailure,
    CheckResult,
    EntailmentLabel,
    FactSet,
    Usage,
    Verdict,
    digest,
)
from factcheck.judges.ports import Ledger, PairResult, PairVerdict, Specificity, ValuePair
from factcheck.testing.server import Request

Labels = Mapping[str, EntailmentLabel] | Callable[[str, str], EntailmentLabel]
"""Labels by statement, or a function of statement and text."""
Kind = Literal["check", "extract", "compare", "rate", "summarize"]

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\s*\n\s*")
_ANSWERS = {"entailed": "yes", "contradicted": "contradicted", "neutral": "no"}
_FENCE = re.compile(
    r"^<(?P<tag>source|text|facts|pairs|source_text|summary) (?P<nonce>[0-9a-fA-F]+)>\r?\n"
    r"(?P<inner>(?:.*?\r?\n)?)"
    r"^</(?P=tag) (?P=nonce)>",
    re.DOTALL | re.MULTILINE,
)
_KINDS: tuple[tuple[str, set[str], Kind], ...] = (
    ("source_text", {"summary"}, "rate"),
    ("source_text", set(), "summarize"),
    ("pairs", set(), "compare"),
    ("text", {"facts"}, "check"),
    ("source", set(), "extract"),
)
"""Fence of the text that a prompt is about, its other fences, and its kind; the first applies."""
_SPECIFICITIES: Mapping[str, Specificity] = {
    "second value may be more specific": "allow_more_specific",
    "second value may be less specific": "allow_less_specific",
}


@dataclass(frozen=True, slots=True)
class ParsedPrompt:
    """A parsed request."""

    kind: Kind
    text: str
    """The text to check against, extract from or summarize, or the source of a summary."""
    lines: tuple[str, ...]
    """Numbered lines of the text to check against."""
    facts: Mapping[str, str]
    """Statements to check, by id in this request, in order."""
    pairs: Mapping[str, ValuePair]
    """Pairs to compare, by id in this request, in order; the gold value comes first."""
    summary: str
    instructions: str
    """The system message."""


def parse_prompt(body: Mapping[str, Any]) -> ParsedPrompt:
    """Parse the last user message of a chat request.

    The last of several fences with the same tag applies; fences inside another one are plain text.

    Raises:
        InputError: The message is not a prompt of this package.
    """
    prompt, instructions = "", ""
    for message in body.get("messages", ()):
        content = message.get("content") or ""
        if not isinstance(content, str):
            content = "".join(part.get("text", "") for part in content)
        if message.get("role") == "user":
            prompt = content
        elif message.get("role") == "system":
            instructions = content
    fences = {
        match["tag"]: match["inner"].removesuffix("\n").removesuffix("\r")
        for match in _FENCE.finditer(prompt)
    }
    found = [one for one in _KINDS if one[0] in fences and one[1] <= fences.keys()]
    if not found:
        raise InputError(f"no fenced text or pairs in the prompt {prompt!r}")
    tag, _, kind = found[0]
    text = fences[tag]
    lines: list[str] = []
    facts: dict[str, str] = {}
    if kind == "check":
        lines = [line.partition(" ")[2] for line in text.splitlines()]
        facts = dict(line.split(" ", 1) for line in fences["facts"].splitlines())
    return ParsedPrompt(
        kind,
        " ".join(lines) or text,
        tuple(lines),
        facts,
        _parse_pairs(text) if kind == "compare" else {},
        fences.get("summary", ""),
        instructions,
    )


def _parse_pairs(lines: str) -> Mapping[str, ValuePair]:
    pairs: dict[str, ValuePair] = {}
    notes: dict[str, Any] = {}
    for line in lines.split("\n"):
        word, _, value = line.partition(" ")
        if line in _SPECIFICITIES:
            notes["specificity"] = _SPECIFICITIES[line]
        elif word == "field":
            notes = {"path": json.loads(value)}
        elif word in {"description", "instructions"}:
            notes[word] = json.loads(value)
        else:
            pairs[word.removesuffix(":")] = ValuePair(*json.loads(value), **notes)
    return pairs


@lru_cache(maxsize=1024)
def sentences(text: str) -> tuple[str, ...]:
    """Split a text into lines and sentences, at full stops; good enough for plain test texts."""
    return tuple(piece for piece in _SENTENCE_END.split(text.strip()) if piece)


def label_by_words(fact: str, text: str) -> EntailmentLabel:
    """Label a fact `entailed` if the text contains all of its words, or else `neutral`."""
    return "entailed" if _words(fact) <= _words(text) else "neutral"


def same_words(pair: ValuePair) -> bool:
    """Whether two values have the same words, or the extracted one more or fewer if allowed."""
    gold, extracted = _words(pair.gold), _words(pair.extracted)
    if pair.specificity == "exact":
        return gold == extracted
    return gold <= extracted if pair.specificity == "allow_more_specific" else extracted <= gold


def rate_by_words(source: str, summary: str) -> int:
    """Rate from 1 to 5 by the fraction of the source's words in the summary."""
    words = _words(source)
    return 1 + round(4 * len(words & _words(summary)) / len(words)) if words else 1


class FactModel:
    """Answers this package's prompts with valid JSON; pass it to a local server.

    Args:
        labels: Label of each fact; a fact missing from a mapping is an error.
        facts: Returns the facts of a source.
        equivalent: Whether the values of a pair are equivalent.
        rate: Returns the rating of a source and its summary, sent unchanged.
        summarize: Returns bullets for a source and the instructions; by default all sentences.

    Raises:
        InputError: On a call: the request is not a prompt of this package, or a fact is not in
            `labels`.
    """

    def __init__(
        self,
        labels: Labels = label_by_words,
        facts: Callable[[str], Sequence[str]] = sentences,
        *,
        equivalent: Callable[[ValuePair], bool] = same_words,
        rate: Callable[[str, str], Any] = rate_by_words,
        summarize: Callable[[str, str], Sequence[str]] | None = None,
    ) -> None:
        self._labels = labels
        self._facts = facts
        self._equivalent = equivalent
        self._rate = rate
        self._summarize = summarize or (lambda source, _instructions: sentences(source))

    def __call__(self, request: Request) -> str:
        return json.dumps(self._reply(parse_prompt(request.body)), ensure_ascii=False)

    def _reply(self, prompt: ParsedPrompt) -> Mapping[str, Any]:
        if prompt.kind == "extract":
            return {"facts": list(self._facts(prompt.text))}
        if prompt.kind == "summarize":
            return {"bullets": list(self._summarize(prompt.text, prompt.instructions))}
        if prompt.kind == "rate":
            rating = self._rate(prompt.text, prompt.summary)
            return {"reason": "scripted", "faithfulness": rating}
        if prompt.kind == "compare":
            return {
                pair_id: {"reason": "scripted", "equivalent": self._equivalent(pair)}
                for pair_id, pair in prompt.pairs.items()
            }
        return {fact_id: self._verdict(fact, prompt) for fact_id, fact in prompt.facts.items()}

    def _verdict(self, fact: str, prompt: ParsedPrompt) -> str:
        """Return `no`, or the number of the closest line and `yes` or `contradicted`."""
        if callable(self._labels):
            label = self._labels(fact, prompt.text)
        elif fact in self._labels:
            label = self._labels[fact]
        else:
            raise InputError(f"FactModel has no label for the fact {fact!r}")
        answer = _ANSWERS.get(label, label)
        words = _words(fact)
        closest = max(prompt.lines, key=lambda line: len(words & _words(line)), default="")
        if label == "neutral" or not closest:
            return answer
        return f"{prompt.lines.index(closest) + 1} {answer}"


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(match[0] for match in _WORD.finditer(text.casefold()))


ResultT = TypeVar("ResultT")
Script = Mapping[Any, ResultT | Exception] | Callable[..., ResultT | Exception]
"""Results by the first argument, or a function that returns them; exceptions are raised."""

_THRESHOLD = 0.5


class Call(NamedTuple):
    """Arguments of a call; those that the port does not have are empty."""

    facts: tuple[str, ...] = ()
    """Statements, in call order."""
    text: str = ""
    source: str = ""
    pairs: tuple[ValuePair, ...] = ()


class Scripted(Generic[ResultT]):
    """Base of scripted judges.

    Args:
        script: Results by the first argument, or a function of the arguments.
        name: Name in results and in the signature.
        usage: Usage booked for each call.
    """

    role = "judge"

    def __init__(
        self, script: Script[ResultT], *, name: str = "scripted", usage: Usage | None = None
    ) -> None:
        self._script = script
        self._name = name
        self._usage = usage
        self.identity: Mapping[str, str] = {self.role: name}
        self.calls: list[Call] = []

    def start(self, call: Call, ledger: Ledger) -> None:
        self.calls.append(call)
        if self._usage is not None:
            ledger.book(self._usage)

    def answer(self, *arguments: Any) -> ResultT:
        """Return what the script says to these arguments."""
        if callable(self._script):
            result = self._script(*arguments)
        elif arguments[0] in self._script:
            result = self._script[arguments[0]]
        else:
            raise InputError(f"the script of {self._name!r} has no {arguments[0]!r}")
        if isinstance(result, Exception):
            raise result
        return result


class ScriptedChecker(Scripted[EntailmentLabel | Verdict | CheckFailure]):
    """A `Checker` with a script by statement, or a function of statement and text.

    The fact of a scripted `Verdict` or `CheckFailure` is replaced by the one in the call.
    """

    async def check(
        self, facts: Sequence[AtomicFact], text: str, ledger: Ledger
    ) -> Sequence[CheckResult]:
        self.start(Call(facts=tuple(fact.text for fact in facts), text=text), ledger)
        return tuple(self._result(fact, text) for fact in facts)

    def _result(self, fact: AtomicFact, text: str) -> CheckResult:
        scripted = self.answer(fact.text, text)
        if isinstance(scripted, (Verdict, CheckFailure)):
            return replace(scripted, fact=fact)
        return Verdict(fact, scripted, judge=self._name)


class ScriptedExtractor(Scripted[Sequence[str | AtomicFact]]):
    """An `Extractor` with a script by source; plain strings are numbered `f1`, `f2`, ..."""

    role = "extractor"

    async def extract(self, source: str, ledger: Ledger) -> FactSet:
        self.start(Call(source=source), ledger)
        facts = FactSet.of(self.answer(source))
        made_by = tuple(self.identity.items())
        return replace(facts, source_digest=digest(source), made_by=made_by)


class ScriptedPairJudge(Scripted[bool | float | PairVerdict | Failure[Any]]):
    """A `PairJudge` with a script by pair; a number is the probability of equivalence."""

    async def compare(self, pairs: Sequence[ValuePair], ledger: Ledger) -> Sequence[PairResult]:
        self.start(Call(pairs=tuple(pairs)), ledger)
        return tuple(self._result(pair) for pair in pairs)

    def _result(self, pair: ValuePair) -> PairResult:
        scripted = self.answer(pair)
        if isinstance(scripted, (PairVerdict, Failure)):
            return scripted
        probability = None if isinstance(scripted, bool) else scripted
        return PairVerdict(scripted >= _THRESHOLD, probability, "scripted", self._name)
