"""The rows with their clusters, and the answers, as tables."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np

from samekind.project.words import NO_KIND, NO_NAME, WORDS, name_in_table, safe_cell

if TYPE_CHECKING:
    import pandas as pd

    from samekind.ledger import Ledger
    from samekind.project.project import Project

__all__ = [
    "beside_own_columns",
    "kinds_of_rows",
    "rows_table",
    "write_answers",
    "write_csv",
    "write_json",
    "write_lines",
]


def kinds_of_rows(project: Project) -> pd.DataFrame:
    """Return a line for each row: its cluster's number and name, and how sure that is."""
    import pandas as pd

    with project.state():
        found, refs = project.clusters(), project.kinds.refs()
        labels = found.labels_
        sure = project.session.confidence(np.arange(found.n_rows_))
        return pd.DataFrame(
            {
                "row": np.arange(found.n_rows_),
                "kind": np.array([*(ref.number for ref in refs), NO_KIND])[labels],
                "name": np.array([*map(name_in_table, refs), NO_NAME], dtype=object)[labels],
                "name_is_proposed": np.array([*(ref.name is None for ref in refs), True])[labels],
                "known": found.to_frame()["known"].to_numpy(),
                "confidence": np.where(labels < 0, np.nan, sure.round(4)),
            }
        )


def rows_table(project: Project) -> pd.DataFrame:
    """Return a line for each row: the user's columns, then those of `kinds_of_rows`."""
    return beside_own_columns(project.items.frame, kinds_of_rows(project))


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
    names = [safe_cell(name) for name in table[column]]
    table.assign(**{column: names}).to_csv(path, index=False, mode="wb")


def write_json(project: Project, file: BinaryIO) -> None:
    """Write the clusters, their names and known rows, and all rows."""
    with project.state():
        found, refs = project.clusters(), project.kinds.refs()
        rows = kinds_of_rows(project)
    document = {
        "title": project.title,
        "questions": found.n_questions_,
        "stopped": found.stop_reason_,
        "certificate": None if found.certificate_ is None else found.certificate_.in_words("kind"),
        "notes": found.notes_,
        "kinds": [
            {
                "kind": ref.number,
                "name": name_in_table(ref),
                "name_is_proposed": ref.name is None,
                "known_rows": members.tolist(),
            }
            for ref, members in zip(refs, found.members_, strict=True)
        ],
        "rows": json.loads(rows.to_json(orient="records")),
    }
    file.write(json.dumps(document, indent=1, ensure_ascii=False).encode())


def write_answers(path: Path | BinaryIO, ledger: Ledger) -> None:
    """Write every answer that stands."""
    with ledger.lock:
        lines = [line for line in ledger.lines() if not line.retracted]
    rows = [(line.a, line.b, WORDS[line.answer], line.who, line.when, line.asked) for line in lines]
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
