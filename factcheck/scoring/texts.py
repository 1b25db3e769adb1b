"""Texts of a score: lead baseline, validation of evidence, results of several documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from factcheck.errors import InputError
from factcheck.facts import CheckFailure, CheckResult, SourceDocument, strongest
from factcheck.judges.local.sentences import split_sentences


def require_text(value: object, what: str) -> None:
    """Raise `InputError` for a value, called `what`, that is not a string."""
    if not isinstance(value, str):
        raise InputError(f"{what} must be a string, not {type(value).__name__}")


def lead_of(source: str | tuple[SourceDocument, ...], n_words: int) -> str:
    """Take the first sentences of a source, as close to `n_words` words as possible.

    Several documents contribute equally: each at least one sentence, unless it is blank.
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


def combined(names: Sequence[str], results: Sequence[CheckResult]) -> CheckResult:
    """Combine the results of several documents on one claim.

    The claim is entailed if any document entails it, else undecided if any result is undecided,
    else contradicted if any document contradicts it. It gets the ids of the documents with that
    label and the evidence of the first.
    """
    result = strongest(results)
    agreeing = [name for name, one in zip(names, results, strict=True) if one.label == result.label]
    documents = tuple(agreeing) if result.label in {"entailed", "contradicted"} else ()
    return replace(result, fact=replace(result.fact, documents=documents))


def with_true_evidence(result: CheckResult, text: str) -> CheckResult:
    """Remove evidence that does not match `text` at its offsets."""
    if isinstance(result, CheckFailure) or (evidence := result.evidence) is None:
        return result
    if evidence.quote and text[evidence.start : evidence.end] == evidence.quote:
        return result
    return replace(result, evidence=None, flags=(*result.flags, "quote_not_found"))
