"""What was answered, by whom and when, and what belongs to it: names, corrections, opinions."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from samekind.ledger.errors import (
    LedgerDamaged,
    LedgerError,
    LedgerGone,
    LedgerMissing,
    LedgerStale,
)
from samekind.ledger.inference import Contradiction, Implications, Statement
from samekind.ledger.leasing import Lease, rows_of_question
from samekind.ledger.log import LedgerLine, Lines, keys_of, pairs_of
from samekind.ledger.memory import UNANSWERED, Ledger
from samekind.ledger.notes import ClusterName
from samekind.ledger.opinions import WITHDRAWN, Opinion, OpinionRole
from samekind.ledger.transactions import KeptReply, Revision

if TYPE_CHECKING:
    from samekind.ledger.addresses import ProjectPlace, ProjectURL
    from samekind.ledger.checkup import check_file
    from samekind.ledger.links import ROLES, Link, Links
    from samekind.ledger.moving import back_up_project, move_project
    from samekind.ledger.row_contents import Renumbered, Renumbering
    from samekind.ledger.sql import SqlLedger

__all__ = [
    "ROLES",
    "UNANSWERED",
    "WITHDRAWN",
    "ClusterName",
    "Contradiction",
    "Implications",
    "KeptReply",
    "Lease",
    "Ledger",
    "LedgerDamaged",
    "LedgerError",
    "LedgerGone",
    "LedgerLine",
    "LedgerMissing",
    "LedgerStale",
    "Lines",
    "Link",
    "Links",
    "Opinion",
    "OpinionRole",
    "ProjectPlace",
    "ProjectURL",
    "Renumbered",
    "Renumbering",
    "Revision",
    "SqlLedger",
    "Statement",
    "back_up_project",
    "check_file",
    "keys_of",
    "move_project",
    "open_ledger",
    "pairs_of",
    "rows_of_question",
]


_HOMES = {
    "ProjectPlace": "samekind.ledger.addresses",
    "ProjectURL": "samekind.ledger.addresses",
    "Link": "samekind.ledger.links",
    "Links": "samekind.ledger.links",
    "ROLES": "samekind.ledger.links",
    "back_up_project": "samekind.ledger.moving",
    "move_project": "samekind.ledger.moving",
    "SqlLedger": "samekind.ledger.sql",
    "check_file": "samekind.ledger.checkup",
    "Renumbered": "samekind.ledger.row_contents",
    "Renumbering": "samekind.ledger.row_contents",
}


def __getattr__(name: str) -> object:  # SQLAlchemy is imported by those who need it
    home = _HOMES.get(name)
    if home is not None:
        return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def open_ledger(where: Ledger | str | ProjectPlace | None, *, infer: bool = True) -> Ledger:
    """Return the ledger itself, one in memory for None, or the one in a file or at a URL."""
    if where is None:
        return Ledger(infer=infer)
    if isinstance(where, Ledger):
        return where
    from samekind.ledger.addresses import ProjectURL

    if isinstance(where, str | Path | ProjectURL):
        from samekind.ledger.sql import SqlLedger

        return SqlLedger(where, infer=infer)
    raise TypeError(f"ledger must be a path, a URL, a Ledger or None, got {where!r}.")
