"""All tables and figures on one HTML page that loads nothing."""

from __future__ import annotations

from html import escape
from typing import Any

from samekind.experiments.figures import figures_of
from samekind.experiments.grids import grid_lines, html_frame, html_table
from samekind.experiments.text import (
    FOCUSED,
    LEGEND,
    MARKS,
    PER_POINT,
    cell_text,
    paper_text,
    per_point_rows,
    table_title,
)
from samekind.report._page import page

__all__ = ["page_of"]

CLASSES = {"worse": "bad", "open": "warn"}


def page_of(results: dict[str, Any]) -> str:
    """Return the page of a bench, made from nothing but its results."""
    data = results["datasets"]
    # A note says that it is not the paper's data: the paper's numbers are then no mark to meet.
    others = [one["title"] for one in data.values() if one["note"]]
    cells = [
        cell
        for one in data.values()
        if not one["note"]
        for table in one["tables"].values()
        for row in table["rows"].values()
        for cell in row
    ]
    counted = {mark: sum(cell["mark"] == mark for cell in cells) for mark in MARKS}
    tiles = {
        "of the paper's numbers beaten": counted["better"],
        "met within the interval": counted["within"],
        "missed": counted["worse"],
        "cannot be said": counted["open"],
    }
    versions = ", ".join(f"{name} {number}" for name, number in results["made_by"].items())
    facts = {
        "data": "; ".join(one["title"] for one in data.values()),
        "runs": "; ".join(f"{_runs(one)} on {one['title']}" for one in data.values()),
        "seeds": results["seeds"],
        "made by": f"{versions}; {results['machine']['cores']} cores",
    }
    if others:
        facts["not counted above"] = "; ".join(others) + ": not the paper's data"
    if results["skipped"]:
        facts["left out"] = "; ".join(f"{n}: {why}" for n, why in results["skipped"].items())
    return page(
        title="The paper's experiments, run again",
        lead="Li, Song and Zhang, <em>Learning to Cluster via Same-Cluster Queries</em> (2021), "
        "Section 5: the paper's numbers, means of 100 runs, and ours beside them.",
        tiles="".join(f"<div><dt>{escape(k)}</dt><dd>{v:,}</dd></div>" for k, v in tiles.items()),
        facts="".join(
            f"<div><dt>{escape(k)}</dt><dd>{escape(v)}</dd></div>" for k, v in facts.items()
        ),
        figures=[figure for name, one in data.items() for figure in figures_of(name, one)],
        exemplars=f'<h2>Tables</h2><p class="caption">{escape(LEGEND)}</p>'
        + "".join(map(_tables, data.values())),
    )


def _runs(data: dict[str, Any]) -> int:
    rows = data["tables"]["fixed_budget"]["rows"].values()
    return max(int(cell["runs"]) for row in rows for cell in row)


def _tables(data: dict[str, Any]) -> str:
    return (
        f"<section><h2>{escape(data['title'])}</h2>{_caption(data['note'])}"
        + "".join(_table(data, table) for table in data["tables"].values())
        + _focused(data)
        + _per_point(data)
        + "</section>"
    )


def _table(data: dict[str, Any], table: dict[str, Any]) -> str:
    unit = table["unit"]
    with_paper = [a for a, cells in table["rows"].items() if any(c["paper"] for c in cells)]
    head = [table["what"]]
    for algorithm in table["rows"]:
        head += [f"{algorithm}, paper", "ours"] if algorithm in with_paper else [algorithm]
    lines = []
    for place, column in enumerate(table["columns"]):
        line = [f'<td class="number">{column:,}</td>']
        for algorithm, cells in table["rows"].items():
            cell = cells[place]
            if algorithm in with_paper:
                line.append(f'<td class="number row">{paper_text(cell, unit)}</td>')
            style = CLASSES.get(cell["mark"], "")
            text = f"{cell_text(cell, unit)} {MARKS.get(cell['mark'], '')}".strip()
            line.append(f'<td class="number {style}">{escape(text)}</td>')
        lines.append("".join(line))
    return html_frame(table_title(data, table), head, lines) + _caption(table["remark"])


def _focused(data: dict[str, Any]) -> str:
    grids = data["focused"]
    tables = [html_table(f"{data['title']}: {grid['title']}", *grid_lines(grid)) for grid in grids]
    return "".join(tables) + _caption(FOCUSED if grids else "")


def _per_point(data: dict[str, Any]) -> str:
    title = f"{data['title']}: points that took 1, 2, 3 or more questions, all classified as new"
    lines = [[algorithm, *cells] for algorithm, cells in per_point_rows(data)]
    return html_table(title, PER_POINT, lines)


def _caption(text: str) -> str:
    return f'<p class="caption">{escape(text)}</p>' if text else ""
