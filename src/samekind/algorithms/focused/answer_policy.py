"""What depends on whether answers can be wrong."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from samekind.algorithms.focused.open_row import OpenRow
from samekind.flow import Flow

__all__ = ["AnswerPolicy"]


class AnswerPolicy(ABC):
    """How answers decide the clusters of rows, and which clusters are one.

    There is one policy for trusted and one for noisy answers. All else, such as which rows are drawn and how
    waves of questions are made, is the same for both.
    """

    compares_in_waves: bool
    """Whether several pairs of clusters may be compared at once."""

    # Rows

    @abstractmethod
    def next_question(self, open_row: OpenRow) -> tuple[int, int] | None:
        """Return the cluster to ask about next, and a member of it.

        None when no question is left: then the row's cluster is set, or it is new if that is still None.
        """

    @abstractmethod
    def next_member(self, open_row: OpenRow, cluster: int) -> int:
        """Return the member of a cluster to ask about next; -1 if none is left."""

    @abstractmethod
    def probabilities(self, open_row: OpenRow) -> NDArray[np.float64]:
        """Return the probability of each cluster after the answers so far; the rest to 1 is that of "new"."""

    @abstractmethod
    def observe(self, open_row: OpenRow, cluster: int, member: int, answer: int, who: int) -> None:
        """Take SAME or DIFFERENT about a row and a member of a cluster into account, and who said it."""

    @abstractmethod
    def target(self, open_row: OpenRow) -> int | NDArray[np.float64]:
        """Return what a row, whose cluster is decided, teaches the `ConditionalLogit`."""

    # Pairs of clusters

    @abstractmethod
    def member_pairs(self, a: int, b: int) -> Iterator[tuple[int, int]]:
        """Yield pairs of members whose answers tell whether two clusters are one, best first."""

    @abstractmethod
    def observe_pair(self, a: int, b: int, pair: tuple[int, int], answer: int, who: int) -> None:
        """Take SAME or DIFFERENT about members of two clusters into account, and who said it."""

    def decide_pair(self, similarity: float, a: int, b: int) -> bool:
        """Merge or separate two clusters if the answers so far suffice; return whether they do."""
        return False

    # The run

    def may_fill(self) -> bool:
        """Return whether it is time to make centres accurate."""
        return True

    def should_confirm(self) -> bool:
        """Return whether clusters are to be confirmed before anything else."""
        return False

    def draw_to_confirm(self) -> int:
        """Draw a row that confirms a cluster; -1 if there is none."""
        return -1

    @abstractmethod
    def revise(self, n_rows: int) -> None:
        """Review earlier decisions, now and then, after the clusters of so many rows were decided."""

    def check_answers(self) -> Flow[None]:
        """Ask about pairs of rows to learn who errs."""
        yield from ()

    def certainty(self, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return how certain it is that rows which were asked about are in their clusters; 1 for others."""
        return np.ones(rows.size)

    def error_rate(self) -> float | None:
        """Return the share of answers that seem to be wrong; None where none can be."""
        return None

    def notes(self) -> list[str]:
        """Return what the user should know about the answers."""
        return []
