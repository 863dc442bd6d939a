"""Presses that a person needs for a pile with copies, if each item is asked about once, or each row.

Three tenths of the rows are copies of others: texts in capitals and with further spaces, pictures in further
files. The same honest person sorts the pile twice. What counts is the presses after which as many rows are
right as with the last press of the pile whose copies are items of their own.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Sequence
from itertools import product
from pathlib import Path

import numpy as np

from experiments.person import Sitting, sit_down
from experiments.small_data import load_kept, load_table
from samekind import Session
from samekind.data import Items, load

COPIES = 0.3  # share of the rows
BURSTS = {"anything": 1.0, "a twentieth": 0.05}  # of the items, that has copies
ROWS = {"texts": 1_000, "pictures": 1_000}
PRESSES = {"texts": 300, "pictures": 200}
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
    if name == "texts":
        table = (
            load_table("banking77.csv.gz")
            .drop_duplicates("text")
            .sample(n_items, random_state=seed)
        )
        texts = table["text"].to_numpy()[rows]
        texts[~is_first] = [f" {text.upper()} " for text in texts[~is_first]]
        table = table.iloc[rows].assign(text=texts)
        table[["text"]].to_csv(folder / "texts.csv", index=False)
        return load(folder / "texts.csv", text="text", cache=folder / "texts"), list(
            table["category"]
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


def presses_for(sitting: Sitting, right: float) -> int:
    """Return after how many presses so many rows are right, and stay so."""
    below = [look["at"] for look in sitting.looks if look["right"] < right]
    return max(below, default=0) + STEP


def main(names: Sequence[str] = tuple(ROWS), runs: int = 3) -> None:
    """Print for each pile the presses for the same result."""
    for name, copied_as in product(names, BURSTS):
        what, shares = f"{name}, copies of {copied_as}", []
        for seed in range(runs):
            by_rows, by_items = sort_twice(name, copied_as, seed)
            right = by_rows.looks[-1]["right"]
            needed = [presses_for(one, right) for one in (by_rows, by_items)]
            shares.append(needed[1] / needed[0])
            print(
                f"{what}, seed {seed}: {100 * right:.1f} % of the rows right after {needed[0]} presses; "
                f"{needed[1]} with copies asked once; {100 * by_items.looks[-1]['right']:.1f} % at the end",
                flush=True,
            )
        verdict = "met" if np.mean(shares) <= REQUIRED else "NOT MET"
        print(f"{what}: {np.mean(shares):.2f} of the presses on average; {REQUIRED}: {verdict}")


if __name__ == "__main__":
    main(sys.argv[1:] or tuple(ROWS))
