"""The session that puts new rows into clusters that are known."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from samekind.algorithms import Classified, PaperParams, classify
from samekind.clusters import Clusters
from samekind.data import as_points
from samekind.engine.base_session import BaseSession
from samekind.engine.runner import FlowRunner
from samekind.flow import DIFFERENT, SAME, UNANSWERED, Answers, Flow, IntArray, Pairs
from samekind.ledger import Implications, Ledger, pairs_of
from samekind.points import Points

__all__ = ["NOT_ASKED", "ClassifyParams", "ClassifySession"]

NOT_ASKED = -3


@dataclass(frozen=True, kw_only=True)
class ClassifyParams(PaperParams):
    """Parameters of a classification.

    Attributes
    ----------
    grow : bool
        Whether a row that every cluster refused founds a new one, which later rows are compared with.
    """

    grow: bool = False


class ClassifySession(BaseSession):
    """Asks in which cluster each new row is, the predicted one first; about one question a row.

    It asks, takes answers, undoes and resumes as a `Session` does. What was said of one member of a cluster
    holds for the whole cluster, so answers stay true when the clusters have grown since.

    Parameters
    ----------
    clusters : Clusters
        What is known.
    X : array-like of shape (m, d), or Points
        The new rows. In questions and in the ledger they are numbered after those in which the clusters
        were found: ``clusters.n_rows_``, ``clusters.n_rows_ + 1``, and so on.
    ledger : None, path, URL or Ledger
        Where answers are kept; one of its own for each set of new rows.
    budget : int or None
        The most questions to ask; None asks without limit.
    **parameters
        ``order``, ``patience``, ``batch`` and ``grow``; see `ClassifyParams`.

    Examples
    --------
    >>> import samekind
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> clusters = samekind.solve(X, lambda a, b: a // 2 == b // 2, random_state=0)
    >>> session = ClassifySession(clusters, [[4.9]])
    >>> session.pending().shape
    (1, 2)
    >>> session.tell(session.pending(), [1])
    >>> session.result().labels.tolist() == clusters.predict([[4.9]]).tolist()
    True
    """

    def __init__(
        self,
        clusters: Clusters,
        X: Any,
        *,
        ledger: Ledger | str | Path | None = None,
        budget: int | None = None,
        **parameters: object,
    ) -> None:
        self.clusters = clusters
        self.points = as_points(X)
        clusters.check_columns(self.points.d)
        self._numbers = clusters.n_rows_ + np.arange(self.points.n)
        self._options = ClassifyParams.make(self.algorithm, parameters)
        super().__init__(self._options, ledger, budget)
        try:
            if ledger is not None:
                self._bind_ledger()
            self._runner = FlowRunner(
                self._begin,
                self.ledger,
                look_up=self._look_up,
                names_annotators=False,
                on_wave=lambda: None,
                what=self.algorithm,
            )
            self._runner.restart()
        except BaseException:
            self.close()
            raise

    def _bind_ledger(self) -> None:
        self._bind(*self.identity(self.clusters, self.points))

    @staticmethod
    def identity(clusters: Clusters, points: Points) -> tuple[str, str]:
        """Return the fingerprint and the shape that a ledger of new rows is tied to."""
        fingerprint = f"{points.fingerprint()} after {clusters.n_rows_}"
        digest = hashlib.blake2b(fingerprint.encode(), digest_size=16).hexdigest()
        return digest, f"{points.n} new rows x {points.d}"

    @property
    def algorithm(self) -> str:
        """The name of what asks."""
        return "classify"

    def result(self) -> Classified:
        """Return the cluster of each new row as far as it is known, and the questions each one took.

        -1 where every cluster refused it, -2 where it was given up, `NOT_ASKED` where it is not decided yet.
        """
        told = self.ledger.log.volunteered()
        is_told = np.isin(self._numbers, pairs_of(told, told["answer"] == SAME))
        return Classified(self._labels.copy(), np.where(is_told, 0, self._n_asked))

    @property
    def n_decided(self) -> int:
        """How many of the new rows are decided."""
        return int(np.count_nonzero(self._labels != NOT_ASKED))

    def members_of(self, row: int) -> list[int]:
        """Return all rows known to be in a row's cluster, old and new ones, its first one first."""
        cluster = self.cluster_of(row)
        return list(self._state.members[cluster]) if cluster >= 0 else [row]

    def cluster_of(self, row: int) -> int:
        """Return the cluster of a row that is known, be it an old or a new one; -1: none."""
        return self._state.cluster_of_row(row)

    def _begin(self) -> Flow[str]:
        self._labels = np.full(self.points.n, NOT_ASKED, dtype=np.intp)
        self._n_asked = np.zeros(self.points.n, dtype=np.intp)
        self._state = self.clusters.to_state()
        self._implied = _what_clusters_imply(self.clusters.members_)
        self._n_taken_in = 0
        answered = np.isin(self._numbers, pairs_of(self.ledger.active()))
        # what is known needs no wait for the rest
        self._order = np.argsort(~answered, kind="stable")
        return self._classify_all()

    def _classify_all(self) -> Flow[str]:
        options = self._options
        size = options.batch_size(self.points.n)
        for start in range(0, self.points.n, size):
            some = self._order[start : start + size]
            new, X = self._numbers[some], self.clusters.as_compared(self.points.rows(some))
            likely = self.clusters.rank(X, self._state.centers[self.clusters.n_discovered_ :])
            found = yield from classify(
                new, X, self._state, options, grow=options.grow, likely=likely
            )
            self._labels[some], self._n_asked[some] = found
        return "exhausted"

    def _look_up(self, pairs: Pairs) -> Answers:
        new = self.ledger.log.active(self._n_taken_in)
        self._implied.add(pairs_of(new), new["answer"])
        self._n_taken_in = self.ledger.revision.answers
        answers = self._implied.get(pairs, UNANSWERED)
        said = self.ledger.lookup(pairs, infer=False)
        return np.where(answers == UNANSWERED, said, answers)


def _what_clusters_imply(members: list[IntArray]) -> Implications:
    """Return that rows of a cluster are the same, and clusters different."""
    implied = Implications()
    firsts = np.array([rows[0] for rows in members], dtype=np.intp)
    same = np.concatenate(
        [
            *(np.column_stack([np.full(len(rows) - 1, rows[0]), rows[1:]]) for rows in members),
            np.empty((0, 2), dtype=np.intp),
        ]
    )
    one, two = np.triu_indices(firsts.size, 1)
    different = np.column_stack([firsts[one], firsts[two]])
    for pairs, answer in ((same, SAME), (different, DIFFERENT)):
        implied.add(pairs.astype(np.intp), np.full(len(pairs), answer, dtype=np.int8))
    return implied
