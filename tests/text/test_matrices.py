"""Products in blocks."""

from __future__ import annotations

import numpy as np
import pytest

from factcheck.text.matrices import multiply


@pytest.mark.parametrize(
    "shape",
    [(1, 1, 1), (0, 4, 3), (3, 4, 0), (2, 0, 3), (70, 384, 900), (129, 128, 384), (200, 3000, 9)],
)
def test_a_product_in_blocks_is_the_product(shape: tuple[int, int, int]) -> None:
    rows, depth, columns = shape
    draw = np.random.default_rng(0)
    one = draw.normal(size=(rows, depth)).astype(np.float32)
    other = np.asfortranarray(draw.normal(size=(depth, columns)).astype(np.float32))
    found = multiply(one, other)
    assert found.shape == (rows, columns)
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, one @ other, rtol=1e-4, atol=1e-4)
