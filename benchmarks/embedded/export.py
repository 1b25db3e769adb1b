"""Packs the frozen encoder and the trained reader into the files that the package ships.

    python -m benchmarks.embedded.export ENCODER_FOLDER WEIGHTS_FOLDER [--reader READER.pt]

writes `encoder.npz`, its graph, the tokenizer and, if one is named, `reader.npz` with its graph,
and prints the size and SHA-256 of each.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.embedded.graph import WIDTH, FloatArray, encoder_graph, quantise, reader_graph

N_LAYERS, SPLIT, N_READER = 10, 8, 2
"""Frozen layers, the one that the reader starts from, and layers of the reader."""
MOST_PIECES = 128
Weights = dict[str, NDArray[Any]]


def layer_matrices(weights: Mapping[str, FloatArray], prefix: str) -> Weights:
    """One layer as the graph names it; the scale of the attention is in the query's weights."""
    attention, scale = f"{prefix}attention.attn.", np.float32((WIDTH // 12) ** -0.5)
    part = {name: weights[f"{attention}{name}.weight"].T for name in "qkvo"}
    bias = {name: weights[f"{attention}{name}.bias"] for name in "qkvo"}
    linear = {
        "qkv": (
            np.concatenate([part["q"] * scale, part["k"], part["v"]], axis=1),
            np.concatenate([bias["q"] * scale, bias["k"], bias["v"]]),
        ),
        "out": (part["o"], bias["o"]),
        "up": tuple(_dense(weights, f"{prefix}intermediate.dense")),
        "down": tuple(_dense(weights, f"{prefix}output.dense")),
    }
    packed: Weights = {}
    for name, (matrix, offset) in linear.items():
        packed |= {f"{name}.{key}": value for key, value in pack(matrix).items()}
        packed[f"{name}.bias"] = offset.astype(np.float16)
    for name, norm in (("first", "attention.LayerNorm"), ("second", "output.LayerNorm")):
        packed |= _norm(weights, f"{prefix}{norm}", name)
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
    return {
        "codes": _two_in_a_byte(parts["codes"]),
        "multipliers": parts["multipliers"],
        "scale": parts["scale"],
    }


def _two_in_a_byte(codes: NDArray[Any]) -> NDArray[Any]:
    unsigned = (codes + 8).astype(np.uint8)
    return unsigned[..., ::2] | (unsigned[..., 1::2] << 4)


def encoder_weights(weights: Mapping[str, FloatArray]) -> Weights:
    """The embeddings and the frozen layers."""
    pieces = quantise(np.ascontiguousarray(weights["embeddings.word_embeddings.weight"].T))
    packed: Weights = {
        "pieces.codes": _two_in_a_byte(pieces["codes"].T),
        "pieces.multipliers": np.ascontiguousarray(pieces["multipliers"].T),
        "pieces.scale": pieces["scale"],
        "positions": weights["embeddings.position_embeddings.weight"][2:][:MOST_PIECES].astype(
            np.float16
        ),
        "distances": weights["encoder.relative_attention_bias.weight"].astype(np.float32),
        **_norm(weights, "embeddings.LayerNorm", "embedding"),
    }
    for number in range(N_LAYERS):
        matrices = layer_matrices(weights, f"encoder.layer.{number}.")
        packed |= {f"layer{number}.{name}": value for name, value in matrices.items()}
    return packed


def reader_weights(weights: Mapping[str, FloatArray]) -> Weights:
    """The trained layers, the segment vectors and the head."""
    packed: Weights = {
        "segments": weights["seg.weight"].astype(np.float32),
        "distances": weights["rel.weight"].astype(np.float32),
        "head.inner": weights["head.0.weight"].T.astype(np.float16),
        "head.inner_bias": weights["head.0.bias"].astype(np.float16),
        "head.outer": weights["head.2.weight"].T.astype(np.float16),
        "head.outer_bias": weights["head.2.bias"].astype(np.float16),
    }
    for number in range(N_READER):
        matrices = layer_matrices(weights, f"layers.{number}.")
        packed |= {f"layer{number}.{name}": value for name, value in matrices.items()}
    return packed


def write(folder: Path, name: str, graph: bytes, weights: Weights) -> None:
    """One graph and its weights."""
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.onnx").write_bytes(graph)
    with (folder / f"{name}.npz").open("wb") as file:
        np.savez(file, allow_pickle=False, **weights)


def slim_tokenizer(text: str) -> str:
    """The tokenizer without padding and truncation."""
    return json.dumps({**json.loads(text), "padding": None, "truncation": None}, ensure_ascii=False)


def main() -> None:
    """Write the files, and print their sizes and digests."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--reader", type=Path)
    arguments = parser.parse_args()

    import safetensors.numpy

    loaded = safetensors.numpy.load_file(arguments.encoder / "model.safetensors")
    encoder = {
        name.removeprefix("mpnet."): array.astype(np.float32) for name, array in loaded.items()
    }
    write(arguments.out, "encoder", encoder_graph(N_LAYERS, SPLIT), encoder_weights(encoder))
    if arguments.reader is not None:
        import torch

        reader = {name: tensor.numpy() for name, tensor in torch.load(arguments.reader).items()}
        inner = len(reader["head.0.bias"])
        write(arguments.out, "reader", reader_graph(N_READER, inner), reader_weights(reader))
    tokenizer = slim_tokenizer((arguments.encoder / "tokenizer.json").read_text("utf-8"))
    (arguments.out / "tokenizer.json").write_text(tokenizer, "utf-8")
    for path in sorted(arguments.out.iterdir()):
        data = path.read_bytes()
        print(f"{hashlib.sha256(data).hexdigest()}  {len(data):>10,}  {path.name}")


if __name__ == "__main__":
    main()
