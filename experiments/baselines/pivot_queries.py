"""SS19: Saha, Subramanian, *Correlation Clustering with Same-Cluster Queries Bounded by Optimal Cost*
(ESA 2019).

Correlation clustering with an oracle whose clusters are the best ones; K is not needed. A pivot's cluster
are the rows that look like it. Where that is contradicted (two rows that look like the pivot, but not
like each other; or one that does and one that does not, which look alike), one of three signs is wrong,
and the pivot is asked about both rows.

Promises the best clusters exactly, always, by at most two questions for each disagreement that they have
with the signs: none where all signs are right.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from experiments.baselines.labeller import AnswerMemory, FoundClusters, check_signs
from samekind.flow import BoolArray, Flow

__all__ = ["pivot_queries"]


def pivot_queries(positive: ArrayLike, rng: np.random.Generator) -> Flow[FoundClusters]:
    """Find the clusters that disagree with the fewest signs.

    Parameters
    ----------
    positive : (n, n) array of bool
        Whether each pair looks alike; symmetric.
    rng : numpy.random.Generator
        Where all chance comes from: the order of the pivots.
    """
    return _run(check_signs(positive), rng)


def _run(positive: BoolArray, rng: np.random.Generator) -> Flow[FoundClusters]:
    memory = AnswerMemory()
    n = len(positive)
    labels = np.full(n, -1)
    n_found = 0
    for pivot in rng.permutation(n).tolist():
        if labels[pivot] >= 0:
            continue
        left = labels < 0
        left[pivot] = False
        like = positive[pivot] & left  # corrected by answers
        asked = np.zeros(n, dtype=bool)
        pending = np.flatnonzero(like).tolist()
        while pending:
            row = pending.pop()
            while like[row]:
                at_odds = (
                    like ^ positive[row]
                ) & left  # those with which row contradicts the pivot
                at_odds[row] = False
                open_ones = np.flatnonzero(at_odds & ~asked)
                if not open_ones.size:
                    if asked[row] or not at_odds.any():
                        break
                    others: list[int] = []
                else:
                    others = [int(open_ones[0])]
                for other in [row] * (not asked[row]) + others:
                    asked[other] = True
                    same = yield from memory.ask_one(pivot, other)
                    if same and not like[other]:
                        pending.append(other)
                    like[other] = same
        labels[like] = labels[pivot] = n_found
        n_found += 1
    names: dict[int, int] = {}
    ordered = [names.setdefault(label, len(names)) for label in labels.tolist()]
    return FoundClusters(np.array(ordered), np.empty((n_found, 0)))
