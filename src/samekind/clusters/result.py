"""The result: centres, members, and what can be done with them."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import is_dask
from samekind.algorithms import Certificate, Classified, ClusterState, PaperParams, Snapshot
from samekind.clusters import storage, tables
from samekind.clusters.centers import lifted_centers, means_by_label
from samekind.clusters.labels import (
    NO_ROWS,
    check_labels_of_new_rows,
    classify_rows,
    label_by_nearest_center,
    label_map,
    likely_clusters,
    numbers_of_new_rows,
    volunteered_labels,
)
from samekind.flow import Answers, FloatArray, IntArray, Oracle, Pairs
from samekind.measures import Reliability
from samekind.oracles import as_oracle
from samekind.points import ArrayPoints, Points, WorkingSpace

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

__all__ = ["Clusters"]

MOST_REFUSALS = 5  # by the likeliest clusters, after which a row counts as one of a new cluster


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Clusters:
    """What was found. Clusters are numbered from 0: first the recovered ones, in that order.

    Attributes
    ----------
    centers_ : array of shape (recovered clusters, d)
        Approximate centroids of the recovered clusters.
    all_centers_ : array of shape (discovered clusters, d)
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
        "reducible", "rare", "covered", "exhausted", "certified", "unplaced", "target", "budget" or "user";
        None if not finished.
    sampling_time_ : float
        Seconds spent in drawing and in passes over the data.
    contradictions_, notes_ : list of str
        Answers that cannot all be true; what else one should know.
    certificate_ : Certificate or None
        What the result promises; `print` it. "focused" and "records" only, like the next two.
    prototypes_ : tuple of arrays, or None
        Coordinates and clusters of the labelled rows, which `predict` compares new rows with.
    error_rate_ : float or None
        The share of answers that seem to be wrong, where ``error_rate`` says that they may be.
    annotators_ : list of Reliability
        Who answered, how often, and the estimated share of wrong answers; if several did, or answers may err.
    space_ : WorkingSpace or None
        Where distances were taken, if not between the rows as they are: a few dimensions, or directions
        alone. Centres, standard errors and prototypes are in the columns that were given.
    algorithm_, random_state_, n_rows_
        What was run, on how many rows.
    """

    n_recovered_: int
    members_: list[IntArray]
    given_up_: IntArray
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
    certificate_: Certificate | None = None
    prototypes_: tuple[FloatArray, IntArray] | None = None
    error_rate_: float | None = None
    annotators_: list[Reliability] = field(default_factory=list)
    space_: WorkingSpace | None = None
    _centers: FloatArray | Callable[[Any], FloatArray]
    """All centres, or what computes them from the labels of all rows."""
    _labels: Any = None
    """The labels of all rows, or what computes them; None: by the nearest centre or prototype."""
    _points: Points | None = None

    @classmethod
    def from_snapshot(
        cls,
        snapshot: Snapshot,
        points: Points,
        opened: tuple[WorkingSpace | None, Points] | None = None,
        **of_run: Any,
    ) -> Clusters:
        """Return what an algorithm knows at one moment; `of_run` are the fields that others know.

        `opened` is the space in which it works, and the points there.
        """
        recovered = set(snapshot.recovered)
        rest = (k for k, rows in enumerate(snapshot.members) if rows and k not in recovered)
        order = [*snapshot.recovered, *rest]
        number_of = np.full(len(snapshot.members) + 1, -1, dtype=np.intp)  # the last one: none
        number_of[order] = np.arange(len(order))
        members = [np.array(snapshot.members[old], dtype=np.intp) for old in order]
        given_up = np.array(snapshot.given_up, dtype=np.intp)
        space, reduced = opened or (None, points)
        own = None if snapshot.centers is None else snapshot.centers[order]
        find_labels: Callable[[], Any] | None = None
        if space is not None and own is not None:
            find_labels = partial(label_by_nearest_center, reduced, own, members, given_up)
        predicted: dict[str, Any] = {}
        if snapshot.prediction is not None:
            prediction = snapshot.prediction
            find_labels = partial(prediction.labels, label_map(number_of, members, given_up))
            of = np.repeat(np.arange(len(members)), [len(rows) for rows in members])
            predicted = {
                "certificate_": prediction.certificate,
                "error_rate_": prediction.error_rate,
                "prototypes_": (points.rows(np.concatenate([*members, NO_ROWS])), of),
            }
        find_centers: FloatArray | Callable[[Any], FloatArray]
        if own is None:
            find_centers = partial(means_by_label, points, members)
        elif space is None:
            find_centers = own
        else:
            find_centers = partial(lifted_centers, points, reduced, space, members, own)
        return cls(
            n_recovered_=len(snapshot.recovered),
            members_=members,
            given_up_=given_up,
            n_samples_=snapshot.n_samples,
            n_rounds_=snapshot.n_rounds,
            sampling_time_=snapshot.sampling_seconds,
            notes_=[*snapshot.notes, *(snapshot.prediction.notes if snapshot.prediction else ())],
            n_rows_=points.n,
            space_=space,
            _centers=find_centers,
            _labels=find_labels,
            _points=points,
            **predicted,
            **of_run,
        )

    def with_volunteered(self, lookup: Callable[[Pairs], Answers], rows: IntArray) -> Clusters:
        """Return the same with some rows where people said they belong, and out of where they do not.

        Rows known to the run stay where it put them. One that is out of its predicted cluster goes to the
        nearest centre of those that nobody ruled out.
        """
        known = np.concatenate([*self.members_, self.given_up_, NO_ROWS])
        rows = np.setdiff1d(rows, known)
        if not rows.size or not self.members_ or self._points is None:
            return self
        labels = self.labels_.copy()
        labels[rows] = volunteered_labels(
            rows,
            self.as_compared(self._points.rows(rows)),
            self.labels_of(rows),
            np.array([members[0] for members in self.members_], dtype=np.intp),
            self.as_compared(self.all_centers_),
            lookup,
        )
        return self._with(_labels=labels)

    def with_annotators(self, annotators: list[Reliability], notes: Sequence[str] = ()) -> Clusters:
        """Return the same with those who answered, and notes on them before the others."""
        return self._with(annotators_=annotators, notes_=[*notes, *self.notes_])

    def with_computed_labels(self) -> Clusters:
        """Return the same with the labels of all rows computed; those on a Dask cluster stay there."""
        labels = self.labels_
        return self._with(_labels=labels.persist()) if is_dask(labels) else self

    def with_copies(self, item_of: IntArray) -> Clusters:
        """Return the same of rows of which several may be one of these; `item_of` says which one each is.

        The certificate counts each of these once.
        """
        cluster = np.full(self.n_rows_, -1)
        for k, rows in enumerate(self.members_):
            cluster[rows] = k
        of_rows = cluster[item_of]
        known = np.flatnonzero(of_rows >= 0)
        order = known[np.argsort(of_rows[known], kind="stable")]
        ends = np.cumsum(np.bincount(of_rows[known], minlength=len(self.members_)))
        return self._with(
            members_=np.split(order, ends[:-1]) if self.members_ else [],
            given_up_=np.flatnonzero(np.isin(item_of, self.given_up_)),
            n_rows_=item_of.size,
            _labels=np.asarray(self.labels_)[item_of],
            _points=None,
            _centers=self.all_centers_,
        )

    def without_labels(self) -> Clusters:
        """Return the same without the labels of all rows and the data, for files that hold those already."""
        return self._with(_labels=None, _points=None, _centers=self.all_centers_)

    def with_points(self, points: Points) -> Clusters:
        """Return the same clusters with their data at hand, from which labels can be computed."""
        return self._with(_points=points)

    def _with(self, **changes: Any) -> Clusters:
        """Return the same but for some fields; unlike `dataclasses.replace`, it keeps what was computed."""
        changed = object.__new__(type(self))
        changed.__dict__.update(self.__dict__ | changes)
        if "_labels" in changes:
            changed.__dict__.pop("labels_", None)
        return changed

    def as_compared(self, X: FloatArray) -> FloatArray:
        """Return rows or centres in the coordinates in which distances are taken."""
        if self.space_ is None:
            return X
        return self.space_.coordinates(X).astype(np.float64)

    @cached_property
    def all_centers_(self) -> FloatArray:
        """The centres of all discovered clusters, the recovered ones first."""
        return self._centers(self.labels_) if callable(self._centers) else self._centers

    @property
    def centers_(self) -> FloatArray:
        """Approximate centroids of the recovered clusters."""
        return self.all_centers_[: self.n_recovered_]

    @property
    def n_discovered_(self) -> int:
        """Clusters seen, recovered or not."""
        return len(self.members_)

    @cached_property
    def labels_(self) -> Any:
        """The cluster of every row: the known one where there is one, else the predicted one.

        "focused" predicts from all labelled rows, the other algorithms take the nearest centre. They are
        computed when first asked for, and are an array of the kind that the data are. -1 where there is no
        cluster at all, and for rows that were given up.
        """
        points, found = self._points, self._labels
        if found is None:
            if points is None:
                why = "these clusters were loaded without the labels of their rows."
                raise AttributeError(f"{why} Call predict(X) with the data.")
            found = self._predict(points, fitted=True)
        elif callable(found):
            found = found()
        is_here = isinstance(found, np.ndarray)
        return points.distribute(found) if points is not None and is_here else found

    def labels_of(self, rows: IntArray) -> IntArray:
        """Return what `labels_` says of some rows, wherever it is."""
        found: Any = self.labels_[rows]
        if not isinstance(found, np.ndarray):
            assert self._points is not None
            found = self._points.gather(found)
        labels: IntArray = found
        return labels

    def labels_in_memory(self) -> IntArray | None:
        """Return the labels if they are, or can at once be, an array in memory; for `save`."""
        is_remote = getattr(self._points, "is_remote", False)
        if "labels_" not in self.__dict__ and (self._labels is None or is_remote):
            return None
        found = self.labels_
        return found if isinstance(found, np.ndarray) else None

    def predict(self, X: ArrayLike) -> IntArray:
        """Return the cluster of each row of X, without a question: the nearest labelled row's or centre's.

        -1 if there is no cluster at all.
        """
        points = ArrayPoints(X)
        self.check_columns(points.d)
        labels: IntArray = self._predict(points, fitted=False)
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
        """Ask of which cluster each row of X is: the one that `predict` says first.

        Clusters of "focused" are asked up to five of the likeliest ones for each row, which is new if all of
        them refuse it. Those of the paper's algorithms are all asked, nearest centre first (Heuristic 1).

        Parameters
        ----------
        X : array-like of shape (m, d)
            Rows to classify.
        oracle : LabelOracle, FunctionOracle or callable
            Answers pairs (row to classify, member of a cluster), as in `solve`.
        rows : (m,) array of int or None
            The numbers by which the oracle knows the rows of X; by default ``n_rows_``, ``n_rows_ + 1``, ….
        order : {"nearest", "index"}
            Which clusters to ask first.
        patience : int
            A row is given up after so many UNSURE answers.
        batch : int
            Rows asked about at once.

        Returns
        -------
        Classified
            `labels`, the cluster of each row (-1 if it is in none, -2 if given up), and `n_asked`, the
            questions each row took.
        """
        points: Points = ArrayPoints(X)
        self.check_columns(points.d)
        params = PaperParams(order=order, patience=patience, batch=batch)
        numbers = numbers_of_new_rows(points.n, self.n_rows_, rows)
        answers = as_oracle(oracle)
        check_labels_of_new_rows(answers, numbers, self.n_rows_)
        points = points if self.space_ is None else points.in_space(self.space_)
        return classify_rows(points, numbers, self.to_state(), answers, params, self.rank)

    def rank(self, X: FloatArray, founded: FloatArray | None = None) -> IntArray | None:
        """Return the clusters that each row may be in, likeliest first; None if nothing tells but centres.

        X is in the coordinates in which distances are taken, see `as_compared`. So are the centres of
        clusters that were `founded` since, which are numbered after the others.
        """
        if self.prototypes_ is None or not self.n_discovered_:
            return None
        places, of = self.prototypes_
        places = self.as_compared(places)
        if founded is not None:
            places = np.concatenate([places, founded])
            of = np.concatenate([of, self.n_discovered_ + np.arange(len(founded))])
        return likely_clusters(X, places, of, MOST_REFUSALS)

    def to_state(self) -> ClusterState:
        """Return what an algorithm would know that had found these clusters, in its own coordinates."""
        centers = self.as_compared(self.all_centers_)
        state = ClusterState(centers.shape[1])
        for center, members in zip(centers, self.members_, strict=True):
            cluster = state.discover(int(members[0]), center)
            state.add_members(members[1:], np.full(len(members) - 1, cluster))
        return state

    def to_frame(self) -> pd.DataFrame:
        """Return a table with a line for each row: its cluster, and whether that is known or predicted."""
        return tables.rows_frame(self)

    def centers_frame(self, feature_names: Sequence[str] | None = None) -> pd.DataFrame:
        """Return a table with a line for each discovered cluster: its centre and how much is known."""
        return tables.centers_frame(self, feature_names)

    def save(self, path: str | Path | BinaryIO) -> None:
        """Write everything to one .npz file, the labels too if they are computed."""
        storage.save(self, path)

    @classmethod
    def load(cls, path: str | Path, *, max_bytes: int | None = None) -> Clusters:
        """Read what `save` wrote.

        A file may take at most `max_bytes` of memory; by default fifty times its own size, and 256 MB in any
        case. So a small file that somebody sent cannot fill the memory.
        """
        stored, labels = storage.load(path, max_bytes)
        return cls(**stored, _labels=labels)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the data out of pickles and copies; labels that are computed stay."""
        centers, labels = self.all_centers_, self.labels_in_memory()
        kept = {name: self.__dict__[name] for name in self.__dataclass_fields__}
        return kept | {"_centers": centers, "_labels": labels, "_points": None}

    def __dask_tokenize__(self) -> tuple[str, str]:
        """Let Dask know equal clusters from others, without the data."""
        state = {k: v for k, v in self.__getstate__().items() if k not in ("_points", "_labels")}
        return "Clusters", hashlib.blake2b(pickle.dumps(state), digest_size=16).hexdigest()

    def __repr__(self) -> str:
        return (
            f"Clusters({self.n_recovered_} recovered of {self.n_discovered_} discovered, "
            f"{self.n_questions_:,} questions, {self.n_rows_:,} rows, algorithm_={self.algorithm_!r}, "
            f"stop_reason_={self.stop_reason_!r})"
        )

    def summary(self) -> Table:
        """Return a table for the terminal: ``rich.print(clusters)`` shows it."""
        return tables.summary(self)

    __rich__ = summary

    def _predict(self, points: Points, *, fitted: bool) -> Any:
        points = points if self.space_ is None else points.in_space(self.space_)
        known, given_up = (self.members_, self.given_up_) if fitted else ([], NO_ROWS)
        if self.prototypes_ is None or not self.n_discovered_:
            centers = self.as_compared(self.all_centers_[: self.n_discovered_])
            return label_by_nearest_center(points, centers, known, given_up)
        places, of = self.prototypes_
        return points.label_by_nearest(self.as_compared(places), label_map(of, known, given_up))

    def check_columns(self, d: int) -> None:
        """Raise an error unless rows have as many columns as those in which the clusters were found."""
        own = self.all_centers_.shape[1]
        if d != own:
            raise ValueError(f"X has {d} columns, but the clusters were found in {own}.")
