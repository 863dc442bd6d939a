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
        pytest.param(EQUAL, 0.2, 30, marks=pytest.mark.slow),
        (UNEQUAL, 0.2, 30),
        ([30, 30], 0.2, 20),
        ([100], 0.3, 50),
        ([90, 60, 50, 40] + [15] * 4, 0.2, 30),  # those of 15 are there, but not wanted
        ([90, 60, 50, 40] + [5] * 10 + [1] * 20, 0.2, 30),
        ([3] * 60, 0.2, 20),  # nothing to find
        ([200, 12], 0.05, 10),  # the small one shows when the large one is taken away
        ([16, 9, 2, 2, 1, 1], 0.0, 1),
        ([1] * 6, 0.0, 1),
        ([1], 0.0, 1),
        ([2] * 8, 0.0, 2),
    ],
)
def test_planted_blocks_are_found(sizes, error, least):
    for seed in range(3):
        graph, y = planted(sizes, error, seed)
        assert exactly_right(find_blocks(graph, error, least), y, least)


@pytest.mark.parametrize("assumed", [0.1, 0.3])
def test_the_error_rate_need_not_be_exact(assumed):
    graph, y = planted(UNEQUAL, 0.2, 0)
    assert exactly_right(find_blocks(graph, assumed, 30), y, 30)


def test_unsure_answers_are_left_out():
    graph, y = planted(EQUAL, 0.1, 0, unsure=0.3)
    assert exactly_right(find_blocks(graph, 0.1, 30), y, 30)


@pytest.mark.parametrize("error", [0.2, 0.4, 0.49])
def test_pure_noise_has_no_blocks(error):
    for seed in range(3):
        graph, _ = planted([1] * 200, error, seed)
        assert find_blocks(graph, error, 10) == []


def test_all_unsure():
    graph = np.full((5, 5), UNSURE)
    assert find_blocks(graph, 0.1, 2) == []
    assert sorted(find_blocks(graph, 0.0, 1)) == [[0], [1], [2], [3], [4]]


def test_largest_first_and_the_same_again():
    graph, _ = planted(UNEQUAL, 0.2, 1)
    blocks = find_blocks(graph, 0.2, 30)
    assert [len(nodes) for nodes in blocks] == UNEQUAL[::-1]
    assert all(nodes == sorted(nodes) for nodes in blocks)
    assert find_blocks(graph, 0.2, 30) == blocks
    assert find_blocks(np.empty((0, 0)), 0.2, 30) == []


def test_the_error_rate_is_observed():
    graph, _ = planted(EQUAL, 0.2, 2, unsure=0.1)
    wrong, total = observed_error(graph, find_blocks(graph, 0.2, 30))
    assert total == (graph[np.triu_indices(400, 1)] != UNSURE).sum()
    assert wrong / total == pytest.approx(0.2, abs=0.01)


@pytest.mark.parametrize(
    ("graph", "error", "least", "message"),
    [
        (np.zeros((2, 3)), 0.1, 1, r"a line and a column for each node, got \(2, 3\)"),
        (np.array([[1, 0], [1, 1]]), 0.1, 1, "graph must be symmetric"),
        (np.eye(2), 0.5, 1, r"error_rate must be a number in \[0, 0.5\)"),
        (np.eye(2), 0.1, 0, "least must be a positive int, got 0"),
    ],
)
def test_wrong_parameters_are_named(graph, error, least, message):
    with pytest.raises(ValueError, match=message):
        find_blocks(graph, error, least)


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
