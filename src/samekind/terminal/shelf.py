"""Where the things stand that are shown."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Protocol

from numpy.typing import NDArray

if TYPE_CHECKING:
    from samekind.data import Items, ItemView

__all__ = ["Shelf", "Stacked"]


class Shelf(Protocol):
    """Shows things by their row numbers."""

    def show(self, row: int) -> ItemView:
        """Return what there is to see of a row."""
        ...

    def grey(self, row: int) -> NDArray[Any] | None:
        """Return a small grey picture of a row."""
        ...


class Stacked:
    """Several piles of things as one shelf: the rows of the first, then those of the next, and so on."""

    def __init__(self, first: Items, *others: Items) -> None:
        self._piles = first, *others

    def show(self, row: int) -> ItemView:
        """Return what there is to see of a row; of the later piles only what the first one has, too."""
        pile, own = self._place(row)
        shown = pile.show(own)
        if pile is self._piles[0]:
            return shown
        names = {name for name, _ in self._piles[0].show(0).fields}
        fields = [field for field in shown.fields if field[0] in names]
        return replace(shown, title=f"new: {shown.title}", fields=fields)

    def grey(self, row: int) -> NDArray[Any] | None:
        """Return a small grey picture of a row."""
        pile, own = self._place(row)
        images = pile.images
        return None if images is None else images[own]

    def _place(self, row: int) -> tuple[Items, int]:
        for pile in self._piles[:-1]:
            if row < pile.n:
                return pile, row
            row -= pile.n
        return self._piles[-1], row
