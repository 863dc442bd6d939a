"""The flows: algorithms that only ask. One idea a file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np

from samekind._validation import (
    check_choice,
    check_error_rate,
    check_fraction,
    check_int,
    check_positive_int,
)
from samekind.algorithms.basic import basic
from samekind.algorithms.basic_exact import basic_exact
from samekind.algorithms.batched import batched
from samekind.algorithms.classify import ORDERS
from samekind.algorithms.focused import CERTIFY, GOALS, PARTS, STOPS, focused
from samekind.algorithms.improved_exact import improved_exact
from samekind.algorithms.kinds import Given, Kinds
from samekind.algorithms.noisy_exact import noisy_exact
from samekind.algorithms.sampling import Settings
from samekind.algorithms.uniform import uniform
from samekind.flow import Flow
from samekind.points import Points

__all__ = ["ALGORITHMS", "DEFAULT", "Algorithm", "Given", "Kinds", "Settings", "make_settings"]

Algorithm = Callable[[Points, Kinds, np.random.Generator, Settings], Flow[str]]

ALGORITHMS: dict[str, Algorithm] = {
    "uniform": uniform,
    "basic": basic,
    "batched": batched,
    "basic-exact": basic_exact,
    "improved-exact": improved_exact,
    "noisy-exact": noisy_exact,
    "focused": focused,
}
DEFAULT = "focused"

ONLY_FOR = {
    "certify": ("focused",),
    "stop": ("focused",),
    "tolerance": ("focused",),
    "goal": ("focused",),
    "lineup": ("focused",),
    "without": ("focused",),
    "error_rate": ("focused", "noisy-exact"),
}
NOT_FOR = {"heavy": ("focused",), "order": ("focused",)}


def make_settings(algorithm: str, **given: Any) -> Settings:
    """Check the algorithm's name and parameters; what is not given takes its default.

    The exact algorithms default to ``epsilon=0.5`` and to the order of Algorithm 1, the practical ones to
    Heuristic 1's.
    """
    check_choice("algorithm", algorithm, tuple(ALGORITHMS))
    known = [
        field.name
        for field in fields(Settings)
        if algorithm in ONLY_FOR.get(field.name, (algorithm,))
        and algorithm not in NOT_FOR.get(field.name, ())
    ]
    for name in given:
        if name not in known:
            raise TypeError(
                f"{algorithm!r} has no parameter {name!r}. Its parameters are {', '.join(known)}."
            )
    exact = algorithm.endswith("-exact")
    if exact:
        given = {"epsilon": 0.5, "order": "index"} | given
    checked = dict(given)
    if "epsilon" in given:
        meaning = None if exact else "stop only at the budget or the target"
        checked["epsilon"] = check_fraction("epsilon", given["epsilon"], none=meaning)
    if "target" in given:
        checked["target"] = check_int("target", given["target"], none="find all clusters")
    if given.get("batch", 1) != "auto":
        checked["batch"] = check_positive_int("batch", given.get("batch", 1))
    for name in ("heavy", "patience", "lineup"):
        if name in given:
            checked[name] = check_positive_int(name, given[name])
    for name, choices in (
        ("order", ORDERS),
        ("certify", CERTIFY),
        ("stop", STOPS),
        ("goal", GOALS),
    ):
        if name in given:
            check_choice(name, given[name], choices)
    if "tolerance" in given:
        checked["tolerance"] = check_fraction("tolerance", given["tolerance"])
    if given.get("error_rate", "estimate") not in (None, "estimate"):
        checked["error_rate"] = check_error_rate(given["error_rate"])
    if "without" in given:
        parts = (given["without"],) if isinstance(given["without"], str) else given["without"]
        checked["without"] = tuple(check_choice("without", part, PARTS) for part in parts)
    return Settings(**checked)
