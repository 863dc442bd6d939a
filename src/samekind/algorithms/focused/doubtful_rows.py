"""Rows whose cluster is little more than a guess: few answers about them, and none that settles it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.learner import Learner, OpenRow
from samekind.algorithms.focused.noise_model import NoiseModel
from samekind.algorithms.focused.questions import score_open_rows
from samekind.flow import FloatArray

__all__ = ["DoubtfulRows"]


class DoubtfulRows:
    """Rows that several clusters refused and none holds: asking on costs more than other rows do.

    They count as members of their likeliest cluster, but the model does not learn from them, and they are
    proof of nothing. What it learns from others tells more about them later: then they move, and those that
    an answer confirms are learnt.
    """

    def __init__(
        self, learner: Learner, noise: NoiseModel, prior: Callable[[OpenRow], FloatArray]
    ) -> None:
        self._learner = learner
        self._noise = noise
        self._prior = prior
        self._open_rows: dict[int, OpenRow] = {}

    def __contains__(self, row: int) -> bool:
        return row in self._open_rows

    def __iter__(self) -> Iterator[int]:
        return iter(self._open_rows)

    def add(self, open_row: OpenRow) -> None:
        """Add a row."""
        open_row.is_doubtful = True
        self._open_rows[open_row.row] = open_row
        self._noise.doubtful.add(open_row.row)

    def review(self) -> None:
        """Find out by all that is known now where the rows are; learn those of which that is clear."""
        rows = list(self._open_rows.values())
        if rows:
            score_open_rows(rows, self._learner.model)
        for open_row in rows:
            self._place(open_row)

    def _place(self, open_row: OpenRow) -> None:
        """Find out where a row is; learn it if that is clear."""
        learner, noise, row = self._learner, self._noise, open_row.row
        prior = self._prior(open_row)
        posterior = noise.posterior(row, prior)
        best = int(posterior[:-1].argmax())
        noise.priors[row], noise.certainty[row] = prior, float(posterior[best])
        if learner.state.cluster_of_row(row) < 0:
            return
        if best != learner.state.cluster_of_row(row):
            learner.move(row, best)
        if posterior[best] >= const.CERTAIN_MEMBER and noise.is_confirmed(row, best):
            del self._open_rows[row]
            noise.doubtful.discard(row)
            if row not in learner.audit:
                learner.model.learn(row, open_row.x, best, surprising=True)

    def place_anew(self, row: int) -> int:
        """Find out where one of the rows is, after an answer; return its cluster, below 0 if it has none."""
        open_row = self._open_rows[row]
        score_open_rows([open_row], self._learner.model)
        self._place(open_row)
        return self._learner.state.cluster_of_row(row)
