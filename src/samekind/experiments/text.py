"""How numbers are shown, in the terminal and on the page."""

from __future__ import annotations

from typing import Any

__all__ = [
    "FOCUSED",
    "LEGEND",
    "MARKS",
    "PER_POINT",
    "cell_text",
    "number",
    "paper_text",
    "per_point_rows",
    "table_title",
]

MARKS = {"better": "▲", "within": "≈", "worse": "▼", "open": "?"}
LEGEND = (
    "± is the 95 % interval of our mean. ▲ better than the paper, ▼ worse, ≈ the paper's number lies "
    "within the interval, ? cannot be said. “12 of 20” is how many runs got that far; the number before "
    "it is their mean. “>”: no run got there with so many questions per cluster."
)
PER_POINT = ("algorithm", "1", "2", "≥ 3", "mean", "after questions")
DECIMALS = {"clusters": 2, "questions": 2, "%": 2, "rounds": 2, "seconds": 3}
DECIMALS |= {"index": 3, "pairs": 1, "% of runs": 0, "times": 2}
FOCUSED = (
    "Of “focused”: recovered, declared so by itself; accurate, discovered and with a centre whose true "
    "error is at most 10 %; discovered, true clusters with a labelled row; provisional, clusters still "
    "to be merged with others; median error of the centres of all discovered clusters; ARI, adjusted "
    "Rand index of all labels; unproven, pairs of clusters that nobody was asked about; then the bounds "
    "of the certificate on the rows in undiscovered clusters and on wrong labels, and in how many runs "
    "both are true."
)


def number(value: float | None, unit: str) -> str:
    """Return a number as its table shows it."""
    return "–" if value is None else f"{value:,.{DECIMALS[unit]}f}"


def paper_text(cell: dict[str, Any], unit: str) -> str:
    """Return the paper's number."""
    return "" if cell["paper"] is None else number(cell["paper"], unit)


def cell_text(cell: dict[str, Any], unit: str) -> str:
    """Return our number with its interval, or its deviation if it has one, without its mark.

    Examples
    --------
    >>> cell_text({"mean": 17.0, "low": 16.5, "high": 17.5, "runs": 9}, "clusters")
    '17.00 ± 0.50'
    >>> cell_text({"mean": None, "runs": 9, "reached": 0, "at_least": 250.0}, "questions")
    '> 250.00'
    """
    reached, runs = cell.get("reached", cell["runs"]), cell["runs"]
    if runs == 0:
        return "–"
    if reached == 0:
        return f"> {number(cell['at_least'], unit)}" if "at_least" in cell else "not reached"
    text = number(cell["mean"], unit) if cell["mean"] is not None else "infinite"
    if "deviation" in cell:
        text += f" ± {number(cell['deviation'], unit)}" if cell["deviation"] is not None else ""
    elif cell["high"] is not None:
        text += f" ± {number(cell['high'] - cell['mean'], unit)}"
    if "asked" in cell:
        text += " *"
    return text if reached == runs else f"{text} ({reached} of {runs})"


def table_title(data: dict[str, Any], table: dict[str, Any]) -> str:
    """Return a heading that cites the paper's table."""
    unit = f" ({table['unit']})" if table["unit"] in ("%", "seconds") else ""
    source = f" — paper: “{table['paper']['caption']}”" if table["paper"] else ""
    return f"{data['title']}: {table['title']}{unit}{source}"


def per_point_rows(data: dict[str, Any]) -> list[tuple[str, list[str]]]:
    """Return for every algorithm the shares of points that took 1, 2, and more questions, and the mean.

    The last item is how many questions had been asked before.
    """
    rows = []
    for algorithm, counted in data["per_point"].items():
        cells = [f"{100 * share['mean']:.2f} %" for share in counted["shares"]]
        mean, after = counted["mean"]["mean"], counted["after"]["mean"]
        rows.append((algorithm, [*cells, f"{mean:.3f}", f"{after:,.0f}"]))
    return rows
