"""Compiled loops of `focused`. Constants are arguments, as Numba's cache does not notice a changed one."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def exp_utilities(weights, of_clusters, of_new, alive, out):
    """Write exp(utility) of each cluster, up to a common factor; return that of "new"."""
    new = 0.0
    for j in range(of_new.size):
        new += of_new[j] * weights[of_clusters.shape[1] + j]
    top = new
    for cluster in range(out.size):
        utility = -np.inf
        if alive[cluster]:
            utility = 0.0
            for j in range(of_clusters.shape[1]):
                utility += of_clusters[cluster, j] * weights[j]
        out[cluster] = utility
        top = max(top, utility)
    for cluster in range(out.size):
        out[cluster] = np.exp(out[cluster] - top)
    return np.exp(new - top)


@njit(nogil=True, cache=True)
def newton_system(weights, prior, precision, of_clusters, of_new, alive, target, memory, gradient):
    """Write the precision and the gradient of the log likelihood of `target`, the probabilities of all
    clusters and "new". Solving them in here, or whole arrays in place of loops, takes seconds to compile.
    """
    size, split = weights.size, of_clusters.shape[1]
    shares = np.empty(of_clusters.shape[0])
    new = exp_utilities(weights, of_clusters, of_new, alive, shares)
    total = 0.0
    for cluster in range(shares.size):
        total += shares[cluster]
    total = new + total
    mean = np.zeros(size)
    products = np.zeros((size, size))
    for cluster in range(shares.size):
        share = shares[cluster] / total
        if share > 0.0:
            for i in range(split):
                part = share * of_clusters[cluster, i]
                mean[i] += part
                for j in range(split):
                    products[i, j] += part * of_clusters[cluster, j]
    for i in range(split, size):
        mean[i] = new / total * of_new[i - split]
        for j in range(split, size):
            products[i, j] = mean[i] * of_new[j - split]
    for i in range(size):
        for j in range(size):
            fresh = products[i, j] - mean[i] * mean[j]
            precision[i, j] = prior[i, j] + memory * (precision[i, j] - prior[i, j]) + fresh
    for i in range(size):
        gradient[i] = -mean[i]
    for i in range(split, size):
        gradient[i] += target[shares.size] * of_new[i - split]
    for cluster in range(shares.size):
        if target[cluster] > 0.0:
            for i in range(split):
                gradient[i] += target[cluster] * of_clusters[cluster, i]


@njit(nogil=True, cache=True)
def lda_scores(X, lda, floor, out):
    """Write log posteriors (m, clusters) relative to the likeliest cluster; 0 if there is no discriminant."""
    origin, whiten, means, widths, known, n_at_fit = lda
    if known.size == 0:
        out[:] = 0.0
        return
    d = origin.size
    scores = np.empty(known.size)
    half_logs = 0.5 * d * np.log(widths)
    for i in range(X.shape[0]):
        scores[:] = 0.0
        for c in range(means.shape[0]):
            white = 0.0
            for j in range(d):
                white += (X[i, j] - origin[j]) * whiten[c, j]
            for k in range(known.size):  # over clusters, so that it runs in vector registers
                step = white - means[c, k]
                scores[k] += step * step
        top = -np.inf
        for k in range(known.size):
            scores[k] = -0.5 * scores[k] / widths[k] - half_logs[k]
            top = max(top, scores[k])
        mean = 0.0
        out[i] = floor
        for k in range(known.size):
            out[i, known[k]] = max(scores[k] - top, floor)
            mean += (scores[k] - top) / known.size
        for k in range(n_at_fit, out.shape[1]):  # discovered since: neither favoured nor excluded
            out[i, k] = max(mean, floor)


@njit(nogil=True, cache=True)
def features(X, distances, scale, sizes, lda, graph, limits, of_clusters, of_new):
    """Write the features of rows X: (m, clusters, 4) and (m, 3). See `constants.NEARNESS` and the following.

    `distances` (m, clusters) are squared; `graph` (m, clusters) are the probabilities of label propagation,
    if any.
    """
    lda_floor, distance_floor, distance_range, graph_floor = limits
    m, k = distances.shape
    lda_scores(X, lda, lda_floor, of_clusters[:, :, 1])
    shares = np.log((sizes[:k] + 1.0) / (k + sizes[:k].sum()))
    for i in range(m):
        nearest = np.inf
        for j in range(k):
            of_clusters[i, j, 0] = 0.5 * np.log(distances[i, j] + distance_floor * scale * scale)
            nearest = min(nearest, of_clusters[i, j, 0])
        for j in range(k):
            of_clusters[i, j, 0] = max(nearest - of_clusters[i, j, 0], -distance_range)
            of_clusters[i, j, 2] = 0.0
            of_clusters[i, j, 3] = shares[j]
        of_new[i, 0] = 1.0
        of_new[i, 1] = 0.0
        if k:
            of_new[i, 1] = min(max(nearest - np.log(scale), -distance_range), distance_range)
        of_new[i, 2] = 0.0
        if graph.size:
            met = 0.0
            for j in range(k):
                met += graph[i, j]
            for j in range(k):
                of_clusters[i, j, 2] = np.log((graph[i, j] + graph_floor) / (met + graph_floor))
            of_new[i, 2] = np.log(max(1.0 - met, 0.0) + graph_floor) - np.log(met + graph_floor)


@njit(nogil=True, cache=True)
def score_rows(
    X, distances, scale, sizes, lda, graph, limits, weights, alive, of_clusters, of_new, out, new
):
    """Write the features of rows, and exp(utility) of each cluster (m, clusters) and of "new" (m,)."""
    features(X, distances, scale, sizes, lda, graph, limits, of_clusters, of_new)
    for i in range(X.shape[0]):
        new[i] = exp_utilities(weights, of_clusters[i], of_new[i], alive, out[i])


@njit(nogil=True, cache=True)
def unproven_pairs(similarity, is_open, undecidable, n_clusters, pairs, similarities):
    """Write the pairs of clusters that are open or undecidable, and their similarities; return how many."""
    size = 0
    for a in range(n_clusters):
        for b in range(a + 1, n_clusters):
            if is_open[a, b] or undecidable[a, b]:
                pairs[size, 0], pairs[size, 1] = a, b
                similarities[size] = max(similarity[a, b], similarity[b, a])
                size += 1
    return size


@njit(nogil=True, cache=True)
def lower_distances(X, x, distances):
    """Lower the squared distances of rows to a cluster where a new member x of it is nearer."""
    for i in range(X.shape[0]):
        distance = 0.0
        for j in range(x.size):
            step = X[i, j] - x[j]
            distance += step * step
        distances[i] = min(distances[i], distance)


@njit(nogil=True, cache=True)
def nearest_by_products(products, squares, start, distances, found):
    """Write the nearest other rows of the rows from `start` on, and their squared distances, nearest first.

    Of equally near ones those come first that have the lower numbers.
    """
    k = found.shape[1]
    for i in range(products.shape[0]):
        row = start + i
        for place in range(k):
            distances[row, place] = np.inf
        worst = np.inf
        for other in range(squares.size):
            distance = max(squares[row] + squares[other] - 2.0 * products[i, other], 0.0)
            if distance < worst and other != row:
                place = k - 1
                while place > 0 and distances[row, place - 1] > distance:
                    distances[row, place] = distances[row, place - 1]
                    found[row, place] = found[row, place - 1]
                    place -= 1
                distances[row, place] = distance
                found[row, place] = other
                worst = distances[row, k - 1]


@njit(nogil=True, cache=True)
def distances_to_candidates(X, candidates, out):
    """Write the squared distance of each row to each of its candidates."""
    for i in range(candidates.shape[0]):
        for j in range(candidates.shape[1]):
            other = X[candidates[i, j]]
            distance = 0.0
            for c in range(X.shape[1]):
                step = X[i, c] - other[c]
                distance += step * step
            out[i, j] = distance


@njit(nogil=True, cache=True)
def enqueue_neighbors(first, to, known, row, waiting, queue, head, size):
    """Put the neighbours of a row that are not labelled into the queue; return its size then."""
    for e in range(first[row], first[row + 1]):
        other = to[e]
        if not known[other] and not waiting[other]:
            waiting[other] = True
            queue[(head + size) % queue.size] = other
            size += 1
    return size


@njit(nogil=True, cache=True)
def propagate(first, to, step, known, probabilities, row, waiting, queue, tolerance, max_visits):
    """Bring the probabilities of rows up to date after a row was labelled, nearest rows first."""
    n, width = probabilities.shape
    head = 0
    size = enqueue_neighbors(first, to, known, row, waiting, queue, head, 0)
    visits = 0
    fresh = np.empty(width, dtype=np.float32)
    while size > 0 and visits < max_visits * n:
        at = queue[head]
        head = (head + 1) % n
        size -= 1
        visits += 1
        waiting[at] = False
        fresh[:] = 0.0
        for e in range(first[at], first[at + 1]):
            share = step[e]
            near = probabilities[to[e]]
            for k in range(width):
                fresh[k] += share * near[k]
        change = np.float32(0.0)
        mine = probabilities[at]
        for k in range(width):
            change = max(change, abs(fresh[k] - mine[k]))
            mine[k] = fresh[k]
        if change > tolerance:
            size = enqueue_neighbors(first, to, known, at, waiting, queue, head, size)
    while size > 0:
        waiting[queue[head]] = False
        head = (head + 1) % n
        size -= 1


@njit(nogil=True, cache=True)
def neighbor_means(first, to, step, walk_on, values, out):
    """Write the mean of each row's value and the weighted mean of its neighbours'."""
    for i in range(values.size):
        total = 0.0
        for e in range(first[i], first[i + 1]):
            total += step[e] * values[to[e]]
        out[i] = 0.5 * (values[i] + total / walk_on)
