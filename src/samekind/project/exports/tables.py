"""The rows with their clusters, and the answers, as tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Hashable, Iterable, Iterator, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from samekind.data import unpacked_rows
from samekind.ledger import LedgerMissing
from samekind.project.words import (
    NO_KIND,
    NO_NAME,
    ROWS,
    WORDS,
    levels_of,
    name_in_table,
    safe_cell,
)

if TYPE_CHECKING:
    import pandas as pd

    from samekind.clusters import Clusters
    from samekind.data import Items
    from samekind.ledger import Ledger
    from samekind.project.project import Project

__all__ = [
    "beside_own_columns",
    "kinds_of_rows",
    "known_rows",
    "of_all_rows",
    "piece_of",
    "write_answers",
    "write_centers",
    "write_csv",
    "write_json",
    "write_lines",
    "write_rows_csv",
    "write_rows_parquet",
]

PIECE = 2**18  # rows that are written at once, where the data stay in their files
MANY = 10**6  # of them, from which on a table is better written as Parquet


def kinds_of_rows(project: Project) -> pd.DataFrame:
    """Return a line for each row: its cluster's number and name, and how sure that is.

    Where names have paths ("card / lost"), there is a column for each level. Rows of a split kind have its
    name and then that of their kind within it, whose number is `part`.
    """
    table = _kinds_of_items(project)
    codes, paths = table.pop("path").factorize()
    split = [levels_of(path) for path in paths]
    depth = max(map(len, split), default=1)
    for k in range(depth if depth > 1 else 0):
        level = np.array([path[k] if k < len(path) else "" for path in split], dtype=object)
        table.insert(list(table).index("known"), f"level_{k + 1}", level[codes])
    if not table["part"].any():
        del table["part"]
    return of_all_rows(project.items, table)


def _kinds_of_items(project: Project) -> pd.DataFrame:
    """Return a line for each item; `path` has the names that were given, with those of parts below them."""
    import pandas as pd

    with project.state():
        found, refs = project.kinds.clusters(), project.kinds.refs()
        labels = found.labels_
        sure = project.session.confidence(np.arange(found.n_rows_))
        of_labels = pd.DataFrame(
            {
                "kind": [*(ref.number for ref in refs), NO_KIND],
                "part": "",
                "name": np.array([*map(name_in_table, refs), NO_NAME], dtype=object),
                "name_is_proposed": [*(ref.name is None for ref in refs), True],
                "path": np.array([*(ref.name or "" for ref in refs), ""], dtype=object),
            }
        )
        table: pd.DataFrame = of_labels.iloc[labels].reset_index(drop=True)
        table["known"] = found.to_frame()["known"].to_numpy()
        table["confidence"] = np.where(labels < 0, np.nan, sure.round(4))
    for number in project.parts.numbers:
        with suppress(LedgerMissing):  # who deletes the file of a part, does not want it
            _join_part(project, table, number)
    return table


def _join_part(project: Project, table: pd.DataFrame, number: int) -> None:
    """Let items of a kind that is split be of the kinds of its part, which are named below it."""
    rows = np.flatnonzero(table["kind"] == number)
    part = project.parts.open(number).moment()
    if part.is_blank or not rows.size:
        return
    own, found = _kinds_of_items(part), part.kinds.clusters()
    in_file = project.items.rows_in_file, part.items.rows_in_file
    place = np.searchsorted(in_file[1](np.arange(part.items.n)), in_file[0](rows))
    place = np.minimum(place, part.items.n - 1)
    is_new = in_file[1](place) != in_file[0](rows)  # they came to the kind after it was split
    if is_new.any():
        firsts = np.array([members[0] for members in found.members_], dtype=np.intp)
        place[is_new] = firsts[found.predict(project.items.X[rows[is_new]])]
    own = own.iloc[place].reset_index(drop=True)
    own.loc[is_new, ["known", "confidence"]] = False, np.nan
    before = table.iloc[rows].reset_index(drop=True)
    own["part"] = own["kind"].astype(str) + ("." + own["part"]).where(own["part"] != "", "")
    own["path"] = before["name"] + " / " + own["path"].where(own["path"] != "", own["name"])
    own["name"] = before["name"] + " / " + own["name"]
    own["name_is_proposed"] |= before["name_is_proposed"]
    own["confidence"] = (own["confidence"] * before["confidence"]).round(4)
    there = (own.pop("kind") != NO_KIND).to_numpy()
    for name in own:
        table.loc[rows[there], name] = own[name].to_numpy()[there]


def of_all_rows(items: Items, table: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each row from one for each item; `copy_of` is the first row that holds the same."""
    import pandas as pd

    whole, copies = items.whole, items.copies
    if copies is not None:
        table = table.iloc[copies.item_of].reset_index(drop=True)
    rows = np.arange(len(table))
    table.insert(0, "row", whole.rows_in_file(rows))
    if copies is not None:
        first = pd.Series(whole.rows_in_file(copies.first_rows), dtype="Int64")
        table["copy_of"] = first.mask(copies.first_rows == rows)
    return table


def rows_of_streams(project: Project) -> Iterator[pd.DataFrame]:
    """Yield a line for each row of data that stay in their files, some rows at a time."""
    with project.state():
        found, refs = project.kinds.clusters(), project.kinds.refs()
    own, known = project.items.labels, known_rows(found)
    numbers = np.array([*(ref.number for ref in refs), NO_KIND])
    for first in range(0, found.n_rows_, PIECE):
        rows = slice(first, min(first + PIECE, found.n_rows_))
        labels = None if own is None else own[rows]
        yield piece_of(first, numbers[found.labels_[rows]], known, labels)


def known_rows(found: Clusters) -> NDArray[np.intp]:
    """Return the rows whose cluster was answered, in order."""
    return np.unique(np.concatenate([*found.members_, np.empty(0, dtype=np.intp)]))


def piece_of(
    first: int, kinds: NDArray[np.intp], known: NDArray[np.intp], labels: Any
) -> pd.DataFrame:
    """Return a line for each of some rows that follow each other."""
    import pandas as pd

    is_known = np.zeros(len(kinds), dtype=bool)
    is_known[known[slice(*known.searchsorted([first, first + len(kinds)]))] - first] = True
    own = {} if labels is None else {"label": labels}
    rows = np.arange(first, first + len(kinds))
    return pd.DataFrame({"row": rows, "kind": kinds, "known": is_known, **own})


def write_rows_csv(project: Project, file: BinaryIO) -> None:
    """Write the rows and their clusters as CSV."""
    if not project.items.is_streamed:
        write_csv(_rows_table(project), file)
        return
    for place, piece in enumerate(rows_of_streams(project)):
        piece.to_csv(file, index=False, mode="wb", header=place == 0)


def write_rows_parquet(project: Project, file: BinaryIO) -> None:
    """Write the same as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not project.items.is_streamed:
        _rows_table(project).to_parquet(file, index=False)
        return
    tables = (pa.Table.from_pandas(p, preserve_index=False) for p in rows_of_streams(project))
    first = next(tables)
    with pq.ParquetWriter(file, first.schema) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)


def _rows_table(project: Project) -> pd.DataFrame:
    """Return a line for each row: the user's columns, then those of `kinds_of_rows`, and its label."""
    own, items = kinds_of_rows(project), project.items.whole
    frame = items.shown_frame(with_labels=True)
    if items.labels is not None:
        own["label"] = items.labels
    return beside_own_columns(frame, own)


def write_centers(project: Project, file: BinaryIO) -> None:
    """Write the centre of each cluster in the units of the data, and how much of it is known."""
    items = project.items
    with project.state():
        found, refs = project.kinds.clusters(), project.kinds.refs()
    centers = found.centers_frame(items.feature_names).drop(columns="cluster")
    if items.is_standardized:
        centers.iloc[:, -len(items.feature_names) :] = items.in_file_units(found.all_centers_)
    centers.insert(0, "kind", [ref.number for ref in refs])
    centers.insert(1, "name", [safe_cell(name_in_table(ref)) for ref in refs])
    centers.to_csv(file, index=False, mode="wb")


def beside_own_columns(frame: pd.DataFrame | None, table: pd.DataFrame) -> pd.DataFrame:
    """Return the user's columns and then ours, which are renamed where the user has one of the name."""
    import pandas as pd

    if frame is None:
        return table
    taken = {str(name) for name in frame.columns}
    table = table.rename(columns={name: f"samekind_{name}" for name in table if name in taken})
    return pd.concat([frame.reset_index(drop=True), table], axis=1)


def write_csv(table: pd.DataFrame, path: Path | BinaryIO) -> None:
    """Write a table of `beside_own_columns`, with names that no spreadsheet takes for formulas."""
    column = "samekind_name" if "samekind_name" in table else "name"
    after = table.columns[table.columns.get_loc(column) :]
    levels = [name for name in after if name.removeprefix("samekind_").startswith("level_")]
    safe = {name: [safe_cell(text) for text in table[name]] for name in (column, *levels)}
    table.assign(**safe).to_csv(path, index=False, mode="wb")


def write_json(project: Project, file: BinaryIO) -> None:
    """Write the clusters, their names and known rows, and all rows."""
    with project.state():
        found, refs = project.kinds.clusters(), project.kinds.refs()
    rows = kinds_of_rows(project)
    numbers = [name for name in ("kind", "part") if name in rows]
    defined: dict[tuple[Hashable, ...], str] = {
        (ref.number, "")[: len(numbers)]: ref.definition for ref in refs
    }
    document = {
        "title": project.title,
        "questions": found.n_questions_,
        "stopped": found.stop_reason_,
        "certificate": None if found.certificate_ is None else found.certificate_.in_words("kind"),
        "notes": found.notes_,
        "kinds": [
            own.iloc[0][[*numbers, "name", "name_is_proposed"]].to_dict()
            | {"definition": defined.get(keys), "known_rows": own["row"][own["known"]].tolist()}
            for keys, own in rows[rows["kind"] != NO_KIND].groupby(numbers)
        ],
        "rows": json.loads(rows.to_json(orient="records")),
    }
    file.write(json.dumps(document, indent=1, ensure_ascii=False).encode())


def write_answers(path: Path | BinaryIO, ledger: Ledger) -> None:
    """Write every answer that stands."""
    with ledger.lock:
        lines = [line for line in ledger.lines() if not line.retracted]
        of_items = unpacked_rows(ledger.settings.get(ROWS, ""))
    pairs = np.array([line[:2] for line in lines], dtype=np.intp).reshape(-1, 2)
    pairs = pairs if of_items is None else of_items[pairs]
    rows = [
        (a, b, WORDS[line.answer], line.who, line.when, line.asked)
        for (a, b), line in zip(pairs.tolist(), lines, strict=True)
    ]
    with path.open("wb") if isinstance(path, Path) else nullcontext(path) as file:
        write_lines(file, ["a", "b", "answer", "who", "at", "asked"], rows)


def write_lines(file: BinaryIO, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a CSV, with texts that no spreadsheet takes for formulas."""
    text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
    out = csv.writer(text)
    out.writerow(head)
    for row in rows:
        out.writerow([safe_cell(cell) if isinstance(cell, str) else cell for cell in row])
    text.detach()  # or else it would close the file
