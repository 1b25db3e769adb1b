"""Builds the ONNX graphs of the encoder and of the reader, and packs their weights in four bits.

Both are stacks of transformer layers as of BERT (Devlin et al. 2019, arXiv:1810.04805); those of
MPNet (Song et al. 2020, arXiv:2004.09297) add a bias for the distance of two positions to the
attention. A weight is stored as `scale[column] * multiplier[block, column] * code`, with a 4-bit
code and a 3-bit multiplier for each block of 64 rows, so that the product of the two integers is
the 7-bit weight that the integer matrix multiplication takes, without rounding again. Activations
are quantised row by row: the states of a token depend on its own string only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto, helper

BLOCK = 64
HEADS = 12
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

    def rows(self, states: str) -> tuple[str, str]:
        """The 8-bit rows of some states, and the scale of each."""
        largest = self.op(
            "ReduceMax", self.op("Abs", states), self.constant("last", [-1], TensorProto.INT64)
        )
        scale = self.op(
            "Add",
            self.op("Mul", largest, self.constant("1/127", 1 / 127)),
            self.constant("tiny", 1e-12),
        )
        rounded = self.op("Round", self.op("Div", states, scale))
        shifted = self.op("Add", rounded, self.constant("128", 128.0))
        return self.op("Cast", shifted, to=TensorProto.UINT8), scale

    def linear(self, rows: tuple[str, str], name: str, size: tuple[int, int]) -> str:
        product = self.op(
            "MatMulInteger",
            rows[0],
            self.weight(f"{name}.weight", size, TensorProto.INT8),
            self.constant("zero", 128, TensorProto.UINT8),
        )
        scaled = self.op(
            "Mul",
            self.op("Cast", product, to=TensorProto.FLOAT),
            self.weight(f"{name}.scale", (size[1],)),
        )
        return self.op(
            "Add", self.op("Mul", scaled, rows[1]), self.weight(f"{name}.bias", (size[1],))
        )

    def norm(self, states: str, name: str) -> str:
        return self.op(
            "LayerNormalization",
            states,
            self.weight(f"{name}.norm", (self.shape.width,)),
            self.weight(f"{name}.shift", (self.shape.width,)),
            axis=-1,
            epsilon=self.shape.epsilon,
        )

    def layer(self, states: str, name: str) -> str:
        width = self.shape.width
        together = self.linear(self.rows(states), f"{name}.qkv", (width, 3 * width))
        parts = [f"{name}.{part}" for part in "qkv"]
        self.nodes.append(
            helper.make_node(
                "Split", [together], parts, axis=-1, num_outputs=3, name=f"{name}.split"
            )
        )
        shape = self.constant("heads", [0, 0, HEADS, width // HEADS], TensorProto.INT64)
        query, key, value = (self.op("Reshape", part, shape) for part in parts)
        query = self.op("Transpose", query, perm=[0, 2, 1, 3])
        key = self.op("Transpose", key, perm=[0, 2, 3, 1])
        value = self.op("Transpose", value, perm=[0, 2, 1, 3])
        scores = self.op("MatMul", query, key)
        if self.shape.has_bias:
            scores = self.op("Add", scores, "bias")
        mixed = self.op("MatMul", self.op("Softmax", scores, axis=-1), value)
        mixed = self.op(
            "Reshape",
            self.op("Transpose", mixed, perm=[0, 2, 1, 3]),
            self.constant("flat", [0, 0, width], TensorProto.INT64),
        )
        attended = self.linear(self.rows(mixed), f"{name}.out", (width, width))
        states = self.norm(self.op("Add", states, attended), f"{name}.first")
        inner = self.op("Gelu", self.linear(self.rows(states), f"{name}.up", (width, 4 * width)))
        outer = self.linear(self.rows(inner), f"{name}.down", (4 * width, width))
        return self.norm(self.op("Add", states, outer), f"{name}.second")

    def stack(self) -> str:
        """`embedded` (strings of one length x pieces x width) to the states of the last layer."""
        states = self.norm("embedded", "embedding")
        for number in range(self.shape.n_layers):
            states = self.layer(states, f"layer{number}")
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
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=9)
        return bytes(model.SerializeToString())


def encoder_graph() -> bytes:
    """Embedded strings to `states`."""
    graph = Graph(MINILM)
    return graph.model(graph.stack(), "states", ["n", "t", MINILM.width])


def reader_graph(inner: int) -> bytes:
    """Embedded facts with passages to `odds`; `pool` averages over the pieces of the fact."""
    graph, width = Graph(MPNET), MPNET.width
    states = graph.stack()
    first = graph.op("Gather", states, graph.constant("start", [0], TensorProto.INT64), axis=1)
    both = graph.op("Concat", first, graph.op("MatMul", "pool", states), axis=-1)
    both = graph.op("Squeeze", both, graph.constant("one", [1], TensorProto.INT64))
    product = graph.op("MatMul", both, graph.weight("head.inner", (2 * width, inner)))
    hidden = graph.op("Tanh", graph.op("Add", product, graph.weight("head.inner_bias", (inner,))))
    product = graph.op("MatMul", hidden, graph.weight("head.outer", (inner, 2)))
    odds = graph.op("Add", product, graph.weight("head.outer_bias", (2,)))
    return graph.model(odds, "odds", ["n", 2], pool=["n", 1, "t"])
