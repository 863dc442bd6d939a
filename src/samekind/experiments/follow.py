"""One run of `focused`, followed from its first question to its last."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusters import Clusters
from samekind.engine import Session
from samekind.experiments.one_run import Instance, questions_per_point
from samekind.experiments.truth import Truth
from samekind.flow import Pairs
from samekind.measures import adjusted_rand_index

__all__ = ["FocusedSetup", "follow", "look"]

ACCURATE = 0.1  # the error up to which a centre counts as accurate
MOST_ROWS = 100_000  # for the adjusted Rand index, which sorts them all at every look


@dataclass(frozen=True)
class FocusedSetup:
    """What a run of `focused` depends on beside its number.

    It is looked at when it has asked as many questions as each of the `marks`, and ends with the last one.
    Rows are asked about one at a time.
    """

    samekind: str
    n: int | None
    marks: tuple[int, ...]
    parameters: dict[str, str] = field(default_factory=dict)
    per_point: bool = False  # whether all points are classified at the end

    def as_dict(self) -> dict[str, Any]:
        """Return it as it stands in a record."""
        return asdict(self) | {"marks": list(self.marks)}


def follow(
    data: Instance, seed: int, setup: FocusedSetup, check: Callable[[], None]
) -> dict[str, Any]:
    """Run `focused` to its last mark, and return what was seen on the way.

    ``recovered_at``, ``rounds_at``, ``seconds_at`` and ``median_error_at`` have an item for each true cluster
    in the order in which their recovery was declared, ``discovered_at`` for each in the order of discovery.
    ``looks`` has what `look` returns at each mark. The time to look is not counted.
    """
    clock = _Clock()
    marks = list(setup.marks)
    looks: list[dict[str, Any]] = []
    recoveries = _Recoveries()
    discoveries = _Discoveries(data.truth)
    with Session(
        data.points,
        "focused",
        budget=marks[-1],
        batch=1,
        epsilon=None,
        random_state=seed,
        **setup.parameters,
    ) as session:
        recovered = 0
        while not session.done:
            pairs = session.pending()
            session.answer_all(data.oracle(pairs))
            check()
            discoveries.add(pairs, session)
            now = session.progress
            more, recovered = now.recovered > recovered, now.recovered
            due = now.questions >= marks[0]
            if more or due:
                with clock.paused:
                    clusters = session.clusters()
                    if more:
                        recoveries.add(clusters, data.truth, clock.seconds)
                    if due:
                        looks.append({"at": marks.pop(0), **look(clusters, data.truth)})
        clusters = session.clusters()
    # Every row may be labelled before the last mark.
    looks += [{"at": mark, **look(clusters, data.truth)} for mark in marks]
    measured: dict[str, Any] = {
        "questions": clusters.n_questions_,
        "stop": clusters.stop_reason_,
        **recoveries.as_dict(),
        "discovered_at": discoveries.at,
        "looks": looks,
        "seconds": round(clock.seconds, 3),
    }
    if setup.per_point:
        measured["per_point"] = questions_per_point(clusters, data)
    return measured


def look(clusters: Clusters, truth: Truth) -> dict[str, Any]:
    """Return how good clusters are. JSON has no infinity: None stands for it.

    Provisional clusters, which are still to be merged, never count twice: of several that are one true
    cluster the best centre counts. Rows predicted to be in any of them are predicted rightly.
    """
    codes = truth_of(clusters, truth)
    errors = truth.errors(clusters.all_centers_, codes)
    seen = np.unique(codes)
    best = np.full(truth.count, np.inf)
    np.minimum.at(best, codes, errors)
    declared = np.unique(codes[: clusters.n_recovered_])
    labels = clusters.labels_
    wrong = float((np.append(codes, -1)[labels] != truth.codes).mean())  # label -1: none
    missing = float(1 - truth.sizes[seen].sum() / len(truth.codes))
    promise = clusters.certificate_
    assert promise is not None
    return {
        "questions": clusters.n_questions_,
        "recovered": len(declared),
        "mistaken": int((best[declared] > ACCURATE).sum()),
        "accurate": int((best <= ACCURATE).sum()),
        "discovered": len(seen),
        "of": truth.count,
        "provisional": clusters.n_discovered_ - len(seen),
        "median_error": _finite(np.median(best[seen])) if seen.size else None,
        "ari": round(adjusted_rand_index(truth.codes, labels), 6)
        if len(labels) <= MOST_ROWS
        else None,
        "unproven": len(clusters.unproven_),
        "audited": promise.n_audited,
        "undiscovered_bound": promise.undiscovered,
        "undiscovered": missing,
        "wrong_bound": promise.wrong,
        "wrong": wrong,
        "holds": missing <= promise.undiscovered and wrong <= promise.wrong,
    }


def truth_of(clusters: Clusters, truth: Truth) -> NDArray[np.intp]:
    """Return which true cluster each cluster is, or is part of."""
    return truth.codes[np.array([members[0] for members in clusters.members_], dtype=np.intp)]


class _Recoveries:
    """When the recovery of 1, 2, 3, … true clusters was declared, and how it stood then."""

    def __init__(self) -> None:
        self._rows: list[tuple[int, int, float, float | None]] = []

    def add(self, clusters: Clusters, truth: Truth, seconds: float) -> None:
        """Take in a moment after a recovery."""
        codes = truth_of(clusters, truth)[: clusters.n_recovered_]
        new = len(np.unique(codes)) - len(self._rows)  # 0 if it is declared twice
        if new > 0:
            error = _finite(np.median(truth.errors(clusters.centers_, codes)))
            row = (clusters.n_questions_, clusters.n_rounds_, round(seconds, 3), error)
            self._rows += [row] * new

    def as_dict(self) -> dict[str, list[Any]]:
        """Return the columns."""
        names = ("recovered_at", "rounds_at", "seconds_at", "median_error_at")
        return {name: [row[i] for row in self._rows] for i, name in enumerate(names)}


class _Discoveries:
    """When the first row of each true cluster was settled.

    A row is settled when it is no longer asked about, or others are compared with it. The session itself
    counts clusters that may be merged later, and so are not what is to be known here.
    """

    def __init__(self, truth: Truth) -> None:
        self.at: list[int] = []
        self._codes = truth.codes
        self._seen = np.zeros(truth.count, dtype=bool)

    def add(self, asked: Pairs, session: Session) -> None:
        """Take in the pairs just answered."""
        self._note(asked[:, 1], session.n_questions - len(asked))
        if session.stop_reason != "budget":  # else a row may be left unsettled
            settled = np.setdiff1d(asked[:, 0], session.pending()[:, 0])
            self._note(settled, session.n_questions)

    def _note(self, rows: NDArray[np.intp], questions: int) -> None:
        for code in self._codes[rows].tolist():
            if not self._seen[code]:
                self._seen[code] = True
                self.at.append(questions)


class _Clock:
    """Seconds, but those under `paused`."""

    def __init__(self) -> None:
        self._from = perf_counter()
        self._stopped: float | None = None

    @property
    def seconds(self) -> float:
        return (perf_counter() if self._stopped is None else self._stopped) - self._from

    @property
    def paused(self) -> _Clock:
        return self

    def __enter__(self) -> None:
        self._stopped = perf_counter()

    def __exit__(self, *_: object) -> None:
        assert self._stopped is not None
        self._from += perf_counter() - self._stopped
        self._stopped = None


def _finite(value: Any) -> float | None:
    return float(f"{value:.6g}") if np.isfinite(value) else None
