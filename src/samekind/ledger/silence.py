"""Connections to PostgreSQL that do not wait without bound for a server or a network that went silent.

Keepalives find a network that is gone while an answer is waited for, and what is sent and not taken has a
bound of its own. Neither finds a server that hangs, or something between that takes all and passes nothing
on: so a connection also breaks when nothing comes for long.
"""

from __future__ import annotations

from time import monotonic
from typing import TypeVar

import psycopg
from psycopg.abc import PQGen

__all__ = ["BOUNDS", "WatchedConnection", "fail_fast", "note_silence"]

T = TypeVar("T")
SILENT = 15.0  # seconds
BOUNDS = {"connect_timeout": 10, "tcp_user_timeout": 10_000, "keepalives": 1}
BOUNDS |= {"keepalives_idle": 5, "keepalives_interval": 3, "keepalives_count": 3}
FAIL_FAST = 2.0  # seconds for which nobody else waits for a server that was waited for in vain
_silent_until: dict[str, float] = {}  # by server


class WatchedConnection(psycopg.Connection[tuple[object, ...]]):
    """A connection that breaks when nothing comes for `patience` seconds."""

    patience, server = SILENT, ""

    def wait(self, gen: PQGen[T], *args: float | None, **kwargs: float | None) -> T:
        """Do what waits for the server, which is all that is done by the connection."""
        return super().wait(self._bounded(gen), *args, **kwargs)  # type: ignore[arg-type]

    def _bounded(self, gen: PQGen[T]) -> PQGen[T]:
        last = monotonic() + self.patience
        try:
            ready = yield next(gen)
            while ready or monotonic() < last:
                last = monotonic() + self.patience if ready else last
                ready = yield gen.send(ready)
        except StopIteration as end:
            found: T = end.value
            return found
        self.pgconn.finish()
        note_silence(self.server)
        raise psycopg.OperationalError(f"the server has said nothing for {self.patience:g} s")


def note_silence(server: str) -> None:
    """Note that a server was waited for in vain: those who wait behind each other would add that up."""
    _silent_until[server] = monotonic() + FAIL_FAST


def fail_fast(server: str) -> None:
    """Raise an error if somebody has just waited for a server in vain."""
    if monotonic() < _silent_until.get(server, 0.0):
        raise psycopg.OperationalError("the server did not answer a moment ago")
