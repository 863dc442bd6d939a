"""What was answered, by whom and when, and what belongs to it: names, corrections, checkpoints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from samekind.ledger.inference import Contradiction, Implications, Statement
from samekind.ledger.log import LedgerLine, Lines, keys_of, pairs_of
from samekind.ledger.memory import UNANSWERED, Ledger
from samekind.ledger.notes import Change, Checkpoint, ClusterName
from samekind.ledger.past import ledger_at
from samekind.ledger.transactions import Revision

if TYPE_CHECKING:
    from samekind.ledger.sql import LedgerError, SqlLedger

__all__ = [
    "UNANSWERED",
    "Change",
    "Checkpoint",
    "ClusterName",
    "Contradiction",
    "Implications",
    "Ledger",
    "LedgerError",
    "LedgerLine",
    "Lines",
    "Revision",
    "SqlLedger",
    "Statement",
    "keys_of",
    "ledger_at",
    "open_ledger",
    "pairs_of",
]


def __getattr__(name: str) -> object:  # SQLAlchemy is imported by those who need it
    if name in ("LedgerError", "SqlLedger"):
        from samekind.ledger import sql

        return getattr(sql, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def open_ledger(where: Ledger | str | Path | None, *, infer: bool = True) -> Ledger:
    """Return the ledger itself, one in memory for None, or the one in a file or at a URL."""
    if where is None:
        return Ledger(infer=infer)
    if isinstance(where, Ledger):
        return where
    if isinstance(where, str | Path):
        from samekind.ledger.sql import SqlLedger

        return SqlLedger(where, infer=infer)
    raise TypeError(f"ledger must be a path, a URL, a Ledger or None, got {where!r}.")
