"""Tables of texts from a summary: the same ones for the terminal and for pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from experiments.benchmark_data import DATA
from experiments.metrics import AT_MARKS, METRICS, NOISY_COLUMNS, PAPER_METRICS, PER_POINT
from experiments.results import Results
from experiments.store import Record
from experiments.targets import paper_captions

MARKS = {"better": "△", "within": "≈", "worse": "▽", "open": "?"}
STYLES = {"paper": "dim", "better": "green", "worse": "red", "open": "yellow", "missed": "red"}
NOTHING = "–"
BY_QUESTIONS = ("fixed_budget",)  # metrics of the paper that are read after so many questions


@dataclass(frozen=True)
class Table:
    """A title, texts with what stands above and beside them, and for each text a style (or "")."""

    title: str
    corner: str
    texts: pd.DataFrame
    styles: pd.DataFrame
    caption: str = ""

    @property
    def head(self) -> list[str]:
        """What stands in the first line."""
        return [self.corner, *map(str, self.texts.columns)]

    def lines(self) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        """Yield for each line what stands before it, and its texts with their styles."""
        for name, texts, styles in zip(
            self.texts.index, self.texts.to_numpy(), self.styles.to_numpy(), strict=True
        ):
            yield str(name), list(zip(texts, styles, strict=True))

    def markdown(self) -> str:
        """Return the table as Markdown."""
        lines = [self.head, ["---"] * len(self.head)]
        lines += [[name, *(text for text, _ in cells)] for name, cells in self.lines()]
        return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def tables_of(results: Results) -> dict[str, list[Table]]:
    """Return the tables of each data set, and under "" those of all."""
    if results.experiment == "paper":
        return {data: _paper_tables(results, data) for data in results.data}
    if results.experiment == "peers":
        return {data: [_peers(results, data)] for data in results.data}
    tables: dict[str, list[Table]] = {}
    summary = results.summary
    if results.experiment != "focused":
        tables = {data: [_study(results, data)] for data in results.data}
    if results.experiment == "ablation":
        tables[""] = [_losses(summary)]
    if summary["required"].notna().any():
        tables[""] = [_required(summary[summary["required"].notna()])]
    return tables


def print_table(table: Table, console: Console) -> None:
    """Print a table."""
    shown = RichTable(box=box.SIMPLE)
    numbered = all(name[:1].isdigit() for name in map(str, table.texts.index))
    for place, name in enumerate(table.head):
        head = re.sub(", (paper|ours)$", r"\n\1", name)
        shown.add_column(
            Text(head),
            justify="right" if place or numbered else "left",
            no_wrap=not place or head != name,
        )
    for name, cells in table.lines():
        shown.add_row(Text(name), *(Text(text, STYLES.get(style, "")) for text, style in cells))
    if table.title:
        console.print(Text(table.title, style="bold"))
    console.print(shown)
    if table.caption:
        console.print(Text(table.caption, style="dim"))


def cell_text(cell: Record, *, spread: bool = False) -> str:
    """Return our number with its interval, or its standard deviation, and how many runs got there.

    Examples
    --------
    >>> cell = {"metric": "accurate", "mean": 17.0, "high": 17.5, "runs": 9, "reached": 9, "deviation": 2.0}
    >>> cell_text(cell), cell_text(cell, spread=True)
    ('17.00 ± 0.50', '17.00 ± 2.00')
    """
    metric = METRICS[cell["metric"]]
    if not cell["reached"]:
        bound = cell.get("at_least")
        return "not reached" if pd.isna(bound) else f"> {metric.number(bound)}"
    half = cell["deviation"] if spread else cell["high"] - cell["mean"]
    text: str = "infinite" if pd.isna(cell["mean"]) else metric.number(cell["mean"])
    text += "" if pd.isna(half) else f" ± {metric.number(half)}"
    short = cell["reached"] < cell["runs"]
    return f"{text} ({cell['reached']:.0f} of {cell['runs']:.0f})" if short else text


def _cells(part: pd.DataFrame) -> list[Record]:
    return [{str(name): value for name, value in row.items()} for row in part.to_dict("records")]


def _table(
    title: str, corner: str, cells: Sequence[tuple[str, str, str, str]], caption: str = ""
) -> Table:
    """Return a table of cells: line, column, text and style; lines and columns in the order they come in."""
    frame = pd.DataFrame(list(cells), columns=["line", "column", "text", "style"])
    lines, columns = frame["line"].unique(), frame["column"].unique()
    texts, styles = (
        frame.pivot(index="line", columns="column", values=name).reindex(lines)[columns]
        for name in ("text", "style")
    )
    return Table(title, corner, texts.fillna(NOTHING), styles.fillna(""), caption)


def _paper_tables(results: Results, data: str) -> list[Table]:
    part = results.of(data)
    tables = [_paper_table(results, data, metric) for metric in PAPER_METRICS]
    if "recovered" in set(part["metric"]):
        for title, names in AT_MARKS.items():
            cells = part[part["metric"].isin(names)].sort_values("at", kind="stable")
            lines = [(f"{row['at']:,.0f}", _head(row), cell_text(row), "") for row in _cells(cells)]
            tables.append(_table(title, "questions", lines))
    per_point = part[part["metric"].isin(PER_POINT)]
    unit = {name: " %" if METRICS[name].unit == "%" else "" for name in PER_POINT}
    lines = [
        (row["algorithm"], metric.title, metric.number(row["mean"]) + unit[row["metric"]], "")
        for row in _cells(per_point)
        for metric in [METRICS[row["metric"]]]
    ]
    title = "Points that took 1, 2, 3 or more questions, all classified as new"
    return [*tables, _table(title, "algorithm", lines)]


def _paper_table(results: Results, data: str, name: str) -> Table:
    metric, part = METRICS[name], results.of(data)
    part = part[part["metric"] == name]
    with_paper = part["paper"].notna().any()
    last = results.details["focused_questions"].get(data)
    cells: list[tuple[str, str, str, str]] = []
    beyond = False
    for algorithm, column in part.groupby("algorithm", sort=False):
        theirs = column["paper"].notna().any()
        for row in _cells(column):
            at = f"{row['at']:,.0f}"
            if theirs:
                number: str = "" if pd.isna(row["paper"]) else metric.number(row["paper"])
                cells.append((at, f"{algorithm}, paper", number, "paper"))
            short = name in BY_QUESTIONS and algorithm == "focused" and last and row["at"] > last
            beyond |= bool(short)
            text = cell_text(row) + (" *" if short else "")
            text += f" {MARKS[row['mark']]}" if row["mark"] in MARKS else ""
            ours = f"{algorithm}, ours" if with_paper else str(algorithm)
            cells.append((at, ours, text, row["mark"] if row["mark"] in MARKS else ""))
    corner = "questions" if name in BY_QUESTIONS else "clusters"
    title = metric.title + (f" ({metric.unit})" if metric.unit in ("%", "seconds") else "")
    if with_paper:
        cited = paper_captions()[name, DATA[data].paper or ""]
        title += f" — paper: “{cited}”"
    caption = ""
    if beyond:
        caption = f"* focused asked {last:,} questions only, and has so many then."
    elif name == "sampling_time" and last:
        caption = "focused: all of its time on one core, not only that for sampling."
    return _table(title, corner, cells, caption)


def _head(row: Record) -> str:
    metric = METRICS[row["metric"]]
    return metric.title + (f", {metric.unit}" if metric.unit.startswith("%") else "")


def _study(results: Results, data: str) -> Table:
    """Return a table with a line for each variant of "focused"."""
    noisy = results.experiment == "noisy"
    part = results.of(data)
    if noisy:
        order = {name: place for place, name in enumerate(NOISY_COLUMNS)}
        part = part[part["metric"].isin(order)]
        part = part.sort_values("metric", key=lambda names: names.map(order), kind="stable")
    cells = []
    for row in _cells(part):
        metric = METRICS[row["metric"]]
        head = _head(row) if noisy else _head(row).replace(metric.title, metric.text(row["at"]))
        cells.append((row["algorithm"], head, cell_text(row, spread=noisy), ""))
    return _table("", "variant", cells)


def _losses(summary: pd.DataFrame) -> Table:
    """Return how variants differ from "focused" as it is, by the first metric of each data set."""
    cells: list[tuple[str, str, str, str]] = []
    for data, part in summary.groupby("data", sort=False):
        metric = part["metric"].iloc[0]
        means = part[part["metric"] == metric].set_index("algorithm")["mean"]
        for name, mean in means.items():
            _, *marks = str(name).split(", ")
            wrong = [mark for mark in marks if mark.endswith("wrong")]
            base = means[", ".join(["focused", *wrong])]
            text = METRICS[metric].number(mean)
            if len(marks) > len(wrong):
                text = f"{mean - base:+.{text[::-1].index('.')}f}".replace("-", "−")
            column = ", ".join([f"{DATA[str(data)].title}: {METRICS[metric].title}", *wrong])
            cells.append(
                (", ".join(["focused", *(m for m in marks if m not in wrong)]), column, text, "")
            )
    return _table("Each variant less “focused” as it is", "variant", cells)


def _required(part: pd.DataFrame) -> Table:
    cells = []
    for row in _cells(part):
        metric = METRICS[row["metric"]]
        noisy = ", p=" in row["algorithm"]
        variant = row["algorithm"].removeprefix("focused").removeprefix(", ")
        name = f"{DATA[row['data']].title}: " + (metric.title if noisy else metric.text(row["at"]))
        name += f", {metric.unit}" if metric.unit.startswith("%") else ""
        name += f" ({variant})" if variant else ""
        sign = "≥" if metric.better == "higher" else "≤"
        cells += [
            (name, "required", f"{sign} {metric.number(row['required'])}", ""),
            (name, "ours", cell_text(row, spread=noisy), ""),
            (name, "", "met" if row["met"] else "missed", "" if row["met"] else "missed"),
        ]
    return _table("What “focused” must show, and what it does", "", cells)


def _peers(results: Results, data: str) -> Table:
    cells: list[tuple[str, str, str, str]] = []
    for name, part in results.of(data).groupby("algorithm", sort=False):
        at = part.pivot(index="at", columns="metric")
        for budget, row in at.iterrows():
            text = NOTHING
            if row["reached", "ari"]:
                text = f"{row['mean', 'ari']:.3f}, {row['mean', 'found']:.1f} found"
                if row["reached", "ari"] < row["runs", "ari"]:
                    text += f" ({row['reached', 'ari']:.0f} of {row['runs', 'ari']:.0f})"
            cells.append((str(name), f"{budget:,.0f} questions", text, ""))
        there = at[at["reached", "ari"] > 0]["mean"]
        for metric in ("seconds", "memory_mb"):
            value = there[metric].iloc[-1] if len(there) else float("nan")
            text = NOTHING if pd.isna(value) else f"{value:,.{1 if metric == 'seconds' else 0}f}"
            cells.append((str(name), METRICS[metric].title, text, ""))
        problems = results.details["problems"].get(data, {}).get(name, [])
        cells.append((str(name), "", "; ".join(problems), ""))
    return _table("", "", cells)
