"""Compiled loops of the noise model; constants are arguments, as Numba's cache does not notice a change."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def log_ratio(said, certainty, n_clusters, error):
    """Return the log ratio of an answer's likelihoods: if a row is in the other's cluster, and if not."""
    stray = (1.0 - certainty) / max(n_clusters, 2)
    if_same = certainty * (1.0 - error) + (1.0 - certainty) * error
    if_not = error + stray * (1.0 - 2.0 * error)
    if said == 1:
        return np.log(if_same / if_not)
    return np.log((1.0 - if_same) / (1.0 - if_not))


@njit(nogil=True, cache=True)
def row_logs(place, review, clusters, certainty, alive, rates, later, impossible, logs, ratios):
    """Write a row's log posterior of each cluster and of "new", and the log ratio of each of its answers."""
    first, others, said, who, _, starts, priors = review
    n_clusters = logs.size - 1
    size = starts[place + 1] - starts[place] - 1
    own = clusters[place]
    rest = np.log(later / (n_clusters + 1))
    for k in range(n_clusters + 1):
        logs[k] = np.log(priors[starts[place] + k]) if k < size else rest
    # if the row founded a cluster that was not known then, "new" meant to be in it
    logs[own if own >= size else n_clusters] = np.log(priors[starts[place] + size])
    for k in range(n_clusters):
        if not alive[k]:
            logs[k] = np.log(impossible)
    for e in range(first[place], first[place + 1]):
        cluster = clusters[others[e]]
        ratios[e - first[place]] = 0.0
        if cluster >= 0:
            ratio = log_ratio(said[e], certainty[others[e]], n_clusters, rates[who[e]])
            ratios[e - first[place]] = ratio
            logs[cluster] += ratio


@njit(nogil=True, cache=True)
def judge_answers(
    review, clusters, certainty, alive, one, rates, later, impossible, clear, wrong, judged
):
    """Count the answers of each annotator, and those that are wrong.

    Each answer is held against the posterior of its row's cluster without it; only those about which that is
    clear are counted. `one` (clusters, clusters) are the chances that two clusters are one: else, where a
    cluster is held for two, all who say that it is one would seem to err, and the more they seem to the less
    they could mend it.
    """
    first, others, said, who, _, starts, _ = review
    n_clusters = alive.size
    logs = np.empty(n_clusters + 1)
    ratios = np.empty(0)
    for place in range(first.size - 1):
        size = first[place + 1] - first[place]
        if size == 0 or starts[place + 1] == starts[place]:
            continue
        if size > ratios.size:
            ratios = np.empty(2 * size)
        row_logs(place, review, clusters, certainty, alive, rates, later, impossible, logs, ratios)
        top = logs.max()
        total = np.exp(logs - top).sum()
        for e in range(first[place], first[place + 1]):
            cluster = clusters[others[e]]
            if cluster < 0 or who[e] < 0:
                continue
            without = np.exp(logs[cluster] - ratios[e - first[place]] - top)
            share = without / max(total - np.exp(logs[cluster] - top) + without, 1e-300)
            same = min(certainty[others[e]] * share, 1.0)
            if clusters[place] >= 0 and clusters[place] != cluster:
                same += (1.0 - same) * one[clusters[place], cluster]
            if max(same, 1.0 - same) >= clear:
                judged[who[e]] += 1.0
                wrong[who[e]] += 1.0 - same if said[e] == 1 else same


@njit(nogil=True, cache=True)
def move_rows(
    order, review, clusters, certainty, alive, rates, later, impossible, move_above, moved
):
    """Bring the certainty of rows up to date, one after the other; mark those that move in `moved`."""
    first = review[0]
    starts = review[5]
    n_clusters = alive.size
    logs = np.empty(n_clusters + 1)
    ratios = np.empty(0)
    for place in order:
        if starts[place + 1] == starts[place]:
            continue
        if first[place + 1] - first[place] > ratios.size:
            ratios = np.empty(2 * (first[place + 1] - first[place]))
        row_logs(place, review, clusters, certainty, alive, rates, later, impossible, logs, ratios)
        top = logs.max()
        total = np.exp(logs - top).sum()
        best = logs[:n_clusters].argmax()
        own = clusters[place]
        certainty[place] = np.exp(logs[own] - top) / total
        chance = np.exp(logs[best] - top) / total
        if best != own and chance >= move_above:
            clusters[place] = best
            certainty[place] = chance
            moved[place] = True


@njit(nogil=True, cache=True)
def depth_first(first, others, order, begin, end, low, parent):
    """Write a depth-first order of all nodes, where subtrees begin and end in it, and what they reach."""
    n = first.size - 1
    place = np.full(n, -1, dtype=np.int64)
    edge = first[:-1].copy()
    count = 0
    for root in range(n):
        if place[root] >= 0:
            continue
        node = root
        parent[root] = -1
        place[root] = low[root] = begin[root] = count
        order[count] = root
        count += 1
        while node >= 0:
            if edge[node] < first[node + 1]:
                other = others[edge[node]]
                edge[node] += 1
                if place[other] < 0:
                    parent[other] = node
                    place[other] = low[other] = begin[other] = count
                    order[count] = other
                    count += 1
                    node = other
                elif other != parent[node]:
                    low[node] = min(low[node], place[other])
            else:
                end[node] = count
                up = parent[node]
                if up >= 0:
                    low[up] = min(low[up], low[node])
                node = up
