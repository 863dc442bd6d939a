"""What is known of a project on a server, as a local session says it."""

from __future__ import annotations

import json
import tempfile
from functools import cached_property
from pathlib import Path
from time import perf_counter
from typing import Any
from urllib.parse import quote

import numpy as np
from numpy.typing import ArrayLike

from samekind.client.connection import Connection
from samekind.client.parsing import record_from
from samekind.client.telling import CODES
from samekind.clusters import Clusters
from samekind.flow import FloatArray, IntArray
from samekind.ledger import Contradiction, Statement
from samekind.measures import Reliability
from samekind.progress import Progress
from samekind.project import Status

__all__ = ["RemoteFindings"]


class RemoteFindings:
    """Where a project on a server stands; what comes from its clusters is for owners."""

    def __init__(self, connection: Connection, path: str) -> None:
        self._connection = connection
        self._path = path
        self._started = perf_counter()
        self._found: tuple[object, Clusters] | None = None  # and at which revision

    @cached_property
    def who(self) -> str:
        """Whose link it is: all that is told here is theirs."""
        return str(self._get("")["who"])

    def status(self) -> Status:
        """Return where the work stands."""
        return record_from(Status, self._get("/status"))

    @property
    def done(self) -> bool:
        """Whether there is nothing left to ask."""
        return self.status().done

    @property
    def stop_reason(self) -> str | None:
        """Why nothing is asked any more; None while something is."""
        return self.status().stop_reason

    @property
    def n_questions(self) -> int:
        """How many questions were answered and charged."""
        return self.status().questions

    @property
    def budget(self) -> int | None:
        """The most that is asked for, in presses, as projects count; None without limit."""
        return self.status().budget

    @property
    def n_known(self) -> int:
        """How many rows are known to be in some cluster."""
        return self.status().known_rows

    @property
    def n_contradictions(self) -> int:
        """How many answers contradict earlier ones; where none may be wrong."""
        return self.status().contradictions

    @property
    def contradictions(self) -> list[Contradiction]:
        """Answers that cannot all be true, with the pairs involved; where none may be wrong."""
        found = [each["pairs"] for each in self._get("/contradictions")["contradictions"]]
        return [Contradiction(tuple(map(_statement, pairs))) for pairs in found]

    def export(self, name: str, path: str | Path | None = None) -> bytes:
        """Return what was found as a file, ``"clusters.csv"`` say; with a path, write it there, too."""
        found = self._connection.request("GET", f"{self._path}/export/{quote(name, safe='')}")
        if path is not None:
            Path(path).write_bytes(found)
        return found

    def clusters(self) -> Clusters:
        """Return what is found so far, as a local session does; its rows are not with it."""
        status = self.status()
        now = status.revision, status.stop_reason
        if self._found is None or self._found[0] != now:
            with tempfile.TemporaryDirectory() as folder:
                self.export("clusters.npz", file := Path(folder, "clusters.npz"))
                self._found = now, Clusters.load(file)
        return self._found[1]

    def labels(self) -> IntArray:
        """Return the cluster of every row, -1 where none fits."""
        return np.asarray(self.clusters().labels_)

    @property
    def algorithm(self) -> str:
        """The name of the algorithm."""
        return self.clusters().algorithm_

    @property
    def seed(self) -> int:
        """From which all chance comes."""
        return self.clusters().random_state_

    @property
    def progress(self) -> Progress:
        """Where the project stands: seconds since this session was made, no target, `budget` in presses."""
        found, seconds = self.clusters(), perf_counter() - self._started
        now = {name: int(values[-1]) for name, values in found.history_.items()}
        return Progress(
            **now, rounds=found.n_rounds_, seconds=seconds, budget=self.budget, target=None
        )

    @property
    def history(self) -> dict[str, IntArray]:
        """What there was after each wave: questions, samples, and clusters discovered and recovered."""
        return dict(self.clusters().history_)

    def reliability(self) -> list[Reliability]:
        """Return how often each annotator's answers are wrong; none where one answers, and is believed."""
        return list(self.clusters().annotators_)

    def confidence(self, rows: ArrayLike) -> FloatArray:
        """Return how likely each row is in the cluster of ``labels_``, to four digits; NaN: nobody knows."""
        sure = [row["confidence"] for row in json.loads(self.export("clusters.json"))["rows"]]
        return np.array(sure, dtype=np.float64)[np.asarray(rows, dtype=np.intp)]

    def known_clusters(self) -> list[list[int]]:
        """Return the rows known to be in each cluster, in the order of `clusters`."""
        return [rows.tolist() for rows in self.clusters().members_]

    def places_of(self, rows: ArrayLike) -> IntArray:
        """Return which of `known_clusters` each row is in, at the moment; below 0 if that is not known."""
        place = {row: k for k, own in enumerate(self.known_clusters()) for row in own}
        return np.array([place.get(row, -1) for row in np.asarray(rows).tolist()], dtype=np.intp)

    def members_of(self, row: int) -> list[int]:
        """Return all rows known to be in a row's cluster, its first one first; none if unknown."""
        return next((rows for rows in self.known_clusters() if row in rows), [])

    def rank_clusters(self, row: int) -> list[int]:
        """Return a row of every cluster, of 1,000 at most, those first that a row is likeliest in."""
        found = self._get("/find", {"row": row, "most": 1000})
        return [each["cluster"] for each in found["clusters"]]

    def _get(self, path: str, query: dict[str, Any] | None = None) -> Any:
        return self._connection.get(self._path + path, query)


def _statement(said: dict[str, Any]) -> Statement:
    return Statement(said["a"]["row"], said["b"]["row"], CODES[said["answer"]], said["who"])
