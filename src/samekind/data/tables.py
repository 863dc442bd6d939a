"""Tables that are read a block of rows at a time, wherever their rows lie.

Whatever is learnt about a table (what its columns hold, medians, means, labels) is learnt by mapping a
function over its blocks and putting the results together in order. So a table in memory, in files and
on a Dask cluster is treated alike.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias, TypeVar

import numpy as np
import pandas as pd

from samekind.data.files import Array, Place, plain_place

__all__ = ["ArrayTable", "FrameTable", "Table", "Tick", "row_blocks", "silent"]

T = TypeVar("T")
Tick: TypeAlias = Callable[[str, int, int], object]
"""Is told what is being done, how much of it is done, and of how much."""

BLOCK_VALUES = 2**20  # of a block


def silent(stage: str, done: int, total: int) -> None:
    """Tell nobody."""


def row_blocks(n: int, d: int) -> Iterator[slice]:
    """Cut n rows of d values into blocks. They are the same for memory and files, so sums are, too."""
    step = max(1, BLOCK_VALUES // max(1, d))
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))


class Table(Protocol):
    """Rows with named columns."""

    name: str
    """What to call it in messages: its path."""
    notes: list[str]
    has_blanks: bool
    """Whether NaN stands for a missing value. In an array it is a mistake."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        ...

    @property
    def n(self) -> int:
        """Number of rows."""
        ...

    def place(self, row: int) -> str:
        """Say where a row stands, for a message about it."""
        ...

    def map(self, function: Callable[[pd.DataFrame], T], columns: Sequence[str]) -> Iterator[T]:
        """Yield what a function returns for each block of these columns, in order."""
        ...

    def view(self, row: int) -> dict[str, object]:
        """Return the cells of a row, as they stand in the file."""
        ...


@dataclass
class FrameTable:
    """A table in memory."""

    name: str
    frame: pd.DataFrame
    place: Place = plain_place
    notes: list[str] = field(default_factory=list)
    has_blanks: bool = True
    fingerprint: str = ""
    """A text that changes when the file does."""
    key: str | None = None
    """Under which the table may be kept beside a project."""

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.frame.columns]

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.frame)

    def map(self, function: Callable[[pd.DataFrame], T], columns: Sequence[str]) -> Iterator[T]:
        """Yield what a function returns for each block of these columns."""
        chosen = self.frame[list(columns)]
        for rows in row_blocks(self.n, len(columns)):
            yield function(chosen.iloc[rows])

    def view(self, row: int) -> dict[str, object]:
        """Return the cells of a row."""
        return {str(name): self.frame[name].iloc[row] for name in self.frame.columns}


@dataclass
class ArrayTable:
    """An array in memory, or mapped from a file."""

    name: str
    X: Array
    columns: list[str]
    notes: list[str] = field(default_factory=list)
    has_blanks: bool = False

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self.X)

    def place(self, row: int) -> str:
        """Return the number of a row."""
        return plain_place(row)

    def map(self, function: Callable[[pd.DataFrame], T], columns: Sequence[str]) -> Iterator[T]:
        """Yield what a function returns for each block of these columns."""
        for rows in row_blocks(self.n, len(columns)):
            yield function(self.block(rows, columns))

    def block(self, rows: slice, columns: Sequence[str]) -> pd.DataFrame:
        """Return some rows of these columns, in the byte order of this machine."""
        X = self.X[rows]
        if list(columns) != self.columns:
            X = X[:, [self.columns.index(name) for name in columns]]
        native = np.asarray(X, dtype=X.dtype.newbyteorder("="))
        index = pd.RangeIndex(rows.start, rows.start + len(native))
        return pd.DataFrame(native, columns=list(columns), index=index)

    def view(self, row: int) -> dict[str, object]:
        """Return the cells of a row."""
        return dict(zip(self.columns, self.X[row].tolist(), strict=True))
