"""What is read off a run: the metrics, and their values as a tidy data frame.

`observations` has a line for each value: data, algorithm, run, metric, at, value. `at` is where a metric is
read: the number of questions or of recovered clusters, the share of wrong answers, or a level to reach. A
value is NaN if the run did not get there, infinite if an error is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from experiments.store import Record

NAN = float("nan")
CURVE_POINTS = 120
DECIMALS = {"clusters": 2, "questions": 2, "%": 2, "rounds": 2, "seconds": 3, "index": 3}
DECIMALS |= {"pairs": 1, "% of runs": 0, "times": 2, "MB": 0, "questions a row": 3, "in all": 0}

Reading = tuple[str, float, float]
"""A metric, where it is read, and its value."""
Asked = tuple[str, float]
"""A metric, and where it is to be read."""
Reader = Callable[[Record], Iterable[Reading]]
"""Reads some metrics off the record of a run."""


@dataclass(frozen=True)
class Metric:
    """How a metric is called, counted and judged; a `level` is something to reach rather than a moment."""

    title: str
    unit: str
    better: str | None = None  # "higher" or "lower"
    level: bool = False

    def number(self, value: float) -> str:
        """Return a value as tables show it.

        Examples
        --------
        >>> METRICS["ari"].number(0.98765)
        '0.988'
        """
        return f"{value:,.{DECIMALS[self.unit]}f}"

    def text(self, at: float) -> str:
        """Return the metric with where it is read.

        Examples
        --------
        >>> METRICS["accurate"].text(2_000), METRICS["questions_to_ari"].text(0.9)
        ('accurate clusters at 2,000', 'questions until the ARI is 0.9')
        """
        if np.isnan(at):
            return self.title
        return f"{self.title} {at:g}" if self.level else f"{self.title} at {at:,g}"


METRICS = {
    # The paper's tables
    "fixed_budget": Metric("Clusters recovered with so many questions", "clusters", "higher"),
    "fixed_recovery": Metric(
        "Questions per recovered cluster, when so many are recovered", "questions", "lower"
    ),
    "centroid_error": Metric(
        "Median error of the recovered centres, when so many are recovered", "%", "lower"
    ),
    "rounds": Metric("Rounds, when so many are recovered", "rounds"),
    "sampling_time": Metric("Sampling time on one core, when so many are recovered", "seconds"),
    # The whole data set, classified as new
    "took_1": Metric("1", "%"),
    "took_2": Metric("2", "%"),
    "took_3": Metric("≥ 3", "%"),
    "took_on_average": Metric("mean", "questions a row"),
    "asked_before": Metric("after questions", "in all"),
    # "focused"
    "recovered": Metric("clusters recovered", "clusters", "higher"),
    "mistaken": Metric("recovered, not accurate", "clusters", "lower"),
    "accurate": Metric("accurate clusters", "clusters", "higher"),
    "discovered": Metric("clusters discovered", "clusters", "higher"),
    "provisional": Metric("provisional clusters", "clusters", "lower"),
    "median_error": Metric("median error", "%", "lower"),
    "ari": Metric("ARI", "index", "higher"),
    "accuracy": Metric("right rows, clusters and kinds matched", "index", "higher"),
    "unproven": Metric("unproven pairs", "pairs"),
    "undiscovered_bound": Metric("undiscovered, at most", "%", "lower"),
    "wrong_bound": Metric("wrong, at most", "%", "lower"),
    "holds": Metric("both hold", "% of runs", "higher"),
    "all_accurate": Metric("all clusters accurate", "% of runs", "higher"),
    "questions_to_ari": Metric("questions until the ARI is", "questions", "lower", level=True),
    "questions_to_all": Metric("questions until discovered are", "questions", "lower", level=True),
    # What "focused" promises, and rows that nobody can tell
    "wrong_share": Metric("wrong labels", "%", "lower"),
    "questions_to_certify": Metric(
        "questions until both bounds are", "questions", "lower", level=True
    ),
    "given_up": Metric("rows given up, of the hard ones", "%"),
    "as_many_found": Metric("95 % of the clusters found without", "% of runs", "higher"),
    # "focused" with wrong answers
    "asked": Metric("questions", "questions", "lower"),
    "found": Metric("true clusters found", "clusters", "higher"),
    "found_without": Metric("without errors", "clusters"),
    "returned": Metric("clusters returned", "clusters"),
    "ari_all": Metric("ARI", "index", "higher"),
    "ari_asked": Metric("ARI of rows asked about", "index", "higher"),
    "estimated_error": Metric("estimated errors", "%"),
    "times_to_goal": Metric("questions to the goal, times those without errors", "times", "lower"),
    "share_found": Metric("true clusters found, of those without errors", "%", "higher"),
    "times_asked": Metric("questions, times those without errors", "times", "lower"),
    "ended": Metric("the run ends within its budget", "% of runs", "higher"),
    # Relatives, beside "asked", "ari_all" and "seconds"
    "questions_to_share": Metric(
        "questions until rows were asked about of clusters, %", "questions", "lower", level=True
    ),
    # Peers, beside "ari" and "found"
    "clusters": Metric("clusters made", "clusters"),
    "questions": Metric("questions asked", "questions"),
    "seconds": Metric("seconds", "seconds"),
    "memory_mb": Metric("MB", "MB"),
}

PAPER_METRICS = ("fixed_budget", "fixed_recovery", "centroid_error", "rounds", "sampling_time")
PER_POINT = ("took_1", "took_2", "took_3", "took_on_average", "asked_before")
AT_MARKS = {
    "“focused” with so many questions": (
        *("recovered", "accurate", "discovered", "provisional", "median_error", "ari"),
    ),
    "What “focused” promises, and what is unproven": (
        *("undiscovered_bound", "wrong_bound", "holds", "mistaken", "unproven"),
    ),
}
"""The tables of "focused" and their columns."""
NOISY_COLUMNS = (
    *("asked", "found", "found_without", "returned", "ari_all", "ari_asked"),
    *("estimated_error", "times_to_goal"),
)
PEER_METRICS = ("ari", "found", "clusters", "seconds", "memory_mb", "questions")
PERCENT = {"median_error", "undiscovered_bound", "wrong_bound", "holds"}  # of shares


def observations(records: Sequence[Record], *readers: Reader) -> pd.DataFrame:
    """Return everything that readers see in records, with a line for each value."""
    rows = [
        (record["data"], record["algorithm"], record["run"], *reading)
        for record in records
        for read in readers
        for reading in read(record)
    ]
    return pd.DataFrame(rows, columns=["data", "algorithm", "run", "metric", "at", "value"])


def read_paper(columns: Callable[[str, str], Sequence[int]]) -> Reader:
    """Return what reads the paper's tables, given the columns of a metric on a data set."""

    def read(record: Record) -> Iterator[Reading]:
        data, recovered_at = record["data"], record["recovered_at"]
        seconds_at = record["seconds_at" if "looks" in record else "sampling_at"]
        for budget in columns("fixed_budget", data):
            yield "fixed_budget", budget, _recovered(record, budget)
        for metric, value in (
            ("fixed_recovery", lambda m: recovered_at[m - 1] / m),
            ("centroid_error", lambda m: _median_error(record, m)),
            ("rounds", lambda m: record["rounds_at"][m - 1]),
            ("sampling_time", lambda m: seconds_at[m - 1]),
        ):
            if metric == "rounds" and "rounds_at" not in record:  # "focused" has none
                continue
            for m in columns(metric, data):
                yield metric, m, float(value(m)) if m <= len(recovered_at) else NAN
        for m in columns("fixed_recovery", data):  # what questions per cluster cannot be below
            known = recovered_at[m - 1] if m <= len(recovered_at) else record["questions"]
            yield "at_least", m, known / m

    return read


def read_per_point(record: Record) -> Iterator[Reading]:
    """Read how many questions rows take that are classified as new."""
    counted = record["per_point"]
    for metric, share in zip(PER_POINT, counted["shares"], strict=False):
        yield metric, NAN, 100 * share
    yield "took_on_average", NAN, counted["mean"]
    yield "asked_before", NAN, counted["after"]


def read_curve(record: Record) -> Iterator[Reading]:
    """Read the clusters recovered after so many questions, often enough for a curve."""
    setup = record["setup"]
    last = setup.get("budget") or setup["marks"][-1]
    even = np.linspace(0, last, CURVE_POINTS // 2)
    early = np.geomspace(max(1, last / 1000), last, CURVE_POINTS // 2)
    grid = np.unique(np.concatenate([even, early]).astype(np.int64))
    for at in grid.tolist():
        yield "curve", at, _recovered(record, at)


def read_at_marks(record: Record) -> Iterator[Reading]:
    """Read what the tables of "focused" have at each of its marks."""
    for look in record.get("looks", ()):
        for metric in (name for names in AT_MARKS.values() for name in names):
            if metric != "ari" or look["ari"] is not None:  # not computed of large data
                yield metric, look["at"], _look_value(look, metric)


def read_asked(asked: dict[tuple[str, str], list[Asked]]) -> Reader:
    """Return what reads some metrics of "focused", given which of each variant on each data set."""

    def read(record: Record) -> Iterator[Reading]:
        looks, found = record["looks"], record["discovered_at"]
        for metric, at in asked[record["data"], record["algorithm"]]:
            if metric == "questions_to_ari":
                value = next((look["at"] for look in looks if (look["ari"] or 0.0) >= at), NAN)
            elif metric == "questions_to_all":
                value = found[int(at) - 1] if len(found) >= at else NAN
            else:
                value = _look_value(next(look for look in looks if look["at"] == at), metric)
            yield metric, at, float(value)

    return read


def read_noisy(references: dict[tuple[str, int], Record]) -> Reader:
    """Return what reads a run with wrong answers, given the runs without errors by data set and number."""

    def read(record: Record) -> Iterator[Reading]:
        setup, reference = record["setup"], references[record["data"], record["run"]]
        at = NAN if setup["error"] is None else setup["error"]
        yield "asked", at, record["questions"]
        yield "found", at, record["found"]
        yield "returned", at, record["returned"]
        yield "ari_all", at, record["ari"]
        yield "ari_asked", at, record["ari_asked"]
        if setup["error"] is None:
            return
        yield "found_without", at, reference["found"]
        yield "estimated_error", at, 100.0 * record["estimated_error"]
        if setup["error"] == 0:
            yield "times_to_goal", at, _ratio(record["goal_at"], reference["goal_at"])
        yield "share_found", at, 100.0 * _ratio(record["found"], reference["found"])
        yield "times_asked", at, _ratio(record["questions"], reference["questions"])
        ended = record["stop"] != "enough" and record["questions"] <= setup["budget"]
        yield "ended", at, 100.0 * ended

    return read


def read_peer(record: Record) -> Iterator[Reading]:
    """Read what a peer reached at each budget."""
    reached = {one["budget"]: one for one in record["reached"]}
    for budget in record["setup"]["budgets"]:
        for metric in PEER_METRICS:
            value = reached.get(budget, {}).get(metric)
            yield metric, budget, NAN if value is None else float(value)


def read_relative(record: Record) -> Iterator[Reading]:
    """Read how many questions a run asked, when it came to so many of the clusters, and what came of it."""
    seen_at = record["seen_at"]
    for share in (50, 90, 100):
        needed = -(-share * record["of"] // 100)
        value = float(seen_at[needed - 1]) if needed <= len(seen_at) else NAN
        yield "questions_to_share", share, value
    yield "asked", NAN, record["questions"]
    yield "ari_all", NAN, record["ari"]
    yield "seconds", NAN, record["seconds"]


def _look_value(look: Record, metric: str) -> float:
    if metric == "all_accurate":
        return 100.0 if look["accurate"] == look["of"] else 0.0
    value = look[metric]
    if value is None:
        return NAN if metric == "ari" else np.inf
    return (100.0 if metric in PERCENT else 1.0) * float(value)


def _ratio(mine: float | None, other: float | None) -> float:
    return mine / other if mine is not None and other else NAN


def _recovered(record: Record, budget: int) -> float:
    if "looks" not in record:
        return float(np.searchsorted(record["recovered_at"], budget, "right"))
    looks = [look for look in record["looks"] if look["at"] <= budget]
    return float(looks[-1]["recovered"]) if looks else 0.0


def _median_error(record: Record, m: int) -> float:
    if "median_error_at" in record:  # centres of "focused" change after the recovery
        error = record["median_error_at"][m - 1]
        return np.inf if error is None else 100 * float(error)
    errors = [np.inf if error is None else error for error in record["errors"][:m]]
    return 100 * float(np.median(errors))
