"""Compiled loops: walks on the graph, sparse beliefs, pairs of groups, trees of answers.

Edges are three arrays: those of node i are first[i] … first[i + 1] - 1, `to` has the other node of each and
`step` the chance that a walk takes it.
"""

import numpy as np
from numba import njit

OVER = 1.5  # over-relaxation: pushes get as near in a third of the time as with 1
TOUCHED, WAITING = 1, 2  # marks of nodes that pushes came by
LEAST_CHANCE = 1e-4  # of a walk between two known nodes, below which it is left out

__all__ = [
    "ancestors",
    "change_beliefs",
    "descendants",
    "hits",
    "link_flows",
    "merge_beliefs",
    "nearest_by_products",
    "push_visits",
    "score_pairs",
    "spanning_tree",
    "take_out",
    "update_doubts",
    "walks_into",
    "walks_to",
]


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


# Walks


@njit(nogil=True, cache=True)
def hits(first, to, step, known, sources, weights, tolerance, most, h, rest, queue, mark):
    """Return the nodes from which walks end in a source before any other known node, and their chances.

    Edges are those *into* each node. What is left of a walk is pushed back along them while it exceeds
    `tolerance`, at most `most` times; OVER times as much as is left, which gets there sooner (successive
    over-relaxation). h, rest, queue and mark are room for n numbers each; all but queue are zero before and
    after.
    """
    n, n_sources = queue.size, sources.size
    head, tail, n_touched = 0, n_sources % n, n_sources
    waiting, pushed = n_sources, 0
    touched = np.empty(n, np.int64)
    single = sources[0] if n_sources == 1 else -1
    for i in range(n_sources):
        node = sources[i]
        touched[i] = queue[i] = node
        rest[node] = weights[i]
        mark[node] = WAITING
    while waiting > 0 and pushed < most:
        node = queue[head]
        head = head + 1 if head + 1 < n else 0
        waiting -= 1
        mark[node] = TOUCHED
        amount = rest[node] if pushed < n_sources else OVER * rest[node]
        pushed += 1
        rest[node] -= amount
        h[node] += amount
        for e in range(first[node], first[node + 1]):
            other = to[e]
            if known[other] >= 0 or other == single:
                continue
            if mark[other] == 0:
                touched[n_touched] = other
                n_touched += 1
                mark[other] = TOUCHED
            rest[other] += step[e] * amount
            if mark[other] != WAITING and abs(rest[other]) > tolerance:
                queue[tail] = other
                tail = tail + 1 if tail + 1 < n else 0
                waiting += 1
                mark[other] = WAITING
        if mark[node] != WAITING and abs(rest[node]) > tolerance:
            queue[tail] = node
            tail = tail + 1 if tail + 1 < n else 0
            waiting += 1
            mark[node] = WAITING
    nodes = touched[:n_touched].copy()
    chances = np.empty(n_touched, np.float32)
    for i in range(n_touched):
        chances[i] = max(0.0, h[nodes[i]] + rest[nodes[i]])
        h[nodes[i]] = rest[nodes[i]] = 0.0
        mark[nodes[i]] = 0
    return nodes, chances


@njit(nogil=True, cache=True)
def walks_into(first, to, step, known, nodes, chances, flow):
    """Add to flow[g] what one step from the known nodes of group g sees of some chances."""
    for i in range(nodes.size):
        for e in range(first[nodes[i]], first[nodes[i] + 1]):
            group = known[to[e]]
            if group >= 0:
                flow[group] += step[e] * chances[i]


@njit(nogil=True, cache=True)
def walks_to(first, to, step, known, node, tolerance, h, rest, queue, mark, reached):
    """Return where walks come from that leave a known node and end in `node` before any other one.

    As arrays: the nodes that such walks come by, the known nodes that they leave, and their chances.
    Edges are those into each node. h, rest, queue, mark and reached are room for n numbers each.
    """
    sources = np.array([node])
    near, chances = hits(
        first, to, step, known, sources, np.ones(1), tolerance, 10**9, h, rest, queue, mark
    )
    left = np.empty(near.size + 1, np.int64)
    n_left = 0
    for x in range(near.size):
        for e in range(first[near[x]], first[near[x] + 1]):
            other = to[e]
            if known[other] < 0 or chances[x] == 0.0:
                continue
            if reached[other] == 0.0:
                if n_left == left.size:
                    left = np.concatenate((left, np.empty(left.size, np.int64)))
                left[n_left] = other
                n_left += 1
            reached[other] += step[e] * chances[x]
    kept, found = np.empty(n_left, np.int64), np.empty(n_left, np.float32)
    n_kept = 0
    for other in left[:n_left]:
        if reached[other] > LEAST_CHANCE:
            kept[n_kept], found[n_kept] = other, reached[other]
            n_kept += 1
        reached[other] = 0.0
    return near, kept[:n_kept].copy(), found[:n_kept].copy()


# Beliefs: for each node the likeliest groups (ids) with their shares, and the sum of all shares (total)


@njit(nogil=True, cache=True)
def _add(ids, shares, node, group, amount):
    """Add to a node's share of a group; of more groups than there are slots the least is dropped."""
    low = 0
    for s in range(ids.shape[1]):
        if ids[node, s] == group:
            shares[node, s] = max(0.0, shares[node, s] + amount)
            return
        if shares[node, s] < shares[node, low]:
            low = s
    if amount > shares[node, low]:
        ids[node, low] = group
        shares[node, low] = amount


@njit(nogil=True, cache=True)
def change_beliefs(ids, shares, total, nodes, chances, groups, amounts):
    """Add to the shares of some groups, to each node's by its chance."""
    whole = amounts.sum()
    for i in range(nodes.size):
        node = nodes[i]
        for j in range(groups.size):
            _add(ids, shares, node, groups[j], chances[i] * amounts[j])
        total[node] = min(1.0, max(0.0, total[node] + chances[i] * whole))


@njit(nogil=True, cache=True)
def merge_beliefs(ids, shares, gone, kept):
    """Make one group part of another in every node's shares."""
    for node in range(ids.shape[0]):
        for s in range(ids.shape[1]):
            if ids[node, s] == gone:
                amount = shares[node, s]
                ids[node, s] = -1
                shares[node, s] = 0.0
                if amount > 0:
                    _add(ids, shares, node, kept, amount)
                break


@njit(nogil=True, cache=True)
def _likelihood(A, node, M, group):
    """Return the Gaussian log-likelihood of a whitened row under a whitened mean."""
    total = 0.0
    for j in range(A.shape[1]):
        gap = A[node, j] - M[group, j]
        total += gap * gap
    return -0.5 * total


@njit(nogil=True, cache=True)
def judge(ids, shares, node, A, M, size, lone, has_means, tilt, reach, scores, near):
    """Return the slot of a node's likeliest group, and the means' odds of it against its best rival.

    Shares of groups with one known row are multiplied by `lone`. Those of groups that are about as likely are
    weighed by how near their means are: by the likelihood to the power `tilt`, at most exp(-reach * tilt).
    The slot is -1 where there is none.
    """
    top = 0.0
    for s in range(ids.shape[1]):
        scores[s] = shares[node, s]
        if scores[s] > 0 and size[ids[node, s]] == 1:
            scores[s] *= lone
        top = max(top, scores[s])
    if top <= 0:
        return -1, 0.0
    count = 0
    if tilt > 0:
        limit = top * np.exp(-reach * tilt)
        nearest = -np.inf
        for s in range(ids.shape[1]):
            near[s] = -np.inf
            if scores[s] >= limit and scores[s] > 0:
                near[s] = _likelihood(A, node, M, ids[node, s])
                nearest = max(nearest, near[s])
                count += 1
        if count > 1:
            before, after = 0.0, 0.0
            for s in range(ids.shape[1]):
                if near[s] > -np.inf:
                    before += scores[s]
                    scores[s] *= np.exp(tilt * max(near[s] - nearest, -reach))
                    after += scores[s]
            for s in range(ids.shape[1]):
                if near[s] > -np.inf:
                    scores[s] *= before / after
    best = 0
    for s in range(ids.shape[1]):
        if scores[s] > scores[best]:
            best = s
    rival = -1
    for s in range(ids.shape[1]):
        if (
            s != best
            and shares[node, s] > 0
            and (rival < 0 or shares[node, s] > shares[node, rival])
        ):
            rival = s
    odds = 0.0
    if has_means and rival >= 0:
        odds = _likelihood(A, node, M, ids[node, best])
        odds -= _likelihood(A, node, M, ids[node, rival])
    return best, odds


@njit(nogil=True, cache=True)
def logit(share, floor):
    """Return log odds of a share that is known to about `floor`."""
    share = min(1.0, max(0.0, share))
    return np.log((share + floor) / (1.0 - share + floor))


@njit(nogil=True, cache=True)
def update_doubts(
    nodes, ids, shares, total, known, weight, w, floor, unreached, A, M, size, lone, tilt,
    reach, ramp, likeliest, doubt, mended, rest, queue, queued, state, tolerance,
):  # fmt: skip
    """Find the likeliest group of some nodes, and how many rows are expected to be wrong with it.

    `mended` is the chance that a node which its likeliest group refuses is right after that: in the next
    likeliest one, or in a new one. What changed is to be pushed to other nodes (`push_visits`).
    """
    n = queue.size
    scores, near = np.empty(ids.shape[1]), np.empty(ids.shape[1])
    for i in range(nodes.size):
        node = nodes[i]
        now = 0.0
        if known[node] >= 0:
            likeliest[node] = known[node]
        else:
            best, odds = judge(
                ids, shares, node, A, M, size, lone, ramp > 0, tilt, reach, scores, near
            )
            likeliest[node] = ids[node, best] if best >= 0 else -1
            share = (shares[node, best] if best >= 0 else 0.0) + unreached
            share /= total[node] + unreached
            z = w[0] + w[1] * logit(share, floor) + w[2] * logit(1.0 - total[node], floor)
            if best >= 0 and size[ids[node, best]] == 1:
                z += w[7]
            z += w[6] * ramp * min(3.0, max(-3.0, odds / 10))
            now = weight[node] / (1.0 + np.exp(z))
            second, others, new = 0.0, 0.0, max(0.0, 1.0 - total[node])
            for s in range(ids.shape[1]):
                if s != best:
                    second = max(second, scores[s])
                    others += scores[s]
            mended[node] = (second + new) / max(others + new, 1e-9)
        rest[node] += now - doubt[node]
        doubt[node] = now
        if abs(rest[node]) > tolerance and not queued[node] and known[node] < 0:
            queued[node] = True
            queue[(state[0] + state[1]) % n] = node
            state[1] += 1


# Visits: how often walks from doubtful nodes come by


@njit(nogil=True, cache=True)
def take_out(first, to, step, known, node, visits, rest, doubt, queue, queued, state, tolerance):
    """Take back what walks visited behind a node, in which they end from now on."""
    n = queue.size
    for e in range(first[node], first[node + 1]):
        other = to[e]
        if known[other] < 0:
            rest[other] -= step[e] * visits[node]
            if abs(rest[other]) > tolerance and not queued[other]:
                queued[other] = True
                queue[(state[0] + state[1]) % n] = other
                state[1] += 1
    visits[node] = 0.0
    rest[node] = 0.0
    doubt[node] = 0.0


@njit(nogil=True, cache=True)
def push_visits(first, to, step, known, visits, rest, queue, queued, state, tolerance, most):
    """Bring visits(x) = doubt(x) + sum of visits(y) P(y, x) up to date; at most so many pushes now."""
    n = queue.size
    while state[1] > 0 and most > 0:
        node = queue[state[0]]
        state[0] = state[0] + 1 if state[0] + 1 < n else 0
        state[1] -= 1
        queued[node] = False
        amount = rest[node]
        if known[node] >= 0 or abs(amount) <= tolerance:
            continue
        most -= 1
        amount *= OVER
        rest[node] -= amount
        visits[node] += amount
        for e in range(first[node], first[node + 1]):
            other = to[e]
            if known[other] < 0:
                rest[other] += step[e] * amount
                if abs(rest[other]) > tolerance and not queued[other]:
                    queued[other] = True
                    queue[(state[0] + state[1]) % n] = other
                    state[1] += 1
        if abs(rest[node]) > tolerance and not queued[node]:
            queued[node] = True
            queue[(state[0] + state[1]) % n] = node
            state[1] += 1


# Pairs of groups


@njit(nogil=True, cache=True)
def _score(g, alive, flow, size, means, net, w, floor, unreached, M, use_means, share, close, p):
    """Find P(same) of a group with every other one, and the features that it comes from.

    `flow` and `net` are what walks from it, and answers, say of each other group. Returns the share of walks
    that end nowhere, and the greatest P(same). A group that refused (negative evidence) is left out of the
    shares of the others. Where hardly any walk arrives, the distance of the means decides.
    """
    norm = 1.0 / max(size[g] - flow[g], 1e-6)
    total, left, least = 0.0, 0.0, np.inf
    for c in range(alive.size):
        share[c] = close[c] = p[c] = 0.0
        if alive[c] and c != g:
            total += flow[c] * norm
            if net[c] >= 0:
                left += flow[c] * norm
            square = 0.0
            for j in range(means.shape[1]):
                square += (means[g, j] - means[c, j]) ** 2
            share[c] = max(np.sqrt(square), 1e-9)
            least = min(least, share[c])
    u = max(0.0, 1.0 - total)
    u = u / max(u + left, 1e-9)
    nearest = -np.inf
    if use_means:
        shrunk = (size[g] + 1) / size[g]
        for c in range(alive.size):
            if alive[c] and c != g:
                d = 0.0
                for j in range(M.shape[1]):
                    e = shrunk * M[g, j] - M[c, j]
                    d += e * e
                close[c] = -0.5 * d
                nearest = max(nearest, close[c])
    around = 0.0
    for c in range(alive.size):
        if alive[c] and c != g:
            share[c] = (least / share[c]) ** 8
            if net[c] >= 0:
                around += share[c]
    z0 = w[0] + w[2] * logit(u, floor) + w[3] + w[4] * np.log(size[g])
    most = 0.0
    for c in range(alive.size):
        if alive[c] and c != g:
            v = flow[c] * norm + unreached * share[c] / max(around, 1e-30)
            s = v / max(left + unreached + (v if net[c] < 0 else 0.0), 1e-12)
            share[c] = min(1.0, max(0.0, s))
            close[c] = max(close[c] - nearest, -50.0) / 10 if use_means else 0.0
            z = z0 + w[1] * logit(share[c], floor) + w[5] * close[c] + net[c]
            p[c] = 1.0 / (1.0 + np.exp(-z))
            most = max(most, p[c])
    return u, most


@njit(nogil=True, cache=True)
def score_pairs(
    groups, flow_ends, flow_to, flow, net_ends, net_to, net, alive, size, means, w, floor, unreached,
    M, use_means, most,
):  # fmt: skip
    """Find the greatest P(same) of each of some groups with another one; return what is said of the last one.

    The flow of the i-th one is flow[flow_ends[i] : flow_ends[i + 1]], to the groups in `flow_to`; what
    answers say of it is laid out likewise. Returned are the share of walks that end nowhere, and of each
    other group the share of the walks that end there, how near the means are, and P(same).
    """
    k = alive.size
    from_here, said = np.zeros(k), np.zeros(k)
    share, close, p = np.zeros(k), np.zeros(k), np.zeros(k)
    unknown = 1.0
    for i in range(groups.size):
        g = groups[i]
        most[g] = 0.0
        if not alive[g]:
            continue
        for e in range(flow_ends[i], flow_ends[i + 1]):
            from_here[flow_to[e]] = flow[e]
        for e in range(net_ends[i], net_ends[i + 1]):
            said[net_to[e]] = net[e]
        unknown, most[g] = _score(
            g,
            alive,
            from_here,
            size,
            means,
            said,
            w,
            floor,
            unreached,
            M,
            use_means,
            share,
            close,
            p,
        )
        for e in range(flow_ends[i], flow_ends[i + 1]):
            from_here[flow_to[e]] = 0.0
        for e in range(net_ends[i], net_ends[i + 1]):
            said[net_to[e]] = 0.0
    return unknown, share, close, p


# Trees of "same" answers


@njit(nogil=True, cache=True)
def spanning_tree(m, a, b, evidence, hang):
    """Return the first answers "same" that span a group of m rows, as a tree with root 0.

    up[i]: the row above row i, -1 for the root; by[i]: the answer that links them; net[i]: the evidence
    across the link; mass[i]: the sum of `hang` over i and all rows below it.
    """
    root = np.arange(m)
    head, k = np.full(m, -1), 0  # linked lists of the tree's edges
    after, other_end, of = np.empty((3, 2 * m), np.int64)
    for i in range(a.size):
        if evidence[i] <= 0:
            continue
        x, y = a[i], b[i]
        while root[x] != x:
            x = root[x]
        while root[y] != y:
            y = root[y]
        if x == y:
            continue
        root[x] = y
        for u, v in ((a[i], b[i]), (b[i], a[i])):
            other_end[k], of[k], after[k] = v, i, head[u]
            head[u] = k
            k += 1
    up, by, depth = np.full(m, -1), np.full(m, -1), np.zeros(m, np.int64)
    order, done, i = np.zeros(m, np.int64), 1, 0
    while i < done:
        u = order[i]
        k = head[u]
        while k >= 0:
            v = other_end[k]
            if v != up[u]:
                up[v], by[v], depth[v] = u, of[k], depth[u] + 1
                order[done] = v
                done += 1
            k = after[k]
        i += 1
    net, mass = np.zeros(m), hang.copy()
    for i in range(a.size):
        x, y = a[i], b[i]
        while x != y:  # every link between the two rows
            if depth[x] < depth[y]:
                x, y = y, x
            net[x] += evidence[i]
            x = up[x]
    for i in range(done - 1, 0, -1):
        mass[up[order[i]]] += mass[order[i]]
    return up, by, net, mass


@njit(nogil=True, cache=True)
def ancestors(up, i):
    """Return whether each row is i or above it."""
    on = np.zeros(up.size, np.bool_)
    while i >= 0:
        on[i] = True
        i = up[i]
    return on


@njit(nogil=True, cache=True)
def descendants(up, i):
    """Return whether each row is i or below it."""
    on = np.zeros(up.size, np.bool_)
    for j in range(up.size):
        k = j
        while k >= 0 and k != i:
            k = up[k]
        on[j] = k == i
    return on


@njit(nogil=True, cache=True)
def link_flows(up, a, b, evidence, early, source, target, chance, away, ends, A):
    """Return for each link of a tree what is known of the part below it.

    Evidence across the link, early refusals among it, walks up and down across it, rows, walks that end
    outside, all walks, and the sum of the whitened rows.
    """
    m = up.size
    depth = np.zeros(m, np.int64)
    for i in range(m):
        k = i
        while up[k] >= 0:
            k = up[k]
            depth[i] += 1
    net, refused = np.zeros(m), np.zeros(m)
    for i in range(a.size):
        x, y = a[i], b[i]
        while x != y:
            if depth[x] < depth[y]:
                x, y = y, x
            if early[i]:
                refused[x] += 1
            else:
                net[x] += evidence[i]
            x = up[x]
    rise, fall = np.zeros(m), np.zeros(m)
    for i in range(source.size):
        x, y = source[i], target[i]
        while x != y:
            if depth[x] >= depth[y]:
                rise[x] += chance[i]
                x = up[x]
            else:
                fall[y] += chance[i]
                y = up[y]
    size, out, total, sums = np.ones(m), away.copy(), ends.copy(), A.copy()
    for i in np.argsort(-depth, kind="mergesort"):
        if up[i] >= 0:
            size[up[i]] += size[i]
            out[up[i]] += out[i]
            total[up[i]] += total[i]
            sums[up[i]] += sums[i]
    return net, refused, rise, fall, size, out, total, sums
