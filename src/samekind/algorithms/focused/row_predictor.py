"""Which cluster every row is predicted to be in."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused.scoring import Nearness
from samekind.points import LabelMap

__all__ = ["Regions", "RowPredictions", "RowPredictor"]


class Regions(NamedTuple):
    """The rows predicted to be in each cluster."""

    counts: NDArray[np.intp]
    """(clusters,)"""
    means: NDArray[np.float64]
    """(clusters, d)"""
    variances: NDArray[np.float64]
    """(clusters,) the mean squared distance of the rows to their mean."""


class RowPredictions(NamedTuple):
    """The predicted clusters of all rows at one moment."""

    label_rows: Callable[[LabelMap], object]
    """Returns the label of every row, given that of each cluster; also later."""
    clusters_of: Callable[[NDArray[np.intp]], NDArray[np.intp]]
    """Returns the predicted clusters of some rows; only now."""
    regions: Regions


class RowPredictor(ABC):
    """Predicts the clusters of rows from the labelled ones; there is one for few rows and one for many."""

    n_uncertain_at_once: ClassVar[int]
    """How many uncertain rows to draw at once."""
    uses_all_labels: ClassVar[bool]
    """Whether also labelled rows that were as predicted are needed as sites."""

    @abstractmethod
    def learn(self, row: int, x: NDArray[np.float64], cluster: int) -> None:
        """Learn from a labelled row, after the sites did."""

    @abstractmethod
    def move(self, row: int, old: int, new: int) -> None:
        """Change the cluster of a labelled row, after the sites did."""

    @abstractmethod
    def merge(self, keep: int, gone: int) -> None:
        """Make one cluster part of another, after the sites did."""

    @abstractmethod
    def nearness(self, rows: NDArray[np.intp], X: NDArray[np.float64]) -> Nearness:
        """Return how near these rows are to the clusters."""

    @abstractmethod
    def clusters_of(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the predicted cluster of each row; -1 where there is none yet."""

    @abstractmethod
    def cluster_of_row(self, row: int) -> int:
        """Return the predicted cluster of one row; -1 where there is none yet."""

    @abstractmethod
    def predict(self) -> RowPredictions:
        """Return the predicted clusters of all rows, by all labels so far. The run goes on as if unasked."""

    @abstractmethod
    def regions(self) -> Regions:
        """Return the rows predicted to be in each cluster; the last few labels may not count yet."""

    @abstractmethod
    def counts(self) -> NDArray[np.intp]:
        """Return their numbers alone, (clusters,), which is quick."""

    @abstractmethod
    def sample(self, cluster: int, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Draw rows uniformly from those predicted to be in a cluster; none if there are none."""

    @abstractmethod
    def sample_uncertain(self, rng: np.random.Generator, size: int) -> NDArray[np.intp]:
        """Draw rows whose predicted cluster is uncertain."""
