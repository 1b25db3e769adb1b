"""What one sentence states: connectives dropped, coordinated clauses told one by one.

English is split by `clauses`; other languages only at semicolons. Whether a sentence states
anything at all is decided here too: questions, greetings and bare titles do not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from factcheck.facts import Span
from factcheck.judges.local.clauses import Clause, split_clauses
from factcheck.judges.local.words import TELLING, Word, words
from factcheck.text.blocks import BlockKind


class Statement(NamedTuple):
    """Something a sentence says, in words that stand alone."""

    text: str
    own: Span
    """The passage it comes from, in characters of the sentence."""


_CONNECTIVE = re.compile(
    r"(?:however|moreover|furthermore|additionally|in addition|meanwhile|nevertheless|nonetheless|"
    r"as a result|consequently|therefore|thus|finally|in fact|indeed|similarly|likewise|overall|"
    r"in conclusion|in summary|in short|also|besides|on the other hand),\s+(?=\w)",
    re.IGNORECASE,
)
_SEMICOLON = re.compile(r"[;\uff1b]\s*")
_NO_LIST = re.compile(r"[\"“”„«»:\uff1a()\uff08\uff09「」]|(?<!\w)['\u2018]")
_HEDGES = {
    "en": r"\b(?:if|unless|whether|would|could|might|should|said|says|claim\w*|den(?:y|ied|ies)|"
    r"alleg\w*|report\w*|according|believ\w*|argu\w*|not only|either|or)\b",
    "de": r"\b(?:wenn|falls|ob|sofern|würde\w*|könnte\w*|soll\w*|sag\w*|laut|behaupt\w*|angeblich|"
    r"dass|bestr\w*|sei|oder)\b",
    "fr": r"\b(?:si|selon|dit|affirm\w*|déclar\w*|préten\w*|niée?|que|serai\w*|pourrai\w*|ou)\b",
    "es": r"\b(?:si|según|dij\w*|afirm\w*|declar\w*|neg\w*|supuest\w*|que|podría\w*|sería\w*|o)\b",
    "zh": r"如果|假如|若|是否|说|称|表示|认为|据|否认|可能|或",
}
"""Words under whose scope the second half of a sentence may stand; languages without an entry
are never split."""
_FEWEST_WORDS = 4
_EMPHASIS = re.compile(r"(\*\*|__|`|~~|(?<!\w)[*_](?=\S))(.{1,200}?)(?:\1)(?!\w)|\*\*")
_LINK = re.compile(r"!?\[([^\[\]\n]{0,200})\]\([^()\s]{0,500}\)")
_ADDRESS = re.compile(r"\b(?:https?://|www\.)\S+|(?<![\w.+-])[\w.+-]{1,64}@[\w.-]{3,200}")
_FORMULA = re.compile(
    r"\W*(?:hi|hello|dear|hey|good (?:morning|afternoon|evening|day)|thanks?|thank you|welcome|"
    r"(?:best|kind|warm) regards|regards|sincerely|yours|cheers|click here|read more|see also|"
    r"subscribe|sign up|share this|follow us|copyright|©|all rights reserved|advertisement|"
    r"table of contents|hallo|guten (?:tag|morgen|abend)|liebe[r]?|vielen dank|danke|"
    r"mit freundlichen grüßen|bonjour|bonsoir|merci|cordialement|hola|buenos días|gracias|saludos)"
    r"(?!\w)",
    re.IGNORECASE,
)
_LONGEST_FORMULA = 8
"""Words; what begins like a greeting and is longer is a sentence."""
_LABELLED = re.compile(r"[^\W\d_][\w'&/.-]*(?: [\w'&/.-]+){0,2}:[*_]*\s+(?=\S)")
"""`Present: Anna, Ben`: a label of up to three words, and what it stands for."""
_ENDS_SENTENCE = re.compile(r"[.!。\uff01…;\uff1b]\W*\Z")
_ASKS = re.compile(r"[?\uff1f؟]\W*\Z")
_LONGEST_TITLE = 8


def split_statements(sentence: str, language: str) -> tuple[Statement, ...]:
    """What a sentence says, in its order; the sentence itself where no split is safe.

    Args:
        sentence: One sentence, with any Markdown in it.
        language: ISO 639-1 code.
    """
    connective = _CONNECTIVE.match(sentence) if language == "en" else None
    start = connective.end() if connective else 0
    statements = []
    for part in _at_semicolons(sentence, start, language):
        passage = sentence[part.start : part.end]
        if language != "en":
            statements.append(Statement(_tidy(passage), part))
            continue
        for clause in split_clauses(passage):
            own = Span(clause.own.start + part.start, clause.own.end + part.start)
            statements.append(Statement(_told(clause, passage, sentence), own))
    return tuple(statements)


def is_statement(sentence: str, kind: BlockKind, language: str) -> bool:
    """Whether a sentence of a block of that kind states something.

    Headings, code, questions, lead-ins that end in a colon, greetings, and short titles without
    an end of sentence do not; list items, table rows, and what stands behind a label, do if they
    hold any content word.
    """
    if kind in ("heading", "code") or _ASKS.search(sentence):
        return False
    plain = _ADDRESS.sub(" ", sentence).strip(" *_")
    if plain.endswith((":", "\uff1a")):
        return False
    found = words(plain, language)
    if _FORMULA.match(plain) and len(found) <= _LONGEST_FORMULA:
        return False
    informative = sum(word.kind in TELLING for word in found)
    if kind in ("item", "row") or _is_labelled(plain, found):
        return informative > 0
    if _ENDS_SENTENCE.search(plain):
        return informative > 0 and len(found) > 1
    return informative > 1 and not _is_title(plain, len(found))


def _is_labelled(text: str, found: Sequence[Word]) -> bool:
    """Whether something is said behind a label."""
    label = _LABELLED.match(text)
    return label is not None and any(
        word.start >= label.end() and word.kind in TELLING for word in found
    )


def _is_title(text: str, n_words: int) -> bool:
    long_words = [word for word in text.split() if len(word) > 3]  # noqa: PLR2004 - not "of", "the"
    return (
        n_words <= _LONGEST_TITLE
        and len(long_words) > 1
        and all(word[0].isupper() for word in long_words)
    )


def _at_semicolons(sentence: str, start: int, language: str) -> tuple[Span, ...]:
    """The halves of a sentence that a semicolon joins, or all of it."""
    whole = (Span(start, len(sentence)),)
    hedges = _HEDGES.get(language)
    if hedges is None or _NO_LIST.search(sentence) or re.search(hedges, sentence, re.IGNORECASE):
        return whole
    parts = []
    for match in _SEMICOLON.finditer(sentence, start):
        if sentence[match.end() :].strip():
            parts.append(Span(start, match.start()))
            start = match.end()
    parts.append(Span(start, len(sentence)))
    long_enough = all(
        len(words(sentence[part.start : part.end], language)) >= _FEWEST_WORDS for part in parts
    )
    return tuple(parts) if long_enough else whole


def _told(clause: Clause, passage: str, sentence: str) -> str:
    if clause.own == Span(0, len(passage)) and len(passage) == len(sentence):
        text = " ".join(token.text for token in clause.tokens)
    else:
        text = " ".join(token.text for token in clause.tokens).rstrip(" ,;")
        text = text[:1].upper() + text[1:]
        if _ENDS_SENTENCE.search(sentence) and not _ENDS_SENTENCE.search(text):
            text += "."
    return _tidy(text)


def _tidy(text: str) -> str:
    plain = _EMPHASIS.sub(lambda match: match.group(2) or "", _LINK.sub(r"\1", text))
    return " ".join(plain.split()) or " ".join(text.split())
