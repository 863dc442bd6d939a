"""Projects grow: rows that were added, removed or moved in the data since are recognised by what they hold.

The ledger names items by ids that they keep for ever. Where each item is now is written in one transaction,
together with the fingerprint of the data: who is killed meanwhile finds the project as it was, and opening it
again does the whole of it. Answers are not touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.data import Contents, Items, match_contents
from samekind.engine import OtherDataError
from samekind.errors import DataError
from samekind.ledger import KeptItems, Ledger, pairs_of

__all__ = [
    "DataChange",
    "compare_contents",
    "keep_contents",
    "kept_contents",
    "place_items",
    "take_in_data",
]

FEWEST = 0.5  # of the rows that must be there again, or else these are other data
COLUMNS = "columns"  # in `settings`: those by which the items are recognised
SPACE, FINISHED = "space", "finished"  # in `settings`: found anew, and asked on


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


class _Known(NamedTuple):
    """All items that a project ever saw, and the row of each; -1: it is not in the data."""

    contents: Contents
    rows: NDArray[np.int64]

    @property
    def of_rows(self) -> NDArray[np.intp]:
        """The item of each row."""
        return np.argsort(np.where(self.rows < 0, self.rows.size, self.rows), kind="stable")[
            : self.n
        ]

    @property
    def n(self) -> int:
        """How many of them are in the data."""
        return int((self.rows >= 0).sum())


class _Match(NamedTuple):
    change: DataChange
    rows: NDArray[np.intp]
    """The row of each item now; -1: it is gone."""


class Placed(NamedTuple):
    """How many answers that stood wait now, of these how many hold for another row, and came back."""

    waiting: int
    held_by_others: int
    restored: int


def _known(ledger: Ledger) -> _Known | None:
    """Return what a project knows of its items; None if it does not, or that makes no sense."""
    kept = ledger.items
    try:
        if kept is None:
            return None
        columns = ledger.settings.get(COLUMNS, "{}")
        return _Known(Contents.from_bytes(kept.digests, columns), kept.rows)
    except ValueError:
        return None


def kept_contents(ledger: Ledger) -> Contents | None:
    """Return what a project knows of what its rows hold; None if it does not, or that is damaged."""
    known = _known(ledger)
    return None if known is None else known.contents.take(known.of_rows)


def keep_contents(ledger: Ledger, contents: Contents | None) -> None:
    """Let a project know what its rows hold, if it does not yet."""
    if contents is None or ledger.store is None or ledger.read_only or ledger.items is not None:
        return
    with ledger.transaction():
        ledger.keep_items(KeptItems(contents.to_bytes(), np.arange(len(contents))))
        ledger.set(COLUMNS, contents.columns_text())
    ledger.refresh()


def compare_contents(ledger: Ledger, now: Contents) -> DataChange:
    """Return how rows differ from those that a project knows."""
    known = _known(ledger)
    assert known is not None
    return _match(ledger, known, now).change


def take_in_data(
    ledger: Ledger, items: Items, settings: dict[str, Any], *, any_data: bool = False
) -> list[str]:
    """Find the items of a project in its data as they are now; say in words what happened.

    Nothing is done where the data are as they were, or cannot be compared; nor where they are others, unless
    `any_data` are welcome.
    """
    fingerprint = items.points.fingerprint()
    if ledger.settings.get("fingerprint", fingerprint) == fingerprint:
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
    change = compare_contents(ledger, now)
    if change.is_other_data and not any_data:
        raise OtherDataError(
            f"this project belongs to other data: {items.source} holds only "
            f"{change.before - change.removed:,} of its {change.before:,} things (any_data=True takes it "
            "in all the same). Open it with its own data, or start a new project."
        )
    facts = {"fingerprint": fingerprint, "shape": f"{items.n} x {items.points.d}", SPACE: None}
    if change.added:
        facts[FINISHED] = None
    ledger.log.has_stand_ins = settings.get("error_rate") is None
    done = place_items(ledger, now, facts)
    return [] if done is None else _told(items.source, change, done, len(ledger))


def place_items(ledger: Ledger, now: Contents, facts: Mapping[str, str | None]) -> Placed | None:
    """Note where each item is now, and facts that change with it; None if another program has done that."""
    before = set(ledger.active()["id"].tolist())
    with ledger.transaction():
        if ledger.settings.get("fingerprint") == facts["fingerprint"]:
            return None
        known = _known(ledger)
        assert known is not None
        rows = _match(ledger, known, now).rows
        own, new = known.contents, np.setdiff1d(np.arange(len(now)), rows)
        there = rows >= 0
        for part, of_now in zip((own.whole, own.compared, own.called), _parts(now), strict=True):
            part[there] = of_now[rows[there]]
        every = own.followed_by(now.take(new))
        ledger.keep_items(KeptItems(every.to_bytes(), np.append(rows, new)))
        for key, value in facts.items():
            ledger.set(key, value)
    ledger.refresh()
    after = set(ledger.active()["id"].tolist())
    held = set(ledger.log.active(stand_ins=True)["id"].tolist()) - after
    return Placed(len(before - after), len(held & (before - after)), len(after - before))


def _parts(contents: Contents) -> tuple[NDArray[np.uint64], ...]:
    return contents.whole, contents.compared, contents.called


def _are_same(known: Contents, now: Contents) -> bool:
    return len(known) == len(now) and bool((known.whole == now.whole).all())


def _match(ledger: Ledger, known: _Known, now: Contents) -> _Match:
    """Find the items of a project among the rows of now."""
    gone = np.flatnonzero(known.rows < 0)
    order = np.concatenate([known.of_rows, gone])  # of equal ones, those that are there come first
    found = match_contents(known.contents.take(order), now)
    places = found.now[: known.n]  # of the rows of before
    rows = np.empty(order.size, dtype=np.intp)
    rows[order] = found.now
    answered = np.unique(pairs_of(ledger.active()))
    is_gone = places < 0
    change = DataChange(
        before=known.n,
        now=len(now),
        added=len(now) - int((~is_gone).sum()),
        removed=int(is_gone.sum()),
        changed=found.changed.size,
        edited=found.edited,
        returned=int((found.now[known.n :] >= 0).sum()),
        answered=answered.size,
        answered_kept=int((~is_gone[answered]).sum()),
        is_same=_are_same(known.contents.take(known.of_rows), now),
    )
    return _Match(change, rows)


def _told(source: str, change: DataChange, done: Placed, n_answers: int) -> list[str]:
    """Say what has changed, and what became of the answers."""
    lines = [f"{source} has changed since: {change}."]
    stay = f"{n_answers:,} answer{'s' * (n_answers != 1)} count{'s' * (n_answers == 1)} on"
    if done.waiting:
        some = f"{done.waiting:,} answer{'s' * (done.waiting != 1)} about removed or changed things"
        held = f"; {done.held_by_others:,} of them now speak for others of the same kind"
        lines.append(
            f"{stay}. {some} {'are' if done.waiting > 1 else 'is'} set aside until these are "
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
