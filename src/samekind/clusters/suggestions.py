"""What to look at next: clusters that may be one, and known rows that look wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from samekind.clusters.result import Clusters
    from samekind.points import Points

__all__ = ["Hints", "Suggestion", "confusion_notes", "notes_called", "wrong_rows"]

NEIGHBORS = 5
PRIOR_WRONG = 0.02  # share of known rows that are where they do not belong,
TELLING = 0.8  # and of those that have such neighbours
SUREST = 0.95  # probability of anything
MOST_KNOWN = 20_000  # rows that are looked at
LEAST = 0.5  # probability of what is worth a look


class Hints(NamedTuple):
    """What a run says of pairs of clusters."""

    mergers: list[tuple[int, int, float]] = []  # noqa: RUF012
    """That they may be one, and with which probability."""
    confused: list[tuple[int, int]] = []  # noqa: RUF012
    """That many rows predicted to be in the first are in the second."""


def confusion_notes(confused: Sequence[tuple[int, int]], names: Sequence[str]) -> list[str]:
    """Say which clusters cannot be told apart."""
    notes = [
        f"{names[a]} could not be told apart from {names[b]}: many rows predicted to be in the first are in "
        "the second."
        for a, b in confused
    ]
    return [note[:1].upper() + note[1:] for note in notes]


def notes_called(clusters: Clusters, names: Sequence[str]) -> list[str]:
    """Return the notes of clusters, which are called by these names instead of their labels."""
    confused = clusters.hints_.confused
    return [
        *clusters.notes_[: len(clusters.notes_) - len(confused)],
        *confusion_notes(confused, names),
    ]


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

    By Bayes' rule, from how many of all known rows have such neighbours: where clusters overlap, or are
    halves of one, many have, and nothing is suggested.
    """
    from sklearn.neighbors import NearestNeighbors

    labels = np.repeat(np.arange(clusters.n_discovered_), list(map(len, clusters.members_)))
    if not 2 * NEIGHBORS < labels.size <= MOST_KNOWN:
        return []
    rows = np.concatenate(clusters.members_)
    search = NearestNeighbors(n_neighbors=NEIGHBORS).fit(clusters.as_compared(points.rows(rows)))
    votes = labels[search.kneighbors(return_distance=False)]
    own = (votes == labels[:, None]).sum(axis=1)
    likeliest = [int(np.bincount(row).argmax()) for row in votes]
    margin = (
        np.array([int((row == k).sum()) for row, k in zip(votes, likeliest, strict=True)]) - own
    )
    found: list[Suggestion] = []
    for place in np.flatnonzero(margin >= NEIGHBORS // 2).tolist():
        share = (np.count_nonzero(margin >= margin[place]) + 1) / (labels.size + 1)
        chance = min(SUREST, PRIOR_WRONG * TELLING / share)
        if chance >= LEAST:
            pair = int(labels[place]), likeliest[place]
            found.append(Suggestion("wrong", chance, pair, int(rows[place])))
    return sorted(found, key=lambda one: -one.probability)
