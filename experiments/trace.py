"""Runs, traced from their first question to their last: a setup says how, its `trace` does it.

What a trace returns goes to ``runs.jsonl`` and is all that tables are made from. JSON has no infinity: None
stands for an infinite error.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from experiments.evaluation import evaluate, evaluate_noisy, finite, questions_per_point
from experiments.foresight import PRACTICAL, with_foresight
from experiments.store import Record
from experiments.truth import Instance
from samekind import Clusters, NoisyOracle, Session, __version__

Emit = Callable[[Record], None]
"""Takes what is known before a run is over, and is kept if it is ended."""

GOAL = 0.9  # adjusted Rand index that, with all true clusters found, is the goal of a noisy run
STEP = 5  # questions between two looks whether the goal is reached


def draws_seed(run: int) -> int:
    """Return the seed of a run's draws; generated data have the number of the run itself as their seed."""
    return 1_000_000 + run


@dataclass(frozen=True, kw_only=True)
class Setup(ABC):
    """What a run depends on beside its number, and how it is done: runs with equal setups are comparable.

    `n` are the rows of generated data; None is the usual number.
    """

    n: int | None = None
    samekind: str = __version__

    def as_record(self) -> Record:
        """Return it as it stands in ``runs.jsonl``."""
        record: Record = json.loads(json.dumps(asdict(self)))
        return record

    @abstractmethod
    def trace(self, algorithm: str, data: Instance, run: int, emit: Emit) -> Record:
        """Do the run, and return what tables need."""


@dataclass(frozen=True)
class PaperSetup(Setup):
    """A run of one of the paper's algorithms, far enough for all columns of all tables.

    It asks at least `budget` questions, and goes on to `target` recovered clusters, but to no more
    than `cap` questions. The time for sampling is noted when so many clusters are recovered as `timed_at`
    says: to ask for it takes time itself.
    """

    budget: int
    cap: int
    target: int
    batch: int | Literal["auto"]
    timed_at: tuple[int, ...] = ()

    def as_record(self) -> Record:
        """Return it as it stands in ``runs.jsonl``; no result depends on when the clock is read."""
        return {name: value for name, value in super().as_record().items() if name != "timed_at"}

    def trace(self, algorithm: str, data: Instance, run: int, emit: Emit) -> Record:
        """Return lists with an item for each cluster in the order of recovery (``discovered_at``: discovery).

        A centre is final when its cluster is recovered, so the errors at the end are those of that moment;
        only when every row is labelled does an algorithm put the exact centres in their place.
        """
        started = perf_counter()
        rounds_at: list[int] = []
        sampling_at: list[float | None] = []
        at_budget: Clusters | None = None
        with _session(algorithm, data, run, budget=self.cap, batch=self.batch) as session:
            while not session.done:
                pairs = session.pending()
                session.answer_all(data.oracle(pairs))
                now = session.progress
                if (new := now.recovered - len(rounds_at)) > 0:
                    # A recovery ends a round; the next one has begun, unless the flow has ended.
                    before, ended = (
                        max(rounds_at, default=0),
                        max(1, now.rounds - (not session.done)),
                    )
                    rounds_at += [before - (before - ended) * i // new for i in range(1, new + 1)]
                    numbers = range(len(sampling_at) + 1, len(sampling_at) + new + 1)
                    timed = any(number in self.timed_at for number in numbers)
                    seconds = round(session.clusters().sampling_time_, 6) if timed else None
                    sampling_at += [seconds] * new
                if (
                    now.recovered == data.n_clusters
                ):  # more questions change nothing that is counted
                    break
                if now.questions >= self.budget:
                    at_budget = at_budget or session.clusters()
                    if now.recovered >= self.target:
                        break
            clusters = session.clusters()
        recovered = data.true_clusters(clusters)[: clusters.n_recovered_]
        return {
            "questions": clusters.n_questions_,
            "stop": clusters.stop_reason_ or "enough",
            "recovered_at": _first_reached(clusters, "recovered"),
            "discovered_at": _first_reached(clusters, "discovered"),
            "rounds_at": rounds_at,
            "sampling_at": sampling_at,
            "errors": [finite(e) for e in data.centroid_errors(clusters.centers_, recovered)],
            "per_point": questions_per_point(at_budget or clusters, data),
            "seconds": round(perf_counter() - started, 3),
        }


@dataclass(frozen=True)
class FocusedSetup(Setup):
    """A run of "focused", which is evaluated when it has asked as many questions as each of the `marks`.

    It ends with the last one. Rows are asked about one at a time.
    """

    marks: tuple[int, ...]
    parameters: dict[str, str] = field(default_factory=dict)
    per_point: bool = False  # whether all rows are classified at the end

    def trace(self, algorithm: str, data: Instance, run: int, emit: Emit) -> Record:
        """Return what was seen on the way; the time to look is not counted.

        ``recovered_at``, ``seconds_at`` and ``median_error_at`` have an item for each true cluster in the
        order of recovery, as it was at the first mark at which it was recovered; ``discovered_at`` for each
        in the order of discovery. ``looks`` has what `evaluate` returns at each mark.
        """
        started, looking = perf_counter(), 0.0
        looks: list[Record] = []
        recoveries: list[tuple[int, float, float | None]] = []
        discoveries = _Discoveries(data)
        marks = self.marks
        with _session("focused", data, run, budget=marks[-1], **self.parameters) as session:
            while len(looks) < len(marks):
                if not session.done:
                    pairs = session.pending()
                    session.answer_all(data.oracle(pairs))
                    discoveries.add(pairs, session)
                # Every row may be labelled before the last mark.
                if session.done or session.n_questions >= marks[len(looks)]:
                    since = perf_counter()
                    seconds = round(since - started - looking, 3)
                    clusters = session.clusters()
                    look = {"at": marks[len(looks)], **evaluate(clusters, data)}
                    new = look["recovered"] - len(recoveries)
                    error = look["recovered_error"]
                    recoveries += [(clusters.n_questions_, seconds, error)] * new
                    looks.append(look)
                    looking += perf_counter() - since
        seconds = perf_counter() - started - looking
        names = ("recovered_at", "seconds_at", "median_error_at")
        measured: Record = {
            "questions": clusters.n_questions_,
            "stop": clusters.stop_reason_,
            **{name: [row[i] for row in recoveries] for i, name in enumerate(names)},
            "discovered_at": discoveries.at,
            "looks": looks,
            "seconds": round(seconds, 3),
        }
        if self.per_point:
            measured["per_point"] = questions_per_point(clusters, data)
        return measured


@dataclass(frozen=True)
class NoisySetup(Setup):
    """A run of "focused" against answers of which some are wrong, or against the same ones without errors.

    Of the answers a share of `error` is wrong, always the same ones, and "focused" is to estimate how many;
    with None there are no errors, and it knows. It is measured after `budget` questions. Where nothing is
    wrong it goes on to the goal, but to no more than `cap` questions. Rows are asked about one at a time.
    """

    error: float | None
    budget: int
    cap: int

    def trace(self, algorithm: str, data: Instance, run: int, emit: Emit) -> Record:
        """Return what there is after the budget.

        ``goal_at`` is after how many questions all true clusters were found and the adjusted Rand index was
        0.9, known to 5 questions; None if that was not so up to the cap, or is not looked for.
        """
        started = perf_counter()
        noisy, has_goal = self.error is not None, not self.error
        parameters = {"error_rate": "estimate"} if noisy else {}
        oracle = data.oracle
        if noisy:
            oracle = NoisyOracle(data.y, error=self.error, seed=draws_seed(run))
        measured: Record = {}
        goal_at: int | None = None
        next_look = STEP
        with _session("focused", data, run, budget=self.cap, **parameters) as session:
            while True:
                asked = session.progress.questions
                over = not measured and (asked >= self.budget or session.done)
                look = has_goal and goal_at is None and (asked >= next_look or session.done)
                if over or look:
                    now = evaluate_noisy(session.clusters(), data)
                    next_look = asked + STEP - asked % STEP
                    if over:
                        measured = now
                    if look and now["found"] == now["of"] and now["ari"] >= GOAL:
                        goal_at = asked
                enough = measured and not (has_goal and goal_at is None)
                if session.done or enough:
                    break
                pairs = session.pending()
                session.answer_all(oracle(pairs))
            return {
                **measured,
                "stop": session.stop_reason or "enough",
                "goal_at": goal_at,
                "seconds": round(perf_counter() - started, 3),
            }


def never_stops(algorithm: str) -> dict[str, Any]:
    """Return parameters with which an algorithm goes on to its budget.

    The exact algorithms cannot run without their stopping test, nor do they need to.
    """
    return {} if algorithm.endswith("-exact") else {"epsilon": None}


def _session(algorithm: str, data: Instance, run: int, **parameters: Any) -> Session:
    """Return a session of a run that asks about one row at a time, unless it is told otherwise."""
    common: dict[str, Any] = {"batch": 1, "random_state": draws_seed(run)}
    if algorithm == "focused":
        common["goal"] = "centers"  # what the paper's tables count
    parameters = common | parameters | never_stops(algorithm)
    if algorithm in PRACTICAL and parameters["batch"] == 1:
        return Session(data.points, with_foresight(algorithm, data.codes), **parameters)
    return Session(data.points, algorithm, **parameters)


def _first_reached(clusters: Clusters, what: str) -> list[int]:
    """Return the questions after which there were 1, 2, 3, … clusters."""
    counts = clusters.history_[what]
    most = int(counts[-1]) if len(counts) else 0
    first = np.searchsorted(counts, np.arange(1, most + 1))
    reached: list[int] = clusters.history_["questions"][first].tolist()
    return reached


class _Discoveries:
    """When the first row of each true cluster was settled.

    A row is settled when it is no longer asked about, or others are compared with it. The session itself
    counts clusters that may be merged later, and so are not what is to be known here.
    """

    def __init__(self, data: Instance) -> None:
        self.at: list[int] = []
        self._codes = data.codes
        self._seen = np.zeros(data.n_clusters, dtype=bool)

    def add(self, asked: NDArray[np.intp], session: Session) -> None:
        """Take in the pairs just answered."""
        questions = session.progress.questions
        self._note(asked[:, 1], questions - len(asked))
        if session.stop_reason != "budget":  # else a row may be left unsettled
            self._note(np.setdiff1d(asked[:, 0], session.pending()[:, 0]), questions)

    def _note(self, rows: NDArray[np.intp], questions: int) -> None:
        for code in self._codes[rows].tolist():
            if not self._seen[code]:
                self._seen[code] = True
                self.at.append(questions)
