"""Compiled union-find over rows: which are the same, and which components differ.

Rules of the data, all in flat arrays that the caller makes and grows:

- `keys`, `nodes`: an open hash table from row numbers to nodes 0, 1, 2, …
- `parent`: nodes of rows that are the same share a root; paths are halved as they are walked.
- `first`, `last`, `degree`, `other`, `following`: every root has a list of the nodes it differs from.
  Joining two roots chains their lists; entries may be stale, their roots are looked up when read.
- `differing`: an open hash set of the pairs of roots that differ. Joining enters the pairs of the shorter
  list for the new root, so every entry of a list is entered O(log n) times.
- `sizes`: number of nodes, of list entries, of pairs in `differing`, and which of these ran out of room.
"""

from __future__ import annotations

from numba import njit

from samekind._intmap import EMPTY, slot_of
from samekind._union_find import find_root

NODES, ENTRIES, PAIRS = 0, 1, 2  # what ran out of room
SAME, DIFFERENT = 1, 0  # as in samekind.flow


@njit(nogil=True, cache=True)
def key_of(one, two):
    """Return one number for an unordered pair of numbers below 2^31."""
    return (one << 32) | two if one < two else (two << 32) | one


@njit(nogil=True, cache=True)
def write_keys(pairs, keys):
    """Write to `keys` one number for each unordered pair."""
    for i in range(keys.size):
        keys[i] = key_of(pairs[i, 0], pairs[i, 1])


@njit(nogil=True, cache=True)
def fill_implied(pairs, otherwise, answers, keys, nodes, parent, differing):
    """Write to `answers`, where they are `otherwise`, what follows for each pair."""
    for i in range(answers.size):
        if answers[i] != otherwise:
            continue
        a, b = pairs[i]
        if a == b:
            answers[i] = SAME
            continue
        slot = slot_of(keys, a)
        if keys[slot] == EMPTY:
            continue
        with_slot = slot_of(keys, b)
        if keys[with_slot] == EMPTY:
            continue
        one, two = find_root(parent, nodes[slot]), find_root(parent, nodes[with_slot])
        if one == two:
            answers[i] = SAME
        else:
            pair = key_of(one, two)
            if differing[slot_of(differing, pair)] == pair:
                answers[i] = DIFFERENT


@njit(nogil=True, cache=True)
def fill_roots(rows, keys, nodes, parent, roots):
    """Write to `roots` a number that the rows of one component share; -1 where nothing is known of a row."""
    for i in range(rows.size):
        slot = slot_of(keys, rows[i])
        roots[i] = -1 if keys[slot] == EMPTY else find_root(parent, nodes[slot])


@njit(nogil=True, cache=True)
def add_answers(pairs, answers, start, contradicts, rows, by_node, by_entry, differing, sizes):
    """Add answers from `start` on; return how many are done: fewer than all if room ran out.

    Out: contradicts[i] where answer i contradicts those before it; such an answer changes nothing.
    """
    keys, nodes = rows
    parent, first, last, degree = by_node
    other, following = by_entry
    for i in range(start, answers.size):
        if answers[i] != SAME and answers[i] != DIFFERENT:
            continue
        if 2 * (sizes[0] + 2) > keys.size:
            sizes[3] = NODES
            return i
        if sizes[1] + 2 > other.size:
            sizes[3] = ENTRIES
            return i
        one = find_root(parent, _node(pairs[i, 0], keys, nodes, parent, first, degree, sizes))
        two = find_root(parent, _node(pairs[i, 1], keys, nodes, parent, first, degree, sizes))
        pair = key_of(one, two)
        differ = one != two and differing[slot_of(differing, pair)] == pair
        if answers[i] == DIFFERENT:
            if one == two:
                contradicts[i] = True
            elif not differ:
                if 2 * (sizes[2] + 1) > differing.size:
                    sizes[3] = PAIRS
                    return i
                differing[slot_of(differing, pair)] = pair
                sizes[2] += 1
                _push(one, two, first, last, degree, other, following, sizes)
                _push(two, one, first, last, degree, other, following, sizes)
        elif differ:
            contradicts[i] = True
        elif one != two:
            if degree[one] < degree[two]:
                one, two = two, one
            if 2 * (sizes[2] + degree[two]) > differing.size:
                sizes[3] = PAIRS
                return i
            parent[two] = one
            entry = first[two]
            while entry != EMPTY:
                pair = key_of(one, find_root(parent, other[entry]))
                slot = slot_of(differing, pair)
                if differing[slot] == EMPTY:
                    differing[slot] = pair
                    sizes[2] += 1
                entry = following[entry]
            if first[two] != EMPTY:  # chain the two lists; the longer one goes last
                following[last[two]] = first[one]
                first[one] = first[two]
                degree[one] += degree[two]
    return answers.size


@njit(nogil=True, cache=True)
def _node(row, keys, nodes, parent, first, degree, sizes):
    slot = slot_of(keys, row)
    if keys[slot] == EMPTY:
        node = sizes[0]
        keys[slot] = row
        nodes[slot] = node
        parent[node] = node
        first[node] = EMPTY
        degree[node] = 0
        sizes[0] += 1
    return nodes[slot]


@njit(nogil=True, cache=True)
def _push(root, node, first, last, degree, other, following, sizes):
    entry = sizes[1]
    other[entry] = node
    following[entry] = first[root]
    if first[root] == EMPTY:
        last[root] = entry
    first[root] = entry
    degree[root] += 1
    sizes[1] += 1
