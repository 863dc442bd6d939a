"""What an algorithm is: an object that asks, keeps what it knows, and can be looked at at any moment."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import ClassVar, Generic, Literal, Self, TypeVar

import numpy as np

from samekind._validation import check_error_rate, check_int, check_positive_int, did_you_mean
from samekind.algorithms.certificate import Certificate, percent_at_most
from samekind.algorithms.exchange import Amendment, ExtraQuestion, Known
from samekind.algorithms.state import ClusterState
from samekind.flow import FloatArray, Flow, IntArray
from samekind.points import LabelMap, Points, Sampler

__all__ = [
    "Algorithm",
    "Certificate",
    "ErrorRate",
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
    standard_errors: FloatArray
    """(clusters,) of each centre, as a distance."""
    certificate: Certificate
    unproven: list[tuple[int, int]]
    """Pairs of clusters about which nobody was asked, likeliest to be one first."""
    confused: list[tuple[int, int]]
    """A cluster, and one that many rows predicted to be in the first are in."""
    notes: list[str] = field(default_factory=list)
    error_rate: float | None = None
    """The share of answers that seem to be wrong, where they may be."""
    mergers: list[tuple[int, int, float]] = field(default_factory=list)
    """Pairs of clusters that may be one, each with its probability, those first that concern most rows."""


@dataclass(frozen=True)
class Snapshot:
    """What an algorithm knows at one moment. Clusters have the numbers in which they were discovered."""

    members: list[list[int]]
    """The rows known to be in each cluster, its first one before the others; none if it was merged away."""
    recovered: list[int]
    """The clusters whose centres are final, in the order of recovery."""
    centers: FloatArray
    """(clusters, d)."""
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
                raise TypeError(
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

    @property
    def most_in_lineup(self) -> int:
        """How many clusters a row is compared with at once, where a person can pick one of them."""
        return 1

    @property
    def most_on_sheet(self) -> int:
        """How many rows are compared with one member of a cluster at once, where a person answers for all."""
        return 0


def check_rate(value: object) -> None:
    """Raise an error unless `value` is an error rate, "estimate" or None."""
    if value is not None and value != "estimate":
        check_error_rate(value)


P = TypeVar("P", bound=Params)


class Algorithm(ABC, Generic[P]):
    """One run of an algorithm.

    `run` is the flow: what it learns from outside comes with each `Reply`. What others learn from it, between
    two waves of questions and without any effect on the run, comes by the other methods.

    Parameters
    ----------
    points : Points
        The data.
    params : Params
        Of the algorithm's own class.
    rng : numpy.random.Generator
        Where all chance comes from.
    known : Known or None
        What to begin with; only where `resumes_from_known`.
    """

    name: ClassVar[str]
    Params: type[P]
    version: ClassVar[int] = 1
    """Raised whenever a run with the same seed and answers asks otherwise than before."""
    predicts: ClassVar[bool] = False
    """Whether it says more of rows it did not ask about than which centre is nearest."""
    resumes_from_known: ClassVar[bool] = False
    """Whether a run can begin with rows whose clusters are known, and change what it knows (`amend`)."""
    asks_lineups: ClassVar[bool] = False
    """Whether it can compare a row with several clusters in one question."""
    compares_records: ClassVar[bool] = False
    """Whether it needs `RecordPoints`: pairs of records that may be one entity."""
    reduces: ClassVar[bool] = False
    """Whether it works in a reduced space where rows have many columns, unless told otherwise."""

    sampler: Sampler
    """Draws by D² with respect to the recovered centres."""

    def __init__(
        self, points: Points, params: P, rng: np.random.Generator, known: Known | None = None
    ) -> None:
        if known is not None and not self.resumes_from_known:
            raise ValueError(f"{self.name!r} cannot begin with known rows.")
        self.points = points
        self.params = params
        self.rng = rng
        self.known = known
        self.n_people = 1
        """How many people answer at the same time; see `set_people`."""
        self.settles = False
        """Whether who answers from here on knows better than those before, and is dear."""
        self.state = ClusterState(points.d)
        self.sampler = points.sampler()

    @abstractmethod
    def run(self) -> Flow[str]:
        """Ask until there is a reason to stop, and return it.

        Where `resumes_from_known`, it can be run again after the flow was closed or ended, and goes on.
        """

    def interrupt(self) -> list[int]:
        """Take in what is decided after the flow was closed; return the rows that it was asking about."""
        return []

    def amend(self, amendment: Amendment) -> None:
        """Change what is known, after `interrupt`; then run again. Only where `resumes_from_known`."""
        raise NotImplementedError(f"{self.name!r} cannot change what it knows.")

    def set_people(self, count: int) -> None:
        """Ask for so many people at once from here on, before `amend`."""
        self.n_people = count

    def snapshot(self) -> Snapshot:
        """Return what is known now."""
        return self._snapshot(self.state.centers.copy())

    def _snapshot(self, centers: FloatArray, prediction: Prediction | None = None) -> Snapshot:
        state = self.state
        return Snapshot(
            members=[list(rows) for rows in state.members],
            recovered=list(state.recovered),
            centers=centers,
            given_up=list(state.given_up),
            n_samples=state.n_samples,
            n_rounds=state.n_rounds,
            sampling_seconds=self.sampler.seconds,
            notes=list(state.notes),
            prediction=prediction,
        )

    def guess(self) -> Snapshot:
        """Return the clusters as they seem to be from the rows alone, when nothing may be asked."""
        return self.snapshot()

    def confidence(self, rows: IntArray) -> FloatArray:
        """Return how likely each row is in the cluster that it is known, or predicted, to be in.

        1 where that is known; NaN where the algorithm does not say.
        """
        return np.where(self.state.cluster_of(rows) >= 0, 1.0, np.nan)

    def rank_clusters(self, row: int) -> list[int]:
        """Return all clusters, those first that a row is likeliest in; here, the largest first."""
        sizes = [len(members) for members in self.state.members]
        return sorted((c for c, size in enumerate(sizes) if size), key=lambda c: -sizes[c])

    def sheet_members(self) -> dict[int, int]:
        """Return the rows that a person may be asked about at once, each with what it is compared with."""
        return {}

    def extra_questions(
        self, rng: np.random.Generator, size: int, taken: Collection[int]
    ) -> list[ExtraQuestion]:
        """Return questions beyond those of the flow, for people who would have nothing to do.

        About none of the rows that are `taken`. The run does not depend on which were asked; answers to them
        are told to it by `amend`. None where it cannot be told.
        """
        return []
