"""Trains the reader: eight layers of all-mpnet-base-v2 that read a fact together with a passage.

    python -m benchmarks.embedded.train ../shared/data ENCODERS_FOLDER FIRST.pt --pairs 48000
    python -m benchmarks.embedded.train ../shared/data ENCODERS_FOLDER READER.pt --pairs 58000 \
        --first FIRST.pt --skip 48000

Needs torch and transformers, which the package does not; runs on a GPU, or on two cores (10 to 15
pairs a second with bfloat16). The first run takes the pairs of the data sets in random order. The
second goes on where it ended; every other pair is one of those written for this, taken again and
again, and the embeddings and the first two layers no longer change. Longer texts are cut to the two
sentences that match the statement best, as the judge does.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from transformers import AutoTokenizer, MPNetModel

from benchmarks.embedded.graph import MPNET
from benchmarks.embedded.pairs import Pair, load_pairs, load_written
from factcheck.judges.local.encoder import Reading, load_encoder
from factcheck.judges.local.sentences import split_passages

SEED = 0
BATCH = 32
RATE, RATE_AFTER = 5e-5, 4e-5
"""Of the first run, and of the second."""
HEAD_RATE, HEAD_RATE_AFTER = 5.0, 3.0
"""The head, which starts from nothing, learns so many times as fast."""
FROZEN_AFTER = 2
"""Layers that the second run leaves as they are."""
WARM_UP = 150
CONTRADICTED = 0.3
"""Share of the second question, whether the passage contradicts, in the loss."""
INNER = 256
LONGEST_FACT, LONGEST_PASSAGE = 60, 200
START, PADDING, END = 0, 1, 2


class Example(NamedTuple):
    """A pair as word pieces: start, fact, end, end, passage, end."""

    pieces: list[int]
    n_fact: int
    """Word pieces of the fact, and the first mark after it."""
    label: str


class Reader(nn.Module):  # type: ignore[misc]
    """The first layers of MPNet, and a head over the first state and the mean over the fact."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.body = MPNetModel.from_pretrained(folder, add_pooling_layer=False)
        self.body.encoder.layer = self.body.encoder.layer[: MPNET.n_layers]
        self.body.embeddings.word_embeddings.weight.requires_grad_(requires_grad=False)
        for module in self.modules():
            if isinstance(module, nn.Dropout):
                module.p = 0.0
        self.head = nn.Sequential(nn.Linear(2 * MPNET.width, INNER), nn.Tanh(), nn.Linear(INNER, 2))

    def forward(self, pieces: Any, pool: Any) -> Any:
        """Log odds of entailed and contradicted; both arguments are batch x pieces."""
        mask = (pieces != PADDING).long()
        states = self.body(input_ids=pieces, attention_mask=mask).last_hidden_state
        mean = (states * pool[:, :, None]).sum(1)
        return self.head(torch.cat([states[:, 0], mean], -1))


def match(fact: Reading, sentence: Reading) -> Any:
    """For each word piece of a fact, the best cosine among those of a sentence."""
    ours, theirs = (reading.vectors.astype(np.float32) for reading in (fact, sentence))
    return (ours @ theirs.T).max(axis=1, initial=-1.0)


def passage_of(pair: Pair) -> str:
    """The text, or its two sentences that match the statement best, in text order."""
    sentences = [piece.text for piece in split_passages(pair.text)]
    if len(sentences) <= 2:
        return " ".join(sentences) or pair.text
    fact, *readings = load_encoder().read([pair.fact, *sentences])
    matches = [match(fact, reading) for reading in readings]
    best = max(
        combinations(range(len(sentences)), 2),
        key=lambda two: float(np.maximum(matches[two[0]], matches[two[1]]).mean()),
    )
    return " ".join(sentences[at] for at in best)


def prepare(pairs: Sequence[Pair], folder: Path) -> list[Example]:
    """The pairs as word pieces."""
    tokenizer = AutoTokenizer.from_pretrained(folder)

    def pieces(texts: list[str], longest: int) -> list[list[int]]:
        found = tokenizer(texts, add_special_tokens=False)["input_ids"]
        return [ids[:longest] for ids in found]

    facts = pieces([pair.fact for pair in pairs], LONGEST_FACT)
    passages = pieces([passage_of(pair) for pair in pairs], LONGEST_PASSAGE)
    return [
        Example([START, *fact, END, END, *passage, END], len(fact) + 1, pair.label)
        for pair, fact, passage in zip(pairs, facts, passages, strict=True)
    ]


def batches(examples: Iterable[Example], draw: random.Random) -> Iterator[list[Example]]:
    """Batches of examples of about one length, in random order within a few thousand."""
    rest = iter(examples)
    while part := sorted(islice(rest, 50 * BATCH), key=lambda each: len(each.pieces)):
        found = [part[at : at + BATCH] for at in range(0, len(part), BATCH)]
        draw.shuffle(found)
        yield from found


def endless(examples: Sequence[Example], draw: random.Random) -> Iterator[Example]:
    """The examples in random order, again and again."""
    while True:
        yield from draw.sample(examples, len(examples))


def alternate(one: Iterable[Example], other: Iterable[Example]) -> Iterator[Example]:
    for pair in zip(one, other, strict=False):
        yield from pair


def tensors(batch: Sequence[Example], device: str) -> tuple[Any, Any]:
    """A batch as the reader takes it, padded at the end."""
    length = max(len(example.pieces) for example in batch)
    pieces = np.full((len(batch), length), PADDING, np.int64)
    pool = np.zeros((len(batch), length), np.float32)
    for row, example in enumerate(batch):
        pieces[row, : len(example.pieces)] = example.pieces
        pool[row, 1 : example.n_fact + 1] = 1 / example.n_fact
    return torch.from_numpy(pieces).to(device), torch.from_numpy(pool).to(device)


def loss_of(odds: Any, batch: Sequence[Example]) -> Any:
    """Cross-entropy of both questions; of the second only where the label says."""
    labels = [example.label for example in batch]
    entailed = torch.tensor([float(label == "entailed") for label in labels], device=odds.device)
    loss = nn.functional.binary_cross_entropy_with_logits(odds[:, 0], entailed)
    known = torch.tensor([label != "other" for label in labels], device=odds.device)
    if known.any():
        second = nn.functional.binary_cross_entropy_with_logits(odds[known, 1], 1 - entailed[known])
        loss = loss + CONTRADICTED * second
    return loss


def train(reader: Reader, examples: Iterable[Example], n_pairs: int, *, is_second: bool) -> None:
    """Teach a reader so many pairs, at a rate that rises at first and then falls to nothing."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    reader.to(device).train()
    if is_second:
        for part in (reader.body.embeddings, *reader.body.encoder.layer[:FROZEN_AFTER]):
            part.requires_grad_(requires_grad=False)
    rate, head_rate = (RATE_AFTER, HEAD_RATE_AFTER) if is_second else (RATE, HEAD_RATE)
    body = [each for each in reader.body.parameters() if each.requires_grad]
    rates = (rate, rate * head_rate)
    parts = zip((body, list(reader.head.parameters())), rates, strict=True)
    optimizer = torch.optim.AdamW(
        [{"params": params, "lr": rate} for params, rate in parts], weight_decay=0.01
    )
    n_steps = -(-n_pairs // BATCH)
    draw = random.Random(SEED)  # noqa: S311 - not for secrets
    for step, batch in enumerate(islice(batches(examples, draw), n_steps)):
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * min((step + 1) / WARM_UP, 1.0) * (1 - step / n_steps)
        with torch.autocast(device, dtype=torch.bfloat16):
            odds = reader(*tensors(batch, device))
        loss = loss_of(odds.float(), batch)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
        optimizer.step()
        if step % 100 == 0:
            print(f"step {step} of {n_steps}: loss {loss.item():.3f}", flush=True)
    reader.cpu()


def main() -> None:
    """Train the reader and save its state."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("encoders", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--pairs", type=int, required=True, help="how many to learn from")
    parser.add_argument("--first", type=Path, help="the reader of the first run")
    parser.add_argument("--skip", type=int, default=0, help="pairs that the first run has seen")
    arguments = parser.parse_args()

    torch.manual_seed(SEED)
    draw = random.Random(SEED)  # noqa: S311 - not for secrets
    folder = arguments.encoders / "all-mpnet-base-v2"
    pairs = [pair for pair in load_pairs(arguments.data) if not pair.held_out]
    examples: Iterable[Example] = islice(
        endless(prepare(pairs, folder), draw), arguments.skip, None
    )
    reader = Reader(folder)
    if arguments.first:
        reader.load_state_dict(torch.load(arguments.first))
        written = [pair for pair in load_written() if not pair.held_out]
        examples = alternate(examples, endless(prepare(written, folder), draw))
    train(reader, examples, arguments.pairs, is_second=bool(arguments.first))
    torch.save(reader.state_dict(), arguments.out)


if __name__ == "__main__":
    main()
