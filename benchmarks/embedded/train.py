"""Trains the reader: two layers over the frozen states of a statement and a passage.

    python -m benchmarks.embedded.train ../shared/data ENCODER_FOLDER WEIGHTS_FOLDER READER.pt

Needs torch and transformers, which the package does not. The states of all sentences are computed
once with the packed encoder, in four bits as it runs, and kept in a file of about 5 GB.
One pass over the pairs takes about 50 minutes on a core with bfloat16.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterator, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from transformers import MPNetModel

from benchmarks.embedded.encoder import Encoder, buckets, match
from benchmarks.embedded.export import N_READER, SPLIT
from benchmarks.embedded.graph import WIDTH
from benchmarks.embedded.pairs import Pair, load_pairs
from factcheck.judges.local.sentences import split_passages

SEED = 0
BATCH = 32
RATE = 1.2e-4
WARM_UP = 80
HEAD_RATE = 5.0
"""The head and the segment vectors, which start from nothing, learn so many times as fast."""
CONTRADICTED = 0.3
"""Share of the second question, whether the passage contradicts, in the loss."""
INNER = 256


class Example(NamedTuple):
    """A pair with the places of its sentences in the file of states."""

    fact: slice
    passage: tuple[slice, ...]
    label: str

    @property
    def length(self) -> int:
        return sum(part.stop - part.start for part in (self.fact, *self.passage))


class Reader(nn.Module):  # type: ignore[misc]
    """Two MPNet layers, which start from those the encoder has next, and a head."""

    def __init__(self, encoder: Path) -> None:
        super().__init__()
        mpnet = MPNetModel.from_pretrained(encoder)
        self.layers = nn.ModuleList(mpnet.encoder.layer[SPLIT : SPLIT + N_READER])
        self.rel = mpnet.encoder.relative_attention_bias
        self.seg = nn.Embedding(2, WIDTH)
        nn.init.zeros_(self.seg.weight)
        self.head = nn.Sequential(nn.Linear(2 * WIDTH, INNER), nn.Tanh(), nn.Linear(INNER, 2))

    def forward(self, states: Any, segments: Any, mask: Any, pool: Any) -> Any:
        """Log odds of entailed and contradicted; all arguments are batch x pieces (x 768)."""
        states = states + self.seg(segments)
        places = torch.from_numpy(buckets(states.shape[1]))
        bias = self.rel(places).permute(2, 0, 1)[None]
        hidden = (1.0 - mask[:, None, None, :]) * -1e4
        for layer in self.layers:
            states = layer(states, hidden, position_bias=bias)
            states = states[0] if isinstance(states, tuple) else states
        mean = (states * pool[:, :, None]).sum(1)
        return self.head(torch.cat([states[:, 0], mean], -1))


def prepare(
    pairs: Sequence[Pair], encoder: Encoder, file: Path
) -> tuple[list[Example], NDArray[np.float16]]:
    """The examples, and the states of all their sentences, kept in a file."""
    texts: dict[str, slice] = {}
    passages = [_nearest(pair, encoder) for pair in pairs]
    sentences = dict.fromkeys(
        text for pair, chosen in zip(pairs, passages, strict=True) for text in (pair.fact, *chosen)
    )
    n_pieces = 0
    with file.open("wb") as out:
        for text in sentences:
            low = encoder.read([text])[0].low
            texts[text] = slice(n_pieces, n_pieces + len(low))
            n_pieces += len(low)
            out.write(low.tobytes())
    examples = [
        Example(texts[pair.fact], tuple(texts[text] for text in chosen), pair.label)
        for pair, chosen in zip(pairs, passages, strict=True)
    ]
    states = np.memmap(file, dtype=np.float16, mode="r", shape=(n_pieces, WIDTH))
    return examples, states


def _nearest(pair: Pair, encoder: Encoder) -> list[str]:
    """The one or two sentences of a text that match the statement best, in text order."""
    sentences = [piece.text for piece in split_passages(pair.text)] or [pair.text]
    if len(sentences) <= 2:
        return sentences
    fact, *readings = encoder.read([pair.fact, *sentences])
    matches = [match(fact, reading) for reading in readings]
    best = max(
        combinations(range(len(sentences)), 2),
        key=lambda two: float(np.maximum(matches[two[0]], matches[two[1]]).mean()),
    )
    return [sentences[at] for at in best]


def batches(examples: Sequence[Example], draw: random.Random) -> Iterator[list[Example]]:
    """Batches of examples of about one length, in random order."""
    order = list(examples)
    draw.shuffle(order)
    for start in range(0, len(order), 40 * BATCH):
        part = sorted(order[start : start + 40 * BATCH], key=lambda example: example.length)
        found = [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
        draw.shuffle(found)
        yield from found


def tensors(batch: Sequence[Example], states: NDArray[np.float16]) -> tuple[Any, ...]:
    """A batch as the reader takes it, padded at the end."""
    length = max(example.length for example in batch)
    values = np.zeros((len(batch), length, WIDTH), np.float32)
    segments = np.ones((len(batch), length), np.int64)
    mask, pool = (np.zeros((len(batch), length), np.float32) for _ in range(2))
    for row, example in enumerate(batch):
        at = 0
        for part in (example.fact, *example.passage):
            values[row, at : at + part.stop - part.start] = states[part]
            at += part.stop - part.start
        n_fact = example.fact.stop - example.fact.start
        segments[row, :n_fact] = 0
        pool[row, :n_fact] = 1 / n_fact
        mask[row, :at] = 1
    return tuple(map(torch.from_numpy, (values, segments, mask, pool)))


def loss_of(odds: Any, batch: Sequence[Example]) -> Any:
    """Cross-entropy of both questions; of the second only where the label says."""
    entailed = torch.tensor([float(example.label == "entailed") for example in batch])
    loss = nn.functional.binary_cross_entropy_with_logits(odds[:, 0], entailed)
    known = torch.tensor([example.label != "other" for example in batch])
    if known.any():
        against = torch.tensor([float(example.label == "contradicted") for example in batch])
        second = nn.functional.binary_cross_entropy_with_logits(odds[known, 1], against[known])
        loss = loss + CONTRADICTED * second
    return loss


def train(
    examples: Sequence[Example], states: NDArray[np.float16], encoder: Path, epochs: int
) -> Reader:
    """A reader after so many passes, at a rate that rises at first and then falls to nothing."""
    torch.manual_seed(SEED)
    draw = random.Random(SEED)  # noqa: S311 - not for secrets
    reader = Reader(encoder)
    reader.train()
    slow = [*reader.layers.parameters(), *reader.rel.parameters()]
    fast = [*reader.head.parameters(), *reader.seg.parameters()]
    rates = (RATE, RATE * HEAD_RATE)
    optimizer = torch.optim.AdamW(
        [{"params": params, "lr": rate} for params, rate in zip((slow, fast), rates, strict=True)],
        weight_decay=0.01,
    )
    n_steps = epochs * -(-len(examples) // BATCH)
    step = 0
    for _ in range(epochs):
        for batch in batches(examples, draw):
            share = min((step + 1) / WARM_UP, 1.0) * max(0.02, 1 - step / n_steps)
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * share
            with torch.autocast("cpu", dtype=torch.bfloat16):
                odds = reader(*tensors(batch, states))
            loss = loss_of(odds.float(), batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimizer.step()
            step += 1
            if step % 100 == 0:
                print(f"step {step} of {n_steps}: loss {loss.item():.3f}", flush=True)
    return reader


def main() -> None:
    """Train the reader and save its state."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("weights", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--epochs", type=int, default=2)
    arguments = parser.parse_args()

    pairs = [pair for pair in load_pairs(arguments.data) if not pair.held_out]
    examples, states = prepare(
        pairs, Encoder(arguments.weights), arguments.out.with_suffix(".states")
    )
    reader = train(examples, states, arguments.encoder, arguments.epochs)
    torch.save(reader.state_dict(), arguments.out)


if __name__ == "__main__":
    main()
