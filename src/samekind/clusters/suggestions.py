"""What to look at next: clusters that may be one, and known rows that look wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.special import expit, logit

if TYPE_CHECKING:
    from samekind.clusters.result import Clusters
    from samekind.points import Points

__all__ = ["Suggestion", "wrong_rows"]

NEIGHBORS = 5
PRIOR_WRONG = 0.02  # share of known rows that are where they do not belong
DEPENDENCE = 0.5  # neighbours resemble each other: each counts half
MOST_KNOWN = 20_000  # rows that are looked at
LEAST = 0.5  # probability of what is worth a look


@dataclass(frozen=True)
class Suggestion:
    """Something that a person may want to look at.

    Attributes
    ----------
    what : {"merge", "wrong"}
        Two clusters may be one; or a known row may be in another cluster.
    probability : float
        That it is so.
    clusters : tuple of int
        The two clusters; or the row's own and the one that it may be in.
    row : int or None
        The row that may be wrong.
    """

    what: Literal["merge", "wrong"]
    probability: float
    clusters: tuple[int, int]
    row: int | None = None


def wrong_rows(clusters: Clusters, points: Points) -> list[Suggestion]:
    """Return known rows whose nearest known rows are nearly all in one other cluster, likeliest first.

    Each neighbour is a vote, which is as good as votes are on average among these rows: how often they agree
    with what is known. So where clusters overlap, nothing is suggested.
    """
    from sklearn.neighbors import NearestNeighbors

    labels = np.repeat(np.arange(clusters.n_discovered_), list(map(len, clusters.members_)))
    if not 2 * NEIGHBORS < labels.size <= MOST_KNOWN:
        return []
    rows = np.concatenate(clusters.members_)
    search = NearestNeighbors(n_neighbors=NEIGHBORS).fit(clusters.as_compared(points.rows(rows)))
    votes = labels[search.kneighbors(return_distance=False)]
    own = (votes == labels[:, None]).sum(axis=1)
    trust = (own.sum() + 1) / (votes.size + 2)
    each = np.log(trust * max(1, clusters.n_discovered_ - 1) / (1 - trust))  # for one, not another
    found: list[Suggestion] = []
    for place in np.flatnonzero(own <= NEIGHBORS // 3).tolist():
        voted, counts = np.unique(votes[place], return_counts=True)
        pair = int(labels[place]), int(voted[counts.argmax()])
        odds = logit(PRIOR_WRONG) + DEPENDENCE * each * float(counts.max() - own[place])
        chance = float(expit(odds))
        if pair[0] != pair[1] and chance >= LEAST:
            found.append(Suggestion("wrong", chance, pair, int(rows[place])))
    return sorted(found, key=lambda one: -one.probability)
