"""Who holds the parts of the data, and how they are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from samekind.points.fixed_point import Frame
from samekind.points.labels import LabelMap
from samekind.points.partition import Part
from samekind.points.threads import split

__all__ = ["Executor", "LocalExecutor", "by_part", "parted"]


class Executor(Protocol):
    """The parts of the data, wherever they are."""

    frame: Frame
    firsts: NDArray[np.intp]
    """The number of each part's first row, and of one past the last."""
    is_remote: bool
    """Whether asking takes so long that what can be worked out here should be."""
    is_grouped: bool
    """Whether the rows were put into groups, for cells or a sampler."""

    def ask(self, what: str, calls: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call the method `what` of some parts, each with its own arguments; return the results."""
        ...

    def ask_one(self, what: str, part: int, *args: Any) -> Any:
        """Call the method `what` of one part."""
        ...

    def tell(self, what: str, *args: Any) -> list[Any]:
        """Call a method that changes every part, with the same arguments; return the results in order."""
        ...

    def seen(self, rows: NDArray[np.intp]) -> NDArray[np.float64] | None:
        """Return these rows if all of them are at hand, where asking takes long."""
        ...

    def name(self, what: str, names: LabelMap, *args: Any) -> Any:
        """Call a method of every part that names its rows; return the names of all rows.

        As an array of the kind that the data are.
        """
        ...


class LocalExecutor:
    """Parts that lie in this process."""

    is_remote = False
    is_grouped = False

    def __init__(
        self, parts: Sequence[Part], frame: Frame, firsts: NDArray[np.intp], threads: int = 1
    ) -> None:
        self.frame = frame
        self.firsts = firsts
        self._parts = parts
        self._threads = threads

    def ask(self, what: str, calls: Mapping[int, tuple[Any, ...]]) -> dict[int, Any]:
        """Call the method `what` of some parts, each with its own arguments; return the results."""
        if len(calls) == 1:
            ((part, args),) = calls.items()
            return {part: getattr(self._parts[part], what)(*args)}
        numbers = list(calls)
        found = split(
            len(numbers),
            min(self._threads, len(numbers)),
            lambda first, last: [
                getattr(self._parts[part], what)(*calls[part]) for part in numbers[first:last]
            ],
        )
        return dict(zip(numbers, [result for some in found for result in some], strict=True))

    def ask_one(self, what: str, part: int, *args: Any) -> Any:
        """Call the method `what` of one part."""
        return getattr(self._parts[part], what)(*args)

    def tell(self, what: str, *args: Any) -> list[Any]:
        """Call a method that changes every part, with the same arguments; return the results in order."""
        return list(self.ask(what, dict.fromkeys(range(len(self._parts)), args)).values())

    def seen(self, rows: NDArray[np.intp]) -> None:
        """Return nothing: the parts are asked as quickly."""

    def name(self, what: str, names: LabelMap, *args: Any) -> NDArray[np.intp]:
        """Call a method of every part that names its rows; return the names of all rows."""
        each = self.ask(what, {k: (*args, own) for k, own in enumerate(parted(self, names))})
        found: NDArray[np.intp] = np.concatenate(list(each.values())) if len(each) > 1 else each[0]
        return found


def by_part(
    executor: Executor, rows: NDArray[np.intp]
) -> dict[int, tuple[NDArray[np.intp], NDArray[np.intp]]]:
    """Return for each part that holds some of these rows which of them, and their numbers there."""
    if executor.firsts.size == 2:
        return {0: (np.arange(rows.size), rows)}
    parts = executor.firsts.searchsorted(rows, side="right") - 1
    found = {}
    for part in np.unique(parts).tolist():
        at = (parts == part).nonzero()[0]
        found[part] = at, rows[at] - executor.firsts[part]
    return found


def parted(executor: Executor, names: LabelMap) -> list[LabelMap]:
    """Return the names for each part."""
    where = by_part(executor, names.known_rows)
    nowhere = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp)
    found = []
    for part in range(executor.firsts.size - 1):
        at, rows = where.get(part, nowhere)
        found.append(LabelMap(names.of_centers, rows, names.known_labels[at]))
    return found
