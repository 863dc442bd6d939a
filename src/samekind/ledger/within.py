"""A ledger within a transaction of others: what is written to it is kept with the rest of that, or not."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import sqlalchemy as sa

from samekind.ledger.following import FollowingLedger
from samekind.ledger.sql import SqlLedger
from samekind.ledger.transactions import Transactions

__all__ = ["LedgerWithin"]


class LedgerWithin(SqlLedger):
    """What a database holds in a transaction that somebody else has begun, and ends."""

    def __init__(self, connection: sa.Connection, shown: str) -> None:
        FollowingLedger.__init__(self, shown, infer=True)
        self._place = self.where = shown
        self._gone = None
        self._connection = connection
        self._read_meta(connection)
        self._catch_up(connection)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Note what changes the past; whoever began the transaction keeps what is written within."""
        with Transactions.transaction(self):
            yield

    def _commit(self) -> None:
        pass

    def close(self) -> None:
        """Leave the transaction as it is."""
