"""Gather what a report says, and write it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import check_int, refuse_dask
from samekind.clusters import Clusters
from samekind.data import as_points
from samekind.flow import Answers, Pairs, check_pairs
from samekind.report._annotators import annotator_table
from samekind.report._charts import draw_history, draw_sizes
from samekind.report._comparison import Comparison, compare, sizes_of
from samekind.report._exemplars import cards
from samekind.report._figures import shown_text
from samekind.report._headline import facts, lead, tiles
from samekind.report._map import draw_map
from samekind.report._page import page
from samekind.report._projection import LaidOut

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["write_report"]

DEFAULT_TITLE = "What was found"


def write_report(
    path: str | Path | BinaryIO,
    clusters: Clusters,
    X: Any,
    *,
    pairs: ArrayLike | None = None,
    answers: ArrayLike | None = None,
    frame: pd.DataFrame | None = None,
    images: ArrayLike | None = None,
    truth: Any = None,
    title: str = "",
    feature_names: Sequence[str] | None = None,
    names: Sequence[str | None] | None = None,
    advice: str = "",
    seed: int = 0,
    by_neighbors: bool = False,
    laid_out: LaidOut | None = None,
) -> Path | None:
    """Write one HTML page with plots, examples and numbers; it needs no network.

    Parameters
    ----------
    path : str, Path or binary file
        Where to write; what is there is replaced. None is returned for a file that is open already.
    clusters : Clusters
        What was found.
    X : array-like of shape (n, d), or Points
        The rows it was found in. Of points in files or on a Dask cluster, only those that are shown are read.
    pairs : array-like of shape (m, 2) or None
        The pairs of rows that were asked about, to draw on the map.
    answers : array-like of shape (m,) or None
        Their answers.
    frame : pandas.DataFrame or None
        The rows as a person would like to see them; by default the columns of X.
    images : array-like of shape (n, h, w) or (n, h, w, 3), or None
        The rows as pictures, which then stand for them.
    truth : array-like of shape (n,), pandas.Categorical, Comparison or None
        The true labels, or how the clusters compare with them, where an expert is simulated, to compare with.
    title : str
        A heading.
    feature_names : sequence of str or None
        Names of the columns of X; by default x0, x1, ….
    names : sequence of str or None, or None
        What each cluster is called, with its number if it has one; by its label.
    advice : str
        A sentence about whether to go on.
    seed : int
        Fixes which rows are drawn where there are too many.
    by_neighbors : bool
        Make a map for looking, by t-SNE: rows that are alike lie
        together. It takes some seconds; without, the map shows principal components.
    laid_out : tuple of an array of rows and a Layout, or None
        Where some rows lie on a map that was made before.

    Returns
    -------
    Path
        Where it was written.

    Examples
    --------
    >>> import tempfile, samekind
    >>> from samekind.report import write_report
    >>> data = samekind.datasets.load_digits()
    >>> oracle = samekind.LabelOracle(data.target)
    >>> clusters = samekind.solve(data.data, oracle, budget=300, random_state=0)
    >>> folder = tempfile.TemporaryDirectory()
    >>> write_report(f"{folder.name}/report.html", clusters, data.data, images=data.images).name
    'report.html'
    >>> folder.cleanup()
    """
    refuse_dask("X", X)
    points = as_points(X)
    if points.n != clusters.n_rows_:
        raise ValueError(
            f"X has {points.n:,} rows, but the clusters were found in {clusters.n_rows_:,}."
        )
    if feature_names is None:
        feature_names = [f"x{column}" for column in range(points.d)]
    if len(feature_names) != points.d:
        raise ValueError(
            f"feature_names has {len(feature_names)} names, but X has {points.d} columns."
        )
    columns = [str(name) for name in feature_names]
    cluster_names = [None] * clusters.n_discovered_ if names is None else list(names)
    if len(cluster_names) != clusters.n_discovered_:
        raise ValueError(
            f"names has {len(cluster_names)} names, but there are {clusters.n_discovered_} clusters."
        )
    asked, said = _questions(pairs, answers, points.n)
    pictures = _pictures(images, points.n)
    if frame is not None:
        _check_rows("frame", len(frame), points.n)
    check_int("seed", seed, minimum=0)
    if not hasattr(clusters, "labels_"):  # loaded from a file without them
        clusters = clusters.with_points(points)
    labels = clusters.labels_
    compared = None if truth is None else _compared(truth, labels, clusters.n_discovered_)

    sizes = sizes_of(labels, clusters.n_discovered_)
    figures = [
        draw_map(
            *(clusters, points, labels, columns, cluster_names, asked, said, seed),
            by_neighbors,
            laid_out,
        ),
        draw_history(clusters, None if compared is None else len(compared.classes)),
        draw_sizes(clusters, sizes, cluster_names),
    ]
    text = page(
        title=shown_text(title, 200) or DEFAULT_TITLE,
        lead=lead(clusters, points.d if frame is None else frame.shape[1]),
        tiles=tiles(clusters, compared, are_named=any(cluster_names)),
        facts=facts(clusters, advice),
        figures=figures,
        annotators=annotator_table(clusters),
        exemplars=cards(clusters, points, sizes, columns, frame, pictures, compared, cluster_names),
    )
    if not isinstance(path, str | Path):
        path.write(text.encode())
        return None
    whole = Path(path)
    beside = whole.with_name(whole.name + ".part")  # so that no half-written page is ever there
    beside.write_text(text, encoding="utf-8", newline="\n")
    return beside.replace(whole)


def _questions(pairs: ArrayLike | None, answers: ArrayLike | None, n: int) -> tuple[Pairs, Answers]:
    if (pairs is None) != (answers is None):
        raise ValueError("pairs and answers belong together: pass both or neither.")
    if pairs is None or answers is None:
        return np.empty((0, 2), dtype=np.intp), np.empty(0, dtype=np.int8)
    asked = check_pairs(pairs)
    said = np.asarray(answers, dtype=np.int8)
    if said.shape != (len(asked),):
        raise ValueError(f"{len(asked)} pairs need as many answers, got shape {said.shape}.")
    if len(asked) and int(asked.max()) >= n:
        raise ValueError(f"pairs has row {int(asked.max())}, but X has {n:,} rows.")
    return asked, said


def _pictures(images: ArrayLike | None, n: int) -> NDArray[np.generic] | None:
    if images is None:
        return None
    pictures = np.asarray(images)
    if pictures.ndim != 3 and not (pictures.ndim == 4 and pictures.shape[3] == 3):
        raise ValueError(f"images must be (n, h, w) or (n, h, w, 3), got shape {pictures.shape}.")
    if 0 in pictures.shape[1:3]:
        raise ValueError(f"images must have at least one pixel, got shape {pictures.shape}.")
    _check_rows("images", len(pictures), n)
    return pictures


def _check_rows(name: str, given: int, n: int) -> None:
    if given != n:
        raise ValueError(f"{name} has {given:,} rows, but X has {n:,}.")


def _compared(truth: Any, labels: NDArray[np.intp], n_clusters: int) -> Comparison:
    if isinstance(truth, Comparison):
        return truth
    if not hasattr(truth, "categories"):
        truth = np.asarray(truth)
        if truth.ndim != 1:
            raise ValueError(f"truth must be one label for each row, got shape {truth.shape}.")
    _check_rows("truth", len(truth), len(labels))
    return compare(truth, labels, n_clusters)
