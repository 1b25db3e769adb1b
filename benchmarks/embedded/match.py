"""Trains the encoder: six layers of all-MiniLM-L6-v2 that match word pieces of a fact and a text.

    python -m benchmarks.embedded.match ENCODERS_FOLDER ENCODER.pt --minutes 64

Two losses. The best cosine of each word piece of a statement in each sentence is to be that of
all-mpnet-base-v2, which has four times the size (shifted and scaled to the range of MiniLM's). And
whether a written text entails a statement is to follow from the mean and the worst third of these
cosines; statements that differ in a detail only are left to the reader. Needs torch and
transformers; runs on a GPU, or on one core (0.2 batches a second).
"""

from __future__ import annotations

import argparse
import random
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import nn
from transformers import AutoTokenizer, BertModel, MPNetModel

from benchmarks.embedded.export import END, SHIFT, START
from benchmarks.embedded.pairs import Pair, load_written
from factcheck.judges.local.sentences import split_passages
from factcheck.text.words import words

SEED = 7
RATE, HEAD_RATE = 5e-5, 0.02
WARM_UP = 50
TEXTS, STATEMENTS = 4, 14
"""Texts of a batch, and statements of each."""
LIKE_TEACHER, LABELS = 20.0, 0.5
"""Weights of the two losses."""
WEIGHTS = {"true": 1.0, "absent": 1.0, "other_topic": 1.0, "changed": 0.3, "added_detail": 0.3}
"""Of a kind of statement in the second loss; others do not count."""
LONGEST_SENTENCE, LONGEST_FACT = 126, 60
MPNET_START, MPNET_PADDING, MPNET_END = 0, 1, 2


class Strings(NamedTuple):
    """Strings as word pieces, and the positions of the content among them."""

    pieces: list[list[int]]
    content: list[list[int]]


class Pieces:
    """Cuts strings into the word pieces that both encoders share."""

    def __init__(self, folder: Path) -> None:
        self._tokenizer = AutoTokenizer.from_pretrained(folder)

    def cut(self, strings: Sequence[str], longest: int) -> Strings:
        """The first word pieces of each string that has any."""
        options: dict[str, Any] = {"add_special_tokens": False, "return_offsets_mapping": True}
        found = self._tokenizer(list(strings), truncation=True, max_length=longest, **options)
        content = []
        for text, spans in zip(strings, found["offset_mapping"], strict=True):
            inside = [(w.start, w.end) for w in words(text, "en") if w.kind != "function"]
            held = [
                at for at, (a, b) in enumerate(spans) if any(s < b and a < e for s, e in inside)
            ]
            content.append(held or list(range(len(spans))))
        return Strings(found["input_ids"], content)


def encode(model: Any, pieces: Sequence[Sequence[int]]) -> list[Any]:
    """The unit vectors of the word pieces of each string: pieces x width."""
    is_mpnet = isinstance(model, MPNetModel)
    start, padding, end = (MPNET_START, MPNET_PADDING, MPNET_END) if is_mpnet else (START, 0, END)
    shift = SHIFT if is_mpnet else 0
    device = next(model.parameters()).device
    length = max(map(len, pieces)) + 2
    ids = torch.full((len(pieces), length), padding)
    for row, own in enumerate(pieces):
        ids[row, : len(own) + 2] = torch.tensor([start, *(piece + shift for piece in own), end])
    ids = ids.to(device)
    with torch.autocast(device.type, dtype=torch.bfloat16):
        states = model(input_ids=ids, attention_mask=(ids != padding).long()).last_hidden_state
    vectors = nn.functional.normalize(states.float(), dim=-1)
    return [vectors[row, 1 : len(own) + 1] for row, own in enumerate(pieces)]


def best_cosines(fact: Any, sentences: Sequence[Any]) -> Any:
    """For each word piece of a fact, the best cosine in each sentence: pieces x sentences."""
    return torch.stack([(fact @ sentence.T).max(1).values for sentence in sentences], 1)


def batches(draw: random.Random) -> Iterator[list[list[Pair]]]:
    """A few texts of one file with some statements of each, again and again."""
    by_text: dict[tuple[str, str], list[Pair]] = defaultdict(list)
    for pair in load_written():
        if not pair.held_out:
            by_text[pair.source, pair.text].append(pair)
    by_file: dict[str, list[list[Pair]]] = defaultdict(list)
    for (source, _), pairs in by_text.items():
        by_file[source].append(pairs)
    while True:
        groups = []
        for texts in by_file.values():
            draw.shuffle(texts)
            groups += [texts[at : at + TEXTS] for at in range(0, len(texts), TEXTS)]
        draw.shuffle(groups)
        for group in groups:
            yield [draw.sample(pairs, min(STATEMENTS, len(pairs))) for pairs in group]


def losses(
    student: Any, teacher: Any, head: Any, pieces: Pieces, batch: Sequence[Sequence[Pair]]
) -> tuple[Any, Any]:
    """That of the cosines, and that of the labels."""
    texts = [[p.text for p in split_passages(pairs[0].text)] for pairs in batch]
    sentences = pieces.cut([each for text in texts for each in text], LONGEST_SENTENCE).pieces
    pairs = [pair for text in batch for pair in text]
    facts = pieces.cut([pair.fact for pair in pairs], LONGEST_FACT)
    ends = [0]
    for text in texts:
        ends.append(ends[-1] + len(text))
    places = [slice(ends[k], ends[k + 1]) for k, text in enumerate(batch) for _ in text]
    ours = _matches(student, facts.pieces, sentences)
    with torch.no_grad():
        theirs = _matches(teacher, facts.pieces, sentences)
        a, b = (torch.cat([each.flatten() for each in side]) for side in (ours, theirs))
        scale = a.std() / b.std()
        shift = a.mean() - scale * b.mean()
    apart, odds = [], []
    for mine, other, place, content in zip(ours, theirs, places, facts.content, strict=True):
        wanted = scale * other + shift
        best, best_wanted = mine[:, place].max(1).values, wanted[:, place].max(1).values
        apart.append(((mine - wanted) ** 2).mean() + 2 * ((best - best_wanted) ** 2).mean())
        worst = best[content].sort().values
        third = worst[: max(1, len(worst) // 3)].mean()
        odds.append(head[0] * best.mean() + head[1] * third + head[2])
    labels = torch.tensor([float(pair.label == "entailed") for pair in pairs])
    weights = torch.tensor([WEIGHTS.get(pair.phenomenon, 0.0) for pair in pairs])
    error = nn.functional.binary_cross_entropy_with_logits(
        torch.stack(odds), labels.to(head.device), weights.to(head.device), reduction="sum"
    )
    return torch.stack(apart).mean(), error / weights.sum().clamp(min=1)


def _matches(model: Any, facts: Sequence[list[int]], sentences: Sequence[list[int]]) -> list[Any]:
    encoded = encode(model, sentences)
    return [best_cosines(fact, encoded) for fact in encode(model, facts)]


def main() -> None:
    """Train the encoder and save its state."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoders", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--minutes", type=float, required=True)
    arguments = parser.parse_args()

    torch.manual_seed(SEED)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    folder = arguments.encoders / "all-MiniLM-L6-v2"
    pieces = Pieces(folder)
    student = BertModel.from_pretrained(folder, add_pooling_layer=False).to(device).train()
    teacher = MPNetModel.from_pretrained(
        arguments.encoders / "all-mpnet-base-v2", add_pooling_layer=False
    )
    teacher.to(device).eval()
    student.embeddings.requires_grad_(requires_grad=False)
    for module in student.modules():
        if isinstance(module, nn.Dropout):
            module.p = 0.0
    head = torch.tensor([8.0, 4.0, -8.0], device=device, requires_grad=True)
    body = [each for each in student.parameters() if each.requires_grad]
    rates = (RATE, HEAD_RATE)
    optimizer = torch.optim.AdamW(
        [{"params": body}, {"params": [head]}], lr=RATE, weight_decay=0.01
    )
    start = time.monotonic()
    draw = random.Random(SEED)  # noqa: S311 - not for secrets
    for step, batch in enumerate(batches(draw)):
        done = (time.monotonic() - start) / 60 / arguments.minutes
        if done >= 1:
            break
        for group, rate in zip(optimizer.param_groups, rates, strict=True):
            group["lr"] = rate * min((step + 1) / WARM_UP, 1.0) * (1 - done)
        apart, error = losses(student, teacher, head, pieces, batch)
        optimizer.zero_grad()
        (LIKE_TEACHER * apart + LABELS * error).backward()
        nn.utils.clip_grad_norm_(body, 1.0)
        optimizer.step()
        if step % 50 == 0:
            print(f"step {step}: cosines {apart.item():.4f}, labels {error.item():.3f}", flush=True)
    torch.save(student.cpu().state_dict(), arguments.out)


if __name__ == "__main__":
    main()
