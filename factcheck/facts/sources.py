"""Sources, a text or several documents; quotes in texts, and the texts of a report with marks."""

from __future__ import annotations

import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

from factcheck.documents import PlainData, from_plain, shown
from factcheck.errors import InputError
from factcheck.facts.groups import group_results
from factcheck.facts.model import AtomicFact, CheckResult, Evidence, FactSet, digest
from factcheck.reports.page import Mark, MarkedText, RawText, Tone
from factcheck.settings import require_text

KEYBOARD_MARKS = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b\u2032\u00b4`\u02bc\uff07", "'")
    | dict.fromkeys("\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb\uff02", '"')
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\ufe58\ufe63\uff0d", "-")
)
"""Turns quotation marks and dashes into those of a keyboard."""
_SPACE = re.compile(r"\s+")
_WORD = re.compile(r"\w+")
_OUTER_PUNCTUATION = " .!?\"'"
_TONES: dict[str, Tone] = {
    "entailed": "good",
    "contradicted": "bad",
    "neutral": "warn",
    "": "unknown",
}


@dataclass(frozen=True, slots=True)
class SourceDocument(PlainData):
    """One of several documents that make up a source."""

    id: str
    """Unique within the source; shown with its facts in reports."""
    text: str
    """May be blank; with accents composed (NFC)."""

    def __post_init__(self) -> None:
        if not isinstance(self.id, str) or not self.id.strip():
            raise InputError("the id of a document is blank, or no text")
        object.__setattr__(self, "text", require_text(self.text, "the text of a document"))

    @property
    def n_words(self) -> int:
        """Number of words."""
        return len(_WORD.findall(self.text))


Source: TypeAlias = "str | Sequence[SourceDocument | str | Mapping[str, Any]]"
"""A text, or a list of documents; plain strings in it get the ids `d1`, `d2`, ... by position."""


def as_source(source: Source, what: str = "the source") -> str | tuple[SourceDocument, ...]:
    """Convert a source from any accepted form to a text or documents, with accents composed (NFC).

    Raises:
        InputError: Another form, no document, or a duplicate id; begins with `what`.
    """
    if isinstance(source, str):
        return require_text(source, what)
    if isinstance(source, (bytes, Mapping)) or not isinstance(source, Sequence):
        raise InputError(f"{what}: expected a string or a list of documents, got {shown(source)}")
    if not source:
        raise InputError(f"{what} is an empty list; it needs at least one document")
    items = [_document(item, number) for number, item in enumerate(source, 1)]
    try:
        documents = from_plain(tuple[SourceDocument, ...], items, what)
    except InputError as error:
        is_located = str(error).startswith(what)
        raise InputError(str(error) if is_located else f"{what}: {error}") from None
    for id_, count in Counter(document.id for document in documents).items():
        if count > 1:
            raise InputError(f"{what}: two documents have the id {id_!r:.80}; ids must be unique")
    return documents


def _document(item: Any, number: int) -> Any:
    """Complete a document with an id; what is not one is left as it is."""
    if isinstance(item, str):
        item = {"text": item}
    if not isinstance(item, Mapping):
        return item
    id_ = item.get("id")
    if id_ is None:
        id_ = f"d{number}"
    elif isinstance(id_, int) and not isinstance(id_, bool):
        id_ = str(id_)
    return {**item, "id": id_}


@dataclass(frozen=True, slots=True)
class Texts(PlainData):
    """Texts of a report, with their display names."""

    documents: tuple[SourceDocument, ...]
    """Source; one document for a single text, empty if unknown."""
    summary: SourceDocument

    @classmethod
    def of(cls, source: str | tuple[SourceDocument, ...], summary: str) -> Texts:
        """Make texts with the default names `source` and `summary`."""
        if isinstance(source, str):
            source = (SourceDocument("source", source),) if source.strip() else ()
        return cls(source, SourceDocument("summary", summary))

    def named(self, source: str, summary: str) -> Texts:
        """Rename the texts; several documents keep their ids."""
        documents = self.documents
        if len(documents) == 1:
            documents = (replace(documents[0], id=source),)
        return Texts(documents, replace(self.summary, id=summary))

    def marked(
        self,
        source_digest: str | None,
        results: Sequence[CheckResult],
        claim_results: Sequence[CheckResult],
    ) -> tuple[MarkedText, ...]:
        """Mark facts and claims in the source documents and the summary, in this order.

        A fact is marked at its span in the source and at its evidence in the summary; a claim at
        its span in the summary and at its evidence in the source. Spans that do not match the
        texts, such as those of facts from another version of the source, are omitted.
        """
        digests = {digest(source_key(self.documents))}
        digests |= {digest(first.text) for first in self.documents[:1]}
        stated = results if source_digest in {None, *digests} else ()
        marked = []
        for document in self.documents:
            own = document.id if len(self.documents) > 1 else None
            marks = (
                *_statements("f", stated, document.text, own),
                *_evidence("c", claim_results, document.text, own),
            )
            marked.append(MarkedText("Source", document.id, RawText(document.text), marks))
        text = self.summary.text
        marks = (*_evidence("f", results, text), *_statements("c", claim_results, text))
        return (*marked, MarkedText("Summary", self.summary.id, RawText(text), marks))


def _statements(
    kind: str, results: Sequence[CheckResult], text: str, document: str | None = None
) -> Iterator[Mark]:
    keys = _keys(kind, results)
    for result in results:
        span, is_here = result.fact.span, document in {None, *result.fact.documents[:1]}
        if span is not None and is_here and span.end <= len(text):
            yield Mark(*span, keys[result.fact.id], _TONES[result.label])


def _keys(kind: str, results: Sequence[CheckResult]) -> dict[str, str]:
    """Return the key of the item that shows each fact: its own, or that of its core."""
    keys = {result.fact.id: f"{kind}{number}" for number, result in enumerate(results, 1)}
    for group in group_results(results, are_claims=kind == "c"):
        keys |= {result.fact.id: keys[group.core.fact.id] for result in group.details}
    return keys


def _evidence(
    kind: str, results: Sequence[CheckResult], text: str, document: str | None = None
) -> Iterator[Mark]:
    keys = _keys(kind, results)
    for result in results:
        evidence, is_here = result.evidence, document in {None, *result.fact.documents[:1]}
        if evidence and is_here and text[evidence.start : evidence.end] == evidence.quote:
            tone = "plain" if result.label == "neutral" else _TONES[result.label]
            yield Mark(evidence.start, evidence.end, keys[result.fact.id], tone)


def source_texts(source: str | tuple[SourceDocument, ...]) -> list[str]:
    """Return the text, or the texts of the documents."""
    return [source] if isinstance(source, str) else [document.text for document in source]


def source_key(source: str | tuple[SourceDocument, ...]) -> str:
    """Return a text that identifies the source: the text itself, or its documents as JSON."""
    if isinstance(source, str):
        return source
    return json.dumps([[document.id, document.text] for document in source], ensure_ascii=False)


@lru_cache(maxsize=8192)
def fold_text(text: str) -> str:
    """Fold white space, quotation marks, dashes, case and Unicode forms.

    Invisible format characters are removed.
    """
    plain = text.translate(KEYBOARD_MARKS)
    if plain.isascii():
        return _SPACE.sub(" ", plain.lower())
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", plain).casefold())
    shown = "".join(c for c in folded if unicodedata.category(c) != "Cf")
    return _SPACE.sub(" ", shown.translate(KEYBOARD_MARKS))


def locate(quote: str, text: str) -> Evidence | None:
    """Find the first occurrence of a quote; `None` for a blank one."""
    quote = quote.strip()
    start = text.find(quote) if quote else -1
    return Evidence(quote, start, start + len(quote)) if start >= 0 else None


def merge_documents(
    documents: Sequence[SourceDocument], extracted: Sequence[Sequence[AtomicFact]]
) -> FactSet:
    """Merge the facts of several documents into one set, numbered in order.

    Facts with the same wording, ignoring case, white space, kinds of quotes and dashes, and final
    punctuation, are merged: the result has all their document ids and the span in the first
    document. Paraphrases stay separate.
    """
    merged: dict[str, AtomicFact] = {}
    for document, facts in zip(documents, extracted, strict=True):
        ids: dict[str | None, str] = {}
        for fact in facts:
            key = fold_text(fact.text).strip(_OUTER_PUNCTUATION)
            new = replace(fact, id=f"f{len(merged) + 1}", core=ids.get(fact.core))
            known = merged.setdefault(key, new)
            ids[fact.id] = known.id
            if document.id not in known.documents:
                merged[key] = replace(known, documents=(*known.documents, document.id))
    return FactSet(tuple(merged.values()))
