"""Rows that nobody could tell: which of two is to blame, and when one comes back."""

from __future__ import annotations

from collections.abc import Iterable

from samekind.algorithms.focused.constants import ENOUGH_ROWS, FEW_RESCUED
from samekind.algorithms.focused.open_row import OpenRow
from samekind.algorithms.state import GIVEN_UP

__all__ = ["UnsureRows"]


class UnsureRows:
    """The rows that were set aside as answers about them were UNSURE, and who is suspected.

    UNSURE may be due to either row. One that ever got a clear answer can be told, so the other is to blame;
    where neither has, the member of the cluster is suspected as well, and is the one to go when several rows
    could not be compared with it. That can only be the founder of the first cluster: all other members
    are so by a clear answer.

    How often to ask about a row is learnt: when asking again hardly ever helped, one UNSURE answer is enough.

    A row that was set aside comes back at once when the suspect is gone; otherwise when twice as many rows
    are known as then, and once more when all rows are, unless it had `patience` UNSURE answers of its own.
    """

    def __init__(self, patience: int) -> None:
        self._pairs: set[tuple[int, int]] = (
            set()
        )  # that nobody could tell, the smaller number first
        self._patience = patience
        self._n_doubted = self._n_rescued = (
            0  # rows that were asked about again, and that could be told
        )
        self._clear: set[int] = set()  # rows that got a clear answer
        self._suspected: dict[int, list[OpenRow]] = {}  # rows set aside because of each suspect
        self._waiting: dict[int, tuple[OpenRow, int]] = {}  # and how many rows were known then
        self._returning: list[OpenRow] = []

    def mark_clear(self, rows: Iterable[int]) -> None:
        """Note that an answer about these rows was clear, or that their clusters are given."""
        self._clear.update(rows)

    def is_suspect(self, member: int) -> bool:
        """Return whether no answer about a member of a cluster was ever clear."""
        return member not in self._clear

    def add_pair(self, a: int, b: int) -> None:
        """Note that nobody can tell whether two rows are of one cluster."""
        self._pairs.add((min(a, b), max(a, b)))

    def should_give_up(self, open_row: OpenRow) -> bool:
        """Return whether it is no use to ask about a row again."""
        few = self._n_doubted >= ENOUGH_ROWS and self._n_rescued < FEW_RESCUED * self._n_doubted
        return open_row.n_unsure >= (1 if few else self._patience)

    def learn(self, open_row: OpenRow) -> None:
        """Learn from a row that is decided, or given up, whether asking again helps."""
        if open_row.n_unsure:
            self._n_doubted += 1
            self._n_rescued += open_row.cluster != GIVEN_UP

    def reopen_pair(self, a: int, b: int) -> None:
        """Note that somebody may be asked about two rows again."""
        self._pairs.discard((min(a, b), max(a, b)))

    def drop(self, row: int) -> None:
        """Forget that a row was set aside: its cluster is known, or it is asked about in another way."""
        self._waiting.pop(row, None)
        self._returning = [other for other in self._returning if other.row != row]
        for suspect, rows in list(self._suspected.items()):
            self._suspected[suspect] = [other for other in rows if other.row != row]

    def knows_pair(self, a: int, b: int) -> bool:
        """Return whether nobody could tell whether two rows are of one cluster."""
        return (min(a, b), max(a, b)) in self._pairs

    def set_aside(self, open_row: OpenRow, n_known: int) -> None:
        """Put a row aside, when so many rows are known."""
        for suspect in open_row.suspects:
            self._suspected.setdefault(suspect, []).append(open_row)
        if open_row.n_unsure < self._patience:
            self._waiting[open_row.row] = open_row, n_known

    def guilty(self) -> int:
        """Return a member of a cluster that makes others unsure, and should be given up; -1: none."""
        for suspect, rows in self._suspected.items():
            if suspect not in self._clear and len(rows) >= self._patience:
                return suspect
        return -1

    def acquit(self, suspect: int) -> list[OpenRow]:
        """Return the rows that were set aside because of a suspect that is given up now; they come back."""
        rows = self._suspected.pop(suspect, [])
        for open_row in rows:
            self._waiting.pop(open_row.row, None)
            open_row.ask_again()
        return rows

    def let_return(self, rows: list[OpenRow]) -> None:
        """Let some rows come back before any other is asked about."""
        self._returning += rows

    def next_to_return(self, n_known: int, *, all_known: bool) -> OpenRow | None:
        """Return a row that comes back now."""
        if not self._returning:
            for row in self._due(n_known, all_known=all_known):
                open_row, _ = self._waiting.pop(row)
                open_row.ask_again()
                self._returning.append(open_row)
        return self._returning.pop(0) if self._returning else None

    def may_return(self, n_known: int) -> bool:
        """Return whether some row comes back, when all rows are known."""
        return bool(self._returning or self._due(n_known, all_known=True))

    def _due(self, n_known: int, *, all_known: bool) -> list[int]:
        return [
            row
            for row, (_, then) in self._waiting.items()
            if n_known >= 2 * then or (all_known and n_known > then)
        ]
