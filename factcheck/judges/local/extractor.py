"""The embedded extractor: a text in, its atomic facts out, without any model."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from factcheck.facts import AtomicFact, FactSet, Span, digest
from factcheck.judges.local.blocks import split_blocks
from factcheck.judges.local.duplicates import drop_near_duplicates
from factcheck.judges.local.language import guess_language
from factcheck.judges.local.pronouns import with_name
from factcheck.judges.local.sentences import Sentence, block_sentences
from factcheck.judges.local.statements import is_statement, split_statements

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger

_QUOTES = (
    ('"', '"'),
    ("\u201c", "\u201d"),
    ("\u201e", "\u201c"),
    ("\u00ab", "\u00bb"),
    ("\u300c", "\u300d"),
)
IDENTITY: Mapping[str, str] = {"extractor": "local/1"}
"""Moves with every change that can change a fact."""


class LocalExtractor:
    """Lists the facts of a text by segmentation and word tables; offline and deterministic."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Name and version of these rules."""
        return IDENTITY

    async def extract(self, source: str, ledger: Ledger) -> FactSet:  # noqa: ARG002 - costs nothing
        """The facts of `source`, in its order; empty if it states none."""
        return await asyncio.to_thread(extract_facts, source)


class _Candidate(NamedTuple):
    text: str
    span: Span
    sentence: Sentence
    derived: bool
    """Whether the text says less, or other words, than the sentence."""
    context: str
    """The passage that has to entail it."""


def extract_facts(source: str) -> FactSet:
    """The atomic facts of a text, each with the passage it comes from.

    Every fact is entailed by its own passage according to the embedded checker: a sentence is
    taken apart only if each part is, and stands verbatim otherwise.
    """
    language = guess_language(source)
    facts = []
    for group in _candidate_groups(source, language):
        if all(not candidate.derived or _is_entailed(candidate) for candidate in group):
            facts += [AtomicFact("f", candidate.text, candidate.span) for candidate in group]
        else:
            sentence = group[0].sentence
            facts.append(AtomicFact("f", " ".join(sentence.text.split()), sentence.span))
    kept = drop_near_duplicates(facts)
    return FactSet(
        facts=tuple(
            AtomicFact(f"f{number}", fact.text, fact.span) for number, fact in enumerate(kept, 1)
        ),
        source_digest=digest(source),
        made_by=tuple(IDENTITY.items()),
    )


def _candidate_groups(source: str, language: str) -> Iterator[tuple[_Candidate, ...]]:
    """The statements of each sentence that states something."""
    for block in split_blocks(source):
        previous: Sentence | None = None
        for sentence in block_sentences(source, block):
            if is_statement(sentence.text, block.kind, language):
                yield _candidates(sentence, previous, language)
            previous = sentence


def _candidates(
    sentence: Sentence, previous: Sentence | None, language: str
) -> tuple[_Candidate, ...]:
    group = []
    for statement in split_statements(sentence.text, language):
        text, context = _without_torn_quote(statement.text), sentence.text
        if previous and language == "en" and statement.own.start == 0:
            text = with_name(text, previous.text)
            context = f"{previous.text} {sentence.text}" if text != statement.text else context
        start = sentence.span.start
        span = Span(start + statement.own.start, start + statement.own.end)
        derived = text != " ".join(sentence.text.split())
        group.append(_Candidate(text, span, sentence, derived, context))
    return tuple(group)


def _without_torn_quote(text: str) -> str:
    """A piece of a quotation without the one mark that its cut left at its start or end."""
    for opening, closing in _QUOTES:
        if text.count(opening) + (text.count(closing) if opening != closing else 0) == 1:
            text = text.removeprefix(opening).removesuffix(closing)
    return text


def _is_entailed(candidate: _Candidate) -> bool:
    from factcheck.judges.local.checker import check_facts

    fact = AtomicFact("f", candidate.text)
    return all(verdict.supported for verdict in check_facts((fact,), candidate.context))
