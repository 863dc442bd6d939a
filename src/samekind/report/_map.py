"""The map: rows, centres, and the questions that were asked."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np
from numpy.typing import NDArray

from samekind.clusters import Clusters
from samekind.flow import DIFFERENT, SAME, Answers, Pairs
from samekind.points import Points
from samekind.report._charts import Figure, Trace, axis, lines
from samekind.report._colors import color_of, symbol_of
from samekind.report._facts import counted
from samekind.report._layout import Layout, quick_layout

__all__ = ["choose_rows", "draw_map"]

MOST_ROWS = 20_000
LONG = 2**24  # rows of which no list is made

MOST_SEGMENTS = 2_000
MOST_IN_LEGEND = 16  # clusters with a colour and a line of their own: more cannot be told apart
MOST_LARGE = 60  # centres that are drawn large
LONGEST_NAME = 40  # characters of a name on the map
MOST_SVG = 4_000  # points that are drawn sharply, and printed sharply; more go to WebGL
FAINTEST = 0.4  # opacity of segments where there are many
FAR = 1.5  # times the window around most rows, from which the first view is that window
CROWDED = 150  # segments above which those that mean "different" wait to be switched on


def choose_rows(clusters: Clusters, seed: int, most: int = MOST_ROWS) -> NDArray[np.intp]:
    """Choose the rows to draw: those known from answers first, then others at random."""
    n = clusters.n_rows_
    if n <= most:
        return np.arange(n, dtype=np.intp)
    rng = np.random.default_rng(seed)
    known = np.unique(np.concatenate([*clusters.members_, np.empty(0, dtype=np.intp)]))
    if known.size >= most:
        return np.sort(rng.choice(known, most, replace=False))
    if n > LONG:
        others = np.setdiff1d(rng.integers(0, n, 2 * most), known)
        return np.sort(np.concatenate([known, rng.permutation(others)[: most - known.size]]))
    is_new = np.ones(n, dtype=bool)
    is_new[known] = False
    others = rng.choice(np.flatnonzero(is_new), most - known.size, replace=False)
    return np.sort(np.concatenate([known, others]))


def draw_map(
    clusters: Clusters,
    points: Points,
    labels: NDArray[np.intp],
    columns: Sequence[str],
    titles: Sequence[str],
    pairs: Pairs,
    answers: Answers,
    seed: int,
    layout: Layout | None = None,
) -> Figure:
    """Draw a sample of the rows in two dimensions, coloured by cluster."""
    rows = choose_rows(clusters, seed)
    sample = points.rows(rows).astype(np.float64, copy=False)
    if layout is None or points.d <= 2:  # the page's map of few columns has no units
        layout = quick_layout(sample, seed, columns)
    places = layout.place(sample, rows)
    form = "scatter" if len(rows) <= MOST_SVG else "scattergl"
    known = np.isin(rows, np.concatenate([*clusters.members_, np.empty(0, dtype=np.intp)]))
    traces = [
        *_segments(points, layout, pairs, answers, form),
        *_rows(places, rows, np.asarray(labels[rows]), known, titles, form),
    ]
    centers = np.empty((0, 2))
    if clusters.n_discovered_:
        centers = _center_places(clusters, layout)
        sizes = np.bincount(labels[labels >= 0], minlength=clusters.n_discovered_)
        traces.append(_centers(clusters, centers, titles, sizes, form))
    xaxis, yaxis = (
        axis(title, showticklabels=shown)
        for title, shown in zip(layout.titles, layout.units, strict=True)
    )
    if layout.units == (False, False):
        yaxis["scaleanchor"] = "x"
    elif not layout.units[1]:
        yaxis["showgrid"] = False
    text = (
        f"{layout.about} Large dots are known from answers, small ones are predicted. "
        "Lines are questions. Click the legend to switch things on and off."
    )
    if len(rows) < points.n:
        text += f" Drawn are {len(rows):,} of the {points.n:,} rows."
    window = _window(places)
    if window is not None:
        xaxis["range"], yaxis["range"] = window.T.tolist()
        far, far_centers = (
            int(((some < window[0]) | (some > window[1])).any(axis=1).sum())
            for some in (places, centers)
        )
        text += (
            f" {counted(far, 'row')} and {counted(far_centers, 'centre')} lie far outside this view; "
            "“autoscale” shows them."
        )
    legend = {"itemsizing": "constant"}
    drawn = {"hovermode": "closest", "legend": legend, "xaxis": xaxis, "yaxis": yaxis}
    return Figure("map", "Map", text, traces, drawn, height=640)


def _window(places: NDArray[np.float64]) -> NDArray[np.float64] | None:
    """Return the (low, high) corners around most rows, or None if the others are not far.

    D²-sampling seeks out the farthest rows, and a view that shows them all shows nothing else.
    """
    low, high = np.quantile(places, [0.05, 0.95], axis=0)
    low, high = low - (high - low), high + (high - low)
    spans, whole = high - low, places.max(axis=0) - places.min(axis=0)
    if not (spans > 0).all() or (whole <= FAR * spans).all():
        return None
    far = whole > FAR * spans
    nearest = places.min(axis=0) - 0.05 * whole, places.max(axis=0) + 0.05 * whole
    return np.where(far, [low, high], nearest)


def _rows(
    places: NDArray[np.float64],
    rows: NDArray[np.intp],
    labels: NDArray[np.intp],
    known: NDArray[np.bool_],
    titles: Sequence[str],
    form: str,
) -> list[Trace]:
    """A trace for each of the largest clusters on the map, largest first, and a grey one for all others."""
    present, counts = np.unique(labels, return_counts=True)
    largest = present[np.argsort(-counts, kind="stable")]
    own = largest if len(largest) <= MOST_IN_LEGEND + 1 else largest[:MOST_IN_LEGEND]
    spoken = {
        cluster: escape(titles[cluster]) if cluster >= 0 else "no kind"
        for cluster in present.tolist()
    }
    groups = [(spoken[cluster], labels == cluster) for cluster in own.tolist()]
    if len(own) < len(present):
        groups.append((f"{len(present) - len(own):,} others", ~np.isin(labels, own)))
    traces: list[Trace] = []
    for name, here in groups:
        # Known rows first: small dots stay visible on large ones, and the legend shows the first.
        chosen = np.concatenate([np.flatnonzero(here & known), np.flatnonzero(here & ~known)])
        mine = labels[chosen].tolist()
        one = len(set(mine)) == 1
        colors = color_of(mine[0] if one else -1)
        symbols = symbol_of(mine[0]) if one else "circle"
        traces.append(
            {
                "type": form,
                "mode": "markers",
                "name": name,
                "legendgroup": name,
                "text": name if one else [spoken[cluster] for cluster in mine],
                "x": places[chosen, 0],
                "y": places[chosen, 1],
                "customdata": np.column_stack([rows[chosen], labels[chosen]]).astype(np.int32),
                "hovertemplate": "row %{customdata[0]}, %{text}<extra></extra>",
                "marker": {
                    "color": colors,
                    "symbol": symbols,
                    "size": np.where(known[chosen], 7, 4).astype(np.int8),
                    "opacity": np.where(known[chosen], 0.9, 0.6).astype(np.float32),
                    "line": {"width": 0},
                },
            }
        )
    return traces


def _center_places(clusters: Clusters, layout: Layout) -> NDArray[np.float64]:
    count = clusters.n_discovered_
    places = layout.place(clusters.all_centers_, np.zeros(count, dtype=np.intp))
    if layout.units == (True, False):
        places = np.column_stack([places[:, 0], np.full(count, 0.5)])  # heights mean nothing
    return places


def _centers(
    clusters: Clusters,
    places: NDArray[np.float64],
    titles: Sequence[str],
    sizes: NDArray[np.intp],
    form: str,
) -> Trace:
    count = clusters.n_discovered_
    recovered = np.arange(count) < clusters.n_recovered_
    spoken = [escape(title) for title in titles]
    if recovered.any():
        state = [", settled" if yes else ", not settled" for yes in recovered]
        spoken = [name + how for name, how in zip(spoken, state, strict=True)]
    names = [escape(_shortened(title)) for title in titles]
    return {
        "type": form,
        "mode": "markers+text",
        "name": "centres",
        "x": places[:, 0],
        "y": places[:, 1],
        "text": names,  # of which the page leaves those for which there is room
        "textposition": "top center",
        "customdata": spoken,
        "hovertemplate": "centre of %{customdata}<extra></extra>",
        "marker": {
            "symbol": ["cross" if yes else "x" for yes in recovered],
            "color": [color_of(place) for place in range(count)],
            "size": 12 if count <= MOST_LARGE else 8,
            "line": {"width": 1.5},
        },
        "textfont": {"size": 13, "weight": "bold"},
        "meta": {
            "theme": {"marker.line.color": "--ink", "textfont.color": "--ink"},
            "names": names,
            "order": np.argsort(-sizes, kind="stable").tolist(),
        },
    }


def _shortened(title: str) -> str:
    return title if len(title) <= LONGEST_NAME else f"{title[: LONGEST_NAME - 1]}…"


def _segments(
    points: Points, layout: Layout, pairs: Pairs, answers: Answers, form: str
) -> list[Trace]:
    traces: list[Trace] = []
    asked = {answer: np.flatnonzero(answers == answer) for answer in (SAME, DIFFERENT)}
    shares = {SAME: MOST_SEGMENTS // 2, DIFFERENT: MOST_SEGMENTS // 2}
    for one, other in ((SAME, DIFFERENT), (DIFFERENT, SAME)):
        shares[other] += max(0, shares[one] - asked[one].size)
    for answer, name, style, color in (
        (DIFFERENT, "“different”", "dot", "--faint-line"),
        (SAME, "“same”", "solid", "--line"),
    ):
        found = asked[answer]
        if not found.size:
            continue
        if found.size > shares[answer]:  # evenly over the run
            found = found[np.linspace(0, found.size - 1, shares[answer]).astype(np.intp)]
        ends = pairs[found].reshape(-1)
        placed = layout.place(points.rows(ends), ends).reshape(-1, 2, 2)
        # A gap after each segment makes all of them one trace.
        gaps = np.full((len(placed), 1, 2), np.nan)
        x, y = np.concatenate([placed, gaps], axis=1).reshape(-1, 2).T.copy()
        hidden = answer == DIFFERENT and found.size > CROWDED
        traces.append(
            lines(
                f"{name} ({found.size:,})",
                x,
                y,
                {"width": 1, "dash": style},
                color,
                type=form,
                opacity=min(1.0, max(FAINTEST, CROWDED / found.size)),
                visible="legendonly" if hidden else True,
            )
        )
    return traces
