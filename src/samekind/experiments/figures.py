"""The figures of the page: curves over questions with bands, and questions per point."""

from __future__ import annotations

import re
from typing import Any

from samekind.report._colors import color_of
from samekind.report._figures import Figure

__all__ = ["figures_of"]

HEIGHT = 360
LEGEND = {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}
BAND = "Lines are means, bands their 95 % intervals"
SHARES = ("1", "2", "≥ 3")

Trace = dict[str, Any]


def figures_of(name: str, data: dict[str, Any]) -> list[Figure]:
    """Return the figures of one data set."""
    ident = re.sub(r"[^a-z0-9]+", "-", name.lower())
    drawn = [_recovered(ident, data)]
    for measure in ("fixed_recovery", "centroid_error", "rounds", "sampling_time"):
        drawn.append(_over_clusters(ident, data, measure))
    if data["focused"]:
        drawn.append(_focused(ident, data))
    return [*drawn, _per_point(ident, data)]


def _recovered(ident: str, data: dict[str, Any]) -> Figure:
    table = data["tables"]["fixed_budget"]
    traces: list[Trace] = []
    for place, (algorithm, curve) in enumerate(data["curves"].items()):
        traces += _line_with_band(
            algorithm, place, curve["questions"], curve["mean"], curve["low"], curve["high"]
        )
        traces += _papers_points(algorithm, place, table)
    return Figure(
        f"{ident}-recovered",
        f"{data['title']}: clusters recovered",
        BAND + _and_paper(table),
        traces,
        _layout("questions", "clusters recovered"),
        HEIGHT,
    )


def _over_clusters(ident: str, data: dict[str, Any], measure: str) -> Figure:
    table = data["tables"][measure]
    logarithmic = measure in ("fixed_recovery", "sampling_time")
    traces: list[Trace] = []
    for place, (algorithm, cells) in enumerate(table["rows"].items()):
        full = [c for c in cells if c["reached"] == c["runs"] and c["mean"] is not None]
        x, mean, low, high = ([c[key] for c in full] for key in ("column", "mean", "low", "high"))
        if logarithmic:  # what it cannot show is cut off
            low = [
                end if end is None else max(end, m / 10) for end, m in zip(low, mean, strict=True)
            ]
        traces += _line_with_band(algorithm, place, x, mean, low, high)
        traces += _papers_points(algorithm, place, table)
    layout = _layout("clusters recovered", table["unit"])
    if logarithmic:
        layout["yaxis"] |= {"type": "log", "rangemode": "normal", **_log_marks(traces)}
    return Figure(
        f"{ident}-{measure.replace('_', '-')}",
        f"{data['title']}: {table['title'].split(',')[0].lower()}",
        BAND + _and_paper(table) + " Only where all runs got that far.",
        traces,
        layout,
        HEIGHT,
    )


def _focused(ident: str, data: dict[str, Any]) -> Figure:
    grid = data["focused"][0]
    marks = [float(name.replace(",", "")) for name in grid["rows"]]
    traces: list[Trace] = []
    for place, column in enumerate(grid["columns"]):
        if column["figure"] in ("recovered", "accurate", "discovered"):
            cells = [cells[place] for cells in grid["rows"].values()]
            mean, low, high = ([cell[key] for cell in cells] for key in ("mean", "low", "high"))
            traces += _line_with_band(column["figure"], place, marks, mean, low, high)
    return Figure(
        f"{ident}-focused",
        f"{data['title']}: focused",
        BAND + ". Recovered: declared so; accurate: with a true error of at most 10 %.",
        traces,
        _layout("questions", "clusters"),
        HEIGHT,
    )


def _per_point(ident: str, data: dict[str, Any]) -> Figure:
    traces: list[Trace] = []
    for place, (algorithm, counted) in enumerate(data["per_point"].items()):
        shares = counted["shares"]
        halves = [0 if s["high"] is None else 100 * (s["high"] - s["mean"]) for s in shares]
        traces.append(
            {
                "type": "bar",
                "name": algorithm,
                "x": list(SHARES),
                "y": [100 * share["mean"] for share in shares],
                "error_y": {"type": "data", "array": halves, "thickness": 1, "width": 3},
                "marker": {"color": color_of(place)},
                "hovertemplate": "%{y:.2f} % took %{x}<extra>" + algorithm + "</extra>",
                "meta": {"theme": {"error_y.color": "--muted"}},
            }
        )
    layout = _layout("questions", "% of the points") | {"barmode": "group", "bargap": 0.3}
    layout["xaxis"]["type"] = "category"
    return Figure(
        f"{ident}-per-point",
        f"{data['title']}: questions per point",
        "The whole data set, every point classified as if it were new.",
        traces,
        layout,
        HEIGHT,
    )


def _line_with_band(
    name: str,
    place: int,
    x: list[float],
    mean: list[float],
    low: list[float | None],
    high: list[float | None],
) -> list[Trace]:
    color = color_of(place)
    line: Trace = {
        "type": "scatter",
        "mode": "lines" if len(x) > 20 else "lines+markers",
        "name": name,
        "legendgroup": name,
        "x": x,
        "y": mean,
        "line": {"color": color, "width": 2},
        "hovertemplate": "%{y:,.4~g} at %{x:,}<extra>" + name + "</extra>",
    }
    if not x or None in low or None in high:
        return [line]
    area: Trace = {
        "type": "scatter",
        "mode": "lines",
        "name": f"{name}, 95 %",
        "legendgroup": name,
        "showlegend": False,
        "x": [*x, *reversed(x)],
        "y": [*high, *reversed(low)],
        "fill": "toself",
        "fillcolor": _pale(color),
        "line": {"width": 0},
        "hoverinfo": "skip",
    }
    return [area, line]


def _papers_points(algorithm: str, place: int, table: dict[str, Any]) -> list[Trace]:
    known = [cell for cell in table["rows"][algorithm] if cell["paper"] is not None]
    if not known:
        return []
    return [
        {
            "type": "scatter",
            "mode": "markers",
            "name": f"{algorithm}, paper",
            "legendgroup": algorithm,
            "x": [cell["column"] for cell in known],
            "y": [cell["paper"] for cell in known],
            "marker": {"color": color_of(place), "symbol": "x-thin-open", "size": 8},
            "hovertemplate": "%{y:,} at %{x:,}<extra>" + algorithm + ", paper</extra>",
        }
    ]


def _and_paper(table: dict[str, Any]) -> str:
    return "; crosses are the paper's numbers." if table["paper"] else "."


def _layout(x: str, y: str) -> dict[str, Any]:
    return {
        "hovermode": "closest",
        "legend": LEGEND,
        "xaxis": {"title": {"text": x}, "zeroline": False, "rangemode": "tozero"},
        "yaxis": {"title": {"text": y}, "zeroline": False, "rangemode": "tozero"},
    }


def _log_marks(traces: list[Trace]) -> dict[str, Any]:
    """Return which numbers a logarithmic axis shows; by itself Plotly writes some over others."""
    shown = [y for trace in traces for y in trace["y"] if y is not None and y > 0]
    span = max(shown, default=1) / min(shown, default=1)
    every_digit, one_two_five, powers_of_ten = "D1", "D2", 1
    marks = every_digit if span < 10 else one_two_five if span < 1_000 else powers_of_ten
    return {"dtick": marks, "tickformat": ",~g"}


def _pale(color: str) -> str:
    red, green, blue = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},0.2)"
