"""The comparison with peers, in the terminal and on a page."""

from __future__ import annotations

from html import escape
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from samekind.report._colors import color_of
from samekind.report._figures import Figure
from samekind.report._page import page

__all__ = ["peer_page", "print_peers"]

EXPLAINED = (
    "After so many questions: the adjusted Rand index of all points, and the true clusters found (those that "
    "are the majority of some cluster). Seconds and memory are of the last budget that was reached."
)


def print_peers(results: dict[str, Any], console: Console) -> None:
    """Print the comparison."""
    for data in results["datasets"].values():
        console.rule(data["title"])
        table = Table(box=box.SIMPLE)
        for number, name in enumerate(_head(results)):
            table.add_column(name, justify="right" if number else "left")
        for line in _lines(data):
            table.add_row(*map(Text, line))
        console.print(table)
    for name, why in results["skipped"].items():
        console.print(Text(f"{name} is left out: {why}."))
    console.print(Text(EXPLAINED, style="dim"))


def peer_page(results: dict[str, Any]) -> str:
    """Return the comparison as one HTML page that loads nothing."""
    versions = ", ".join(f"{name} {number}" for name, number in results["made_by"].items())
    remarks = {
        name: row["remark"]
        for data in results["datasets"].values()
        for name, row in data["rows"].items()
    }
    runs = max(
        (
            cell["runs"]
            for data in results["datasets"].values()
            for row in data["rows"].values()
            for cell in row["cells"]
        ),
        default=0,
    )
    facts = remarks | results["skipped"]
    facts |= {"runs": f"{runs} of each, of {results['limit']} s at most", "made by": versions}
    return page(
        title="Beside its peers",
        lead=escape(EXPLAINED),
        tiles="",
        facts="".join(
            f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in facts.items()
        ),
        figures=[
            _figure(results["budgets"], name, data) for name, data in results["datasets"].items()
        ],
        exemplars="".join(_html(results, data) for data in results["datasets"].values()),
    )


def _head(results: dict[str, Any]) -> list[str]:
    columns = [f"{budget:,} questions" for budget in results["budgets"]]
    return ["", *columns, "seconds", "MB", ""]


def _lines(data: dict[str, Any]) -> list[list[str]]:
    lines = []
    for name, row in data["rows"].items():
        there = [cell for cell in row["cells"] if cell["reached"]]
        last = there[-1] if there else None
        lines.append(
            [
                name,
                *map(_cell, row["cells"]),
                f"{last['seconds']['mean']:,.1f}" if last else "–",
                f"{last['memory_mb']['mean']:,.0f}" if last and last["memory_mb"]["mean"] else "–",
                "; ".join([*row["unfinished"], *row["failed"]]),
            ]
        )
    return lines


def _cell(cell: dict[str, Any]) -> str:
    if not cell["reached"]:
        return "–"
    text = f"{cell['ari']['mean']:.3f}, {cell['found']['mean']:.1f} found"
    return (
        text if cell["reached"] == cell["runs"] else f"{text} ({cell['reached']} of {cell['runs']})"
    )


def _figure(budgets: list[int], name: str, data: dict[str, Any]) -> Figure:
    traces = []
    for place, (peer, row) in enumerate(data["rows"].items()):
        there = [cell for cell in row["cells"] if cell["reached"]]
        means = [cell["ari"]["mean"] for cell in there]
        highs = [cell["ari"]["high"] for cell in there]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": peer,
                "x": [cell["budget"] for cell in there],
                "y": means,
                "error_y": {
                    "type": "data",
                    "array": [0 if h is None else h - m for h, m in zip(highs, means, strict=True)],
                    "thickness": 1,
                },
                "line": {"color": color_of(place), "width": 2},
                "hovertemplate": "%{y:.3f} after %{x:,}<extra>" + peer + "</extra>",
            }
        )
    layout = {
        "hovermode": "closest",
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        "xaxis": {
            "title": {"text": "questions"},
            "type": "log",
            "zeroline": False,
            "tickvals": budgets,
            "ticktext": [f"{budget:,}" for budget in budgets],
        },
        "yaxis": {"title": {"text": "adjusted Rand index"}, "range": [0, 1.02], "zeroline": False},
    }
    text = "Means, with 95 % intervals."
    return Figure(f"peers-{name}", data["title"], text, traces, layout, 360)


def _html(results: dict[str, Any], data: dict[str, Any]) -> str:
    heads = "".join(f"<th>{escape(name)}</th>" for name in _head(results))
    rows = "".join(
        "<tr>" + "".join(f"<td>{escape(text)}</td>" for text in line) + "</tr>"
        for line in _lines(data)
    )
    return (
        f'<h2>{escape(data["title"])}</h2><div class="scroll"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div>"
    )
