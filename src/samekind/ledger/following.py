"""A ledger that takes in what a database holds, and what others write there meanwhile.

A line's number in memory and its id in the database are two things: ids may have gaps.
"""

from __future__ import annotations

from abc import abstractmethod
from contextlib import AbstractContextManager

import numpy as np
import sqlalchemy as sa

from samekind.ledger import tables
from samekind.ledger.database import FileReplacedError
from samekind.ledger.errors import LedgerDamaged
from samekind.ledger.faults import described, find_faults, meta_faults, n_rows_of
from samekind.ledger.ids import RowIds
from samekind.ledger.incoming import read_new
from samekind.ledger.log import AnswerLog, Wave
from samekind.ledger.memory import Ledger
from samekind.ledger.notes import Notes

__all__ = ["FollowingLedger"]


class FollowingLedger(Ledger):
    """What a database holds, in memory; `SqlLedger` also writes there."""

    def __init__(self, shown: str, *, infer: bool) -> None:
        super().__init__(infer=infer)
        self._shown = shown  # what to call the database in messages
        self._edition: str | None = None
        self._project_id: str | None = None
        self._forget_rows()

    @abstractmethod
    def _connected(
        self, purpose: str, *, writes: bool = True
    ) -> AbstractContextManager[sa.Connection]:
        """Return a transaction, the one that is open or one of its own."""

    def limit_rows(self, n: int) -> None:
        """Take only answers about the first n rows; an error says if there are others."""
        super().limit_rows(n)
        beyond = [row for row in (*self.names, *self.anchors.values()) if row >= n]
        if beyond or self._log.largest_row >= n:
            with self._connected("be read", writes=False) as connection:
                raise self._damaged(connection, ValueError(f"it is about rows beyond {n - 1}."))

    def _catch_up(self, connection: sa.Connection) -> None:
        """Take in the rows of the database that this object has not seen.

        All of them, if rows that it has seen were deleted.
        """
        *last, project_id, edition = connection.execute(tables.STATE).one()
        if self._project_id not in (None, project_id):
            raise FileReplacedError
        known = self._last_ids()
        deleted = any(row < own for row, own in zip(last, known, strict=True))
        if deleted or self._edition not in (None, edition):
            self._forget_rows()
            self._read_meta(connection)
            if self.n_rows is not None:  # there may be more now
                self.n_rows = n_rows_of(self.meta) or self.n_rows
        self._project_id, self._edition = project_id, edition
        try:
            new = read_new(connection, last, self._ids, self._below)
            own = self._ids[tables.answers]
            if new is None:
                return
            own.extend(new.ids[tables.answers])
            struck = np.array([own.number(row) for row in new.retractions], dtype=np.intp)
            replaced = [(own.number(a), own.number(b)) for a, b in new.corrections]
            if any(a == b for a, b in replaced):
                raise ValueError("an answer replaces itself.")
        except (ValueError, KeyError, OverflowError) as error:
            raise self._damaged(connection, error) from error
        for table, ids in self._ids.items():
            if table is not tables.answers:
                ids.extend(new.ids[table])
        if new.who:
            numbers = np.array([self._number(name) for name in new.who], dtype=np.int32)
            said = new.pairs, new.answers, numbers, new.times, new.asked, new.expected
            self._learn_new(Wave(*said))
            self._last_time = max(self._last_time, float(new.times.max()))
        self._strike(struck)
        for name in new.names:
            self._notes.add_name(*name)
        for anchor in new.anchors:
            self._notes.add_anchor(*anchor)
        for line, other in replaced:
            self._notes.add_correction(line, other)
        self._notes.opinions.add(new.opinions)

    def _is_current(self, connection: sa.Connection) -> bool:
        """Return whether this object has seen all that the database holds."""
        seen = [*self._last_ids(), self._project_id, self._edition]
        return seen == list(connection.execute(tables.STATE).one())

    def _last_ids(self) -> list[int]:
        return [ids.last or tables.NO_ID for ids in self._ids.values()]

    def _forget_rows(self) -> None:
        """Begin as if nothing of the database had been read."""
        self._n_editions += 1
        self._log, self._notes, self._numbers = AnswerLog(), Notes(), {}
        self._ids: dict[sa.TableClause, RowIds] = {table: RowIds() for table in tables.FOLLOWED}
        self._relearn()

    def _read_meta(self, connection: sa.Connection) -> None:
        rows = connection.execute(sa.select(tables.meta.c.key, tables.meta.c.value))
        meta = {row.key: row.value for row in rows}
        faults = meta_faults(meta)
        if faults:
            raise LedgerDamaged(f"{self._shown} is damaged: {described(faults, self._shown)}")
        self.meta = meta

    def _damaged(self, connection: sa.Connection, error: Exception) -> LedgerDamaged:
        """Return an error that says what in the database cannot be right."""
        faults = find_faults(connection, n_rows=self.n_rows)
        what = described(faults, self._shown) if faults else str(error)
        return LedgerDamaged(f"{self._shown} is damaged: {what}")
