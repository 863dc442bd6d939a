"""The studies of `focused`, in the terminal and on a page."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import Any

from rich.console import Console
from rich.text import Text

from samekind.experiments.grids import grid_lines, html_table, print_lines
from samekind.experiments.text import FOCUSED, cell_text, number
from samekind.report._page import page

__all__ = ["print_study", "study_page"]

EXPLAINED = (
    "± is the 95 % interval of our mean. “7 of 10” is how many runs got that far; the number before it is "
    "their mean. "
)
NOISY = (
    "± is the standard deviation of the runs. “focused” alone has right answers and as many questions as a "
    "good result takes; the other rows have so many wrong answers, always the same ones, and more questions. "
    "True clusters found: most of the members of some cluster are of them; beside them those that the same "
    "runs find without errors. Clusters returned: all, also those of one row. ARI: adjusted Rand index of "
    "all labels, and of the rows asked about. Estimated errors: the share of wrong answers as “focused” "
    "estimates it. The goal: all true clusters are found, and the ARI is 0.9; known to 5 questions. "
    "“7 of 10” is how many runs reached it; the number before it is their mean."
)
REQUIRED = "What “focused” must show, and what it does"
ABLATION = "“focused” without its parts"
WRONG = "“focused” when answers are wrong"

Lines = tuple[str, list[str], list[list[str]]]


def print_study(study: dict[str, Any], console: Console) -> None:
    """Print all tables of a study."""
    for table in _tables(study):
        print_lines(console, *table)
    console.print(Text(_explained(study), style="dim"))


def study_page(study: dict[str, Any]) -> str:
    """Return a study as one HTML page that loads nothing."""
    versions = ", ".join(f"{name} {number}" for name, number in study["made_by"].items())
    facts = {"runs": f"{study['runs']} of each", "seeds": study["seeds"], "made by": versions}
    facts |= study["skipped"]
    met = [one["met"] for one in study.get("requirements", ())]
    tiles = {"of what is required met": sum(met), "missed": len(met) - sum(met)} if met else {}
    return page(
        title=WRONG if "errors" in study else REQUIRED if met else ABLATION,
        lead=escape(_explained(study)),
        tiles=_list(tiles),
        facts=_list(facts),
        figures=[],
        exemplars="".join(html_table(*table) for table in _tables(study)),
    )


def _explained(study: dict[str, Any]) -> str:
    return NOISY if "errors" in study else EXPLAINED + FOCUSED


def _tables(study: dict[str, Any]) -> Iterator[Lines]:
    for grid in study.get("datasets", {}).values():
        yield grid["title"], *grid_lines(grid)
    if study.get("requirements"):
        head = ["", "required", "ours", ""]
        yield REQUIRED, head, [_line(one) for one in study["requirements"]]


def _line(one: dict[str, Any]) -> list[str]:
    unit = one["unit"]
    variant = one["name"].removeprefix("focused").removeprefix(", ")
    name = one["text"] + (f", {unit}" if unit[0] == "%" else "") + (f" ({variant})" * bool(variant))
    sign = "≥" if one["better"] == "higher" else "≤"
    required = f"{sign} {number(one['required'], unit)}"
    return [name, required, cell_text(one["cell"], unit), "met" if one["met"] else "missed"]


def _list(entries: dict[str, Any]) -> str:
    return "".join(
        f"<div><dt>{escape(name)}</dt><dd>{escape(str(value))}</dd></div>"
        for name, value in entries.items()
    )
