"""A model without intelligence that answers this package's own prompts, and misbehaves on demand.

Misbehaviour is a list of small functions on the verdicts about to be sent (`Mangle`), and wrappers
of the whole answer for replies that are not JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from factcheck.errors import InputError
from factcheck.facts import EntailmentLabel
from factcheck.judges.ports import ValuePair
from factcheck.testing.prompts import ParsedPrompt, parse_prompt
from factcheck.testing.replies import ChatAnswer, ChatRequest, Reply

Draft = Mapping[str, Any]
"""One verdict of a reply before it is sent, with the `fact` or the two `values` it is about, which
are never sent."""
Mangle = Callable[[Sequence[Draft]], Sequence[Draft]]
"""Turns the verdicts of one reply into worse ones."""
Labels = Mapping[str, EntailmentLabel] | Callable[[str, str], EntailmentLabel]
"""Labels by statement, or a function of statement and text."""

_WORD = re.compile(r"\w+")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\s*\n\s*")
_NOWHERE = "This quote stands in no text, qxzv."


@lru_cache(maxsize=1024)
def sentences(text: str) -> tuple[str, ...]:
    """Lines and sentences of a text, cut at full stops; good enough for plain test texts."""
    return tuple(piece for piece in _SENTENCE_END.split(text.strip()) if piece)


def label_by_words(fact: str, text: str) -> EntailmentLabel:
    """Entailed if every word of the fact is in the text, else neutral."""
    return "entailed" if _words(fact) <= _words(text) else "neutral"


def same_words(pair: ValuePair) -> bool:
    """Whether two values have the same words; the extracted one more or fewer where allowed."""
    gold, extracted = _words(pair.gold), _words(pair.extracted)
    if pair.specificity == "exact":
        return gold == extracted
    return gold <= extracted if pair.specificity == "allow_more_specific" else extracted <= gold


def rate_by_words(source: str, summary: str) -> int:
    """From 1 to 5 by the share of the source's words in the summary."""
    words = _words(source)
    return 1 + round(4 * len(words & _words(summary)) / len(words)) if words else 1


class FactModel:
    """Answers this package's prompts with the JSON they ask for; to be given to a local server.

    Args:
        labels: Label of each fact. A fact missing from a mapping is an error.
        facts: Facts of a source.
        equivalent: Whether the values of a pair mean the same.
        rate: Rating of a source and its summary, sent as it is.
        summarize: Bullets for a source and the instructions that came with it; by default all
            sentences.
        mangles: Applied in order to the verdicts of each reply to a check or compare prompt, and
            to a rating as one verdict.

    Raises:
        InputError: When called: the request is not a prompt of this package, or a fact is not
            in `labels`.
    """

    def __init__(
        self,
        labels: Labels = label_by_words,
        facts: Callable[[str], Sequence[str]] = sentences,
        *,
        equivalent: Callable[[ValuePair], bool] = same_words,
        rate: Callable[[str, str], Any] = rate_by_words,
        summarize: Callable[[str, str], Sequence[str]] | None = None,
        mangles: Sequence[Mangle] = (),
    ) -> None:
        self._labels = labels
        self._facts = facts
        self._equivalent = equivalent
        self._rate = rate
        self._summarize = summarize or (lambda source, _instructions: sentences(source))
        self._mangles = tuple(mangles)

    def __call__(self, request: ChatRequest) -> str:
        """The reply to a prompt, as JSON."""
        prompt = parse_prompt(request.body)
        if prompt.kind == "extract":
            return _json({"facts": list(self._facts(prompt.text))})
        if prompt.kind == "summarize":
            return _json({"bullets": list(self._summarize(prompt.text, prompt.instructions))})
        drafts = self._drafts(prompt)
        for mangle in self._mangles:
            drafts = mangle(drafts)
        if prompt.kind == "rate":
            return _json(next(iter(drafts), {}))
        hidden = ("fact", "values")
        sent = [{k: v for k, v in draft.items() if k not in hidden} for draft in drafts]
        return _json({"verdicts": sent})

    def _drafts(self, prompt: ParsedPrompt) -> Sequence[Draft]:
        said = {"reason": "scripted"}
        if prompt.kind == "rate":
            return [{**said, "faithfulness": self._rate(prompt.text, prompt.summary)}]
        if prompt.kind == "compare":
            return [
                {
                    "values": (pair.gold, pair.extracted),
                    "id": pair_id,
                    **said,
                    "equivalent": self._equivalent(pair),
                }
                for pair_id, pair in prompt.pairs.items()
            ]
        return [
            {"fact": fact, "id": fact_id, **self._verdict(fact, prompt.text), **said}
            for fact_id, fact in prompt.facts.items()
        ]

    def _verdict(self, fact: str, text: str) -> Draft:
        if callable(self._labels):
            label = self._labels(fact, text)
        elif fact in self._labels:
            label = self._labels[fact]
        else:
            raise InputError(f"FactModel has no label for the fact {fact!r}")
        return {"label": label, "quote": "" if label == "neutral" else _closest(fact, text)}


def leave_out(*facts: str) -> Mangle:
    """No verdict for these facts; without arguments, for none at all (an empty list).

    Here and below, a pair of values is named by either of them.
    """
    return _changing(facts, lambda _draft: [])


def duplicate(*facts: str) -> Mangle:
    """Two verdicts for each of these facts, or for all."""
    return _changing(facts, lambda draft: [draft, draft])


def overwrite(key: str, value: Any, *facts: str) -> Mangle:
    """Another value, of any type, for one key of the verdicts of these facts, or of all."""
    return _changing(facts, lambda draft: [{**draft, key: value}])


def without_key(key: str, *facts: str) -> Mangle:
    """One key missing from the verdicts of these facts, or of all."""
    return _changing(facts, lambda draft: [{k: v for k, v in draft.items() if k != key}])


def bad_quote(*facts: str) -> Mangle:
    """A quote that is in no text, for these facts or for all."""
    return overwrite("quote", _NOWHERE, *facts)


def invent(*ids: str) -> Mangle:
    """Further verdicts, entailed and equivalent, under ids that were not asked for."""
    said = {"label": "entailed", "quote": "", "reason": "invented", "equivalent": True}
    return lambda drafts: [*drafts, *({"id": i, **said} for i in ids)]


def _changing(facts: Sequence[str], change: Callable[[Draft], Sequence[Draft]]) -> Mangle:
    def concerned(draft: Draft) -> bool:
        return not facts or not {draft.get("fact"), *draft.get("values", ())}.isdisjoint(facts)

    return lambda drafts: [
        made for draft in drafts for made in (change(draft) if concerned(draft) else [draft])
    ]


def in_prose(answer: ChatAnswer, *facts: str) -> ChatAnswer:
    """Prose instead of JSON for requests about one of these facts or values, or for all."""

    def prose(request: ChatRequest) -> Reply | str:
        asked = parse_prompt(request.body)
        values = (value for pair in asked.pairs.values() for value in (pair.gold, pair.extracted))
        if facts and not set(facts) & {*asked.facts.values(), *values}:
            return answer(request)
        return f"I have read the text of {len(asked.text)} characters and all of it seems fine."

    return prose


def in_code_fence(answer: ChatAnswer) -> ChatAnswer:
    """The answer's content inside a Markdown code fence, with a sentence before it."""

    def fenced(request: ChatRequest) -> Reply | str:
        reply = answer(request)
        content = reply.content if isinstance(reply, Reply) else reply
        return f"Here is the result:\n```json\n{content}\n```"

    return fenced


def _json(reply: Mapping[str, Any]) -> str:
    return json.dumps(reply, ensure_ascii=False)


def _closest(fact: str, text: str) -> str:
    """The fact itself if it is in the text, else the sentence with most of its words."""
    if fact in text:
        return fact
    words = _words(fact)
    return max(sentences(text), key=lambda piece: len(words & _words(piece)), default="")


@lru_cache(maxsize=4096)
def _words(text: str) -> frozenset[str]:
    return frozenset(match[0] for match in _WORD.finditer(text.casefold()))
