"""Packs the encoder and the reader into the files that the package ships.

    python -m benchmarks.embedded.export ENCODERS_FOLDER READER.pt [--encoder ENCODER.pt]

writes `encoder.npz`, `reader.npz`, their graphs, the tokenizer and `SHA256SUMS`. Both models read
the same word pieces; those of MPNet are put in the order of BERT's.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.embedded.graph import (
    BLOCK,
    HEADS,
    MINILM,
    MPNET,
    FloatArray,
    Shape,
    encoder_graph,
    quantise,
    reader_graph,
    write_sums,
)

ROOM = Path(__file__).parents[2] / "factcheck/judges/local/weights"
MOST_PIECES = {MINILM: 128, MPNET: 264}
"""Positions that are kept."""
SHIFT = 4
"""MPNet's word pieces are BERT's, behind four marks of its own."""
START, END = 101, 102
"""BERT's places of the marks at the start and the end; MPNet's are 0 and 2."""
Weights = dict[str, NDArray[Any]]


def layer_matrices(weights: Mapping[str, FloatArray], prefix: str, shape: Shape) -> Weights:
    """One layer as the graph names it; the scale of the attention is in the query's weights."""
    scale = np.float32((shape.width // HEADS) ** -0.5)
    if shape is MPNET:
        names = [f"{prefix}attention.attn.{part}" for part in "qkvo"]
        norm = "attention.LayerNorm"
    else:
        names = [f"{prefix}attention.self.{part}" for part in ("query", "key", "value")]
        names.append(f"{prefix}attention.output.dense")
        norm = "attention.output.LayerNorm"
    (q, q0), (k, k0), (v, v0), out = (_dense(weights, name) for name in names)
    linear = {
        "qkv": (np.concatenate([q * scale, k, v], axis=1), np.concatenate([q0 * scale, k0, v0])),
        "out": out,
        "up": _dense(weights, f"{prefix}intermediate.dense"),
        "down": _dense(weights, f"{prefix}output.dense"),
    }
    packed: Weights = {}
    for name, (matrix, offset) in linear.items():
        packed |= {f"{name}.{key}": value for key, value in pack(matrix).items()}
        packed[f"{name}.bias"] = offset.astype(np.float16)
    for name, source in (("first", norm), ("second", "output.LayerNorm")):
        packed |= _norm(weights, f"{prefix}{source}", name)
    return packed


def _dense(weights: Mapping[str, FloatArray], name: str) -> tuple[FloatArray, FloatArray]:
    return weights[f"{name}.weight"].T, weights[f"{name}.bias"]


def _norm(weights: Mapping[str, FloatArray], source: str, name: str) -> Weights:
    return {
        f"{name}.norm": weights[f"{source}.weight"].astype(np.float16),
        f"{name}.shift": weights[f"{source}.bias"].astype(np.float16),
    }


def pack(matrix: FloatArray) -> Weights:
    """A matrix in four bits: two codes in a byte, along the columns."""
    parts = quantise(np.ascontiguousarray(matrix))
    return {**parts, "codes": _two_in_a_byte(parts["codes"])}


def _two_in_a_byte(codes: NDArray[Any]) -> NDArray[Any]:
    unsigned = (codes + 8).astype(np.uint8)
    return unsigned[..., ::2] | (unsigned[..., 1::2] << 4)


def stack_weights(weights: Mapping[str, FloatArray], shape: Shape) -> Weights:
    """The embeddings and the layers of a stack, under the names of its graph."""
    words = weights["embeddings.word_embeddings.weight"]
    positions = weights["embeddings.position_embeddings.weight"]
    packed: Weights = {}
    if shape is MPNET:
        reordered = words[SHIFT:-1].copy()
        reordered[[START, END]] = words[[0, 2]]
        words, positions = reordered, positions[2:]
        packed["distances"] = weights["encoder.relative_attention_bias.weight"]
    else:
        positions = positions + weights["embeddings.token_type_embeddings.weight"][0]
    pieces = quantise(np.ascontiguousarray(words.T))
    packed |= {
        "pieces.codes": _two_in_a_byte(pieces["codes"].T),
        "pieces.multipliers": np.ascontiguousarray(pieces["multipliers"].T),
        "pieces.scale": pieces["scale"],
        "positions": positions[: MOST_PIECES[shape]].astype(np.float16),
        **_norm(weights, "embeddings.LayerNorm", "embedding"),
    }
    for number in range(shape.n_layers):
        matrices = layer_matrices(weights, f"encoder.layer.{number}.", shape)
        packed |= {f"layer{number}.{name}": value for name, value in matrices.items()}
    return packed


def head_weights(weights: Mapping[str, FloatArray]) -> Weights:
    """What stands on top of the reader."""
    return {
        f"head.{name}": weights[source].T.astype(np.float16)
        for name, source in (
            ("inner", "head.0.weight"),
            ("inner_bias", "head.0.bias"),
            ("outer", "head.2.weight"),
            ("outer_bias", "head.2.bias"),
        )
    }


def unpack_reader() -> dict[str, Any]:
    """The reader that ships, as the state of `train.Reader`; the inverse of the packing."""
    import torch

    with np.load(ROOM / "reader.npz") as file:
        packed = dict(file)

    def wide(name: str) -> FloatArray:
        codes = packed[f"{name}.codes"]
        whole = np.empty((*codes.shape[:-1], codes.shape[-1] * 2), np.float32)
        whole[..., ::2], whole[..., 1::2] = (codes & 15).astype(int) - 8, (codes >> 4) - 8.0
        if name == "pieces":
            steps = np.repeat(packed["pieces.multipliers"], BLOCK, axis=1)
            return whole * steps * packed["pieces.scale"][:, None]  # type: ignore[no-any-return]
        steps = np.repeat(packed[f"{name}.multipliers"], BLOCK, axis=0)
        return whole * steps * packed[f"{name}.scale"]  # type: ignore[no-any-return]

    def plain(name: str) -> FloatArray:
        return np.asarray(packed[name], np.float32)

    scale = np.float32((MPNET.width // HEADS) ** -0.5)
    pieces = wide("pieces")
    words = np.concatenate([np.zeros((SHIFT, MPNET.width)), pieces, np.zeros((1, MPNET.width))])
    words[[0, 2]] = pieces[[START, END]]
    positions = np.zeros((514, MPNET.width))
    positions[2 : 2 + len(packed["positions"])] = plain("positions")
    state = {
        "body.embeddings.word_embeddings.weight": words,
        "body.embeddings.position_embeddings.weight": positions,
        "body.encoder.relative_attention_bias.weight": packed["distances"],
        "body.embeddings.LayerNorm.weight": plain("embedding.norm"),
        "body.embeddings.LayerNorm.bias": plain("embedding.shift"),
        "head.0.weight": plain("head.inner").T,
        "head.0.bias": plain("head.inner_bias"),
        "head.2.weight": plain("head.outer").T,
        "head.2.bias": plain("head.outer_bias"),
    }
    for number in range(MPNET.n_layers):
        here, there = f"layer{number}", f"body.encoder.layer.{number}"
        parts = np.split(wide(f"{here}.qkv"), 3, axis=1)
        offsets = np.split(plain(f"{here}.qkv.bias"), 3)
        for part, matrix, offset, factor in zip("qkv", parts, offsets, (scale, 1, 1), strict=True):
            state[f"{there}.attention.attn.{part}.weight"] = (matrix / factor).T
            state[f"{there}.attention.attn.{part}.bias"] = offset / factor
        for name, target in (
            ("out", "attention.attn.o"),
            ("up", "intermediate.dense"),
            ("down", "output.dense"),
        ):
            state[f"{there}.{target}.weight"] = wide(f"{here}.{name}").T
            state[f"{there}.{target}.bias"] = plain(f"{here}.{name}.bias")
        for name, target in (("first", "attention.LayerNorm"), ("second", "output.LayerNorm")):
            state[f"{there}.{target}.weight"] = plain(f"{here}.{name}.norm")
            state[f"{there}.{target}.bias"] = plain(f"{here}.{name}.shift")
    return {
        name: torch.from_numpy(np.ascontiguousarray(array, np.float32))
        for name, array in state.items()
    }


def write(folder: Path, name: str, graph: bytes, weights: Weights) -> None:
    """One graph and its weights."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.onnx").write_bytes(graph)
    with (folder / f"{name}.npz").open("wb") as file:
        np.savez(file, allow_pickle=False, **weights)


def slim_tokenizer(text: str) -> str:
    """The tokenizer without padding, truncation and the marks at both ends."""
    bare = {"padding": None, "truncation": None, "post_processor": None}
    return json.dumps({**json.loads(text), **bare}, ensure_ascii=False)


def main() -> None:
    """Write the files and their digests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoders", type=Path)
    parser.add_argument("reader", type=Path)
    parser.add_argument("--encoder", type=Path, help="trained by match.py; by default as published")
    parser.add_argument("--out", type=Path, default=ROOM)
    arguments = parser.parse_args()

    import safetensors.numpy
    import torch

    minilm = arguments.encoders / "all-MiniLM-L6-v2"
    if arguments.encoder:
        encoder = {name: each.numpy() for name, each in torch.load(arguments.encoder).items()}
    else:
        loaded = safetensors.numpy.load_file(minilm / "model.safetensors")
        encoder = {name: array.astype(np.float32) for name, array in loaded.items()}
    trained = torch.load(arguments.reader)
    reader = {name.removeprefix("body."): tensor.numpy() for name, tensor in trained.items()}
    write(arguments.out, "encoder", encoder_graph(), stack_weights(encoder, MINILM))
    weights = {**stack_weights(reader, MPNET), **head_weights(reader)}
    write(arguments.out, "reader", reader_graph(len(reader["head.0.bias"])), weights)
    tokenizer = slim_tokenizer((minilm / "tokenizer.json").read_text("utf-8"))
    (arguments.out / "tokenizer.json").write_text(tokenizer, "utf-8")
    names = ("encoder.npz", "encoder.onnx", "reader.npz", "reader.onnx", "tokenizer.json")
    write_sums(arguments.out, names)


if __name__ == "__main__":
    main()
