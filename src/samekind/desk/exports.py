"""What was found, as files."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from samekind.desk.words import SPOKEN
from samekind.report import write_report

if TYPE_CHECKING:
    import pandas as pd

    from samekind.desk.desk import Desk
    from samekind.ledger import Ledger

__all__ = ["EXPORTS", "FILES", "harmless", "rows_table", "write_answers"]

FORMULA = ("=", "+", "-", "@", "\t", "\r")  # how a formula begins


class Export(NamedTuple):
    """A file that can be written."""

    media_type: str
    write: Callable[[Path, Desk], None]


def rows_table(desk: Desk) -> pd.DataFrame:
    """Return a line for each row: the user's columns, its cluster and its name, and how sure that is."""
    import pandas as pd

    table, frame = _own_columns(desk), desk.things.frame
    if frame is None:
        return table
    taken = {str(name) for name in frame.columns}
    table = table.rename(columns={name: f"samekind_{name}" for name in table if name in taken})
    return pd.concat([frame.reset_index(drop=True), table], axis=1)


def _own_columns(desk: Desk) -> pd.DataFrame:
    import pandas as pd

    found = desk.clusters()
    labels = found.labels_
    names = [desk.name_of(members.tolist()) or "" for members in found.members_]
    firsts = [int(members[0]) for members in found.members_]
    known = found.to_frame()["known"].to_numpy()
    sure = desk.session.confidence(np.arange(found.n_rows_))
    return pd.DataFrame(
        {
            "row": np.arange(found.n_rows_),
            "cluster": labels,
            "kind": np.array([*firsts, -1])[labels],
            "name": np.array([*names, ""], dtype=object)[labels],
            "known": known,
            "confidence": np.where(labels < 0, np.nan, sure.round(4)),
        }
    )


def _write_csv(path: Path, desk: Desk) -> None:
    table = rows_table(desk)
    column = "name" if "samekind_name" not in table else "samekind_name"
    table[column] = table[column].map(harmless)
    table.to_csv(path, index=False)


def _write_parquet(path: Path, desk: Desk) -> None:
    rows_table(desk).to_parquet(path, index=False)


def _write_json(path: Path, desk: Desk) -> None:
    found = desk.clusters()
    document = {
        "title": desk.title,
        "questions": found.n_questions_,
        "stopped": found.stop_reason_,
        "certificate": None if found.certificate_ is None else str(found.certificate_),
        "notes": found.notes_,
        "kinds": [
            {
                "cluster": cluster,
                "kind": int(members[0]),
                "name": desk.name_of(members.tolist()),
                "known_rows": members.tolist(),
            }
            for cluster, members in enumerate(found.members_)
        ],
        "rows": json.loads(_own_columns(desk).to_json(orient="records")),
    }
    path.write_text(json.dumps(document, indent=1, ensure_ascii=False), encoding="utf-8")


def _write_answers(path: Path, desk: Desk) -> None:
    write_answers(path, desk.session.ledger)


def write_answers(path: Path, ledger: Ledger) -> None:
    """Write every answer that stands."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["a", "b", "answer", "who", "at", "asked"])
        for entry in ledger.lines():
            if not entry.retracted:
                said = SPOKEN[entry.answer]
                who = harmless(entry.who)
                lines.writerow([entry.a, entry.b, said, who, entry.when, entry.asked])


def _write_report(path: Path, desk: Desk) -> None:
    active, found = desk.session.ledger.active(), desk.clusters()
    write_report(
        path,
        found,
        desk.session.points,
        pairs=np.column_stack([active["a"], active["b"]]),
        answers=active["answer"],
        frame=desk.things.frame,
        images=desk.things.images,
        title=desk.title,
        feature_names=desk.things.feature_names,
        names=[desk.name_of(members.tolist()) for members in found.members_],
    )


def _write_npz(path: Path, desk: Desk) -> None:
    desk.clusters().save(path)


def harmless(text: str) -> str:
    """Return what somebody typed so that no spreadsheet takes it for a formula."""
    return f"'{text}" if text.startswith(FORMULA) else text


FILES = {
    "clusters.csv": Export("text/csv", _write_csv),
    "clusters.parquet": Export("application/vnd.apache.parquet", _write_parquet),
    "clusters.json": Export("application/json", _write_json),
    "answers.csv": Export("text/csv", _write_answers),
    "report.html": Export("text/html", _write_report),
    "clusters.npz": Export("application/octet-stream", _write_npz),
}
EXPORTS = {name: file.media_type for name, file in FILES.items()}
"""What can be exported, and its media type."""
