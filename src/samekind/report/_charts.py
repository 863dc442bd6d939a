"""Figures as data, which the page's script draws: clusters over questions, and sizes of clusters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from samekind.clusters import Clusters
from samekind.report._colors import color_of
from samekind.report._facts import shown_text

if TYPE_CHECKING:
    from markupsafe import Markup

__all__ = ["Figure", "Trace", "axis", "draw_history", "draw_sizes", "lines", "thin_steps"]

Trace = dict[str, object]
"""What Plotly draws, attribute by attribute."""

MOST_STEPS = 2_000
FEW = 8  # counts up to which every one has its mark on the axis
MOST_TICKS = 30  # clusters with their number below them
UNEVEN = 50  # largest over smallest, from which sizes need a logarithmic axis


@dataclass(frozen=True)
class Figure:
    """One plot of the page.

    A trace's ``meta["theme"]`` maps its attributes to the page's colour variables, which differ
    between light and dark.
    """

    name: str
    title: str
    text: str
    traces: list[Trace]
    layout: Mapping[str, object]
    height: int

    def json(self) -> Markup:
        """Return the figure as JSON that may stand in an HTML page; Plotly checks every attribute."""
        import plotly.graph_objects as go
        from markupsafe import Markup

        text: str = go.Figure(self.traces, {**self.layout, "template": "none"}).to_json()
        # Within a script element only "<" can end it or begin a comment.
        return Markup(text.replace("<", "\\u003c"))


def axis(title: str, **more: object) -> Trace:
    """Return an axis."""
    return {"title": {"text": escape(shown_text(title, 60))}, "zeroline": False, **more}


def lines(name: str, x: ArrayLike, y: ArrayLike, line: Trace, color: str, **more: object) -> Trace:
    """Return a trace of lines in a colour of the page."""
    theme = {"theme": {"line.color": color}}
    drawn: Trace = {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "line": line}
    return {**drawn, "hoverinfo": "skip", "meta": theme, **more}


def thin_steps(
    x: NDArray[np.int64], y: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keep the points where y changes, and the last: all that a line of steps shows.

    More than 2,000 of them are thinned evenly.
    """
    if not len(x):
        return x, y
    kept = np.flatnonzero(np.diff(y, prepend=y[0] - 1) != 0)
    if len(x) - 1 not in kept:
        kept = np.append(kept, len(x) - 1)
    if kept.size > MOST_STEPS:
        kept = kept[np.linspace(0, kept.size - 1, MOST_STEPS).astype(np.intp)]
    return x[kept], y[kept]


def draw_history(clusters: Clusters, n_true: int | None) -> Figure:
    """Draw how many clusters were known after how many questions."""
    history = clusters.history_
    traces: list[Trace] = []
    series = [("discovered", "found", "--muted", 1.5), ("recovered", "settled", "--accent", 2.5)]
    text = "A kind is found when one row of it is known, and settled when its centre is."
    if clusters.n_discovered_ and not clusters.n_recovered_:
        series = [("discovered", "found", "--accent", 2.5)]
        text = "A kind is found when one row of it is known."
    for key, name, color, width in series:
        x, y = thin_steps(history["questions"], history[key])
        hover = "%{y} " + name + " after %{x:,} questions<extra></extra>"
        line: Trace = {"shape": "hv", "width": width}
        traces.append(lines(name, x, y, line, color, hoverinfo=None, hovertemplate=hover))
    if n_true is not None:
        last = int(history["questions"][-1]) if len(history["questions"]) else 0
        x, y = np.array([0, max(1, last)]), np.array([n_true, n_true])
        dotted: Trace = {"width": 1, "dash": "dot"}
        traces.append(lines(f"there are {n_true:,}", x, y, dotted, "--muted"))
    most = max(clusters.n_discovered_, n_true or 0)
    layout = {
        "hovermode": "closest",
        "xaxis": axis("questions", rangemode="tozero", dtick=_whole(clusters.n_questions_)),
        "yaxis": axis("kinds", rangemode="tozero", nticks=6, dtick=_whole(most)),
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    }
    return Figure("history", "Kinds over questions", text, traces, layout, height=360)


def _whole(largest: int, few: int = FEW) -> int | None:
    """Return a step that keeps Plotly from marking halves of small counts; None: its own choice."""
    return 1 if largest <= few else None


def draw_sizes(
    clusters: Clusters,
    predicted: NDArray[np.intp],
    titles: Sequence[str],
    numbers: Sequence[int],
) -> Figure:
    """Draw how many rows each cluster has, known from answers and predicted."""
    known = np.array([len(members) for members in clusters.members_], dtype=np.intp)
    order = np.argsort(-predicted, kind="stable")  # the largest first
    known, predicted, places = known[order], predicted[order], order.tolist()
    ranks = np.arange(len(known))
    uneven = len(known) > 0 and predicted.max() > UNEVEN * max(1, int(known.min()))
    colors = [color_of(place) for place in places]
    series = (("all rows", predicted, 0.45, 9), ("known from answers", known, 1.0, 5))
    traces: list[Trace] = []
    for name, values, opacity, size in series:
        # A bar says nothing on a logarithmic axis, which has no zero for it to stand on.
        marker: Trace = {"color": colors, "opacity": opacity, "line": {"width": 0}}
        form: Trace = (
            {"type": "scatter", "mode": "markers", "marker": marker | {"size": size}}
            if uneven
            else {"type": "bar", "marker": marker}
        )
        traces.append(
            form
            | {
                "name": name,
                "x": ranks,
                "y": values,
                "customdata": [escape(titles[place]) for place in places],
                "hovertemplate": "%{customdata}: %{y:,} " + name + "<extra></extra>",
            }
        )
    layout = {
        "barmode": "overlay",
        "bargap": 0.25,
        "showlegend": False,
        "xaxis": axis(
            "kind, the largest first",
            showgrid=False,
            showticklabels=len(known) <= MOST_TICKS,
            tickvals=ranks.tolist(),
            ticktext=[str(numbers[place]) for place in places],
        ),
        "yaxis": axis("rows", type="log", dtick=1)
        if uneven
        else axis("rows", dtick=_whole(int(predicted.max(initial=0)))),
    }
    how = (
        "Large dots: all rows; small dots: those known from answers. The scale is logarithmic."
        if uneven
        else "Pale: all rows. Full: those known from answers."
    )
    return Figure("sizes", "Sizes", how, traces, layout, height=360)
