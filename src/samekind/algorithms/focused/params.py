"""The parameters of `focused`."""

from __future__ import annotations

from dataclasses import dataclass

from samekind._validation import check_choice, check_fraction, check_positive_int
from samekind.algorithms.base import ErrorRate, Params, check_rate

__all__ = ["PARTS", "FocusedParams"]

CERTIFY = ("lazy", "full")
STOPS = ("reducible", "certified")
GOALS = ("centers", "labels")
PARTS = (
    "explore",
    "survey",
    "typical",
    "fill",
    "refine",
    "graph",
    "discriminant",
    "merge",
    "audit",
)
"""What can be switched off, to see what it is worth."""


@dataclass(frozen=True, kw_only=True)
class FocusedParams(Params):
    """Parameters of "focused".

    Attributes
    ----------
    epsilon : float or None
        How small undiscovered clusters may be when the run stops by itself; None: it never does.
    certify : {"lazy", "full"}
        A row is called new when the clusters that could plausibly hold it refused it, or when all did.
    stop : {"reducible", "certified"}
        Stop by the paper's test, or when the certificate's bounds are within `tolerance`.
    tolerance : float
        See `stop`.
    goal : {"centers", "labels"}
        "labels" asks nothing for the sake of accurate centres.
    lineup : int
        The most clusters that a row is compared with at once, where a person can pick one of them.
    sheet : int
        The most rows of one cluster that are asked about at once, where a person can answer for all of them;
        0 for none.
    without : tuple of str
        Parts to switch off, for studies: see `PARTS`.
    error_rate : float, "estimate" or None
        The share of answers that may be wrong; None trusts them all.
    """

    epsilon: float | None = 0.01
    certify: str = "lazy"
    stop: str = "reducible"
    tolerance: float = 0.01
    goal: str = "centers"
    lineup: int = 1
    sheet: int = 0
    without: tuple[str, ...] | str = ()
    error_rate: ErrorRate | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check_fraction("epsilon", self.epsilon, none="stop only at the budget or the target")
        check_choice("certify", self.certify, CERTIFY)
        check_choice("stop", self.stop, STOPS)
        check_fraction("tolerance", self.tolerance)
        check_choice("goal", self.goal, GOALS)
        check_positive_int("lineup", self.lineup)
        if self.sheet != 0:
            check_positive_int("sheet", self.sheet)
        if isinstance(self.without, str):
            object.__setattr__(self, "without", (self.without,))
        for part in self.without:
            check_choice("without", part, PARTS)
        check_rate(self.error_rate)

    def uses(self, part: str) -> bool:
        """Return whether a part is not switched off."""
        return part not in self.without

    @property
    def recovers(self) -> bool:
        """Whether rows are asked about to make centres accurate."""
        return self.goal == "centers" and self.uses("fill")

    @property
    def wants_labels(self) -> bool:
        """Whether all that counts until the end is that labels are right."""
        return self.goal == "labels" or self.stop == "certified"

    @property
    def fills(self) -> bool:
        """Whether clusters are recovered while the run goes on, not at its end or never."""
        return self.recovers and not self.wants_labels

    @property
    def trusts_answers(self) -> bool:
        """Whether every answer is true, so that other answers follow from it."""
        return self.error_rate is None

    @property
    def most_in_lineup(self) -> int:
        """How many clusters a row is compared with at once."""
        return self.lineup

    @property
    def most_on_sheet(self) -> int:
        """How many rows of one cluster are asked about at once."""
        return self.sheet
