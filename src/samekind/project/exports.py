"""What was found, as files."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

import numpy as np

from samekind.ledger import pairs_of
from samekind.project.folders import How, write_folders, write_zip
from samekind.project.record_exports import (
    write_dedupe,
    write_entities,
    write_golden,
    write_pairs,
    write_splink,
)
from samekind.project.team_exports import write_agreement, write_annotators, write_opinions
from samekind.project.tool_exports import (
    LabelledRow,
    labelled_rows,
    write_dataset,
    write_label_studio,
    write_label_studio_config,
    write_prodigy,
)
from samekind.project.words import NO_KIND, NO_NAME, WORDS, name_in_table, safe_cell, title_of
from samekind.report import write_report

if TYPE_CHECKING:
    import pandas as pd

    from samekind.data import Items
    from samekind.ledger import Ledger
    from samekind.project.project import Project

__all__ = [
    "EXPORTS",
    "FILES",
    "OF_RECORDS",
    "beside_own_columns",
    "export_folders",
    "exports_of",
    "write_answers",
    "write_csv",
]


class Export(NamedTuple):
    """A file that can be written."""

    media_type: str
    write: Callable[[BinaryIO, Project], None]


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


def _rows_table(project: Project) -> pd.DataFrame:
    """Return a line for each row: the user's columns, its cluster's number and name, how sure that is."""
    return beside_own_columns(project.items.frame, _own_columns(project))


def _own_columns(project: Project) -> pd.DataFrame:
    import pandas as pd

    found = project.clusters()
    labels = found.labels_
    refs = project.refs()
    known = found.to_frame()["known"].to_numpy()
    sure = project.session.confidence(np.arange(found.n_rows_))
    return pd.DataFrame(
        {
            "row": np.arange(found.n_rows_),
            "kind": np.array([*(ref.number for ref in refs), NO_KIND])[labels],
            "name": np.array([*map(name_in_table, refs), NO_NAME], dtype=object)[labels],
            "name_is_proposed": np.array([*(ref.name is None for ref in refs), True])[labels],
            "known": known,
            "confidence": np.where(labels < 0, np.nan, sure.round(4)),
        }
    )


def _write_json(file: BinaryIO, project: Project) -> None:
    found = project.clusters()
    document = {
        "title": project.title,
        "questions": found.n_questions_,
        "stopped": found.stop_reason_,
        "certificate": None if found.certificate_ is None else found.certificate_.in_words("kind"),
        "notes": project.clusters().notes_,
        "kinds": [
            {
                "kind": ref.number,
                "name": name_in_table(ref),
                "name_is_proposed": ref.name is None,
                "known_rows": members.tolist(),
            }
            for ref, members in zip(project.refs(), found.members_, strict=True)
        ],
        "rows": json.loads(_own_columns(project).to_json(orient="records")),
    }
    file.write(json.dumps(document, indent=1, ensure_ascii=False).encode())


def write_answers(path: Path | BinaryIO, ledger: Ledger) -> None:
    """Write every answer that stands."""
    with path.open("wb") if isinstance(path, Path) else nullcontext(path) as file:
        text = io.TextIOWrapper(file, encoding="utf-8", newline="", write_through=True)
        out = csv.writer(text)
        out.writerow(["a", "b", "answer", "who", "at", "asked"])
        for line in ledger.lines():
            if not line.retracted:
                said = WORDS[line.answer]
                who = safe_cell(line.who)
                out.writerow([line.a, line.b, said, who, line.when, line.asked])
        text.detach()  # or else it would close the file


def export_folders(project: Project, folder: Path, how: How) -> tuple[int, int]:
    """Put pictures into folders by cluster; return how many of each."""
    return write_folders(project, _labels(project), folder, how)


def _write_report(file: BinaryIO, project: Project) -> None:
    active, found = project.session.ledger.active(), project.clusters()
    write_report(
        file,
        found,
        project.session.points,
        pairs=pairs_of(active),
        answers=active["answer"],
        frame=project.items.frame,
        images=project.items.images,
        title=project.title,
        feature_names=project.items.feature_names,
        names=list(map(title_of, project.refs())),
        advice=project.stopping().text,
        laid_out=project.map_maker.laid_out(wait=project.waits_for_map),
    )


def _labels(project: Project) -> list[LabelledRow]:
    return labelled_rows(_own_columns(project))


FILES = {
    "clusters.csv": Export("text/csv", lambda file, project: write_csv(_rows_table(project), file)),
    "clusters.parquet": Export(
        "application/vnd.apache.parquet",
        lambda file, project: _rows_table(project).to_parquet(file, index=False),
    ),
    "clusters.json": Export("application/json", _write_json),
    "answers.csv": Export(
        "text/csv", lambda file, project: write_answers(file, project.session.ledger)
    ),
    "annotators.csv": Export("text/csv", write_annotators),
    "agreement.csv": Export("text/csv", write_agreement),
    "opinions.csv": Export("text/csv", write_opinions),
    "report.html": Export("text/html", _write_report),
    "clusters.npz": Export(
        "application/octet-stream", lambda file, project: project.clusters().save(file)
    ),
    "dataset.parquet": Export(
        "application/vnd.apache.parquet",
        lambda file, project: write_dataset(file, project, _own_columns(project)),
    ),
    "label-studio.json": Export(
        "application/json",
        lambda file, project: write_label_studio(file, project, _labels(project)),
    ),
    "label-studio.xml": Export(
        "application/xml",
        lambda file, project: write_label_studio_config(file, project, _labels(project)),
    ),
    "prodigy.jsonl": Export(
        "application/jsonl", lambda file, project: write_prodigy(file, project, _labels(project))
    ),
    "pictures.zip": Export(
        "application/zip", lambda file, project: write_zip(file, project, _labels(project))
    ),
}
OF_RECORDS = {
    "entities.csv": Export("text/csv", write_entities),
    "golden.csv": Export("text/csv", write_golden),
    "pairs.csv": Export("text/csv", write_pairs),
    "splink.csv": Export("text/csv", write_splink),
    "dedupe.json": Export("application/json", write_dedupe),
}
FILES |= OF_RECORDS
EXPORTS = {name: file.media_type for name, file in FILES.items()}
"""What can be exported, and its media type."""


def exports_of(items: Items) -> list[str]:
    """Return what can be exported of some items: pictures only of pictures, entities only of records."""
    left_out = set() if items.is_records else set(OF_RECORDS)
    left_out |= set() if items.medium == "image" else {"pictures.zip"}
    return [name for name in FILES if name not in left_out]
