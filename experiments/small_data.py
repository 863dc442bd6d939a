"""Piles of the size that one person sorts, for the studies of the certificate and of UNSURE."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.decomposition import PCA
from sklearn.preprocessing import StandardScaler

from samekind import embed
from samekind.datasets import load_shuttle
from samekind.errors import DataError

Labelled = tuple[NDArray[Any], NDArray[Any]]

RARE_CLASS = 200  # rows
RARE = (800, 600, 400, 300, 60, 45, 35, 30)


def make_overlapping(n: int, n_clusters: int, random_state: int) -> Labelled:
    """Return Gaussian clusters in five dimensions that overlap, their sizes by Zipf's law."""
    rng = np.random.default_rng(random_state)
    shares = 1 / np.arange(1, n_clusters + 1)
    y = rng.choice(n_clusters, size=n, p=shares / shares.sum())
    return rng.uniform(0, 6, (n_clusters, 5))[y] + rng.normal(size=(n, 5)), y


def make_rare(n: int, random_state: int) -> Labelled:
    """Return four large Gaussian clusters and four that hold one or two rows of a hundred."""
    rng = np.random.default_rng(random_state)
    sizes = np.maximum(np.array(RARE) * n // sum(RARE), 12)
    y = np.repeat(np.arange(len(sizes)), sizes)
    return 6 * rng.normal(size=(len(sizes), 6))[y] + rng.normal(size=(len(y), 6)), y


def load_shuttle_small(*, return_X_y: bool = True) -> Labelled:
    """Return 5,000 rows of Shuttle: all of its rare classes, and a uniform sample of the others."""
    X, y = load_shuttle(return_X_y=True)
    rare = np.isin(y, np.flatnonzero(np.bincount(y) < RARE_CLASS))
    others = np.random.default_rng(0).permutation(np.flatnonzero(~rare))
    kept = np.sort(np.concatenate([np.flatnonzero(rare), others[: 5_000 - int(rare.sum())]]))
    return X[kept], y[kept]


def load_digits_small(*, rows: int, return_X_y: bool = True) -> Labelled:
    """Return a uniform sample of scikit-learn's digits."""
    X, y = datasets.load_digits(return_X_y=True)
    kept = np.sort(np.random.default_rng(0).permutation(len(X))[:rows])
    return X[kept], y[kept]


def load_wine(*, return_X_y: bool = True) -> Labelled:
    """Return scikit-learn's wine, its columns standardised."""
    X, y = datasets.load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def load_breast_cancer(*, return_X_y: bool = True) -> Labelled:
    """Return scikit-learn's breast cancer, its columns standardised."""
    X, y = datasets.load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def load_banking77_minilm(*, return_X_y: bool = True) -> Labelled:
    """Return Banking77's texts as MiniLM embeds them, in their first 64 principal components."""
    X, y = load_banking77_embedded()
    return PCA(64, random_state=0).fit_transform(X.astype(np.float64)), y


def load_banking77_embedded(*, last: int | None = None, return_X_y: bool = True) -> Labelled:
    """Return Banking77's texts as MiniLM embeds them, 384 numbers each; all, or the last ones."""
    first = 0 if last is None else -last
    with np.load(_kept("banking77_minilm.npz")) as stored:
        return stored["X"][first:].astype(np.float32), stored["y"][first:]


def load_kept(*, file: str, standardise: bool = False, return_X_y: bool = True) -> Labelled:
    """Return the rows and labels of a file, perhaps with standardised columns."""
    with np.load(_kept(file)) as stored:
        X, y = stored["X"].astype(np.float32), stored["y"].astype(np.intp)
    return (StandardScaler().fit_transform(X) if standardise else X), y


def load_texts(*, file: str, return_X_y: bool = True) -> Labelled:
    """Return the texts of a table as samekind embeds them by default, and their labels."""
    table = load_table(file)
    texts, labels = sorted(table.columns, key=lambda name: -table[name].nunique())[:2]
    return embed(table[texts].astype(str).tolist()), pd.factorize(table[labels])[0]


def load_table(file: str) -> pd.DataFrame:
    """Return a table as it is kept."""
    return pd.read_csv(_kept(file))


def _kept(file: str) -> Path:
    path = Path(os.environ.get("SAMEKIND_DATA", "")) / file
    if not path.is_file():
        raise DataError(f"{file} is not here: set SAMEKIND_DATA to a folder that holds it.")
    return path
