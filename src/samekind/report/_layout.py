"""A map made for looking: rows that are alike lie together, and groups apart.

By t-SNE, which keeps neighbours together, as the two widest directions of many do not. Distances between
groups, and their sizes, mean little.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

__all__ = ["Layout", "has_neighbors", "lay_out", "lay_out_elsewhere", "quick_layout"]

Floats = NDArray[np.float64]
FEWEST = 30  # rows below which there are no neighbours to speak of
WIDEST = 50  # principal components that neighbours are sought in
PERPLEXITY = 30.0
STEPS = 500
NICE = 10
LIKE_PLANE = 2  # columns up to which rows are shown as they are


class Layout(NamedTuple):
    """Where rows lie, (m, 2) within [0, 1], and how that was found, in words."""

    places: Floats
    method: str


def has_neighbors(sample: Floats) -> bool:
    """Return whether rows are too many, and of too many columns, to be shown well as they are."""
    is_wide = sample.shape[1] > LIKE_PLANE and len(sample) >= FEWEST
    return is_wide and bool(np.ptp(sample, axis=0).any())


def quick_layout(sample: Floats, seed: int) -> Layout:
    """Return a map that takes no time: one or two columns as they are, else principal components."""
    if sample.shape[1] <= LIKE_PLANE:
        flat = np.zeros((len(sample), 2))
        flat[:, : sample.shape[1]] = sample
        if sample.shape[1] == 1:
            flat[:, 1] = (np.arange(len(sample)) * 0.6180339887498949) % 1.0
        return Layout(_within(flat), "the columns")
    return Layout(_within(_components(sample, 2, seed)), "principal components")


def lay_out(sample: Floats, seed: int) -> Layout:
    """Return a map of rows of more than two columns; some seconds for two thousand rows."""
    if not has_neighbors(sample):
        return quick_layout(sample, seed)
    from sklearn.manifold import TSNE  # here: threads of what is loaded later would not be limited

    with threadpool_limits(
        1
    ):  # others answer meanwhile, and threads that wait for each other crawl then
        wide = _components(sample, WIDEST, seed)
        first = 1e-2 * wide[:, :2] / (wide[:, 0].std() or 1.0)
        perplexity = min(PERPLEXITY, (len(sample) - 1) / 3)
        tsne = TSNE(2, perplexity=perplexity, init=first, max_iter=STEPS, random_state=seed)
        return Layout(_within(tsne.fit_transform(wide)), "t-SNE")


def lay_out_elsewhere(
    sample: Floats, seed: int, begun: Callable[[subprocess.Popen[bytes]], object] | None = None
) -> Layout | None:
    """Do what `lay_out` does in a process of its own, which waits for all others; None if that fails.

    Whoever answers meanwhile notices nothing. `begun` is given the process.
    """
    given, found = io.BytesIO(), io.BytesIO()
    np.save(given, sample, allow_pickle=False)
    process = subprocess.Popen(
        [sys.executable, "-m", "samekind.report._layout", str(seed)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    if begun is not None:
        begun(process)
    found.write(process.communicate(given.getvalue())[0])
    found.seek(0)
    if process.returncode:
        return None
    with np.load(found, allow_pickle=False) as made:
        return Layout(made["places"], str(made["method"]))


def _components(sample: Floats, most: int, seed: int) -> Floats:
    from sklearn.decomposition import PCA

    middle = sample.min(axis=0) / 2 + sample.max(axis=0) / 2
    scale = float(np.abs(sample - middle).max()) or 1.0
    scaled = (sample - middle) / scale
    size = min(most, *scaled.shape)
    if not scaled.any():
        return np.zeros((len(sample), max(2, size)))
    placed: Floats = PCA(n_components=size, random_state=seed).fit_transform(scaled)
    return np.column_stack([placed, np.zeros((len(sample), max(0, 2 - size)))])


def _within(places: Floats) -> Floats:
    """Return places that fill the unit square, one scale for both directions."""
    low, high = places.min(axis=0), places.max(axis=0)
    span = float((high - low).max()) or 1.0
    inside: Floats = (places - (low + high) / 2) / span + 0.5
    return inside


def _main() -> None:
    """Lay out the rows on the standard input; for `lay_out_elsewhere`."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    made = lay_out(np.load(io.BytesIO(sys.stdin.buffer.read())), int(sys.argv[1]))
    out = io.BytesIO()
    np.savez(out, places=made.places, method=made.method)
    sys.stdout.buffer.write(out.getvalue())


if __name__ == "__main__":
    _main()
