"""The tables in the terminal, as the paper lays out those of its real data: a row for each column value."""

from __future__ import annotations

from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from samekind.experiments.grids import grid_lines, print_lines
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

__all__ = ["print_tables"]

STYLES = {"better": "green", "within": "", "worse": "red", "open": "yellow", None: ""}


def print_tables(results: dict[str, Any], console: Console) -> None:
    """Print all tables of a bench.

    Parameters
    ----------
    results : dict
        What `run_bench` returned.
    console : rich.console.Console
        Where to print.
    """
    for data in results["datasets"].values():
        console.rule(data["title"])
        if data["note"]:
            console.print(Text(data["note"], style="italic"))
        for table in data["tables"].values():
            console.print(Text(table_title(data, table), style="bold"))
            console.print(_table(table))
            if table["remark"]:
                console.print(Text(table["remark"], style="dim"))
        for grid in data["focused"]:
            print_lines(console, f"{data['title']}: {grid['title']}", *grid_lines(grid))
        console.print(
            Text(
                f"{data['title']}: Points that took 1, 2, 3 or more questions, all classified as new",
                style="bold",
            )
        )
        console.print(_per_point(data))
    console.print(Text(LEGEND, style="dim"))
    if any(data["focused"] for data in results["datasets"].values()):
        console.print(Text(FOCUSED, style="dim"))


def _table(table: dict[str, Any]) -> Table:
    unit = table["unit"]
    with_paper = [a for a, cells in table["rows"].items() if any(c["paper"] for c in cells)]
    shown = Table(box=box.SIMPLE)
    shown.add_column(table["what"], justify="right", no_wrap=True)
    for algorithm in table["rows"]:
        if algorithm in with_paper:
            shown.add_column(f"{algorithm}\npaper", justify="right", style="dim", no_wrap=True)
        ours = f"{algorithm}\nours" if with_paper else algorithm
        shown.add_column(ours, justify="right", no_wrap=True)
    for place, column in enumerate(table["columns"]):
        line: list[Text] = [Text(f"{column:,}")]
        for algorithm, cells in table["rows"].items():
            cell = cells[place]
            if algorithm in with_paper:
                line.append(Text(paper_text(cell, unit)))
            mark = MARKS.get(cell["mark"], " " if with_paper else "")
            line.append(Text(f"{cell_text(cell, unit)} {mark}".rstrip(" "), STYLES[cell["mark"]]))
        shown.add_row(*line)
    return shown


def _per_point(data: dict[str, Any]) -> Table:
    shown = Table(box=box.SIMPLE)
    for name in PER_POINT:
        shown.add_column(name, justify="right")
    for algorithm, cells in per_point_rows(data):
        shown.add_row(algorithm, *cells)
    return shown
