"""Dependency parser for English: part-of-speech tags, dependencies and named entities.

A network with 0.9 million weights parses one sentence at a time in NumPy. It was distilled from
spaCy's `en_core_web_sm` (MIT); `benchmarks/embedded/syntax.py` trains and measures it. Tags follow
the Penn Treebank, relations ClearNLP, entities OntoNotes.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np

from factcheck.text.matrices import multiply
from factcheck.text.words import english_ranks, names_of_parser

LONGEST = 160
"""Maximum number of tokens in a sentence; time grows quadratically."""
_TITLE_WORD = r"(?:[A-Z0-9][^\s\"\u201c\u201d]*|of|the|and|in|an?|to|for|on|at|with|from|by|&|-)"
_TITLE = re.compile(rf"[\"\u201c](?=[A-Z0-9]){_TITLE_WORD}(?: {_TITLE_WORD}){{0,9}}[\"\u201d]")
"""`"The Leftovers"`: read as one name."""
_TOKEN = re.compile(
    r"https?://\S+|www\.\S+|[\w.+-]{1,64}@[\w-]{1,64}\.[\w.-]{0,64}\w"
    r"|(?:[A-Za-z]\.){2,}|\b[A-Z]\.(?=\s)"
    r"|\b(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Inc|Ltd|Co|Corp|Gen|Col|Capt|Lt|Sgt|Rev|Hon|Gov|Sen|Rep|No|"
    r"vs|etc|approx|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\."
    r"|\d+(?:[.,:]\d+)*(?:(?:st|nd|rd|th|s)\b)?"
    r"|[^\W\d_]+(?=n['\u2019]t\b)|n['\u2019]t\b|['\u2019](?:s|re|ve|ll|d|m)\b"
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
    model = _model()
    states = model.read(encode([word for word, _ in words], model.words))
    arcs = model.arcs(states)
    odds = np.exp(arcs - arcs.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    heads = tree(np.log(odds))
    labels = model.labels(states, heads)
    tags, entities = (model.classes(states, kind) for kind in ("tag", "entity"))
    names = model.names
    return tuple(
        Token(
            text,
            start,
            names["tags"][tags[i]],
            heads[i],
            "ROOT" if heads[i] == i else names["relations"][labels[i]],
            names["entities"][entities[i]],
            float(odds[i, heads[i]]),
        )
        for i, (text, start) in enumerate(words)
    )


def encode(words: list[str], known: Mapping[str, int]) -> Any:
    """Encode words by form, suffix, prefix and shape.

    Returns:
        Integer array of shape (words, 4): rows in the four embedding tables.
    """
    return np.array([_features(word.replace("\u2019", "'"), known) for word in words])


def _features(word: str, known: Mapping[str, int]) -> tuple[int, int, int, int]:
    if word[0] in '"\u201c' and len(word) > 1:
        word = "Hamlet"
    form = re.sub(r"\d", "0", word.lower())
    shape = "".join(
        "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word[:40]
    )
    shape = _RUN.sub(r"\1\1\1", shape)
    return (
        known.get(form, 0),
        crc32(form[-3:].encode(errors="replace")) % _SUFFIXES,
        crc32(form[:3].encode(errors="replace")) % _PREFIXES,
        crc32(shape.encode(errors="replace")) % _SHAPES,
    )


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


class _Model:
    """The network with its weights."""

    def __init__(
        self, weights: dict[str, Any], names: Mapping[str, list[str]], words: Mapping[str, int]
    ) -> None:
        self.names = names
        self.words = words
        self._weights = weights

    def read(self, features: Any) -> Any:
        """Return the states of words, of shape (words, width)."""
        w = self._weights
        x = np.concatenate(
            [w[f"embed{k}"][features[:, k]] for k in range(features.shape[1])], axis=1
        )
        x = self._dense(x, "in")
        for layer in range(2):
            padded = np.pad(_normal(x), ((1, 1), (0, 0)))
            window = np.concatenate([padded[:-2], padded[1:-1], padded[2:]], axis=1)
            x = x + np.maximum(self._dense(window, f"conv{layer}"), 0)
        for layer in range(3):
            x = x + self._attend(_normal(x), layer)
            hidden = np.maximum(self._dense(_normal(x), f"up{layer}"), 0)
            x = x + self._dense(hidden, f"down{layer}")
        return _normal(x)

    def arcs(self, states: Any) -> Any:
        """Return the scores of word by head."""
        child, parent = (np.maximum(self._dense(states, k), 0) for k in ("child", "parent"))
        scores = multiply(multiply(child, self._weights["arc"]), parent.T)
        return scores + parent @ self._weights["arc_b"]

    def labels(self, states: Any, heads: list[int]) -> list[int]:
        """Return the relation of each word to its head."""
        child, parent = (np.maximum(self._dense(states, k), 0) for k in ("childl", "parentl"))
        above = parent[heads]
        n_labels = len(self.names["relations"])
        bilinear = multiply(child, self._weights["label"]).reshape(len(child), n_labels, -1)
        scores = (bilinear * above[:, None]).sum(axis=2)
        scores += multiply(np.concatenate([child, above], axis=1), self._weights["label_pair"])
        found: list[int] = np.argmax(scores, axis=1).tolist()
        return found

    def classes(self, states: Any, kind: str) -> list[int]:
        """Return the class of each word: its tag or its entity."""
        found: list[int] = np.argmax(self._dense(states, kind), axis=1).tolist()
        return found

    def _dense(self, x: Any, name: str) -> Any:
        return multiply(x, self._weights[name]) + self._weights[f"{name}_b"]

    def _attend(self, x: Any, layer: int) -> Any:
        w, n, heads = self._weights, len(x), 4
        q, k, v = (
            part.reshape(n, heads, -1).transpose(1, 0, 2)
            for part in np.split(self._dense(x, f"qkv{layer}"), 3, axis=1)
        )
        far = w[f"distance{layer}"].shape[1] // 2
        apart = np.clip(np.arange(n)[None, :] - np.arange(n)[:, None], -far, far) + far
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[2]) + w[f"distance{layer}"][:, apart]
        scores = np.exp(scores - scores.max(axis=2, keepdims=True))
        mixed = scores / scores.sum(axis=2, keepdims=True) @ v
        return self._dense(mixed.transpose(1, 0, 2).reshape(n, -1), f"out{layer}")


def _normal(x: Any) -> Any:
    centred = x - x.mean(axis=1, keepdims=True)
    return centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + 1e-5)


@lru_cache(maxsize=1)
def _model() -> _Model:
    with resources.files("factcheck.text").joinpath("syntax.npz").open("rb") as file:
        stored = dict(np.load(file))
    weights = {
        key: value.astype(np.float32) * stored[f"{key}.scale"]
        for key, value in stored.items()
        if f"{key}.scale" in stored
    }
    return _Model(weights, names_of_parser(), english_ranks())
