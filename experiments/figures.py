"""The figures of a page: means over questions or clusters, with their intervals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from experiments.metrics import METRICS, PER_POINT
from experiments.results import Results

COLORS = ("#3771d1", "#fe6a00", "#2eb27a", "#b82989", "#876114", "#c780f7", "#4ea4ca")
LOGARITHMIC = ("fixed_recovery", "sampling_time")
BAND = "Lines are means, bands their 95 % intervals"
AREA = {"mode": "lines", "fill": "toself", "opacity": 0.2, "line": {"width": 0}}
AREA |= {"showlegend": False, "hoverinfo": "skip"}
CROSS = {"mode": "markers", "marker": {"symbol": "x-thin-open", "size": 8}, "showlegend": False}


@dataclass(frozen=True)
class Figure:
    """A plot with its title and caption; `name` is unique on the page."""

    name: str
    title: str
    caption: str
    plot: go.Figure

    @property
    def json(self) -> str:
        """The plot as JSON that may stand in an HTML page: only "<" could end its element."""
        text: str = self.plot.to_json()
        return text.replace("<", "\\u003c")


def figures_of(results: Results, data: str) -> list[Figure]:
    """Return the figures of a data set."""
    part = results.of(data)
    ident = data.replace(".", "-")
    if results.experiment == "peers":
        return [_agreement(ident, part)]
    if results.experiment == "paper":
        return list(_paper_figures(ident, part))
    return []


def _paper_figures(ident: str, part: pd.DataFrame) -> Iterator[Figure]:
    plot = _plot("questions", "clusters recovered")
    budget = part[part["metric"] == "fixed_budget"]
    for algorithm, line in _by(part[part["metric"] == "curve"], "algorithm"):
        _add_line(plot, algorithm, line)
        _add_crosses(plot, algorithm, budget)
    yield Figure(f"{ident}-recovered", "Clusters recovered", BAND + _crosses(budget), plot)
    for name in ("fixed_recovery", "centroid_error", "rounds", "sampling_time"):
        metric, cells = METRICS[name], part[part["metric"] == name]
        plot = _plot("clusters recovered", metric.unit)
        for algorithm, line in _by(cells, "algorithm"):
            full = line[(line["reached"] == line["runs"]) & line["mean"].notna()]
            if name in LOGARITHMIC:  # what it cannot show is cut off
                full = full.assign(low=np.maximum(full["low"], full["mean"] / 10))
            _add_line(plot, algorithm, full)
            _add_crosses(plot, algorithm, cells)
        if name in LOGARITHMIC:
            plot.update_yaxes(type="log", rangemode="normal", **_log_ticks(cells))
        caption = BAND + _crosses(cells) + " Only where all runs got that far."
        title = metric.title.split(",")[0]
        yield Figure(f"{ident}-{name.replace('_', '-')}", title, caption, plot)
    at_marks = part[part["metric"].isin(["recovered", "accurate", "discovered"])]
    if len(at_marks):
        plot = _plot("questions", "clusters")
        for name, line in _by(at_marks, "metric"):
            _add_line(plot, name, line)
        caption = BAND + ". Recovered: declared so; accurate: with a true error of at most 10 %."
        yield Figure(f"{ident}-focused", "“focused”", caption, plot)
    yield Figure(
        f"{ident}-per-point",
        "Questions per point",
        "The whole data set, every point classified as if it were new.",
        _bars(part[part["metric"].isin(PER_POINT[:3])]),
    )


def _agreement(ident: str, part: pd.DataFrame) -> Figure:
    plot = _plot("questions", "adjusted Rand index")
    for algorithm, line in _by(part[part["metric"] == "ari"], "algorithm"):
        hover = "%{y:.3f} after %{x:,}"
        _add(plot, go.Scatter, algorithm, line["at"], line["mean"], hover, error_y=_whiskers(line))
    budgets = sorted(part["at"].unique())
    ticks = {"tickvals": budgets, "ticktext": [f"{budget:,.0f}" for budget in budgets]}
    plot.update_xaxes(type="log", rangemode="normal", **ticks)
    plot.update_yaxes(range=[0, 1.02])
    return Figure(f"peers-{ident}", "Adjusted Rand index", "Means, with 95 % intervals.", plot)


def _bars(part: pd.DataFrame) -> go.Figure:
    plot = _plot("questions", "% of the points")
    for algorithm, line in _by(part, "algorithm"):
        titles = line["metric"].map(lambda name: METRICS[name].title)
        hover = "%{y:.2f} % took %{x}"
        _add(plot, go.Bar, algorithm, titles, line["mean"], hover, error_y=_whiskers(line))
    return plot.update_layout(barmode="group", bargap=0.3).update_xaxes(type="category")


def _whiskers(line: pd.DataFrame) -> dict[str, object]:
    half = (line["high"] - line["mean"]).fillna(0)
    return {"type": "data", "array": half.tolist(), "thickness": 1, "width": 3}


def _by(part: pd.DataFrame, column: str) -> Iterator[tuple[str, pd.DataFrame]]:
    for name, lines in part.groupby(column, sort=False):
        yield str(name), lines


def _plot(x: str, y: str) -> go.Figure:
    legend = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
    plot = go.Figure(layout={"template": "none", "hovermode": "closest", "legend": legend})
    plot.update_xaxes(title=x, rangemode="tozero")
    return plot.update_yaxes(title=y, rangemode="tozero")


def _add(
    plot: go.Figure, kind: type, name: str, x: pd.Series, y: pd.Series, hover: str, **style: object
) -> None:
    """Add a trace; those of one name have one colour and one entry in the legend."""
    names = list(dict.fromkeys(trace.legendgroup for trace in plot.data))
    place = names.index(name) if name in names else len(names)
    trace = kind(name=name, legendgroup=name, x=x.tolist(), y=y.tolist())
    trace.marker.color = COLORS[place % len(COLORS)]
    trace.update(style, hovertemplate=f"{hover}<extra>{name}</extra>")
    plot.add_trace(trace)


def _add_line(plot: go.Figure, name: str, line: pd.DataFrame) -> None:
    if len(line) and line[["low", "high"]].notna().all(axis=None):
        there_and_back = pd.concat([line["at"], line["at"][::-1]])
        around = pd.concat([line["high"], line["low"][::-1]])
        _add(plot, go.Scatter, name, there_and_back, around, "", **AREA)
    mode = "lines" if len(line) > 20 else "lines+markers"
    _add(plot, go.Scatter, name, line["at"], line["mean"], "%{y:,.4~g} at %{x:,}", mode=mode)


def _add_crosses(plot: go.Figure, algorithm: str, cells: pd.DataFrame) -> None:
    known = cells[(cells["algorithm"] == algorithm) & cells["paper"].notna()]
    if len(known):
        hover = "paper: %{y:,} at %{x:,}"
        _add(plot, go.Scatter, algorithm, known["at"], known["paper"], hover, **CROSS)


def _crosses(cells: pd.DataFrame) -> str:
    return "; crosses are the paper's numbers." if cells["paper"].notna().any() else "."


def _log_ticks(cells: pd.DataFrame) -> dict[str, object]:
    """Return which numbers a logarithmic axis shows; by itself Plotly writes some over others."""
    shown = cells[["mean", "low", "high", "paper"]].to_numpy(dtype=float)
    shown = shown[shown > 0]
    span = shown.max() / shown.min() if shown.size else 1.0
    every_digit, one_two_five, powers_of_ten = "D1", "D2", 1
    dtick = every_digit if span < 10 else one_two_five if span < 1_000 else powers_of_ten
    return {"dtick": dtick, "tickformat": ",~g"}
