"""Features of a statement against a text, for the fitted model.

A statement is compared with each sentence of the text and with pairs of sentences. Features of the
whole text never fall when a sentence is added; the others depend on one passage only. The best
passage counts, so deleting a sentence never raises the probability.
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Container, Iterator, Sequence
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from factcheck.facts.sources import fold_text
from factcheck.judges.local.conflicts import Sentence, read_sentence
from factcheck.judges.local.encoder import WIDTH, Opinion, Reading, encode, judge
from factcheck.judges.local.model import Features
from factcheck.judges.local.sentences import split_passages
from factcheck.judges.local.tree import WORDS
from factcheck.runtime.deadline import checkpoint
from factcheck.text.dates import Moment, meet
from factcheck.text.units import Quantity, agree, sizes
from factcheck.text.words import content_stems, word_set, words

if TYPE_CHECKING:
    from factcheck.judges.local.encoder import FloatArray

LANGUAGE = "en"
"""Language the reader was trained and measured on."""
_MOST_SENTENCES = 400
"""Maximum number of sentences encoded for one statement: those with the most shared words."""
_MOST_PAIRED = 32
"""Maximum number of sentences considered for pairs: the best matches."""
_MOST_PASSAGES = 24
_ADDS = 0.04
"""Minimum gain in mean match for a second sentence to join a passage."""
_NEAR = 0.55
"""Minimum cosine for a word to count as covered by a passage."""
_ASKS = re.compile(r"\?[\W_]*\Z")
_LEAST = 0.4
"""Minimum mean match for a passage to be read."""
ENTAILED_RANGE, CONTRADICTED_RANGE = (-6.0, 4.0), (0.0, 2.0)
"""Ranges to which the reader's log odds are clipped."""
_QUALIFIERS = WORDS["hedges"] | WORDS["qualifying"] | word_set("almost some most")
"""Words that limit a statement, as adverbs in -ly do; vectors of other words match them well."""
_CLAUSE_END = re.compile(r"[,;:.!?()]")
_CONTRADICTED_FROM, _CONTRADICTED_SLOPE = 0.5, 0.7
"""Minimum log odds of a contradiction: a constant, and a share of those against entailment, since
the reader refuses a fact without contradicting it if something is missing."""
_UNREAD = (-3.0, 0.0)
"""Log odds assumed for a passage that is not read."""


class Text:
    """A text as sentences, encoded on first use."""

    def __init__(self, sentences: Sequence[Sentence]) -> None:
        self.sentences = tuple(sentences)

    @cached_property
    def stated(self) -> dict[str, Sentence]:
        """Sentences by folded text; the first of equal ones."""
        return {fold_text(each.text).strip(): each for each in reversed(self.sentences)}

    @cached_property
    def statements(self) -> Text:
        """The text without questions."""
        kept = [each for each in self.sentences if not _ASKS.search(each.text)]
        return self if len(kept) == len(self.sentences) else Text(kept)

    @cached_property
    def vectors(self) -> tuple[FloatArray, list[int]]:
        """Vectors of all word pieces, and the row at which each sentence starts."""
        vectors = [encode(each.text).vectors for each in self.sentences]
        rows = [each if len(each) else np.zeros((1, WIDTH)) for each in vectors]
        starts = np.cumsum([0, *(len(each) for each in rows[:-1])])
        return np.concatenate(rows).astype(np.float32), starts.tolist()

    def nearest(self, statement: Sentence) -> Text:
        """The text itself; if it is long, the sentences with the most words in common."""
        if len(self.sentences) <= _MOST_SENTENCES:
            return self
        return Text(
            heapq.nlargest(
                _MOST_SENTENCES,
                self.sentences,
                key=lambda each: len(statement.stems & each.stems),
            )
        )


class Passage(NamedTuple):
    """One or two sentences of a text, compared with a statement."""

    statement: Sentence
    sentences: tuple[Sentence, ...]
    """Better match first."""
    matched: tuple[float, float]
    """`text_third` and `passage_mean`."""
    uncovered: tuple[str, ...]
    """Words of the statement not covered by the passage."""

    @property
    def text(self) -> str:
        """The sentences in text order, as a network reads them."""
        return " ".join(each.text for each in self._in_order)

    @property
    def _in_order(self) -> list[Sentence]:
        return sorted(self.sentences, key=lambda each: each.start)

    @property
    def missing(self) -> tuple[str, ...]:
        """What the passage does not cover, in phrases of the statement."""
        fact = self.statement
        items: list[Quantity | Moment] = [*fact.quantities, *fact.moments]
        uncovered = {*self.uncovered}
        for item in items:
            said = {word.text for word in fact.words[item.first : item.last]}
            uncovered = uncovered - said if self._has(item) else uncovered | said
        there = {word.stem for each in self.sentences for word in each.words}
        for word in fact.words:
            is_new = word.stem not in there and word.kind != "negation"
            if is_new and (word.form in _QUALIFIERS or word.form.endswith("ly")):
                uncovered.add(word.text)
        return _phrases(fact, uncovered, items)

    def _has(self, item: Quantity | Moment) -> bool:
        """Tell whether the passage has a number or date of the statement."""
        if isinstance(item, Moment):
            return any(meet(item, date) for one in self.sentences for date in one.moments)
        return any(_states(number, item) for one in self.sentences for number in one.quantities)

    def lacks(self, core: str, missing: Sequence[str]) -> bool:
        """Tell whether what the statement adds to its core is all among what is `missing`."""
        known = content_stems(core, "en")
        added = [
            word
            for word in self.statement.words
            if word.kind in {"content", "number"} and word.stem not in known
        ]
        gone = {word.stem for phrase in missing for word in words(phrase)}
        return bool(added) and all(word.stem in gone for word in added)

    @property
    def at_best(self) -> Features:
        """Features with the most favourable answer of the reader."""
        return Features(*self.matched, ENTAILED_RANGE[1], CONTRADICTED_RANGE[0])

    @property
    def unread(self) -> Features:
        """Features without the reader."""
        return Features(*self.matched, *_UNREAD)

    def read(self) -> Features:
        """Features, including the reader's if the passage matches well enough."""
        opinion = self._opinion()
        if opinion is None:
            return self.unread
        entailed = min(max(opinion.entailed, ENTAILED_RANGE[0]), ENTAILED_RANGE[1])
        contradicted = min(max(opinion.contradicted, CONTRADICTED_RANGE[0]), CONTRADICTED_RANGE[1])
        return Features(*self.matched, entailed, contradicted)

    @property
    def is_contrary(self) -> bool:
        """Whether the reader finds a contradiction, and not just that something is missing."""
        opinion = self._opinion()
        if opinion is None:
            return False
        return opinion.contradicted > _CONTRADICTED_FROM - _CONTRADICTED_SLOPE * opinion.entailed

    def _opinion(self) -> Opinion | None:
        if self.unread.passage_mean < _LEAST:
            return None
        return judge(_in_notation(self.statement, self._in_order), self.text)


@lru_cache(maxsize=16)
def read_text(text: str) -> Text:
    """Split a text into sentences."""
    found = []
    for piece in split_passages(text):
        checkpoint()
        found.append(read_sentence(piece.text, piece.span.start))
    return Text(found)


@lru_cache(maxsize=8192)
def split_fact(fact: str) -> tuple[Sentence, ...]:
    """Split a fact into sentences, usually one; the whole fact if no sentence is found."""
    return read_text(fact).sentences or (read_sentence(fact),)


def passages(statement: Sentence, text: Text) -> Iterator[Passage]:
    """Yield passages of a text that may entail a statement, best match first.

    Two sentences form a passage if each improves the match of the other.
    """
    near = (text if _ASKS.search(statement.text) else text.statements).nearest(statement)
    fact = encode(statement.text)
    if not len(fact.vectors) or not near.sentences:
        return
    vectors, starts = near.vectors
    # einsum stays on this thread; `@` starts others, which costs more than they save
    cosines = np.einsum("ik,jk->ij", fact.vectors.astype(np.float32), vectors)
    matches = np.maximum.reduceat(cosines, starts, axis=1).T
    by_word = _pieces_by_word(statement, fact)
    whole = matches.max(axis=0)
    worst = np.sort(whole[[piece for pieces in by_word.values() for piece in pieces]])
    third = float(worst[: max(1, len(worst) // 3)].mean())
    for places in _in_order(matches):
        checkpoint()
        here = matches[list(places)].max(axis=0)
        yield Passage(
            statement,
            tuple(near.sentences[at] for at in places),
            (third, float(here.mean())),
            tuple(word for word, pieces in by_word.items() if here[pieces].max() < _NEAR),
        )


def _in_order(matches: FloatArray) -> list[tuple[int, ...]]:
    """Indices of sentences and complementary pairs, by descending mean match."""
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


def _in_notation(fact: Sentence, passages: Sequence[Sentence]) -> str:
    """Rewrite equal numbers and dates of a fact in the notation of the passages."""
    edits: list[tuple[int, int, str]] = []
    for passage in passages:
        for quantity in fact.quantities:
            equal = next((q for q in passage.quantities if _equal(quantity, q)), None)
            if equal is not None:
                edits.append((quantity.start, quantity.end, passage.value(equal)))
        for moment in fact.moments:
            alike = next((m for m in passage.moments if {*moment.keys} <= {*m.keys}), None)
            if alike is not None:
                start, end = fact.words[moment.first].start, fact.words[moment.last - 1].end
                edits.append((start, end, passage.value(alike)))
    text, before = fact.text, len(fact.text) + 1
    for start, end, written in sorted(edits, reverse=True):
        if end <= before:
            text, before = text[:start] + written + text[end:], start
    return text


def _phrases(
    fact: Sentence, uncovered: Container[str], items: Sequence[Quantity | Moment]
) -> tuple[str, ...]:
    """Join uncovered words that stand together, without what is between two clauses."""
    found: list[tuple[int, int]] = []
    is_open = False
    for at, word in enumerate(fact.words):
        if word.text in uncovered:
            first, last = next(
                ((each.first, each.last) for each in items if each.first <= at < each.last),
                (at, at + 1),
            )
            start, end = fact.words[first].start, fact.words[last - 1].end
            if is_open and not _CLAUSE_END.search(fact.text, found[-1][1], start):
                start, end = found[-1][0], max(end, found.pop()[1])
            found.append((start, end))
            is_open = True
        else:
            is_open = is_open and word.kind in {"function", "symbol"}
    return tuple(dict.fromkeys(fact.text[start:end] for start, end in found))


def _states(number: Quantity, fact: Quantity) -> bool:
    """Whether a number of a passage is that of a fact; `up to 50` does not state 23."""
    if number.value == fact.value or _equal(number, fact):
        return True
    return number.low == number.high and agree(number, fact)


def _equal(one: Quantity, other: Quantity) -> bool:
    """Whether two quantities, with their bounds, are equal after unit conversion."""
    pairs = (one.value, other.value), (one.low, other.low), (one.high, other.high)
    return one.kind == other.kind and all(
        sizes(ours, one.units) & sizes(theirs, other.units) for ours, theirs in pairs
    )


def _pieces_by_word(statement: Sentence, reading: Reading) -> dict[str, list[int]]:
    """Word-piece indices of each content word; of the whole statement if it has none."""
    pieces = list(enumerate(reading.spans))
    found: dict[str, list[int]] = {}
    for word in statement.words:
        if word.kind in {"content", "number", "negation"}:
            inside = [at for at, (start, end) in pieces if start < word.end and word.start < end]
            if inside:
                found[word.text] = inside
    return found or {statement.text: [at for at, _ in pieces]}
