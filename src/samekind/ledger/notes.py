"""What a project keeps beside its answers: names and numbers of clusters, corrections, checkpoints."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.ledger.opinions import OpinionLog

__all__ = ["Change", "Checkpoint", "ClusterName", "Notes"]


class ClusterName(NamedTuple):
    """A name that somebody gave to a row's cluster; the `number`-th one, from 0."""

    number: int
    row: int
    text: str
    who: str
    at: float
    before: ClusterName | None = None
    """What the row had been given before it."""

    def without(self) -> ClusterName | None:
        """Return what counts if all is taken back that was given to the row when this name was."""
        oldest, earlier = self, self.before
        while earlier is not None:
            if earlier.at == self.at:
                oldest = earlier
            earlier = earlier.before
        return oldest.before


class Checkpoint(NamedTuple):
    """A place in the ledger from which a run may begin.

    Attributes
    ----------
    line : int
        The first line of the change that made it; once that is retracted the checkpoint is void. -1: it
        stays whatever happens.
    upto : int
        The number of lines that a run knows when it begins here.
    rows : ndarray of int32
        The rows that are known then, in the order in which a run takes them in.
    ask : ndarray of int32
        The rows to be asked about first: they lost their clusters by the change.
    """

    line: int
    upto: int
    rows: NDArray[np.int32]
    ask: NDArray[np.int32]


class Change(NamedTuple):
    """A change of the past: what one transaction wrote that is more than answers to new questions.

    Between two changes there are only answers that say something new and contradict nothing; so whoever
    repeats a run may take all answers of such a stretch at once, and then the change.
    """

    answers_before: int
    """How many lines there were before it,"""
    answers: int
    """and after it."""
    retracted_before: int
    """How many of them were taken back before it,"""
    retracted: int
    """and after it."""
    checkpoint: int = -1
    """The number of the checkpoint that it made; -1: none."""
    people: int = 0
    """If not 0 it is a *mark*: nothing is changed, but runs take in what was answered beyond their questions,
    and ask for so many people at once from then on."""


class Notes:
    """Names, corrections, checkpoints and changes, in the order in which they were written.

    Attributes
    ----------
    names : dict
        The newest name of each row that was given one.
    replaced : dict
        For the line of each correction the lines that it replaced.
    marks : list
        `line` and `upto` of every checkpoint.
    checkpoints : dict
        The checkpoints that are at hand, by their numbers: all of them, unless they are kept elsewhere.
    changes : list of Change
        All changes of the past.
    anchors : dict
        For every number that a cluster was given for life the row that holds it.
    opinions : OpinionLog
        What several people say of one pair.
    """

    def __init__(self) -> None:
        self.names: dict[int, ClusterName] = {}
        self.n_names = 0
        self.replaced: dict[int, tuple[int, ...]] = {}
        self.n_replaced = 0
        self.marks: list[tuple[int, int]] = []
        self.checkpoints: dict[int, Checkpoint] = {}
        self.changes: list[Change] = []
        self.anchors: dict[int, int] = {}
        self.n_anchors = 0
        self.opinions = OpinionLog()

    def add_name(self, row: int, text: str, who: str, at: float) -> None:
        """Name a row's cluster; an earlier name of the row counts no more."""
        self.names[row] = ClusterName(self.n_names, row, text, who, at, self.names.get(row))
        self.n_names += 1

    def add_anchor(self, number: int, row: int) -> None:
        """Let a row hold a cluster's number; the one that held it before does so no more."""
        self.anchors[number] = row
        self.n_anchors += 1

    def add_correction(self, line: int, replaced: int) -> None:
        """Note that the answer on a line replaced one on an earlier line."""
        self.replaced[line] = (*self.replaced.get(line, ()), replaced)
        self.n_replaced += 1

    def add_checkpoint(self, checkpoint: Checkpoint) -> None:
        """Add a checkpoint."""
        self.checkpoints[len(self.marks)] = checkpoint
        self.marks.append((checkpoint.line, checkpoint.upto))
