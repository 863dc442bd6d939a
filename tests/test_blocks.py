"""FindClusters: planted partitions are found exactly, and nothing is invented."""

from __future__ import annotations

import numpy as np
import pytest

from samekind import UNSURE
from samekind.algorithms.paper.planted_partition import find_blocks, observed_error

EQUAL = [50] * 8
UNEQUAL = [30, 34, 38, 42, 50, 56, 60, 90]


def planted(sizes, error, seed, unsure=0.0):
    """Return the graph of answers among shuffled blocks of these sizes, and each node's block."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    wrong, blank = (np.triu(rng.random((y.size, y.size)) < share, 1) for share in (error, unsure))
    graph = ((y[:, None] == y) ^ wrong ^ wrong.T).astype(np.int8)
    graph[blank | blank.T] = UNSURE
    return graph, y


def exactly_right(blocks, y, least):
    true = [np.flatnonzero(y == kind).tolist() for kind in np.unique(y)]
    return sorted(blocks) == sorted(nodes for nodes in true if len(nodes) >= least)


@pytest.mark.parametrize(
    ("sizes", "error", "least"),
    [
        (UNEQUAL, 0.2, 30),
        ([90, 60, 50, 40] + [5] * 10 + [1] * 20, 0.2, 30),
        ([3] * 60, 0.2, 20),  # nothing to find
        ([200, 12], 0.05, 10),  # the small one shows when the large one is taken away
        ([16, 9, 2, 2, 1, 1], 0.0, 1),
        ([1], 0.0, 1),
    ],
)
def test_planted_blocks_are_found(sizes, error, least):
    for seed in range(3):
        graph, y = planted(sizes, error, seed)
        assert exactly_right(find_blocks(graph, error, least), y, least)


def test_unsure_answers_are_left_out():
    graph, y = planted(EQUAL, 0.1, 0, unsure=0.3)
    assert exactly_right(find_blocks(graph, 0.1, 30), y, 30)


@pytest.mark.parametrize("error", [0.2, 0.49])
def test_pure_noise_has_no_blocks(error):
    for seed in range(3):
        graph, _ = planted([1] * 200, error, seed)
        assert find_blocks(graph, error, 10) == []


def test_the_error_rate_is_observed():
    graph, _ = planted(EQUAL, 0.2, 2, unsure=0.1)
    wrong, total = observed_error(graph, find_blocks(graph, 0.2, 30))
    assert total == (graph[np.triu_indices(400, 1)] != UNSURE).sum()
    assert wrong / total == pytest.approx(0.2, abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", [EQUAL, UNEQUAL], ids=["equal", "unequal"])
def test_eight_blocks_in_a_hundred_runs(sizes):
    """400 nodes, a fifth of the answers wrong: exact in at least 95 runs of 100."""
    right = 0
    for seed in range(100):
        graph, y = planted(sizes, 0.2, seed)
        right += exactly_right(find_blocks(graph, 0.2, 30), y, 30)
    print(f"exactly right: {right} of 100")
    assert right >= 95
