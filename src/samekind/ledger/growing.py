"""A ledger whose rows get other numbers when the data have changed."""

from __future__ import annotations

import sqlalchemy as sa

from samekind.ledger.following import FollowingLedger
from samekind.ledger.row_contents import (
    KeptContents,
    Renumbered,
    Renumbering,
    read_contents,
    renumber_rows,
    write_contents,
)

__all__ = ["GrowingLedger"]


class GrowingLedger(FollowingLedger):
    """What a database holds, and by what its rows are recognised; `SqlLedger` writes there."""

    _connection: sa.Connection | None

    def contents(self) -> KeptContents | None:
        """Return by what the rows are recognised, if that is kept."""
        with self._connected("be read", writes=False) as connection:
            return read_contents(connection)

    def keep_contents(self, digests: bytes, columns: str) -> None:
        """Keep by what the rows are recognised: as many bytes for each, and what they are made from."""
        with self._connected("keep what its rows hold") as connection:
            write_contents(connection, digests, columns)

    def renumber(self, moved: Renumbering) -> Renumbered:
        """Give all rows new numbers, as the data have changed; whoever has the project open reads it anew."""
        with self.transaction():
            assert self._connection is not None
            renumbered = renumber_rows(self._connection, moved)
            self._catch_up(self._connection)
        return renumbered
