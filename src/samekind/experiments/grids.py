"""Tables whose columns are different figures: in results, in the terminal and on a page."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from samekind.experiments.readings import AT_MARKS, READINGS, Reading
from samekind.experiments.text import cell_text

__all__ = [
    "Asked",
    "column",
    "focused_grids",
    "grid_lines",
    "html_frame",
    "html_table",
    "make_grid",
    "print_lines",
]

Record = dict[str, Any]
Asked = tuple[str, float]
"""The name of a reading, and after how many questions it is taken (or at which level)."""


def make_grid(
    title: str,
    what: str,
    columns: Sequence[Asked],
    rows: Iterable[tuple[str, Sequence[Record]]],
) -> dict[str, Any]:
    """Return a table with a column for each reading and a row for each group of runs."""
    return {
        "title": title,
        "what": what,
        "columns": [column(READINGS[name], READINGS[name].text(at)) for name, at in columns],
        "rows": {
            row: [READINGS[name].cell(records, at) for name, at in columns] for row, records in rows
        },
    }


def focused_grids(records: Sequence[Record]) -> list[dict[str, Any]]:
    """Return the tables of "focused", with a row for each mark."""
    marks: list[int] = records[0]["setup"]["marks"]
    with_ari = records[0]["looks"][0]["ari"] is not None  # not of large data
    grids = []
    for title, names in AT_MARKS.items():
        shown = [READINGS[name] for name in names if name != "ari" or with_ari]
        grids.append(
            {
                "title": title,
                "what": "questions",
                "columns": [column(reading, reading.title) for reading in shown],
                "rows": {
                    f"{mark:,}": [reading.cell(records, mark) for reading in shown]
                    for mark in marks
                },
            }
        )
    return grids


def column(reading: Reading, title: str) -> dict[str, str]:
    """Return what a table says of a column."""
    return {"figure": reading.name, "title": title, "unit": reading.unit}


def grid_lines(grid: dict[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return head and lines of a table as texts."""
    units = [column["unit"] for column in grid["columns"]]
    head = [
        grid["what"],
        *(c["title"] + (f", {c['unit']}" if c["unit"][0] == "%" else "") for c in grid["columns"]),
    ]
    lines = [
        [name, *(cell_text(cell, unit) for cell, unit in zip(cells, units, strict=True))]
        for name, cells in grid["rows"].items()
    ]
    return head, lines


def print_lines(
    console: Console, title: str, head: Sequence[str], lines: Iterable[Sequence[str]]
) -> None:
    """Print a table of texts."""
    table = Table(box=box.SIMPLE)
    for place, name in enumerate(head):
        table.add_column(name, justify="right" if place else "left", no_wrap=not place)
    for line in lines:
        table.add_row(*map(Text, line))
    console.print(Text(title, style="bold"))
    console.print(table)


def html_table(title: str, head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table of texts as HTML."""
    cells = (
        "".join(f'<td class="{"number" if i else ""}">{escape(t)}</td>' for i, t in enumerate(line))
        for line in lines
    )
    return html_frame(title, head, cells)


def html_frame(title: str, head: Sequence[str], lines: Iterable[str]) -> str:
    """Return a table as HTML whose lines are HTML already."""
    heads = "".join(f'<th class="number">{escape(name)}</th>' for name in head)
    rows = "".join(f"<tr>{line}</tr>" for line in lines)
    return (
        f'<h3 style="margin: 24px 0 4px">{escape(title)}</h3><div class="scroll"><table>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></div>"
    )
