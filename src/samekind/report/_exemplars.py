"""A card for each cluster with what is typical of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from samekind.clusters import Clusters
from samekind.points import Points
from samekind.report._colors import color_of
from samekind.report._figures import shown_text
from samekind.report._headline import counted
from samekind.report._png import data_uri, to_bytes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["RowCells", "cards", "cells_of"]

MOST_CLUSTERS = 60
MOST_LOOKED_AT = 2_000  # known rows of a cluster among which the typical ones are sought
NEAREST_PICTURES, FARTHEST_PICTURES = 12, 4
ROWS = 4
COLUMNS, FOLDED_COLUMNS = 8, 60
LONG, LONGEST, IN_TITLE = 40, 120, 2_000  # characters


@dataclass(frozen=True)
class RowCells:
    """What to show of a row: named values."""

    names: list[str]
    row: Callable[[int], Sequence[object]]


def cells_of(points: Points, names: Sequence[str], frame: pd.DataFrame | None) -> RowCells:
    """Show the rows of a table if there is one, or else the numbers themselves."""
    if frame is not None:
        return RowCells([str(name) for name in frame.columns], lambda row: frame.iloc[row].tolist())
    return RowCells(list(names), lambda row: points.rows(np.array([row]))[0].tolist())


def cards(
    clusters: Clusters,
    points: Points,
    sizes: NDArray[np.intp],
    cells: RowCells,
    images: NDArray[np.generic] | None,
    remarks: Sequence[str],
    names: Sequence[str | None],
) -> str:
    """Return the section with a card for each cluster.

    `remarks` are about each, "" for none; `names` are what they are called.
    """
    count = min(clusters.n_discovered_, MOST_CLUSTERS)
    if not count:
        return ""
    ranked = [_by_distance(clusters, points, cluster) for cluster in range(count)]
    bodies = _picture_strips(ranked, images) if images is not None else _tables(ranked, cells)
    parts = []
    for cluster, body in enumerate(bodies):
        state = "recovered, " if cluster < clusters.n_recovered_ else "only discovered, "
        if not clusters.n_recovered_:
            state = ""
        counts = (
            f"{state}{counted(sizes[cluster], 'row')}, {len(clusters.members_[cluster]):,} known"
        )
        name = escape(shown_text(names[cluster] or "", LONGEST))
        title = f"<h3>{name}</h3><span>cluster {cluster}</span>"
        if not name:
            title = f"<h3>Cluster {cluster}</h3>"
        remark = f"<span>{escape(remarks[cluster])}</span>" if remarks[cluster] else ""
        parts.append(
            f'<article class="card"><div class="card-head">{_chip(cluster)}'
            f'{title}{remark}<span class="counts">{counts}</span></div>'
            f"{body}</article>"
        )
    if images is not None:
        text = "Known rows nearest to the centre; below the rule, those farthest from it."
    else:
        text = "Known rows nearest to the centre. Texts that are cut are whole under the pointer."
    if count < clusters.n_discovered_:
        text += f" Shown are the first {count:,} of {clusters.n_discovered_:,} clusters."
    shape = "cards" if images is not None else "cards rows"
    return (
        f'<section><h2>Examples</h2><p class="caption">{text}</p>'
        f'<div class="{shape}">{"".join(parts)}</div></section>'
    )


def _by_distance(clusters: Clusters, points: Points, cluster: int) -> NDArray[np.intp]:
    members = clusters.members_[cluster][:MOST_LOOKED_AT]
    away = points.rows(members) - clusters.all_centers_[cluster]
    away /= np.abs(away).max() or 1.0  # squares of large numbers may not be numbers
    return members[np.argsort((away**2).sum(axis=1), kind="stable")]


def _chip(cluster: int) -> str:
    return f'<span class="chip" style="background:{color_of(cluster)}"></span>'


def _picture_strips(ranked: list[NDArray[np.intp]], images: NDArray[np.generic]) -> list[str]:
    nearest = [rows[:NEAREST_PICTURES] for rows in ranked]
    farthest = [rows[NEAREST_PICTURES:][-FARTHEST_PICTURES:] for rows in ranked]
    shown = np.unique(np.concatenate([*nearest, *farthest]))
    pixels = to_bytes(np.asarray(images[shown]))
    where = {row: place for place, row in enumerate(shown.tolist())}

    def strip(rows: NDArray[np.intp]) -> str:
        pictures = (
            f'<img src="{data_uri(pixels[where[row]])}" alt="row {row}" title="row {row}">'
            for row in rows.tolist()
        )
        return f'<div class="pictures">{"".join(pictures)}</div>' if rows.size else ""

    return [strip(near) + strip(far) for near, far in zip(nearest, farthest, strict=True)]


def _tables(ranked: list[NDArray[np.intp]], cells: RowCells) -> list[str]:
    tables = []
    for rows in ranked:
        chosen = rows[:ROWS].tolist()
        values = [cells.row(row) for row in chosen]
        shown = _table(cells.names, chosen, values, 0, COLUMNS)
        more = len(cells.names) - COLUMNS
        if more > 0:
            folded = _table(cells.names, chosen, values, COLUMNS, COLUMNS + FOLDED_COLUMNS)
            left = more - FOLDED_COLUMNS
            rest = f"<p>{left:,} further columns are not shown.</p>" if left > 0 else ""
            label = counted(min(more, FOLDED_COLUMNS), "more column")
            shown += f"<details><summary>{label}</summary>{folded}{rest}</details>"
        tables.append(shown)
    return tables


def _table(
    names: list[str], rows: list[int], values: list[Sequence[object]], first: int, last: int
) -> str:
    is_number = [
        all(isinstance(row[column], int | float | np.number) for row in values)
        for column in range(first, min(last, len(names)))
    ]
    head = '<th class="number" scope="col">row</th>' + "".join(
        f'<th{_style(number)} scope="col">{_text(name)}</th>'
        for name, number in zip(names[first:last], is_number, strict=True)
    )
    body = "".join(
        f'<tr><td class="row number">{number}</td>' + "".join(map(_cell, row[first:last])) + "</tr>"
        for number, row in zip(rows, values, strict=True)
    )
    return (
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{body}</tbody></table></div>"
    )


def _style(number: bool) -> str:
    return ' class="number"' if number else ""


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f'<td class="number">{value:.4g}</td>'
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f'<td class="number">{value}</td>'
    text = str(value)
    long = ' class="long"' if len(text) > LONG else ""
    return f"<td{long}>{_text(text)}</td>"


def _text(value: object) -> str:
    whole, cut = shown_text(value, IN_TITLE), shown_text(value, LONGEST)
    if whole == cut:
        return escape(cut)
    return f'<span title="{escape(whole)}">{escape(cut)}</span>'
