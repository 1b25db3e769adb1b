"""Builds the ONNX graphs of the encoder and of the reader, and packs their weights in four bits.

Both are stacks of transformer layers as of BERT (Devlin et al. 2019, arXiv:1810.04805); those of
MPNet (Song et al. 2020, arXiv:2004.09297) add a bias for the distance of two positions to the
attention. A weight is stored as `scale[column] * multiplier[block, column] * code`, with a 4-bit
code and a 3-bit multiplier for each block of 64 rows, so that the product of the two integers is
the 7-bit weight that the integer matrix multiplication takes, without rounding again. Activations
are quantised row by row: the states of a token depend on its own string only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

BLOCK = 64
HEADS = 12
CONTRIB = "com.microsoft"
"""Domain of onnxruntime's own operators."""
FloatArray = NDArray[np.float32]


class Shape(NamedTuple):
    """What tells the two stacks apart."""

    width: int
    n_layers: int
    epsilon: float
    """Of the layer norms."""
    has_bias: bool
    """Whether attention is given a bias for distances."""


MINILM = Shape(384, 6, 1e-12, has_bias=False)
MPNET = Shape(768, 8, 1e-5, has_bias=True)
"""Eight of the twelve layers of all-mpnet-base-v2."""


def write_sums(folder: Path, names: Iterable[str]) -> None:
    """Write the `SHA256SUMS` of files, without which the package loads none of them."""
    sums = [
        f"{hashlib.sha256((folder / name).read_bytes()).hexdigest()}  {name}\n" for name in names
    ]
    (folder / "SHA256SUMS").write_text("".join(sums), "utf-8")


def quantise(weight: FloatArray) -> dict[str, NDArray[Any]]:
    """A matrix (rows in, columns out) as codes, multipliers and scales.

    For each column the scale is chosen so that the widest block gets the multiplier 8; for each
    block the multiplier of the least squared error is taken.
    """
    rows, columns = weight.shape
    blocks = weight.reshape(rows // BLOCK, BLOCK, columns)
    widest = np.abs(weight).max(axis=0)
    best_error = np.full(columns, np.inf)
    best: dict[str, NDArray[Any]] = {}
    for shrink in (1.0, 0.95, 0.9, 0.85, 0.8, 0.75):
        scale = np.maximum(widest * shrink / (8 * 7.5), 1e-12).astype(np.float32)
        codes, multipliers, error = _codes(blocks, scale)
        better = error < best_error
        if not best:
            best = {"codes": codes, "multipliers": multipliers, "scale": scale}
        else:
            best["codes"][:, :, better] = codes[:, :, better]
            best["multipliers"][:, better] = multipliers[:, better]
            best["scale"][better] = scale[better]
        best_error = np.where(better, error, best_error)
    return {**best, "codes": best["codes"].reshape(rows, columns)}


def _codes(
    blocks: FloatArray, scale: FloatArray
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    errors, codes = [], []
    for multiplier in range(1, 9):
        step = scale * multiplier
        code = np.clip(np.rint(blocks / step), -8, 7).astype(np.int8)
        errors.append(((code * step - blocks) ** 2).sum(axis=1))
        codes.append(code)
    choice = np.argmin(errors, axis=0)
    code = np.take_along_axis(np.stack(codes), choice[None, :, None, :], axis=0)[0]
    error = np.take_along_axis(np.stack(errors), choice[None], axis=0)[0].sum(axis=0)
    return code, (choice + 1).astype(np.int8), error


class Graph:
    """An ONNX graph under construction; weights are external and given when it is loaded."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.nodes: list[Any] = []
        self.bias = "bias"
        self.strings = ""
        """Shape of the states as strings x pieces x width."""
        self.initializers: list[Any] = []

    def op(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, name: str, value: Any, dtype: int = TensorProto.FLOAT) -> str:
        array = np.asarray(value)
        if name not in {tensor.name for tensor in self.initializers}:
            self.initializers.append(
                helper.make_tensor(name, dtype, array.shape, array.flatten().tolist())
            )
        return name

    def weight(self, name: str, shape: tuple[int, ...], dtype: int = TensorProto.FLOAT) -> str:
        tensor = TensorProto(name=name, data_type=dtype, dims=shape)
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value="weights")
        self.initializers.append(tensor)
        return name

    def flat(self, states: str) -> str:
        """Strings x pieces x width as one row per piece."""
        return self.op(
            "Reshape", states, self.constant("rows", [-1, self.shape.width], TensorProto.INT64)
        )

    def linear(self, states: str, name: str, size: tuple[int, int]) -> str:
        bias = self.weight(f"{name}.bias", (size[1],))
        return self.op("Add", self.product(states, name, size), bias)

    def product(self, states: str, name: str, size: tuple[int, int]) -> str:
        """A product with 8-bit rows, each with a scale of its own."""
        largest = self.op(
            "ReduceMax",
            self.op("Abs", states),
            self.constant("last", [-1], TensorProto.INT64),
            keepdims=0,
        )
        scale = self.op(
            "Add",
            self.op("Mul", largest, self.constant("1/127", 1 / 127)),
            self.constant("tiny", 1e-12),
        )
        zero = self.constant("zero", 128, TensorProto.UINT8)
        zeros = self.op("Expand", zero, self.op("Shape", scale))
        product = self.op(
            "MatMulIntegerToFloat",
            self.op("QuantizeLinear", states, scale, zeros, axis=0),
            self.weight(f"{name}.weight", size, TensorProto.INT8),
            self.constant("unit", 1.0),
            self.weight(f"{name}.scale", (size[1],)),
            zero,
            domain=CONTRIB,
        )
        return self.op(
            "Mul",
            product,
            self.op("Unsqueeze", scale, self.constant("last", [-1], TensorProto.INT64)),
        )

    def norm(self, name: str, *states: str, bias: str = "") -> str:
        """Layer norm of the states, or of the sum of two with a bias."""
        width = (self.shape.width,)
        weights = [self.weight(f"{name}.{part}", width) for part in ("norm", "shift")]
        epsilon = self.shape.epsilon
        if not bias:
            return self.op("LayerNormalization", *states, *weights, axis=-1, epsilon=epsilon)
        weights.append(self.weight(f"{bias}.bias", width))
        kind = "SkipLayerNormalization"
        return self.op(kind, *states, *weights, epsilon=epsilon, domain=CONTRIB)

    def layer(self, states: str, name: str, first: str = "") -> str:
        """One layer over rows; with `first`, only that many pieces of a string are computed."""
        width = self.shape.width
        together = self.linear(states, f"{name}.qkv", (width, 3 * width))
        parts = [f"{name}.{part}" for part in "qkv"]
        together = self.op("Reshape", together, self.strings)
        self.nodes.append(
            helper.make_node(
                "Split", [together], parts, axis=-1, num_outputs=3, name=f"{name}.split"
            )
        )
        bias = self.bias
        if first:
            parts[0] = self.first(parts[0], first, 1)
            bias = self.first(bias, first, 2)
            states = self.flat(self.first(self.op("Reshape", states, self.strings), first, 1))
        mixed = self.op(
            "MultiHeadAttention", *parts, "", "", bias, num_heads=HEADS, scale=1.0, domain=CONTRIB
        )
        attended = self.product(self.flat(mixed), f"{name}.out", (width, width))
        states = self.norm(f"{name}.first", states, attended, bias=f"{name}.out")
        inner = self.op("Gelu", self.linear(states, f"{name}.up", (width, 4 * width)))
        outer = self.product(inner, f"{name}.down", (4 * width, width))
        return self.norm(f"{name}.second", states, outer, bias=f"{name}.down")

    def first(self, states: str, number: str, axis: int) -> str:
        """The first elements along an axis."""
        start = self.constant("start", [0], TensorProto.INT64)
        return self.op(
            "Slice", states, start, number, self.constant(f"axis{axis}", [axis], TensorProto.INT64)
        )

    def stack(self, first: str = "") -> str:
        """`embedded` (strings of one length x pieces x width) to the rows of the last layer."""
        self.strings = self.op(
            "Concat",
            self.op("Shape", "embedded", end=2),
            self.constant("last", [-1], TensorProto.INT64),
            axis=0,
        )
        if not self.shape.has_bias:  # zeros
            pieces = self.op("Shape", "embedded", start=1, end=2)
            one = self.constant("one", [1], TensorProto.INT64)
            self.bias = self.op(
                "ConstantOfShape", self.op("Concat", one, one, pieces, pieces, axis=0)
            )
        states = self.norm("embedding", self.flat("embedded"))
        last = self.shape.n_layers - 1
        for number in range(last + 1):
            states = self.layer(states, f"layer{number}", first if number == last else "")
        return states

    def model(self, output: str, name: str, sizes: list[Any], **inputs: list[Any]) -> bytes:
        """The graph as a file; the bias for distances is 1 x heads x pieces x pieces."""
        self.nodes.append(helper.make_node("Identity", [output], [name]))
        inputs["embedded"] = ["n", "t", self.shape.width]
        if self.shape.has_bias:
            inputs["bias"] = [1, HEADS, "t", "t"]
        graph = helper.make_graph(
            self.nodes,
            "factcheck",
            [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, sizes)],
            self.initializers,
        )
        versions = [helper.make_opsetid("", 20), helper.make_opsetid(CONTRIB, 1)]
        model = helper.make_model(graph, opset_imports=versions, ir_version=9)
        return bytes(model.SerializeToString())


def encoder_graph() -> bytes:
    """Embedded strings to `states`."""
    graph = Graph(MINILM)
    states = graph.op("Reshape", graph.stack(), graph.strings)
    return graph.model(states, "states", ["n", "t", MINILM.width])


def reader_graph(inner: int) -> bytes:
    """An embedded fact with a passage to `odds`; `pool` averages over the pieces of the fact.

    The last layer computes the pieces that `pool` weighs: the start and the fact.
    """
    graph, width = Graph(MPNET), MPNET.width
    states = graph.stack(first=graph.op("Shape", "pool", start=1))
    start = graph.first(states, graph.constant("one", [1], TensorProto.INT64), 0)
    both = graph.op("Concat", start, graph.op("MatMul", "pool", states), axis=-1)
    product = graph.op("MatMul", both, graph.weight("head.inner", (2 * width, inner)))
    hidden = graph.op("Tanh", graph.op("Add", product, graph.weight("head.inner_bias", (inner,))))
    product = graph.op("MatMul", hidden, graph.weight("head.outer", (inner, 2)))
    odds = graph.op("Add", product, graph.weight("head.outer_bias", (2,)))
    return graph.model(odds, "odds", [1, 2], pool=[1, "m"])
