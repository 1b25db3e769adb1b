"""The embedded extractor: a text in, its atomic facts out, without any model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from factcheck.facts import AtomicFact, FactSet, Span, digest
from factcheck.judges.local.cancellation import run_in_thread
from factcheck.judges.local.duplicates import drop_near_duplicates
from factcheck.judges.local.language import guess_language
from factcheck.judges.local.pronouns import with_name
from factcheck.judges.local.sentences import (
    Sentence,
    block_sentences,
    cut_at_abbreviations,
    join_at_times,
)
from factcheck.judges.local.statements import is_statement, split_statements
from factcheck.text.blocks import Block, BlockKind, split_blocks

if TYPE_CHECKING:
    from factcheck.judges.ports import Ledger

_QUOTES = (
    ('"', '"'),
    ("\u201c", "\u201d"),
    ("\u201e", "\u201c"),
    ("\u00ab", "\u00bb"),
    ("\u300c", "\u300d"),
)
_TORN = re.compile(r"(?<!\d)[\"\u201c-\u201e\u00ab\u00bb\u300c\u300d]")
"""A quotation mark; behind a digit it may stand for inches."""
_LONGEST_LABEL = 4
"""Words."""
IDENTITY: Mapping[str, str] = {"extractor": "local/2"}
"""Moves with every change that can change a fact."""


class LocalExtractor:
    """Lists the facts of a text by segmentation and word tables; offline and deterministic."""

    @property
    def identity(self) -> Mapping[str, str]:
        """Name and version of these rules."""
        return IDENTITY

    async def extract(self, source: str, ledger: Ledger) -> FactSet:  # noqa: ARG002 - costs nothing
        """The facts of `source`, in its order; empty if it states none."""
        return await run_in_thread(extract_facts, source)


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
    labels = _Labels(source)
    for block in split_blocks(source):
        label = labels.above(block)
        previous: Sentence | None = None
        for whole in join_at_times(source, block_sentences(source, block)):
            group: list[_Candidate] = []
            for sentence in _stating(whole, block.kind, language):
                group += _candidates(sentence, whole, previous, language, label)
                previous = sentence
            previous = previous if group else whole
            if group:
                yield tuple(group)


def _stating(whole: Sentence, kind: BlockKind, language: str) -> tuple[Sentence, ...]:
    """The sentences of a passage that state something; all of it if a cut would lose words."""
    pieces = cut_at_abbreviations(whole, language) if kind in ("prose", "item") else (whole,)
    told = tuple(piece for piece in pieces if is_statement(piece.text, kind, language))
    if len(told) < len(pieces) and is_statement(whole.text, kind, language):
        return (whole,)
    return told


class _Labels:
    """What the items of a list stand under: `Li Wei:` above items that are indented deeper."""

    def __init__(self, source: str) -> None:
        self._source = source
        self._open: list[tuple[int, str]] = []

    def above(self, block: Block) -> str:
        """The label of a block, which is the next one in the source; empty if it has none."""
        start, end = block.span
        if block.kind != "item":
            self._open = []
            return ""
        column = start - max(self._source.rfind(mark, 0, start) for mark in "\n\r") - 1
        while self._open and self._open[-1][0] >= column:
            self._open.pop()
        label = self._open[-1][1] if self._open else ""
        text = " ".join(self._source[start:end].replace("*", "").split())
        is_label = text.endswith(":") and text.count(" ") < _LONGEST_LABEL
        self._open.append((column, text if is_label else ""))
        return label


def _candidates(
    sentence: Sentence, whole: Sentence, previous: Sentence | None, language: str, label: str
) -> list[_Candidate]:
    group = []
    for statement in split_statements(sentence.text, language):
        text, context = _without_torn_quote(statement.text), whole.text
        if label:
            text, context = f"{label} {text}", f"- {label}\n- {whole.text}"
        elif previous and language == "en" and statement.own.start == 0:
            text = with_name(text, previous.text)
            context = f"{previous.text} {whole.text}" if text != statement.text else context
        start = sentence.span.start
        span = Span(start + statement.own.start, start + statement.own.end)
        derived = text != " ".join(whole.text.split())
        group.append(_Candidate(text, span, whole, derived, context))
    return group


def _without_torn_quote(text: str) -> str:
    """A piece of a quotation without the one mark that its cut left in it."""
    for opening, closing in _QUOTES:
        if text.count(opening) + (text.count(closing) if opening != closing else 0) == 1:
            text = _TORN.sub("", text)
    return text


def _is_entailed(candidate: _Candidate) -> bool:
    from factcheck.judges.local.checker import check_facts

    fact = AtomicFact("f", candidate.text)
    return all(verdict.supported for verdict in check_facts((fact,), candidate.context))
