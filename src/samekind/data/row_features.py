"""Features of the rows of a table: its numbers and categories, standardised."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, replace
from functools import cached_property, partial, reduce
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from samekind.data.columns import ColumnUse, Role, blanks_note, unusable_number
from samekind.data.files import Array, plain_place
from samekind.data.fitted import FittedState, column_encoder, restore, standardizer, state_of
from samekind.data.survey import Series, medians_of, numbers_in, texts_in
from samekind.data.tables import FrameTable, Table
from samekind.errors import DataError, no_such_column

if TYPE_CHECKING:
    from sklearn.base import TransformerMixin

__all__ = ["RowFeatures", "fit_rows"]


class Moments(NamedTuple):
    """Number, means and summed squared deviations of some rows."""

    n: int
    mean: NDArray[np.float64]
    squares: NDArray[np.float64]

    @classmethod
    def of(cls, Y: NDArray[np.float64]) -> Moments:
        """Return those of a block, which is overwritten."""
        mean = Y.sum(axis=0) / len(Y)
        Y -= mean
        return cls(len(Y), mean, np.square(Y, out=Y).sum(axis=0))

    def join(self, other: Moments) -> Moments:
        """Return those of both (Chan, Golub and LeVeque, 1979)."""
        n = self.n + other.n
        apart = other.mean - self.mean
        mean = self.mean + apart * (other.n / n)
        squares = self.squares + other.squares + apart**2 * (self.n * other.n / n)
        return Moments(n, mean, squares)


class RowFeatures:
    """Turns rows of a table into points.

    Parameters
    ----------
    columns : list of ColumnUse
        The columns to use: numbers, whose blanks are their medians, and categories, one-hot.
    scalers : list of transformers
        What standardises the encoded columns; none leaves them as they are.
    constant : ndarray of bool
        Which of the encoded columns held one value only: they become 0, also in new rows.
    """

    def __init__(
        self, columns: list[ColumnUse], scalers: list[TransformerMixin], constant: NDArray[np.bool_]
    ) -> None:
        self.columns = columns
        self.scalers = scalers
        self.constant = constant
        self.inputs = [column.name for column in columns]
        single = max(column.width for column in columns) == 4
        self.dtype: np.dtype[np.floating] = np.dtype(np.float32 if single else np.float64)
        self._is_plain = not any(column.categories for column in columns)

    @cached_property
    def encoder(self) -> TransformerMixin:
        """Scikit-learn's ColumnTransformer with an imputer and a one-hot encoder."""
        return column_encoder(self.columns)

    @property
    def names(self) -> list[str]:
        """A name for each feature."""
        return [name for column in self.columns for name in _encoded_names(column)]

    def transform(self, block: pd.DataFrame, table: Table | None = None) -> Array:
        """Return the points of some rows; `table` tells where a value stands that cannot be used."""
        return self.scale(self.encode(block, table)).astype(self.dtype, copy=False)

    def encode(self, block: pd.DataFrame, table: Table | None = None) -> NDArray[np.float64]:
        """Return the columns of some rows as numbers, not standardised."""
        if self._is_plain and (E := _plain_numbers(block, self.inputs)) is not None:
            return E
        parsed = {c.name: _parse(block[c.name], c, table) for c in self.columns}
        with np.errstate(over="ignore", invalid="ignore"):  # in checks of huge numbers
            encoded = self.encoder.transform(pd.DataFrame(parsed))
        return np.ascontiguousarray(encoded, dtype=np.float64)

    def scale(self, encoded: NDArray[np.float64]) -> NDArray[np.float64]:
        """Standardise encoded rows, in place."""
        from sklearn import config_context

        with config_context(assume_finite=True):
            for scaler in self.scalers:
                encoded = np.asarray(scaler.transform(encoded))
        if self.scalers:
            encoded[:, self.constant] = 0.0
        return encoded

    def in_file_units(self, points: ArrayLike) -> NDArray[np.float64]:
        """Return points such as centres in the units of the file."""
        values = np.array(points, dtype=np.float64)  # a copy, for scalers work in place
        rows = np.atleast_2d(values)
        for scaler in reversed(self.scalers if rows.size else []):
            rows = scaler.inverse_transform(rows)
        return rows.reshape(values.shape)

    def points_of(self, table: FrameTable) -> Array:
        """Return the points of a table in memory; an array that needs no change as it is."""
        X = self.unchanged(table)
        if X is None:
            X, end = np.empty((table.n, len(self.names)), dtype=self.dtype), 0
            for Z in table.map(lambda block: self.transform(block, table), self.inputs):
                start, end = end, end + len(Z)
                X[start:end] = Z
        return X

    def unchanged(self, table: FrameTable) -> Array | None:
        """Return the array of a table whose points are that array as it is."""
        X = table.array
        if X is None or self.scalers or self.inputs != table.columns or X.dtype != self.dtype:
            return None
        return X if X.dtype.isnative and X.flags.c_contiguous else None

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

    def state(self) -> FittedState:
        """Return what `from_state` makes it from."""
        state = FittedState({"columns": [asdict(column) for column in self.columns]})
        state.arrays["constant"] = self.constant
        for number, scaler in enumerate(self.scalers):
            state.put(f"scaler {number}", state_of(scaler))
        return state

    @classmethod
    def from_state(cls, state: FittedState) -> RowFeatures:
        """Make it again."""
        columns = [ColumnUse.from_json(kept) for kept in state.about["columns"]]
        scalers = [restore(state.part(name)) for name in state.about if name.startswith("scaler ")]
        return cls(columns, scalers, state.arrays["constant"])


def fit_rows(table: Table, columns: list[ColumnUse], *, standardize: bool) -> RowFeatures:
    """Learn how to turn the rows of a table into points."""
    used = _with_medians(table, [column for column in columns if column.is_feature])
    ranges = _Ranges.of(used)
    features = RowFeatures(used, [], ranges.constant)
    if standardize:
        moments = partial(_moments, features=features, ranges=ranges)
        features.scalers = _scalers(ranges, table.map(moments, features.inputs))
    return features


class _Ranges(NamedTuple):
    """Between which values encoded columns lie, and which column of the table each belongs to."""

    middle: NDArray[np.float64]
    half: NDArray[np.float64]
    constant: NDArray[np.bool_]
    owner: NDArray[np.intp]

    @classmethod
    def of(cls, columns: list[ColumnUse]) -> _Ranges:
        ends: list[tuple[float, float]] = []
        owner: list[int] = []
        for place, column in enumerate(columns):
            size = len(_encoded_names(column))
            one_hot = (float(size == 1), 1.0)
            ends += [one_hot if column.categories else (column.low, column.high)] * size
            owner += [place] * size
        # Halves are taken before the difference: high - low may exceed the largest float64.
        low, high = np.array(ends).T / 2
        constant: NDArray[np.bool_] = low == high
        return cls(low + high, np.where(constant, 1.0, high - low), constant, np.array(owner))


def _moments(block: pd.DataFrame, *, features: RowFeatures, ranges: _Ranges) -> Moments:
    """Return the moments of some rows in units of the ranges."""
    Y = features.encode(block)
    Y -= ranges.middle
    Y /= ranges.half
    return Moments.of(Y)


def _scalers(ranges: _Ranges, parts: Iterable[Moments]) -> list[TransformerMixin]:
    """Return what gives encoded columns mean 0 and variance 1.

    The one-hot columns of a category are divided by one number, so that their variances add up to 1 and
    it weighs as much as a number.
    """
    found = reduce(Moments.join, parts)
    variance = np.where(ranges.constant, 0.0, found.squares / found.n)
    own = np.bincount(ranges.owner, weights=variance)[ranges.owner]
    scale = np.sqrt(np.where(own == 0, 1.0, own))
    return standardizer(ranges.middle, ranges.half, found.mean, scale)


def _with_medians(table: Table, columns: list[ColumnUse]) -> list[ColumnUse]:
    """Return columns of numbers with their medians; of rows elsewhere only where blanks need them."""
    everywhere = isinstance(table, FrameTable) and table.array is None
    wanted = [c.name for c in columns if c.role is Role.NUMBER and (c.blanks or everywhere)]
    medians = medians_of(table, wanted)
    return [replace(c, median=medians[c.name]) if c.name in medians else c for c in columns]


def _encoded_names(column: ColumnUse) -> list[str]:
    if not column.categories:
        return [column.name]
    return [f"{column.name}={text}" for text in column.categories]


def _plain_numbers(block: pd.DataFrame, names: list[str]) -> NDArray[np.float64] | None:
    """Return a block of finite floats as the encoder would; None if it holds anything else."""
    if any(not isinstance(dtype, np.dtype) or dtype.kind != "f" for dtype in block.dtypes):
        return None
    columns = block if list(block.columns) == names else block[names]
    E = np.array(columns.to_numpy(), dtype=np.float64, order="C")
    return E if np.isfinite(E).all() else None


def _parse(series: Series, column: ColumnUse, table: Table | None) -> Array:
    """Return what the encoder takes: floats with NaN where there is no value, or texts."""
    if column.categories:
        return texts_in(series).to_numpy(dtype=object)
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
