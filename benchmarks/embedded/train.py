"""Trains the reader: eight layers of all-mpnet-base-v2 that read a fact together with a passage.

    python -m benchmarks.embedded.train ../shared/data ENCODERS_FOLDER ROOM --hours 10
    python -m benchmarks.embedded.train ../shared/data ENCODERS_FOLDER ROOM --finish 20000

Meant for the background: goes on from the last checkpoint in ROOM, writes one every ten minutes,
and can be stopped at any time. It starts from the reader that the package ships, or with
`--fresh` from the published encoder. The rate is constant until `--finish` lets it fall to nothing.
Needs torch and transformers, which the package does not; on two cores 8 to 12 pairs a second.

A passage has up to four sentences: those of a longer text that together match the statement best,
as the judge chooses them. To some shorter texts, a sentence of another one is added.
"""

from __future__ import annotations

import argparse
import pickle
import random
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import nn
from transformers import AutoTokenizer, MPNetModel

from benchmarks.auroc import auroc
from benchmarks.embedded.export import unpack_reader
from benchmarks.embedded.graph import MPNET
from benchmarks.embedded.pairs import SHARES, Pair, load_pairs, load_written
from factcheck.judges.local.encoder import encode
from factcheck.judges.local.sentences import split_passages

SEED = 0
BATCH = 32
CHUNK = 40
"""Batches drawn together and sorted by length, so that little is padding."""
RATE, HEAD_FACTOR = 2e-5, 3.0
WARM_UP = 200
CHECKPOINT_S = 600.0
N_FROZEN = 2
"""Lowest layers that stay as they are, with the embeddings."""
CONTRADICTED = 0.3
"""Share of the second question, whether the passage contradicts, in the loss."""
INNER = 256
LONGEST_FACT, LONGEST_PASSAGE = 60, 196
MOST_SENTENCES = 4
WITH_OTHERS = 0.25
"""Share of the passages of one or two sentences to which others are added."""
ENTAILED = 0.45
"""Share of the entailed examples of a source."""
N_TRIES = 50
N_HELD_OUT = 60
"""Held-out examples of a source that are looked at."""
START, PADDING, END = 0, 1, 2


class Example(NamedTuple):
    """A pair as word pieces."""

    source: str
    label: str
    fact: list[int]
    sentences: list[list[int]]
    """Those of the text that match best together, best first."""
    places: list[int]
    """Where they stand in the text."""
    is_cut: bool
    """Whether the text has more."""


class Reader(nn.Module):  # type: ignore[misc]
    """The first layers of MPNet, and a head over the first state and the mean over the fact."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.body = MPNetModel.from_pretrained(folder, add_pooling_layer=False)
        self.body.encoder.layer = self.body.encoder.layer[: MPNET.n_layers]
        for part in (self.body.embeddings, *self.body.encoder.layer[:N_FROZEN]):
            part.requires_grad_(requires_grad=False)
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


def cover(fact: str, sentences: Sequence[str], most: int) -> list[int]:
    """The sentences that together match the word pieces of a fact best, in the order of gain."""
    own, *readings = map(encode, [fact, *sentences])
    matches = np.stack(
        [(own.vectors.astype(np.float32) @ each.vectors.astype(np.float32).T).max(1, initial=-1.0)
         for each in readings]
    )  # fmt: skip
    chosen: list[int] = []
    so_far = np.full(matches.shape[1], -1.0)
    while len(chosen) < min(most, len(sentences)):
        gains = np.maximum(matches, so_far).mean(1)
        gains[chosen] = -np.inf
        chosen.append(int(gains.argmax()))
        so_far = np.maximum(so_far, matches[chosen[-1]])
    return chosen


def prepare(pairs: Sequence[Pair], folder: Path) -> list[Example]:
    """The pairs as word pieces."""
    tokenizer = AutoTokenizer.from_pretrained(folder)

    def cut(texts: list[str]) -> list[list[int]]:
        pieces: list[list[int]] = tokenizer(texts, add_special_tokens=False)["input_ids"]
        return pieces

    examples = []
    started = time.monotonic()
    for number, pair in enumerate(sorted(pairs)):
        sentences = [piece.text for piece in split_passages(pair.text)] or [pair.text]
        places = list(range(len(sentences)))
        if len(sentences) > MOST_SENTENCES:
            places = cover(pair.fact, sentences, MOST_SENTENCES)
        examples.append(
            Example(
                pair.source,
                pair.label,
                cut([pair.fact])[0][:LONGEST_FACT],
                cut([sentences[at] for at in places]),
                places,
                len(sentences) > len(places),
            )
        )
        if number % 10_000 == 0:
            print(
                f"prepared {number} of {len(pairs)}, {time.monotonic() - started:.0f} s", flush=True
            )
    return examples


def passage_of(example: Example, others: Sequence[Example], draw: random.Random) -> list[int]:
    """The word pieces of a passage: some of the sentences in text order, or with one of another."""
    count = len(example.sentences)
    if example.is_cut:
        count = draw.choice((2, 3, 4, 4))
    kept = sorted(range(len(example.sentences))[:count], key=lambda at: example.places[at])
    sentences = [example.sentences[at] for at in kept]
    if len(sentences) < MOST_SENTENCES - 1 and draw.random() < WITH_OTHERS:
        for _ in range(draw.choice((1, 2))):
            other = draw.choice(draw.choice(others).sentences)
            sentences.insert(draw.choice((0, len(sentences))), other)
    pieces = [piece for sentence in sentences for piece in sentence]
    return pieces[:LONGEST_PASSAGE]


class Row(NamedTuple):
    """An example as the reader takes it: start, fact, end, end, passage, end."""

    pieces: list[int]
    n_fact: int
    """Word pieces of the fact, and the first mark after it."""
    label: str


def row_of(example: Example, others: Sequence[Example], draw: random.Random) -> Row:
    passage = passage_of(example, others, draw)
    return Row(
        [START, *example.fact, END, END, *passage, END], len(example.fact) + 1, example.label
    )


def batches(by_source: Mapping[str, Sequence[Example]], chunk: int) -> Iterator[list[Row]]:
    """The batches of one chunk; the same for the same number."""
    draw = random.Random(f"{SEED}:{chunk}")  # noqa: S311 - not for secrets
    names = [name for name in SHARES if by_source.get(name)]
    sources = draw.choices(names, [SHARES[name] for name in names], k=CHUNK * BATCH)
    rows = [row_of(_drawn(by_source[name], draw), by_source[name], draw) for name in sources]
    rows.sort(key=lambda row: len(row.pieces))
    found = [rows[at : at + BATCH] for at in range(0, len(rows), BATCH)]
    draw.shuffle(found)
    yield from found


def _drawn(examples: Sequence[Example], draw: random.Random) -> Example:
    """An example of a source; as many are entailed as in `ENTAILED`, where there are both."""
    is_entailed = draw.random() < ENTAILED
    while True:
        for _ in range(N_TRIES):
            example = draw.choice(examples)
            if (example.label == "entailed") == is_entailed:
                return example
        is_entailed = not is_entailed


def tensors(batch: Sequence[Row], device: str) -> tuple[Any, Any]:
    """A batch as the reader takes it, padded at the end."""
    length = max(len(row.pieces) for row in batch)
    pieces = np.full((len(batch), length), PADDING, np.int64)
    pool = np.zeros((len(batch), length), np.float32)
    for at, row in enumerate(batch):
        pieces[at, : len(row.pieces)] = row.pieces
        pool[at, 1 : row.n_fact + 1] = 1 / row.n_fact
    return torch.from_numpy(pieces).to(device), torch.from_numpy(pool).to(device)


def loss_of(odds: Any, batch: Sequence[Row]) -> Any:
    """Cross-entropy of both questions; of the second only where the label says."""
    labels = [row.label for row in batch]
    entailed = torch.tensor([float(label == "entailed") for label in labels], device=odds.device)
    loss = nn.functional.binary_cross_entropy_with_logits(odds[:, 0], entailed)
    known = torch.tensor([label != "other" for label in labels], device=odds.device)
    if known.any():
        second = nn.functional.binary_cross_entropy_with_logits(odds[known, 1], 1 - entailed[known])
        loss = loss + CONTRADICTED * second
    return loss


def held_out_figures(reader: Reader, examples: Sequence[Example], device: str) -> str:
    """AUROC by source of a fixed sample of held-out examples."""
    draw = random.Random(SEED)  # noqa: S311 - not for secrets
    by_source = _by_source(examples)
    cells, together = [], []
    for name in sorted(by_source):
        some = draw.sample(by_source[name], min(N_HELD_OUT, len(by_source[name])))
        rows = sorted(
            (row_of(each, by_source[name], draw) for each in some), key=lambda r: len(r.pieces)
        )
        found: list[float] = []
        for at in range(0, len(rows), BATCH):
            with torch.no_grad(), torch.autocast(device, dtype=torch.bfloat16):
                found += reader(*tensors(rows[at : at + BATCH], device))[:, 0].float().tolist()
        truth = [row.label == "entailed" for row in rows]
        together += list(zip(truth, found, strict=True))
        if len(set(truth)) == 2:
            cells.append(f"{name} {auroc(found, truth):.3f}")
    truth, found = [t for t, _ in together], [f for _, f in together]
    return f"{auroc(found, truth):.4f}; " + ", ".join(cells)


def _by_source(examples: Sequence[Example]) -> dict[str, list[Example]]:
    found: dict[str, list[Example]] = {}
    for example in examples:
        found.setdefault(example.source, []).append(example)
    return found


def save(path: Path, state: Mapping[str, Any]) -> None:
    """Replace a checkpoint in one step."""
    draft = path.with_suffix(".part")
    torch.save(state, draft)
    draft.replace(path)


def load_examples(data: Path, folder: Path, room: Path) -> tuple[list[Example], list[Example]]:
    """Examples to learn from and held-out ones; prepared once."""
    path = room / "examples.pickle"
    if not path.exists():
        pairs = [*load_pairs(data), *load_written()]
        parts = [[p for p in pairs if p.held_out == held_out] for held_out in (False, True)]
        path.write_bytes(pickle.dumps([prepare(part, folder) for part in parts]))
    learnt, held_out = pickle.loads(path.read_bytes())  # noqa: S301 - written above
    return learnt, held_out


def train(room: Path, reader: Reader, data: Path, folder: Path, options: Any) -> None:
    """Teach the reader until the time is over, or until the rate has fallen to nothing."""
    device = "cuda" if torch.cuda.is_available() else "cpu"
    learnt, held_out = load_examples(data, folder, room)
    by_source = _by_source(learnt)
    reader.to(device).train()
    body = [each for each in reader.body.parameters() if each.requires_grad]
    rates = (RATE, RATE * HEAD_FACTOR)
    parts = zip((body, list(reader.head.parameters())), rates, strict=True)
    optimizer = torch.optim.AdamW(
        [{"params": params, "lr": rate} for params, rate in parts], weight_decay=0.01
    )
    checkpoint, chunk = room / "checkpoint.pt", 0
    if checkpoint.exists():
        state = torch.load(checkpoint)
        reader.load_state_dict(state["reader"])
        optimizer.load_state_dict(state["optimizer"])
        chunk = state["chunk"]
    first, started = chunk, time.monotonic()
    saved = started
    n_chunks = -(-options.finish // (CHUNK * BATCH)) if options.finish else None
    while n_chunks is None or chunk < first + n_chunks:
        losses = []
        for number, batch in enumerate(batches(by_source, chunk)):
            step = chunk * CHUNK + number
            rise = min((step + 1) / WARM_UP, 1.0)
            done = ((chunk - first) * CHUNK + number) / (n_chunks * CHUNK) if n_chunks else 0.0
            for group, rate in zip(optimizer.param_groups, rates, strict=True):
                group["lr"] = rate * rise * (1 - done)
            with torch.autocast(device, dtype=torch.bfloat16):
                odds = reader(*tensors(batch, device))
            loss = loss_of(odds.float(), batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(reader.parameters(), 1.0)
            optimizer.step()
            losses.append(loss.item())
        chunk += 1
        now = time.monotonic()
        pace = (chunk - first) * CHUNK * BATCH / (now - started)
        print(
            f"{chunk * CHUNK * BATCH} pairs, {pace:.1f} a second: loss {np.mean(losses):.4f}",
            flush=True,
        )
        is_over = options.hours is not None and now - started > options.hours * 3600
        if now - saved > CHECKPOINT_S or is_over:
            saved = now
            state = {
                "reader": reader.state_dict(),
                "optimizer": optimizer.state_dict(),
                "chunk": chunk,
            }
            save(checkpoint, state)
            print("held out:", held_out_figures(reader, held_out, device), flush=True)
        if is_over:
            return
    print("held out:", held_out_figures(reader, held_out, device), flush=True)
    save(room / "reader.pt", reader.state_dict())


def main() -> None:
    """Train the reader from its last checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("encoders", type=Path)
    parser.add_argument("room", type=Path, help="folder of checkpoints")
    parser.add_argument("--hours", type=float)
    parser.add_argument("--finish", type=int, default=0, help="pairs over which the rate falls")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--fresh", action="store_true", help="do not start from the shipped reader")
    arguments = parser.parse_args()

    torch.manual_seed(SEED)
    torch.set_num_threads(arguments.threads)
    arguments.room.mkdir(exist_ok=True, parents=True)
    folder = arguments.encoders / "all-mpnet-base-v2"
    reader = Reader(folder)
    if not arguments.fresh:
        missing = reader.load_state_dict(unpack_reader(), strict=False)
        if missing.missing_keys:
            parser.error(f"the shipped reader lacks {missing.missing_keys}")
    train(arguments.room, reader, arguments.data, folder, arguments)


if __name__ == "__main__":
    main()
