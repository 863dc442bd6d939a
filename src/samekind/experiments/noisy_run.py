"""One run of `focused` against answers of which some are wrong, or against the same ones without errors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from time import perf_counter
from typing import Any

import numpy as np

from samekind.clusters import Clusters
from samekind.engine import Session
from samekind.experiments.one_run import Instance
from samekind.experiments.truth import Truth
from samekind.measures import adjusted_rand_index
from samekind.oracles import NoisyOracle

__all__ = ["NoisySetup", "follow_noisy", "measure"]

GOOD = 0.9  # adjusted Rand index that, with all true clusters found, is the goal
STEP = 5  # questions between two looks whether the goal is reached


@dataclass(frozen=True)
class NoisySetup:
    """What a run depends on beside its number.

    Of the answers a share of `error` is wrong, always the same ones, and "focused" is to estimate how many;
    with None there are no errors, and it knows. It is measured after `budget` questions. Where nothing is
    wrong it goes on to the goal, but to no more than `cap` questions. Rows are asked about one at a time.
    """

    samekind: str
    n: int | None
    error: float | None
    budget: int
    cap: int

    @property
    def has_goal(self) -> bool:
        """Whether it is to be known when all clusters were found and the labels good."""
        return not self.error

    def as_dict(self) -> dict[str, Any]:
        """Return it as it stands in a record."""
        return asdict(self)


def follow_noisy(
    data: Instance, seed: int, setup: NoisySetup, check: Callable[[], None]
) -> dict[str, Any]:
    """Run `focused`, and return what it has after its budget.

    ``goal_at`` is after how many questions all true clusters were found and the adjusted Rand index was 0.9,
    known to 5 questions; None if that was not so up to the cap, or is not looked for.
    """
    started = perf_counter()
    noisy = setup.error is not None
    oracle = NoisyOracle(data.y, error=setup.error, seed=seed) if noisy else data.oracle
    parameters = {"error_rate": "estimate"} if noisy else {}
    measured: dict[str, Any] | None = None
    goal_at: int | None = None
    next_look = STEP
    with Session(
        data.points,
        "focused",
        budget=setup.cap,
        batch=1,
        epsilon=None,
        random_state=seed,
        **parameters,
    ) as session:
        while True:
            asked = session.n_questions
            over = measured is None and (asked >= setup.budget or session.done)
            look = setup.has_goal and goal_at is None and (asked >= next_look or session.done)
            if over or look:
                now = measure(session.clusters(), data.truth)
                next_look = asked + STEP - asked % STEP
                if over:
                    measured = now | {"estimated_error": _estimate(session)}
                if look and now["found"] == now["of"] and now["ari"] >= GOOD:
                    goal_at = asked
            enough = measured is not None and not (setup.has_goal and goal_at is None)
            if session.done or enough:
                break
            session.answer_all(oracle(session.pending()))
            check()
        assert measured is not None
        return {
            **measured,
            "stop": session.stop_reason or "enough",
            "goal_at": goal_at,
            "seconds": round(perf_counter() - started, 3),
        }


def measure(clusters: Clusters, truth: Truth) -> dict[str, Any]:
    """Return how good clusters are if rows asked about may be in wrong ones.

    A true cluster is found if most of the members of some cluster are of it.
    """
    found = set()
    for members in clusters.members_:
        counts = np.bincount(truth.codes[members], minlength=truth.count)
        if 2 * counts.max() > len(members):
            found.add(int(counts.argmax()))
    asked = np.concatenate([*clusters.members_, clusters.given_up_])
    labels = clusters.labels_
    return {
        "questions": clusters.n_questions_,
        "found": len(found),
        "of": truth.count,
        "returned": clusters.n_discovered_,
        "ari": round(adjusted_rand_index(truth.codes, labels), 6),
        "ari_asked": round(adjusted_rand_index(truth.codes[asked], labels[asked]), 6),
    }


def _estimate(session: Session) -> float | None:
    """Return which share of the answers the algorithm holds to be wrong; None if it takes all for true."""
    return session.clusters().error_rate_
