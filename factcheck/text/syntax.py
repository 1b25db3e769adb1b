"""Dependency parser for English: part-of-speech tags, dependencies and named entities.

A network with 0.9 million weights parses one sentence at a time in onnxruntime. It was distilled
from spaCy's `en_core_web_sm` (MIT); `benchmarks/embedded/syntax.py` trains and measures it. Tags
follow the Penn Treebank, relations ClearNLP, entities OntoNotes.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import TYPE_CHECKING, Any, NamedTuple
from zlib import crc32

import numpy as np

from factcheck.text.weights import open_session, read_weights
from factcheck.text.words import english_ranks, names_of_parser

if TYPE_CHECKING:
    import onnxruntime

LONGEST = 160
"""Maximum number of tokens in a sentence; time grows quadratically."""
_TITLE_WORD = r"(?:[A-Z0-9][^\s\"\u201c\u201d]*|of|the|and|in|an?|to|for|on|at|with|from|by|&|-)"
_TITLE = re.compile(rf"[\"\u201c](?=[A-Z0-9]){_TITLE_WORD}(?: {_TITLE_WORD}){{0,9}}[\"\u201d]")
"""`"The Leftovers"`: read as one name."""
_CODE = r"(?:[A-Za-z]{0,8}[A-Z][A-Za-z]{0,8}-\d{1,4}[A-Za-z]?\b|(?<!\w)#\w{1,40})"
"""`F-35` and `#4821`: each read as one name, too."""
_TOKEN = re.compile(
    rf"(?-i:{_CODE})|"
    r"https?://\S+|www\.\S+|[A-Za-z][^\W_]{0,40}(?:(?:\.|_{1,2})[^\W_]{1,40}){1,8}\(\)"
    r"|[A-Za-z][A-Za-z0-9]{0,40}(?:_[A-Za-z0-9]{1,40}){1,8}|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{0,64}\w"
    r"|(?:[A-Za-z]\.){2,}|\b[A-Z]\.(?=\s)"
    r"|\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Gov|Sen|Rep|No|"
    r"vs|etc|approx|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Bros)\."
    r"|\d+(?:[.,:]\d+)*(?:(?:st|nd|rd|th|s)\b)?"
    r"|\bcan(?=not\b)|[^\W\d_]+(?=n['\u2019]t\b)|n['\u2019]t\b|['\u2019](?:s|re|ve|ll|d|m)\b"
    r"|[^\W_]+(?:['\u2019](?!(?:s|re|ve|ll|d|m)\b)[^\W\d_]+)*"
    r"|\.\.\.|--+|[^\s]",
    re.IGNORECASE,
)
_SUFFIXES, _PREFIXES, _SHAPES = 2000, 1500, 256
_RUN = re.compile(r"(.)\1{3,}")


class Token(NamedTuple):
    """A token of a parsed sentence."""

    text: str
    start: int
    """Offset in the sentence."""
    tag: str
    head: int
    """Index of the head; that of the token itself for the root."""
    relation: str
    entity: str
    """Entity type (`PERSON`, `DATE`); empty outside entities."""
    sure: float = 1.0
    """Probability of the head, in [0, 1]."""


def tokenize(text: str) -> list[tuple[str, int]]:
    """Split a text into words and punctuation, each with its offset."""
    words = []
    end = 0
    for title in [*_TITLE.finditer(text), None]:
        until = title.start() if title else len(text)
        words += [(m.group(), m.start()) for m in _TOKEN.finditer(text, end, until)]
        if title:
            words.append((title.group(), title.start()))
            end = title.end()
    return words


@lru_cache(maxsize=4096)
def parse(sentence: str) -> tuple[Token, ...]:
    """Parse a sentence; empty if it has more than `LONGEST` tokens."""
    words = tokenize(sentence)
    if not words or len(words) > LONGEST:
        return ()
    features = encode([word for word, _ in words], english_ranks())
    arcs, relations, tags, entities = _network().run(None, {"features": features})
    heads = tree(arcs)
    names = names_of_parser()
    places = np.arange(len(words))
    chosen = relations[places, heads].tolist()
    sure = np.exp(arcs[places, heads]).tolist()
    rows = zip(words, heads, tags.tolist(), entities.tolist(), chosen, sure, strict=True)
    return tuple(
        Token(
            text,
            start,
            names["tags"][tag],
            head,
            "ROOT" if head == place else names["relations"][relation],
            names["entities"][entity],
            share,
        )
        for place, ((text, start), head, tag, entity, relation, share) in enumerate(rows)
    )


def encode(words: Sequence[str], known: Mapping[str, int]) -> Any:
    """Encode words by form, suffix, prefix and shape.

    Returns:
        Integer array of shape (words, 4): rows in the four embedding tables.
    """
    codes = [_codes(word.replace("\u2019", "'")) for word in words]
    features = [
        (known.get(form, 0), suffix, prefix, shape) for form, suffix, prefix, shape in codes
    ]
    return np.array(features, np.int64)


@lru_cache(maxsize=20_000)
def _codes(word: str) -> tuple[str, int, int, int]:
    is_title = word[0] in '"\u201c' and len(word) > 1
    if is_title or re.fullmatch(_CODE, word):
        word = "Hamlet"
    form = re.sub(r"\d", "0", word.lower())
    shape = _RUN.sub(r"\1\1\1", "".join(map(_class_of, word[:40])))
    return (
        form,
        crc32(form[-3:].encode(errors="replace")) % _SUFFIXES,
        crc32(form[:3].encode(errors="replace")) % _PREFIXES,
        crc32(shape.encode(errors="replace")) % _SHAPES,
    )


def _class_of(letter: str) -> str:
    if letter.isupper():
        return "X"
    if letter.islower():
        return "x"
    return "d" if letter.isdigit() else letter


def tree(arcs: Any) -> list[int]:
    """Return the head of each word so that they form a tree, given scores of word (row) by head.

    Starts from the best head of each word; a cycle is broken by moving the word that loses least
    to a head outside.
    """
    count = len(arcs)
    root = int(np.argmax(np.diagonal(arcs)))
    arcs = arcs.copy()
    arcs[np.arange(count), np.arange(count)] = -np.inf
    heads = [int(head) for head in np.argmax(arcs, axis=1)]
    heads[root] = root
    while loose := set(range(count)) - _below(heads, [root]):
        word = min(loose)
        for _ in heads:
            word = heads[word]
        cycle = [word]
        while heads[cycle[-1]] != word:
            cycle.append(heads[cycle[-1]])
        outside = arcs[cycle].copy()
        outside[:, sorted(_below(heads, cycle))] = -np.inf
        losses = outside.max(axis=1) - arcs[cycle, [heads[i] for i in cycle]]
        moved = int(np.argmax(losses))
        heads[cycle[moved]] = int(np.argmax(outside[moved]))
    return heads


def _below(heads: list[int], words: list[int]) -> set[int]:
    """Return words and all their descendants."""
    found = set(words)
    while more := {i for i, head in enumerate(heads) if head in found and i not in found}:
        found |= more
    return found


@lru_cache(maxsize=1)
def _network() -> onnxruntime.InferenceSession:
    room = resources.files(__package__)
    stored = dict(np.load(io.BytesIO(read_weights(room, "syntax.npz"))))
    weights = {
        key: value.astype(np.float32) * stored[f"{key}.scale"]
        for key, value in stored.items()
        if f"{key}.scale" in stored
    }
    return open_session(read_weights(room, "syntax.onnx"), weights)
