"""Features of the rows of a table: its numbers and categories, standardised."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from samekind.datasets import DataError
from samekind.datasets._columns import (
    blanks_note,
    choose_columns,
    encode_columns,
)
from samekind.datasets._standardize import row_chunks, standardize_columns
from samekind.datasets._table import scaling_notes
from samekind.errors import no_such_column
from samekind.points.scaling import Scaling

Floats: TypeAlias = NDArray[np.float64]
Place: TypeAlias = Callable[[int], str]

_MAX_CATEGORIES = 20
_MISSING = "(missing)"


@dataclass(frozen=True)
class RowTransform:
    """Turns rows into points: which columns, which categories, and how they are scaled.

    `columns` holds a name and the categories of the column, None for one of numbers; blanks among
    those are their `medians`.
    """

    names: list[str]
    columns: list[tuple[str, list[str] | None]]
    scaling: Scaling
    medians: dict[str, float] = field(default_factory=dict)

    @classmethod
    def fit(
        cls, source: str, frame: pd.DataFrame, exclude: Sequence[str], place: Place
    ) -> tuple[RowTransform, Floats, list[str]]:
        """Choose and scale the columns; returns also the points, and notes for a person."""
        all_names = [str(name) for name in frame.columns]
        used = choose_columns(source, all_names, labels=None, columns=None, exclude=exclude)
        features = _encode(source, frame, used, place, asked_for=False)
        columns: list[tuple[str, list[str] | None]] = []
        for name in used:
            try:
                encoded = _encode(source, frame, [name], place, asked_for=False).names
            except DataError:  # left out, as a note says
                continue
            cut = len(name) + 1
            columns.append((name, None if encoded == [name] else [text[cut:] for text in encoded]))
        scaling = standardize_columns(features.X, features.X, features.blocks)
        # Here a column that only numbers the rows cannot be asked for.
        notes = [note.partition("; to use it, name it")[0] for note in features.notes]
        notes += scaling_notes(scaling, features.names)
        return cls(features.names, columns, scaling, features.medians), features.X, notes

    def apply(self, source: str, frame: pd.DataFrame, place: Place) -> tuple[Floats, list[str]]:
        """Return the points of new rows, and notes for a person."""
        parts: list[Floats] = []
        notes: list[str] = []
        for name, categories in self.columns:
            if name not in frame:
                every = [str(column) for column in frame.columns]
                raise no_such_column(source, "the first table", name, every)
            if categories is None:
                filled, blanks = _filled(frame[[name]], self.medians[name])
                parts.append(_numbers(source, filled, name, place))
                if blanks:
                    what = "the median of the first table"
                    notes.append(blanks_note(blanks, name, what, self.medians[name]))
                continue
            texts = frame[name].astype(object).where(frame[name].notna(), _MISSING).astype(str)
            codes = pd.Index(categories).get_indexer(pd.Index(texts))
            parts.append((codes[:, None] == np.arange(len(categories))).astype(np.float64))
            if unknown := int((codes < 0).sum()):
                values = "value that was" if unknown == 1 else "values that were"
                notes.append(f"column {name!r}: {unknown:,} {values} not there before")
        return self._scaled(np.hstack(parts)), notes

    def apply_matrix(self, source: str, X: NDArray[Any]) -> Floats:
        """Return the points of a new array."""
        if X.shape[1] != len(self.names):
            raise DataError(
                f"{source} has {X.shape[1]:,} columns, but the first file had "
                f"{len(self.names):,}. Give the same columns in the same order."
            )
        return self._scaled(np.array(X, dtype=np.float64))

    def _scaled(self, X: Floats) -> Floats:
        offset, scale, constant = self.scaling
        for rows in row_chunks(*X.shape):
            X[rows] = (X[rows] - offset) / scale
        X[:, constant] = 0.0
        return X

    def state(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return what `restore` makes it from."""
        about: dict[str, Any] = {"kind": "row", "names": self.names, "columns": self.columns}
        about["medians"] = self.medians
        return about, dict(self.scaling._asdict())

    @classmethod
    def restore(cls, about: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> RowTransform:
        """Make it again."""
        columns = [(name, categories) for name, categories in about["columns"]]
        scaling = Scaling(arrays["offset"], arrays["scale"], arrays["constant"])
        return cls(about["names"], columns, scaling, about["medians"])


def _encode(
    source: str, frame: pd.DataFrame, names: list[str], place: Place, *, asked_for: bool
) -> Any:
    return encode_columns(
        source,
        frame,
        names,
        place=place,
        asked_for=asked_for,
        max_categories=_MAX_CATEGORIES,
        fill_blanks=True,
    )


def _filled(frame: pd.DataFrame, value: float) -> tuple[pd.DataFrame, int]:
    """Return columns with their blanks filled, and how many there were."""
    blank = frame.isna()
    count = int(blank.to_numpy().sum())
    return (frame.astype(object).mask(blank, value) if count else frame), count


def _numbers(source: str, frame: pd.DataFrame, name: str, place: Place) -> Floats:
    encoded = _encode(source, frame, [name], place, asked_for=True)
    if encoded.names != [name]:
        raise DataError(f"{source}: column {name!r} held numbers in the first table. Correct it.")
    return np.asarray(encoded.X, dtype=np.float64)
