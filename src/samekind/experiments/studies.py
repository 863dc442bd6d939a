"""Studies of `focused`: what its parts are worth, and whether it shows what it must."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources

from samekind.algorithms.focused import PARTS
from samekind.experiments.noisy_readings import NOISY_READINGS
from samekind.experiments.readings import READINGS, Reading

__all__ = ["ABLATION", "VARIANTS", "Requirement", "name_of", "requirements"]

ABLATION: dict[str, tuple[tuple[str, float], ...]] = {
    "digits": (("ari", 300), ("ari", 1_000)),
    "mixture-1": (("questions_to_ari", 0.9), ("questions_to_all", 30)),
    "mixture-2": (("questions_to_ari", 0.9), ("questions_to_all", 30)),
    "shuttle": (("accurate", 1_000), ("median_error", 1_000)),
    "banking77": (
        ("discovered", 2_500),
        ("accurate", 2_500),
        ("discovered", 5_000),
        ("accurate", 5_000),
    ),
    "synthetic-p0": (("accurate", 2_000),),
}
"""For each data set the figures by which the variants are compared."""


def name_of(parameters: dict[str, str]) -> str:
    """Return the name of a variant.

    Examples
    --------
    >>> name_of({}), name_of({"certify": "full"})
    ('focused', 'focused, certify=full')
    """
    return ", ".join(["focused", *(f"{key}={value}" for key, value in parameters.items())])


VARIANTS: dict[str, dict[str, str]] = {
    name_of(parameters): parameters
    for parameters in ({}, *({"without": part} for part in PARTS), {"certify": "full"})
}


@dataclass(frozen=True)
class Requirement:
    """A value that the mean of a figure must reach."""

    data: str
    parameters: dict[str, str]
    figure: str
    at: float
    required: float

    @property
    def name(self) -> str:
        """What is to run."""
        return name_of(self.parameters)

    @property
    def reading(self) -> Reading:
        """How the figure is read off a run."""
        return (READINGS | NOISY_READINGS)[self.figure]

    def is_met(self, mean: float | None) -> bool:
        """Return whether a mean is good enough; None, which is not known or infinite, is not."""
        if mean is None:
            return False
        higher = self.reading.better == "higher"
        return mean >= self.required if higher else mean <= self.required


@cache
def requirements(study: str = "focused") -> tuple[Requirement, ...]:
    """Return what ``required.toml`` has for a study, "focused" or "noisy"."""
    text = resources.files("samekind.experiments").joinpath("required.toml").read_text("utf-8")
    found = []
    for data, entries in tomllib.loads(text)[study].items():
        for entry in entries:
            figure, at, required = (entry.pop(key) for key in ("figure", "at", "required"))
            found.append(Requirement(data, entry, figure, at, required))
    return tuple(found)
