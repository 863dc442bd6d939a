"""Read the user's own embeddings from a file."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from samekind.data.readers import Array, file_format, read_matrix
from samekind.data.tables import inspect_parquet, row_blocks
from samekind.errors import DataError, Parameter

__all__ = ["read_embeddings"]


def read_embeddings(path: Path, n: int, d: int | None = None) -> tuple[Array, list[str]]:
    """Return features as they are in a file, with a row for each of `n` items, and their names."""
    form = file_format(path)
    if form not in ("npy", "npz", "parquet"):
        raise DataError(
            Parameter("embeddings"), f" must be a .npy, .npz or .parquet file, got {path}."
        )
    X, names = _from_parquet(path) if form == "parquet" else _from_array(path)
    if len(X) != n:
        raise DataError(
            f"the embeddings {path} have {len(X):,} rows, but there are {n:,} items. Compute one "
            "for each, in the same order."
        )
    if d is not None and X.shape[1] != d:
        raise DataError(
            f"the embeddings {path} have {X.shape[1]:,} columns, but the first had {d:,}. Compute "
            "them by the same model."
        )
    if X.dtype not in (np.float32, np.float64):
        X = X.astype(np.float32 if X.dtype == np.float16 else np.float64)
    for rows in row_blocks(*X.shape):
        if not (fine := np.isfinite(X[rows]).all(axis=1)).all():
            first = rows.start + int(np.flatnonzero(~fine)[0])
            raise DataError(
                f"the embeddings {path} hold a value in row {first} that is no finite number. "
                "Compute them anew, without NaN."
            )
    return np.asarray(X, order="C"), names


def _from_array(path: Path) -> tuple[Array, list[str]]:
    matrix = read_matrix(path)
    return matrix.X, matrix.names


def _from_parquet(path: Path) -> tuple[Array, list[str]]:
    """Read the one column of lists of numbers, or columns of numbers."""
    import pyarrow as pa
    import pyarrow.parquet as pq
    from pyarrow import types

    inspect_parquet(path)
    try:
        table = pq.read_table(path)
    except pa.ArrowException as error:
        raise DataError(f"{path} is no Parquet file ({str(error).splitlines()[0]}).") from error

    def is_list(kind: pa.DataType) -> bool:
        checks = (types.is_list, types.is_large_list, types.is_fixed_size_list)
        return any(check(kind) for check in checks)

    def is_number(kind: pa.DataType) -> bool:
        return bool(types.is_floating(kind) or types.is_integer(kind))

    lists = [f.name for f in table.schema if is_list(f.type) and is_number(f.type.value_type)]
    if len(lists) == 1:
        column = table[lists[0]].combine_chunks()
        lengths = column.drop_null().value_lengths().unique().to_pylist()
        if column.null_count or len(lengths) != 1 or not lengths[0]:
            raise DataError(
                f"the embeddings {path} have lists of different lengths in {lists[0]!r}. Compute one "
                "vector of the same length for each item."
            )
        values = column.flatten().to_numpy(zero_copy_only=False)
        names = [f"{lists[0]} {i + 1}" for i in range(lengths[0])]
        return values.reshape(len(column), lengths[0]), names
    if lists or not all(is_number(f.type) for f in table.schema) or not table.num_columns:
        raise DataError(
            f"the embeddings {path} must be one column of lists of numbers, or columns of numbers alone; "
            f"it has {', '.join(f'{f.name} ({f.type})' for f in table.schema) or 'no columns'}."
        )
    columns = [table[name].to_numpy() for name in table.column_names]
    return np.column_stack(columns), list(table.column_names)
