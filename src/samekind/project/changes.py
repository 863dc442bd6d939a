"""Data that change: rows that were added, removed or moved since are recognised by what they hold.

The ledger names items by ids that they keep for ever. Where each item is now is written in one transaction,
together with the fingerprint of the data: a process that is killed meanwhile leaves the project as it was.
Answers are not touched.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.data import Contents, Items, match_contents
from samekind.engine import OtherDataError
from samekind.errors import DataError, Parameter
from samekind.ledger import KeptItems, Ledger, pairs_of
from samekind.project.words import counted

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

    `changed` rows are called as before, by the name of a file or an id, and compared by something else: they
    count as added and as removed. `edited` ones hold something else, but are compared by the same. Of
    `answered` rows, `answered_kept` are still there.
    """

    before: int
    now: int
    added: int
    removed: int
    changed: int
    edited: int
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
        counts = {
            "added": self.added - self.changed,
            "removed": self.removed - self.changed,
            "changed": self.changed,
            "changed in what is not compared": self.edited,
        }
        parts = [f"{count:,} {what}" for what, count in counts.items() if count]
        if not parts:
            return "the same things in another order"
        return f"{', '.join(parts)}; {self.before:,} things before, {self.now:,} now"


class _Known(NamedTuple):
    """All items that a project ever saw, and the row of each; -1: it is not in the data."""

    contents: Contents
    rows: NDArray[np.int64]

    @classmethod
    def of(cls, ledger: Ledger) -> _Known | None:
        """Return what a project knows; None if it does not, or that makes no sense."""
        kept = ledger.items
        if kept is None:
            return None
        try:
            columns = ledger.settings.get(COLUMNS, "{}")
            return cls(Contents.from_bytes(kept.digests, columns), kept.rows)
        except ValueError:
            return None

    @property
    def of_rows(self) -> NDArray[np.intp]:
        """The item of each row."""
        places = np.where(self.rows < 0, self.rows.size, self.rows)
        return np.argsort(places, kind="stable")[: int((self.rows >= 0).sum())]


def kept_contents(ledger: Ledger) -> Contents | None:
    """Return what a project knows of what its rows hold; None if it does not, or that is damaged."""
    known = _Known.of(ledger)
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
    known = _Known.of(ledger)
    assert known is not None
    return _match(ledger, known, now)[0]


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
    change = compare_contents(ledger, now)
    if change.is_same:  # they are compared by something else
        return []
    if change.is_other_data and not any_data:
        raise OtherDataError(
            f"this project belongs to other data: {items.source} holds only "
            f"{change.before - change.removed:,} of its {change.before:,} things. Open it with its own data, "
            "or start a new project. To take this in all the same: ",
            Parameter("any_data", True),
        )
    facts = {"fingerprint": fingerprint, "shape": f"{items.n} x {items.points.d}", SPACE: None}
    if change.added:
        facts[FINISHED] = None
    ledger.log.has_stand_ins = settings.get("error_rate") is None
    before = _standing(ledger)
    if not place_items(ledger, now, facts):
        return []
    after = _standing(ledger)
    return _told(items.source, change, len(before - after), len(after - before), len(ledger))


def place_items(ledger: Ledger, now: Contents, facts: Mapping[str, str | None]) -> bool:
    """Note where each item is now, and facts that change with it; False if another program has done that."""
    with ledger.transaction():
        if ledger.settings.get("fingerprint") == facts["fingerprint"]:
            return False
        known = _Known.of(ledger)
        assert known is not None
        rows = _match(ledger, known, now)[1]
        own, new = known.contents, np.setdiff1d(np.arange(len(now)), rows)
        there = rows >= 0
        for part, of_now in zip(_parts(own), _parts(now), strict=True):
            part[there] = of_now[rows[there]]
        every = own.followed_by(now.take(new))
        ledger.keep_items(KeptItems(every.to_bytes(), np.append(rows, new)))
        for key, value in facts.items():
            ledger.set(key, value)
    ledger.refresh()
    return True


def _standing(ledger: Ledger) -> set[int]:
    found: list[int] = ledger.active()["id"].tolist()
    return set(found)


def _parts(contents: Contents) -> tuple[NDArray[np.uint64], ...]:
    return contents.whole, contents.compared, contents.called


def _match(ledger: Ledger, known: _Known, now: Contents) -> tuple[DataChange, NDArray[np.intp]]:
    """Find the items of a project among the rows of now: the row of each, -1 if it is gone."""
    of_rows = known.of_rows
    gone = np.flatnonzero(known.rows < 0)
    order = np.concatenate([of_rows, gone])  # of equal ones, those that are there come first
    found = match_contents(known.contents.take(order), now)
    rows = np.empty(order.size, dtype=np.intp)
    rows[order] = found.now
    places = found.now[: of_rows.size]  # of the rows of before
    is_gone = places < 0
    answered = np.unique(pairs_of(ledger.active()))
    before = known.contents.take(of_rows)
    is_same = len(before) == len(now) and bool((before.whole == now.whole).all())
    change = DataChange(
        before=of_rows.size,
        now=len(now),
        added=len(now) - int((~is_gone).sum()),
        removed=int(is_gone.sum()),
        changed=found.changed.size,
        edited=found.edited,
        answered=answered.size,
        answered_kept=int((~is_gone[answered]).sum()),
        is_same=is_same,
    )
    return change, rows


def _told(source: str, change: DataChange, waiting: int, restored: int, stand: int) -> list[str]:
    """Say what has changed, and what became of the answers."""
    lines = [f"{source} has changed since: {change}."]
    if stand or waiting:
        aside = f" {counted(waiting, 'answer')} about removed or changed things are set aside until these "
        lines.append(
            f"{counted(stand, 'answer')} count on.{f'{aside}are back.' if waiting else ''}"
        )
    if restored:
        lines.append(f"{counted(restored, 'answer')} about things that are back count again.")
    if change.added:
        lines.append("What is new is asked about as all else.")
    return lines
