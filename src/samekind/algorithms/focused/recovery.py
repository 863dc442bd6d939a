"""Which kinds are recovered: trials with rows predicted to be of them, until their centres are accurate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused.evidence import Evidence
from samekind.algorithms.focused.trials import Trials
from samekind.algorithms.state import UNKNOWN, ClusterState
from samekind.points import Points

__all__ = ["Recovery"]

ACCURATE = 0.05  # estimated error of a centre at which its cluster is recovered
HOPELESS = 60  # trials after which a kind that is not recovered gets no more
AT_ONCE = 6  # trials of a kind that are made before looking at their outcome
POOL, DRAWN = 256, 12  # rows of a kind, among which some are drawn for its trials


class Recovery:
    """Draws rows for trials, and recovers kinds by their outcome; `on_recovery` is told which."""

    def __init__(
        self,
        points: Points,
        kinds: ClusterState,
        evidence: Evidence,
        rng: np.random.Generator,
        on_recovery: Callable[[int], None],
    ) -> None:
        self.trials = Trials()
        self._points = points
        self._kinds = kinds
        self._evidence = evidence
        self._rng = rng
        self._on_recovery = on_recovery
        self._planned: Counter[int] = Counter()  # trials of each kind in this wave
        self._held: dict[int, list[int]] = {}  # rows picked for the trials of a kind
        self._unfilled: tuple[tuple[int, ...], list[int]] = (), []  # when listed last, and they

    def begin(self) -> None:
        """Begin a wave: nothing is planned."""
        self._planned.clear()

    def merge(self, keep: int, gone: int) -> None:
        """Note that two kinds are one."""
        self.trials.merge(keep, gone)
        self._held.pop(gone, None)
        self._unfilled = (), []

    def unfilled(self) -> list[int]:
        """Return the kinds that need trials, but for those that seem hopeless."""
        kinds, trials = self._kinds, self.trials
        state = (len(kinds.members), len(kinds.recovered), trials.n_made)
        if state != self._unfilled[0]:
            k = len(kinds)
            tried = trials.made[:k] >= HOPELESS
            self._unfilled = state, (kinds.is_open(np.arange(k)) & ~tried).nonzero()[0].tolist()
        return self._unfilled[1]

    def draw(self) -> int:
        """Draw from the rows predicted to be of the kind that is nearest to being recovered; -1: none."""
        planned = self._planned
        waiting = [kind for kind in self.unfilled() if planned.get(kind, 0) < AT_ONCE]
        if not waiting:
            return -1
        kind = max(waiting, key=self.trials.promise.__getitem__)
        planned[kind] += 1
        held = self._held.setdefault(kind, [])
        for _ in range(2):
            while held:
                row = held.pop()
                unknown = self._kinds.cluster_of_row(row) == UNKNOWN
                if unknown and self._evidence.predicted_of(row) == kind:
                    return row
            held += self._influential(self._evidence.pick(kind, self._rng, POOL))
        self.trials.miss(kind)  # hardly a row left
        self._recover(kind)
        return -1

    def _influential(self, rows: NDArray[np.intp]) -> list[int]:
        """Draw some unknown ones of these rows, in proportion to their distance from the mean of all."""
        if not rows.size:
            return []
        X = self._points.rows(rows)
        steps = X - X.mean(axis=0)
        distances = np.sqrt(np.einsum("ij,ij->i", steps, steps))
        unknown = self._kinds.cluster_of(rows) == UNKNOWN
        distances *= unknown
        if not distances.any():
            few: list[int] = rows[unknown][:DRAWN].tolist()
            return few
        sums = distances.cumsum()
        places = sums.searchsorted(self._rng.random(DRAWN) * sums[-1], side="right")
        drawn: list[int] = rows[np.minimum(places, rows.size - 1)].tolist()
        return drawn

    def learn(self, predicted: int, kind: int) -> None:
        """Take in the outcome of a trial."""
        self.trials.add(predicted, kind)
        self._recover(predicted)

    def _recover(self, kind: int) -> None:
        """Recover a kind if its centre is accurate enough."""
        trials = self.trials
        if self._kinds.is_recovered(kind):
            return
        if trials.foreign(kind) ** 2 > ACCURATE and trials.made[kind] % 8 != 0:
            return
        counts, means, _ = self._evidence.regions()
        self._evidence.sizes[: counts.size] = counts
        held, members = int(counts[kind]), len(self._kinds.members[kind])
        if trials.error(kind, held, members) <= ACCURATE:
            self._kinds.set_center(kind, means[kind])
            self._kinds.recover([kind])
            self._kinds.n_rounds += 1
            self._on_recovery(kind)
