"""Gather what a report says, and write it."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind._validation import check_int, refuse_dask
from samekind._version import __version__
from samekind.clusters import Clusters
from samekind.data import as_points
from samekind.flow import Answers, Pairs, check_pairs
from samekind.report._charts import Figure, draw_history, draw_sizes
from samekind.report._comparison import Comparison, compare, sizes_of
from samekind.report._examples import examples
from samekind.report._facts import annotators, counted, facts, shown_text, tiles
from samekind.report._layout import Layout
from samekind.report._map import draw_map

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["write_report"]

DEFAULT_TITLE = "What was found"
LONGEST_NAME = 60


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
    numbers: Sequence[int] | None = None,
    advice: str = "",
    seed: int = 0,
    layout: Layout | None = None,
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
        What each cluster is called; by default by its number.
    numbers : sequence of int or None
        The number of each cluster, as people see it. By default 1, 2, …: cluster 0 of `labels_` is kind 1.
    advice : str
        A sentence about whether to go on.
    seed : int
        Fixes which rows are drawn where there are too many.
    layout : Layout or None
        The map of a project, by t-SNE; without, the map shows principal components.

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
    k = clusters.n_discovered_
    numbers = list(range(1, k + 1)) if numbers is None else list(numbers)
    names = [None] * k if names is None else list(names)
    for what, given in (("names", names), ("numbers", numbers)):
        if len(given) != k:
            raise ValueError(f"{what} has {len(given)} entries, but there are {k} clusters.")
    called = [shown_text(name or "", LONGEST_NAME) for name in names]
    titles = [name or f"kind {number}" for name, number in zip(called, numbers, strict=True)]
    asked, said = _questions(pairs, answers, points.n)
    pictures = _pictures(images, points.n)
    if frame is not None:
        _check_rows("frame", len(frame), points.n)
    check_int("seed", seed, minimum=0)
    if not hasattr(clusters, "labels_"):  # loaded from a file without them
        clusters = clusters.with_points(points)
    labels = clusters.labels_
    compared = None if truth is None else _compared(truth, labels, clusters.n_discovered_)

    sizes = sizes_of(labels, k)
    figures = [
        draw_map(clusters, points, labels, columns, titles, asked, said, seed, layout),
        draw_history(clusters, None if compared is None else len(compared.classes)),
        draw_sizes(clusters, sizes, titles, numbers),
    ]
    headings = [
        title if name else title.capitalize() for title, name in zip(titles, called, strict=True)
    ]
    width = points.d if frame is None else frame.shape[1]
    text = _rendered(
        figures,
        title=shown_text(title, 200) or DEFAULT_TITLE,
        lead=f"{counted(clusters.n_rows_, 'row')} of {counted(width, 'column')}, sorted into kinds by "
        "asking “are these two of the same kind?”.",
        tiles=tiles(clusters, compared, are_named=any(called)),
        facts=facts(clusters, advice),
        annotators=annotators(clusters),
        cards=examples(clusters, points, sizes, columns, frame, pictures, compared, headings),
        are_pictures=pictures is not None,
        n_kinds=k,
    )
    if not isinstance(path, str | Path):
        path.write(text.encode())
        return None
    whole = Path(path)
    beside = whole.with_name(whole.name + ".part")  # so that no half-written page is ever there
    beside.write_text(text, encoding="utf-8", newline="\n")
    return beside.replace(whole)


def _rendered(figures: Sequence[Figure], **parts: object) -> str:
    """Return the page, one file that loads nothing.

    The policy in its head names the two scripts by their hashes, so no other script runs, whatever stands in
    the data; and it lets the page fetch nothing.
    """
    from jinja2 import Environment
    from markupsafe import Markup
    from plotly.offline import get_plotlyjs

    style, script, template = (
        resources.files("samekind.report").joinpath(name).read_text(encoding="utf-8")
        for name in ("style.css", "page.js", "template.html")
    )
    # A browser hashes what it has parsed, in which every line ends with a line feed.
    plotly = get_plotlyjs().replace("\r\n", "\n").replace("\r", "\n")
    digests = (hashlib.sha256(text.encode()).digest() for text in (plotly, script))
    allowed = [f"'sha256-{base64.b64encode(digest).decode()}'" for digest in digests]
    if any(trace["type"] == "scattergl" for figure in figures for trace in figure.traces):
        allowed.append("'unsafe-eval'")  # Plotly's WebGL plots compile their drawing commands
    policy = (
        f"default-src 'none'; script-src {' '.join(allowed)}; style-src 'unsafe-inline'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    page = Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True).from_string(template)
    return page.render(
        policy=Markup(policy),
        figures=figures,
        style=Markup(style),
        plotly=Markup(plotly),
        script=Markup(script),
        version=__version__,
        **parts,
    )


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
