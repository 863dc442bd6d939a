"""What requests with a key were told: kept in the transaction of what they did."""

from __future__ import annotations

import sqlalchemy as sa

from samekind.ledger.tables import replies
from samekind.ledger.transactions import KeptReply

__all__ = ["read_reply", "write_reply"]

DAYS_KEPT = 7  # for as long a request may be repeated; no client tries for longer
LOOK_EVERY = 256  # requests, for those that are older


def read_reply(connection: sa.Connection, who: str, key: str) -> KeptReply | None:
    """Return what somebody's request with a key was told, if there was one."""
    own = (replies.c.who == who) & (replies.c.key == key)
    found = connection.execute(sa.select(replies.c.request, replies.c.reply).where(own)).first()
    return None if found is None else KeptReply(*found)


def write_reply(connection: sa.Connection, who: str, key: str, kept: KeptReply, at: float) -> None:
    """Keep what a request is told; forget those of long ago."""
    last = connection.execute(sa.select(sa.func.max(replies.c.id))).scalar() or 0
    if last % LOOK_EVERY == 0:
        old = replies.c.at < at - DAYS_KEPT * 86_400
        connection.execute(sa.delete(replies).where(old))
    new = {"id": last + 1, "who": who, "key": key, **kept._asdict(), "at": at}
    connection.execute(sa.insert(replies).values(**new))
