"""Draw representatives, and find the label of the nearest one.

Rules that keep results the same for any number of threads and any blocks of rows:

- a squared distance is summed in float64, column by column, and never contracted;
- the uniform number of a row is a hash of the row's number, so draws need no common generator;
- bounds from the triangle inequality leave room for rounding (`SLACK`): what they rule out is farther in
  the computed distances, too. Of representatives at equal distances the first one counts.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from samekind.points.kernels import add_squares

SLACK = 1e-9  # more than the rounding of a sum of 10^5 squares, relative to it,
TINY = 1e-150  # and more than that of squares that are too small for a float64
WIDE, DEEP = 64, 16  # representatives, and columns, that are compared together
GOLDEN, MIX_1, MIX_2 = (
    np.uint64(word) for word in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)
S11, S27, S30, S31 = (np.uint64(bits) for bits in (11, 27, 30, 31))


class Cells(NamedTuple):
    """Labelled representatives, in groups that share the nearest pivot and the label, or are the rest there.

    Pivots are some of the representatives. Within a group the members are sorted by their distance to the
    pivot.
    """

    pivots: NDArray[np.float64]
    """(d, pivots) by columns."""
    pivot_at: NDArray[np.intp]
    """(pivots,) which representatives they are."""
    gaps: NDArray[np.float64]
    """(pivots, pivots) distances between pivots."""
    order: NDArray[np.intp]
    """(pivots, pivots) all pivots in order of their distance to each."""
    safe: NDArray[np.float64]
    """(pivots,) rows that are closer to a pivot than this have its label."""
    groups_of: NDArray[np.intp]
    """(pivots + 1,) where the groups of each pivot begin."""
    group_labels: NDArray[np.intp]
    """(groups,) -1 if members have several."""
    members_of: NDArray[np.intp]
    """(groups + 1,) where the members of each group begin."""
    members: NDArray[np.float64]
    """(d, m) the representatives in the order of the groups, by columns."""
    radii: NDArray[np.float64]
    """(m,) their distances to the pivot."""
    at: NDArray[np.intp]
    """(m,) which representatives they are."""
    labels: NDArray[np.intp]
    """(m,) of the representatives as they were given."""


@njit(nogil=True, cache=True, fastmath={"nnan", "nsz"})
def _smallest(values, size):
    found = np.inf
    for s in range(size):
        found = min(found, values[s])
    return found


@njit(nogil=True, cache=True)
def _measure(x, columns, found):
    """Write the squared distances of a row to all columns."""
    found[:] = 0.0
    add_squares(x, columns, 0, found.size, 0, x.size, found)


@njit(nogil=True, cache=True)
def _least(x, columns, first, last, limit, found):
    """Write the squared distances of a row to columns first..last-1, and return the smallest.

    Stop early when all exceed a limit.
    """
    size = last - first
    found[:size] = 0.0
    least = 0.0
    for begin in range(0, x.size, DEEP):
        add_squares(x, columns, first, last, begin, min(begin + DEEP, x.size), found)
        least = _smallest(found, size)
        if least > limit:
            break
    return least


@njit(nogil=True, cache=True)
def pick_far(columns, weights, uniforms, chosen):
    """Write distinct rows, drawn by weight and by D² times weight in turn; return how many there are.

    Rows come by columns, (d, m).
    """
    m = weights.size
    costs, found = np.full(m, np.inf), np.empty(m)
    totals = np.array([weights.sum(), 0.0])
    for k in range(chosen.size):
        rest, row = uniforms[k] * totals[k % 2], -1
        for i in range(m):
            if costs[i] > 0.0:
                row = i
                rest -= weights[i] * costs[i] if k % 2 else weights[i]
                if rest < 0.0:
                    break
        if row < 0:  # every row equals one that was chosen
            return k
        chosen[k] = row
        _measure(columns[:, row].copy(), columns, found)
        totals[:] = 0.0
        for i in range(m):
            costs[i] = min(costs[i], found[i])
            if costs[i] > 0.0:
                totals[0] += weights[i]
                totals[1] += weights[i] * costs[i]
    return chosen.size


@njit(nogil=True, cache=True)
def group_by_pivots(X, labels, pivots, pivot_labels, squares, cells, safe):
    """Write for each row the squared distance to the nearest pivot and its number.

    And for each pivot half its distance to the nearest row with another label than its own. Pivots come by
    columns.
    """
    size = pivot_labels.size
    found, least = np.empty(size), np.full(size, np.inf)
    for i in range(X.shape[0]):
        _measure(X[i], pivots, found)
        cells[i] = np.argmin(found)
        squares[i] = found[cells[i]]
        for s in range(size):
            if labels[i] != pivot_labels[s]:
                least[s] = min(least[s], found[s])
    for s in range(size):
        safe[s] = np.sqrt(least[s]) / 2.0 * (1.0 - SLACK) - TINY


@njit(nogil=True, cache=True)
def _uniform(key, row):
    """Return a number in (0, 1) for a row, by the finalizer of SplitMix64."""
    word = key + np.uint64(row) * GOLDEN
    word = (word ^ (word >> S30)) * MIX_1
    word = (word ^ (word >> S27)) * MIX_2
    word = word ^ (word >> S31)
    return (np.float64(word >> S11) + 0.5) * 2.0**-53


@njit(nogil=True, cache=True, error_model="numpy")
def rank_rows(costs, first_row, key, chances, ranks):
    """Write the rank of each row: its uniform number over its chance a + b cost + c cost²."""
    a, b, c = chances
    for i in range(costs.size):
        cost = np.float64(costs[i])
        ranks[i] = _uniform(key, first_row + i) / (a + b * cost + c * cost * cost)


@njit(nogil=True, cache=True)
def _look(x, cells, group, middle, best, at, found):
    """Return squared distance and number of the nearest so far, once the members of a group are seen.

    Only those are compared whose distance to the pivot is close enough to the row's, `middle`.
    """
    first, last = cells.members_of[group], cells.members_of[group + 1]
    reach = np.sqrt(best) + TINY
    reach += SLACK * (middle + reach)
    radii = cells.radii[first:last]
    last = first + np.searchsorted(radii, middle + reach, side="right")
    first += np.searchsorted(radii, middle - reach)
    for start in range(first, last, WIDE):
        end = min(start + WIDE, last)
        least = _least(x, cells.members, start, end, best, found)
        if least > best:
            continue
        for s in range(end - start):
            if found[s] == least and (least < best or cells.at[start + s] < at):
                best, at = least, cells.at[start + s]
    return best, at


@njit(nogil=True, cache=True)
def _search(x, cells, pivot, near, found, seen, turn):
    """Return which representative has the label of a row, given its squared distances to all pivots.

    Groups of the label that is in the lead are left out: it does not matter which of them is nearest.
    `seen` has this turn's number for groups that were looked at.
    """
    own = np.sqrt(near[pivot])
    best, at = near[pivot], cells.pivot_at[pivot]
    is_tight = False
    while True:
        leader, is_contested = cells.labels[at], False
        for other in cells.order[pivot]:
            gap, reach = cells.gaps[pivot, other], np.sqrt(best) + TINY
            if gap * (1.0 - SLACK) > 2.0 * (own + reach):
                break  # |x - y| >= gap / 2 - own for every y that is closer to `other`
            if near[other] * (1.0 - SLACK) - near[pivot] > 2.0 * gap * reach * (1.0 + SLACK):
                continue  # |x - y| >= (|x - other|² - own²) / (2 gap)
            middle = np.sqrt(near[other])
            for group in range(cells.groups_of[other], cells.groups_of[other + 1]):
                if cells.group_labels[group] == leader or seen[group] == turn:
                    continue
                first, last = cells.members_of[group], cells.members_of[group + 1]
                reach = np.sqrt(best) + TINY
                reach += SLACK * (middle + reach)
                if cells.radii[first] > middle + reach or cells.radii[last - 1] < middle - reach:
                    continue
                if not is_tight:  # a closer look at those of the pivot's own label narrows the rest
                    is_tight = True
                    for mine in range(cells.groups_of[pivot], cells.groups_of[pivot + 1]):
                        if cells.group_labels[mine] in (leader, -1):
                            seen[mine] = turn
                            best, at = _look(x, cells, mine, own, best, at, found)
                seen[group] = turn
                best, at = _look(x, cells, group, middle, best, at, found)
                if cells.labels[at] != leader:
                    leader, is_contested = cells.labels[at], True
        if not is_contested:  # else groups may have been left out of a label that lost the lead
            return at


@njit(nogil=True, cache=True)
def label_by_nearest(X, cells, labels):
    """Write the labels of rows: those of their nearest representatives."""
    pivots = cells.pivot_at.size
    near, found = np.empty(pivots), np.empty(WIDE)
    seen = np.full(cells.group_labels.size, -1)
    for i in range(X.shape[0]):
        x = X[i]
        _measure(x, cells.pivots, near)
        least = _smallest(near, pivots)
        pivot = 0
        while near[pivot] != least:
            pivot += 1
        at = cells.pivot_at[pivot]
        if not np.sqrt(least) < cells.safe[pivot]:
            at = _search(x, cells, pivot, near, found, seen, i)
        labels[i] = cells.labels[at]
