"""What an algorithm is: it decides what to ask, keeps what it knows, and can be looked at at any moment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar, Generic, Literal, Self, TypeVar

import numpy as np

from samekind._validation import check_error_rate, check_int, check_positive_int, did_you_mean
from samekind.algorithms.certificate import Certificate, percent_at_most
from samekind.algorithms.state import ClusterState
from samekind.errors import UnknownParameterError
from samekind.flow import FloatArray, Flow, IntArray
from samekind.points import LabelMap, Points, Sampler

__all__ = [
    "Algorithm",
    "Certificate",
    "ErrorRate",
    "FlowAlgorithm",
    "Params",
    "Prediction",
    "Snapshot",
    "check_rate",
    "percent_at_most",
]


@dataclass(frozen=True)
class Prediction:
    """What an algorithm predicts of all rows, and how far it can be trusted; clusters by their numbers."""

    labels: Callable[[LabelMap], object]
    """Return the label of every row, given the label of each cluster (of the last one also for -1: none)."""
    certificate: Certificate
    notes: list[str] = field(default_factory=list)
    error_rate: float | None = None
    """The share of answers that seem to be wrong, where they may be."""


@dataclass(frozen=True)
class Snapshot:
    """What an algorithm knows at one moment. Clusters have the numbers in which they were discovered."""

    members: list[list[int]]
    """The rows known to be in each cluster, its first one before the others; none if it was merged away."""
    recovered: list[int]
    """The clusters whose centres are final, in the order of recovery."""
    centers: FloatArray | None
    """(clusters, d); None: the means of the rows with each label."""
    given_up: list[int]
    """Rows about which the oracle was too unsure."""
    n_samples: int
    n_rounds: int
    sampling_seconds: float
    notes: list[str]
    """What the user should know."""
    prediction: Prediction | None = None
    """None where rows are just in the cluster of the nearest centre."""


Batch = int | Literal["auto"]
ErrorRate = float | Literal["estimate"]

MOST_AT_ONCE = 1024  # rows, with batch="auto"


@dataclass(frozen=True, kw_only=True)
class Params:
    """The parameters that all algorithms have; each adds its own, and checks them where they are declared.

    Attributes
    ----------
    target : int or None
        Stop after so many recovered clusters.
    batch : int or "auto"
        Rows asked about at once.
    patience : int
        UNSURE answers after which a row is given up.
    """

    target: int | None = None
    batch: Batch = 1
    patience: int = 3

    def __post_init__(self) -> None:
        check_int("target", self.target, none="find all clusters")
        if self.batch != "auto":
            check_positive_int("batch", self.batch)
        check_positive_int("patience", self.patience)

    @classmethod
    def make(cls, algorithm: str, given: Mapping[str, object]) -> Self:
        """Return checked parameters of an algorithm; what is not given takes its default."""
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                meant = did_you_mean(name, known)
                raise UnknownParameterError(
                    f"{algorithm!r} has no parameter {name!r}.{meant} Its parameters are {', '.join(known)}."
                )
        return cls(**given)  # type: ignore[arg-type]  # each is checked by __post_init__

    def batch_size(self, n_samples: int) -> int:
        """Return how many rows to ask about at once, after so many draws.

        "auto" starts with one and grows with what is known, so that a run learns as much from its first
        answers as one row at a time would, and is soon quick.
        """
        return min(MOST_AT_ONCE, 1 + n_samples // 16) if self.batch == "auto" else self.batch

    @property
    def trusts_answers(self) -> bool:
        """Whether every answer is true, so that other answers follow from it."""
        return True


def check_rate(value: object) -> None:
    """Raise an error unless `value` is an error rate, "estimate" or None."""
    if value is not None and value != "estimate":
        check_error_rate(value)


P = TypeVar("P", bound=Params)


class Algorithm(ABC, Generic[P]):
    """What decides which questions to ask, and knows what their answers mean.

    There are two kinds. A `Folding` has a state that follows from the answers, and chooses questions from it.
    A `FlowAlgorithm` is a generator that asks step by step, as the paper's algorithms do.

    Parameters
    ----------
    points : Points
        The data.
    params : Params
        Of the algorithm's own class.
    rng : numpy.random.Generator
        Where all chance comes from.
    """

    name: ClassVar[str]
    Params: type[P]
    predicts: ClassVar[bool] = False
    """Whether it says more of rows it did not ask about than which centre is nearest."""
    compares_records: ClassVar[bool] = False
    """Whether it needs `RecordPoints`: pairs of records that may be one entity."""
    reduces: ClassVar[bool] = False
    """Whether it works in a reduced space where rows have many columns, unless told otherwise."""

    def __init__(self, points: Points, params: P, rng: np.random.Generator) -> None:
        self.points = points
        self.params = params
        self.rng = rng

    @abstractmethod
    def snapshot(self) -> Snapshot:
        """Return what is known now."""

    def guess(self) -> Snapshot:
        """Return the clusters as they seem to be from the rows alone, when nothing may be asked."""
        return self.snapshot()

    @abstractmethod
    def known_clusters(self) -> list[list[int]]:
        """Return the rows known to be in each cluster; none if it was merged away."""

    @abstractmethod
    def cluster_of(self, rows: IntArray) -> IntArray:
        """Return the number of the known cluster of each row, UNKNOWN or GIVEN_UP."""

    @abstractmethod
    def rank_clusters(self, row: int) -> list[int]:
        """Return clusters, those first that a row is likeliest in."""

    @abstractmethod
    def confidence(self, rows: IntArray) -> FloatArray:
        """Return how likely each row is in the cluster that it is known, or predicted, to be in.

        1 where that is known; NaN where the algorithm does not say.
        """


class FlowAlgorithm(Algorithm[P]):
    """One run of an algorithm that is a generator.

    `run` is the flow: what it learns from outside comes with each `Reply`. What others learn from it, between
    two waves of questions and without any effect on the run, comes by the other methods.
    """

    sampler: Sampler
    """Draws by D² with respect to the recovered centres."""

    def __init__(self, points: Points, params: P, rng: np.random.Generator) -> None:
        super().__init__(points, params, rng)
        self.state = ClusterState(points.d)
        self.sampler = points.sampler()

    @abstractmethod
    def run(self) -> Flow[str]:
        """Ask until there is a reason to stop, and return it."""

    def snapshot(self) -> Snapshot:
        """Return what is known now."""
        state = self.state
        return Snapshot(
            members=[list(rows) for rows in state.members],
            recovered=list(state.recovered),
            centers=state.centers.copy(),
            given_up=list(state.given_up),
            n_samples=state.n_samples,
            n_rounds=state.n_rounds,
            sampling_seconds=self.sampler.seconds,
            notes=list(state.notes),
        )

    def known_clusters(self) -> list[list[int]]:
        """Return the rows known to be in each cluster, in the order of discovery."""
        return [list(rows) for rows in self.state.members]

    def cluster_of(self, rows: IntArray) -> IntArray:
        """Return the number of the known cluster of each row, UNKNOWN or GIVEN_UP."""
        return self.state.cluster_of(rows)

    def confidence(self, rows: IntArray) -> FloatArray:
        """Return 1 for rows whose cluster is known, and NaN for all others."""
        return np.where(self.state.cluster_of(rows) >= 0, 1.0, np.nan)

    def rank_clusters(self, row: int) -> list[int]:
        """Return all clusters, the largest first."""
        sizes = [len(members) for members in self.state.members]
        return sorted((c for c, size in enumerate(sizes) if size), key=lambda c: -sizes[c])
