"""What speaks for and against a statement in a text, as features for a fitted model.

A statement is held against the sentences of a text, one by one and in pairs. Some features are of
the whole text and never fall when a sentence is added; the others are of one passage alone. So a
probability that takes the best passage never rises when a sentence is deleted.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Iterator, Sequence
from functools import cached_property, lru_cache
from math import isclose
from typing import TYPE_CHECKING, NamedTuple

from factcheck.facts import Evidence
from factcheck.facts.spans import fold_text
from factcheck.judges.local.cancellation import checkpoint
from factcheck.judges.local.conflicts import Analysed, analyse, find_conflict
from factcheck.judges.local.encoder import WIDTH, Reading, judge, load_encoder
from factcheck.judges.local.model import Features
from factcheck.judges.local.sentences import split_passages
from factcheck.text.units import Quantity

if TYPE_CHECKING:
    from factcheck.judges.local.encoder import FloatArray

LANGUAGE = "en"
"""What the reader was trained and measured on."""
_MOST_SENTENCES = 400
"""Sentences of a text that the encoder reads for one statement: those that share most words."""
_MOST_PAIRED = 32
"""Sentences that are paired: those that match best."""
_MOST_PASSAGES = 24
_ADDS = 0.04
"""What a second sentence must add to the mean match of a passage."""
_NEAR = 0.55
"""The cosine from which something in a passage comes near a word."""
_ASKS = re.compile(r"\?[\W_]*\Z")
_LEAST = 0.4
"""The mean match from which a passage is read."""
_ENTAILED, _CONTRADICTED = (-6.0, 4.0), (0.0, 2.0)
"""The reader's log odds count between these."""
_UNREAD = (-3.0, 0.0)
"""What stands for them where a passage is not read."""


class Sentence(NamedTuple):
    """A sentence of a text, or of a fact, with its place and what its words say."""

    text: str
    start: int
    analysed: Analysed

    @property
    def evidence(self) -> Evidence:
        return Evidence(self.text, self.start, self.start + len(self.text))


class Text:
    """A text as sentences; the encoder reads them when it is first asked."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.sentences = tuple(sentences)

    @cached_property
    def stated(self) -> dict[str, Sentence]:
        """The sentences by their folded wording."""
        return {fold_text(each.text).strip(): each for each in reversed(self.sentences)}

    @cached_property
    def statements(self) -> Text:
        """The text without its questions."""
        kept = [each for each in self.sentences if not _ASKS.search(each.text)]
        return self if len(kept) == len(self.sentences) else Text(kept)

    @cached_property
    def vectors(self) -> tuple[FloatArray, list[int]]:
        """Those of all word pieces, and where each sentence starts among them."""
        import numpy as np

        readings = load_encoder().read([each.text for each in self.sentences])
        rows = [each.vectors if len(each.vectors) else np.zeros((1, WIDTH)) for each in readings]
        starts = np.cumsum([0, *(len(each) for each in rows[:-1])])
        return np.concatenate(rows).astype(np.float32), starts.tolist()

    def nearest(self, statement: Sentence) -> Text:
        """The text itself, or of a long one the sentences that share most words."""
        if len(self.sentences) <= _MOST_SENTENCES:
            return self
        stems = statement.analysed.stems
        return Text(
            heapq.nlargest(
                _MOST_SENTENCES,
                self.sentences,
                key=lambda each: len(stems & each.analysed.stems),
            )
        )


class Passage(NamedTuple):
    """One or two sentences of a text, held against a statement."""

    statement: Sentence
    sentences: tuple[Sentence, ...]
    """The better matching first."""
    matched: tuple[float, float]
    """The features before the reader's."""
    missing: tuple[str, ...]
    """Words of the statement that nothing in the passage comes near."""

    @property
    def at_best(self) -> Features:
        """The features if the reader were sure of it."""
        return Features(*self.matched, _ENTAILED[1], _CONTRADICTED[0])

    @property
    def unread(self) -> Features:
        """The features without the reader."""
        return Features(*self.matched, *_UNREAD)

    def read(self) -> Features:
        """The features, with the reader's if the passage matches well enough."""
        if self.unread.passage_mean < _LEAST:
            return self.unread
        in_order = sorted(self.sentences, key=lambda each: each.start)
        text = " ".join(each.text for each in in_order)
        statement = _in_notation(self.statement.analysed, [each.analysed for each in in_order])
        opinion = judge(statement, text)
        entailed = min(max(opinion.entailed, _ENTAILED[0]), _ENTAILED[1])
        contradicted = min(max(opinion.contradicted, _CONTRADICTED[0]), _CONTRADICTED[1])
        return Features(*self.matched, entailed, contradicted)

    def conflict(self) -> str | None:
        """How the better sentence says something else than the statement, if it does."""
        return find_conflict(self.statement.analysed, self.sentences[0].analysed)


@lru_cache(maxsize=16)
def read_text(text: str) -> Text:
    """The sentences of a text with their places and words."""
    found = []
    for piece in split_passages(text):
        checkpoint()
        found.append(Sentence(piece.text, piece.span.start, analyse(piece.text)))
    return Text(found)


@lru_cache(maxsize=8192)
def split_fact(fact: str) -> tuple[Sentence, ...]:
    """The sentences of a fact, normally one; the fact itself where it has no sentence."""
    return read_text(fact).sentences or (Sentence(fact, 0, analyse(fact)),)


def passages(statement: Sentence, text: Text) -> Iterator[Passage]:
    """The passages of a text that may entail a statement, those that match it best first.

    A pair of sentences counts where each adds to the match of the other.
    """
    import numpy as np

    near = (text if _ASKS.search(statement.text) else text.statements).nearest(statement)
    (fact,) = load_encoder().read([statement.text])
    if not len(fact.vectors) or not near.sentences:
        return
    vectors, starts = near.vectors
    matches = np.maximum.reduceat(fact.vectors.astype(np.float32) @ vectors.T, starts, axis=1).T
    by_word = _pieces_by_word(statement, fact)
    whole = matches.max(axis=0)
    worst = np.sort(whole[[piece for pieces in by_word.values() for piece in pieces]])
    third = worst[: max(1, len(worst) // 3)]
    for places in _in_order(matches):
        checkpoint()
        here = matches[list(places)].max(axis=0)
        yield Passage(
            statement,
            tuple(near.sentences[at] for at in places),
            (float(third.mean()), float(here.mean())),
            tuple(word for word, pieces in by_word.items() if here[pieces].max() < _NEAR),
        )


def _in_order(matches: FloatArray) -> list[tuple[int, ...]]:
    """The sentences, and the pairs of which each adds to the other, by their mean match."""
    import numpy as np

    single = matches.mean(axis=1)
    found: list[tuple[float, tuple[int, ...]]] = [
        (-score, (at,)) for at, score in enumerate(single.tolist())
    ]
    paired = np.argsort(-single, kind="stable")[:_MOST_PAIRED]
    for rank, at in enumerate(paired.tolist()):
        others = paired[rank + 1 :]
        both = np.maximum(matches[at], matches[others]).mean(axis=1)
        found += [
            (-float(both[k]), (at, int(others[k])))
            for k in np.flatnonzero(both >= single[at] + _ADDS).tolist()
        ]
    return [places for _, places in heapq.nsmallest(_MOST_PASSAGES, found)]


def _in_notation(fact: Analysed, passages: Sequence[Analysed]) -> str:
    """A fact with its numbers and dates written as some passages write the same ones."""
    edits: list[tuple[int, int, str]] = []
    for passage in passages:
        for quantity in fact.quantities:
            equal = next((q for q in passage.quantities if _equal(quantity, q)), None)
            if equal is not None:
                written = passage.text[equal.start : equal.end]
                edits.append((quantity.start, quantity.end, written))
        for moment in fact.moments:
            alike = next((m for m in passage.moments if {*moment.keys} <= {*m.keys}), None)
            if alike is not None:
                start, end = fact.words[moment.first].start, fact.words[moment.last - 1].end
                edits.append((start, end, passage.wording(alike.first, alike.last)))
    text, before = fact.text, len(fact.text) + 1
    for start, end, written in sorted(edits, reverse=True):
        if end <= before:
            text, before = text[:start] + written + text[end:], start
    return text


def _equal(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities are the same in any unit; limits and ranges never are."""
    if one.low != one.high or other.low != other.high or one.kind != other.kind:
        return False
    if not one.units or not other.units:
        return one.units == other.units and one.value == other.value
    return any(
        a.dimension == b.dimension and isclose(a.basic(one.value), b.basic(other.value))
        for a in one.units
        for b in other.units
    )


def _pieces_by_word(statement: Sentence, reading: Reading) -> dict[str, list[int]]:
    """The positions of the word pieces of each word of content; of all of it if there is none."""
    pieces = list(enumerate(reading.spans))
    found: dict[str, list[int]] = {}
    for word in statement.analysed.words:
        if word.kind in {"content", "number", "negation"}:
            inside = [at for at, (start, end) in pieces if start < word.end and word.start < end]
            if inside:
                found[word.text] = inside
    return found or {statement.text: [at for at, _ in pieces]}
