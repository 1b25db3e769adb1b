"""Matrix products of the small networks, kept on the calling thread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    FloatArray = NDArray[np.float32]

_SMALL = 4 * 65_536
"""Multiplications up to which OpenBLAS uses one thread (`GEMM_MULTITHREAD_THRESHOLD`)."""
_ROWS = 64


def multiply(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return `one @ other`, of shapes (m, k) and (k, n), without starting threads.

    For matrices of this size, handing work to other threads costs more than the work, several times
    more on a busy machine; blocks are too small for it.
    """
    (n_rows, depth), n_columns = one.shape, other.shape[1]
    rows = min(n_rows, _ROWS) or 1
    columns = max(1, _SMALL // max(1, rows * depth))
    product = np.empty((n_rows, n_columns), np.result_type(one, other))
    for row in range(0, n_rows, rows):
        for column in range(0, n_columns, columns):
            block = np.s_[row : row + rows, column : column + columns]
            np.matmul(one[block[0]], other[:, block[1]], out=product[block])
    return product
