"""A card for each cluster with what is typical of it."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from samekind.clusters import Clusters
from samekind.points import Points
from samekind.report._colors import color_of
from samekind.report._comparison import Comparison
from samekind.report._figures import shown_text
from samekind.report._headline import NUMBER, counted, table
from samekind.report._png import data_uri, to_bytes

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["cards"]

MOST_CLUSTERS = 60
MOST_LOOKED_AT = 2_000  # known rows of a cluster among which the typical ones are sought
NEAREST_PICTURES, FARTHEST_PICTURES = 12, 4
ROWS = 4
COLUMNS, FOLDED_COLUMNS = 8, 60
LONG, LONGEST, IN_TITLE = 40, 120, 2_000  # characters


def cards(
    clusters: Clusters,
    points: Points,
    sizes: NDArray[np.intp],
    columns: Sequence[str],
    frame: pd.DataFrame | None,
    images: NDArray[np.generic] | None,
    compared: Comparison | None,
    names: Sequence[str | None],
) -> str:
    """Return the section with a card for each cluster.

    It shows pictures, else rows of `frame`, else of the points.
    """
    count = min(clusters.n_discovered_, MOST_CLUSTERS)
    if not count:
        return ""
    largest = np.argsort(-sizes, kind="stable")[:count].tolist()
    ranked = [_by_distance(clusters, points, cluster) for cluster in largest]
    if images is not None:
        bodies, shape = _picture_strips(ranked, images), "cards"
        text = "Known rows nearest to the centre; below the rule, those farthest from it."
    else:
        bodies, shape = _tables(ranked, points, columns, frame), "cards rows"
        text = "Known rows nearest to the centre. Texts that are cut are whole under the pointer."
    parts = []
    for cluster, body in zip(largest, bodies, strict=True):
        state = "settled, " if cluster < clusters.n_recovered_ else "not settled, "
        state = state if clusters.n_recovered_ else ""
        known = len(clusters.members_[cluster])
        counts = f"{state}{counted(sizes[cluster], 'row')}, {known:,} known"
        name = escape(shown_text(names[cluster] or "", LONGEST))
        title = f"<h3>{name or f'Kind {cluster}'}</h3>"
        chip = f'<span class="chip" style="background:{color_of(cluster)}"></span>'
        remark = ""
        if compared is not None:
            commonest, share = compared.commonest(cluster)
            remark = f"<span>{share:.0%} are “{escape(shown_text(commonest, 60))}”</span>"
        parts.append(
            f'<article class="card"><div class="card-head">{chip}'
            f'{title}{remark}<span class="counts">{counts}</span></div>'
            f"{body}</article>"
        )
    if count < clusters.n_discovered_:
        text += f" Shown are the largest {count:,} of {clusters.n_discovered_:,} kinds."
    return (
        f'<section><h2>Examples</h2><p class="caption">{text}</p>'
        f'<div class="{shape}">{"".join(parts)}</div></section>'
    )


def _by_distance(clusters: Clusters, points: Points, cluster: int) -> NDArray[np.intp]:
    members = clusters.members_[cluster][:MOST_LOOKED_AT]
    away = points.rows(members) - clusters.all_centers_[cluster]
    away /= np.abs(away).max() or 1.0  # squares of large numbers may not be numbers
    return members[np.argsort((away**2).sum(axis=1), kind="stable")]


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


def _tables(
    ranked: list[NDArray[np.intp]],
    points: Points,
    columns: Sequence[str],
    frame: pd.DataFrame | None,
) -> list[str]:
    names = list(columns) if frame is None else [str(name) for name in frame.columns]
    tables = []
    for rows in ranked:
        chosen = rows[:ROWS]
        values: list[Sequence[object]] = (
            points.rows(chosen).tolist()
            if frame is None
            else [frame.iloc[row].tolist() for row in chosen.tolist()]
        )
        shown = _table(names, chosen, values, 0, COLUMNS)
        more = len(names) - COLUMNS
        if more > 0:
            folded = _table(names, chosen, values, COLUMNS, COLUMNS + FOLDED_COLUMNS)
            left = more - FOLDED_COLUMNS
            rest = f"<p>{left:,} further columns are not shown.</p>" if left > 0 else ""
            label = counted(min(more, FOLDED_COLUMNS), "more column")
            shown += f"<details><summary>{label}</summary>{folded}{rest}</details>"
        tables.append(shown)
    return tables


def _table(
    names: list[str], rows: NDArray[np.intp], values: list[Sequence[object]], first: int, last: int
) -> str:
    is_number = [
        all(isinstance(row[column], int | float | np.number) for row in values)
        for column in range(first, min(last, len(names)))
    ]
    head = f'<th{NUMBER} scope="col">row</th>' + "".join(
        f'<th{NUMBER if number else ""} scope="col">{_text(name)}</th>'
        for name, number in zip(names[first:last], is_number, strict=True)
    )
    body = "".join(
        f'<tr><td class="row number">{number}</td>' + "".join(map(_cell, row[first:last])) + "</tr>"
        for number, row in zip(rows.tolist(), values, strict=True)
    )
    return table(head, body)


def _cell(value: object) -> str:
    if isinstance(value, float | np.floating):
        return f"<td{NUMBER}>{value:.4g}</td>"
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        return f"<td{NUMBER}>{value}</td>"
    text = str(value)
    long = ' class="long"' if len(text) > LONG else ""
    return f"<td{long}>{_text(text)}</td>"


def _text(value: object) -> str:
    whole, cut = shown_text(value, IN_TITLE), shown_text(value, LONGEST)
    if whole == cut:
        return escape(cut)
    return f'<span title="{escape(whole)}">{escape(cut)}</span>'
