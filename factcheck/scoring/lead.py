"""The scale of a score: what the first sentences of the source would get at the same length."""

from __future__ import annotations

from factcheck.facts import SourceDocument
from factcheck.judges.local.sentences import split_sentences


def lead_of(source: str | tuple[SourceDocument, ...], n_words: int) -> str:
    """The first sentences of a source, as close to a length in words as whole sentences come.

    Of several documents each gives an equal share: at least one sentence, unless it is blank.
    """
    if isinstance(source, str):
        return _first_sentences(source, n_words)
    filled = [document.text for document in source if document.text.strip()]
    leads = (_first_sentences(text, n_words // len(filled)) for text in filled)
    return "\n\n".join(leads)


def _first_sentences(text: str, n_words: int) -> str:
    total, end = 0, 0
    for sentence in split_sentences(text):
        n = len(sentence.text.split())
        if end and total + n / 2 > n_words:
            break
        total, end = total + n, sentence.span.end
    return text[:end].strip()
