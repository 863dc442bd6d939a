"""Distances from sketches of rows, a byte for each number: enough to tell where a close look is needed.

A sketch is off by at most half a 255th of each side of the box, so its distance from a point by at most
b = BLUR times the box's diagonal, with room for the rounding of float32. Whether the true distance is less
than c is open if its square is below (c + b)², which is at most (1 + 1/64) c² + 65 b².
"""

from __future__ import annotations

import numpy as np
from numba import njit

from samekind.points.kernels.leaves import LEAF

BLUR = 0.0021
DARING = np.float32(1.0 + 1.0 / 64.0 + 1e-5)


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def sketch_distances(leaves, leaf, per_length, x, rough):
    """Write the squared distances of the sketched rows of a leaf from x, in float32."""
    low, high = leaves.boxes
    sketch = leaves.sketches[leaf]
    rough[:] = np.float32(0.0)
    for j in range(x.size):
        offset = np.float32((x[j] - low[j, leaf]) * per_length)
        step = np.float32((np.float64(high[j, leaf]) - low[j, leaf]) * per_length / 255.0)
        column = sketch[j]
        for i in range(LEAF):  # over rows, so that it runs in vector registers
            gap = np.float32(column[i]) * step - offset
            rough[i] += gap * gap


@njit(nogil=True, cache=True, error_model="numpy")
def sketch_slack(boxes, leaf, per_length):
    """Return what to add to DARING times a cost: no row is closer if its sketch is not closer than that."""
    width = 0.0
    for j in range(boxes.low.shape[0]):
        side = (np.float64(boxes.high[j, leaf]) - boxes.low[j, leaf]) * per_length
        width += side * side
    return np.float32(65.0 * BLUR * BLUR * width + 1e-36)
