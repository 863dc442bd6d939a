"""What a project keeps beside its answers: names and numbers of clusters, corrections, opinions."""

from __future__ import annotations

from typing import NamedTuple

from samekind.ledger.opinions import OpinionLog

__all__ = ["ClusterName", "Notes"]


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


class Notes:
    """Names, corrections, numbers and opinions, in the order in which they were written.

    Attributes
    ----------
    names : dict
        The newest name of each row that was given one.
    replaced : dict
        For the line of each correction the lines that it replaced.
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
