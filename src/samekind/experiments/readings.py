"""What can be read off a run of `focused`, as `follow` records it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from samekind.experiments.statistics import Cell, deviation, summarize

__all__ = ["AT_MARKS", "READINGS", "Reading"]

Record = dict[str, Any]


@dataclass(frozen=True)
class Reading:
    """A figure of a run, after so many questions (`at`) or, if it counts questions itself, up to some level.

    `value` returns None if the run did not get there. With `spread`, cells tell the standard deviation too.
    """

    name: str
    title: str
    unit: str
    better: str | None
    value: Callable[[Record, float], float | None]
    counts: bool = False
    spread: bool = False

    def text(self, at: float) -> str:
        """Return the whole name of the figure."""
        return f"{self.title} {at:g}" if self.counts else f"{self.title} at {at:,}"

    def cell(self, records: Sequence[Record], at: float) -> Cell:
        """Return the mean of runs, those left aside that did not get there."""
        values = [self.value(record, at) for record in records]
        reached = [float(value) for value in values if value is not None]
        cell = summarize(reached) | {"runs": len(values), "reached": len(reached)}
        return cell | {"deviation": deviation(reached)} if self.spread else cell


def _look(key: str, scale: float = 1.0) -> Callable[[Record, float], float | None]:
    """Return how to read a look: None stands for an infinite value there."""

    def value(record: Record, at: float) -> float | None:
        found = _at(record, at)[key]
        return np.inf if found is None else scale * float(found)

    return value


def _at(record: Record, at: float) -> dict[str, Any]:
    looks: list[dict[str, Any]] = record["looks"]
    return next(look for look in looks if look["at"] == at)


def _ari(record: Record, at: float) -> float | None:
    found: float | None = _at(record, at)["ari"]
    return found


def _all_accurate(record: Record, at: float) -> float:
    found = _at(record, at)
    return 100.0 if found["accurate"] == found["of"] else 0.0


def _questions_to_ari(record: Record, level: float) -> float | None:
    looks = record["looks"]
    return next((look["at"] for look in looks if (look["ari"] or 0.0) >= level), None)


def _questions_to_all(record: Record, level: float) -> float | None:
    found = record["discovered_at"]
    return found[int(level) - 1] if len(found) >= level else None


READINGS: dict[str, Reading] = {
    reading.name: reading
    for reading in (
        Reading("recovered", "clusters recovered", "clusters", "higher", _look("recovered")),
        Reading("mistaken", "recovered, not accurate", "clusters", "lower", _look("mistaken")),
        Reading("accurate", "accurate clusters", "clusters", "higher", _look("accurate")),
        Reading("discovered", "clusters discovered", "clusters", "higher", _look("discovered")),
        Reading("provisional", "provisional clusters", "clusters", "lower", _look("provisional")),
        Reading("median_error", "median error", "%", "lower", _look("median_error", 100.0)),
        Reading("ari", "ARI", "index", "higher", _ari),
        Reading("unproven", "unproven pairs", "pairs", None, _look("unproven")),
        Reading(
            "undiscovered_bound",
            "undiscovered, at most",
            "%",
            "lower",
            _look("undiscovered_bound", 100.0),
        ),
        Reading("wrong_bound", "wrong, at most", "%", "lower", _look("wrong_bound", 100.0)),
        Reading("holds", "both hold", "% of runs", "higher", _look("holds", 100.0)),
        Reading(
            "all_accurate",
            "all clusters accurate",
            "% of runs",
            "higher",
            _all_accurate,
        ),
        Reading(
            "questions_to_ari",
            "questions until the ARI is",
            "questions",
            "lower",
            _questions_to_ari,
            counts=True,
        ),
        Reading(
            "questions_to_all",
            "questions until discovered are",
            "questions",
            "lower",
            _questions_to_all,
            counts=True,
        ),
    )
}

AT_MARKS = {
    "“focused” with so many questions": (
        "recovered",
        "accurate",
        "discovered",
        "provisional",
        "median_error",
        "ari",
    ),
    "What “focused” promises, and what is unproven": (
        "undiscovered_bound",
        "wrong_bound",
        "holds",
        "mistaken",
        "unproven",
    ),
}
"""The tables of `focused` and their columns."""
