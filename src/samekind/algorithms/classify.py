"""Of what kind are these rows? Algorithm 1 and Heuristic 1 of the paper, for many rows in waves.

Every row asks its likeliest kind; those refused ask their next one, and so on. A row that every kind
has refused founds a new one, which the rows still in doubt then ask. The rows of a wave are
all at the same place of their lists, so a wave is a few array operations; asked one row at a
time, the questions about a row are the same, but for what the rows before it taught.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from samekind.algorithms.kinds import GIVEN_UP, UNKNOWN, Kinds
from samekind.flow import SAME, UNSURE, Flow, Pairs

__all__ = ["ORDERS", "Classified", "classify"]

ORDERS = ("nearest", "index")


class Classified(NamedTuple):
    """The kind of each row (UNKNOWN where none fits, GIVEN_UP), and the questions each one took."""

    kinds: NDArray[np.intp]
    n_asked: NDArray[np.intp]


def classify(
    rows: NDArray[np.intp],
    X: NDArray[np.float64],
    kinds: Kinds,
    *,
    order: str = "nearest",
    patience: int = 3,
    grow: bool = True,
) -> Flow[Classified]:
    """Ask of what kind each row is.

    Parameters
    ----------
    rows : (m,) array of int
        Distinct rows that are not labelled yet.
    X : (m, d) array
        Their coordinates.
    kinds : Kinds
        Learns the new members and, with `grow`, the new kinds.
    order : {"nearest", "index"}
        Ask the nearest centre first (Heuristic 1), or the kinds as they were found (Algorithm 1).
    patience : int
        A row is given up after so many UNSURE answers about it.
    grow : bool
        Whether a row that all kinds refused founds a new one.
    """
    state = _State(rows, kinds, patience)
    ranking = _Ranking(X, kinds, order)
    place = 0  # of all rows in doubt, in their lists of kinds
    while (doubtful := state.in_doubt).size:
        if place < len(kinds):
            yield from _ask(state, doubtful, ranking.at(place, doubtful))
            place += 1
        else:
            state.settle_first(X if grow else None)
    return Classified(state.result, state.n_asked)


class _State:
    """The rows of one call of `classify`."""

    def __init__(self, rows: NDArray[np.intp], kinds: Kinds, patience: int) -> None:
        self.rows = rows
        self.kinds = kinds
        self.patience = patience
        self.result = np.full(rows.size, UNKNOWN, dtype=np.intp)
        self.n_asked = np.zeros(rows.size, dtype=np.intp)
        self.in_doubt = np.arange(rows.size)
        self.n_unsure: dict[int, int] = {}
        self.half_refused: set[int] = set()

    def settle_first(self, X: NDArray[np.float64] | None) -> None:
        """Settle the first row that every kind refused: it founds a new one, given coordinates X.

        A row that some kind only half refused (UNSURE, and no member left to ask about) may be of
        that kind, so it is given up instead.
        """
        first = int(self.in_doubt[0])
        if first in self.half_refused:
            self.give_up(first)
        elif X is not None:
            self.result[first] = self.kinds.discover(int(self.rows[first]), X[first])
        self.in_doubt = self.in_doubt[1:]

    def join(self, members: NDArray[np.intp], kinds: NDArray[np.intp]) -> None:
        self.result[members] = kinds
        self.kinds.add_members(self.rows[members], kinds)

    def give_up(self, i: int) -> None:
        self.result[i] = GIVEN_UP
        self.kinds.give_up(int(self.rows[i]))


class _Ranking:
    """The kinds in the order in which each row asks them; sorted only for rows that need it."""

    def __init__(self, X: NDArray[np.float64], kinds: Kinds, order: str) -> None:
        self.n_known = len(kinds)
        self.by_distance = order == "nearest"
        if self.by_distance and self.n_known:
            self.distances = cdist(X, kinds.centers, "sqeuclidean")

    def at(self, place: int, doubtful: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the kind at this place of each list; all rows stand at the same place."""
        if place >= self.n_known or not self.by_distance:  # founded meanwhile: last on every list
            return np.full(doubtful.size, place)
        if place == 0:  # where most rows end
            nearest: NDArray[np.intp] = self.distances.argmin(axis=1)
            return nearest
        if place == 1:
            self.order = self.distances[doubtful].argsort(axis=1, kind="stable")
            self.index = np.empty(len(self.distances), dtype=np.intp)
            self.index[doubtful] = np.arange(doubtful.size)
        following: NDArray[np.intp] = self.order[self.index[doubtful], place]
        return following


def _ask(state: _State, doubtful: NDArray[np.intp], candidates: NDArray[np.intp]) -> Flow[None]:
    """Ask each row in doubt about its candidate; while UNSURE, about the candidate's other members."""
    answers = yield _pairs(state.rows[doubtful], state.kinds.first_members[candidates])
    state.n_asked[doubtful] += 1
    same = answers == SAME
    state.join(doubtful[same], candidates[same])
    unsure = np.flatnonzero(answers == UNSURE)
    if unsure.size:
        yield from _ask_others(state, doubtful[unsure], candidates[unsure])
    state.in_doubt = doubtful[state.result[doubtful] == UNKNOWN]


def _ask_others(
    state: _State, unsure: NDArray[np.intp], candidates: NDArray[np.intp]
) -> Flow[None]:
    member = 0
    while unsure.size:
        member += 1
        again, others = [], []
        for k, i in enumerate(unsure.tolist()):
            state.n_unsure[i] = state.n_unsure.get(i, 0) + 1
            members = state.kinds.members[candidates[k]]
            if state.n_unsure[i] >= state.patience:
                state.give_up(i)
            elif member < len(members):
                again.append(k)
                others.append(members[member])
            else:
                state.half_refused.add(i)
        if not again:
            return
        unsure, candidates = unsure[again], candidates[again]
        answers = yield _pairs(state.rows[unsure], np.array(others))
        state.n_asked[unsure] += 1
        same = answers == SAME
        state.join(unsure[same], candidates[same])
        unsure, candidates = unsure[answers == UNSURE], candidates[answers == UNSURE]


def _pairs(rows: NDArray[np.intp], others: NDArray[np.intp]) -> Pairs:
    pairs = np.empty((rows.size, 2), dtype=np.intp)
    pairs[:, 0] = rows
    pairs[:, 1] = others
    return pairs
