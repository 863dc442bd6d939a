"""What is typical of each cluster: pictures, or rows of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from samekind.clusters import Clusters
from samekind.points import Points
from samekind.report._colors import color_of
from samekind.report._comparison import Comparison
from samekind.report._facts import counted, shown_text
from samekind.report._pictures import data_uri, to_bytes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Card", "examples"]

MOST_CLUSTERS = 60
MOST_LOOKED_AT = 2_000  # known rows of a cluster among which the typical ones are sought
NEAREST_PICTURES, FARTHEST_PICTURES = 12, 4
ROWS = 4
COLUMNS, FOLDED_COLUMNS = 8, 60
LONG, LONGEST, IN_TITLE = 40, 120, 2_000  # characters


class Cell(NamedTuple):
    """A cell of a table: what is shown, the whole of it where that is more, and its style."""

    text: str
    whole: str
    style: str


class Table(NamedTuple):
    """Some columns of some rows."""

    head: list[Cell]
    body: list[list[Cell]]


class Card(NamedTuple):
    """What is shown of a cluster."""

    title: str
    color: str
    remark: str
    counts: str
    strips: list[list[tuple[int, str]]]  # pictures: row and address
    tables: list[Table]  # the second one is folded
    left: int  # columns that are not shown


def examples(
    clusters: Clusters,
    points: Points,
    sizes: NDArray[np.intp],
    columns: Sequence[str],
    frame: pd.DataFrame | None,
    images: NDArray[np.generic] | None,
    compared: Comparison | None,
    titles: Sequence[str],
) -> list[Card]:
    """Return a card for each of the largest clusters: pictures, else rows of `frame`, else of the points."""
    largest = np.argsort(-sizes, kind="stable")[:MOST_CLUSTERS].tolist()
    ranked = [_by_distance(clusters, points, cluster) for cluster in largest]
    strips = [[] for _ in ranked] if images is None or not ranked else _strips(ranked, images)
    cards = []
    for cluster, rows, shown in zip(largest, ranked, strips, strict=True):
        state = "settled, " if cluster < clusters.n_recovered_ else "not settled, "
        remark = ""
        if compared is not None:
            commonest, share = compared.commonest(cluster)
            remark = f"{share:.0%} are “{shown_text(commonest, 60)}”"
        tables, left = ([], 0) if shown else _tables(rows[:ROWS], points, columns, frame)
        cards.append(
            Card(
                shown_text(titles[cluster], LONGEST),
                color_of(cluster),
                remark,
                (state if clusters.n_recovered_ else "")
                + f"{counted(sizes[cluster], 'row')}, {len(clusters.members_[cluster]):,} known",
                shown,
                tables,
                left,
            )
        )
    return cards


def _by_distance(clusters: Clusters, points: Points, cluster: int) -> NDArray[np.intp]:
    members = clusters.members_[cluster][:MOST_LOOKED_AT]
    away = points.rows(members) - clusters.all_centers_[cluster]
    away /= np.abs(away).max() or 1.0  # squares of large numbers may not be numbers
    return members[np.argsort((away**2).sum(axis=1), kind="stable")]


def _strips(
    ranked: list[NDArray[np.intp]], images: NDArray[np.generic]
) -> list[list[list[tuple[int, str]]]]:
    """Return the pictures nearest to each centre, and those farthest from it."""
    both = [
        (rows[:NEAREST_PICTURES], rows[NEAREST_PICTURES:][-FARTHEST_PICTURES:]) for rows in ranked
    ]
    shown = np.unique(np.concatenate([rows for pair in both for rows in pair]))
    pixels = dict(zip(shown.tolist(), to_bytes(np.asarray(images[shown])), strict=True))
    return [
        [[(row, data_uri(pixels[row])) for row in rows.tolist()] for rows in pair if rows.size]
        for pair in both
    ]


def _tables(
    rows: NDArray[np.intp], points: Points, columns: Sequence[str], frame: pd.DataFrame | None
) -> tuple[list[Table], int]:
    """Return the first columns of some rows, and more of them; and how many are left."""
    names = list(columns) if frame is None else [str(name) for name in frame.columns]
    values: list[list[object]] = (
        points.rows(rows).tolist()
        if frame is None
        else [frame.iloc[row].tolist() for row in rows.tolist()]
    )
    body = [[_cell(value) for value in line] for line in values]
    head = [
        _text(name, "number" if all(line[place].style == "number" for line in body) else "")
        for place, name in enumerate(names)
    ]
    number = [Cell(str(row), "", "row number") for row in rows.tolist()]
    tables = []
    for first, last in ((0, COLUMNS), (COLUMNS, COLUMNS + FOLDED_COLUMNS)):
        if len(names) > first:
            lines = [[one, *line[first:last]] for one, line in zip(number, body, strict=True)]
            tables.append(Table([Cell("row", "", "number"), *head[first:last]], lines))
    return tables, max(0, len(names) - COLUMNS - FOLDED_COLUMNS)


def _cell(value: object) -> Cell:
    if isinstance(value, float | np.floating):
        return Cell(f"{value:.4g}", "", "number")
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return Cell(str(value), "", "number")
    text = str(value)
    return _text(text, "long" if len(text) > LONG else "")


def _text(value: str, style: str) -> Cell:
    whole, cut = shown_text(value, IN_TITLE), shown_text(value, LONGEST)
    return Cell(cut, "" if whole == cut else whole, style)
