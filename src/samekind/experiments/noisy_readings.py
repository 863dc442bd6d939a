"""What can be read off a run of `focused` with wrong answers, as `follow_noisy` records it.

Each record has under "reference" the record of the same run without errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from samekind.experiments.readings import Reading

__all__ = ["COLUMNS", "NOISY_READINGS"]

Record = dict[str, Any]
Value = Callable[[Record, float], float | None]


def _value(key: str, scale: float = 1.0) -> Value:
    def value(record: Record, at: float) -> float | None:
        found = record[key]
        return None if found is None else scale * float(found)

    return value


def _without_errors(key: str) -> Value:
    def value(record: Record, at: float) -> float | None:
        return float(record["reference"][key])

    return value


def _times(key: str, scale: float = 1.0) -> Value:
    """Return how to divide a figure by that of the run without errors."""

    def value(record: Record, at: float) -> float | None:
        mine, other = record[key], record["reference"][key]
        return scale * mine / other if mine is not None and other else None

    return value


def _ended(record: Record, at: float) -> float:
    within = record["questions"] <= record["setup"]["budget"]
    return 100.0 if record["stop"] != "enough" and within else 0.0


def _reading(name: str, title: str, unit: str, better: str | None, value: Value) -> Reading:
    return Reading(name, title, unit, better, value, spread=True)


NOISY_READINGS: dict[str, Reading] = {
    reading.name: reading
    for reading in (
        _reading("asked", "questions", "questions", "lower", _value("questions")),
        _reading("found", "true clusters found", "clusters", "higher", _value("found")),
        _reading("found_without", "without errors", "clusters", None, _without_errors("found")),
        _reading("returned", "clusters returned", "clusters", None, _value("returned")),
        _reading("ari_all", "ARI", "index", "higher", _value("ari")),
        _reading("ari_asked", "ARI of rows asked about", "index", "higher", _value("ari_asked")),
        _reading(
            "estimated_error", "estimated errors", "%", None, _value("estimated_error", 100.0)
        ),
        _reading(
            "times_to_goal",
            "questions to the goal, times those without errors",
            "times",
            "lower",
            _times("goal_at"),
        ),
        _reading(
            "share_found",
            "true clusters found, of those without errors",
            "%",
            "higher",
            _times("found", 100.0),
        ),
        _reading(
            "times_asked",
            "questions, times those without errors",
            "times",
            "lower",
            _times("questions"),
        ),
        _reading("ended", "the run ends within its budget", "% of runs", "higher", _ended),
    )
}

COLUMNS = (
    "asked",
    "found",
    "found_without",
    "returned",
    "ari_all",
    "ari_asked",
    "estimated_error",
    "times_to_goal",
)
"""Those in the table."""
