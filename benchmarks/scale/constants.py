"""What is measured."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Bytes", "Constants", "Passes", "Rounds", "Work"]


class Passes(NamedTuple):
    """Seconds of one core, for a row of float32 columns."""

    rows: int
    """How many there were."""
    columns: int
    scan: float
    group: float
    first_of_cells: float
    """First distances, with sums of coordinates for the accounts."""
    per_leaf: float
    """For a later site: a leaf that is looked at, of LEAF rows."""
    per_visit: float
    """For a later site: a row that is visited."""
    share: float
    """Of all rows, those that a later site visits."""


class Bytes(NamedTuple):
    """Kept for a row beside itself."""

    groups: float
    """A sorted copy in float32 and a sketch, the order and its inverse, boxes."""
    cells: float

    @property
    def kept(self) -> float:
        return self.groups + self.cells


class Rounds(NamedTuple):
    """Seconds of a call from the driver to workers and back, and bytes both ways for each worker."""

    base: float
    """One worker, one part, there and back."""
    per_worker: float
    """What the driver and the scheduler compute for each further one: they do it one by one."""
    per_part: float
    bytes_all: float
    bytes_few: float


class Work(NamedTuple):
    """What a run of `focused` asks of the workers."""

    all_per_question: float
    """Rounds to all workers."""
    all_per_cluster: float
    few_per_question: float
    """Rounds to those that hold some rows."""
    few_per_cluster: float
    few_rows: float
    """Rows asked for in one of these."""
    sites_per_question: float
    """Labelled rows and centres that take rows in a pass."""
    sites_per_cluster: float
    questions_per_cluster: float
    """Until half of the clusters are recovered, for each of these."""


class Constants(NamedTuple):
    """All of it."""

    passes: Passes
    bytes: Bytes
    rounds: Rounds
    work: Work
    cores: int
