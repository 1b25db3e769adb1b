"""Weights, which must be those that the version of the embedded judge covers, and their graphs."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from factcheck.errors import ConfigError

if TYPE_CHECKING:
    from importlib.abc import Traversable

    import onnxruntime
    from numpy.typing import NDArray

os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
"""onnxruntime reads it when it is imported, and from 1.32 on reports its use without it."""


def read_weights(folder: Traversable, name: str) -> bytes:
    """Read a file that is listed in the `SHA256SUMS` of its folder.

    Raises:
        ConfigError: It cannot be read, or is another.
    """
    try:
        sums = (folder / "SHA256SUMS").read_text("utf-8").split()
        data = (folder / name).read_bytes()
    except OSError as error:
        raise ConfigError(
            f"the weights {name} of the embedded judge cannot be read ({error.strerror}); "
            "reinstall factcheck"
        ) from error
    if (hashlib.sha256(data).hexdigest(), name) not in zip(sums[::2], sums[1::2], strict=False):
        raise ConfigError(
            f"the weights {name} of the embedded judge were damaged or replaced, so their verdicts "
            "would not be those of its version; reinstall factcheck"
        )
    return data


def open_session(
    graph: str | bytes, weights: Mapping[str, NDArray[Any]] | None = None
) -> onnxruntime.InferenceSession:
    """Load a graph, given as bytes or by its path, to run on the calling thread alone.

    Args:
        graph: The graph.
        weights: Weights that it names and does not hold.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if weights:
        values = [onnxruntime.OrtValue.ortvalue_from_numpy(each) for each in weights.values()]
        options.add_external_initializers([*weights], values)
    return onnxruntime.InferenceSession(graph, options, providers=["CPUExecutionProvider"])
