"""Presses that a person needs for a pile with copies, if each item is asked about once, or each row.

Three tenths of the rows are copies of others: texts in capitals and with further spaces, pictures in further
files. The same honest person sorts the pile twice. What counts is the presses after which as many rows are
right as with the last press of the pile whose copies are items of their own.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from experiments.person import Sitting, sit_down
from experiments.small_data import load_kept, load_table
from samekind import Session
from samekind.data import Items, load

COPIES = 0.3  # share of the rows
BURSTS = {"anything": 1.0, "a twentieth": 0.05}  # of the items, that has copies
ROWS = {"texts": 1_000, "titles": 1_000, "pictures": 1_000}
TABLES = {"texts": "banking77.csv.gz", "titles": "stackoverflow.csv.gz"}
PRESSES = {"texts": 300, "titles": 200, "pictures": 200}
STEP = 10
REQUIRED = 0.75


def load_with_copies(name: str, copied_as: str, folder: Path, seed: int) -> tuple[Items, list[str]]:
    """Write a pile of which some rows are copies, in any order; return it, and what each row is."""
    rng = np.random.default_rng([seed, 7])
    n = ROWS[name]
    n_items = round((1 - COPIES) * n)
    copied = rng.integers(round(n_items * BURSTS[copied_as]), size=n - n_items)
    rows = rng.permutation(np.concatenate([np.arange(n_items), copied]))
    is_first = np.zeros(n, dtype=bool)
    is_first[np.unique(rows, return_index=True)[1]] = True
    if name in TABLES:
        table = load_table(TABLES[name]).drop_duplicates("text").sample(n_items, random_state=seed)
        texts = table["text"].to_numpy()[rows]
        texts[~is_first] = [f" {text.upper()} " for text in texts[~is_first]]
        table = table.iloc[rows].assign(text=texts)
        table[["text"]].to_csv(folder / "texts.csv", index=False)
        return load(folder / "texts.csv", text="text", cache=folder / "texts"), list(
            table["category"].astype(str)
        )
    from PIL import Image

    X, y = load_kept(file="fashion10k.npz")
    drawings = X.reshape(-1, 28, 28).astype(np.uint8)
    chosen = rng.permutation(len(y))[:n_items]
    pile = folder / "pictures"
    pile.mkdir()
    files: dict[int, Path] = {}
    for place, row in enumerate(rows.tolist()):
        file = pile / f"{place:05d}.png"
        if row in files:
            shutil.copy(files[row], file)
        else:
            Image.fromarray(drawings[chosen[row]]).save(file)
            files[row] = file
    return load(pile, cache=folder / "cache"), [str(y[chosen[row]]) for row in rows]


def sort_twice(name: str, copied_as: str, seed: int) -> tuple[Sitting, Sitting]:
    """Let a person sort the pile by rows and by items."""
    marks = range(STEP, PRESSES[name] + 1, STEP)
    with tempfile.TemporaryDirectory() as folder:
        items, kinds = load_with_copies(name, copied_as, Path(folder), seed)
        session = Session(items, random_state=seed)
        by_rows = sit_down(name, items, kinds, seed, marks=marks, session=session)
        return by_rows, sit_down(name, items, kinds, seed, marks=marks)


def curve_of(sittings: Sequence[Sitting]) -> NDArray[np.float64]:
    """Return the mean share of rows that are right after each mark."""
    rights = np.array([[look["right"] for look in one.looks] for one in sittings], dtype=float)
    mean: NDArray[np.float64] = rights.mean(axis=0)
    return mean


def main(names: Sequence[str] | None = None, runs: int = 5) -> None:
    """Print for each pile the presses for the same result, by the means of some runs."""
    for copied_as, name in product(BURSTS, names or ROWS):
        pairs = [sort_twice(name, copied_as, seed) for seed in range(runs)]
        by_rows, by_items = (curve_of(sittings) for sittings in zip(*pairs, strict=True))
        presses = STEP * by_rows.size
        reached = np.flatnonzero(by_items >= by_rows[-1])
        needed = STEP * (1 + reached[0]) if reached.size else np.inf
        verdict = "met" if needed <= REQUIRED * presses else "NOT MET"
        print(
            f"{name}, copies of {copied_as}, {runs} runs: {100 * by_rows[-1]:.1f} % of the rows right "
            f"after {presses} presses by rows, after {needed} by items: {needed / presses:.2f}, required "
            f"{REQUIRED}: {verdict}; {100 * by_items[-1]:.1f} % after as many",
            flush=True,
        )
