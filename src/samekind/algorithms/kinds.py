"""What a flow knows so far."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind._intmap import IntMap
from samekind.algorithms.findings import Findings
from samekind.points import Points, Sampler

__all__ = ["GIVEN_UP", "UNKNOWN", "Given", "Kinds"]

UNKNOWN = -1
GIVEN_UP = -2


class Given(NamedTuple):
    """What is known before a run begins."""

    rows: list[int]  # in the order in which they became known
    groups: list[int]  # for each of them the number of its kind, 0, 1, …
    parted: list[tuple[int, int]]  # groups known to be different
    ask: list[int]  # rows to be asked about first


class Kinds:
    """The kinds discovered so far, their members, their centres, and which are recovered.

    The flow alone writes it; anyone may read it between two waves of questions. Kinds are numbered
    in the order of their discovery. Distinguish, as the paper does:

    - *members*: every row known to be of the kind, each once, the discoverer first;
    - *uniform samples*: draws (repeats count) that are uniform over the kind, whose mean is its centre.

    A flow that predicts also answers, as of the wave that is asked now and without any effect on the run:

    - `findings()`: what it would say if it ended here;
    - `confidence(rows)`: how likely each row is of the kind that it is known, or predicted, to be of;
    - `outlook()`: the expected number of questions until the next new kind; None when there is no telling.
    """

    def __init__(self, d: int) -> None:
        self.members: list[list[int]] = []
        self.n_uniform: list[int] = []
        self.recovered: list[int] = []  # in the order of recovery
        self.given_up: list[int] = []  # rows about which the oracle was too unsure
        self.notes: list[str] = []
        self.n_samples = 0
        self.n_rounds = 0
        self.sampler: Sampler | None = None  # of the current flow, for its clock
        self.who: NDArray[np.int64] | None = (
            None  # gave the last answers, where answers may be wrong
        )
        self.skipped: set[int] = set()  # rows to be given up as soon as somebody is unsure of them
        self.given: Given | None = None  # for a flow that can begin with it
        self.findings: Callable[[], Findings] | None = None  # of a flow that predicts
        self.confidence: Callable[[NDArray[np.intp]], NDArray[np.float64]] | None = None
        self.outlook: Callable[[], float | None] | None = None
        self._merged = 0
        self._kind_of = IntMap()
        self._open = np.zeros(8, dtype=bool)  # discovered, not recovered
        self._centers = np.empty((8, d))
        self._first_members = np.empty(8, dtype=np.intp)

    def __len__(self) -> int:
        return len(self.members)

    @property
    def n_discovered(self) -> int:
        """How many kinds there are, those merged into others not counted."""
        return len(self.members) - self._merged

    @property
    def centers(self) -> NDArray[np.float64]:
        """(L, d) running mean of each kind's uniform samples; final once the kind is recovered."""
        return self._centers[: len(self)]

    @property
    def first_members(self) -> NDArray[np.intp]:
        """(L,) the representative z_i of each kind in Algorithm 1."""
        return self._first_members[: len(self)]

    @property
    def n_labelled(self) -> int:
        """Return how many rows are known, those given up among them."""
        return len(self._kind_of)

    def kind_of(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the kind of each row, UNKNOWN or GIVEN_UP."""
        return self._kind_of.get(rows, UNKNOWN)

    def kind_of_row(self, row: int) -> int:
        """Return the kind of one row, UNKNOWN or GIVEN_UP."""
        return self._kind_of.get_one(row, UNKNOWN)

    def is_recovered(self, kind: int) -> bool:
        """Return whether the kind's centre is final."""
        return not self._open[kind]

    def is_open(self, kinds: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return for each number whether it is a kind that is discovered but not recovered."""
        return (kinds >= 0) & self._open[kinds]

    def discover(self, row: int, x: NDArray[np.float64]) -> int:
        """Make the row the first member of a new kind."""
        kind = len(self)
        if kind == len(self._centers):
            self._centers = np.resize(self._centers, (2 * kind, self._centers.shape[1]))
            self._first_members = np.resize(self._first_members, 2 * kind)
            self._open = np.resize(self._open, 2 * kind)
        self._centers[kind] = x
        self._first_members[kind] = row
        self.members.append([])
        self.n_uniform.append(0)
        self._open[kind] = True
        self.add_member(row, kind)
        return kind

    def add_member(self, row: int, kind: int) -> None:
        """Note that a row is of a kind."""
        self._kind_of.put_one(row, kind)
        self.members[kind].append(row)

    def add_members(self, rows: NDArray[np.intp], kinds: NDArray[np.intp]) -> None:
        """Note that each row is of its kind."""
        self._kind_of.put(rows, kinds)
        members = self.members
        for row, kind in zip(rows.tolist(), kinds.tolist(), strict=True):
            members[kind].append(row)

    def give_up(self, row: int) -> None:
        """Note that the oracle could not tell of what kind the row is."""
        self.given_up.append(row)
        self._kind_of.put_one(row, GIVEN_UP)

    def add_uniform(self, kind: int, x: NDArray[np.float64]) -> None:
        """Add one uniform sample to the running mean of a kind that is not recovered yet."""
        self.n_uniform[kind] += 1
        if self.n_uniform[kind] == 1:
            self._centers[kind] = x
        else:  # exact when all samples are equal, unlike sum / count
            center = self._centers[kind]
            center += (x - center) / self.n_uniform[kind]

    def set_uniform(self, kind: int, samples: Iterable[NDArray[np.float64]]) -> None:
        """Replace the uniform samples of a kind."""
        self.n_uniform[kind] = 0
        for x in samples:
            self.add_uniform(kind, x)

    def unrecovered_heavy(self, enough: int) -> list[int]:
        """Return the unrecovered kinds with at least so many uniform samples, largest first."""
        found = [
            kind
            for kind, count in enumerate(self.n_uniform)
            if count >= enough and not self.is_recovered(kind)
        ]
        return sorted(found, key=lambda kind: -self.n_uniform[kind])

    def note(self, text: str) -> None:
        """Keep something the user should know, once."""
        if text not in self.notes:
            self.notes.append(text)

    def recover(self, kinds: Iterable[int]) -> NDArray[np.float64]:
        """Declare these kinds recovered and return their centres, (m, d)."""
        new = list(kinds)
        self._open[new] = False
        self.recovered += new
        return self._centers[new]

    def set_center(self, kind: int, center: NDArray[np.float64]) -> None:
        """Set the centre of a kind."""
        self._centers[kind] = center

    def move(self, row: int, kind: int) -> None:
        """Make a row, which is a member of another kind, one of this."""
        self.members[self.kind_of_row(row)].remove(row)
        self.add_member(row, kind)

    def split(self, kind: int, rows: list[int], x: NDArray[np.float64]) -> int:
        """Make a new kind of some members of another; return its number. `x` is the first of them."""
        left = set(rows)
        self.members[kind] = [row for row in self.members[kind] if row not in left]
        new = self.discover(rows[0], x)
        self.members[new] += rows[1:]
        self._kind_of.put(np.array(rows), np.full(len(rows), new))
        return new

    def merge(self, keep: int, gone: int) -> None:
        """Make one kind part of another; it stays as a number without members."""
        rows = np.array(self.members[gone])
        self._kind_of.put(rows, np.full(rows.size, keep))
        self.members[keep] += self.members[gone]
        self.members[gone] = []
        self._open[gone] = False
        if gone in self.recovered:
            self.recovered.remove(gone)
        self._merged += 1

    def settle(self, points: Points) -> None:
        """Recover all kinds with exact centres, when every row of the data is labelled."""
        for kind, members in enumerate(self.members):
            if not members:
                continue
            rows = points.rows(np.array(members))
            self._centers[kind] = rows[0] + (rows - rows[0]).mean(axis=0)
        self.recover(kind for kind in range(len(self)) if not self.is_recovered(kind))
