"""Parts of the data on the workers of a Dask cluster."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.points.fixed_point import Frame
from samekind.points.labels import LabelMap
from samekind.points.partition import Change, Part
from samekind.points.sources.dask.worker import Entry, held_here

__all__ = ["Naming", "PartRecipe", "Seen", "name_rows"]


SENT = 64  # rows of a part, on average, that go along where some of them will be asked for


class Seen(NamedTuple):
    """A result, and rows that the driver will want to look at."""

    result: Any
    rows: NDArray[np.intp]
    X: NDArray[np.float64]


class PartRecipe(NamedTuple):
    """Makes a `Part` of every block."""

    frame: Frame

    def make(self, block: NDArray[Any], threads: int) -> Part:
        """Return what answers for a block."""
        return Part(lambda: block, len(block), self.frame, threads=threads)

    def fold(
        self, what: str, made: Mapping[int, Part], calls: Mapping[int, Any], found: dict[int, Any]
    ) -> dict[int, Any]:
        """Sum and sift on the worker what the driver would, and add the rows that it will ask for."""
        match what:
            case "take" | "peek":
                return _summed(found)
            case "locate":
                return {part: Seen(some, some.rows, some.X) for part, some in found.items()}
            case "at_ranks" | "owned":
                few = what == "at_ranks" or sum(map(len, found.values())) <= SENT * len(found)
                return {
                    part: Seen(rows, rows, made[part].rows(rows)) if few else rows
                    for part, rows in found.items()
                }
            case "near":
                return {
                    part: Seen((distances, rows), rows, made[part].rows(rows))
                    for part, (distances, rows) in _nearest(found, calls).items()
                }
        return found


def _summed(found: dict[int, Change]) -> dict[int, Change]:
    """Give the sum of all accounts to the first part."""
    changes = list(found.values())
    sites, at = np.unique(np.concatenate([one.sites for one in changes]), return_inverse=True)
    accounts = np.zeros((sites.size, changes[0].accounts.shape[1]), dtype=np.int64)
    np.add.at(accounts, at, np.concatenate([one.accounts for one in changes]))
    folded = [one._replace(sites=sites[:0], accounts=accounts[:0]) for one in changes]
    folded[0] = changes[0]._replace(sites=sites, accounts=accounts)
    return dict(zip(found, folded, strict=True))


def _nearest(found: dict[int, Any], calls: Mapping[int, Any]) -> dict[int, Any]:
    """Leave out rows that are not among the nearest of one worker."""
    size = next(iter(calls.values()))[1]
    all_distances = np.concatenate([distances for distances, _ in found.values()])
    if all_distances.size <= size:
        return found
    limit = np.partition(all_distances, size - 1)[size - 1]
    return {
        part: (distances[distances <= limit], rows[distances <= limit])
        for part, (distances, rows) in found.items()
    }


class Naming(NamedTuple):
    """What names the rows of all parts."""

    run: str
    frame: Frame
    entries: list[Entry]
    """Everything that happened to the set of centres by which rows are named."""
    what: str
    args: tuple[Any, ...]


def name_rows(block: NDArray[Any], part: int, naming: Naming, names: LabelMap) -> NDArray[np.intp]:
    """Return the names of the rows of a block: a task that may run later, anywhere and again.

    What is held of the part is used if it is still as it was; otherwise the entries are applied to a new one.
    """
    held = held_here(naming.run, part) if naming.entries else None
    found: NDArray[np.intp]
    if held is not None:
        with held.lock:
            if held.times[naming.args[0]] == len(naming.entries):
                found = getattr(held.made, naming.what)(*naming.args, names)
                return found
    new = PartRecipe(naming.frame).make(block, 1)
    for entry in naming.entries:
        getattr(new, entry.what)(*entry.args)
    found = getattr(new, naming.what)(*naming.args, names)
    return found
