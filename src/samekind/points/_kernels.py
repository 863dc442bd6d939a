"""The compiled loops over all rows. Callers own every buffer; nothing here allocates.

Rules that keep results the same for any number of threads:

- rows are cut into blocks of fixed size; a block is always summed by one thread, first row to last;
- sums over blocks are taken by one thread, first block to last;
- no `fastmath`: the order of additions is the one written here.

Distances are accumulated in float64 whatever the type of the data, so that squares of large float32
values do not overflow.
"""

from __future__ import annotations

from numba import njit

BLOCK = 256


@njit(nogil=True, cache=True, error_model="numpy")
def cover(X, centers, costs, sums, first, last):
    """Lower `costs` to the squared distance to any of `centers`, for blocks first..last-1.

    In: X (n, d), centers (m, d). In and out: costs (n,). Out: sums (blocks,).
    """
    n, d = X.shape
    for block in range(first, last):
        total = 0.0
        for i in range(block * BLOCK, min(n, (block + 1) * BLOCK)):
            best = costs[i]
            for c in range(centers.shape[0]):
                distance = 0.0
                for j in range(d):
                    step = X[i, j] - centers[c, j]
                    distance += step * step
                if distance < best:
                    best = distance
            costs[i] = best
            total += best
        sums[block] = total


@njit(nogil=True, cache=True)
def accumulate(sums, prefix):
    """Write the running sums of `sums` to `prefix`, from left to right."""
    total = 0.0
    for block in range(sums.size):
        total += sums[block]
        prefix[block] = total


@njit(nogil=True, cache=True)
def draw(prefix, costs, uniforms, rows):
    """Write to `rows` one row for each uniform, row i with probability costs[i] / sum(costs).

    Finds the block by bisection and the row by a scan of that one block: O(log n) for each draw.
    Rounding can carry a target past the last row of positive cost; that row is taken then.
    """
    blocks = prefix.size
    for u in range(uniforms.size):
        target = uniforms[u] * prefix[blocks - 1]
        low, high = 0, blocks - 1
        while low < high:
            middle = (low + high) // 2
            if prefix[middle] > target:
                high = middle
            else:
                low = middle + 1
        while low > 0 and prefix[low] == prefix[low - 1]:
            low -= 1
        rest = target - (prefix[low - 1] if low > 0 else 0.0)
        chosen = -1
        for i in range(low * BLOCK, min(costs.size, (low + 1) * BLOCK)):
            if costs[i] > 0.0:
                chosen = i
                rest -= costs[i]
                if rest < 0.0:
                    break
        rows[u] = chosen


@njit(nogil=True, cache=True, error_model="numpy")
def nearest(X, centers, labels, first, last):
    """Write to `labels` the nearest of `centers` for rows first..last-1; the first one wins a tie."""
    d = X.shape[1]
    for i in range(first, last):
        best = -1.0
        for c in range(centers.shape[0]):
            distance = 0.0
            for j in range(d):
                step = X[i, j] - centers[c, j]
                distance += step * step
            if best < 0.0 or distance < best:
                best = distance
                labels[i] = c


@njit(nogil=True, cache=True)
def first_unusable(X, limit, first, last):
    """Return the position (row * d + column) of the first NaN or |value| > limit, or -1."""
    d = X.shape[1]
    for i in range(first, last):
        for j in range(d):
            if not abs(X[i, j]) <= limit:
                return i * d + j
    return -1
