"""Results of formats 1 and 2, which had tables of cells, brought up to date."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd

from experiments.metrics import PEER_METRICS, PER_POINT
from experiments.results import Results
from experiments.store import Record
from experiments.summary import COLUMNS, KEYS, tidy

__all__ = ["upgrade"]

NAN = float("nan")
HUNDREDFOLD = ("mean", "low", "high", "median")  # of shares, which are percentages now
DETAILS = ("algorithms", "runs", "errors", "questions", "budgets", "limit")
RENAMED = {"mixture": "mixture-1"}


def upgrade(content: Record) -> Results:
    """Return results from the content of a file of an earlier format."""
    if "budgets" in content:
        experiment, lines = "peers", _peers(content)
    elif "algorithms" in content:
        experiment, lines = "paper", _paper(content)
    else:
        experiment = "noisy" if "errors" in content else "focused"
        experiment = experiment if "requirements" in content else "ablation"
        lines = _study(content)
    rows: dict[tuple[object, ...], Record] = {}
    for line in lines:
        key = (*(line[name] for name in KEYS[:-1]), str(line["at"]))  # NaN is not equal to itself
        rows[key] = rows.get(key, {}) | line  # what is required may be in a table, too
    details = {name: content[name] for name in DETAILS if name in content}
    if experiment == "paper":
        sets = content["datasets"]
        setups = {name: one.get("setups", {}).get("focused") for name, one in sets.items()}
        details["n"] = next((one["n"] for one in sets.values() if one["n"] is not None), None)
        details["focused_questions"] = {name: s["marks"][-1] for name, s in setups.items() if s}
    if experiment == "peers":
        details |= _about_peers(content)
    return Results(
        experiment,
        tidy(pd.DataFrame(list(rows.values()))),
        details,
        content["skipped"],
        content.get("seeds", "run i: made data and draws have seed i"),
        content["made_by"],
        content["machine"],
    )


def _line(data: str, algorithm: str, metric: str, at: float, cell: Record) -> Record:
    found = {"reached": cell["runs"]} | {name: cell.get(name) for name in COLUMNS if name in cell}
    key = {"data": RENAMED.get(data, data), "algorithm": algorithm, "metric": metric, "at": at}
    return found | key


def _paper(content: Record) -> Iterator[Record]:
    for data, one in content["datasets"].items():
        for metric, table in one["tables"].items():
            for algorithm, cells in table["rows"].items():
                for cell in cells:
                    if cell["runs"]:
                        yield _line(data, algorithm, metric, cell["column"], cell)
        for grid in one.get("focused", ()):
            for mark, cells in grid["rows"].items():
                for column, cell in zip(grid["columns"], cells, strict=True):
                    at = int(mark.replace(",", ""))
                    yield _line(data, "focused", column["figure"], at, cell)
        for algorithm, counted in one["per_point"].items():
            shares = [
                share | {name: _times_100(share[name]) for name in HUNDREDFOLD}
                for share in counted["shares"]
            ]
            for metric, cell in zip(
                PER_POINT, [*shares, counted["mean"], counted["after"]], strict=True
            ):
                yield _line(data, algorithm, metric, NAN, cell)
        for algorithm, curve in one["curves"].items():
            runs = one["per_point"][algorithm]["mean"]["runs"]
            for at, mean, low, high in zip(*curve.values(), strict=True):
                cell = {"mean": mean, "low": low, "high": high, "runs": runs}
                yield _line(data, algorithm, "curve", at, cell)


def _times_100(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _study(content: Record) -> Iterator[Record]:
    for data, grid in content.get("datasets", {}).items():
        for algorithm, cells in grid["rows"].items():
            for column, cell in zip(grid["columns"], cells, strict=True):
                # "ARI at 1,000", "questions until the ARI is 0.9"; "focused, p=0.1"
                number = algorithm.partition("p=")[2] if "errors" in content else column["title"]
                at = float(number.split()[-1].replace(",", "")) if number else NAN
                if cell["runs"]:
                    yield _line(data, algorithm, column["figure"], at, cell)
    for one in content.get("requirements", ()):
        line = _line(one["data"], one["name"], one["figure"], float(one["at"]), one["cell"])
        yield line | {"required": one["required"], "met": one["met"]}


def _peers(content: Record) -> Iterator[Record]:
    for data, one in content["datasets"].items():
        for peer, row in one["rows"].items():
            for cell in row["cells"]:
                runs = {name: cell[name] for name in ("runs", "reached")}
                for metric in PEER_METRICS:
                    yield _line(data, peer, metric, cell["budget"], cell[metric] | runs)


def _about_peers(content: Record) -> Record:
    rows = [
        (data, *item) for data, one in content["datasets"].items() for item in one["rows"].items()
    ]
    problems: dict[str, dict[str, list[str]]] = {}
    for data, peer, row in rows:
        if said := [*row["unfinished"], *row["failed"]]:
            problems.setdefault(RENAMED.get(data, data), {})[peer] = said
    runs = max(cell["runs"] for _, _, row in rows for cell in row["cells"])
    return {
        "runs": runs,
        "remarks": {peer: row["remark"] for _, peer, row in rows},
        "problems": problems,
    }
