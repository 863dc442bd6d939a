"""From observations of runs to a tidy table of means, and how these stand against other numbers.

Its lines are told apart by the columns in `KEYS`; the others are:

- mean, low, high (95 % interval by Student's t), median and deviation (standard deviation) of the runs that
  got there; missing where they are infinite or cannot be said;
- runs, and how many of them reached the place where the metric is read;
- at_least: what the mean of all runs cannot be below, if some did not get there;
- paper, the paper's number, and mark: "better", "within", "worse" or "open" (cannot be said, as where not
  all runs got there, or all have the same value: a spread of zero is no certainty);
- required, and whether that is met.
"""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from experiments.benchmark_data import DATA
from experiments.metrics import METRICS
from experiments.targets import paper_numbers

KEYS = ["data", "algorithm", "metric", "at"]
NUMBERS = ["mean", "low", "high", "median", "deviation", "runs", "reached", "at_least", "paper"]
COLUMNS = [*KEYS, *NUMBERS, "mark", "required", "met"]
LEVEL = 0.95
PRINTED = 0.005  # the paper prints two decimals: a difference below this is none


def summarize(observed: pd.DataFrame) -> pd.DataFrame:
    """Return a line for each data set, algorithm, metric and place.

    Examples
    --------
    >>> keys = {"data": "digits", "algorithm": "basic", "metric": "ari", "at": 9}
    >>> seen = pd.DataFrame(keys | {"value": [1.0, 2.0, 3.0]})
    >>> summarize(seen)[["mean", "low", "high", "runs"]].round(3)
       mean    low   high  runs
    0   2.0 -0.484  4.484     3
    """
    finite = observed["value"].where(np.isfinite(observed["value"]))
    infinite = np.isinf(observed["value"])
    groups = observed.assign(finite=finite, infinite=infinite).groupby(
        KEYS, sort=False, dropna=False
    )
    found = groups["finite"].agg(["mean", "std"])
    found["median"] = groups["value"].median()
    found["runs"] = groups.size()
    found["reached"] = groups["value"].count()
    # An infinite value makes the mean infinite, and a median may be.
    found.loc[groups["infinite"].any(), ["mean", "std"]] = np.nan
    found["median"] = found["median"].where(np.isfinite(found["median"]))
    degrees = np.maximum(found["reached"] - 1, 1)
    half = stdtrit(degrees, (1 + LEVEL) / 2) * found["std"] / np.sqrt(found["reached"])
    found["low"], found["high"] = found["mean"] - half, found["mean"] + half
    summary = found.rename(columns={"std": "deviation"}).reset_index()
    return tidy(_with_bounds(summary))


def tidy(frame: pd.DataFrame) -> pd.DataFrame:
    """Return a summary with all its columns; what is missing is NaN in numbers, None elsewhere."""
    full = frame.reindex(columns=COLUMNS)
    numbers = full[["at", *NUMBERS, "required"]].astype(float)
    others = full[["mark", "met"]].astype(object)
    return full.assign(**numbers, **others.where(others.notna(), None))


def _with_bounds(summary: pd.DataFrame) -> pd.DataFrame:
    """Move what the metric "at_least" has to a column of the questions per cluster, where runs fell short."""
    is_bound = summary["metric"] == "at_least"
    bounds = summary.loc[is_bound, [*KEYS, "mean"]].rename(columns={"mean": "at_least"})
    rest = summary[~is_bound].merge(
        bounds.assign(metric="fixed_recovery"), "left", on=KEYS, validate="one_to_one"
    )
    rest["at_least"] = rest["at_least"].where(rest["reached"] < rest["runs"])
    return rest


def add_paper(summary: pd.DataFrame, other_size: Collection[str] = ()) -> pd.DataFrame:
    """Put the paper's numbers beside ours, and marks for how ours stand against them.

    Not for data of another size, which is another experiment.
    """
    papers = {name: data.paper for name, data in DATA.items() if name not in other_size}
    names = summary["data"].map(papers)
    keys = ["paper_data", "metric", "algorithm", "at"]
    joined = summary.drop(columns="paper").assign(paper_data=names)
    joined = joined.merge(paper_numbers(), "left", on=keys, validate="many_to_one")
    joined["mark"] = _marks(joined)
    return tidy(joined)


def _marks(cells: pd.DataFrame) -> pd.Series:
    """Return where our interval lies from the paper's number; missing where there is none."""
    better = cells["metric"].map({name: metric.better for name, metric in METRICS.items()})
    short = cells["reached"] < cells["runs"]
    beyond = (cells["at_least"] > cells["paper"] + PRINTED) & (better == "lower")
    within = (cells["low"] - PRINTED <= cells["paper"]) & (
        cells["paper"] <= cells["high"] + PRINTED
    )
    above = cells["low"] > cells["paper"]
    # Runs that all agree say nothing about how far the next one may be off.
    alike = (cells["deviation"] == 0) & (cells["low"] == cells["high"])
    marks = np.select(
        [
            short & beyond,
            short | cells["low"].isna(),
            within,
            alike,
            above == (better == "higher"),
        ],
        ["worse", "open", "within", "open", "better"],
        "worse",
    )
    return pd.Series(marks, cells.index).where(cells["paper"].notna() & better.notna(), None)


def add_required(summary: pd.DataFrame, required: pd.DataFrame) -> pd.DataFrame:
    """Put what is required beside what came out, and whether that is enough; all runs must get there."""
    joined = summary.drop(columns="required").merge(
        required, "left", on=KEYS, validate="one_to_one"
    )
    higher = joined["metric"].map(lambda name: METRICS[name].better == "higher")
    enough = (
        joined["mean"].ge(joined["required"]).where(higher, joined["mean"].le(joined["required"]))
    )
    met = enough & (joined["reached"] == joined["runs"]) & joined["mean"].notna()
    joined["met"] = met.astype(object).where(joined["required"].notna(), None)
    return tidy(joined)
