"""What was answered, by whom and when, and what belongs to it: names, edits, opinions."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from samekind.flow import UNANSWERED
from samekind.ledger.errors import (
    LedgerDamaged,
    LedgerError,
    LedgerGone,
    LedgerMissing,
    LedgerStale,
)
from samekind.ledger.events import ANSWER, ROLES, Event, KeptItems, KeptReply, OpinionRole
from samekind.ledger.inference import Contradiction, Implications, Statement
from samekind.ledger.leases import Lease, rows_of_question
from samekind.ledger.ledger import Ledger, open_ledger
from samekind.ledger.log import (
    ClusterName,
    LedgerLine,
    Lines,
    Log,
    Revision,
    keys_of,
    pairs_of,
)
from samekind.ledger.opinions import Opinion

if TYPE_CHECKING:
    from samekind.ledger.links import Link, Links
    from samekind.ledger.places import ProjectPlace, ProjectURL
    from samekind.ledger.upkeep import (
        Checkup,
        Erased,
        back_up_project,
        check_project,
        forget,
        move_project,
    )

_HOMES = {  # SQLAlchemy is imported by those who need it
    "Checkup": "upkeep",
    "Erased": "upkeep",
    "Link": "links",
    "Links": "links",
    "ProjectPlace": "places",
    "ProjectURL": "places",
    "back_up_project": "upkeep",
    "check_project": "upkeep",
    "forget": "upkeep",
    "move_project": "upkeep",
}

__all__ = [
    "ANSWER",
    "ROLES",
    "UNANSWERED",
    "Checkup",
    "ClusterName",
    "Contradiction",
    "Erased",
    "Event",
    "Implications",
    "KeptItems",
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
    "Log",
    "Opinion",
    "OpinionRole",
    "ProjectPlace",
    "ProjectURL",
    "Revision",
    "Statement",
    "back_up_project",
    "check_project",
    "forget",
    "keys_of",
    "move_project",
    "open_ledger",
    "pairs_of",
    "rows_of_question",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"samekind.ledger.{_HOMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
