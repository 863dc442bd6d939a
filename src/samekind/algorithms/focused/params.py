"""The parameters of `focused`."""

from __future__ import annotations

from dataclasses import dataclass

from samekind._validation import check_choice, check_fraction
from samekind.algorithms.base import ErrorRate, Params, check_rate

__all__ = ["FocusedParams"]

STOPS = ("reducible", "certified")
GOALS = ("labels", "centers")


@dataclass(frozen=True, kw_only=True)
class FocusedParams(Params):
    """Parameters of "focused".

    Attributes
    ----------
    epsilon : float or None
        How small undiscovered clusters may be when the run stops by itself; None: it never does.
    stop : {"reducible", "certified"}
        Stop by the paper's test, or when the certificate's bounds are within `tolerance`.
    tolerance : float
        See `stop`.
    goal : {"labels", "centers"}
        With "labels" every row counts the same, with "centers" every cluster does.
    error_rate : float, "estimate" or None
        The share of answers that may be wrong; None trusts them all.
    """

    epsilon: float | None = 0.01
    stop: str = "reducible"
    tolerance: float = 0.01
    goal: str = "labels"
    error_rate: ErrorRate | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction("epsilon", self.epsilon, none="stop only at the budget or the target")
        check_choice("stop", self.stop, STOPS)
        check_fraction("tolerance", self.tolerance)
        check_choice("goal", self.goal, GOALS)
        check_rate(self.error_rate)

    @property
    def trusts_answers(self) -> bool:
        """Whether every answer is true, so that other answers follow from it."""
        return self.error_rate is None
