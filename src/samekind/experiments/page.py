"""All tables and figures on one HTML page that loads nothing."""

from __future__ import annotations

from html import escape
from typing import Any

from samekind.experiments.figures import figures_of
from samekind.experiments.text import (
    LEGEND,
    MARKS,
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
    note = f'<p class="caption">{escape(data["note"])}</p>' if data["note"] else ""
    return (
        f"<section><h2>{escape(data['title'])}</h2>{note}"
        + "".join(_table(data, table) for table in data["tables"].values())
        + _per_point(data)
        + "</section>"
    )


def _table(data: dict[str, Any], table: dict[str, Any]) -> str:
    unit = table["unit"]
    head = [table["what"]]
    for algorithm in table["rows"]:
        head += [f"{algorithm}, paper", "ours"] if table["paper"] else [algorithm]
    lines = []
    for place, column in enumerate(table["columns"]):
        line = [f'<td class="number">{column:,}</td>']
        for cells in table["rows"].values():
            cell = cells[place]
            if table["paper"]:
                line.append(f'<td class="number row">{paper_text(cell, unit)}</td>')
            style = CLASSES.get(cell["mark"], "")
            text = f"{cell_text(cell, unit)} {MARKS.get(cell['mark'], '')}".strip()
            line.append(f'<td class="number {style}">{escape(text)}</td>')
        lines.append("".join(line))
    return _html_table(table_title(data, table), head, lines)


def _per_point(data: dict[str, Any]) -> str:
    head = ["algorithm", "1", "2", "≥ 3", "mean"]
    lines = [
        f"<td>{escape(algorithm)}</td>" + "".join(f'<td class="number">{c}</td>' for c in cells)
        for algorithm, cells in per_point_rows(data)
    ]
    title = f"{data['title']}: points that took 1, 2, 3 or more questions, all classified as new"
    return _html_table(title, head, lines)


def _html_table(title: str, head: list[str], lines: list[str]) -> str:
    heads = "".join(f'<th class="number">{escape(name)}</th>' for name in head)
    rows = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f'<h3 style="margin: 24px 0 4px">{escape(title)}</h3><div class="scroll"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
