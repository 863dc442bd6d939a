"""Projects grow: rows that were added, removed or moved in the data since are recognised by what they hold.

All that names a row gets its new number in one transaction, together with the fingerprint of the data: who is
killed meanwhile finds the project as it was, and opening it again does the whole of it. What was answered
stays with its rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.data import Contents, Items, match_contents
from samekind.engine import OtherDataError
from samekind.errors import DataError
from samekind.ledger import Ledger, Renumbered, Renumbering, SqlLedger

__all__ = [
    "DataChange",
    "compare_contents",
    "keep_contents",
    "kept_contents",
    "renumber_ledger",
    "take_in_data",
]

FEWEST = 0.5  # of the rows that must be there again, or else these are other data
SPACE, FINISHED = "space", "finished"  # in `meta`: found anew, and asked on


class DataChange(NamedTuple):
    """How the data differ from what a project knows of them; numbers of rows.

    Attributes
    ----------
    before, now : int
        All rows.
    added, removed : int
        Those that are new, and gone; `changed` ones count as both.
    changed : int
        Those that are called as before (by the name of a file, or an id) and are compared by something else.
    edited : int
        Those that hold something else, but are compared by the same; they stay what they are.
    returned : int
        Those of the added ones that were there before, and about which something was answered.
    answered, answered_kept : int
        Those that something was answered about, and how many of them are still there.
    """

    before: int
    now: int
    added: int
    removed: int
    changed: int
    edited: int
    returned: int
    answered: int
    answered_kept: int
    is_same: bool
    """Whether all rows are as they were, in the same order."""

    @property
    def is_other_data(self) -> bool:
        """Whether so little is there again that these are probably not the data of the project."""
        rows = self.before - self.removed
        few = rows < FEWEST * self.before
        return rows == 0 or (few and self.answered_kept <= FEWEST * self.answered)

    def __str__(self) -> str:
        parts = [
            f"{count:,} {what}"
            for count, what in (
                (self.added - self.changed, "added"),
                (self.removed - self.changed, "removed"),
                (self.changed, "changed"),
                (self.edited, "changed in what is not compared"),
            )
            if count
        ]
        if not parts:
            return "the same things in another order"
        return f"{', '.join(parts)}; {self.before:,} things before, {self.now:,} now"


class _Match(NamedTuple):
    change: DataChange
    now: NDArray[np.intp]
    returned: dict[int, int]


def kept_contents(ledger: SqlLedger) -> Contents | None:
    """Return what a project knows of what its rows hold; None if it does not, or that is damaged."""
    kept = ledger.contents()
    try:
        return None if kept is None else Contents.from_bytes(kept.digests, kept.columns)
    except ValueError:
        return None


def keep_contents(ledger: Ledger, items: Items) -> None:
    """Let a project know what its rows hold, if it does not yet."""
    if isinstance(ledger, SqlLedger) and not ledger.read_only and ledger.contents() is None:
        contents = items.contents()
        if contents is not None:
            ledger.keep_contents(contents.to_bytes(), contents.columns_text())


def compare_contents(ledger: SqlLedger, now: Contents) -> DataChange:
    """Return how rows differ from those that a project knows."""
    known = kept_contents(ledger)
    assert known is not None
    return _match(ledger, known, now).change


def take_in_data(
    ledger: SqlLedger, items: Items, settings: dict[str, Any], *, any_data: bool = False
) -> list[str]:
    """Give the rows of a project the numbers that they have in its data now; say in words what happened.

    Nothing is done where the data are as they were, or cannot be compared; nor where they are others, unless
    `any_data` are welcome.
    """
    fingerprint = items.points.fingerprint()
    if ledger.meta.get("fingerprint", fingerprint) == fingerprint:
        return []
    known = kept_contents(ledger)
    try:
        now = None if known is None else items.contents(known.columns)
    except DataError as error:
        raise OtherDataError(f"this project belongs to other data: {error}") from error
    if known is None or now is None:
        return []
    if _are_same(known, now):
        return []  # they are compared by something else
    trusts = settings.get("error_rate") is None
    with ledger.transaction():
        if ledger.meta.get("fingerprint") == fingerprint:
            return []  # somebody else was faster
        change = _match(ledger, known, now).change
        if change.is_other_data and not any_data:
            raise OtherDataError(
                f"this project belongs to other data: {items.source} holds only "
                f"{change.before - change.removed:,} of its {change.before:,} things (any_data=True takes it "
                "in all the same). Open it with its own data, or start a new project."
            )
        facts = {
            "fingerprint": fingerprint,
            "shape": f"{items.n} x {items.points.d}",
            SPACE: None,
            **({FINISHED: None} if change.added else {}),
        }
        done = renumber_ledger(ledger, known, now, facts, trusts=trusts)
    return _told(items.source, change, done, len(ledger))


def renumber_ledger(
    ledger: SqlLedger,
    known: Contents,
    now: Contents,
    facts: Mapping[str, str | None],
    *,
    trusts: bool,
) -> Renumbered:
    """Give the rows of a ledger their numbers of now; from answers that it `trusts` others follow."""
    _, places, returned = _match(ledger, known, now)
    stand_ins = _stand_ins(ledger, places) if trusts else {}
    return ledger.renumber(Renumbering(places, returned, stand_ins, now.to_bytes(), facts))


def _are_same(known: Contents, now: Contents) -> bool:
    return len(known) == len(now) and bool((known.whole == now.whole).all())


def _match(ledger: SqlLedger, known: Contents, now: Contents) -> _Match:
    """Find the rows of a project, and those that are gone from it, among the rows of now."""
    kept = ledger.contents()
    assert kept is not None
    gone = list(kept.gone)
    missing = Contents.from_bytes(b"".join(kept.gone.values()), kept.columns)
    found = match_contents(known.followed_by(missing), now)
    places, back = np.split(found.now, [len(known)])
    returned = {
        row: int(place) for row, place in zip(gone, back.tolist(), strict=True) if place >= 0
    }
    answered = {row for line in ledger.lines() if not line.retracted for row in (line.a, line.b)}
    is_gone = places < 0
    change = DataChange(
        before=len(known),
        now=len(now),
        added=len(now) - int((~is_gone).sum()),
        removed=int(is_gone.sum()),
        changed=found.changed.size,
        edited=found.edited,
        returned=len(returned),
        answered=len(answered),
        answered_kept=sum(not is_gone[row] for row in answered),
        is_same=_are_same(known, now),
    )
    return _Match(change, places, returned)


def _stand_ins(ledger: Ledger, places: NDArray[np.intp]) -> dict[int, int]:
    """Return for rows that go one that is known to be the same and stays."""
    rows = ledger.implications.rows()
    component = ledger.implications.components(rows)
    stays = places[rows] >= 0
    first: dict[int, int] = {}
    for row, own in zip(rows[stays].tolist(), component[stays].tolist(), strict=True):
        first.setdefault(own, row)
    leaving = zip(rows[~stays].tolist(), component[~stays].tolist(), strict=True)
    return {row: first[own] for row, own in leaving if own >= 0 and own in first}


def _told(source: str, change: DataChange, done: Renumbered, n_answers: int) -> list[str]:
    """Say what has changed, and what became of the answers."""
    lines = [f"{source} has changed since: {change}."]
    stay = f"{n_answers:,} answer{'s' * (n_answers != 1)} count{'s' * (n_answers == 1)} on"
    if done.set_aside:
        some = f"{done.set_aside:,} answer{'s' * (done.set_aside != 1)} about removed or changed things"
        held = f"; {done.held_by_others:,} of them now speak for others of the same kind"
        lines.append(
            f"{stay}. {some} {'are' if done.set_aside > 1 else 'is'} set aside until these are "
            f"back{held if done.held_by_others else ''}."
        )
    elif n_answers:
        lines.append(f"All {stay}." if n_answers > 1 else f"{stay}.")
    if done.restored:
        are = "answers" if done.restored > 1 else "answer"
        lines.append(
            f"{done.restored:,} {are} about things that are back count{'s' * (done.restored == 1)} again."
        )
    if change.added - change.changed or change.changed:
        lines.append("What is new is asked about as all else.")
    return lines
