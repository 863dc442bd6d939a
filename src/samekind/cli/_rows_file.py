"""The file with the cluster of every row, written some rows at a time where there are many."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from samekind.clusters import Clusters
from samekind.data import Items
from samekind.engine import Session

if TYPE_CHECKING:
    import pandas as pd

MANY = 10**6  # rows from which on a table is written as Parquet, if the data stay in their files
PIECE = 2**18  # rows that are written at once


def write_csv(path: Path, clusters: Clusters, labels: Any) -> None:
    """Write a table with a line for each row."""
    with path.open("w", encoding="utf-8", newline="") as file:
        for piece in pieces_of(clusters, labels):
            piece.to_csv(file, index=False, header=int(piece["row"].iloc[0]) == 0)


def write_full_csv(
    path: Path, clusters: Clusters, items: Items, session: Session, frame: pd.DataFrame | None
) -> None:
    """Write the same beside the user's columns, with the names of clusters, and how sure each row is."""
    from samekind.project import (
        NO_KIND,
        NO_NAME,
        Project,
        beside_own_columns,
        name_in_table,
        write_csv,
    )

    own = _joined(list(pieces_of(clusters, items.labels)))
    found = own["cluster"].to_numpy()
    refs = Project(items, session=session).kinds.refs()
    numbers, names = [ref.number for ref in refs], list(map(name_in_table, refs))
    sure = session.confidence(np.arange(clusters.n_rows_))
    own.insert(2, "kind", np.array([*numbers, NO_KIND])[found])
    own.insert(3, "name", np.array([*names, NO_NAME], dtype=object)[found])
    own["confidence"] = np.where(found < 0, np.nan, sure.round(4))
    write_csv(beside_own_columns(frame, own), path)


def _joined(pieces: list[pd.DataFrame]) -> pd.DataFrame:
    """Put pieces of a table together."""
    import pandas as pd

    return pieces[0] if len(pieces) == 1 else pd.concat(pieces, ignore_index=True)


def write_parquet(path: Path, clusters: Clusters, labels: Any) -> None:
    """Write the same as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = (pa.Table.from_pandas(p, preserve_index=False) for p in pieces_of(clusters, labels))
    first = next(tables)
    with pq.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)


def pieces_of(clusters: Clusters, labels: Any) -> Iterator[pd.DataFrame]:
    """Yield a line for each row, some rows at a time: what `Clusters.to_frame` returns, and the label."""
    found = clusters.labels_
    known = known_rows(clusters)
    for first in range(0, clusters.n_rows_, PIECE):
        rows = slice(first, min(first + PIECE, clusters.n_rows_))
        own = None if labels is None else labels[rows]
        yield piece_of(first, found[rows], known, clusters.n_recovered_, own)


def known_rows(clusters: Clusters) -> NDArray[np.intp]:
    """Return the rows whose cluster was answered, in order."""
    return np.unique(np.concatenate([*clusters.members_, np.empty(0, dtype=np.intp)]))


def piece_of(
    first: int, found: NDArray[np.intp], known: NDArray[np.intp], n_recovered: int, labels: Any
) -> pd.DataFrame:
    """Return a line for each of some rows that follow each other."""
    import pandas as pd

    is_known = np.zeros(len(found), dtype=bool)
    is_known[known[slice(*known.searchsorted([first, first + len(found)]))] - first] = True
    columns: dict[str, Any] = {
        "row": np.arange(first, first + len(found)),
        "cluster": found,
        "known": is_known,
        "recovered": (found >= 0) & (found < n_recovered),
    }
    if labels is not None:
        columns["label"] = labels
    return pd.DataFrame(columns)
