"""A ledger that keeps what requests with a key were told, in the transaction of what they did."""

from __future__ import annotations

import sqlalchemy as sa

from samekind.ledger.growing import GrowingLedger
from samekind.ledger.tables import replies
from samekind.ledger.transactions import KeptReply

__all__ = ["ReplyingLedger"]

DAYS_KEPT = 7  # for as long a request may be repeated; no client tries for longer
LOOK_EVERY = 256  # requests, for those that are older


class ReplyingLedger(GrowingLedger):
    """What a database holds, and what requests with a key were told; `SqlLedger` writes there."""

    def reply_to(self, who: str, key: str) -> KeptReply | None:
        """Return what somebody's request with this key was told, if there was one."""
        own = (replies.c.who == who) & (replies.c.key == key)
        with self._connected("be read", writes=False) as connection:
            asked = sa.select(replies.c.request, replies.c.reply).where(own)
            found = connection.execute(asked).first()
        return None if found is None else KeptReply(*found)

    def keep_reply(self, who: str, key: str, kept: KeptReply) -> None:
        """Keep what a request is told, together with what it does: said again, it is not done again."""
        with self._connected("keep a reply") as connection:
            now = self._now()
            last = connection.execute(sa.select(sa.func.max(replies.c.id))).scalar() or 0
            if last % LOOK_EVERY == 0:
                old = replies.c.at < now - DAYS_KEPT * 86_400
                connection.execute(sa.delete(replies).where(old))
            new = {"id": last + 1, "who": who, "key": key, **kept._asdict(), "at": now}
            connection.execute(sa.insert(replies).values(**new))
