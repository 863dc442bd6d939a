"""Compiled passes over all rows: checks, costs and draws, nearest places, coordinates, sums by label.

Rules that keep results the same for any number of threads, and however the rows are cut into blocks:

- a squared distance is summed in float64, column by column, and never contracted;
- the weight of a row in draws is an integer, so weights may be added in any order;
- coordinates of a row do not depend on the rows beside it.
"""

from __future__ import annotations

import numpy as np
from numba import njit

BLOCK = 128  # rows whose weights are added together
SPAN = 512  # blocks
BITS = 45  # a weight is at most 2^45, so the sum over a span of 2^16 rows is an int64
MOST = float(np.finfo(np.float32).max)
ABREAST = 16  # rows that are checked together
NO_WEIGHTS = np.empty(0)
TOGETHER = 512  # places that a row is compared with at once
ROUNDING = 1e-5  # the share of a squared length that is rounding, not a distance from the span


@njit(nogil=True, cache=True)
def _extremes(values, low, high):
    """Lower `low` and raise `high` to values that come in rows of their size; return how many are NaN."""
    missing = 0
    for first in range(0, values.size, low.size):
        row = values[first : first + low.size]
        for k in range(row.size):  # many places, so that it runs in vector registers
            value, smallest, largest = row[k], low[k], high[k]
            low[k] = value if value < smallest else smallest
            high[k] = value if value > largest else largest
        for k in range(row.size):
            missing += row[k] != row[k]
    return missing


@njit(nogil=True, cache=True)
def scan(X, limit, low, high, first, last):
    """Write the smallest and largest value of each column of rows first..last-1.

    Return the position (row * d + column) of the first NaN or |value| > limit, or -1.
    """
    d = X.shape[1]
    values = X[first:last].reshape(-1)
    lows = np.full(d * ABREAST, np.inf, dtype=X.dtype)
    highs = np.full(d * ABREAST, -np.inf, dtype=X.dtype)
    is_beyond = _extremes(values, lows, highs) > 0
    for j in range(d):
        smallest, largest = lows[j], highs[j]
        for k in range(j + d, lows.size, d):
            smallest, largest = min(smallest, lows[k]), max(largest, highs[k])
        low[j], high[j] = smallest, largest
        is_beyond = is_beyond or smallest < -limit or largest > limit
    if is_beyond:
        for k in range(values.size):
            if not abs(values[k]) <= limit:
                return first * d + k
    return -1


@njit(nogil=True, cache=True, inline="always")
def _weight(cost, per_scale):
    """Return the weight of a row, an integer as float64: at least 1 where the cost is positive."""
    weight = np.floor(np.float64(cost) * per_scale * 2.0**BITS)
    weight = weight if weight > 1.0 else 1.0
    return weight if cost > 0.0 else 0.0


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz", "reassoc"})
def _weight_of_block(costs, per_scale):
    """Return the sum of the weights of a block; integers below 2^53, so any order is exact."""
    total = 0.0
    for i in range(costs.size):
        total += _weight(costs[i], per_scale)
    return total


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def _lower(costs, distances, per_cost):
    """Lower costs to those that belong to some squared distances."""
    for i in range(costs.size):
        distance = distances[i] * per_cost
        found = np.float32(distance if distance < MOST else MOST)
        costs[i] = found if found < costs[i] else costs[i]


@njit(nogil=True, cache=True)
def _distances_to_one(X, center, distances):
    """Write the squared distances of rows to a centre."""
    for i in range(distances.size):
        distance = 0.0
        for j in range(center.size):
            step = X[i, j] - center[j]
            distance += step * step
        distances[i] = distance


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def _distances_to_nearest(columns, centers, found, distances):
    """Write the squared distances of rows, given by columns, to the nearest centre."""
    size = distances.size
    distances[:] = np.inf
    for c in range(centers.shape[0]):
        found[:size] = 0.0
        for j in range(centers.shape[1]):
            column, value = columns[j], centers[c, j]
            for i in range(size):  # over rows, so that it runs in vector registers
                step = column[i] - value
                found[i] += step * step
        for i in range(size):
            distances[i] = found[i] if found[i] < distances[i] else distances[i]


@njit(nogil=True, cache=True)
def lower_costs(X, centers, per_cost, costs, is_new, per_scale, weights, first, last):
    """Lower the costs of the rows in blocks first..last-1 to those with more centres; new ones are infinite.

    Write the weight of each block, unless there is no room in `weights`.
    """
    n, d = X.shape
    n_centers = centers.shape[0]
    distances, found = np.empty(BLOCK), np.empty(BLOCK)
    columns = np.empty((d if n_centers > 1 else 0, BLOCK))
    for block in range(first, last):
        start = block * BLOCK
        size = min(BLOCK, n - start)
        own = costs[start : start + size]
        if is_new:
            own[:] = np.inf
        if n_centers == 1:
            _distances_to_one(X[start:], centers[0], distances[:size])
        else:
            for i in range(size):
                for j in range(d):
                    columns[j, i] = X[start + i, j]
            _distances_to_nearest(columns, centers, found, distances[:size])
        _lower(own, distances, per_cost)
        if weights.size:
            weights[block] = _weight_of_block(own, per_scale)


@njit(nogil=True, cache=True)
def weigh(costs, per_scale, weights, first, last):
    """Write the weight of blocks first..last-1."""
    for block in range(first, last):
        weights[block] = _weight_of_block(costs[block * BLOCK : (block + 1) * BLOCK], per_scale)


@njit(nogil=True, cache=True)
def rows_at_weights(costs, per_scale, weights, spans, targets, rows):
    """Write the row of each target: where the running sum of the weights of its span first exceeds it."""
    for k in range(targets.size):
        rest = targets[k]
        block = spans[k] * SPAN
        while rest >= np.int64(weights[block]):
            rest -= np.int64(weights[block])
            block += 1
        row = block * BLOCK
        while True:
            weight = np.int64(_weight(costs[row], per_scale))
            if rest < weight:
                break
            rest -= weight
            row += 1
        rows[k] = row


@njit(nogil=True, cache=True)
def add_squares(x, columns, first, last, begin, end, found):
    """Add to the squared distances of a row to places first..last-1 what x[begin:end] makes of them."""
    for j in range(begin, end):
        value = np.float64(x[j])
        column = columns[j, first:last]
        for s in range(last - first):  # over places, so that it runs in vector registers
            step = column[s] - value
            found[s] += step * step


@njit(nogil=True, cache=True)
def nearest(X, columns, found):
    """Write the number of the nearest place for each row; the first one wins a tie.

    Places come by columns, (d, places).
    """
    distances = np.empty(TOGETHER)
    for i in range(X.shape[0]):
        best = np.inf
        found[i] = 0
        for first in range(0, columns.shape[1], TOGETHER):
            last = min(first + TOGETHER, columns.shape[1])
            distances[: last - first] = 0.0
            add_squares(X[i], columns, first, last, 0, X.shape[1], distances)
            for s in range(last - first):
                if distances[s] < best:
                    best, found[i] = distances[s], first + s


@njit(nogil=True, cache=True)
def add_by_label(X, labels, origin, sums, counts):
    """Add rows, as steps from an origin, to the sums of their labels; negative labels are left out."""
    for i in range(X.shape[0]):
        label = labels[i]
        if label >= 0:
            counts[label] += 1
            for j in range(X.shape[1]):
                sums[label, j] += X[i, j] - origin[j]


@njit(nogil=True, cache=True, error_model="numpy")
def _squared_length(x):
    """Return the sum of the squares of a row, of every fourth column together: that is quicker."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = x.size // 4 * 4
    for j in range(0, whole, 4):
        a += np.float64(x[j]) * np.float64(x[j])
        b += np.float64(x[j + 1]) * np.float64(x[j + 1])
        c += np.float64(x[j + 2]) * np.float64(x[j + 2])
        d += np.float64(x[j + 3]) * np.float64(x[j + 3])
    for j in range(whole, x.size):
        a += np.float64(x[j]) * np.float64(x[j])
    return (a + b) + (c + d)


@njit(nogil=True, cache=True, error_model="numpy")
def _per_length(x):
    """Return 1 / the length of a row; 0 for a row of zeros."""
    square = _squared_length(x)
    return 1.0 / np.sqrt(square) if square > 0.0 else 0.0


@njit(nogil=True, cache=True, error_model="numpy")
def normalize(X, out, first, last):
    """Write rows first..last-1 of X with length 1; rows of zeros stay as they are."""
    for i in range(first, last):
        factor = _per_length(X[i])
        for j in range(X.shape[1]):
            out[i, j] = X[i, j] * factor


@njit(nogil=True, cache=True, error_model="numpy")
def project(X, unit, origin, components, out, first, last):
    """Write the coordinates of rows first..last-1 of X, (n, k + 1).

    The last one is the distance from the span of the `components` (d, k) at the `origin`. With
    `unit`, rows are brought to length 1 before.
    """
    d, k = components.shape
    whole = d // 4 * 4
    rows = np.zeros((2, d), dtype=np.float32)
    sums = np.empty((2, k), dtype=np.float32)
    one, two = rows[0], rows[1]
    p, q = sums[0], sums[1]
    for start in range(first, last, 2):  # two at a time, as components are read once for both then
        size = min(2, last - start)
        for a in range(size):
            x = X[start + a]
            factor = _per_length(x) if unit else 1.0
            for j in range(d):
                rows[a, j] = np.float32(np.float64(x[j]) * factor - origin[j])
        sums[:] = 0.0
        for j in range(0, whole, 4):
            a0, a1, a2, a3 = components[j], components[j + 1], components[j + 2], components[j + 3]
            x0, x1, x2, x3 = one[j], one[j + 1], one[j + 2], one[j + 3]
            y0, y1, y2, y3 = two[j], two[j + 1], two[j + 2], two[j + 3]
            for c in range(k):  # over components, so that it runs in vector registers
                p[c] = (((p[c] + x0 * a0[c]) + x1 * a1[c]) + x2 * a2[c]) + x3 * a3[c]
                q[c] = (((q[c] + y0 * a0[c]) + y1 * a1[c]) + y2 * a2[c]) + y3 * a3[c]
        for j in range(whole, d):
            for c in range(k):
                p[c] += one[j] * components[j, c]
                q[c] += two[j] * components[j, c]
        for a in range(size):
            length = _squared_length(rows[a])
            left = length - _squared_length(sums[a])
            for c in range(k):  # an assignment of slices takes seconds to compile
                out[start + a, c] = sums[a, c]
            out[start + a, k] = np.sqrt(left) if left > ROUNDING * length else 0.0
