"""Features of the rows of a table: its numbers and categories, standardised."""

from __future__ import annotations

import contextlib
import glob
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import IO

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from samekind.data.cache import State, write_whole
from samekind.data.columns import (
    ColumnUse,
    Series,
    blanks_note,
    numbers_in,
    texts_in,
    unusable_number,
    with_medians,
)
from samekind.data.readers import Array, plain_place
from samekind.data.tables import FrameTable, Table, Tick
from samekind.errors import DataError, no_such_column

__all__ = ["RowFeatures"]

Floats = NDArray[np.float64]


class RowFeatures:
    """Turns rows of a table into points.

    Missing numbers become the median of their column, categories are one-hot. Standardised columns are
    first brought from their range to [-1, 1], which no huge offset harms, then to mean 0, variance 1.
    The variances of the one-hot columns of a category add up to 1, so that it weighs as much as a number.

    Parameters
    ----------
    columns : list of ColumnUse
        The columns to use.
    scale : ndarray of shape (4, d), or None
        Middle and half of the range of each encoded column, and in units of these its mean and
        standard deviation. None leaves columns as they are.
    """

    def __init__(self, columns: list[ColumnUse], scale: Floats | None) -> None:
        self.columns = columns
        self.inputs = [column.name for column in columns]
        single = max(column.width for column in columns) == 4
        self.dtype: np.dtype[np.floating] = np.dtype(np.float32 if single else np.float64)
        self._scale = scale
        low, high = _halves(columns)
        self._constant = low == high

    @classmethod
    def fit(cls, table: Table, columns: list[ColumnUse], *, standardize: bool) -> RowFeatures:
        """Learn how to turn the rows of a table into points."""
        found = cls(with_medians(table, columns), None)
        if standardize:
            found._scale = found._scale_of(table)
        return found

    @property
    def names(self) -> list[str]:
        """A name for each feature."""
        return [name for column in self.columns for name in _encoded_names(column)]

    @property
    def is_standardized(self) -> bool:
        """Whether features are standardised."""
        return self._scale is not None

    @property
    def constant_names(self) -> list[str]:
        """Names of the features that held one value only."""
        return [name for name, same in zip(self.names, self._constant, strict=True) if same]

    def transform(self, block: pd.DataFrame, table: Table | None = None) -> Array:
        """Return the points of some rows; `table` tells where a value stands that cannot be used."""
        E = self._encode(block, table)
        if self._scale is not None:
            middle, half, mean, deviation = self._scale
            E -= middle
            E /= half
            E -= mean
            E /= deviation
            E[:, self._constant] = 0.0  # also in new rows
        return E.astype(self.dtype, copy=False)

    def in_file_units(self, points: ArrayLike) -> Floats:
        """Return points such as centres in the units of the file."""
        values = np.array(points, dtype=np.float64)
        if self._scale is not None:
            middle, half, mean, deviation = self._scale
            values = (values * deviation + mean) * half + middle
        return values

    def points_of(self, table: FrameTable) -> Array:
        """Return the points of a table in memory; an array that needs no change as it is."""
        X = self._unchanged(table)
        if X is not None:
            return X
        return np.concatenate(list(table.map(lambda b: self.transform(b, table), self.inputs)))

    def mapped_points_of(self, table: Table, path: Path | None, tick: Tick) -> Array:
        """Return the points of a large table as a memory map; an array that needs no change as it is.

        They are written to `path`, once. Without it, or if nothing can be written there, they are kept in
        memory up to 1 GiB; more go to a temporary file that is deleted with the array.
        """
        if isinstance(table, FrameTable) and (X := self._unchanged(table)) is not None:
            return X
        shape = table.n, len(self.names)

        def write(file: IO[bytes]) -> None:
            about = {"descr": self.dtype.str, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, about)
            for block, _ in self._blocks(table, tick):
                file.write(np.ascontiguousarray(block).data)

        if path is not None:
            with contextlib.suppress(OSError):
                for left in path.parent.glob(f".{glob.escape(path.name)}.*"):
                    left.unlink()  # of a process that was killed; a living one goes on without a file
                write_whole(path, write)
                found: Array = np.load(path, mmap_mode="r")
                return found
        from samekind.points.array import room_for

        out = room_for(*shape, self.dtype)
        for block, end in self._blocks(table, tick):
            out[end - len(block) : end] = block
        return out

    def _blocks(self, table: Table, tick: Tick) -> Iterator[tuple[Array, int]]:
        """Yield the points of a table, each block with the number of rows up to its end."""
        end = 0
        for block in table.map(lambda block: self.transform(block, table), self.inputs):
            end += len(block)
            yield block, end
            tick("features", end, table.n)

    def _unchanged(self, table: FrameTable) -> Array | None:
        """Return the array of a table whose points are that array as it is."""
        X = table.array
        if X is None or self.is_standardized or self.inputs != table.columns:
            return None
        fits = X.dtype == self.dtype and X.dtype.isnative and X.flags.c_contiguous
        return X if fits else None

    def apply(self, table: FrameTable) -> tuple[Array, list[str]]:
        """Return the points of new rows, and notes for a person."""
        if table.array is not None:  # the columns of an array are known by their places
            if len(table.columns) != len(self.inputs):
                raise DataError(
                    f"{table.name} has {len(table.columns):,} columns, but the first file had "
                    f"{len(self.inputs):,}. Give the same columns in the same order."
                )
            table = FrameTable.of_array(table.name, table.array, self.inputs)
        for name in self.inputs:
            if name not in table.columns:
                raise no_such_column(table.name, "the first table", name, table.columns)
        return self.points_of(table), _new_notes(self.columns, table.frame)

    def state(self) -> State:
        """Return what `from_state` makes it from."""
        arrays = {} if self._scale is None else {"scale": self._scale}
        return State({"columns": [asdict(column) for column in self.columns]}, arrays)

    @classmethod
    def from_state(cls, state: State) -> RowFeatures:
        """Make it again."""
        columns = [ColumnUse.from_json(kept) for kept in state.about["columns"]]
        return cls(columns, state.arrays.get("scale"))

    def _encode(self, block: pd.DataFrame, table: Table | None) -> Floats:
        """Return the columns of some rows as numbers, not standardised."""
        if (E := _plain_numbers(block, self.inputs)) is not None:
            return E
        parts = []
        for column in self.columns:
            series = block[column.name]
            if column.categories:
                texts = pd.Index(texts_in(series), dtype=object)
                codes = pd.Index(column.categories, dtype=object).get_indexer(texts)
                parts.append(codes[:, None] == np.arange(len(column.categories)))
            else:
                values = _numbers(series, column, table)
                if column.median is not None:
                    values = np.where(np.isnan(values), column.median, values)
                parts.append(values[:, None])
        return np.hstack(parts, dtype=np.float64)

    def _scale_of(self, table: Table) -> Floats:
        """Learn ranges, means and deviations from all rows."""
        from sklearn.preprocessing import StandardScaler

        low, high = _halves(self.columns)
        middle, half = low + high, np.where(self._constant, 1.0, high - low)
        scaler = StandardScaler()
        for E in table.map(lambda block: self._encode(block, None), self.inputs):
            scaler.partial_fit((E - middle) / half)
        owner = np.repeat(
            np.arange(len(self.columns)), [len(_encoded_names(c)) for c in self.columns]
        )
        variance = np.where(self._constant, 0.0, scaler.var_)
        own = np.bincount(owner, weights=variance)[owner]
        return np.stack([middle, half, scaler.mean_, np.sqrt(np.where(own == 0, 1.0, own))])


def _halves(columns: list[ColumnUse]) -> Floats:
    """Return half of the least and half of the largest value of each encoded column, an array (2, d).

    Halves, because the difference of the values may exceed the largest float64.
    """
    ends: list[tuple[float, float]] = []
    for column in columns:
        size = len(_encoded_names(column))
        one_hot = (float(size == 1), 1.0)
        ends += [one_hot if column.categories else (column.low, column.high)] * size
    return np.array(ends).T / 2


def _encoded_names(column: ColumnUse) -> list[str]:
    if not column.categories:
        return [column.name]
    return [f"{column.name}={text}" for text in column.categories]


def _plain_numbers(block: pd.DataFrame, names: list[str]) -> Floats | None:
    """Return a block of finite floats at once; None if it holds anything else."""
    if any(not isinstance(dtype, np.dtype) or dtype.kind != "f" for dtype in block.dtypes):
        return None
    columns = block if list(block.columns) == names else block[names]
    E = np.array(columns.to_numpy(), dtype=np.float64, order="C")
    return E if np.isfinite(E).all() else None


def _numbers(series: Series, column: ColumnUse, table: Table | None) -> Floats:
    """Return the numbers of a column, NaN where a value is missing and may be."""
    found = numbers_in(series, has_blanks=table is None or table.has_blanks)
    name = column.name
    source = "the table" if table is None else table.name
    if found is None or 2 * found.unusable.sum() > max(1, found.present.sum()):
        raise DataError(f"{source}: column {name!r} held numbers in the first table. Correct it.")
    if (bad := found.unusable).any():
        assert table is not None, "rows were looked through before"
        row = int(bad.argmax())
        place = int(series.index[row])
        raise unusable_number(table, name, place, series.iloc[row], int(bad.sum()))
    if column.median is None and not found.present.all():
        row = int(series.index[int((~found.present).argmax())])
        where = plain_place(row) if table is None else table.place(row)
        raise DataError(
            f"{source}: column {name!r} has no value in {where}, and the first table had one in every "
            "row. Fill it in."
        )
    return found.values


def _new_notes(columns: list[ColumnUse], frame: pd.DataFrame) -> list[str]:
    """Say which values of new rows were missing, or are not known."""
    notes = []
    for column in columns:
        name, series = column.name, frame[column.name]
        blanks = int(series.isna().sum())
        if column.categories:
            unknown = int((~texts_in(series).isin(column.categories)).sum())
            values = "value that was" if unknown == 1 else "values that were"
            notes += [f"column {name!r}: {unknown:,} {values} not there before"] * (unknown > 0)
        elif blanks and column.median is not None:
            notes.append(blanks_note(blanks, name, "the median of the first table", column.median))
    return notes
