"""Which of several uncertain rows few questions settle, where answers may be wrong."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from samekind.algorithms.focused import constants as const
from samekind.algorithms.focused.learner import Learner
from samekind.algorithms.focused.open_row import OpenRow
from samekind.algorithms.focused.questions import score_open_rows
from samekind.flow import FloatArray

__all__ = ["QuickRows", "settled_per_question"]


def settled_per_question(prior: FloatArray) -> float:
    """Return the chance that a row is settled, for each question about it.

    It is asked about in the likeliest clusters, one after the other, until one of them holds it; after
    `ENOUGH_ANSWERS` it is new, or left in doubt.

    Parameters
    ----------
    prior : array of shape (n_clusters + 1,)
        Probability of each cluster, and of "new".

    Examples
    --------
    Half of such rows take one question and half take two, which is two rows for three questions:

    >>> round(settled_per_question(np.array([0.5, 0.5, 0.0])), 2)
    0.67
    """
    asked = np.sort(prior[:-1])[::-1][: const.ENOUGH_ANSWERS - 1]
    questions = asked @ np.arange(1, asked.size + 1)
    questions += const.ENOUGH_ANSWERS * (1.0 - asked.sum())
    return float((asked.sum() + prior[-1]) / questions)


class QuickRows:
    """Draws uncertain rows, and takes those of them that are likely settled by few questions.

    A row that many clusters may hold takes four questions and is left in doubt after them, one that two may
    hold takes one or two.
    """

    def __init__(self, learner: Learner, prior: Callable[[OpenRow], FloatArray]) -> None:
        self._learner = learner
        self._prior = prior

    def draw(self, rng: np.random.Generator, size: int) -> list[int]:
        """Draw up to so many uncertain rows, the quickest first."""
        model, points = self._learner.model, self._learner.points
        drawn = model.predictor.sample_uncertain(rng, const.QUICK_AMONG * size)
        rows: list[int] = np.unique(drawn).tolist()
        if not rows or not model.scorer.n_clusters:
            return rows[:size]
        open_rows = [OpenRow(row, points.row(row), -1, "refine") for row in rows]
        score_open_rows(open_rows, model)
        yields = np.array([settled_per_question(self._prior(row)) for row in open_rows])
        return [rows[place] for place in np.argsort(-yields, kind="stable")[:size].tolist()]
