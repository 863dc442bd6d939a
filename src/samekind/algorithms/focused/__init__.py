"""`focused`: draw where nothing is known, ask the likeliest kind first, predict the rest."""

from __future__ import annotations

import numpy as np

from samekind.algorithms.focused.flow import Focus
from samekind.algorithms.focused.wary import Wary
from samekind.algorithms.kinds import Kinds
from samekind.algorithms.sampling import Settings
from samekind.flow import Flow
from samekind.points import Points

__all__ = ["CERTIFY", "GOALS", "PARTS", "STOPS", "focused"]

CERTIFY = ("lazy", "full")
STOPS = ("reducible", "certified")
GOALS = ("centers", "labels")
PARTS = (
    "explore",
    "survey",
    "fill",
    "refine",
    "graph",
    "discriminant",
    "merge",
    "audit",
    "rectify",
)
"""What can be switched off, to see what it is worth."""


def focused(
    points: Points, kinds: Kinds, rng: np.random.Generator, settings: Settings
) -> Flow[str]:
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
    run = Focus if settings.error_rate is None else Wary
    return run(points, kinds, rng, settings).run()
