"""`focused`: draw where nothing is known, ask the likeliest cluster first, predict the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.base import Algorithm, Known
from samekind.algorithms.focused.flow import Focus
from samekind.algorithms.focused.params import PARTS, FocusedParams
from samekind.algorithms.focused.wary import Wary
from samekind.algorithms.snapshot import Snapshot
from samekind.flow import Flow
from samekind.points import Points

__all__ = ["PARTS", "Focused", "FocusedParams"]


class Focused(Algorithm[FocusedParams]):
    """Draw where no labelled row is near, ask the likeliest kind first, and predict the rest.

    Every draw has one of these aims:

    - *explore*: rows far from all labelled rows, with a chance proportional to distance⁴;
    - *survey*: rows drawn uniformly, as often as that finds new kinds, compared with exploring;
    - *fill*: rows predicted to be of a kind that is not recovered yet, those far from its centre more often;
    - *refine*: rows whose predicted kind is doubtful;
    - *the paper's*: D²-samples with respect to the recovered centres, a fixed share of all draws;
    - *audit*: uniform draws, a fixed share, whose answers are kept apart and give the certificate.

    With ``goal="labels"`` nothing is asked for the sake of accurate centres: no fill, so no cluster is
    recovered, and the run ends with the budget, the certificate, or when every row is known.

    What is guaranteed: the paper's draws are exactly those of its Algorithm 2, whatever the rest does, and
    the number of draws between two of them does not depend on their outcome. So Lemma 2 holds for them:
    while clusters that are not ε-reducible are missing, each falls outside the recovered ones with
    probability at least ε/4, and the run stops by itself only after more than 8/ε·ln(10 t) of them in a row
    did not (`QuietTest`). The other draws only add to what is known. The certificate's bounds hold for any
    data; see `Audit`.

    With an error rate, answers may be wrong: see `Wary`. Then the guarantees hold as far as the rows asked
    about are where they are held to be.
    """

    name = "focused"
    Params = FocusedParams
    predicts = True
    resumes_from_known = True
    asks_lineups = True

    def __init__(
        self,
        points: Points,
        params: FocusedParams,
        rng: np.random.Generator,
        known: Known | None = None,
    ) -> None:
        super().__init__(points, params, rng, known)
        kind = Focus if params.trusts_answers else Wary
        self._focus = kind(points, self.state, rng, params, self.sampler, known)

    def run(self) -> Flow[str]:
        """Draw, ask and learn until there is a reason to stop."""
        return self._focus.run()

    def snapshot(self) -> Snapshot:
        """Return what is known and predicted now."""
        return self._snapshot(*self._focus.findings())

    def confidence(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how likely each row is in the cluster that it is known, or predicted, to be in."""
        return self._focus.confidence(rows)

    def questions_to_next_cluster(self) -> float | None:
        """Return the expected number of questions until the next new cluster."""
        return self._focus.outlook()
