"""Where rows lie on a map of two dimensions: in the report, and on the page of a project.

One or two columns are shown as they are, more by their principal components, which takes no time. A map made
for looking takes some seconds: t-SNE keeps rows together that are alike, but distances between groups, and
their sizes, mean little.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

__all__ = [
    "Layout",
    "has_neighbors",
    "neighbor_layout",
    "quick_layout",
    "tsne",
    "tsne_elsewhere",
]

Floats = NDArray[np.float64]
LARGEST = 1e30  # beyond it the browser's single precision ends
GOLDEN = 0.6180339887498949
AS_THEY_ARE = 2  # columns up to which rows are shown as they are
FEWEST = 30  # rows below which there are no neighbours to speak of
NEAREST = 3  # laid-out rows between which another one is placed
WIDEST = 50  # principal components that neighbours are sought in
PERPLEXITY = 30.0
STEPS = 500
NICE = 10


class Layout(NamedTuple):
    """A map.

    Attributes
    ----------
    method : str
        What it shows, in a word or two.
    about : str
        The same in a sentence.
    place : callable
        Takes points (m, d) and their row numbers, and returns where they lie (m, 2).
    titles : (str, str)
        What the axes are called.
    units : (bool, bool)
        Whether the numbers along the axes mean anything.
    """

    method: str
    about: str
    place: Callable[[Floats, NDArray[np.intp]], Floats]
    titles: tuple[str, str] = ("", "")
    units: tuple[bool, bool] = (False, False)


def quick_layout(sample: Floats, seed: int, names: Sequence[str] = ("", "")) -> Layout:
    """Return a map that takes no time: one or two columns as they are, else principal components."""
    d = sample.shape[1]
    if d > AS_THEY_ARE or float(np.abs(sample).max()) > LARGEST:
        return _components_layout(sample, seed)
    if d == 2:
        about = "The two columns."
        return Layout("the columns", about, lambda X, _: X, (names[0], names[1]), (True, True))
    about = "The one column. Heights mean nothing; they keep the points apart."

    def spread(X: Floats, rows: NDArray[np.intp]) -> Floats:
        return np.column_stack([X[:, 0], (rows * GOLDEN) % 1.0])

    return Layout("the column", about, spread, (names[0], ""), (True, False))


def neighbor_layout(sample: Floats, places: Floats) -> Layout:
    """Return a map on which rows are placed between the nearest of those that t-SNE has laid out."""
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=min(NEAREST, len(sample))).fit(sample)

    def place(X: Floats, rows: NDArray[np.intp]) -> Floats:
        far, near = found.kneighbors(X)
        weight = 1.0 / (far + 1e-9)
        weight /= weight.sum(axis=1, keepdims=True)
        placed: Floats = (places[near] * weight[:, :, None]).sum(axis=1)
        return placed

    about = "By t-SNE: rows that are alike lie together; distances between groups mean little."
    return Layout("t-SNE", about, place)


def has_neighbors(sample: Floats) -> bool:
    """Return whether rows are too many, and of too many columns, to be shown well as they are."""
    is_wide = sample.shape[1] > AS_THEY_ARE and len(sample) >= FEWEST
    return is_wide and bool(np.ptp(sample, axis=0).any())


def tsne(sample: Floats, seed: int) -> Floats:
    """Return places for rows that have neighbours; some seconds for two thousand rows."""
    from sklearn.manifold import TSNE  # here: threads of what is loaded later would not be limited

    # Others answer meanwhile, and threads that wait for each other crawl then.
    with threadpool_limits(1):
        wide, _ = _principal(sample, WIDEST, seed)
        first = 1e-2 * wide[:, :2] / (wide[:, 0].std() or 1.0)
        perplexity = min(PERPLEXITY, (len(sample) - 1) / 3)
        model = TSNE(2, perplexity=perplexity, init=first, max_iter=STEPS, random_state=seed)
        places: Floats = model.fit_transform(wide).astype(np.float64)
        return places


def tsne_elsewhere(
    sample: Floats, seed: int, begun: Callable[[subprocess.Popen[bytes]], object] | None = None
) -> Floats | None:
    """Do what `tsne` does in a process of its own, which waits for all others; None if that fails.

    `begun` is given the process.
    """
    given = io.BytesIO()
    np.save(given, sample, allow_pickle=False)
    process = subprocess.Popen(
        [sys.executable, "-m", "samekind.report._layout", str(seed)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )
    if begun is not None:
        begun(process)
    found = process.communicate(given.getvalue())[0]
    if process.returncode:
        return None
    places: Floats = np.load(io.BytesIO(found), allow_pickle=False)
    return places


def _components_layout(sample: Floats, seed: int) -> Layout:
    _, model = _principal(sample, 2, seed)
    if model is None:
        return Layout(
            "principal components", "All rows are equal.", lambda X, _: np.zeros((len(X), 2))
        )
    one, two = [*model.shares, 0.0, 0.0][:2]
    return Layout(
        "principal components",
        f"The first two principal components, which hold {one + two:.0%} of the variance.",
        lambda X, _: model.place(X),
        (f"1st component, {one:.0%} of the variance", f"2nd component, {two:.0%}"),
    )


class _Components(NamedTuple):
    shares: list[float]
    place: Callable[[Floats], Floats]


def _principal(sample: Floats, most: int, seed: int) -> tuple[Floats, _Components | None]:
    """Return rows by at most so many components, at least two, and what places others; None if all are equal.

    One scale for all columns keeps the shape of the data, and squares of its values finite.
    """
    from sklearn.decomposition import PCA

    middle = sample.min(axis=0) / 2 + sample.max(axis=0) / 2
    scale = float(np.abs(sample - middle).max()) or 1.0
    scaled = (sample - middle) / scale
    size = min(most, *scaled.shape)
    if not scaled.any():
        return np.zeros((len(sample), max(2, size))), None
    pca = PCA(n_components=size, random_state=seed).fit(scaled)

    def place(X: Floats) -> Floats:
        placed = pca.transform((X - middle) / scale)
        return np.column_stack([placed, np.zeros((len(X), max(0, 2 - size)))])

    return place(sample), _Components(pca.explained_variance_ratio_.tolist(), place)


def _main() -> None:
    """Lay out the rows on the standard input; for `tsne_elsewhere`."""
    if hasattr(os, "nice"):
        os.nice(NICE)
    out = io.BytesIO()
    np.save(out, tsne(np.load(io.BytesIO(sys.stdin.buffer.read())), int(sys.argv[1])))
    sys.stdout.buffer.write(out.getvalue())


if __name__ == "__main__":
    _main()
