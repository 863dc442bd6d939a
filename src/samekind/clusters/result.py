"""The result: centres, members, and what can be done with them."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import check_choice, check_positive_int
from samekind.algorithms.classify import ORDERS, Classified, classify
from samekind.algorithms.findings import Certificate
from samekind.algorithms.kinds import UNKNOWN, Kinds
from samekind.clusters import storage, tables
from samekind.clusters.said import Said, known_names
from samekind.flow import Oracle, drive
from samekind.measures import Reliability
from samekind.oracles import LabelOracle, as_oracle
from samekind.points import ArrayPoints, Points

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

__all__ = ["Clusters"]

NOBODY = np.empty(0, dtype=np.intp)


@dataclass(frozen=True, eq=False, repr=False)
class Clusters:
    """What was found. Clusters are numbered from 0: first the recovered ones, in that order.

    Attributes
    ----------
    centers_ : (n_recovered_, d) array
        Approximate centroids of the recovered clusters.
    all_centers_ : (n_discovered_, d) array
        The same, and after them the mean of what is known of those only discovered.
    members_ : list of arrays
        For every discovered cluster the rows known to be in it; its first one stands for it in questions.
    given_up_ : array
        Rows about which the oracle was too unsure.
    n_questions_, n_samples_, n_rounds_ : int
        Questions charged, rows drawn (with replacement), rounds.
    history_ : dict of arrays
        "questions", "samples", "discovered" and "recovered" after each wave.
    stop_reason_ : str or None
        "reducible", "covered", "exhausted", "certified", "unplaced", "target", "budget" or "user"; None if
        not finished.
    sampling_time_ : float
        Seconds spent in drawing and in passes over the data.
    contradictions_, notes_ : list of str
        Answers that cannot all be true; what else one should know, such as clusters that overlap.
    standard_errors_ : (n_discovered_,) array or None
        How far each centre may be off, as a distance; "focused" only, like the next three.
    certificate_ : Certificate or None
        What the result promises; `print` it.
    unproven_ : list of (int, int)
        Pairs of clusters about which nobody was asked: they may be one. Likeliest first.
    prototypes_ : tuple of arrays, or None
        Coordinates and clusters of the labelled rows, which `predict` compares new rows with.
    annotators_ : list of Reliability
        Who answered, how often, and the estimated share of wrong answers; only if several answered or answers
        may be wrong (``error_rate``).
    algorithm_, random_state_, n_rows_ : str, int, int
        What was run, on how many rows.
    """

    all_centers_: NDArray[np.float64]
    n_recovered_: int
    members_: list[NDArray[np.intp]]
    given_up_: NDArray[np.intp]
    n_questions_: int
    n_samples_: int
    n_rounds_: int
    history_: dict[str, NDArray[np.int64]]
    stop_reason_: str | None
    sampling_time_: float
    contradictions_: list[str]
    notes_: list[str]
    algorithm_: str
    random_state_: int
    n_rows_: int
    standard_errors_: NDArray[np.float64] | None = None
    certificate_: Certificate | None = None
    unproven_: list[tuple[int, int]] = field(default_factory=list)
    prototypes_: tuple[NDArray[np.float64], NDArray[np.intp]] | None = None
    annotators_: list[Reliability] = field(default_factory=list)
    _points: Points | None = None
    _labels: dict[str, Any] = field(default_factory=dict)  # "all" once they are there, or "later"

    @classmethod
    def from_kinds(
        cls,
        kinds: Kinds,
        points: Points,
        *,
        algorithm: str,
        seed: int,
        n_questions: int,
        history: dict[str, NDArray[np.int64]],
        stop_reason: str | None,
        contradictions: list[str],
    ) -> Clusters:
        """Copy what a flow knows so far."""
        rest = (k for k in range(len(kinds)) if kinds.members[k] and not kinds.is_recovered(k))
        order = [*kinds.recovered, *rest]
        said = Said(kinds.findings(), order) if kinds.findings is not None else None
        members = [np.array(kinds.members[kind], dtype=np.intp) for kind in order]
        given_up = np.array(kinds.given_up, dtype=np.intp)
        return cls(
            all_centers_=kinds.centers[order] if said is None else said.centers,
            n_recovered_=len(kinds.recovered),
            members_=members,
            given_up_=given_up,
            n_questions_=n_questions,
            n_samples_=kinds.n_samples,
            n_rounds_=kinds.n_rounds,
            history_=history,
            stop_reason_=stop_reason,
            sampling_time_=kinds.sampler.seconds if kinds.sampler is not None else 0.0,
            contradictions_=contradictions,
            notes_=[*kinds.notes, *(said.notes if said is not None else ())],
            algorithm_=algorithm,
            random_state_=seed,
            n_rows_=points.n,
            standard_errors_=None if said is None else said.standard_errors,
            certificate_=None if said is None else said.certificate,
            unproven_=[] if said is None else said.unproven,
            prototypes_=None if said is None else said.prototypes(kinds, points),
            _points=points,
            _labels={} if said is None else {"later": partial(said.labels, members, given_up)},
        )

    @property
    def centers_(self) -> NDArray[np.float64]:
        """Approximate centroids of the recovered clusters."""
        return self.all_centers_[: self.n_recovered_]

    @property
    def n_discovered_(self) -> int:
        """Clusters seen, recovered or not."""
        return len(self.members_)

    @property
    def labels_(self) -> Any:
        """The cluster of every row: the known one where there is one, else the predicted one.

        "focused" predicts from all labelled rows, the other algorithms take the nearest centre. They are
        computed when first asked for, and are an array of the kind that the data are. -1 where there is no
        cluster at all, and for rows that were given up.
        """
        if "later" in self._labels:
            found = self._labels.pop("later")()
            if self._points is not None and isinstance(found, np.ndarray):
                found = self._points.distribute(found)
            self._labels["all"] = found
        if "all" not in self._labels:
            if self._points is None:
                raise AttributeError(
                    "these clusters were loaded without the labels of their rows. "
                    "Call predict(X) with the data."
                )
            self._labels["all"] = self._predict(self._points, fitted=True)
        return self._labels["all"]

    def labels_of(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return what `labels_` says of some rows, wherever it is."""
        found: Any = self.labels_[rows]
        if not isinstance(found, np.ndarray):
            assert self._points is not None
            found = self._points.gather(found)
        labels: NDArray[np.intp] = found
        return labels

    def _have_labels(self) -> bool:
        """Return whether there are labels in memory; "focused" makes them now if it has not yet."""
        if "later" in self._labels and not getattr(self._points, "is_remote", False):
            return self.labels_ is not None
        return "all" in self._labels and isinstance(self._labels["all"], np.ndarray)

    def predict(self, X: ArrayLike) -> NDArray[np.intp]:
        """Return the cluster of each row of X, without a question: the nearest labelled row's or centre's.

        -1 if there is no cluster at all.
        """
        points = ArrayPoints(X)
        self._check_columns(points.d)
        labels: NDArray[np.intp] = self._predict(points, fitted=False)
        return labels

    def classify(
        self,
        X: ArrayLike,
        oracle: Oracle | Callable[[int, int], bool | None],
        *,
        rows: ArrayLike | None = None,
        order: str = "nearest",
        patience: int = 3,
        batch: int = 4096,
    ) -> Classified:
        """Ask of which cluster each row of X is, nearest centre first (Heuristic 1).

        Parameters
        ----------
        X : array-like of shape (m, d)
            Rows to classify.
        oracle : LabelOracle, FunctionOracle or callable
            Answers pairs (row to classify, member of a cluster), as in `solve`.
        rows : (m,) array of int or None
            The numbers by which the oracle knows the rows of X. By default they follow the rows that
            the clusters were found in: ``n_rows_``, ``n_rows_ + 1``, and so on.
        order : {"nearest", "index"}
            Which clusters to ask first.
        patience : int
            A row is given up after so many UNSURE answers.
        batch : int
            Rows asked about at once.

        Returns
        -------
        Classified
            `kinds`, the cluster of each row (-1 if it is in none, -2 if given up), and `n_asked`, the
            questions each row took.
        """
        check_choice("order", order, ORDERS)
        check_positive_int("patience", patience)
        check_positive_int("batch", batch)
        answers = as_oracle(oracle)
        points = ArrayPoints(X)
        self._check_columns(points.d)
        numbers = np.arange(points.n) + self.n_rows_ if rows is None else np.asarray(rows)
        if numbers.shape != (points.n,):
            raise ValueError(f"rows must be {points.n} numbers, got shape {numbers.shape}.")
        if numbers.dtype.kind not in "iu" or numbers.min() < 0:
            raise ValueError(
                "rows must be the numbers of rows, 0 or more, as the oracle knows them."
            )
        numbers = numbers.astype(np.intp, copy=False)
        if isinstance(answers, LabelOracle) and numbers.max() >= len(answers):
            raise ValueError(
                f"the oracle has {len(answers)} labels, but rows up to {numbers.max()} are asked about: "
                f"new rows are numbered from {self.n_rows_} on. Give it the labels of old and new rows "
                "together, or pass the numbers of rows it knows as rows."
            )
        kinds = self._as_kinds()
        n_asked = np.zeros(points.n, dtype=np.intp)
        first = np.sort(np.unique(numbers, return_index=True)[1])  # a repeated row is asked once
        unknown = first[kinds.kind_of(numbers[first]) == UNKNOWN]
        for start in range(0, unknown.size, batch):
            some = unknown[start : start + batch]
            flow = classify(
                numbers[some],
                points.rows(some),
                kinds,
                order=order,
                patience=patience,
                grow=False,
            )
            n_asked[some] = drive(flow, answers).n_asked
        return Classified(kinds.kind_of(numbers), n_asked)

    def _as_kinds(self) -> Kinds:
        """Return what a flow would know that had found these clusters."""
        kinds = Kinds(self.all_centers_.shape[1])
        for center, members in zip(self.all_centers_, self.members_, strict=True):
            kind = kinds.discover(int(members[0]), center)
            kinds.add_members(members[1:], np.full(len(members) - 1, kind))
        return kinds

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a line for each row: its cluster, and whether that is known or predicted."""
        return tables.rows_frame(self)

    def centers_frame(self, feature_names: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a table with a line for each discovered cluster: its centre and how much is known."""
        return tables.centers_frame(self, feature_names)

    def save(self, path: str | Path) -> None:
        """Write everything to one .npz file, the labels too if they are computed."""
        storage.save(self, path)

    @classmethod
    def load(cls, path: str | Path) -> Clusters:
        """Read what `save` wrote."""
        return cls(**storage.load(path))

    def __getstate__(self) -> dict[str, Any]:
        """Leave the data out of pickles and copies; labels that are computed stay."""
        labels = {"all": self.labels_} if self._have_labels() else {}
        return self.__dict__ | {"_points": None, "_labels": labels}

    def __dask_tokenize__(self) -> tuple[str, str]:
        """Let Dask know equal clusters from others, without the data."""
        state = {k: v for k, v in self.__dict__.items() if k not in ("_points", "_labels")}
        return "Clusters", hashlib.blake2b(pickle.dumps(state), digest_size=16).hexdigest()

    def __repr__(self) -> str:
        return (
            f"Clusters({self.n_recovered_} recovered of {self.n_discovered_} discovered, "
            f"{self.n_questions_:,} questions, {self.n_rows_:,} rows, algorithm_={self.algorithm_!r}, "
            f"stop_reason_={self.stop_reason_!r})"
        )

    def __rich__(self) -> Table:
        return self.summary()

    def summary(self) -> Table:
        """Return a table for the terminal: ``rich.print(clusters)`` shows it."""
        return tables.summary(self)

    def _predict(self, points: Points, *, fitted: bool) -> Any:
        if self.n_discovered_ == 0:
            nowhere = np.zeros((1, points.d))
            return points.label_by_nearest(nowhere, known_names(np.array([-1]), [], NOBODY))
        places, of = self.all_centers_, np.arange(self.n_discovered_)
        if self.prototypes_ is not None:
            places, of = self.prototypes_
        known, given_up = (self.members_, self.given_up_) if fitted else ([], NOBODY)
        return points.label_by_nearest(places, known_names(of, known, given_up))

    def _check_columns(self, d: int) -> None:
        if d != self.all_centers_.shape[1]:
            raise ValueError(
                f"X has {d} columns, but the clusters were found in {self.all_centers_.shape[1]}."
            )
