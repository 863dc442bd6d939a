"""What people call the clusters."""

from __future__ import annotations

from samekind.ledger import Ledger

__all__ = ["LONGEST_NAME", "name_of"]

LONGEST_NAME = 200


def name_of(members: list[int], ledger: Ledger) -> str | None:
    """Return what a cluster is called: the newest name that was given to any of its members.

    Names are given to rows, so they outlive clusters that merge, split or change.
    """
    names = ledger.names
    if len(names) < len(members):
        own = set(members)
        given = [name for row, name in names.items() if row in own]
    else:
        given = [names[row] for row in members if row in names]
    return max(given).text or None if given else None
