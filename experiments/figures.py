"""The figures of a page: means over questions or clusters, with their intervals, as SVG in its colours."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure as Plot
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator

from experiments.metrics import METRICS, PER_POINT
from experiments.results import Results

COLORS = ("#3771d1", "#fe6a00", "#2eb27a", "#b82989", "#876114", "#c780f7", "#4ea4ca", "#8a94a0")
INK, MUTED, GRID = "#010203", "#040506", "#070809"
THEME = {INK: "var(--ink)", MUTED: "var(--muted)", GRID: "var(--grid)"}
"""Colours that the page has, light or dark, and what stands for them until the SVG is written."""
STYLE: dict[Any, Any] = {  # Matplotlib types its keys one by one
    "svg.fonttype": "none",
    "font.size": 9.5,
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.edgecolor": GRID,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": GRID,
    "xtick.color": GRID,
    "ytick.color": GRID,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
}
LEAN = {
    r"<metadata>.*?</metadata>\s*": "",
    r'<g id="[^"]*"': "<g",  # the same in every figure, and nothing refers to them
    r"font-family: [^;\"]*": "font-family: inherit",  # the page's own
    r"(\.\d\d)\d+": r"\1",  # a hundredth of a point is enough
    r"\s*\n\s*": "\n",
}
"""What need not be in the SVG, and what stands instead."""
LOGARITHMIC = ("fixed_recovery", "sampling_time")
BAND = "Lines are means, bands their 95 % intervals"
LEGEND = 3  # names beside each other
MANY = 20  # points of a line beyond which they are not marked


@dataclass(frozen=True)
class Figure:
    """A plot with its title and caption; `name` is unique on the page."""

    name: str
    title: str
    caption: str
    plot: Plot

    @property
    def svg(self) -> str:
        """The plot as an element of an HTML page, in the page's font and colours."""
        file = io.StringIO()
        with mpl.rc_context(STYLE | {"svg.hashsalt": self.name}):  # names in it are unique, too
            self.plot.savefig(file, format="svg", transparent=True)
        text = file.getvalue()[file.getvalue().index("<svg") :]
        for pattern, instead in LEAN.items():
            text = re.sub(pattern, instead, text, flags=re.DOTALL)
        for color, variable in THEME.items():
            text = text.replace(color, variable)
        return text


def figures_of(results: Results, data: str) -> list[Figure]:
    """Return the figures of a data set."""
    part = results.of(data)
    ident = data.replace(".", "-")
    with mpl.rc_context(STYLE):
        if results.experiment == "peers":
            return [_agreement(ident, part)]
        if results.experiment == "paper":
            return list(_paper_figures(ident, part))
    return []


def _paper_figures(ident: str, part: pd.DataFrame) -> Iterator[Figure]:
    plot, axes = _plot("questions", "clusters recovered")
    budget = part[part["metric"] == "fixed_budget"]
    for algorithm, line in _by(part[part["metric"] == "curve"], "algorithm"):
        _add_line(axes, algorithm, line, budget)
    yield _figure(f"{ident}-recovered", "Clusters recovered", BAND + _crosses(budget), plot)
    for name in ("fixed_recovery", "centroid_error", "rounds", "sampling_time"):
        metric, cells = METRICS[name], part[part["metric"] == name]
        plot, axes = _plot("clusters recovered", metric.unit)
        for algorithm, line in _by(cells, "algorithm"):
            full = line[(line["reached"] == line["runs"]) & line["mean"].notna()]
            if name in LOGARITHMIC:  # what it cannot show is cut off
                full = full.assign(low=np.maximum(full["low"], full["mean"] / 10))
            _add_line(axes, algorithm, full, cells)
        if name in LOGARITHMIC:
            axes.set_yscale("log")
            axes.yaxis.set_major_locator(LogLocator(subs=_log_digits(cells)))
            axes.yaxis.set_minor_locator(NullLocator())
        caption = BAND + _crosses(cells) + " Only where all runs got that far."
        title = metric.title.split(",")[0]
        yield _figure(f"{ident}-{name.replace('_', '-')}", title, caption, plot)
    at_marks = part[part["metric"].isin(["recovered", "accurate", "discovered"])]
    if len(at_marks):
        plot, axes = _plot("questions", "clusters")
        for name, line in _by(at_marks, "metric"):
            _add_line(axes, name, line)
        caption = BAND + ". Recovered: declared so; accurate: with a true error of at most 10 %."
        yield _figure(f"{ident}-focused", "“focused”", caption, plot)
    yield _figure(
        f"{ident}-per-point",
        "Questions per point",
        "The whole data set, every point classified as if it were new.",
        _bars(part[part["metric"].isin(PER_POINT[:3])]),
    )


def _agreement(ident: str, part: pd.DataFrame) -> Figure:
    plot, axes = _plot("questions", "adjusted Rand index")
    reached = part[(part["metric"] == "ari") & (part["reached"] > 0)]
    for algorithm, line in _by(reached, "algorithm"):
        axes.errorbar(
            line["at"],
            line["mean"],
            (line["high"] - line["mean"]).fillna(0),
            label=algorithm,
            color=_color(axes),
            marker="o",
            markersize=3.5,
            elinewidth=0.7,
            capsize=2,
        )
    axes.set_xscale("log")
    axes.xaxis.set_major_locator(FixedLocator(sorted(part["at"].unique())))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_ylim(0, 1.02)
    return _figure(f"peers-{ident}", "Adjusted Rand index", "Means, with 95 % intervals.", plot)


def _bars(part: pd.DataFrame) -> Plot:
    plot, axes = _plot("questions", "% of the points")
    lines = list(_by(part, "algorithm"))
    for place, (algorithm, line) in enumerate(lines):
        width = 0.8 / len(lines)
        axes.bar(
            np.arange(len(line)) + (place - (len(lines) - 1) / 2) * width,
            line["mean"],
            width,
            yerr=(line["high"] - line["mean"]).fillna(0),
            label=algorithm,
            color=_color(axes),
            error_kw={"elinewidth": 0.7, "capsize": 2, "ecolor": MUTED},
        )
    titles = [METRICS[name].title for name in dict.fromkeys(part["metric"])]
    axes.set_xticks(range(len(titles)), titles)
    axes.grid(visible=False, axis="x")
    return plot


def _by(part: pd.DataFrame, column: str) -> Iterator[tuple[str, pd.DataFrame]]:
    for name, lines in part.groupby(column, sort=False):
        yield str(name), lines


def _plot(x: str, y: str) -> tuple[Plot, Axes]:
    plot = Plot(figsize=(6.4, 4.3), layout="constrained")
    axes = plot.add_subplot()
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return plot, axes


def _figure(name: str, title: str, caption: str, plot: Plot) -> Figure:
    """Finish a plot: axes from zero if they are linear, numbers with commas, one legend above."""
    [axes] = plot.axes
    for axis, limit in ((axes.xaxis, axes.set_xlim), (axes.yaxis, axes.set_ylim)):
        if axis.get_scale() == "linear" and not isinstance(axis.get_major_locator(), FixedLocator):
            limit(0, None)
            axis.set_major_locator(MaxNLocator(6, steps=[1, 2, 5, 10]))
        if not isinstance(axis.get_major_locator(), FixedLocator) or axis.get_scale() == "log":
            axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        plot.legend(handles, labels, loc="outside upper left", ncols=min(LEGEND, len(labels)))
    return Figure(name, title, caption, plot)


def _color(axes: Axes) -> str:
    """Return the colour of the next name."""
    return COLORS[len(axes.get_legend_handles_labels()[1]) % len(COLORS)]


def _add_line(axes: Axes, name: str, line: pd.DataFrame, cells: pd.DataFrame | None = None) -> None:
    """Add a line with its band, and the paper's numbers for it among the cells as crosses."""
    color, at = _color(axes), line["at"].to_numpy(dtype=float)
    if len(line) and line[["low", "high"]].notna().all(axis=None):
        axes.fill_between(at, line["low"], line["high"], color=color, alpha=0.2, linewidth=0)
    marker = "" if len(line) > MANY else "o"
    axes.plot(at, line["mean"], label=name, color=color, marker=marker, markersize=3.5)
    if cells is not None:
        known = cells[(cells["algorithm"] == name) & cells["paper"].notna()]
        axes.plot(known["at"], known["paper"], color=color, marker="x", linestyle="")


def _crosses(cells: pd.DataFrame) -> str:
    return "; crosses are the paper's numbers." if cells["paper"].notna().any() else "."


def _log_digits(cells: pd.DataFrame) -> tuple[float, ...]:
    """Return which leading digits a logarithmic axis shows: fewer, the more powers of ten there are."""
    shown = cells[["mean", "low", "high", "paper"]].to_numpy(dtype=float)
    shown = shown[shown > 0]
    span = shown.max() / shown.min() if shown.size else 1.0
    every_digit, one_two_five = (1, 2, 3, 4, 5, 6, 8), (1, 2, 5)
    return every_digit if span < 10 else one_two_five if span < 1_000 else (1.0,)
