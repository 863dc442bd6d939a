"""What was found of records, as files: entities, golden records, pairs; for Splink and for dedupe."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from samekind.data import cell_text
from samekind.flow import DIFFERENT, SAME
from samekind.ledger import pairs_of
from samekind.project.golden import golden_records
from samekind.project.words import WORDS

if TYPE_CHECKING:
    from samekind.project.project import Project

__all__ = [
    "write_dedupe",
    "write_entities",
    "write_golden",
    "write_golden_sources",
    "write_pairs",
    "write_splink",
]


def write_entities(project: Project, file: BinaryIO) -> None:
    """Write every row with its entity, how many records that has, and how likely the row belongs to it."""
    labels = _labels(project)
    frame = _frame(project)
    ids = project.entities.ids(labels)
    found = pd.DataFrame({"entity": ids[labels], "records": np.bincount(labels)[labels]})
    found["probability"] = _best_match(project, labels)
    taken = {name: f"samekind_{name}" for name in found if name in frame.columns}
    _write(pd.concat([frame, found.rename(columns=taken)], axis=1), file)


def write_golden(project: Project, file: BinaryIO) -> None:
    """Write one record for each entity, by the project's rules."""
    labels = _labels(project)
    golden = golden_records(_frame(project), labels, project.entities.golden_rules).records
    own = {"entity": project.entities.ids(labels), "records": np.bincount(labels)}
    for name, column in own.items():
        golden[f"samekind_{name}" if name in golden.columns else name] = column
    _write(golden, file)


def write_golden_sources(project: Project, file: BinaryIO) -> None:
    """Write which row each value of a golden record is from, by which rule."""
    labels = _labels(project)
    sources = golden_records(_frame(project), labels, project.entities.golden_rules).sources
    sources["entity"] = project.entities.ids(labels)[sources["entity"]]
    _write(sources, file)


def write_pairs(project: Project, file: BinaryIO) -> None:
    """Write the candidate pairs that may match, with their probability, and what was answered."""
    candidates = project.items.points.candidates  # type: ignore[attr-defined]
    pairs = candidates.pairs.astype(np.intp)
    labels = _labels(project)
    together = labels[pairs[:, 0]] == labels[pairs[:, 1]]
    with project.state():
        chances = project.session.record_pairs.match_probabilities(pairs)
        answers = project.ledger.lookup(pairs, infer=False)
    told = np.isin(answers, (SAME, DIFFERENT))
    shown = together | told | (chances >= 0.01)
    table = pd.DataFrame({"a": pairs[shown, 0], "b": pairs[shown, 1]})
    table["probability"] = np.asarray(chances)[shown].round(6)
    table["together"] = together[shown]
    table["answer"] = [
        WORDS[said] if is_told else ""
        for said, is_told in zip(answers[shown], told[shown], strict=True)
    ]
    for place, name in enumerate(candidates.fields):
        table[f"alike_{name}"] = candidates.comparisons[shown, place].round(4)
    _write(table, file)


def write_splink(project: Project, file: BinaryIO) -> None:
    """Write answers as Splink's table of labels: unique_id_l, unique_id_r, clerical_match_score.

    A row's id is its number, as ``unique_id`` of the rows of ``entities.csv`` from 0 on.
    """
    pairs, same = _answered(project)
    table = pd.DataFrame({"unique_id_l": pairs[:, 0], "unique_id_r": pairs[:, 1]})
    files = getattr(project.items.points, "files", None)
    if files is not None:
        names = _file_names(project)
        table.insert(0, "source_dataset_l", names[files[pairs[:, 0]]])
        table.insert(2, "source_dataset_r", names[files[pairs[:, 1]]])
    table["clerical_match_score"] = same.astype(float)
    _write(table, file)


def write_dedupe(project: Project, file: BinaryIO) -> None:
    """Write answers as the training file of dedupe, which its ``prepare_training`` reads."""
    pairs, same = _answered(project)
    frame = _frame(project)
    compared = set(project.items.points.candidates.fields)  # type: ignore[attr-defined]
    frame = frame[[name for name in frame.columns if name in compared]]
    told: dict[str, list[object]] = {"distinct": [], "match": []}
    for (a, b), is_same in zip(pairs.tolist(), same.tolist(), strict=True):
        both = [{n: cell_text(v) or None for n, v in frame.iloc[row].items()} for row in (a, b)]
        told["match" if is_same else "distinct"].append({"__class__": "tuple", "__value__": both})
    file.write(json.dumps(told, ensure_ascii=False, indent=1).encode())


def _answered(project: Project) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    with project.state():
        lines = project.ledger.active()
    lines = lines[np.isin(lines["answer"], (SAME, DIFFERENT))]
    return pairs_of(lines).astype(np.intp), lines["answer"] == SAME


def _labels(project: Project) -> NDArray[np.intp]:
    """Return the entity of each record, 0, 1, … in the order of their first records."""
    found: NDArray[np.intp] = pd.factorize(project.entities.labels())[0]
    return found


def _best_match(project: Project, labels: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return how likely each record is one with its likeliest match in its entity; 1 if it is alone."""
    pairs = project.entities.candidates.astype(np.intp)
    within = pairs[labels[pairs[:, 0]] == labels[pairs[:, 1]]]
    with project.state():
        chances = np.asarray(project.session.record_pairs.match_probabilities(within))
    best = np.zeros(labels.size)
    np.maximum.at(best, within[:, 0], chances)
    np.maximum.at(best, within[:, 1], chances)
    alone = np.bincount(labels)[labels] == 1
    return np.where(alone, 1.0, best).round(6)


def _frame(project: Project) -> pd.DataFrame:
    frame = project.items.frame
    assert frame is not None
    return frame.reset_index(drop=True)


def _file_names(project: Project) -> NDArray[np.object_]:
    frame = _frame(project)
    files = np.asarray(project.items.points.files)  # type: ignore[attr-defined]
    column = frame.columns[0]  # the name of the file, put there when the two were linked
    return np.array(
        [frame[column].iloc[int(np.argmax(files == file))] for file in (0, 1)], dtype=object
    )


def _write(table: pd.DataFrame, file: BinaryIO) -> None:
    table.to_csv(file, index=False, mode="wb")
