"""One run of one algorithm, measured once for all columns of all tables."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusters import Clusters
from samekind.engine import Session
from samekind.experiments.truth import Truth
from samekind.flow import Answers, Pairs
from samekind.measures import centroid_errors
from samekind.oracles import LabelOracle
from samekind.points import ArrayPoints, Sampler

__all__ = ["Instance", "Setup", "draws_seed", "questions_per_point", "run_once"]


def draws_seed(run: int) -> int:
    """Return the seed of a run's draws; made data has the number of the run itself as its seed."""
    return 1_000_000 + run


@dataclass(frozen=True)
class Setup:
    """What a run depends on beside its number: runs are comparable if these agree.

    A run asks at least `budget` questions, and goes on to `target` recovered clusters but to no more
    than `cap` questions.
    """

    samekind: str
    n: int | None
    budget: int
    cap: int
    target: int
    batch: int | str

    def as_dict(self) -> dict[str, Any]:
        """Return it as it stands in a record."""
        return asdict(self)


class TimedPoints(ArrayPoints):
    """Points of one thread that know the clock of their latest sampler."""

    # Weak: the sampler knows its points, and a circle would keep the data of every run in memory until the
    # garbage collector comes, which it seldom does for so few objects.
    _latest: weakref.ref[Sampler] | None = None

    def sampler(self) -> Sampler:
        """Return a new sampler."""
        sampler = super().sampler()
        self._latest = weakref.ref(sampler)
        return sampler

    @property
    def sampling_seconds(self) -> float:
        """Time spent in the latest sampler, as long as a flow uses it."""
        sampler = self._latest() if self._latest is not None else None
        return 0.0 if sampler is None else sampler.seconds


class Instance:
    """A data set in memory, shared by the algorithms that run on it."""

    def __init__(self, X: NDArray[Any], y: NDArray[Any]) -> None:
        self.points = TimedPoints(X, threads=1)
        self.y = y
        self.oracle = LabelOracle(y)
        self.n_kinds = len(np.unique(y))

    @cached_property
    def truth(self) -> Truth:
        """The true clusters."""
        return Truth(self.points.X, self.y)


def run_once(
    data: Instance, algorithm: str, seed: int, setup: Setup, check: Callable[[], None]
) -> dict[str, Any]:
    """Run an algorithm far enough for all columns, and return what the tables need.

    `check` is called after every wave of questions and may raise to stop the run. All lists of the result
    have an item for each cluster in the order of recovery (of discovery for ``discovered_at``). A centre is
    final when its cluster is recovered, so the errors at the end are those of that moment; only when every
    row is labelled does an algorithm put the exact centres in their place.
    """
    started = perf_counter()
    # The exact algorithms cannot run without their stopping test, nor do they need to.
    never_stop: dict[str, Any] = {} if algorithm.endswith("-exact") else {"epsilon": None}
    rounds_at: list[int] = []
    sampling_at: list[float] = []
    at_budget: Clusters | None = None
    with Session(
        data.points,
        algorithm,
        budget=setup.cap,
        batch=setup.batch,
        random_state=seed,
        **never_stop,
    ) as session:
        while not session.done:
            session.answer_all(data.oracle(session.pending()))
            check()
            now = session.progress
            if (new := now.recovered - len(rounds_at)) > 0:
                # A recovery ends a round; the next one has begun, unless the flow has ended.
                before, ended = max(rounds_at, default=0), max(1, now.rounds - (not session.done))
                rounds_at += [before - (before - ended) * i // new for i in range(1, new + 1)]
                sampling_at += [round(data.points.sampling_seconds, 6)] * new
            if now.recovered == data.n_kinds:  # more questions change nothing that is counted
                break
            if now.questions >= setup.budget:
                at_budget = at_budget or session.clusters()
                if now.recovered >= setup.target:
                    break
        clusters = session.clusters()
    found = [data.y[members[0]] for members in clusters.members_[: clusters.n_recovered_]]
    errors = centroid_errors(data.points.X, data.y, clusters.centers_, found)
    return {
        "questions": clusters.n_questions_,
        "stop": clusters.stop_reason_ or "enough",
        "recovered_at": _first_reached(clusters, "recovered"),
        "discovered_at": _first_reached(clusters, "discovered"),
        "rounds_at": rounds_at,
        "sampling_at": sampling_at,
        # JSON has no infinity; a cluster of equal points missed by its centre has that error.
        "errors": [float(f"{e:.6g}") if np.isfinite(e) else None for e in errors.tolist()],
        "per_point": questions_per_point(at_budget or clusters, data),
        "seconds": round(perf_counter() - started, 3),
    }


def questions_per_point(clusters: Clusters, data: Instance) -> dict[str, Any]:
    """Classify the whole data set as if every point were new, and count the questions of each.

    The paper does the same: it leaves aside that some points are known from the run. Known members
    would cost nothing, and after 200,000 questions there are as many of them as of others.
    """
    n, y = data.points.n, data.y

    def answer(pairs: Pairs) -> Answers:
        same: Answers = (y[pairs[:, 0] - n] == y[pairs[:, 1]]).view(np.int8)
        return same

    representatives = [members[:1] for members in clusters.members_]  # all that a question needs
    found = replace(clusters, members_=representatives).classify(data.points.X, answer)
    counts = np.bincount(np.minimum(found.n_asked, 3), minlength=4)
    return {
        "after": clusters.n_questions_,
        "shares": [float(count) / n for count in counts[1:]],  # 1, 2, at least 3 questions
        "mean": float(found.n_asked.mean()),
        "in_none": float((found.labels < 0).mean()),
    }


def _first_reached(clusters: Clusters, what: str) -> list[int]:
    """Return the questions after which there were 1, 2, 3, … clusters."""
    counts = clusters.history_[what]
    most = int(counts[-1]) if len(counts) else 0
    first = np.searchsorted(counts, np.arange(1, most + 1))
    reached: list[int] = clusters.history_["questions"][first].tolist()
    return reached
