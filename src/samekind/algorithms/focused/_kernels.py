"""Compiled loops of `focused`: what is known about a row, how likely each kind is, which kinds look alike."""

from __future__ import annotations

import numpy as np
from numba import njit

FLOOR = -30.0  # log chances of the discriminant below this are all the same
RARE = 1e-3  # a chance below which the graph's word counts no further


@njit(nogil=True, cache=True)
def weigh(weights, of_kinds, of_new, alive, out):
    """Write exp(utility) of each kind, up to a factor; return that of being new."""
    new = 0.0
    for j in range(of_new.size):
        new += of_new[j] * weights[of_kinds.shape[1] + j]
    top = new
    for kind in range(out.size):
        utility = -np.inf
        if alive[kind]:
            utility = 0.0
            for j in range(of_kinds.shape[1]):
                utility += of_kinds[kind, j] * weights[j]
        out[kind] = utility
        top = max(top, utility)
    for kind in range(out.size):
        out[kind] = np.exp(out[kind] - top)
    return np.exp(new - top)


@njit(nogil=True, cache=True)
def learn(weights, prior, certainty, of_kinds, of_new, alive, target, lowest, highest, memory):
    """Make one Newton step on the likelihood that a row chose a kind or, last in `target`, was new."""
    size, split = weights.size, of_kinds.shape[1]
    shares = np.empty(of_kinds.shape[0])
    new = weigh(weights, of_kinds, of_new, alive, shares)
    total = new + shares.sum()
    mean = np.zeros(size)
    products = np.zeros((size, size))
    for kind in range(shares.size):
        share = shares[kind] / total
        if share > 0.0:
            for i in range(split):
                part = share * of_kinds[kind, i]
                mean[i] += part
                for j in range(split):
                    products[i, j] += part * of_kinds[kind, j]
    for i in range(split, size):
        mean[i] = new / total * of_new[i - split]
        for j in range(split, size):
            products[i, j] = mean[i] * of_new[j - split]
    for i in range(size):
        for j in range(size):
            fresh = products[i, j] - mean[i] * mean[j]
            certainty[i, j] = prior[i, j] + memory * (certainty[i, j] - prior[i, j]) + fresh
    step = -mean
    step[split:] += target[-1] * of_new
    for kind in range(shares.size):
        if target[kind] > 0.0:
            step[:split] += target[kind] * of_kinds[kind]
    step = np.linalg.solve(certainty, step)
    for i in range(size):
        weights[i] = min(max(weights[i] + step[i], lowest[i]), highest[i])


@njit(nogil=True, cache=True)
def score(X, voice, out):
    """Write the discriminant's log chances (m, kinds), relative to the likeliest kind; 0 if it is silent."""
    origin, whiten, means, widths, known, n_at_fit = voice
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
            for k in range(known.size):  # over kinds, so that it runs in vector registers
                step = white - means[c, k]
                scores[k] += step * step
        top = -np.inf
        for k in range(known.size):
            scores[k] = -0.5 * scores[k] / widths[k] - half_logs[k]
            top = max(top, scores[k])
        mean = 0.0
        out[i] = FLOOR
        for k in range(known.size):
            out[i, known[k]] = max(scores[k] - top, FLOOR)
            mean += (scores[k] - top) / known.size
        for k in range(n_at_fit, out.shape[1]):  # founded since: neither favoured nor excluded
            out[i, k] = max(mean, FLOOR)


@njit(nogil=True, cache=True)
def assemble(X, reach, scale, sizes, voice, chances, of_kinds, of_new):
    """Write features of X from squared distances, the discriminant and the graph's chances, or (0, 0)."""
    m, k = reach.shape
    score(X, voice, of_kinds[:, :, 1])
    shares = np.log((sizes[:k] + 1.0) / (k + sizes[:k].sum()))
    for i in range(m):
        nearest = np.inf
        for j in range(k):
            of_kinds[i, j, 0] = 0.5 * np.log(reach[i, j] + 1e-12 * scale * scale)
            nearest = min(nearest, of_kinds[i, j, 0])
        for j in range(k):
            of_kinds[i, j, 0] = max(nearest - of_kinds[i, j, 0], -5.0)
            of_kinds[i, j, 2] = 0.0
            of_kinds[i, j, 3] = shares[j]
        of_new[i, 0] = 1.0
        of_new[i, 1] = min(max(nearest - np.log(scale), -5.0), 5.0) if k else 0.0
        of_new[i, 2] = 0.0
        if chances.size:
            met = 0.0
            for j in range(k):
                met += chances[i, j]
            for j in range(k):
                of_kinds[i, j, 2] = np.log((chances[i, j] + RARE) / (met + RARE))
            of_new[i, 2] = np.log(max(1.0 - met, 0.0) + RARE) - np.log(met + RARE)


@njit(nogil=True, cache=True)
def consider(X, reach, scale, sizes, voice, chances, weights, alive, of_kinds, of_new, out, new):
    """Write the features of rows, and how likely they make each kind and being new."""
    assemble(X, reach, scale, sizes, voice, chances, of_kinds, of_new)
    for i in range(X.shape[0]):
        new[i] = weigh(weights, of_kinds[i], of_new[i], alive, out[i])


@njit(nogil=True, cache=True)
def approach(likeness, kind, chances, share):
    """Move the first entries of a row of likeness by a share of the way to some chances."""
    for other in range(chances.size):
        likeness[kind, other] += (chances[other] - likeness[kind, other]) * share


@njit(nogil=True, cache=True)
def most_alike(likeness, is_open, kind, n_kinds):
    """Return the largest likeness of a kind and an open other, and the first such other; -1 if none is."""
    best, found = -1.0, -1
    for other in range(n_kinds):
        if is_open[kind, other]:
            alike = max(likeness[kind, other], likeness[other, kind])
            if alike > best:
                best, found = alike, other
    return best, found


@njit(nogil=True, cache=True)
def unsettled(likeness, is_open, hopeless, n_kinds, pairs, alike):
    """Write the pairs of kinds that are open or hopeless, and how alike they look; return how many."""
    size = 0
    for a in range(n_kinds):
        for b in range(a + 1, n_kinds):
            if is_open[a, b] or hopeless[a, b]:
                pairs[size, 0], pairs[size, 1] = a, b
                alike[size] = max(likeness[a, b], likeness[b, a])
                size += 1
    return size


@njit(nogil=True, cache=True)
def hold_out(logs, kinds, weights, counts, out):
    """Add the weights of answers about kinds to logs of chances; write them without each one that counts.

    Relative to the kind that the answer is about.
    """
    for i in range(kinds.size):
        logs[kinds[i]] += weights[i]
    for i in range(kinds.size):
        if counts[i]:
            logs[kinds[i]] -= weights[i]
            for k in range(logs.size):
                out[i, k] = logs[k] - logs[kinds[i]]
            logs[kinds[i]] += weights[i]


@njit(nogil=True, cache=True)
def come_near(X, x, reach):
    """Lower the squared distances of rows to a kind, where a new member x of it is nearer."""
    for i in range(X.shape[0]):
        distance = 0.0
        for j in range(x.size):
            step = X[i, j] - x[j]
            distance += step * step
        reach[i] = min(reach[i], distance)
